package report

import (
	"bytes"
	"fmt"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/internal/codec/z3950"
)

// stamp returns the time before a line, for --trace-time.
func (n *narrator) stamp() string {
	if !n.time {
		return ""
	}
	return time.Now().Format("15:04:05.000000 ")
}

// bodyMoved shows the first bytes of the body after a line of the conversation, in the
// format of curl.
func (n *narrator) bodyMoved(octets int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.moving || n.form != plan.TraceLines || n.silentBody || octets == 0 {
		return
	}
	n.moving = true
	mark := '{'
	if n.uploading {
		mark = '}'
	}
	fmt.Fprintf(n.w, "%s%c [%d bytes data]\n", n.stamp(), mark, octets)
}

// dumpHead shows what was sent as a whole, and text that was received line by line.
func (n *narrator) dumpHead(mark string, octets []byte) {
	n.mu.Lock()
	whole := n.udp || z3950.Annotate(octets) != nil
	n.mu.Unlock()
	switch {
	case mark == "> ":
		n.dump(sentHead, octets)
		return
	case whole:
		n.dump(receivedHead, octets)
		return
	}
	for line := range bytes.Lines(octets) {
		n.dump(receivedHead, line)
	}
}

// frame shows that a frame of HTTP/2 was sent or received.
func (n *narrator) frame(sent bool, text string) {
	mark := "<= Recv frame: "
	if sent {
		mark = "=> Send frame: "
	}
	n.lines(mark, []byte(text))
}

// data shows bytes of the body.
func (n *narrator) data(upload bool, octets []byte) {
	if upload {
		n.dump(sentData, octets)
		return
	}
	n.dump(receivedData, octets)
}

// dump shows bytes under a heading.
func (n *narrator) dump(heading string, octets []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := fmt.Appendf(nil, "%s%s, %d bytes (0x%x)\n", n.stamp(), heading, len(octets), len(octets))
	if n.form == plan.TraceHex {
		b = appendHex(b, octets)
	} else {
		b = appendASCII(b, octets)
	}
	_, _ = n.w.Write(b) // see Lost
}

// The headings of dumps.
const (
	sentHead     = "=> Send header"
	sentData     = "=> Send data"
	receivedHead = "<= Recv header"
	receivedData = "<= Recv data"
)
