package transfer

import (
	"context"
	"errors"
	"io"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/fetch/telnet"
)

// Events are called for each transfer, concurrently if transfers run in parallel.
type Events interface {
	// Begin is called before a transfer connects to its server.
	Begin(r *Result) Watch
	// End is called when a transfer has ended. Err says how.
	End(r *Result)
}

// A Watch has the hooks of one transfer. Any field may be nil, as in httptrace.
type Watch struct {
	Traces []*fetch.Trace                   // of the conversation; nil ones are ignored
	Data   func(upload bool, octets []byte) // bytes of the body; if nil, they need not pass through the program
	Total  func(octets int64)               // the size of the document
	Remark func(text string)                // other remarks
	Stop   func()                           // the transfer has ended
}

// traced returns ctx with the traces.
func (w *Watch) traced(ctx context.Context) context.Context {
	for _, trace := range w.Traces {
		ctx = fetch.WithTrace(ctx, trace)
	}
	return ctx
}

// remark calls the hook Remark, if there is one.
func (w *Watch) remark(text string) {
	if w.Remark != nil {
		w.Remark(text)
	}
}

// expect reports the number of bytes to transfer for a request, of a resource of a size.
func (w *Watch) expect(req *fetch.Request, size int64) {
	switch {
	case size < 0 || w.Total == nil:
		return
	case req.Offset < 0:
		size = min(size, -req.Offset)
	default:
		size = max(0, size-req.Offset)
	}
	if req.Length > 0 {
		size = min(size, req.Length)
	}
	w.Total(size)
}

// A Console is the interaction with a user or a script.
type Console interface {
	// Converse conducts a session to its end.
	Converse(ctx context.Context, c *Conversation) error
	// Answer returns the answers to a form, or ErrNobody.
	Answer(ctx context.Context, r *Result, form *gopher.Form) ([]string, error)
	// Size returns the size of the user's terminal, or 0.
	Size() (columns, rows uint16)
}

// ErrNobody means that there is no user to prompt.
var ErrNobody = errors.New("nobody to prompt")

// A Conversation is a session with its input and output.
type Conversation struct {
	*Result
	Session  *telnet.Session
	Resource *fetch.Resource
	Input    io.Reader                  // what is sent; if nil, the Console's input
	Outgoing func(io.Reader) io.Reader  // wraps the Console's input
	Listen   func(said io.Reader) error // copies what the server sends
}
