package progress

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
)

// A Meter shows one transfer in a Display. A nil Meter shows nothing.
type Meter struct {
	display *Display
	name    string
	number  int // of the transfer
	start   time.Time
	moved   func() int64
	total   atomic.Int64 // 0: not known

	rate Rate
}

// Add adds a transfer, in the order of number. moved returns how many bytes have been
// transferred. The caller must stop the Meter.
func (d *Display) Add(name string, number int, start time.Time, moved func() int64) *Meter {
	if d == nil {
		return nil
	}
	m := &Meter{display: d, name: name, number: number, start: start, moved: moved, rate: RateFrom(start, 0)}
	d.add(m)
	return m
}

// Resume says that the transfer begins now, with what has been transferred earlier. That does not count
// for the rate.
func (m *Meter) Resume() {
	if m != nil {
		m.display.mu.Lock()
		defer m.display.mu.Unlock()
		m.rate = RateFrom(time.Now(), m.moved())
	}
}

// SetTotal sets the number of bytes to transfer.
func (m *Meter) SetTotal(n int64) {
	if m != nil {
		m.total.Store(n)
	}
}

// Stop ends the meter.
func (m *Meter) Stop() {
	if m != nil {
		m.display.remove(m)
	}
}

// line returns the line of the transfer, of at most the given width: its name, a bar, the
// amount, the rate and the remaining time. A narrow window shows less.
func (m *Meter) line(columns int) string {
	total := m.total.Load()
	if m.display.plain {
		return m.drawn(columns, total, "", fmt.Sprintf("%5s", m.percent(total)))
	}
	name := term.Fit(m.name, min(30, columns/4)) + " "
	came, rate := fmt.Sprintf("%8s", Amount(m.rate.got)), fmt.Sprintf("%10s", Amount(m.rate.PerSecond())+"/s")
	switch {
	case total <= 0:
		return term.SafeLine(name+came+"  "+rate, columns)
	case columns < 36:
		return m.drawn(columns, total, name, fmt.Sprintf("%5s", m.percent(total)))
	case columns < 60:
		return m.drawn(columns, total, name, strings.Join([]string{fmt.Sprintf("%5s", m.percent(total)), rate, m.rate.Remaining(total - m.rate.got)}, " "))
	}
	return m.drawn(columns, total, name, strings.Join([]string{fmt.Sprintf("%5s", m.percent(total)), came, rate, m.rate.Remaining(total - m.rate.got)}, "  "))
}

// drawn returns left and right with a bar between them.
func (m *Meter) drawn(columns int, total int64, left, right string) string {
	var b strings.Builder
	b.WriteString(left)
	if room := columns - term.Width(left) - term.Width(right); room >= 4 && total > 0 {
		b.WriteString(m.bar(room, min(1, float64(m.rate.got)/float64(total))))
	}
	b.WriteString(right)
	return term.SafeLine(b.String(), columns)
}

// bar returns a bar of the given width for a part of 1.
func (m *Meter) bar(columns int, part float64) string {
	if m.display.plain {
		full := int(part*float64(columns) + 0.5)
		return strings.Repeat("#", full) + strings.Repeat(" ", columns-full)
	}
	columns -= len("[]")
	full := int(part*float64(columns) + 0.5)
	tip := ""
	if 0 < full && full < columns {
		tip = ">"
	}
	return "[" + strings.Repeat("=", full-len(tip)) + tip + strings.Repeat("-", columns-full) + "]"
}

// percent returns the percentage of total, or the amount if total is unknown.
func (m *Meter) percent(total int64) string {
	if total <= 0 {
		return Amount(m.rate.got)
	}
	return fmt.Sprintf("%d%%", int(100*min(1, float64(m.rate.got)/float64(total))))
}
