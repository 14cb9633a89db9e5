package output

import (
	"bytes"
	"io"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// maxHeldDocument is how many bytes of a document are buffered while another one is
// written to standard output.
const maxHeldDocument = 1 << 20

// An Outlet writes parallel documents to one stream, each in one piece.
type Outlet struct {
	w    *stdio.Checked
	turn chan struct{} // holds a token while no Portion writes
}

// NewOutlet returns an Outlet on w.
func NewOutlet(w io.Writer) *Outlet {
	o := &Outlet{w: stdio.CheckOutput(w), turn: make(chan struct{}, 1)}
	o.turn <- struct{}{}
	return o
}

// Portion returns the writer of one transfer. The caller must close it.
func (o *Outlet) Portion() *Portion { return &Portion{outlet: o} }

// A Portion buffers what is written to it, up to maxHeldDocument. Then it waits for its
// turn, which it keeps until it is closed.
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

// seize waits for the turn and writes the buffer.
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

// Fd returns that of the stream, for package term.
func (s *Portion) Fd() uintptr {
	return s.outlet.w.Fd()
}

// Rewind discards the buffer. It reports false if some has been written already.
func (s *Portion) Rewind() bool {
	s.held.Reset()
	return !s.mine
}

// Close writes the buffer and ends the turn.
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
