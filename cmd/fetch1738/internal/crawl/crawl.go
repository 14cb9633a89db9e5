// Package crawl implements the crawl command, which copies documents over links and hosts into WARC
// files.
package crawl

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/report"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/locator"
)

const crawlHelp = `Usage: fetch1738 crawl [option]... --dir DIR URL...

Fetches each URL and what it links to, over menus, directories and hosts, and
records all of it in WARC files in the folder DIR. Makes one request at a time to a
host and waits 2 seconds before the next. Obeys robots.txt. Does not follow links to
searches, forms, phone books, telnet, mail addresses and private addresses.

  $ fetch1738 crawl --dir floodgap --same-host gopher://gopher.floodgap.com/

Interrupted, it continues when the same command is run again. Standard output gets
one line of JSON at the end. DIR/hosts.jsonl has a line for each host.

The exit code is 0 if all was fetched, 63 if a limit was reached, and that of the
URL if one on the command line failed. The options for connecting (-x, --proto,
--allow-zone, --news-server, --max-time and so on) work as without a verb. The
following options are for crawl only:
`

// Command returns the crawl command.
func Command() cli.Command {
	return cli.NewClient("crawl", "copy documents over links and hosts into WARC files", crawlHelp, func(int) cli.Client {
		s := new(settings)
		return cli.Client{Own: s.options(), Table: s.table(), Run: s.run}
	})
}

// run performs the command and returns its exit code.
func (s *settings) run(ctx context.Context, c *curl.CommandLine, shown *report.Reporter) int {
	switch {
	case len(c.URLs()) == 0:
		return shown.Misused(fault.Usagef("crawl requires a URL; see fetch1738 crawl --help"))
	case s.Dir == "":
		return shown.Misused(fault.Usagef("crawl requires --dir DIR, the folder of the crawl"))
	}
	return s.crawl(ctx, shown, c.Operations[0], c.URLs())
}

// crawl runs the crawl and returns the exit code.
func (s *settings) crawl(ctx context.Context, shown *report.Reporter, op *plan.Operation, urls []string) int {
	if err := s.start(op, urls); err != nil {
		return shown.Misused(err)
	}
	watch := &watch{shown: shown, verbose: op.Verbose}
	shown.Show(op.Global, watch.line)
	op.Archive = plan.Archive{Path: s.Dir, Folder: true, Crawl: true, Version: op.Archive.Version, MaxSize: op.Archive.MaxSize}
	kept, err := client.OpenArchive(op.Archive)
	if err != nil {
		return shown.Misused(err)
	}
	reach := &client.Client{Streams: shown.Streams, Pause: shown.Pause, Archive: kept}
	access, err := reach.Access(ctx, op)
	if err != nil {
		return shown.Misused(errors.Join(err, kept.Close()))
	}
	access.Pick() // links are followed as if the user had chosen them, if Links permits it
	links := op.Policy.Rules
	links.PublicOnly = true
	s.Resolver, s.Links, s.Records, s.Report = access.ResolverFor(&locator.Prospero{}), links.Allow, kept, watch.event
	began := time.Now()
	timed, cancel := ctx, context.CancelFunc(func() {})
	if op.Limits.Time > 0 {
		timed, cancel = context.WithTimeout(ctx, op.Limits.Time)
	}
	defer cancel()
	sum, err := s.Run(timed)
	reach.Close()
	err = cmp.Or(err, kept.Close())
	shown.Pause() // permanently
	if n := sum.Skipped[crawl.Refused]; n > 0 && watch.refused != nil && !op.Silent {
		shown.Warn("%d links were refused, the first with: %s", n, stdio.InOptions(watch.refused.Error()))
	}
	if sum.Left != nil { // it has begun
		if err := s.print(shown, sum, time.Since(began)); err != nil {
			return fail(shown, exit.Write, err)
		}
	}
	return s.code(ctx, shown, access, err)
}

// start sets the URLs to begin with.
func (s *settings) start(op *plan.Operation, urls []string) error {
	if op.Login.Given != nil {
		return fault.Usagef("a crawl is anonymous; -u, --user cannot be used with it")
	}
	for _, url := range urls {
		t := &transfer.Result{URL: url, Call: client.Call{Access: &client.Access{Op: op}}}
		if err := t.Read(); err != nil {
			return err
		}
		if client.LoginOf(t.Locator) != nil {
			return fault.Usagef("a crawl is anonymous; the URL %s has a login", t.Locator.Redacted())
		}
		s.Start = append(s.Start, t.Locator)
	}
	return nil
}

// print prints the summary.
func (s *settings) print(shown *report.Reporter, sum crawl.Summary, took time.Duration) error {
	line, err := json.Marshal(struct {
		Dir string `json:"dir"`
		crawl.Summary
		Seconds float64 `json:"seconds"`
	}{s.Dir, sum, math.Round(took.Seconds()*1000) / 1000})
	if err == nil {
		_, err = shown.Out.Write(append(line, '\n'))
	}
	return err
}

// code reports the error of the crawl and returns the exit code.
func (s *settings) code(ctx context.Context, shown *report.Reporter, access *client.Access, err error) int {
	switch {
	case err == nil:
		return exit.OK
	case ctx.Err() != nil:
		return fail(shown, exit.OfSignal(ctx), errors.New("interrupted; run the same command again to continue"))
	case errors.Is(err, context.DeadlineExceeded):
		return fail(shown, exit.Timeout, errors.New("the time of --max-time is over; run the same command again to continue"))
	case errors.Is(err, crawl.ErrLimit):
		return fail(shown, exit.TooLarge, errors.New("a limit was reached; the summary says which, and a higher one continues"))
	}
	t := &transfer.Result{URL: s.Start[0].Redacted(), Call: client.Call{Access: access, Locator: s.Start[0]}, Err: err}
	shown.Failed(t, "")
	return report.Code(t)
}

// fail prints an error and returns code.
func fail(shown *report.Reporter, code int, err error) int {
	fmt.Fprintf(shown.Err, "fetch1738: (%d) crawl: %s\n", code, stdio.Line(err.Error()))
	return code
}

// A watch shows the crawl while it runs.
type watch struct {
	shown   *report.Reporter
	verbose bool

	mu                      sync.Mutex
	documents, failed, left int
	octets                  int64
	dead                    int
	refused                 error // the first refusal by the policy
}

// event counts an event, and prints it with -v.
func (w *watch) event(e crawl.Event) {
	w.mu.Lock()
	switch {
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
	w.left = e.Queued
	w.mu.Unlock()
	if !w.verbose {
		return
	}
	text := fmt.Sprintf("%-11s %s, %d bytes, %d new links", cmp.Or(e.Reason, "fetched"), e.URL, e.Octets, e.Links)
	if e.URL == "" {
		text = fmt.Sprintf("%-11s %s, given up", e.Reason, e.Host)
	}
	if e.Err != nil {
		text += ": " + stdio.InOptions(e.Err.Error())
	}
	fmt.Fprintln(w.shown.Err, stdio.Line(text))
}

// line returns the text of the progress line.
func (w *watch) line(progress.Totals) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprintf("%d documents, %d not fetched, %d to come, %d hosts given up, %s", w.documents, w.failed, w.left, w.dead, progress.Amount(w.octets))
}
