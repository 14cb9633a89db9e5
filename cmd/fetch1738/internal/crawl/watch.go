package crawl

import (
	"cmp"
	"fmt"
	"math"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/report"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/locator"
)

// A watch shows the crawl while it runs.
type watch struct {
	shown           *report.Reporter
	verbose, silent bool
	began           time.Time
	typed           map[string]bool // the hosts of the command line, as HOST:PORT

	mu                      sync.Mutex
	documents, failed, left int
	octets                  int64
	dead                    int
	refused                 error       // the first refusal by the policy
	waits                   crawl.Event // what is waited for, if nothing has happened since
}

// hosts returns the hosts of the URLs to begin with, as HOST:PORT.
func (s *settings) hosts() map[string]bool {
	all := make(map[string]bool)
	for _, l := range s.Start {
		at, _ := locator.ServerOf(l)
		all[net.JoinHostPort(at.Host, strconv.Itoa(int(at.Port)))] = true
	}
	return all
}

// event counts an event, and prints it with -v. That a host of the command line fails is printed
// anyway, since nothing else may happen for a long time.
func (w *watch) event(e crawl.Event) {
	w.count(e)
	switch {
	case e.Host == "" || !e.Next.IsZero() && e.Err == nil:
	case w.verbose:
		fmt.Fprintln(w.shown.Err, stdio.Line(text(e)))
	case !e.Next.IsZero() && w.typed[e.Host] && !w.silent:
		w.shown.Warn("%s: %s; next try in %s", e.Host, stdio.InOptions(e.Err.Error()), until(e.Next))
	}
}

func (w *watch) count(e crawl.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case e.Host == "" || !e.Next.IsZero():
	case e.URL == "":
		w.dead++
	case e.Reason == "":
		w.documents++
	default:
		w.failed++
	}
	if e.Reason == crawl.Refused && w.refused == nil {
		w.refused = e.Err
	}
	w.octets += e.Octets
	w.left, w.waits = e.Queued, e
}

// text returns the line of an event.
func text(e crawl.Event) string {
	text := fmt.Sprintf("%-11s %s, %d bytes, %d new links", cmp.Or(e.Reason, "fetched"), e.URL, e.Octets, e.Links)
	switch {
	case !e.Next.IsZero():
		text = fmt.Sprintf("%-11s %s, next try in %s", e.Reason, e.Host, until(e.Next))
	case e.URL == "":
		text = fmt.Sprintf("%-11s %s, given up", e.Reason, e.Host)
	}
	if e.Err != nil {
		text += ": " + stdio.InOptions(e.Err.Error())
	}
	return text
}

// line returns the text of the progress line.
func (w *watch) line(progress.Totals) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := fmt.Sprintf("%s, %d not fetched, %d to come, %s given up, %s",
		stdio.Count(w.documents, "document"), w.failed, w.left, stdio.Count(w.dead, "host"), progress.Amount(w.octets))
	if w.waits.Next.IsZero() {
		return text
	}
	name, _, _ := net.SplitHostPort(w.waits.Host)
	what := "next try"
	if w.waits.Reason == "" {
		what = "next request"
	}
	return fmt.Sprintf("%s: %s in %s; %s", name, what, until(w.waits.Next), text)
}

// until returns the time from now to t, such as "30 s" or "2 h 5 min".
func until(t time.Time) string {
	s := max(0, int(math.Round(time.Until(t).Seconds())))
	switch {
	case s < 120:
		return fmt.Sprintf("%d s", s)
	case s < 7200:
		return fmt.Sprintf("%d min", (s+30)/60)
	}
	return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
}
