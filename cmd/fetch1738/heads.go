package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
)

// heads are the heads of HTTP answers and the replies of FTP servers as they
// came in one attempt: for -i, -D and -w.
type heads struct {
	replies   bool // what is no head is a reply
	noTunnels bool // leave out answers to CONNECT

	mu         sync.Mutex
	connecting bool        // a proxy has been asked to connect
	tunnel     int         // the status it has answered by
	web        []byte      // the heads of HTTP answers
	ends       []time.Time // when each of them was there
	last       int         // the status of the last one
	trailer    []byte      // behind the body of the last one
	size       int         // octets of everything
	dump       io.Writer   // of -D; nil for none
	file       *os.File    // that it is, if it is one
	fault      error       // of dump
}

// watch is ctx with the hook of h in it.
func (h *heads) watch(ctx context.Context) context.Context {
	return fetch.WithTrace(ctx, &fetch.Trace{Sent: h.sent, Received: h.received})
}

func (h *heads) sent(octets []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.connecting = bytes.HasPrefix(octets, []byte("CONNECT "))
}

func (h *heads) received(octets []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	isHead := bytes.HasPrefix(octets, []byte("HTTP/"))
	tunnel := isHead && h.connecting
	if tunnel {
		h.tunnel = statusOf(octets)
	}
	switch {
	case tunnel && h.noTunnels, !isHead && !h.replies:
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

func (h *heads) write(octets []byte) {
	if h.dump != nil && h.fault == nil {
		_, h.fault = h.dump.Write(octets)
	}
}

// add writes lines that stand for a head to the file of -D.
func (h *heads) add(lines string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.write([]byte(lines))
}

// again forgets the attempt before.
func (h *heads) again() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.web, h.ends, h.last, h.size, h.trailer = nil, nil, 0, 0, nil
}

// shown are the heads of HTTP answers.
func (h *heads) shown() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Clone(h.web)
}

// behind are the lines of the trailer that came behind the last HTTP answer's body.
func (h *heads) behind() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.trailer
}

// status is that of the last head, 0 without one; others came before it.
func (h *heads) status() (status, others int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last, max(0, len(h.ends)-1)
}

// octets is how many of them there are.
func (h *heads) octets() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.size
}

// connect is the status of a proxy's answer to CONNECT; 0 without one.
func (h *heads) connect() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tunnel
}

// finish closes the file of -D.
func (h *heads) finish() error {
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

// openDump readies the file of -D. The first transfer of an operation empties it,
// those after it add to it.
func (t *transfer) openDump() (err error) {
	name := t.op.dumpHeader
	switch name {
	case "":
		return nil
	case "-":
		t.heads.dump = t.harmless(t.out())
		return nil
	case "%":
		t.heads.dump = t.harmless(t.std.err)
		return nil
	}
	if t.op.createDirs {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			return err
		}
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if !t.op.dumped.Swap(true) {
		flags |= os.O_TRUNC
	}
	if t.heads.file, err = os.OpenFile(name, flags, 0o666); err == nil {
		t.heads.dump = t.harmless(t.heads.file)
	}
	return err
}

// harmless is w for what a server says: on a terminal it is made safe, unless
// --raw wants it as it is.
func (t *transfer) harmless(w io.Writer) io.Writer {
	if t.op.raw || !term.IsTerminal(w) {
		return w
	}
	return term.NewWriter(w)
}
