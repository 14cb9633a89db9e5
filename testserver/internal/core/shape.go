package core

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/fetch1738/fetch1738/testserver/traffic"
)

// These errors end a connection without a further reply.
var (
	ErrCut    = errors.New("testserver: truncated by a fault")
	ErrSilent = errors.New("testserver: silenced by a fault")
)

// Shapes reports whether there is a fault of a stream of bytes.
func (f *Faults) Shapes() bool {
	for _, a := range f.armed {
		switch a.Kind {
		case Truncate, Reset, Drip, Split, Garble:
			return true
		}
	}
	return false
}

// Shape returns a writer that applies the faults to what is written to out, which leads to nc.
// Pauses end with ctx.
func (f *Faults) Shape(ctx context.Context, out io.Writer, nc net.Conn) io.Writer {
	if !f.Shapes() {
		return out
	}
	return &shaper{octets: f.octets(), ctx: ctx, out: out, conn: nc}
}

// ShapeReader returns a reader that reads from nc as the faults allow: slowly, or only a part.
// raw is the connection to end; if nc uses TLS, it is the one below.
func (f *Faults) ShapeReader(ctx context.Context, nc io.Reader, raw net.Conn) io.Reader {
	if !f.Shapes() {
		return nc
	}
	return &shaper{octets: f.octets(), ctx: ctx, in: nc, conn: raw}
}

// EndsAtOnce ends nc if it must be truncated before the first byte.
func (f *Faults) EndsAtOnce(nc net.Conn) bool {
	o := f.octets()
	if o.cut == nil || o.cut.N > 0 {
		return false
	}
	o.end(nc)
	return true
}

// Datagram returns the datagram with the faults.
func (f *Faults) Datagram(octets []byte) []byte {
	if data, ok := f.Take(Data); ok {
		octets = []byte(data.Text)
	}
	o := f.octets()
	octets = o.garble(0, octets)
	if o.cut != nil {
		o.cut.acted.Store(true)
		octets = octets[:min(o.cut.N, int64(len(octets)))]
	}
	return octets
}

// octets are the faults of a stream of bytes.
type octets struct {
	cut     *armed // Truncate or Reset
	step    *armed // Drip or Split
	garbles []*armed
}

// octets returns the faults of a stream of bytes.
func (f *Faults) octets() (o octets) {
	for _, a := range f.armed {
		switch a.Kind {
		case Truncate, Reset:
			o.cut = a
		case Drip, Split:
			o.step = a
		case Garble:
			o.garbles = append(o.garbles, a)
		}
	}
	return o
}

// end ends nc after the last byte that is allowed.
func (o *octets) end(nc net.Conn) {
	o.cut.acted.Store(true)
	EndConn(nc, o.cut.Kind == Reset)
}

// garble applies the overwriting to p, which starts at offset in the stream.
func (o *octets) garble(offset int64, p []byte) []byte {
	if len(o.garbles) == 0 {
		return p
	}
	p = bytes.Clone(p)
	for _, g := range o.garbles {
		g.acted.Store(true)
		for i := range len(g.Text) {
			if at := g.N + int64(i) - offset; at >= 0 && at < int64(len(p)) {
				p[at] = g.Text[i]
			}
		}
	}
	return p
}

// shaper writes to out, or reads from in.
type shaper struct {
	octets
	ctx  context.Context
	out  io.Writer
	in   io.Reader
	conn net.Conn
	done int64
}

func (w *shaper) Write(p []byte) (n int, err error) {
	for n < len(p) {
		if err := w.limit(); err != nil {
			return n, err
		}
		m, err := w.out.Write(w.garble(w.done, w.next(p[n:])))
		n += m
		w.done += int64(m)
		if err != nil {
			return n, err
		}
		if err := w.pause(); err != nil {
			return n, err
		}
	}
	return n, w.limit()
}

func (w *shaper) Read(p []byte) (int, error) {
	if err := w.limit(); err != nil {
		return 0, err
	}
	n, err := w.in.Read(w.next(p))
	w.done += int64(n)
	if n > 0 {
		if err := w.pause(); err != nil {
			return n, err
		}
	}
	return n, err
}

// next returns the part of p to send or receive at once.
func (w *shaper) next(p []byte) []byte {
	if w.step != nil {
		w.step.acted.Store(true)
		p = p[:min(int(w.step.N), len(p))]
	}
	if w.cut != nil {
		w.cut.acted.Store(true)
		p = p[:min(w.cut.N-w.done, int64(len(p)))]
	}
	return p
}

// pause waits as Drip says.
func (w *shaper) pause() error {
	if w.step == nil {
		return nil
	}
	return Sleep(w.ctx, w.step.D)
}

// limit ends the connection after the last byte allowed.
func (w *shaper) limit() error {
	if w.cut == nil || w.done < w.cut.N {
		return nil
	}
	w.end(w.conn)
	return ErrCut
}

// EndConn closes the sending side of nc, or resets nc. It leaves the close to the owner of nc:
// closing with unread bytes from the client also resets the connection, and the client could lose
// what was sent before.
func EndConn(nc net.Conn, reset bool) {
	if t, ok := nc.(traffic.Secure); ok && reset {
		nc = t.NetConn()
	}
	if reset {
		if l, ok := nc.(interface{ SetLinger(sec int) error }); ok {
			_ = l.SetLinger(0)
		}
	} else if half, ok := nc.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		return
	}
	_ = nc.Close()
}

// Delay waits as the faults say.
func (f *Faults) Delay(ctx context.Context) error {
	var sum time.Duration
	for _, d := range f.TakeAll(Delay) {
		sum += d.D
	}
	return Sleep(ctx, sum)
}

// Sleep waits for d, or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
