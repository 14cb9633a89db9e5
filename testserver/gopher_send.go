package testserver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// gopherFaults are the faults of texts that end in a dot, in Gopher and NNTP.
type gopherFaults struct {
	noDot      bool
	loneDot    bool
	noStuffing bool
	stuffLone  bool // only a line that is nothing but a dot is stuffed
	bareLF     bool

	header  *string // replaces the header of the answer
	trailer string
	noColon bool
	refusal *string
}

// NoDot omits the last line of a text or menu, which is a dot. In NNTP it omits that of a block,
// and the connection ends there.
func NoDot() Fault { return Fault{kind: fNoDot} }

// LoneDot inserts a line of one dot after the first line of a text or menu, as if it ended there.
func LoneDot() Fault { return Fault{kind: fLoneDot} }

// NoStuffing means that the dot at the beginning of a line of text is not doubled.
func NoStuffing() Fault { return Fault{kind: fNoStuffing} }

// BareLF means that the lines of a text or menu end in LF.
func BareLF() Fault { return Fault{kind: fBareLF} }

// GarbageMenu answers with a menu of lines such as broken servers and attackers send: missing
// fields, excess fields, invalid ports, control characters.
func GarbageMenu() Fault {
	return Data("0no fields\r\n" +
		"1no port\t/x\thost\r\n" +
		"1bad port\t/x\thost\tseventy\r\n" +
		"1large port\t/x\thost\t70000\r\n" +
		"1negative port\t/x\thost\t-1\r\n" +
		"\r\n" +
		"\t\t\t\r\n" +
		"iinfo\t\t(NULL)\t0\r\n" +
		"1\t/nameless\thost\t70\r\n" +
		"0extra\t/x\thost\t70\t+\tmore\tand more\r\n" +
		"\x1b[2J\x00\xff\t/\x07\tho\x00st\t70\r\n" +
		"0bare LF\t/x\thost\t70\n" +
		"0bare CR\r0in the line\t/x\thost\t70\r\n" +
		strings.Repeat("9", 3000) + "\t/long\thost\t70\r\n" +
		".\r\n" +
		"1after the dot\t/x\thost\t70\r\n" +
		"0cut off\t/x\tho")
}

func (g *gopherFaults) add(f Fault) {
	switch f.kind {
	case fNoDot:
		g.noDot = true
	case fLoneDot:
		g.loneDot = true
	case fNoStuffing:
		g.noStuffing = true
	case fBareLF:
		g.bareLF = true
	case fPlusHeader:
		g.header = &f.text
	case fTrailer:
		g.trailer += f.text
	case fNoColon:
		g.noColon = true
	case fPlusError:
		text := fmt.Sprintf("--1\r\n%d %s\r\n%s\r\n.\r\n", f.n, defaultAdmin, f.text)
		g.refusal = &text
	}
}

// send sends the answer with the faults of p and returns the number of bytes sent.
func (s *Gopher) send(c *conn, a gopherAnswer, p *plan) int64 {
	defer a.body.Close()
	if p.endAtOnce(c.Conn) {
		return 0
	}
	out := &counter{w: shape(c.srv.ctx, c.body(), c.Conn, &p.octets)}
	g := p.gopher
	if a.header != "" && g.refusal != nil {
		p.data = g.refusal
	}
	var err error
	if g.header != nil {
		a.header = *g.header
	}
	if p.reply == nil && p.data == nil {
		_, err = io.WriteString(out, a.header)
	}
	if g.noColon {
		a.body = withoutColon(a.body)
	}
	switch {
	case err != nil:
	case p.reply != nil:
		_, err = io.WriteString(out, replyOctets(*p.reply))
	case p.data != nil:
		_, err = io.WriteString(out, *p.data)
	case a.text:
		g.noDot = g.noDot || s.NoDot
		g.noStuffing = g.noStuffing || s.NoStuffing
		g.stuffLone = s.Personality == UMNGopher
		g.bareLF = g.bareLF || s.BareLF
		err = sendText(out, a.body, g)
	default:
		var direct int64
		direct, err = copyData(out.w, a.body) // bypass the counter, so that the kernel copies
		out.n += direct
	}
	if err == nil && g.trailer != "" {
		_, _ = io.WriteString(out, g.trailer)
	}
	return out.n
}

// withoutColon removes the colon in the first line of attributes.
func withoutColon(body io.ReadCloser) io.ReadCloser {
	octets, _ := io.ReadAll(body)
	body.Close()
	return text(strings.Replace(string(octets), "+INFO:", "+INFO", 1))
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// sendText sends lines as RFC 1436 §3.1 requires, ended by a line of one dot.
func sendText(w io.Writer, text io.Reader, g gopherFaults) error {
	end := "\r\n"
	if g.bareLF {
		end = "\n"
	}
	size := bufferSize(text)
	out := bufio.NewWriterSize(w, min(textSize, 2*size+8)) // stuffing may lengthen each line
	in := bufio.NewReaderSize(fromNetASCII(text), size)
	for first := true; ; { // first: at the beginning of a line
		part, err := in.ReadSlice('\n')
		line, whole := bytes.CutSuffix(part, []byte{'\n'})
		if first && !g.noStuffing && bytes.HasPrefix(line, []byte{'.'}) && (len(line) == 1 || !g.stuffLone) {
			out.WriteByte('.')
		}
		out.Write(line)
		if whole || err == io.EOF && (len(line) > 0 || !first) {
			out.WriteString(end)
		}
		if whole && g.loneDot {
			out.WriteString("." + end)
			g.loneDot = false
		}
		first = whole
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	if !g.noDot {
		out.WriteString("." + end)
	}
	return out.Flush()
}

// quote records a whole request with its line end.
func (c *conn) quote(line []byte) {
	c.srv.script.record(Line{Conn: c.received.conn, From: FromClient, Octets: string(line)}, strconv.Quote)
}

// note records the length of the answer.
func (c *conn) note(n int64) {
	c.srv.script.add(Line{Conn: c.received.conn, From: FromServer, Text: fmt.Sprintf("(%d bytes)", n)})
}
