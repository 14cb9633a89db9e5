// Package progress shows on a terminal how transfers get on, and keeps what else
// is written there above it.
package progress

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
)

const (
	patience = time.Second            // how long a transfer may last before its progress is shown
	period   = 100 * time.Millisecond // between two pictures
)

// A Display shows on a terminal how transfers get on: a line for each that has
// lasted for some time, as many as there is room for, and perhaps one for all.
// What is written to the terminal by way of [Display.Above] comes above the lines.
// A nil Display shows nothing. It is safe for concurrent use.
type Display struct {
	out   io.Writer
	plain bool
	sum   func(Totals) string // nil without a line for all

	mu      sync.Mutex
	meters  []*Meter // of transfers under way
	octets  int64    // of those that have ended
	start   time.Time
	aside   int      // who else wants the terminal to himself
	picture []string // the lines on the screen; nil if there are none
	broken  bool     // the terminal does not take what is drawn

	ended chan struct{}
	gone  chan struct{}
}

// Options say how a Display looks.
type Options struct {
	// Plain has bars of "#" alone.
	Plain bool
	// Sum is the last line, for all transfers; nil shows none, and then the last
	// state of each stays on the screen. It is called by one goroutine at a time.
	Sum func(Totals) string
}

// Totals are what there is to know of all transfers together.
type Totals struct {
	Active int   // transfers under way
	Octets int64 // moved by all there were
	Time   time.Duration
}

// PerSecond is the mean rate in octets a second.
func (t Totals) PerSecond() int64 { return perSecond(t.Octets, t.Time) }

// New begins to wait for something to show on the terminal that out is. Close it.
func New(out io.Writer, o Options) *Display {
	d := &Display{out: out, plain: o.Plain, sum: o.Sum, start: time.Now(), ended: make(chan struct{}), gone: make(chan struct{})}
	go d.run()
	return d
}

func (d *Display) run() {
	defer close(d.gone)
	ticks := time.NewTicker(period)
	defer ticks.Stop()
	for {
		select {
		case <-d.ended:
			return
		case now := <-ticks.C:
			d.mu.Lock()
			d.draw(now)
			d.mu.Unlock()
		}
	}
}

// Close leaves the last picture of all transfers on the screen.
func (d *Display) Close() {
	if d == nil {
		return
	}
	close(d.ended)
	<-d.gone
	d.mu.Lock()
	defer d.mu.Unlock()
	d.leave(time.Now())
}

// add shows m too, in the order of the command line.
func (d *Display) add(m *Meter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.meters = append(d.meters, m)
	slices.SortStableFunc(d.meters, func(a, b *Meter) int { return cmp.Compare(a.number, b.number) })
}

// remove is the end of m. Without a line for all its last state stays on the screen.
func (d *Display) remove(m *Meter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sum == nil {
		d.leave(time.Now())
	}
	d.octets += m.moved()
	d.meters = slices.DeleteFunc(d.meters, func(other *Meter) bool { return m == other })
}

// draw shows how things stand.
func (d *Display) draw(now time.Time) {
	columns, rows := term.Size(d.out)
	lines := d.lines(now, int(columns)-1, int(rows)-1)
	switch {
	case d.aside > 0, len(lines) == 0 && d.picture == nil:
		return
	case len(lines) == 0: // the window is too small
		lines = []string{""}
	}
	d.put(d.erasing() + drawing(lines))
	d.picture = lines
}

// erasing takes the picture off the screen.
func (d *Display) erasing() string {
	if d.picture == nil {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\x1b[J", len(d.picture))
}

func drawing(lines []string) string { return strings.Join(lines, "\n") + "\n" }

// put writes to the terminal. One that takes nothing for a while, as after
// Control-S, is not drawn on any more: transfers go on without it.
func (d *Display) put(text string) {
	if d.broken || text == "" {
		return
	}
	taken := make(chan error, 1)
	go func() {
		_, err := io.WriteString(d.out, text)
		taken <- err
	}()
	select {
	case err := <-taken:
		d.broken = err != nil
	case <-time.After(patience):
		d.broken = true
	}
}

// lines are what is to be shown in so much room. The last column and row stay
// free: there are terminals that begin a new line when they are written to.
func (d *Display) lines(now time.Time, columns, rows int) []string {
	if columns < 1 || rows < 1 {
		return nil
	}
	var lines []string
	if d.sum != nil {
		rows--
	}
	for _, m := range d.meters {
		if m.sample(now); len(lines) < rows && now.Sub(m.start) >= patience {
			lines = append(lines, m.line(columns))
		}
	}
	if d.sum != nil && now.Sub(d.start) >= patience {
		lines = append(lines, term.SafeLine(d.sum(d.totals(now)), columns))
	}
	return lines
}

func (d *Display) totals(now time.Time) Totals {
	t := Totals{len(d.meters), d.octets, now.Sub(d.start)}
	for _, m := range d.meters {
		t.Octets += m.moved()
	}
	return t
}

// leave draws a last time and lets the picture be.
func (d *Display) leave(now time.Time) {
	if d.picture != nil {
		d.draw(now)
		d.picture = nil
	}
}

// Pause takes the picture off the screen until resume is called, for somebody who
// wants to talk to the person in front of it.
func (d *Display) Pause() (resume func()) {
	if d == nil {
		return func() {}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.put(d.erasing())
	d.picture = nil
	d.aside++
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.aside--
	}
}

// Above is w as it must be written to while the display is there: the lines that
// go to a terminal come above those of the display.
func (d *Display) Above(w io.Writer) io.Writer {
	if file, ok := w.(terminal); d != nil && ok && term.IsTerminal(w) {
		return &above{file, d, nil}
	}
	return w
}

// terminal is what an *os.File is to package term.
type terminal interface {
	io.Writer
	Fd() uintptr
}

// above writes above a display.
type above struct {
	terminal
	d    *Display
	held []byte // an unfinished line
}

// Write holds an unfinished line back while there is something to be shown
// below it.
func (a *above) Write(p []byte) (int, error) {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	text := append(a.held, p...)
	a.held = nil
	if a.d.picture == nil || a.d.broken {
		if _, err := a.terminal.Write(text); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if len(text)-whole > maxHeldLine {
		text, whole = append(text, '\n'), len(text)+1
	}
	a.held = bytes.Clone(text[whole:])
	if whole == 0 {
		return len(p), nil
	}
	a.d.put(a.d.erasing())
	_, err := a.terminal.Write(text[:whole])
	a.d.put(drawing(a.d.picture))
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// maxHeldLine bounds what is held back of a line.
const maxHeldLine = 64 << 10

// Amount is a number of octets in at most eight columns.
func Amount(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n), 0
	for unit = -1; value >= 999.5 && unit < 5; unit++ {
		value /= 1024
	}
	places := 1
	if value >= 99.95 {
		places = 0
	}
	return fmt.Sprintf("%.*f %ciB", places, value, "KMGTPE"[unit])
}

func perSecond(n int64, d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return int64(float64(n) / d.Seconds())
}

// padded is text in the last of so many columns.
func padded(text string, columns int) string {
	return strings.Repeat(" ", max(0, columns-len(text))) + text
}
