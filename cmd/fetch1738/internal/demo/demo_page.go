package demo

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/render"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/codec/ardp"
	"github.com/fetch1738/fetch1738/internal/codec/z3950"
)

// demoPage prints the demonstration in 80 columns.
type demoPage struct {
	w      io.Writer
	colour bool
	err    error
}

const (
	demoColumns = 80
	demoIndent  = "        "
)

func newDemoPage(w io.Writer) *demoPage {
	return &demoPage{w: w, colour: term.IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

const (
	bold = "1"
	dim  = "2"
)

// line prints a line, in a style if the output is a terminal with colours.
func (p *demoPage) line(style, text string) {
	if p.colour && style != "" {
		text = "\x1b[" + style + "m" + text + "\x1b[0m"
	}
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, text)
	}
}

func (p *demoPage) title(text string) {
	p.line("", "")
	p.line(bold, text)
}

func (p *demoPage) heading(name, text string) {
	p.line("", "")
	p.line(bold, fmt.Sprintf("%-7s %s", name, text))
}

func (p *demoPage) text(text string) {
	for _, line := range render.Fold(text, demoColumns-len(demoIndent)) {
		p.line("", demoIndent+line)
	}
}

// wire prints lines of a conversation.
func (p *demoPage) wire(lines []string) {
	for _, line := range lines {
		p.line(dim, demoIndent+line)
	}
}

// result prints a result.
func (p *demoPage) result(text string) {
	mark := "= "
	for _, line := range render.Fold(text, demoColumns-len(demoIndent)-len(mark)) {
		p.line("", demoIndent+mark+line)
		mark = "  "
	}
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

// conversation collects the events of a Trace. The zero value is empty.
type conversation struct {
	mu       sync.Mutex
	lines    []string
	unended  map[string]string // incomplete line of each side
	body     int64
	bodyLine int // index of the line about the body, if body > 0
	udp      bool
}

// trace returns the hooks that collect the conversation.
func (c *conversation) trace() *fetch.Trace {
	return &fetch.Trace{
		Connected: func(conn fetch.Connection) { c.connected(conn) },
		Sent:      func(octets []byte) { c.said("> ", octets) },
		Received:  func(octets []byte) { c.said("< ", octets) },
		Note:      func(text string) { c.add("* ", text+"\n") },
		Body:      c.more,
	}
}

// brief returns octets of a conversation unchanged, except that telnet commands and WAIS messages
// are described in words.
func brief(octets []byte) string {
	const iac = 0xFF // no other protocol begins a line with it
	switch {
	case z3950.IsMessage(octets):
		return z3950.Summary(octets) + "\n"
	case len(octets) > 0 && octets[0] == iac:
		return render.Telnet(octets) + "\n"
	}
	return string(octets)
}

func (c *conversation) connected(conn fetch.Connection) {
	c.udp = conn.Network == "udp"
	c.add("* ", connected(conn))
}

// said adds octets as add does. Of a datagram it adds a summary of the header, then the data.
func (c *conversation) said(mark string, octets []byte) {
	if !c.udp {
		c.add(mark, brief(octets))
		return
	}
	summary, data := ardp.Summary(octets)
	c.add(mark, summary+"\n"+string(data)+"\n")
}

// connected returns the line about a connection.
func connected(conn fetch.Connection) string {
	if conn.Purpose == fetch.PurposeData {
		return fmt.Sprintf("connected to %s for data\n", conn.Remote)
	}
	return fmt.Sprintf("connected to %s\n", conn.Remote)
}

// add appends octets that one side sent. mark says which side.
func (c *conversation) add(mark, octets string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unended == nil {
		c.unended = make(map[string]string)
	}
	text := c.unended[mark] + octets
	for {
		line, rest, ended := strings.Cut(text, "\n")
		if !ended {
			break
		}
		if line = strings.TrimSuffix(line, "\r"); line != "" {
			c.lines = append(c.lines, mark+cutLine(line))
		}
		text = rest
	}
	c.unended[mark] = text
}

// more counts bytes of the body. They are shown as one line, at the place of the first ones.
func (c *conversation) more(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.body == 0 {
		c.bodyLine = len(c.lines)
		c.lines = append(c.lines, "")
	}
	c.body += n
	c.lines[c.bodyLine] = fmt.Sprintf("< (%d bytes of data)", c.body)
}

func (c *conversation) shown() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lines
}

// cutLine makes a line of a conversation printable and truncates it to the width of the page.
func cutLine(line string) string {
	const most = demoColumns - len(demoIndent) - len("> ")
	if line = render.Plain(line); len(line) > most {
		line = line[:most-3] + "..."
	}
	return line
}
