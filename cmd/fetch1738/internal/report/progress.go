package report

import (
	"fmt"
	"path/filepath"
	"sync"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
)

// Show begins to show how transfers get on, if that is wanted and there is a
// terminal; sum is the line for all of them, nil for none.
func (r *Reporter) Show(g *plan.Global, sum func(progress.Totals) string) {
	traced := g.Trace.Form != plan.TraceNot && term.IsTerminal(r.trace)
	if g.Silent || g.NoMeter || g.Verbose || traced || !term.IsTerminal(r.Err) {
		return
	}
	r.display = progress.New(r.Err, progress.Options{Plain: g.ProgressBar, Sum: sum})
	r.Out, r.Err = r.display.Above(r.Out), r.display.Above(r.Err)
}

// ShowAll is Show for all transfers of Operations that run at once.
func (r *Reporter) ShowAll(ops []*plan.Operation) {
	r.tally = newTally(ops)
	r.Show(ops[0].Global, r.tally.line)
}

// Pause keeps the display from the terminal until resume is called.
func (r *Reporter) Pause() (resume func()) { return r.display.Pause() }

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

// meter shows the transfer, unless its document goes to the terminal itself.
func (r *Reporter) meter(t *transfer.Result) *progress.Meter {
	if t.Sink.OnTerminal() && !t.Upload {
		return nil
	}
	return r.display.Add(shownName(t), t.Number, t.Account.Facts().Start, t.Account.Moved.Load)
}

// shownName is what the transfer is called.
func shownName(t *transfer.Result) string {
	switch {
	case t.Upload:
		return filepath.Base(t.Source)
	case t.Sink.Path != "":
		return filepath.Base(t.Sink.Path)
	}
	return output.LastSegment(t.Locator, t.URL)
}
