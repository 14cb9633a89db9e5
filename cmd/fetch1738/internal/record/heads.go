package record

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// Heads are the heads of HTTP answers and the replies of FTP servers as they
// came in one attempt.
type Heads struct {
	Replies   bool // what is no head is a reply
	NoTunnels bool // leave out answers to CONNECT

	mu         sync.Mutex
	connecting bool        // a proxy has been asked to connect
	tunnel     int         // the status it has answered by
	web        []byte      // the heads of HTTP answers
	ends       []time.Time // when each of them was there
	last       int         // the status of the last one
	trailer    []byte      // behind the body of the last one
	size       int         // octets of everything
	dump       io.Writer   // nil for none
	file       io.Closer   // that it is, if it is one
	fault      error       // of dump
	enough     bool        // what else comes in this attempt is not the document's
}

// Dump has everything written to w, too; file, if not nil, is closed by Finish.
func (h *Heads) Dump(w io.Writer, file io.Closer) { h.dump, h.file = w, file }

// Watch is ctx with the hook of h in it.
func (h *Heads) Watch(ctx context.Context) context.Context {
	return fetch.WithTrace(ctx, &fetch.Trace{Sent: h.sent, Received: h.received})
}

func (h *Heads) sent(octets []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.connecting = bytes.HasPrefix(octets, []byte("CONNECT "))
}

func (h *Heads) received(octets []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	isHead := bytes.HasPrefix(octets, []byte("HTTP/"))
	tunnel := isHead && h.connecting
	if tunnel {
		h.tunnel = statusOf(octets)
	}
	switch {
	case h.enough, tunnel && h.NoTunnels, !isHead && !h.Replies:
		return
	case isHead:
		h.web = append(h.web, octets...)
		h.ends = append(h.ends, time.Now())
		h.last, h.trailer = statusOf(octets), nil
	default:
		h.trailer = bytes.Clone(octets)
	}
	h.size += len(octets)
	h.write(octets)
}

// statusOf is the status in the first line of a head; 0 without one.
func statusOf(head []byte) int {
	words := bytes.Fields(head[:min(len(head), 40)])
	if len(words) < 2 {
		return 0
	}
	status, err := strconv.Atoi(string(words[1]))
	if err != nil {
		return 0
	}
	return status
}

func (h *Heads) write(octets []byte) {
	if h.dump != nil && h.fault == nil {
		_, h.fault = h.dump.Write(octets)
	}
}

// Add dumps lines that stand for a head.
func (h *Heads) Add(lines string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.write([]byte(lines))
}

// Again forgets the attempt before.
func (h *Heads) Again() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.web, h.ends, h.last, h.size, h.trailer, h.enough = nil, nil, 0, 0, nil, false
}

// Enough has nothing more of this attempt kept.
func (h *Heads) Enough() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.enough = true
}

// Shown are the heads of HTTP answers.
func (h *Heads) Shown() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Clone(h.web)
}

// Trailer are the lines of the trailer that came behind the last HTTP answer's body.
func (h *Heads) Trailer() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.trailer
}

// Status is that of the last head, 0 without one; others came before it.
func (h *Heads) Status() (status, others int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last, max(0, len(h.ends)-1)
}

// Octets is how many of them there are.
func (h *Heads) Octets() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.size
}

// Connect is the status of a proxy's answer to CONNECT; 0 without one.
func (h *Heads) Connect() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tunnel
}

// Finish closes what is dumped to.
func (h *Heads) Finish() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.file != nil {
		if err := h.file.Close(); h.fault == nil {
			h.fault = err
		}
		h.file = nil
	}
	return h.fault
}

// Redirected is when the head before the last one was there; the zero Time if there
// was none.
func (h *Heads) Redirected() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.ends); n > 1 {
		return h.ends[n-2]
	}
	return time.Time{}
}
