package ftptest

import (
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// Commands about files and directories that need no data connection.

// name turns a pathname argument into a name in the tree.
func (f *session) name(arg string) string {
	if strings.HasPrefix(arg, "/") {
		return tree.Clean(arg)
	}
	return tree.Clean(f.dir + "/" + arg)
}

// fail replies to an error of the tree.
func (f *session) fail(err error) error { return f.reply(f.now.failure(err)) }

func (f *session) printDir(string) error {
	return f.replyf("257 %s is the current directory.", quoted(f.dir))
}

// quoted formats a pathname for a 257 reply (RFC 959 appendix II).
func quoted(name string) string {
	return `"/` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func (f *session) changeDir(arg string) error {
	if arg == "" {
		switch null := f.srv.NullCWD; {
		case null == "":
			arg = "/" + tree.Clean(f.srv.LoginDir)
		case strings.HasPrefix(null, "/"):
			arg = null
		default:
			return f.reply(null)
		}
	}
	name := f.name(arg)
	e, err := f.tree.Stat(name)
	switch {
	case err != nil:
		return f.fail(err)
	case !e.Dir:
		return f.fail(tree.ErrNotDir)
	case f.tree.Refused(name):
		return f.fail(fs.ErrPermission)
	}
	f.dir = name
	return f.replyf("250 Directory changed to /%s", name)
}

func (f *session) changeUp(string) error { return f.changeDir("..") }

func (f *session) size(arg string) error {
	name := f.name(arg)
	file, e, err := f.tree.Open(name)
	if err != nil {
		return f.fail(err)
	}
	defer file.Close()
	size := e.Size
	if f.ascii {
		switch f.srv.SizeInASCII {
		case SizeRefused:
			return f.reply("550 SIZE not allowed in ASCII mode.")
		case SizeConverted:
			if size, err = io.Copy(io.Discard, core.ToNetASCII(file)); err != nil {
				return f.fail(err)
			}
		}
	}
	return f.replyf("213 %d", size)
}

// timeFormat is the format of times in RFC 3659 §2.3.
const timeFormat = "20060102150405"

func (f *session) modTime(arg string) error {
	e, err := f.tree.Stat(f.name(arg))
	if err != nil {
		return f.fail(err)
	}
	if f.now.time = e.ModTime.UTC().Format(timeFormat); e.Dir {
		return f.fail(tree.ErrIsDir)
	}
	return f.reply("213 " + f.now.time)
}

func (f *session) setModTime(arg string) error {
	stamp, file, _ := strings.Cut(arg, " ")
	t, err := time.Parse(timeFormat, stamp)
	if err != nil || file == "" {
		return f.reply("501 MFMT YYYYMMDDhhmmss name")
	}
	err = f.withRight(testserver.Write, func() error { return f.tree.Touch(f.name(file), t) })
	return f.change(err, "213 Modify=%s; %s", stamp, file)
}

// change replies to a command that changed the tree, or failed to.
func (f *session) change(err error, format string, args ...any) error {
	if err != nil {
		return f.fail(err)
	}
	return f.reply(fmt.Sprintf(format, args...))
}

// hasRight reports whether the user has a right.
func (f *session) hasRight(r testserver.Rights) bool {
	const changing = testserver.Write | testserver.Delete
	return f.srv.Users[f.user].May(r) && !(f.srv.ReadOnly && r&changing != 0)
}

// withRight runs a change that requires a right.
func (f *session) withRight(r testserver.Rights, change func() error) error {
	if !f.hasRight(r) {
		return fs.ErrPermission
	}
	return change()
}

func (f *session) deleteFile(arg string) error {
	err := f.withRight(testserver.Delete, func() error { return f.tree.Remove(f.name(arg), false) })
	return f.change(err, "250 Deleted.")
}

func (f *session) removeDir(arg string) error {
	err := f.withRight(testserver.Delete, func() error { return f.tree.Remove(f.name(arg), true) })
	return f.change(err, "250 Removed.")
}

func (f *session) makeDir(arg string) error {
	name := f.name(arg)
	err := f.withRight(testserver.Write, func() error { return f.tree.Mkdir(name) })
	return f.change(err, "257 %s created.", quoted(name))
}

func (f *session) renameFrom(arg string) error {
	name := f.name(arg)
	if _, err := f.tree.Stat(name); err != nil {
		return f.fail(err)
	}
	f.renaming = name
	return f.reply("350 Ready for RNTO.")
}

func (f *session) renameTo(arg string) error {
	from := f.renaming
	if from == "" {
		return f.reply("503 RNFR first.")
	}
	f.renaming = ""
	err := f.withRight(testserver.Write|testserver.Delete, func() error { return f.tree.Rename(from, f.name(arg)) })
	return f.change(err, "250 Renamed.")
}

func (f *session) restart(arg string) error {
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || n < 0 {
		return f.reply("501 REST takes a number of octets.")
	}
	if f.rest = n; f.faults.Acts(core.FromStart) || f.srv.IgnoreREST {
		f.rest = 0
	}
	return f.replyf("350 Restarting at %d.", n)
}

func (f *session) mlst(arg string) error {
	name := f.name(arg)
	e, err := f.tree.Stat(name)
	if err != nil {
		return f.fail(err)
	}
	e.Name = "/" + name
	f.now.lines = f.format("MLST", "", "", e, []tree.Entry{e})
	return f.replyf("250-Listing\n %s\n250 End", strings.Join(f.now.lines, "\n "))
}

func (f *session) status(arg string) error {
	if arg == "" {
		return f.reply("211 A test server; all is well.")
	}
	lines, err := f.listing("STAT", arg)
	if err != nil {
		return f.fail(err)
	}
	text := "213-Status of " + arg + ":"
	for _, line := range lines {
		text += "\n " + line
	}
	return f.reply(text + "\n213 End")
}
