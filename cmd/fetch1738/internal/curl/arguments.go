package curl

import "strings"

// splitShort gives values that stand right behind an option's letter, as in
// -oFILE, an argument of their own: pflag would take "=" off the front of them.
func splitShort(args []string) []string {
	takesValue := make(map[string]bool) // by letter or long name
	for _, o := range Options() {
		takesValue[o.Short], takesValue[o.Long] = o.Arg != "", o.Arg != ""
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
			pending = takesValue[name]
		case len(arg) > 1 && arg[0] == '-':
			for at := 1; at < len(arg); at++ {
				if takesValue[arg[at:at+1]] {
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
