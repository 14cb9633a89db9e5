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
		if o.Short != "" && slices.ContainsFunc(own, func(mine Option) bool { return mine.Short == o.Short }) {
			o.Short = ""
		}
		table = append(table, o)
	}
	return table
}

// sharedLetters returns table with the letters of Options.
func sharedLetters(table []Option) []Option {
	table = slices.Clone(table)
	all := Options()
	for i, o := range table {
		at := slices.IndexFunc(all, func(other Option) bool { return other.Long == o.Long })
		switch {
		case at >= 0:
			table[i].Short = all[at].Short
		case slices.ContainsFunc(all, func(other Option) bool { return other.Short == o.Short }):
			table[i].Short = ""
		}
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
