package report

import (
	"bytes"
	"io"
	"sync"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
)

// A Hold keeps what is said to a terminal while the user types there, and says it afterwards. A nil
// Hold keeps nothing. It is safe for concurrent use.
type Hold struct {
	mu   sync.Mutex
	on   bool
	kept []said
}

// said is a text for a terminal.
type said struct {
	to   io.Writer
	text []byte
}

// NewHold returns a Hold through which the messages of r and the conversation pass, from the next
// request on.
func NewHold(r *Reporter) *Hold {
	h := new(Hold)
	r.Err, r.trace = h.over(r.Err), h.over(r.trace)
	return h
}

// over returns the writer to use in place of w.
func (h *Hold) over(w io.Writer) io.Writer {
	if t, ok := w.(terminal); ok && term.IsTerminal(w) {
		return &held{t, h}
	}
	return w
}

// While calls typing, and says what came meanwhile.
func (h *Hold) While(typing func()) {
	if h == nil {
		typing()
		return
	}
	h.mu.Lock()
	h.on = true
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.on = false
		for _, s := range h.kept {
			_, _ = s.to.Write(s.text) // there is nobody left to tell
		}
		h.kept = nil
	}()
	typing()
}

// terminal has the methods of *os.File that package term needs.
type terminal interface {
	io.Writer
	Fd() uintptr
}

// held writes to a terminal unless its Hold is on.
type held struct {
	terminal
	hold *Hold
}

// Write implements io.Writer.
func (w *held) Write(p []byte) (int, error) {
	w.hold.mu.Lock()
	defer w.hold.mu.Unlock()
	if !w.hold.on {
		return w.terminal.Write(p)
	}
	w.hold.kept = append(w.hold.kept, said{w.terminal, bytes.Clone(p)})
	return len(p), nil
}
