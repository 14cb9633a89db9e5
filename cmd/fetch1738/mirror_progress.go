package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/mirror"
)

// A mirrorLine shows on a terminal how far a mirror is, in one line. A nil one
// shows nothing.
type mirrorLine struct {
	out   io.Writer
	moved func() int64

	mu                   sync.Mutex
	folders, done, files int
	planned, shown       bool

	ended chan struct{}
	gone  chan struct{}
}

func startMirrorLine(t *transfer) *mirrorLine {
	if t.op.silent || t.op.noMeter || t.op.verbose || !term.IsTerminal(t.std.err) {
		return nil
	}
	l := &mirrorLine{out: t.std.err, moved: t.account.moved.Load, ended: make(chan struct{}), gone: make(chan struct{})}
	go l.run()
	return l
}

func (l *mirrorLine) run() {
	defer close(l.gone)
	ticks := time.NewTicker(200 * time.Millisecond)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			l.show()
		case <-l.ended:
			return
		}
	}
}

// event counts.
func (l *mirrorLine) event(e mirror.Event) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch e.Action {
	case mirror.Listed:
		l.folders++
	case mirror.Planned:
		l.planned, l.files, l.done = true, e.Files, 0
	case mirror.Added, mirror.Replaced, mirror.Unchanged, mirror.Failed:
		l.done++
	}
}

func (l *mirrorLine) show() {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := fmt.Sprintf("%d folders listed", l.folders)
	if l.planned {
		text = fmt.Sprintf("%d of %d files, %.1f MiB", l.done, l.files, float64(l.moved())/(1<<20))
	}
	fmt.Fprintf(l.out, "\r%s\x1b[K", term.SafeLine(text, max(1, term.Columns(l.out)-1)))
	l.shown = true
}

// clear makes room for another line.
func (l *mirrorLine) clear() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown {
		fmt.Fprint(l.out, "\r\x1b[K")
		l.shown = false
	}
}

func (l *mirrorLine) end() {
	if l != nil {
		close(l.ended)
		<-l.gone
		l.clear()
	}
}
