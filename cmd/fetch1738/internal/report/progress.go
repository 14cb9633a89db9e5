package report

import (
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
)

// Show starts the progress display, if it is enabled and standard error is a terminal.
// sum returns the line for all transfers; if nil, it is omitted.
func (r *Reporter) Show(g *plan.Global, sum func(progress.Totals) string) {
	traced := g.Trace.Form != plan.TraceNot && term.IsTerminal(r.trace)
	if g.Silent || g.NoMeter || traced || !term.IsTerminal(r.Err) {
		return
	}
	r.display = progress.New(r.Err, progress.Options{Plain: g.ProgressBar, Sum: sum})
	r.Out, r.Err = r.display.Above(r.Out), r.display.Above(r.Err)
}

// ShowAll is Show for Operations whose transfers run in parallel.
func (r *Reporter) ShowAll(ops []*plan.Operation) {
	r.tally = newTally(ops)
	r.Show(ops[0].Global, r.tally.line)
}

// Tell writes a line about a long run to standard error now and then, if that is not a terminal and the
// progress is wanted. See [progress.NewLog].
// The caller must close the Log, which may be nil.
func (r *Reporter) Tell(g *plan.Global, line func() string) *progress.Log {
	if g.Silent || g.NoMeter || g.Trace.Form != plan.TraceNot || term.IsTerminal(r.Err) {
		return nil
	}
	return progress.NewLog(r.Err, line)
}

// Meter shows the progress of a file that is not a transfer of its own. The result is nil if there is no
// display.
func (r *Reporter) Meter(name string, number int, total int64, moved func() int64) *progress.Meter {
	m := r.display.Add(name, number, time.Now(), moved)
	m.SetTotal(total)
	return m
}

// Stopped says at the end of a run that has not reached its own what was reached, and how to continue, if
// the same command can do that. how is "interrupted", for example.
func (r *Reporter) Stopped(how, reached string, again bool) {
	if reached != "" {
		how += " at " + reached
	}
	if again {
		how += "; run the same command again to continue"
	}
	if again || reached != "" {
		afterKey(r, how)
	}
}

// afterKey prints a message in the first column, whatever key the terminal has echoed.
func afterKey(r *Reporter, text string) {
	ClearKey(r)
	fmt.Fprintf(r.Err, "fetch1738: %s\n", stdio.Line(text))
}

// ClearKey removes from the terminal what it has echoed of a key, such as "^C". The next line begins in the
// first column.
func ClearKey(r *Reporter) {
	if term.IsTerminal(r.Err) {
		fmt.Fprint(r.Err, "\r\x1b[K")
	}
}

// Pause removes the display from the terminal until resume is called.
func (r *Reporter) Pause() (resume func()) { return r.display.Pause() }

// A tally counts the transfers of -Z.
type tally struct {
	files int64 // to fetch

	mu           sync.Mutex
	done, failed int64
}

// newTally counts the transfers to do.
func newTally(operations []*plan.Operation) *tally {
	y := new(tally)
	for _, op := range operations {
		y.files += op.Count()
	}
	return y
}

// count counts a transfer that has ended.
func (y *tally) count(ok bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.done++
	if !ok {
		y.failed++
	}
}

// line returns the progress line.
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

// meter starts the progress of a transfer, unless its document goes to the terminal.
func (r *Reporter) meter(t *transfer.Result) *progress.Meter {
	if t.Sink.OnTerminal() && !t.Upload {
		return nil
	}
	return r.display.Add(shownName(t), t.Number, t.Account.Facts().Start, t.Account.Moved.Load)
}

// shownName returns the name of a transfer.
func shownName(t *transfer.Result) string {
	switch {
	case t.Upload:
		return filepath.Base(t.Source)
	case t.Sink.Path != "":
		return filepath.Base(t.Sink.Path)
	}
	return output.LastSegment(t.Locator, t.URL)
}
