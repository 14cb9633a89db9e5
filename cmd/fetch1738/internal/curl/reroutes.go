package curl

import (
	"slices"
	"strings"
)

// harmless are the options about connections that do not change which server is reached, or what it
// learns.
const harmless = " connect-timeout idle-timeout keepalive keepalive-time limit-rate max-time speed-limit speed-time tcp-nodelay "

// Reroutes reports whether words, typed at a shell, may have an option that changes which server is
// reached, by which way, with which encryption or as whom. The words may have the quotes of a shell.
// One that is not known, because the shell has yet to expand it, is such an option. An option of a verb
// that is not in Options is not.
func Reroutes(words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		word = strings.TrimLeft(word, `'"\`)
		switch {
		case word == "" || word == "--":
			return false
		case strings.ContainsAny(word[:1], "$`"):
			return true
		case strings.HasPrefix(word, "--"):
			return strings.ContainsAny(word, `'"\$`+"`") || longReroutes(word[2:])
		case word[0] == '-':
			return lettersReroute(word[1:])
		}
		return false
	})
}

// longReroutes is Reroutes for an option without its dashes.
func longReroutes(name string) bool {
	name, _, _ = strings.Cut(name, "=")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "expand-"), "no-")
	return slices.ContainsFunc(Options(), func(o Option) bool { return strings.TrimPrefix(o.Long, "no-") == name && o.reroutes() })
}

// lettersReroute is Reroutes for short options in one word, the last of which may have a value.
func lettersReroute(letters string) bool {
	all := Options()
	for _, r := range letters {
		i := slices.IndexFunc(all, func(o Option) bool { return o.Short == string(r) })
		if i < 0 {
			continue
		}
		if all[i].reroutes() {
			return true
		}
		if all[i].Arg != "" {
			return false
		}
	}
	return false
}

func (o Option) reroutes() bool {
	return o.Guards() || o.In("connection") && !strings.Contains(harmless, " "+o.Long+" ") || o.Long == "config" || o.Long == "disable"
}
