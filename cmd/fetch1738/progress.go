package main

import (
	"io"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/term"
)

// patience is how long a transfer may last before its progress is shown.
const patience = time.Second

// A meter shows the progress of a transfer on a terminal. A nil one shows
// nothing.
type meter struct {
	out   io.Writer
	name  string
	plain bool // -#
	start time.Time
	moved func() int64
	total atomic.Int64 // 0: not known

	ended chan struct{}
	gone  chan struct{}
}

// startMeter begins to wait for the moment to show something, if it is wanted
// and there is a terminal that the document does not go to.
func (t *transfer) startMeter() *meter {
	switch {
	case t.op.silent, t.op.noMeter, t.op.verbose, !term.IsTerminal(t.std.err):
		return nil
	case t.sink.path == "" && term.IsTerminal(t.std.out) && !t.upload:
		return nil
	}
	m := &meter{
		out: t.std.err, name: t.shownName(), plain: t.op.progressBar, start: t.account.start, moved: t.account.moved.Load,
		ended: make(chan struct{}), gone: make(chan struct{}),
	}
	go m.run()
	return m
}

// shownName is what the transfer is called.
func (t *transfer) shownName() string {
	switch {
	case t.upload:
		return filepath.Base(t.source)
	case t.sink.path != "":
		return filepath.Base(t.sink.path)
	}
	return lastSegment(t.locator, t.url)
}

// setTotal tells how many octets there are to come in all.
func (m *meter) setTotal(n int64) {
	if m != nil {
		m.total.Store(n)
	}
}

// expect tells the meter what a resource of so many octets comes to.
func (m *meter) expect(req *fetch.Request, size int64) {
	switch {
	case size < 0:
		return
	case req.Offset < 0:
		size = min(size, -req.Offset)
	default:
		size = max(0, size-req.Offset)
	}
	if req.Length > 0 {
		size = min(size, req.Length)
	}
	m.setTotal(size)
}

// stop ends the meter and leaves its last state on the screen.
func (m *meter) stop() {
	if m != nil {
		close(m.ended)
		<-m.gone
	}
}

func (m *meter) run() {
	defer close(m.gone)
	select {
	case <-m.ended:
		return
	case <-time.After(patience):
	}
	columns := term.Columns(m.out)
	p := mpb.New(mpb.WithOutput(m.out), mpb.WithWidth(columns))
	bar := p.MustAdd(0, m.bar(), m.decorators(columns)...)
	ticks := time.NewTicker(100 * time.Millisecond)
	defer ticks.Stop()
	for ended := false; !ended; {
		bar.SetTotal(m.total.Load(), false)
		bar.SetCurrent(m.moved())
		select {
		case <-ticks.C:
		case <-m.ended:
			ended = true
		}
	}
	if total := m.total.Load(); m.moved() == total || total == 0 {
		bar.SetTotal(m.moved(), true)
	} else {
		bar.Abort(false)
	}
	p.Wait()
}

// bar draws nothing where it is not known how much there is to come.
func (m *meter) bar() mpb.BarFiller {
	style := mpb.BarStyle()
	if m.plain {
		style = style.Lbound("").Filler("#").Tip("#").Padding(" ").Rbound("")
	}
	bar := style.Build()
	return mpb.BarFillerFunc(func(w io.Writer, s decor.Statistics) error {
		if s.Total <= 0 {
			return nil
		}
		return bar.Fill(w, s)
	})
}

// decorators are what is shown beside the bar; in a narrow window less.
func (m *meter) decorators(columns int) []mpb.BarOption {
	percent := known(decor.Percentage(decor.WC{W: 5}))
	if m.plain {
		return []mpb.BarOption{mpb.AppendDecorators(percent)}
	}
	name := decor.Name(term.SafeLine(m.name, columns/4), decor.WC{C: decor.DextraSpace})
	beside := []decor.Decorator{percent, decor.CurrentKibiByte("% .1f", decor.WC{W: 11})}
	if columns >= 70 {
		beside = append(beside,
			decor.NewAverageSpeed(decor.SizeB1024(0), "% .1f", m.start, decor.WC{W: 13}),
			known(decor.NewAverageETA(decor.ET_STYLE_MMSS, m.start, nil, decor.WC{W: 7})))
	}
	return []mpb.BarOption{mpb.PrependDecorators(name), mpb.AppendDecorators(beside...)}
}

// known is d where it is known how much there is to come.
func known(d decor.Decorator) decor.Decorator {
	return decor.Any(func(s decor.Statistics) string {
		if s.Total <= 0 {
			return ""
		}
		text, _ := d.Decor(s)
		return text
	})
}
