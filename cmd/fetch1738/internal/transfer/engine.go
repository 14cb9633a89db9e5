// Package transfer is the engine: it performs the Operations of package plan. An
// Operation becomes transfers, and a transfer becomes attempts and ends in a Result.
// The engine does not depend on options, terminals and exit codes: Events show what
// happens, and a Console conducts sessions and fills in forms.
package transfer

import (
	"context"
	"io"
	"iter"
	"sync"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/internal/file/disk"
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

	once sync.Once
	all  common // for the transfers
}

// common returns what the transfers share.
func (e *Engine) common() *common {
	e.once.Do(func() {
		e.all.in, e.all.out, e.all.err, e.all.events, e.all.console = e.In, e.Out, e.Err, e.Events, e.Console
	})
	return &e.all
}

// InTurn performs the transfers of an Operation, one after the other. It returns the
// Result of the last one, or an error if no transfer was started. The files of a wildcard count as
// one transfer, which has failed if one of them has.
func (e *Engine) InTurn(ctx context.Context, op *plan.Operation) (last *Result, err error) {
	network, err := e.Client.Network(ctx, op)
	if err != nil {
		return nil, err
	}
	ahead := client.NewAhead(ctx)
	defer ahead.Close()
	asked := client.Requesting(ahead, e.asked(ctx, network), func(t *Transfer) bool { return t.request(ahead) })
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
	kind := localerr.KindOf(err)
	return kind == localerr.Usage || kind == localerr.Output || err != nil && g.FailEarly
}

// transfers returns the transfers of an Operation that asked has, with wildcards expanded, in order.
func (e *Engine) transfers(ctx context.Context, asked iter.Seq[*Transfer]) iter.Seq[*Transfer] {
	return func(yield func(*Transfer) bool) {
		serial := 0
		for t, next := range withNext(asked) {
			again := false
			for one, other := range withNext(expanded(ctx, t)) {
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
func (e *Engine) asked(ctx context.Context, network *client.Network) iter.Seq[*Transfer] {
	return func(yield func(*Transfer) bool) {
		op, d := network.Op, disk.Of(ctx)
		for i := range op.URLs {
			urls, sources, malformed := op.Globs(i)
			for source := range sources.All() {
				for url, values := range urls.All() {
					task := Task{URL: url, Number: i, Source: source, Upload: source != "", Malformed: malformed}
					place := output.Place{Disk: d, Op: op, Destination: op.Destination(i), Values: values, ValueNames: urls.Names()}
					if !yield(e.common().newTransfer(network, task, place)) {
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
