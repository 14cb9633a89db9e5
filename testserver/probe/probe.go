// Package probe plays recorded conversations to servers and records what they answer, for tests
// only: the same conversation is played to a real server and to one that imitates it.
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
package probe

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strings"
)

// Server is a server to play to.
type Server struct {
	Addr string
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Clean, if not nil, changes each line of the server before it is recorded, so that it does not
	// depend on the machine.
	Clean func(line string) string
}

// Omit is what a Clean returns for a line that is not recorded.
const Omit = "\x00"

// A step is what the client sends, and what was recorded with it.
type step struct {
	comments []string
	command  string // "" means nothing: the server speaks first
	upload   []string
	codes    bool // only the codes of the reply are compared
}

// connections reads a conversation. The first step of a connection is the greeting.
func connections(text string, greets bool) (all [][]step) {
	for part := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		var steps []step
		var next step
		add := func() {
			steps = append(steps, next)
			next = step{}
		}
		greeted := !greets
		for line := range strings.SplitSeq(part, "\n") {
			kind, arg, _ := strings.Cut(line, ": ")
			switch {
			case strings.HasPrefix(line, "#"):
				next.comments = append(next.comments, line)
				next.codes = next.codes || strings.HasPrefix(line, "# code only:")
			case kind == "S" && !greeted:
				greeted = true
				add()
			case kind == "C":
				next.command = arg
				add()
			case kind == "U":
				last := &steps[len(steps)-1]
				last.upload = append(last.upload, arg)
			}
		}
		if len(next.comments) > 0 {
			add()
		}
		all = append(all, steps)
	}
	return all
}

// Compare returns how two conversations differ; "" means not at all. Comments are not compared. got
// need only have the codes of replies that want marks with "# code only".
func Compare(got, want string) string {
	marked := markedCommands(want)
	a, b := comparedLines(got, marked), comparedLines(want, marked)
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

// markedCommands returns the numbers of the commands of which only the codes count; 0 is the first
// greeting.
func markedCommands(text string) map[int]bool {
	marked, n, next := make(map[int]bool), 0, false
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case strings.HasPrefix(line, "# code only:"):
			next = true
		case strings.HasPrefix(line, "C: "):
			n++
			marked[n], next = next, false
		case strings.HasPrefix(line, "S: ") && next:
			marked[n], next = true, false
		}
	}
	return marked
}

// comparedLines returns the lines that are compared.
func comparedLines(text string, marked map[int]bool) (lines []string) {
	n := 0
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "C: ") {
			n++
		}
		if marked[n] && (strings.HasPrefix(line, "S: ") || strings.HasPrefix(line, "D: ")) {
			if !lastLine.MatchString(line) {
				continue // of a reply of several lines
			}
			line = line[:min(len(line), len("S: 226"))]
		}
		lines = append(lines, line)
	}
	return lines
}

var lastLine = regexp.MustCompile(`^S: \d{3}( |$)|^D: [+-]`)

// Gopher plays a conversation of gopher: each request is a connection, and its answer data.
func (s *Server) Gopher(ctx context.Context, text string) (string, error) {
	var out strings.Builder
	for _, steps := range connections(text, false) {
		for _, st := range steps {
			out.WriteString(strings.Join(append(st.comments, ""), "\n"))
			if st.command == "" {
				continue
			}
			answer, err := s.ask(ctx, unquote(st.command)+"\r\n")
			if err != nil {
				return out.String(), err
			}
			out.WriteString("C: " + st.command + "\n")
			for line := range strings.SplitAfterSeq(answer, "\n") {
				if line != "" {
					out.WriteString("D: " + s.clean(quote(line)) + "\n")
				}
			}
		}
		out.WriteString("\n")
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// quote makes the characters visible that a line of text cannot have.
func quote(line string) string {
	return strings.NewReplacer("\t", `\t`, "\r", `\r`, "\n", `\n`).Replace(line)
}

// unquote returns the line that quote has quoted, as far as lines to send need it.
func unquote(line string) string { return strings.ReplaceAll(line, `\t`, "\t") }

// ask sends a request and reads to the end of the connection.
func (s *Server) ask(ctx context.Context, request string) (string, error) {
	nc, err := s.Dial(ctx, "tcp", s.Addr)
	if err != nil {
		return "", err
	}
	defer nc.Close()
	defer context.AfterFunc(ctx, func() { nc.Close() })()
	if _, err := io.WriteString(nc, request); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(nc)
	return string(answer), err
}

func (s *Server) clean(line string) string {
	if s.Clean != nil {
		line = s.Clean(line)
	}
	return line
}

// talk is a connection of a line protocol.
type talk struct {
	net.Conn
	*Server
	ctx  context.Context
	in   *bufio.Reader
	out  *strings.Builder
	last string   // the last line of the server, as received
	data net.Conn // of FTP, open and not used yet
}

// News plays a conversation of NNTP. A command is followed by its block if the reply has one.
func (s *Server) News(ctx context.Context, text string) (string, error) {
	return s.play(ctx, text, func(t *talk, st step) error {
		code, err := t.reply()
		if err == nil && (slices.Contains(blocks, code) || code == "211" && strings.HasPrefix(st.command, "LISTGROUP")) {
			err = t.block()
		}
		return err
	})
}

var blocks = []string{"100", "101", "215", "220", "221", "222", "224", "225", "230", "231"}

// play opens the connections and sends the commands; answer reads the answer to one.
func (s *Server) play(ctx context.Context, text string, answer func(*talk, step) error) (string, error) {
	out := new(strings.Builder)
	for i, steps := range connections(text, true) {
		if i > 0 {
			out.WriteString("\n")
		}
		if err := s.connect(ctx, out, steps, answer); err != nil {
			return out.String(), err
		}
	}
	return out.String(), nil
}

// connect plays the steps of one connection.
func (s *Server) connect(ctx context.Context, out *strings.Builder, steps []step, answer func(*talk, step) error) error {
	nc, err := s.Dial(ctx, "tcp", s.Addr)
	if err != nil {
		return err
	}
	defer nc.Close()
	defer context.AfterFunc(ctx, func() { nc.Close() })()
	t := &talk{Conn: nc, Server: s, ctx: ctx, in: bufio.NewReader(nc), out: out}
	defer t.dropData()
	for i, st := range steps {
		out.WriteString(strings.Join(append(st.comments, ""), "\n"))
		if i > 0 && st.command == "" {
			continue // comments at the end
		}
		if i > 0 {
			out.WriteString("C: " + st.command + "\n")
			for _, line := range st.upload {
				out.WriteString("U: " + line + "\n")
			}
			if _, err := io.WriteString(nc, st.command+"\r\n"); err != nil {
				return err
			}
		}
		if err := answer(t, st); err != nil {
			return fmt.Errorf("%s: %w", st.command, err)
		}
	}
	return nil
}

// line reads a line and records it.
func (t *talk) line(kind string) (string, error) {
	line, err := t.in.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	t.last = line
	if shown := t.clean(line); shown != Omit {
		t.out.WriteString(kind + ": " + shown + "\n")
	}
	return line, nil
}

// reply reads a reply, which has lines until one with its code and a space, and returns the code.
func (t *talk) reply() (string, error) {
	first, err := t.line("S")
	for last := first; err == nil && len(first) > 3 && first[3] == '-'; {
		if last, err = t.line("S"); strings.HasPrefix(last, first[:3]+" ") {
			break
		}
	}
	return first[:min(3, len(first))], err
}

// block reads a block that ends in a dot.
func (t *talk) block() error {
	for {
		if line, err := t.line("D"); err != nil || line == "." {
			return err
		}
	}
}
