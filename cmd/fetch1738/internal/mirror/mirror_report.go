package mirror

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/report"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
)

// A mirrorReport tells of a mirror: files that disappeared on standard output, with
// -v and in a dry run all of them, failures on standard error, and on a terminal
// how far it is. Its events come one at a time.
type mirrorReport struct {
	t        *transfer.Result // which stands for all of the mirror
	reporter *report.Reporter
	dry      bool
	first    error          // that was told of
	broken   error          // of standard output
	menus    int            // whose end is not marked
	listed   int            // entries of all folders
	others   map[string]int // entries that gopher servers have, by their HOST:PORT

	mu                   sync.Mutex
	folders, done, files int
	planned              bool
}

// event shows one.
func (r *mirrorReport) event(e mirror.Event) {
	r.count(e)
	switch e.Action {
	case mirror.Listed, mirror.Planned, mirror.Started, mirror.Unchanged:
		return
	case mirror.Failed:
		r.failed(e)
		return
	case mirror.Added, mirror.Replaced, mirror.Checked:
		if !r.t.Op.Verbose && !r.dry {
			return
		}
	case mirror.Skipped, mirror.Unsure:
		if !r.t.Op.Verbose {
			return
		}
	}
	if r.t.Op.Silent {
		return
	}
	text := fmt.Sprintf("%-8s %s", e.Action, e.File)
	if r.dry && e.Size >= 0 {
		text += fmt.Sprintf(", %d octets", e.Size)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	r.say(stdio.Line(text))
}

// failed complains about a file, or a listing.
func (r *mirrorReport) failed(e mirror.Event) {
	if r.first == nil {
		r.first = e.Err
	}
	one := &transfer.Result{Call: client.Call{Access: r.t.Access, Locator: r.t.Locator}, Err: e.Err}
	r.reporter.Failed(one, e.File)
}

// summary shows what was done, in a line.
func (r *mirrorReport) summary(s mirror.Summary) {
	if r.t.Op.Silent {
		return
	}
	if r.menus > 0 {
		r.t.Warn("%s: the server does not mark the end of %d menus, so it is not known which files have disappeared", r.t.Locator.Redacted(), r.menus)
	}
	if at, n := r.otherName(); n > r.listed {
		r.t.Warn("%s: %d items were skipped because they are on %s; if that is another name of this server, use --alias %s", r.t.Locator.Redacted(), n, at, at)
	}
	unsure := ""
	if s.Unsure > 0 {
		unsure = fmt.Sprintf(", %d unsure", s.Unsure)
	}
	took := time.Since(r.t.Account.Facts().Start).Seconds()
	r.say(fmt.Sprintf("%d new, %d changed, %d unchanged, %d gone, %d skipped, %d failed%s; %d octets in %.1f s",
		s.New, s.Changed, s.Unchanged, s.Gone, s.Skipped, s.Failed, unsure, s.Octets, took))
}

// complain says why the mirror failed unless an event has.
func (r *mirrorReport) complain() {
	if r.first != r.t.Err {
		r.reporter.Failed(r.t, "")
	}
}

// say writes a line to standard output.
func (r *mirrorReport) say(text string) {
	if _, err := fmt.Fprintln(r.reporter.Out, text); err != nil {
		r.broken = err
	}
}

// line says how far the mirror is.
func (r *mirrorReport) line(progress.Totals) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.planned {
		return fmt.Sprintf("%d folders listed", r.folders)
	}
	return fmt.Sprintf("%d of %d files, %s", r.done, r.files, progress.Amount(r.t.Account.Moved.Load()))
}

// count takes account of an event.
func (r *mirrorReport) count(e mirror.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Action {
	case mirror.Listed:
		r.folders++
		r.listed += e.Files
	case mirror.Skipped:
		r.countOther(e)
	case mirror.Unsure:
		if !r.planned {
			r.menus++ // those of documents come later
		}
	case mirror.Planned:
		r.planned, r.files, r.done = true, e.Files, 0
	case mirror.Added, mirror.Replaced, mirror.Unchanged, mirror.Failed:
		r.done++
	}
}

// maxOthers bounds of how many other servers account is taken.
const maxOthers = 1000

// countOther takes account of an item of a menu that is on another server.
func (r *mirrorReport) countOther(e mirror.Event) {
	if !errors.Is(e.Err, mirror.ErrServer) {
		return
	}
	l, err := locator.Parse(e.URL)
	at, isGopher := l.(*locator.Gopher)
	if err != nil || !isGopher {
		return
	}
	server, _ := locator.ServerOf(at)
	name := net.JoinHostPort(server.Host, strconv.Itoa(int(server.Port)))
	if _, known := r.others[name]; !known && len(r.others) == maxOthers {
		return
	}
	if r.others == nil {
		r.others = make(map[string]int)
	}
	r.others[name]++
}

// otherName is the server that has most of what is on others, which may be the
// mirrored one by another name.
func (r *mirrorReport) otherName() (name string, n int) {
	for at, count := range r.others {
		if count > n || count == n && at < name {
			name, n = at, count
		}
	}
	return name, n
}
