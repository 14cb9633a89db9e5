package ftptest

import (
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// files are the files of the server as one client sees them.
type files struct {
	*tree.Tree
	srv      *Server
	user     testserver.User // whose rights count
	dir      string          // working directory, a name in the tree
	renaming string          // what RNTO will rename, a name in the tree; or ""
	facts    facts
}

// name turns a pathname argument into a name in the tree.
func (t *files) name(arg string) string {
	if strings.HasPrefix(arg, "/") {
		return tree.Clean(arg)
	}
	return tree.Clean(t.dir + "/" + arg)
}

// stat returns what a pathname argument names.
func (t *files) stat(arg string) (tree.Entry, error) { return t.Stat(t.name(arg)) }

// may reports whether the user has a right.
func (t *files) may(r testserver.Rights) bool {
	const changing = testserver.Write | testserver.Delete
	return t.user.May(r) && !(t.srv.ReadOnly && r&changing != 0)
}

// change makes a change that requires a right, and replies.
func (f *session) change(r testserver.Rights, do func() error, format string, args ...any) error {
	err := fs.ErrPermission
	if f.files.may(r) {
		err = do()
	}
	if err != nil {
		return f.fail(err)
	}
	return f.replyf(format, args...)
}

func doPWD(f *session, _ string) error {
	return f.replyf("257 %s is the current directory.", quoted(f.files.dir))
}

// quoted formats a pathname for a 257 reply (RFC 959 appendix II).
func quoted(name string) string {
	return `"/` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func doCWD(f *session, arg string) error {
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
	name := f.files.name(arg)
	e, err := f.files.Stat(name)
	switch {
	case err != nil:
		return f.fail(err)
	case !e.Dir:
		return f.fail(tree.ErrNotDir)
	case f.files.Refused(name):
		return f.fail(fs.ErrPermission)
	}
	f.files.dir = name
	return f.replyf("250 Directory changed to /%s", name)
}

func doCDUP(f *session, _ string) error { return doCWD(f, "..") }

func doSIZE(f *session, arg string) error {
	name := f.files.name(arg)
	file, e, err := f.files.Open(name)
	if err != nil {
		return f.fail(err)
	}
	defer file.Close()
	size := e.Size
	switch ascii, choice := f.parameters.ascii, f.srv.SizeInASCII; {
	case ascii && choice == SizeRefused:
		return f.reply("550 SIZE not allowed in ASCII mode.")
	case ascii && choice == SizeConverted:
		if size, err = io.Copy(io.Discard, core.ToNetASCII(file)); err != nil {
			return f.fail(err)
		}
	}
	return f.replyf("213 %d", size)
}

// timeFormat is the format of times in RFC 3659 §2.3.
const timeFormat = "20060102150405"

func doMDTM(f *session, arg string) error {
	e, err := f.files.stat(arg)
	if err != nil {
		return f.fail(err)
	}
	if f.now.time = e.ModTime.UTC().Format(timeFormat); e.Dir {
		return f.fail(tree.ErrIsDir)
	}
	return f.reply("213 " + f.now.time)
}

func doMFMT(f *session, arg string) error {
	stamp, file, _ := strings.Cut(arg, " ")
	t, err := time.Parse(timeFormat, stamp)
	if err != nil || file == "" {
		return f.reply("501 MFMT YYYYMMDDhhmmss name")
	}
	return f.change(testserver.Write, func() error { return f.files.Touch(f.files.name(file), t) }, "213 Modify=%s; %s", stamp, file)
}

func doDELE(f *session, arg string) error {
	return f.change(testserver.Delete, func() error { return f.files.Remove(f.files.name(arg), false) }, "250 Deleted.")
}

func doRMD(f *session, arg string) error {
	return f.change(testserver.Delete, func() error { return f.files.Remove(f.files.name(arg), true) }, "250 Removed.")
}

func doMKD(f *session, arg string) error {
	name := f.files.name(arg)
	return f.change(testserver.Write, func() error { return f.files.Mkdir(name) }, "257 %s created.", quoted(name))
}

func doRNFR(f *session, arg string) error {
	name := f.files.name(arg)
	if _, err := f.files.Stat(name); err != nil {
		return f.fail(err)
	}
	f.files.renaming = name
	return f.reply("350 Ready for RNTO.")
}

func doRNTO(f *session, arg string) error {
	from := f.files.renaming
	if from == "" {
		return f.reply("503 RNFR first.")
	}
	f.files.renaming = ""
	const both = testserver.Write | testserver.Delete
	return f.change(both, func() error { return f.files.Rename(from, f.files.name(arg)) }, "250 Renamed.")
}

func doMLST(f *session, arg string) error {
	name := f.files.name(arg)
	e, err := f.files.Stat(name)
	if err != nil {
		return f.fail(err)
	}
	e.Name = "/" + name
	f.now.lines = f.files.format("MLST", "", "", e, []tree.Entry{e})
	return f.replyf("250-Listing\n %s\n250 End", strings.Join(f.now.lines, "\n "))
}

func doSTAT(f *session, arg string) error {
	if arg == "" {
		return f.reply("211 A test server; all is well.")
	}
	lines, err := f.files.listing("STAT", arg)
	if err != nil {
		return f.fail(err)
	}
	lines = slices.Concat([]string{"213-Status of " + arg + ":"}, lines)
	return f.reply(strings.Join(lines, "\n ") + "\n213 End")
}
