// Package conversation plays the client's side of conversations of line protocols to servers, for
// tests only: the same conversation is played to a real server and to one that imitates it. Package
// traffic plays the other side: the octets of a server, which are no text, at their times.
//
// A conversation is a text with a line for each line that is sent, after its kind:
//
//	C: RETR hello.txt    a command or request of the client
//	S: 226 Done.         a line of the server
//	D: hello             a line of data from the server
//	U: hello             a line of data from the client, after the command it belongs to
//	# code only: why     of the reply to the command that follows, the codes are compared, or
//	                     the beginning of the header of Gopher+
//	# …                  a comment
//
// An empty line ends a connection; another one begins.
package conversation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Step is a command and what follows it. The first step of a connection is without a command if the
// server speaks first, and the last step if only comments follow.
type Step struct {
	Comments []string // those before it, with their #
	Lines    []string // all others, with their kinds
}

// Sends reports whether the step begins with a command.
func (s Step) Sends() bool { return len(s.Lines) > 0 && strings.HasPrefix(s.Lines[0], "C: ") }

// Text returns the lines of a kind, such as "C", joined by "\n".
func (s Step) Text(kind string) string { return strings.Join(s.said(kind), "\n") }

// said returns the lines of a kind.
func (s Step) said(kind string) (lines []string) {
	for _, line := range s.Lines {
		if text, is := strings.CutPrefix(line, kind+": "); is {
			lines = append(lines, text)
		}
	}
	return lines
}

// codeOnly reports whether only codes of what the server sends are compared.
func (s Step) codeOnly() bool {
	return slices.ContainsFunc(s.Comments, func(c string) bool { return strings.HasPrefix(c, "# code only:") })
}

// Parse returns the steps of each connection.
func Parse(text string) (connections [][]Step) {
	for part := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		var steps []Step
		var comments []string
		for line := range strings.SplitSeq(part, "\n") {
			if strings.HasPrefix(line, "#") {
				comments = append(comments, line)
				continue
			}
			if len(steps) == 0 || strings.HasPrefix(line, "C: ") {
				steps = append(steps, Step{Comments: comments})
				comments = nil
			}
			last := &steps[len(steps)-1]
			last.Lines = append(last.Lines, line)
		}
		if len(comments) > 0 {
			steps = append(steps, Step{Comments: comments})
		}
		connections = append(connections, steps)
	}
	return connections
}

// Compare returns how two conversations differ; "" means not at all. Comments are not compared. got
// need only have the codes of replies that want marks with "# code only".
func Compare(got, want string) string {
	wanted := Parse(want)
	a, b := compared(Parse(got), wanted), compared(wanted, wanted)
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return fmt.Sprintf("there is no %q", b[i])
		case i >= len(b):
			return fmt.Sprintf("there is %q after the end", a[i])
		case a[i] != b[i]:
			return fmt.Sprintf("%q, want %q, after %q", a[i], b[i], b[max(0, i-3):i])
		}
	}
	return ""
}

// compared returns the lines that are compared. Those of a step that is marked with "# code only" end
// after the code.
func compared(connections, marked [][]Step) (lines []string) {
	for i, steps := range connections {
		if i > 0 {
			lines = append(lines, "")
		}
		for j, s := range steps {
			codes := i < len(marked) && j < len(marked[i]) && marked[i][j].codeOnly()
			for _, line := range s.Lines {
				if codes && (strings.HasPrefix(line, "S: ") || strings.HasPrefix(line, "D: ")) {
					if !lastLine.MatchString(line) {
						continue // of a reply of several lines
					}
					line = line[:min(len(line), len("S: 226"))]
				}
				lines = append(lines, line)
			}
		}
	}
	return lines
}

var lastLine = regexp.MustCompile(`^S: \d{3}( |$)|^D: [+-]`)
