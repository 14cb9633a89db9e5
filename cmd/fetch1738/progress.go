package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/term"
)

// A meter tells a display of one transfer. A nil one tells nothing.
type meter struct {
	display *display
	name    string
	number  int // of the transfer
	start   time.Time
	moved   func() int64
	total   atomic.Int64 // 0: not known
	bar     mpb.BarFiller

	// Of the latest sample:
	at   time.Time
	got  int64
	rate float64 // octets a second, with more weight on the latest
}

// startMeter has the transfer shown, unless its document goes to the terminal
// itself.
func (t *transfer) startMeter() *meter {
	d := t.op.display
	if d == nil || t.sink.path == "" && term.IsTerminal(t.std.out) && !t.upload {
		return nil
	}
	style := mpb.BarStyle()
	if d.plain {
		style = style.Lbound("").Filler("#").Tip("#").Padding(" ").Rbound("")
	}
	m := &meter{display: d, name: t.shownName(), number: t.number, start: t.account.start, moved: t.account.moved.Load, bar: style.Build()}
	d.add(m)
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

// stop ends the meter.
func (m *meter) stop() {
	if m != nil {
		m.display.remove(m)
	}
}

// sample notes how many octets there are now.
func (m *meter) sample(now time.Time) {
	got := m.moved()
	switch passed := now.Sub(m.at); {
	case m.at.IsZero() || got < m.got:
		m.rate = float64(perSecond(got, now.Sub(m.start)))
	case passed > 0:
		weight := min(1, passed.Seconds()/3)
		m.rate += weight * (float64(perSecond(got-m.got, passed)) - m.rate)
	}
	m.at, m.got = now, got
}

// line shows the transfer in at most so many columns: its name, a bar, how much
// came at what rate, and how long the rest will take. In a narrow window there
// is less of that.
func (m *meter) line(columns int) string {
	total := m.total.Load()
	if m.display.plain {
		return m.drawn(columns, total, "", padded(m.percent(total), 5))
	}
	name := term.Fit(m.name, min(30, columns/4)) + " "
	came, rate := padded(amount(m.got), 8), padded(amount(int64(m.rate))+"/s", 10)
	switch {
	case total <= 0:
		return term.SafeLine(name+came+"  "+rate, columns)
	case columns < 36:
		return m.drawn(columns, total, name, padded(m.percent(total), 5))
	case columns < 60:
		return m.drawn(columns, total, name, strings.Join([]string{padded(m.percent(total), 5), rate, m.remaining(total)}, " "))
	}
	return m.drawn(columns, total, name, strings.Join([]string{padded(m.percent(total), 5), came, rate, m.remaining(total)}, "  "))
}

// drawn puts a bar between what is left and right of it.
func (m *meter) drawn(columns int, total int64, left, right string) string {
	var b strings.Builder
	b.WriteString(left)
	if room := columns - term.Width(left) - term.Width(right); room >= 4 && total > 0 {
		// A strings.Builder takes whatever is written.
		_ = m.bar.Fill(&b, decor.Statistics{AvailableWidth: room, Total: total, Current: min(m.got, total)})
	}
	b.WriteString(right)
	return term.SafeLine(b.String(), columns)
}

// percent is how much of total came; where that is not known, how much came.
func (m *meter) percent(total int64) string {
	if total <= 0 {
		return amount(m.got)
	}
	return fmt.Sprintf("%d%%", int(100*min(1, float64(m.got)/float64(total))))
}

// remaining is how long it will take at the present rate.
func (m *meter) remaining(total int64) string {
	left := total - m.got
	if left > 0 && (m.rate < 1 || float64(left)/m.rate >= 100*3600) {
		return "--:--"
	}
	seconds := 0
	if left > 0 {
		seconds = int(float64(left)/m.rate + 0.5)
	}
	if seconds < 3600 {
		return fmt.Sprintf("%02d:%02d", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
}
