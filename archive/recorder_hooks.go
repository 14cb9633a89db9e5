package archive

import (
	"bytes"
	"fmt"
	"net/netip"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/codec/ardp"
	"github.com/fetch1738/fetch1738/internal/codec/z3950"
)

// A connection is the last one to the server.
type connection struct {
	addr netip.Addr // invalid if it is not known
	udp  bool
}

// trace returns the hooks of the event.
func (e *event) trace() *fetch.Trace {
	return &fetch.Trace{
		Connected: e.met,
		Reused:    e.met,
		Octets:    e.received,
		Sent:      func(octets []byte) { e.said("> ", octets) },
		Received:  func(octets []byte) { e.said("< ", octets) },
		Retry:     func(r fetch.Retry) { e.remark(fmt.Sprintf("retrying in %v: %v", r.Wait, r.Err)) },
		Note:      e.remark,
	}
}

// met is called with a connection.
func (e *event) met(c fetch.Connection) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.Purpose == fetch.PurposeControl && e.proxied() == nil {
		e.peer = connection{addr: c.Remote.Addr(), udp: c.Network == "udp"}
	}
}

// received is called with octets of the body.
func (e *event) received(octets []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended || e.err != nil {
		return
	}
	e.open()
	_, err := e.body.Write(octets)
	e.fail(err)
}

// open begins the block. That of HTTP begins with the head of the response.
func (e *event) open() {
	if e.body != nil {
		return
	}
	e.body = e.recorder.Writer.NewBlock()
	if last := e.response(); last != nil {
		_, err := e.body.Write(last.response)
		e.fail(err)
		e.body.StartPayload()
	}
}

// said is called with a part of the conversation.
func (e *event) said(mark string, octets []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch lines := e.annotated(octets); {
	case lines != nil:
		for _, line := range lines {
			e.line(mark, []byte(line))
		}
	default:
		for line := range bytes.Lines(octets) {
			e.line(mark, bytes.TrimRight(line, "\r\n"))
		}
	}
}

// annotated returns a binary message in words, or nil for text.
func (e *event) annotated(octets []byte) (lines []string) {
	switch e.req.Locator.Scheme() {
	case "wais":
		for _, line := range z3950.Annotate(octets) {
			lines = append(lines, line.String())
		}
	case "prospero":
		if e.peer.udp {
			return ardp.Annotate(octets)
		}
	}
	return lines
}

// remark is called with a remark about the access.
func (e *event) remark(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.line("* ", []byte(text))
}

// maxConversation limits a conversation, in octets. That of a newsgroup may have a command for each
// article.
const maxConversation = 1 << 19

// line adds a line to the conversation. The caller must hold mu.
func (e *event) line(mark string, text []byte) {
	if e.ended || e.err != nil || e.cut {
		return
	}
	if e.conversation == nil {
		e.conversation = e.recorder.Writer.NewBlock()
	}
	b := append(make([]byte, 0, len(mark)+len(text)+1), mark...)
	for _, c := range text {
		switch {
		case c == '\\':
			b = append(b, `\\`...)
		case c == '\t' || ' ' <= c && c <= '~':
			b = append(b, c)
		default:
			b = fmt.Appendf(b, `\x%02X`, c)
		}
	}
	if e.cut = e.conversation.Size()+int64(len(b)) >= maxConversation; e.cut {
		return
	}
	_, err := e.conversation.Write(append(b, '\n'))
	e.fail(err)
}
