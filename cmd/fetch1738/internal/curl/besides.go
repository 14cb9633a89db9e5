package curl

import (
	"errors"
	"slices"
	"strings"
)

// Besides returns the table of a verb that takes options of its own, and those of Options that are
// about connecting. The others are an error on the command line, which says that they cannot be used
// with what. In a configuration file, which all commands share, they are ignored.
//
// Options about documents, uploads or one scheme without listings have no use, except those in useful;
// others have none if they are in useless. Both lists have a space around each name.
func Besides(own []Option, what, useful, useless string) []Option {
	table := slices.Clone(own)
	for _, o := range Options() {
		if slices.ContainsFunc(own, func(mine Option) bool { return mine.Long == o.Long }) {
			continue
		}
		if o.hasNoUse(useful, useless) {
			verb, _, _ := strings.Cut(what, ",")
			o.Set = func(c *CommandLine, _ string) error {
				if c.InFile() {
					return nil
				}
				return errors.New("cannot be used with " + what + "; see fetch1738 " + verb + " --help")
			}
		}
		table = append(table, o)
	}
	return table
}

// hasNoUse is false for options about security.
func (o Option) hasNoUse(useful, useless string) bool {
	if o.Guards() {
		return false
	}
	for _, group := range []string{"output", "upload", "http", "telnet", "wais", "mailto"} {
		if o.In(group) && !strings.Contains(useful, " "+o.Long+" ") {
			return true
		}
	}
	return strings.Contains(useless, " "+o.Long+" ")
}
