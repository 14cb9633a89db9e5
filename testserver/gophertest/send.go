package gophertest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// send sends the answer with its faults and returns the number of bytes sent.
func (s *Server) send(c *core.Client, a answer, faults *core.Faults) int64 {
	if faults.EndsAtOnce(c.Conn) {
		return 0
	}
	out := &core.Counter{W: faults.Shape(s.m.Ctx(), c.Body(), c.Conn)}
	err := s.write(c, out, a, faults)
	if trailers := faults.TakeAll(trailer); err == nil {
		for _, t := range trailers {
			_, _ = io.WriteString(out, t.Text)
		}
	}
	return out.N
}

// write writes the answer, or what a fault sends instead.
func (s *Server) write(c *core.Client, out *core.Counter, a answer, faults *core.Faults) error {
	if instead, ok := replacement(a, faults); ok {
		_, err := io.WriteString(out, instead)
		return err
	}
	if _, err := io.WriteString(out, faults.Text(plusHeader, a.header)); err != nil {
		return err
	}
	if faults.Has(noColon) {
		a.body = withoutColon(a.body, faults)
	}
	if a.text {
		undotted := a.stage == "TEXT" && s.Texts == UndottedTexts
		return faults.DotText(core.DotText{
			NoDot: s.NoDot || undotted, NoStuffing: s.NoStuffing || undotted, StuffLone: s.Dialect == UMNGopher, BareLF: s.BareLF,
		}).Send(out, a.body)
	}
	direct, err := core.CopyData(out.W, a.body) // bypass the counter, so that the kernel copies
	out.N += direct
	if err != nil && !errors.Is(err, core.ErrCut) { // the end of the connection is that of the answer
		core.EndConn(c.Conn, true)
	}
	return err
}

// replacement returns what a fault sends in place of the whole answer.
func replacement(a answer, faults *core.Faults) (octets string, ok bool) {
	if reply, ok := faults.Take(core.Reply); ok {
		return core.ReplyOctets(reply.Text), true
	}
	if a.header != "" && faults.Has(plusError) {
		refusal, _ := faults.Take(plusError)
		return fmt.Sprintf("--1\r\n%d %s\r\n%s\r\n.\r\n", refusal.N, defaultAdmin, refusal.Text), true
	}
	data, ok := faults.Take(core.Data)
	return data.Text, ok
}

// withoutColon removes the colon in the first line of attributes.
func withoutColon(body io.ReadCloser, faults *core.Faults) io.ReadCloser {
	octets, _ := io.ReadAll(body)
	body.Close()
	if bytes.Contains(octets, []byte("+INFO:")) {
		faults.Acts(noColon)
	}
	return text(strings.Replace(string(octets), "+INFO:", "+INFO", 1))
}
