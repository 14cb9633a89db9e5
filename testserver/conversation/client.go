package conversation

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
)

// Reader reads what servers of line protocols send.
type Reader struct{ in *bufio.Reader }

// NewReader returns a Reader that reads from r. It may read more than it returns.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReader(r)} }

// Reply reads a reply, which has lines until one with the code of the first and a space. The lines
// are without their ends. With an error, the last of them is what has come of a line, perhaps "".
func (r *Reader) Reply() (lines []string, err error) {
	return r.until(func(first, line string) bool {
		return len(first) < 4 || first[3] != '-' || strings.HasPrefix(line, first[:3]+" ")
	})
}

// Block reads the lines of a block, up to the dot that ends it. They are like those of Reply.
func (r *Reader) Block() (lines []string, err error) {
	return r.until(func(_, line string) bool { return line == "." })
}

// until reads lines up to the one that is the last.
func (r *Reader) until(last func(first, line string) bool) (lines []string, err error) {
	for {
		line, err := r.in.ReadString('\n')
		if err != nil {
			return append(lines, line), err
		}
		line = strings.TrimRight(line, "\r\n")
		if lines = append(lines, line); last(lines[0], line) {
			return lines, nil
		}
	}
}

// Client plays conversations to a server. What it returns is the conversation that took place, also
// with an error.
type Client struct {
	Addr string
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Clean, if not nil, changes each line of the server before it is recorded, so that it does not
	// depend on the machine.
	Clean func(line string) string
}

// Omit is what a Clean returns for a line that is not recorded.
const Omit = "\x00"

func (c *Client) clean(line string) string {
	if c.Clean != nil {
		line = c.Clean(line)
	}
	return line
}

// protocol is how the conversations of a protocol take place.
type protocol struct {
	answer  func(*talk, Step) error // reads the answer to a command, or the greeting
	request bool                    // a connection has one request and its answer, with quoted lines
}

// Gopher plays a conversation of gopher: each request is a connection, and its answer data.
func (c *Client) Gopher(ctx context.Context, text string) (string, error) {
	return c.play(ctx, text, protocol{request: true, answer: func(t *talk, _ Step) error {
		answer, err := io.ReadAll(t.Conn)
		for line := range strings.Lines(string(answer)) {
			t.write("D", c.clean(visible.Replace(line)))
		}
		return err
	}})
}

// visible makes the characters visible that a line of text cannot have.
var visible = strings.NewReplacer("\t", `\t`, "\r", `\r`, "\n", `\n`)

// News plays a conversation of NNTP. A command is followed by its block if the reply has one.
func (c *Client) News(ctx context.Context, text string) (string, error) {
	return c.play(ctx, text, protocol{answer: func(t *talk, st Step) error {
		reply, err := t.receive("S", t.in.Reply)
		code := reply[0][:min(3, len(reply[0]))]
		if err == nil && (slices.Contains(blocks, code) || code == "211" && strings.HasPrefix(st.Text("C"), "LISTGROUP")) {
			_, err = t.receive("D", t.in.Block)
		}
		return err
	}})
}

var blocks = []string{"100", "101", "215", "220", "221", "222", "224", "225", "230", "231"}

// play opens the connections and plays their steps.
func (c *Client) play(ctx context.Context, text string, p protocol) (string, error) {
	out := new(strings.Builder)
	for i, steps := range Parse(text) {
		if i > 0 {
			out.WriteString("\n")
		}
		size := len(steps)
		if p.request {
			size = 1
		}
		for part := range slices.Chunk(steps, max(1, size)) {
			if err := c.connect(ctx, out, part, p); err != nil {
				return out.String(), err
			}
		}
	}
	return out.String(), nil
}

// connect plays the steps of one connection.
func (c *Client) connect(ctx context.Context, out *strings.Builder, steps []Step, p protocol) error {
	nc, err := c.Dial(ctx, "tcp", c.Addr)
	if err != nil {
		return err
	}
	defer nc.Close()
	defer context.AfterFunc(ctx, func() { nc.Close() })()
	t := &talk{Conn: nc, client: c, ctx: ctx, in: NewReader(nc), out: out}
	defer t.dropData()
	for _, st := range steps {
		out.WriteString(strings.Join(append(st.Comments, ""), "\n"))
		if len(st.Lines) == 0 {
			continue
		}
		command := st.Text("C")
		if st.Sends() {
			t.write("C", command)
			t.write("U", st.said("U")...)
			sent := command
			if p.request {
				sent = strings.ReplaceAll(command, `\t`, "\t")
			}
			if _, err := io.WriteString(nc, sent+"\r\n"); err != nil {
				return err
			}
		}
		if err := p.answer(t, st); err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
	}
	return nil
}

// talk is a connection over which a conversation is played.
type talk struct {
	net.Conn
	client *Client
	ctx    context.Context
	in     *Reader
	out    *strings.Builder // the conversation
	data   net.Conn         // of FTP, open and not used yet
}

// receive reads lines, and writes them to the conversation.
func (t *talk) receive(kind string, read func() ([]string, error)) (lines []string, err error) {
	lines, err = read()
	whole := len(lines)
	if err != nil {
		whole--
	}
	for _, line := range lines[:whole] {
		t.write(kind, t.client.clean(line))
	}
	return lines, err
}

// write writes lines to the conversation.
func (t *talk) write(kind string, lines ...string) {
	for _, line := range lines {
		if line != Omit {
			t.out.WriteString(kind + ": " + line + "\n")
		}
	}
}
