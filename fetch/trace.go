package fetch

import (
	"context"
	"net/netip"
	"time"
)

// Trace is a set of hooks that watch a fetch, carried in its context as
// httptrace does. A nil hook is skipped. Hooks run on the goroutine that does
// the work and must return soon; those of one fetch never run at once, but two
// fetches that share a Trace do call it concurrently.
//
// What Sent and Received show is the control conversation, octet for octet but
// for secrets, which are masked as "****".
type Trace struct {
	// DialStart is called before an address is dialled.
	DialStart func(network, address string)
	// Connected is called after a dial has succeeded.
	Connected func(Connection)
	// Reused is called when an open session is used instead of a new one.
	Reused func(Connection)
	// Sent is called after octets of the conversation went out.
	Sent func(octets []byte)
	// Received is called with octets of the conversation that came in.
	Received func(octets []byte)
	// Body is called with how many more octets of the body have come, or have gone
	// out when one is stored.
	Body func(n int64)
	// Retry is called before something is tried again.
	Retry func(Retry)
	// Note is called with a remark for people, such as a fall-back that was taken.
	Note func(text string)

	set *Trace // in a context, where all hooks are callable: those that somebody set
}

// Connection describes a connection to a Trace.
type Connection struct {
	Network       string
	Purpose       Purpose
	Host          string // as named
	Local, Remote netip.AddrPort
}

// Retry describes a repetition to a Trace.
type Retry struct {
	Attempt int // 1 for the first repetition
	Err     error
	Wait    time.Duration
}

type traceKey struct{}

// WithTrace is ctx with t added to it. A Trace that is there already goes on
// being called, after t.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	if t == nil {
		return ctx
	}
	if old, ok := ctx.Value(traceKey{}).(*Trace); ok {
		t = &Trace{
			DialStart: both2(t.DialStart, old.set.DialStart),
			Connected: both(t.Connected, old.set.Connected),
			Reused:    both(t.Reused, old.set.Reused),
			Sent:      both(t.Sent, old.set.Sent),
			Received:  both(t.Received, old.set.Received),
			Body:      both(t.Body, old.set.Body),
			Retry:     both(t.Retry, old.set.Retry),
			Note:      both(t.Note, old.set.Note),
		}
	}
	all := callable(t)
	all.set = t
	return context.WithValue(ctx, traceKey{}, all)
}

// ContextTrace is the Trace of ctx with every hook callable: those that nobody
// set do nothing. It is never nil, and must not be changed.
func ContextTrace(ctx context.Context) *Trace {
	if t, ok := ctx.Value(traceKey{}).(*Trace); ok {
		return t
	}
	return callable(&Trace{})
}

// callable is t with hooks that do nothing where it has none.
func callable(t *Trace) *Trace {
	return &Trace{
		DialStart: both2(t.DialStart, func(string, string) {}),
		Connected: orNothing(t.Connected),
		Reused:    orNothing(t.Reused),
		Sent:      orNothing(t.Sent),
		Received:  orNothing(t.Received),
		Body:      orNothing(t.Body),
		Retry:     orNothing(t.Retry),
		Note:      orNothing(t.Note),
	}
}

func orNothing[T any](f func(T)) func(T) {
	if f == nil {
		return func(T) {}
	}
	return f
}

func both[T any](f, g func(T)) func(T) {
	if f == nil || g == nil {
		if f == nil {
			return g
		}
		return f
	}
	return func(v T) { f(v); g(v) }
}

func both2[T, U any](f, g func(T, U)) func(T, U) {
	if f == nil || g == nil {
		if f == nil {
			return g
		}
		return f
	}
	return func(v T, w U) { f(v, w); g(v, w) }
}
