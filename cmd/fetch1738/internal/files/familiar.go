package files

import (
	"errors"
	"io/fs"
	"strconv"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
)

// The options that people type because the commands of these names have them, and that the help does not
// list: here they are the default or have another name, or a message says what to do. Without them, most
// of these letters would be options of curl that do something else.

// same returns an option that sets what another one sets, or nothing if field is nil.
func same(short, long string, field *bool) curl.Option {
	if field == nil {
		field = new(bool)
	}
	return own(short, long, "", field)
}

// instead returns an option that is an error, which says what to do.
func instead(short, long, text string) curl.Option {
	return curl.Option{Short: short, Long: long, Groups: "files", Set: func(*curl.CommandLine, string) error { return errors.New(text) }, Curl: curl.Own}
}

func lsFamiliar(s *settings) []curl.Option {
	return []curl.Option{
		same("A", "almost-all", &s.all),
		same("F", "classify", nil),
		same("1", "one-per-line", nil),
		instead("c", "ctime", "ls knows the time of the last modification only: -t sorts by it, -l prints it"),
		instead("", "sort", "use -t (time, newest first), -S (size, largest first) or -r (reverse)"),
	}
}

func statFamiliar(*settings) []curl.Option {
	const format = "stat has no formats; --json prints all fields, for programs such as jq"
	return []curl.Option{
		same("L", "dereference", nil),
		instead("c", "format", format), instead("", "printf", format), instead("t", "terse", format),
		instead("f", "file-system", "servers do not tell about their file system"),
	}
}

func duFamiliar(*settings) []curl.Option {
	return []curl.Option{
		same("b", "bytes", nil),
		instead("", "exclude", "du counts all; name the directories that count, or use a wildcard"),
	}
}

func rmFamiliar(s *settings) []curl.Option {
	return []curl.Option{
		{Short: "I", Long: "ask-once", Groups: "files", Set: oneOf(&s.ask, &s.force), Curl: curl.Own},
		same("R", "recurse", &s.recursive),
		instead("d", "dir", "rm -r deletes a directory with all below it, and asks first"),
	}
}

func mvFamiliar(s *settings) []curl.Option {
	var list []curl.Option
	for _, o := range curl.Options() {
		if o.Long != "netrc" {
			continue
		}
		read := o.Set // -n is that of the other verbs, too
		o.Set = func(c *curl.CommandLine, value string) error {
			s.force = s.force && c.InFile()
			return read(c, value)
		}
		list = append(list, o)
	}
	return append(list,
		same("", "no-clobber", nil),
		instead("b", "backup", "mv makes no backups; move the existing file away first"),
		instead("i", "interactive", "mv does not ask: it replaces a file only with -f"),
		instead("t", "target-directory", "the directory is the last URL: fetch1738 mv URL... DIRECTORYURL/"),
		instead("T", "no-target-directory", "give the new URL with its last part: fetch1738 mv URL DIRECTORYURL/NAME"),
		instead("", "update", "mv does not compare times; -f replaces the file"),
	)
}

// oneOf sets one of two switches that exclude each other: the last one counts.
func oneOf(field, other *bool) curl.Setter {
	return func(_ *curl.CommandLine, value string) (err error) {
		if *field, err = strconv.ParseBool(value); *field {
			*other = false
		}
		return err
	}
}

// setMode is -m of mkdir.
func (s *settings) setMode(_ *curl.CommandLine, value string) error {
	mode, err := strconv.ParseUint(value, 8, 16)
	if err != nil || mode > 0o777 {
		return errors.New("expected permissions in octal, such as 755; the time limit is --max-time")
	}
	s.mode, s.hasMode = fs.FileMode(mode), true
	return nil
}

// setDepth is -d of du.
func (s *settings) setDepth(_ *curl.CommandLine, value string) error {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return errors.New("expected a number of levels, such as 1")
	}
	s.depth, s.flat = int(n), true
	return nil
}

// setSummarize is -s of du.
func (s *settings) setSummarize(_ *curl.CommandLine, value string) (err error) {
	s.depth = 0
	s.flat, err = strconv.ParseBool(value)
	return err
}
