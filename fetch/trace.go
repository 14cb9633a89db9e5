package fetch

import (
	"context"
	"net/netip"
	"time"
)

// Trace is a set of hooks that observe an operation. The context carries it, as with
// [net/http/httptrace]. Any hook may be nil. Hooks run on the goroutine that does the work and must
// return soon. The hooks of one operation are never called concurrently; two operations that share a
// Trace do call it concurrently.
//
// Sent and Received show the conversation with the server byte for byte, except that secrets are
// masked as "****". They must not keep or change the bytes.
type Trace struct {
	// DialStart is called before a connection is attempted.
	DialStart func(network, address string)
	// Connected is called when a connection is established.
	Connected func(Connection)
	// Reused is called when an open session is reused.
	Reused func(Connection)
	// Sent is called after bytes of the conversation were sent.
	Sent func(octets []byte)
	// Received is called with received bytes of the conversation.
	Received func(octets []byte)
	// Body is called with the number of bytes of the body that were received since the last call, or
	// that were sent, in an upload. The sum is the progress of the transfer.
	Body func(n int64)
	// Octets is called with the bytes of the body that were received since the last call, each once
	// and in order: those that Body counts, in an access. It must not keep or change them. If it is
	// set, no bytes go to a file without passing through the program.
	Octets func(octets []byte)
	// Frame is called with a description of each frame of HTTP/2 that was received or is about to be
	// sent, in one line without its payload, such as "HEADERS, stream 1, 35 bytes, END_STREAM". A frame
	// of a connection that several operations share is reported to the operation of its stream. One that
	// belongs to no stream is reported to the operation that began last, until that ends.
	Frame func(sent bool, text string)
	// Retry is called before a retry.
	Retry func(Retry)
	// Note is called with a remark for people, such as the use of a fallback.
	Note func(text string)

	set *Trace // the hooks that the caller set, in a Trace whose hooks are all callable
}

// Connection describes a connection to a Trace.
type Connection struct {
	Network       string
	Purpose       Purpose
	Host          string // the name in the URL
	Local, Remote netip.AddrPort
}

// Retry describes a retry to a Trace.
type Retry struct {
	Attempt int // 1 for the first retry
	Err     error
	Wait    time.Duration
}

// WithTrace returns a copy of ctx with the hooks of t. The hooks of a Trace that ctx has already are
// called after those of t. If t is nil, WithTrace returns ctx.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	if t == nil {
		return ctx
	}
	c := of(ctx)
	if old := c.Trace; old != nil {
		t = &Trace{
			DialStart: both2(t.DialStart, old.set.DialStart),
			Connected: both(t.Connected, old.set.Connected),
			Reused:    both(t.Reused, old.set.Reused),
			Sent:      both(t.Sent, old.set.Sent),
			Received:  both(t.Received, old.set.Received),
			Body:      both(t.Body, old.set.Body),
			Octets:    both(t.Octets, old.set.Octets),
			Frame:     both2(t.Frame, old.set.Frame),
			Retry:     both(t.Retry, old.set.Retry),
			Note:      both(t.Note, old.set.Note),
		}
	}
	all := callable(t)
	all.set = t
	c.Trace = all
	return c.In(ctx)
}

// Took calls Body and Octets for bytes of the body that were received. t is from driver.ContextTrace.
func (t *Trace) Took(octets []byte) {
	t.Body(int64(len(octets)))
	t.Octets(octets)
}

// Taps reports whether the caller has set Octets. Otherwise bytes may go to a file without passing
// through the program. t is from driver.ContextTrace.
func (t *Trace) Taps() bool { return t.set != nil && t.set.Octets != nil }

// Frames reports whether the caller has set Frame. Otherwise frames need no description. t is from
// driver.ContextTrace.
func (t *Trace) Frames() bool { return t.set != nil && t.set.Frame != nil }

// silent has hooks that do nothing.
var silent = Trace{
	DialStart: func(string, string) {},
	Connected: func(Connection) {},
	Reused:    func(Connection) {},
	Sent:      func([]byte) {},
	Received:  func([]byte) {},
	Body:      func(int64) {},
	Octets:    func([]byte) {},
	Frame:     func(bool, string) {},
	Retry:     func(Retry) {},
	Note:      func(string) {},
}

// callable returns a copy of t in which nil hooks are replaced by functions that do nothing.
func callable(t *Trace) *Trace {
	return &Trace{
		DialStart: either2(t.DialStart, silent.DialStart),
		Connected: either(t.Connected, silent.Connected),
		Reused:    either(t.Reused, silent.Reused),
		Sent:      either(t.Sent, silent.Sent),
		Received:  either(t.Received, silent.Received),
		Body:      either(t.Body, silent.Body),
		Octets:    either(t.Octets, silent.Octets),
		Frame:     either2(t.Frame, silent.Frame),
		Retry:     either(t.Retry, silent.Retry),
		Note:      either(t.Note, silent.Note),
	}
}

// either returns f, or g if f is nil.
func either[T any](f, g func(T)) func(T) {
	if f == nil {
		return g
	}
	return f
}

func either2[T, U any](f, g func(T, U)) func(T, U) {
	if f == nil {
		return g
	}
	return f
}

func both[T any](f, g func(T)) func(T) {
	if f == nil || g == nil {
		return either(f, g)
	}
	return func(v T) { f(v); g(v) }
}

func both2[T, U any](f, g func(T, U)) func(T, U) {
	if f == nil || g == nil {
		return either2(f, g)
	}
	return func(v T, w U) { f(v, w); g(v, w) }
}
