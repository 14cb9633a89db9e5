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

const defaults = "[Default Applications]"

// preferred returns a mimeapps.list in which app comes first for types. What was there before
// follows, so that withoutApp restores it.
func preferred(text, app string, types []string) string {
	lines := strings.SplitAfter(withoutApp(text, app), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	} else {
		lines[last] += "\n"
	}
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
		lines[at+i] = key + "=" + app + ";" + value
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
		if strings.HasPrefix(line, "[") {
			closeSection()
			if isDefaults(line) {
				section = len(kept)
			}
		}
		key, value, isEntry := strings.Cut(line, "=")
		rest, named := "", false
		for name := range strings.SplitAfterSeq(value, ";") {
			if isEntry && strings.TrimRight(name, ";\n") == app {
				named = true
			} else {
				rest += name
			}
		}
		switch {
		case !named:
			kept = append(kept, line)
		case strings.Trim(rest, ";\n") == "":
			emptied = true
		default:
			kept = append(kept, key+"="+strings.TrimSuffix(rest, "\n")+"\n")
		}
	}
	closeSection()
	return strings.Join(kept, "")
}

func isDefaults(line string) bool { return strings.TrimSpace(line) == defaults }
