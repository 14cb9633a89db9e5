package mirror

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/mirror"
)

// settings holds the values of the options of mirror.
type settings struct{ mirror.Mirror }

// own returns an option that only mirror has.
func own(long, arg, help string, set curl.Setter) curl.Option {
	return curl.Option{Long: long, Arg: arg, Groups: "mirror", Help: help, Set: set, Curl: curl.Own}
}

// options returns mirror's own options, in the order of their names.
func (s *settings) options() []curl.Option {
	return []curl.Option{
		own("alias", "HOST[:PORT]", "Another name for the gopher server; may be repeated", addAlias(&s.Aliases)),
		own("connections", "N", "Run up to N requests at once (default 4)", positive(&s.Connections)),
		own("delete", "", "Delete files that no longer exist on the server", onOff(&s.Delete)),
		own("depth", "N", "Enter N levels of folders or menus (1: URL only; default 64)", positive(&s.Depth)),
		own("dry-run", "", "Show what would be done; fetch no files", onOff(&s.DryRun)),
		own("exclude", "GLOB", "Skip files and folders that match; may be repeated", add(&s.Exclude)),
		own("include", "GLOB", "Copy only files that match; may be repeated", add(&s.Include)),
		own("max-delete", "N|all", "With --delete, delete up to N files, also if a listing looks incomplete", maxDelete(&s.MaxDelete)),
		own("max-entries", "N", "Stop listing after N entries (default 1000000)", positive(&s.MaxEntries)),
		own("new-only", "", "Treat existing files as unchanged", onOff(&s.NewOnly)),
		own("wait", "SECONDS", "Wait SECONDS between requests", interval(&s.Wait)),
	}
}

// table returns all options that mirror accepts. Options about a single document are an error on
// the command line. In a configuration file, which all commands share, they are ignored.
func (s *settings) table() []curl.Option {
	table := s.options()
	has := func(long string) bool {
		return slices.ContainsFunc(table, func(o curl.Option) bool { return o.Long == long })
	}
	for _, o := range curl.Options() {
		if has(o.Long) {
			continue
		}
		if hasNoUse(o) {
			o.Set = func(c *curl.CommandLine, _ string) error {
				if c.InFile() {
					return nil
				}
				return errors.New("cannot be used with mirror, which copies whole trees; see fetch1738 mirror --help")
			}
		}
		table = append(table, o)
	}
	return table
}

// hasNoUse reports whether an option has no use in mirror, because it is about one document or
// about a scheme without trees. It is false for options about security.
func hasNoUse(o curl.Option) bool {
	if o.Guards() {
		return false
	}
	const useful = " no-buffer progress-bar progress-meter show-error silent stderr verbose "
	const useless = " articles continue-at exact fail-early ftp-guess-type form form-file ftp-create-dirs globoff list-only list-views next " +
		"quote range rate skip-existing speed-limit speed-time time-cond use-ascii view "
	for _, group := range []string{"output", "upload", "http", "telnet", "wais", "mailto"} {
		if o.In(group) && !strings.Contains(useful, " "+o.Long+" ") {
			return true
		}
	}
	return strings.Contains(useless, " "+o.Long+" ")
}

// onOff sets a boolean option.
func onOff(field *bool) curl.Setter {
	return func(_ *curl.CommandLine, value string) (err error) {
		*field, err = strconv.ParseBool(value)
		return err
	}
}

// addAlias appends another name of the server.
func addAlias(field *[]string) curl.Setter {
	return func(_ *curl.CommandLine, value string) error {
		if value == "" || strings.ContainsAny(value, "/@ ") {
			return errors.New("expected HOST or HOST:PORT")
		}
		*field = append(*field, value)
		return nil
	}
}

// add appends a pattern.
func add(field *[]string) curl.Setter {
	return func(_ *curl.CommandLine, value string) error {
		*field = append(*field, value)
		return mirror.CheckPattern(value)
	}
}

// maxDelete sets a number of at least 1, or -1 for "all".
func maxDelete(field *int) curl.Setter {
	return func(c *curl.CommandLine, value string) error {
		if value == "all" {
			*field = -1
			return nil
		}
		if err := positive(field)(c, value); err != nil {
			return errors.New("expected a number of 1 or more, or all")
		}
		return nil
	}
}

// positive sets a number of at least 1.
func positive(field *int) curl.Setter {
	return func(_ *curl.CommandLine, value string) error {
		n, err := strconv.Atoi(value)
		switch {
		case err != nil:
			return curl.ErrNotNumeric
		case n < 1:
			return errors.New("expected 1 or more")
		}
		*field = n
		return nil
	}
}

// interval sets a duration from a number of seconds.
func interval(field *time.Duration) curl.Setter {
	return func(c *curl.CommandLine, value string) error {
		return curl.Seconds(func(*plan.Operation) *time.Duration { return field })(c, value)
	}
}
