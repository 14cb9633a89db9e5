package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/mirror"
)

// mirrorSettings are what the options of mirror say.
type mirrorSettings struct{ mirror.Mirror }

// mirrorOptions are mirror's own options, by name.
func mirrorOptions() []option { return new(mirrorSettings).options() }

func (s *mirrorSettings) options() []option {
	return []option{
		{"", "alias", "HOST[:PORT]", "mirror", "Another name of the gopher server; may be repeated", addAlias(&s.Aliases), own},
		{"", "connections", "N", "mirror", "Make N requests at a time, not 4", positive(&s.Connections), own},
		{"", "delete", "", "mirror", "Remove files of the copy that have disappeared", onOff(&s.Delete), own},
		{"", "depth", "N", "mirror", "Enter N levels of folders or menus; 1 is URL alone", positive(&s.Depth), own},
		{"", "dry-run", "", "mirror", "Say what would be done; fetch no files", onOff(&s.DryRun), own},
		{"", "exclude", "GLOB", "mirror", "Leave out what matches; may be repeated", add(&s.Exclude), own},
		{"", "include", "GLOB", "mirror", "Only files that match; may be repeated", add(&s.Include), own},
		{"", "max-entries", "N", "mirror", "Stop listing after N entries, not a million", positive(&s.MaxEntries), own},
		{"", "new-only", "", "mirror", "Take files that are there already for unchanged", onOff(&s.NewOnly), own},
		{"", "wait", "SECONDS", "mirror", "Let so much time pass between two requests", interval(&s.Wait), own},
	}
}

// table are all options that mirror takes. Those that say what is done with one
// document are refused; in a configuration file, which is for all verbs, they
// are passed over.
func (s *mirrorSettings) table() []option {
	table := s.options()
	has := func(long string) bool {
		return slices.ContainsFunc(table, func(o option) bool { return o.long == long })
	}
	for _, o := range options() {
		if has(o.long) {
			continue
		}
		if meaningless(o) {
			o.set = func(c *commandLine, _ string) error {
				if c.configs > 0 {
					return nil
				}
				return errors.New("says nothing to mirror, which copies whole trees; see fetch1738 mirror --help")
			}
		}
		table = append(table, o)
	}
	return table
}

// meaningless tells whether an option is of no use to mirror: it is about one
// document, or about a scheme that has no trees. One about security never is.
func meaningless(o option) bool {
	if o.guards() {
		return false
	}
	const useful = " no-buffer progress-bar progress-meter show-error silent stderr verbose "
	const useless = " articles continue-at exact fail-early ftp-guess-type form form-file ftp-create-dirs globoff list-only list-views next " +
		"quote range rate skip-existing speed-limit speed-time time-cond use-ascii view "
	for _, group := range []string{"output", "upload", "http", "telnet", "wais", "mailto"} {
		if o.in(group) && !strings.Contains(useful, " "+o.long+" ") {
			return true
		}
	}
	return strings.Contains(useless, " "+o.long+" ")
}

// onOff is for switches.
func onOff(field *bool) setter {
	return func(_ *commandLine, value string) (err error) {
		*field, err = strconv.ParseBool(value)
		return err
	}
}

// addAlias collects names of the server.
func addAlias(field *[]string) setter {
	return func(_ *commandLine, value string) error {
		if value == "" || strings.ContainsAny(value, "/@ ") {
			return errors.New("expected HOST or HOST:PORT")
		}
		*field = append(*field, value)
		return nil
	}
}

// add collects patterns.
func add(field *[]string) setter {
	return func(_ *commandLine, value string) error {
		*field = append(*field, value)
		return mirror.CheckPattern(value)
	}
}

// positive reads a number above zero.
func positive(field *int) setter {
	return func(_ *commandLine, value string) error {
		n, err := strconv.Atoi(value)
		switch {
		case err != nil:
			return errNotNumeric
		case n < 1:
			return errors.New("expected 1 or more")
		}
		*field = n
		return nil
	}
}

// interval reads a number of seconds.
func interval(field *time.Duration) setter {
	return func(c *commandLine, value string) error {
		return seconds(func(*plan.Operation) *time.Duration { return field })(c, value)
	}
}
