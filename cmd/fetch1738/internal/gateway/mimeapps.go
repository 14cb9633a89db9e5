package gateway

import (
	"slices"
	"strings"
)

// A mimeapps.list names the programs that open a type, the preferred one first, separated by
// semicolons (freedesktop.org, Association between MIME types and applications):
//
//	[Default Applications]
//	x-scheme-handler/ftp=fetch1738-gateway.desktop;other.desktop;

// It is edited directly, because xdg-mime has no command to remove what it has set.
const defaults = "[Default Applications]"

// preferred returns a mimeapps.list in which app comes first for types. What was there before
// follows, so that withoutApp restores it.
func preferred(text, app string, types []string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	lines := slices.Collect(strings.Lines(text))
	at := slices.IndexFunc(lines, isDefaults)
	if at < 0 {
		if len(lines) > 0 {
			lines = append(lines, "\n")
		}
		at = len(lines)
		lines = append(lines, defaults+"\n")
	}
	end := at + 1
	for i := at + 1; i < len(lines) && !strings.HasPrefix(lines[i], "["); i++ {
		if strings.TrimSpace(lines[i]) != "" {
			end = i + 1
		}
	}
	var added []string
	for _, t := range types {
		i := slices.IndexFunc(lines[at:end], func(line string) bool {
			key, _, found := strings.Cut(line, "=")
			return found && strings.TrimSpace(key) == t
		})
		if i < 0 {
			added = append(added, t+"="+app+";\n")
			continue
		}
		key, value, _ := strings.Cut(lines[at+i], "=")
		others, _ := without(value, app)
		lines[at+i] = key + "=" + app + ";" + others + "\n"
	}
	return strings.Join(slices.Insert(lines, end, added...), "")
}

// withoutApp returns a mimeapps.list in which no line names app. It leaves out the section of the
// defaults if nothing else is in it.
func withoutApp(text, app string) string {
	var kept []string
	section, emptied := -1, false // where the section of the defaults begins in kept
	closeSection := func() {
		if section >= 0 && emptied && strings.TrimSpace(strings.Join(kept[section+1:], "")) == "" {
			from := section
			if from > 0 && kept[from-1] == "\n" {
				from--
			}
			kept = slices.Delete(kept, from, section+1)
		}
		section, emptied = -1, false
	}
	for line := range strings.Lines(text) {
		key, value, isEntry := strings.Cut(line, "=")
		if strings.HasPrefix(line, "[") {
			isEntry = false
			closeSection()
			if isDefaults(line) {
				section = len(kept)
			}
		}
		others, named := without(value, app)
		switch {
		case !isEntry || !named:
			kept = append(kept, line)
		case strings.Trim(others, ";") == "":
			emptied = true
		default:
			kept = append(kept, key+"="+others+"\n")
		}
	}
	closeSection()
	return strings.Join(kept, "")
}

// without returns the names of an entry's value other than app, and whether app was among them.
func without(value, app string) (others string, named bool) {
	for name := range strings.SplitAfterSeq(strings.TrimSuffix(value, "\n"), ";") {
		if strings.TrimSuffix(name, ";") == app {
			named = true
		} else {
			others += name
		}
	}
	return others, named
}

func isDefaults(line string) bool { return strings.TrimSpace(line) == defaults }
