package main

import (
	"io"
	"os"
	"sync"
	"time"
)

// A screen prints lines, and below them, on a terminal, a line that shows the progress.
type screen struct {
	out  io.Writer
	line func() string // nil if there is no terminal

	mu    sync.Mutex
	drawn bool
	end   chan struct{}
	gone  chan struct{}
}

// newScreen returns a screen. The caller must close it.
func newScreen(out io.Writer, line func() string) *screen {
	s := &screen{out: out, end: make(chan struct{}), gone: make(chan struct{})}
	if f, ok := out.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 { // or it is /dev/null
			s.line = line
		}
	}
	go s.run()
	return s
}

// run draws the line once a second.
func (s *screen) run() {
	defer close(s.gone)
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	for {
		select {
		case <-s.end:
			return
		case <-ticks.C:
			s.show("", s.line)
		}
	}
}

// print prints a line.
func (s *screen) print(text string) { s.show(text+"\n", s.line) }

// close leaves the progress line on the screen.
func (s *screen) close() {
	close(s.end)
	<-s.gone
	s.show("", nil)
}

// show prints text in place of the progress line, and a line below it.
func (s *screen) show(text string, line func() string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drawn && (text != "" || line != nil) {
		text = "\r\x1b[K" + text
	}
	if s.drawn && text == "" {
		text = "\n"
	}
	if s.drawn = line != nil; s.drawn {
		text += line()
	}
	_, _ = io.WriteString(s.out, text) // standard error that cannot be written is no reason to stop
}
