// Package transfer is the engine: it carries out what package plan says. An
// Operation becomes transfers, a transfer becomes attempts, and what came of it is a
// Result. Of options, terminals and exit codes it knows nothing: who wants to show
// what happens gives it Events, who can talk to services and answer forms a Console.
package transfer

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/fetch/telnet"
	"github.com/fetch1738/fetch1738/internal/pace"
)

// An Engine performs Operations. Client is needed; the zero value of the other
// fields reads and writes nothing and tells nobody.
type Engine struct {
	Client  *client.Client
	In      io.Reader // what is uploaded from "-"
	Out     io.Writer // where documents go that go to no file
	Err     io.Writer // where heads go that are wanted apart from documents
	Events  Events
	Console Console

	once   sync.Once
	starts *pace.Pace // keeps transfers apart
	mu     sync.Mutex
	dumped map[*plan.Operation]bool // the file for heads has been written to
}

// Events are told what happens. Transfers that run at once call them at once.
type Events interface {
	// Begin is called when a transfer is about to ask its server for something.
	Begin(r *Result) Watch
	// End is called when a transfer is over. Err says how.
	End(r *Result)
}

// A Watch is how one transfer is watched. Any field may be nil.
type Watch struct {
	Trace  *fetch.Trace                     // of the conversation
	Data   func(upload bool, octets []byte) // of the body; without it octets can bypass the program
	Total  func(octets int64)               // how large the document is
	Remark func(text string)                // what happens besides
	Stop   func()                           // the transfer has ended
}

// A Console is where a person, or a script, takes part.
type Console interface {
	// Converse leads a session to its end.
	Converse(ctx context.Context, c *Conversation) error
	// Answer answers the questions of a form, or fails with ErrNobody.
	Answer(ctx context.Context, r *Result, form *gopher.Form) ([]string, error)
	// Size is that of the person's terminal, 0 if there is none.
	Size() (columns, rows uint16)
}

// ErrNobody is that no person is there.
var ErrNobody = errors.New("no person is there to ask")

// A Conversation is a session and where its octets come from and go to.
type Conversation struct {
	*Result
	Session  *telnet.Session
	Resource *fetch.Resource
	Input    io.Reader                  // what is said; nil for what the Console has
	Outgoing func(io.Reader) io.Reader  // what the Console has, as it is to be read
	Listen   func(said io.Reader) error // takes what the service says
}

// InTurn performs the transfers of an Operation, one after the other. It gives the
// Result of the last one, or why there are none.
func (e *Engine) InTurn(ctx context.Context, op *plan.Operation) (last *Result, err error) {
	access, err := e.Client.Access(ctx, op)
	if err != nil {
		return nil, err
	}
	for t := range e.transfers(ctx, access) {
		if t.Err = t.prepare(); t.Err == nil {
			t.perform(ctx)
		}
		e.end(t)
		if last = &t.Result; ctx.Err() != nil || enough(op.Global, t.Err) {
			break
		}
	}
	return last, nil
}

// end tells of a transfer that is over.
func (e *Engine) end(t *Transfer) {
	if e.Events != nil {
		e.Events.End(&t.Result)
	}
}

// enough reports whether nothing more is to be done after a failure.
func enough(g *plan.Global, err error) bool {
	return fault.KindOf(err) == fault.Usage || err != nil && g.FailEarly
}

// wait lets time pass from one transfer to the next, if an Operation wants that.
func (e *Engine) wait(ctx context.Context, g *plan.Global) {
	e.once.Do(func() { e.starts = pace.Every(g.Interval) })
	_ = e.starts.Wait(ctx, 1) // an interrupted transfer fails as it begins
}

// transfers are those that an Operation's URLs stand for, in order.
func (e *Engine) transfers(ctx context.Context, access *client.Access) iter.Seq[*Transfer] {
	return func(yield func(*Transfer) bool) {
		serial := 0
		for t, next := range withNext(e.asked(access)) {
			for one, other := range withNext(t.expanded(ctx)) {
				one.more = other != nil || next != nil && plan.SameServer(t.URL, next.URL)
				one.Serial = serial
				serial++
				if !yield(one) {
					return
				}
			}
		}
	}
}

// asked are the transfers that an Operation's URLs say in so many words.
func (e *Engine) asked(access *client.Access) iter.Seq[*Transfer] {
	return func(yield func(*Transfer) bool) {
		op := access.Op
		for i := range op.URLs {
			urls, sources, malformed := op.Globs(i)
			for source := range sources.All() {
				for url, values := range urls.All() {
					t := e.newTransfer(access, url, output.Place{Op: op, Destination: op.Destination(i), Values: values})
					t.Number, t.Source, t.Upload, t.Malformed = i, source, source != "", malformed
					if !yield(t) {
						return
					}
				}
			}
		}
	}
}

// withNext yields transfers, each with the one after it; nil after the last.
func withNext(list iter.Seq[*Transfer]) iter.Seq2[*Transfer, *Transfer] {
	return func(yield func(t, next *Transfer) bool) {
		var last *Transfer
		for t := range list {
			if last != nil && !yield(last, t) {
				return
			}
			last = t
		}
		if last != nil {
			yield(last, nil)
		}
	}
}
