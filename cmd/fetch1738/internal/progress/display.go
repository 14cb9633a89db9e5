// Package progress shows progress lines at the bottom of a terminal, and keeps other
// output above them.
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
	patience = time.Second            // a transfer that takes less has no line
	period   = 100 * time.Millisecond // between two updates
)

// A Display shows the progress of transfers on a terminal: a line for each transfer
// that has taken some time, as many as the window has space for, and optionally one
// for all. Output through [Display.Above] appears above the lines. A nil Display shows
// nothing. It is safe for concurrent use.
type Display struct {
	out   io.Writer
	plain bool
	sum   func(Totals) string // if nil, there is no line for all

	mu      sync.Mutex
	meters  []*Meter // of active transfers
	octets  int64    // of those that have ended
	start   time.Time
	aside   int      // other users of the terminal
	picture []string // the lines on the screen, or nil
	broken  bool     // writing to the terminal failed or blocked

	ended chan struct{}
	gone  chan struct{}
}

// Options are the appearance of a Display.
type Options struct {
	// Plain shows bars of "#" only.
	Plain bool
	// Sum returns the last line, for all transfers. If nil, it is omitted, and the last
	// state of each transfer stays on the screen. It is called by one goroutine at a time.
	Sum func(Totals) string
}

// Totals are the sums of all transfers.
type Totals struct {
	Active int   // active transfers
	Octets int64 // moved by all transfers
	Time   time.Duration
}

// PerSecond returns the mean rate in bytes per second.
func (t Totals) PerSecond() int64 { return perSecond(t.Octets, t.Time) }

// New returns a Display on the terminal out. The caller must close it.
func New(out io.Writer, o Options) *Display {
	d := &Display{out: out, plain: o.Plain, sum: o.Sum, start: time.Now(), ended: make(chan struct{}), gone: make(chan struct{})}
	go d.run()
	return d
}

// run draws the lines periodically until the display is closed.
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

// Close draws the lines a last time and leaves them on the screen.
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

// add adds m, in the order of the command line.
func (d *Display) add(m *Meter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.meters = append(d.meters, m)
	slices.SortStableFunc(d.meters, func(a, b *Meter) int { return cmp.Compare(a.number, b.number) })
}

// remove removes m. Without a line for all, its last state stays on the screen.
func (d *Display) remove(m *Meter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sum == nil {
		d.leave(time.Now())
	}
	d.octets += m.moved()
	d.meters = slices.DeleteFunc(d.meters, func(other *Meter) bool { return m == other })
}

// draw draws the lines.
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

// erasing returns what erases the lines from the screen. It begins with a carriage return, because the
// terminal may have echoed a key, such as "^C", where the cursor was.
func (d *Display) erasing() string {
	if d.picture == nil {
		return ""
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", len(d.picture))
}

// drawing returns what draws lines, each with its end.
func drawing(lines []string) string { return strings.Join(lines, "\n") + "\n" }

// put writes to the terminal. If that blocks for some time, as after Control-S, nothing
// more is drawn: transfers continue without a display.
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

// lines returns the lines for a size of the window. The last column and row stay free:
// some terminals start a new line when something is written there.
func (d *Display) lines(now time.Time, columns, rows int) []string {
	if columns < 1 || rows < 1 {
		return nil
	}
	var lines []string
	if d.sum != nil {
		rows--
	}
	for _, m := range d.meters {
		if m.rate.Sample(now, m.moved()); len(lines) < rows && now.Sub(m.start) >= patience {
			lines = append(lines, m.line(columns))
		}
	}
	if d.sum != nil && now.Sub(d.start) >= patience {
		lines = append(lines, term.SafeLine(d.sum(d.totals(now)), columns))
	}
	return lines
}

// totals returns the sums of the transfers that have ended and those that run.
func (d *Display) totals(now time.Time) Totals {
	t := Totals{len(d.meters), d.octets, now.Sub(d.start)}
	for _, m := range d.meters {
		t.Octets += m.moved()
	}
	return t
}

// leave draws a last time and leaves the lines on the screen.
func (d *Display) leave(now time.Time) {
	if d.picture != nil {
		d.draw(now)
		d.picture = nil
	}
}

// Pause removes the lines from the screen until resume is called, for a dialogue with
// the user.
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

// Above returns the writer to use in place of w while there is a display. If w is a
// terminal, its lines appear above those of the display.
func (d *Display) Above(w io.Writer) io.Writer {
	if file, ok := w.(terminal); d != nil && ok && term.IsTerminal(w) {
		return &above{file, d, nil}
	}
	return w
}

// terminal has the methods of *os.File that package term needs.
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

// Write holds back an unfinished line while there are lines below it.
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

// maxHeldLine is how many bytes of a line are held back.
const maxHeldLine = 64 << 10

// Amount returns a number of bytes as text of at most eight columns.
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

// perSecond returns a mean rate, or 0 if no time has passed.
func perSecond(n int64, d time.Duration) int64 {
	if d <= 0 {
		return 0
	}
	return int64(float64(n) / d.Seconds())
}
