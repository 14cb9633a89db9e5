// Package transfer is the engine: it performs the Operations of package plan. An
// Operation becomes transfers, and a transfer becomes attempts and ends in a Result.
// The engine does not depend on options, terminals and exit codes: Events show what
// happens, and a Console conducts sessions and fills in forms.
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
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/fetch/telnet"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/pace"
)

// An Engine performs Operations. Client is required. The zero value of the other
// fields means no input, no output and no events.
type Engine struct {
	Client  *client.Client
	In      io.Reader // the upload "-"
	Out     io.Writer // for documents without a file
	Err     io.Writer // for heads that are dumped to standard error
	Events  Events
	Console Console
	Lasting func() // called while parallel transfers last longer than a moment; may be nil

	once   sync.Once
	starts *pace.Pace // the rate of --rate
	dumps  output.Dumps
}

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

// InTurn performs the transfers of an Operation, one after the other. It returns the
// Result of the last one, or an error if no transfer was started. The files of a wildcard count as
// one transfer, which has failed if one of them has.
func (e *Engine) InTurn(ctx context.Context, op *plan.Operation) (last *Result, err error) {
	access, err := e.Client.Access(ctx, op)
	if err != nil {
		return nil, err
	}
	ahead := client.NewAhead(ctx)
	defer ahead.Close()
	asked := client.Requesting(ahead, e.asked(ctx, access), func(t *Transfer) bool { return t.request(ahead) })
	for t := range e.transfers(ctx, asked) {
		if t.Sink == nil && t.Err == nil { // else it was requested early
			t.Err = t.prepare()
		}
		if t.Err == nil {
			t.perform(ctx)
		}
		ahead.Ended(&t.Call, t.Answer.Web, t.Account.Moved.Load())
		e.end(t)
		if last == nil || last.Err == nil || t.Err != nil || !t.again {
			last = &t.Result
		}
		if ctx.Err() != nil || endsRun(op.Global, t.Err) {
			break
		}
	}
	return last, nil
}

// end reports a transfer that has ended.
func (e *Engine) end(t *Transfer) {
	if e.Events != nil {
		e.Events.End(&t.Result)
	}
}

// endsRun reports whether a failure ends the run. A lost output does, because the exit code is that
// of the last URL, as in curl, and would hide it.
func endsRun(g *plan.Global, err error) bool {
	kind := fault.KindOf(err)
	return kind == fault.Usage || kind == fault.Output || err != nil && g.FailEarly
}

// wait waits before a transfer as --rate requires.
func (e *Engine) wait(ctx context.Context, g *plan.Global) {
	e.once.Do(func() { e.starts = pace.Every(g.Interval) })
	_ = e.starts.Wait(ctx, 1) // an interrupted transfer fails as it begins
}

// transfers returns the transfers of an Operation that asked has, with wildcards expanded, in order.
func (e *Engine) transfers(ctx context.Context, asked iter.Seq[*Transfer]) iter.Seq[*Transfer] {
	return func(yield func(*Transfer) bool) {
		serial := 0
		for t, next := range withNext(asked) {
			again := false
			for one, other := range withNext(t.expanded(ctx)) {
				one.again, again = again, true
				follows := other != nil || next != nil && plan.SameServer(t.URL, next.URL)
				one.more = func() bool { return follows }
				one.Serial = serial
				serial++
				if !yield(one) {
					return
				}
			}
		}
	}
}

// asked returns the transfers of an Operation before wildcards are expanded.
func (e *Engine) asked(ctx context.Context, access *client.Access) iter.Seq[*Transfer] {
	return func(yield func(*Transfer) bool) {
		op, d := access.Op, disk.Of(ctx)
		for i := range op.URLs {
			urls, sources, malformed := op.Globs(i)
			for source := range sources.All() {
				for url, values := range urls.All() {
					t := e.newTransfer(access, url, output.Place{Disk: d, Op: op, Destination: op.Destination(i), Values: values})
					t.Number, t.Source, t.Upload, t.Malformed = i, source, source != "", malformed
					if !yield(t) {
						return
					}
				}
			}
		}
	}
}

// withNext yields transfers, each with the next one; that is nil for the last.
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

// telnetOptions returns the options of a session.
func telnetOptions(t *Transfer) *telnet.Options {
	options := t.Op.Telnet.Options
	options.Idle = -1 // the Console has its own limit
	if options.Binary == telnet.BinaryRefuse {
		options.Binary = telnet.BinaryAccept // or servers strip the eighth bit
	}
	if options.Columns == 0 && t.Op.Telnet.Script == nil && !t.Upload && t.engine.Console != nil {
		options.Columns, options.Rows = t.engine.Console.Size()
	}
	return &options
}

// converse has the Console conduct a session.
func converse(ctx context.Context, t *Transfer, res *fetch.Resource) error {
	if t.engine.Console == nil {
		return driver.Fail(fetch.OpFetch, t.Locator, fetch.ErrUnsupported, errors.New("an interactive session requires a terminal"))
	}
	return t.engine.Console.Converse(ctx, &Conversation{
		Result: &t.Result, Session: res.Conn.(*telnet.Session), Resource: res, Input: t.input, Outgoing: t.outgoing,
		Listen: func(said io.Reader) error { return t.Sink.Take(t.incoming(said)) },
	})
}
