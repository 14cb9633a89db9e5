package main

import (
	"fmt"
	"path/filepath"
	"sync"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
)

// openDisplay begins to show how transfers get on, if that is wanted and there is
// a terminal; sum is the line for all of them, nil for none. Close the display.
func (c *commandLine) openDisplay(sum func(progress.Totals) string) {
	g := c.global
	traced := g.Trace.Form != plan.TraceNot && term.IsTerminal(g.Trace.to)
	if g.Silent || g.NoMeter || g.Verbose || traced || !term.IsTerminal(c.std.Err) {
		return
	}
	g.display = progress.New(c.std.Err, progress.Options{Plain: g.ProgressBar, Sum: sum})
	c.std.Out, c.std.Err = g.display.Above(c.std.Out), g.display.Above(c.std.Err)
}

// A tally is what came of all transfers of -Z.
type tally struct {
	files int64 // there are to be fetched

	mu           sync.Mutex
	done, failed int64
}

// newTally counts what there is to do.
func newTally(operations []*plan.Operation) *tally {
	y := new(tally)
	for _, op := range operations {
		y.files += op.Count()
	}
	return y
}

// count notes how a transfer has ended.
func (y *tally) count(ok bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.done++
	if !ok {
		y.failed++
	}
}

// line shows it.
func (y *tally) line(all progress.Totals) string {
	y.mu.Lock()
	defer y.mu.Unlock()
	files := max(y.done+int64(all.Active), y.files)
	text := fmt.Sprintf("%d/%d files, %s, %s/s", y.done, files, progress.Amount(all.Octets), progress.Amount(all.PerSecond()))
	if y.failed > 0 {
		text += fmt.Sprintf(", %d failed", y.failed)
	}
	return text
}

// startMeter has the transfer shown, unless its document goes to the terminal
// itself.
func (t *transfer) startMeter() *progress.Meter {
	if t.sink.onTerminal() && !t.upload {
		return nil
	}
	return t.op.display.Add(t.shownName(), t.number, t.account.start, t.account.moved.Load)
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

// expect tells the meter what a resource of so many octets comes to.
func (t *transfer) expect(req *fetch.Request, size int64) {
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
	t.meter.SetTotal(size)
}
