package menu

import "bytes"

// ErrorPage reports whether the beginning of a response, or all of it if ended, is a menu that reports
// an error, and returns its text. more is set if that depends on what follows. Such a menu has texts and
// errors, all with a host and a port that no server has, and at most one link, which leads back.
// gopher2000 sends one in place of a document. A table of numbers may have such ports, but no such hosts.
func ErrorPage(head []byte, ended bool) (text string, is, more bool) {
	if len(head) > 0 && head[0] != Info && head[0] != Error {
		return "", false, false
	}
	links, texts, last := 0, 0, false
	for line := range bytes.Lines(head) {
		if !ended && line[len(line)-1] != '\n' {
			return "", false, true
		}
		if line = trimEnd(line); len(line) == 0 {
			continue
		}
		parsed := Parse(line)
		switch {
		case last:
			return "", false, false
		case string(line) == ".":
			last = true
		case parsed.Link():
			links++
		case !nowhere(line):
			return "", false, false
		case parsed.Type == Info:
			texts++
		case text == "":
			text = string(parsed.Display)
		}
		if links > 1 {
			return "", false, false
		}
	}
	return text, ended && text != "" && texts > 0, !ended
}

// nowhere reports whether a line has all fields, and a host and a port that no server has.
func nowhere(line []byte) bool {
	fields := bytes.Split(line, []byte("\t"))
	return len(fields) > 3 && (IsPlaceholder(fields[2]) || bytes.HasPrefix(fields[2], []byte("("))) &&
		(string(fields[3]) == "0" || string(fields[3]) == "1")
}
