// Package crawl implements the crawl command, which copies documents over links and hosts into WARC
// files.
package crawl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
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

Interrupted, it continues when the same command is run again. A line at the end says
what was fetched and what was not; with --json it is JSON. DIR/hosts.jsonl has a line
for each host.

The exit code is 0 if the crawl is complete, 63 if a limit was reached, 120 if nothing
that is linked may be fetched, and that of the URL if one on the command line failed.
The options for connecting (-x, --proto,
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
		return shown.Misused(localerr.Usagef("crawl requires a URL; see fetch1738 crawl --help"))
	case s.Dir == "":
		return shown.Misused(localerr.Usagef("crawl requires --dir DIR, the folder of the crawl"))
	}
	return s.crawl(ctx, shown, c.Operations[0], c.URLs())
}

// crawl runs the crawl and returns the exit code.
func (s *settings) crawl(ctx context.Context, shown *report.Reporter, op *plan.Operation, urls []string) int {
	if err := s.start(op, urls); err != nil {
		return shown.Misused(err)
	}
	watch := &watch{shown: shown, verbose: op.Verbose, silent: op.Silent, began: time.Now(), left: len(s.Start), typed: s.hosts()}
	shown.Show(op.Global, watch.line)
	op.Archive = plan.Archive{Path: s.Dir, Folder: true, Crawl: true, Version: op.Archive.Version, MaxSize: op.Archive.MaxSize}
	kept, err := client.OpenArchive(op.Archive)
	if err != nil {
		return shown.Misused(err)
	}
	reach := &client.Client{Streams: shown.Streams, Pause: shown.Pause, Archive: kept}
	network, err := reach.Network(ctx, op)
	if err != nil {
		return shown.Misused(errors.Join(err, kept.Close()))
	}
	network.Pick() // links are followed as if the user had chosen them, if Links permits it
	links := op.Policy.Rules
	links.PublicOnly = true
	s.Resolver, s.Links, s.Records, s.Report = network.ResolverFor(&locator.Prospero{}), links.Allow, kept, watch.event
	timed, cancel := ctx, context.CancelFunc(func() {})
	if op.Limits.Time > 0 {
		timed, cancel = context.WithTimeout(ctx, op.Limits.Time)
	}
	defer cancel()
	sum, err := s.Run(timed)
	reach.Close()
	err = cmp.Or(err, kept.Close())
	shown.Pause() // permanently
	if ctx.Err() != nil {
		report.ClearKey(shown)
	}
	if n := sum.Skipped[crawl.Refused]; n > 0 && watch.refused != nil && !op.Silent && !errors.Is(err, crawl.ErrRefused) {
		shown.Warn("%d links were refused, the first with: %s", n, stdio.InOptions(watch.refused.Error()))
	}
	if sum.Left != nil && (s.json || !op.Silent) { // it has begun
		if err := s.print(shown, sum, watch); err != nil {
			return fail(shown, exit.Write, stdio.OutputError(err))
		}
	}
	return s.code(ctx, shown, network, err)
}

// start sets the URLs to begin with.
func (s *settings) start(op *plan.Operation, urls []string) error {
	if op.Login.Given != nil {
		return localerr.Usagef("a crawl is anonymous; -u, --user cannot be used with it")
	}
	for _, url := range urls {
		t := &transfer.Result{Call: client.Call{Network: &client.Network{Op: op}}, Task: transfer.Task{URL: url}}
		if err := t.Read(); err != nil {
			return err
		}
		if client.LoginOf(t.Locator) != nil {
			return localerr.Usagef("a crawl is anonymous; the URL %s has a login", t.Locator.Redacted())
		}
		s.Start = append(s.Start, t.Locator)
	}
	return nil
}

// code reports the error of the crawl and returns the exit code.
func (s *settings) code(ctx context.Context, shown *report.Reporter, network *client.Network, err error) int {
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
	t := &transfer.Result{Call: client.Call{Network: network, Locator: s.Start[0]}, Task: transfer.Task{URL: s.Start[0].Redacted()}, Err: err}
	if errors.Is(err, crawl.ErrRefused) {
		return fail(shown, report.Code(t), errors.New(stdio.InOptions(err.Error())+"; then run the same command again"))
	}
	shown.Failed(t)
	return report.Code(t)
}

// fail prints an error and returns code.
func fail(shown *report.Reporter, code int, err error) int {
	shown.Complain(err, fmt.Sprintf("fetch1738: (%d) crawl: %s", code, stdio.Line(err.Error())))
	return code
}
