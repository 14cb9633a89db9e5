package curl

import (
	"slices"
	"strings"
)

// splitShort makes a value that directly follows an option's letter, as in -oFILE, a separate
// argument. Otherwise pflag would remove a leading "=" from the value.
func splitShort(args []string, table []Option) []string {
	takesValue := func(name string) bool { // a letter or a long name
		return slices.ContainsFunc(table, func(o Option) bool { return o.Arg != "" && (o.Long == name || o.Short == name) })
	}
	var split []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		value, pending := "", false
		name, isLong := strings.CutPrefix(arg, "--")
		switch {
		case arg == "--":
			return append(split, args[i:]...)
		case isLong:
			pending = takesValue(name)
		case len(arg) > 1 && arg[0] == '-':
			for at := 1; at < len(arg); at++ {
				if takesValue(arg[at : at+1]) {
					arg, value = arg[:at+1], arg[at+1:]
					pending = value == ""
					break
				}
			}
		}
		split = append(split, arg)
		if value != "" {
			split = append(split, value)
		}
		if pending && i+1 < len(args) {
			i++
			split = append(split, args[i])
		}
	}
	return split
}

// mayName reports whether args may contain o, under any of its names. Defining all options in
// pflag is slow, and most are not used.
func mayName(args []string, o Option) bool {
	long := strings.TrimPrefix(o.Long, "no-")
	return slices.ContainsFunc(args, func(arg string) bool {
		if strings.HasPrefix(arg, "--") {
			return strings.Contains(arg, long)
		}
		return o.Short != "" && strings.HasPrefix(arg, "-") && strings.Contains(arg, o.Short)
	})
}
