package testserver

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

// Commands about files and directories that need no data connection.

// name turns a pathname argument into a name in the tree.
func (f *ftpSession) name(arg string) string {
	if strings.HasPrefix(arg, "/") {
		return clean(arg)
	}
	return clean(f.dir + "/" + arg)
}

// fail replies to an error of the tree.
func (f *ftpSession) fail(err error) error { return f.reply(failure(err)) }

func failure(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "550 No such file or directory."
	case errors.Is(err, fs.ErrPermission):
		return "550 Permission denied."
	case errors.Is(err, fs.ErrExist):
		return "550 File exists."
	case errors.Is(err, errIsDir):
		return "550 Not a plain file."
	case errors.Is(err, errNotDir):
		return "550 Not a directory."
	case errors.Is(err, errNotEmpty):
		return "550 Directory not empty."
	case errors.Is(err, errTooLarge):
		return "552 Exceeded storage allocation."
	case errors.Is(err, fs.ErrInvalid):
		return "553 File name not allowed."
	}
	return "451 Local error in processing."
}

func (f *ftpSession) printDir(string) error {
	return f.replyf("257 %s is the current directory.", quoted(f.dir))
}

// quoted formats a pathname for a 257 reply (RFC 959 appendix II).
func quoted(name string) string {
	return `"/` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func (f *ftpSession) changeDir(arg string) error {
	if arg == "" {
		switch null := f.srv.NullCWD; {
		case null == "":
			arg = "/" + clean(f.srv.LoginDir)
		case strings.HasPrefix(null, "/"):
			arg = null
		default:
			return f.reply(null)
		}
	}
	name := f.name(arg)
	e, err := f.srv.tree.stat(name)
	switch {
	case err != nil:
		return f.fail(err)
	case !e.Dir:
		return f.fail(errNotDir)
	case f.srv.tree.refused(name):
		return f.fail(fs.ErrPermission)
	}
	f.dir = name
	return f.replyf("250 Directory changed to /%s", name)
}

func (f *ftpSession) changeUp(string) error { return f.changeDir("..") }

func (f *ftpSession) size(arg string) error {
	name := f.name(arg)
	file, e, err := f.srv.tree.open(name)
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
			if size, err = io.Copy(io.Discard, toNetASCII(file)); err != nil {
				return f.fail(err)
			}
		}
	}
	return f.replyf("213 %d", size)
}

// ftpTime is the format of times in RFC 3659 §2.3.
const ftpTime = "20060102150405"

func (f *ftpSession) modTime(arg string) error {
	e, err := f.srv.tree.stat(f.name(arg))
	switch {
	case err != nil:
		return f.fail(err)
	case e.Dir:
		return f.fail(errIsDir)
	}
	return f.replyf("213 %s", e.ModTime.UTC().Format(ftpTime))
}

func (f *ftpSession) setModTime(arg string) error {
	stamp, file, _ := strings.Cut(arg, " ")
	t, err := time.Parse(ftpTime, stamp)
	if err != nil || file == "" {
		return f.reply("501 MFMT YYYYMMDDhhmmss name")
	}
	err = f.writing(func() error { return f.srv.tree.touch(f.name(file), t) })
	return f.change(err, "213 Modify=%s; %s", stamp, file)
}

// change replies to a command that changed the tree, or failed to.
func (f *ftpSession) change(err error, format string, args ...any) error {
	if err != nil {
		return f.fail(err)
	}
	return f.reply(fmt.Sprintf(format, args...))
}

// writing runs change, or refuses it on a read-only server.
func (f *ftpSession) writing(change func() error) error {
	if f.srv.ReadOnly {
		return fs.ErrPermission
	}
	return change()
}

func (f *ftpSession) deleteFile(arg string) error {
	err := f.writing(func() error { return f.srv.tree.remove(f.name(arg), false) })
	return f.change(err, "250 Deleted.")
}

func (f *ftpSession) removeDir(arg string) error {
	err := f.writing(func() error { return f.srv.tree.remove(f.name(arg), true) })
	return f.change(err, "250 Removed.")
}

func (f *ftpSession) makeDir(arg string) error {
	name := f.name(arg)
	err := f.writing(func() error { return f.srv.tree.mkdir(name) })
	return f.change(err, "257 %s created.", quoted(name))
}

func (f *ftpSession) renameFrom(arg string) error {
	name := f.name(arg)
	if _, err := f.srv.tree.stat(name); err != nil {
		return f.fail(err)
	}
	f.renaming = name
	return f.reply("350 Ready for RNTO.")
}

func (f *ftpSession) renameTo(arg string) error {
	from := f.renaming
	if from == "" {
		return f.reply("503 RNFR first.")
	}
	f.renaming = ""
	err := f.writing(func() error { return f.srv.tree.rename(from, f.name(arg)) })
	return f.change(err, "250 Renamed.")
}

func (f *ftpSession) restart(arg string) error {
	n, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || n < 0 {
		return f.reply("501 REST takes a number of octets.")
	}
	if f.rest = n; f.plan.start {
		f.rest = 0
	}
	return f.replyf("350 Restarting at %d.", n)
}

func (f *ftpSession) mlst(arg string) error {
	name := f.name(arg)
	e, err := f.srv.tree.stat(name)
	if err != nil {
		return f.fail(err)
	}
	e.Name = path.Join("/", name)
	return f.replyf("250-Listing\n %s\n250 End", f.factsLine(e, ""))
}

func (f *ftpSession) status(arg string) error {
	if arg == "" {
		return f.reply("211 A test server; all is well.")
	}
	lines, err := f.listing(arg, f.unixLine)
	if err != nil {
		return f.fail(err)
	}
	text := "213-Status of " + arg + ":"
	for _, line := range lines {
		text += "\n " + line
	}
	return f.reply(text + "\n213 End")
}
