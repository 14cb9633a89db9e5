package output

import (
	"bytes"
	"io"
)

// maxHeldDocument is how much of a document is kept until it is its turn on standard
// output.
const maxHeldDocument = 1 << 20

// An Outlet lets several documents at once onto one stream, each in one piece.
type Outlet struct {
	w    io.Writer
	turn chan struct{} // holds a token while nobody writes
}

// NewOutlet is w for several documents.
func NewOutlet(w io.Writer) *Outlet {
	o := &Outlet{w: w, turn: make(chan struct{}, 1)}
	o.turn <- struct{}{}
	return o
}

// Portion is what one transfer writes to. Close it.
func (o *Outlet) Portion() *Portion { return &Portion{outlet: o} }

// A Portion of an outlet holds what is written to it back, up to maxHeldDocument; then it
// waits for its turn, and has it to its end.
type Portion struct {
	outlet *Outlet
	held   bytes.Buffer
	mine   bool
}

// Write implements io.Writer.
func (s *Portion) Write(p []byte) (int, error) {
	if !s.mine && s.held.Len()+len(p) <= maxHeldDocument {
		return s.held.Write(p)
	}
	if err := s.seize(); err != nil {
		return 0, err
	}
	return s.outlet.w.Write(p)
}

// seize waits for the turn and writes what was held back.
func (s *Portion) seize() error {
	if s.mine {
		return nil
	}
	<-s.outlet.turn
	s.mine = true
	_, err := s.held.WriteTo(s.outlet.w)
	s.held = bytes.Buffer{}
	return err
}

// Fd is that of the stream, as package term wants to know it.
func (s *Portion) Fd() uintptr {
	if f, ok := s.outlet.w.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// Rewind forgets what is held back. It reports false where some is out already.
func (s *Portion) Rewind() bool {
	s.held.Reset()
	return !s.mine
}

// Close writes what is left and lets the next one have its turn.
func (s *Portion) Close() error {
	var err error
	if s.held.Len() > 0 {
		err = s.seize()
	}
	if s.mine {
		s.mine = false
		s.outlet.turn <- struct{}{}
	}
	return err
}
