package report

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/render"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/codec/ardp"
	"github.com/fetch1738/fetch1738/internal/codec/z3950"
)

// A narrator shows the conversation for -v: "* " remarks, "> " what is sent, "< " what
// is received. Secrets are already masked.
type narrator struct {
	mu   sync.Mutex
	w    io.Writer
	safe bool // w is a terminal
	// words returns the conversation in words. If nil, its bytes are shown.
	words func([]byte) string
	udp   bool // datagrams are sent and received

	form       plan.TraceForm
	time       bool
	uploading  bool // the direction of the body
	silentBody bool // the body itself goes to the terminal
	moving     bool // bytes of the body have been reported
}

func newNarrator(w io.Writer) *narrator {
	return &narrator{w: w, safe: term.IsTerminal(w), form: plan.TraceLines}
}

// narrator returns the narrator of a transfer, or nil without -v and --trace.
func (r *Reporter) narrator(t *transfer.Result) *narrator {
	trace := t.Op.Trace
	if trace.Form == plan.TraceNot {
		return nil
	}
	n := newNarrator(r.trace)
	n.form, n.time, n.uploading = trace.Form, trace.Time, t.Upload
	n.silentBody = t.Sink != nil && t.Sink.OnTerminal() && n.safe // browse has no Sink
	if t.Locator.Scheme() == "telnet" {
		n.words = render.Telnet
	}
	if t.Departures != 0 {
		n.remark("%s", plan.Departing(t.Departures))
	}
	return n
}

// trace returns the narrator's hooks.
func (n *narrator) trace() *fetch.Trace {
	t := &fetch.Trace{
		DialStart: func(_, address string) { n.remark("  Trying %s...", address) },
		Connected: func(c fetch.Connection) { n.connected(c) },
		Reused:    func(c fetch.Connection) { n.remark("%s", meeting("Re-using the connection to", c)) },
		Sent:      func(octets []byte) { n.said("> ", octets) },
		Received:  func(octets []byte) { n.said("< ", octets) },
		Body:      n.bodyMoved,
		Retry:     func(r fetch.Retry) { n.remark("Retrying in %v: %s", r.Wait, stdio.InOptions(r.Err.Error())) },
		Note:      func(text string) { n.remark("%s", text) },
	}
	if n.form != plan.TraceLines {
		t.Frame = n.frame
	}
	return t
}

// connected shows a new connection.
func (n *narrator) connected(c fetch.Connection) {
	n.mu.Lock()
	n.udp = c.Network == "udp"
	n.mu.Unlock()
	n.remark("%s", meeting("Connected to", c))
}

// said shows what was sent or received: text line by line, a datagram with its
// header explained.
func (n *narrator) said(mark string, octets []byte) {
	n.mu.Lock()
	udp := n.udp
	n.mu.Unlock()
	switch {
	case n.form != plan.TraceLines:
		n.dumpHead(mark, octets)
		return
	case !udp:
		n.conversation(mark, octets)
		return
	}
	for _, line := range ardp.Annotate(octets) {
		n.lines(mark, []byte(line))
	}
}

// meeting returns the remark about a connection that was opened or reused.
func meeting(verb string, c fetch.Connection) string {
	what := map[fetch.Purpose]string{fetch.PurposeData: " for data", fetch.PurposeProxy: ", a proxy"}[c.Purpose]
	if !c.Remote.IsValid() {
		return fmt.Sprintf("%s %s%s", verb, c.Host, what)
	}
	return fmt.Sprintf("%s %s (%s) port %d%s", verb, c.Host, c.Remote.Addr(), c.Remote.Port(), what)
}

// remark shows a remark, which is not part of the conversation.
func (n *narrator) remark(format string, args ...any) {
	mark := "* "
	if n.form != plan.TraceLines {
		mark = "== Info: "
	}
	n.lines(mark, fmt.Appendf(nil, format, args...))
}

// conversation shows octets line by line, in readable form.
func (n *narrator) conversation(mark string, octets []byte) {
	if n.words != nil {
		octets = []byte(n.words(octets))
	}
	n.lines(mark, legible(octets))
}

// legible returns a conversation in readable form: lines as they are, WAIS messages
// annotated.
func legible(octets []byte) []byte {
	lines := z3950.Annotate(octets)
	if lines == nil {
		return octets
	}
	var b []byte
	for _, line := range lines {
		b = fmt.Appendln(b, line)
	}
	return b
}

// lines shows lines, each with a mark before it.
func (n *narrator) lines(mark string, octets []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.moving = false
	for line := range bytes.Lines(octets) {
		text := string(bytes.TrimRight(line, "\r\n"))
		if n.safe {
			text = term.Safe(text)
		}
		fmt.Fprintf(n.w, "%s%s%s\n", n.stamp(), mark, text)
	}
}
