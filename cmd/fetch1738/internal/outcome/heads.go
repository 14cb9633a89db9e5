package outcome

import (
	"bytes"
	"io"
	"strconv"
	"sync"
	"time"
)

// Heads records the heads of HTTP responses and the replies of FTP servers in one
// attempt.
type Heads struct {
	Replies   bool // also record replies, which are not heads
	NoTunnels bool // omit responses to CONNECT

	mu         sync.Mutex
	connecting bool        // CONNECT was sent last
	fetching   bool        // GET has been sent
	sizing     bool        // HEAD was sent last, for the size after a 416 to GET
	tunnel     int         // the status of the response to CONNECT
	web        []byte      // the heads of HTTP responses
	ends       []time.Time // when each of them was complete
	last       int         // the status of the last one
	trailer    []byte      // after the body of the last one
	replies    replies     // of FTP
	size       int         // bytes of everything
	dump       io.Writer   // or nil
	file       io.Closer   // of dump, or nil
	fault      error       // of writing to dump
	enough     bool        // the rest of this attempt does not belong to the document
}

// Dump writes everything to w too. Finish closes file, if it is not nil.
func (h *Heads) Dump(w io.Writer, file io.Closer) { h.dump, h.file = w, file }

// sent records which request was sent. A nil Heads records nothing.
func (h *Heads) sent(octets []byte) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.replies.sent(octets)
	h.connecting = bytes.HasPrefix(octets, []byte("CONNECT "))
	h.fetching = h.fetching || bytes.HasPrefix(octets, []byte("GET "))
	h.sizing = h.fetching && bytes.HasPrefix(octets, []byte("HEAD "))
}

// received records a head, or a reply of an FTP server. A nil Heads records nothing.
func (h *Heads) received(octets []byte) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	isHead := bytes.HasPrefix(octets, []byte("HTTP/"))
	tunnel := isHead && h.connecting
	if tunnel {
		h.tunnel = statusOf(octets)
	}
	switch {
	case h.enough, h.sizing, tunnel && h.NoTunnels, !isHead && !h.Replies:
		return
	case isHead:
		h.web = append(h.web, octets...)
		h.ends = append(h.ends, time.Now())
		h.last, h.trailer = statusOf(octets), nil
	case len(h.web) > 0:
		h.trailer = bytes.Clone(octets)
	}
	h.size += len(octets)
	if len(h.web) == 0 {
		octets = h.replies.next(octets)
	}
	h.write(octets)
}

// statusOf returns the status in the first line of a head, or 0.
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

// write writes to the file of Dump until that fails.
func (h *Heads) write(octets []byte) {
	if h.dump != nil && h.fault == nil {
		_, h.fault = h.dump.Write(octets)
	}
}

// Add dumps lines in place of a head.
func (h *Heads) Add(lines string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.write([]byte(lines))
}

// Restart discards the previous attempt.
func (h *Heads) Restart() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.write(h.replies.rest())
	h.replies = replies{}
	h.web, h.ends, h.last, h.size, h.trailer, h.enough = nil, nil, 0, 0, nil, false
}

// Stop ends the recording of this attempt.
func (h *Heads) Stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.enough = true
}

// Shown returns the heads of HTTP responses.
func (h *Heads) Shown() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Clone(h.web)
}

// Trailer returns the trailer of the last HTTP response.
func (h *Heads) Trailer() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.trailer
}

// Status returns the status of the last head, or 0, and the number of heads before it.
func (h *Heads) Status() (status, others int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last, max(0, len(h.ends)-1)
}

// Octets returns the number of recorded bytes.
func (h *Heads) Octets() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.size
}

// Connect returns the status of the response to CONNECT, or 0.
func (h *Heads) Connect() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tunnel
}

// Finish closes the file of Dump.
func (h *Heads) Finish() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.write(h.replies.rest())
	if h.file != nil {
		if err := h.file.Close(); h.fault == nil {
			h.fault = err
		}
		h.file = nil
	}
	return h.fault
}

// Redirected returns when the head before the last one was complete, or the zero Time.
func (h *Heads) Redirected() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.ends); n > 1 {
		return h.ends[n-2]
	}
	return time.Time{}
}
