// Package mirror implements the mirror command, which keeps a local copy of a tree up to date.
package mirror

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/report"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/deploy"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/urls/typed"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
)

const mirrorHelp = `Usage: fetch1738 mirror [option]... URL DIR
       fetch1738 mirror [option]... DIR URL

Copies what is below URL into the folder DIR: the tree of an ftp or file
directory, the menus and documents of a gopher site, the articles of a
newsgroup. Run again, it fetches only new and changed files, resumes incomplete
ones, and reports files that were deleted on the server. The file
DIR/.fetch1738/manifest.jsonl lists all files.

  $ fetch1738 mirror --exclude '*.iso' ftp://ftp.example.org/pub/ pub

With the folder first, brings the files of DIR to an ftp, ftps or file
directory, or by PUT to a web server. Run again, it sends only what differs.
Files that DIR/.fetch1738ignore lists, as .gitignore does, are not sent.

  $ fetch1738 mirror --delete site ftp://user@ftp.example.org/htdocs/

The options for connecting (-u, -n, -x, --proto, --retry, --news-server and so
on) work as without a verb. The following options are for mirror only:
`

// Command returns the mirror command.
func Command() cli.Command {
	return cli.NewClient("mirror", "keep a copy of a directory tree, gopher site or newsgroup; upload a tree", mirrorHelp, func(int) cli.Client {
		s := new(settings)
		return cli.Client{Own: s.options(), Table: s.table(), Run: s.run}
	})
}

// run performs the command and returns its exit code.
func (s *settings) run(ctx context.Context, c *curl.CommandLine, shown *report.Reporter) int {
	urls := c.URLs()
	if len(urls) == 1 && strings.HasPrefix(strings.ToLower(urls[0]), "http") && typed.HasKnownScheme(urls[0]) {
		return shown.Misused(localerr.Usagef("mirror requires a folder too, and a web server lists no files; to record a web site: fetch1738 crawl --http --same-host --dir DIR URL"))
	}
	if len(urls) != 2 {
		return shown.Misused(localerr.Usagef("mirror requires a URL and a folder: fetch1738 mirror URL DIR, or to upload fetch1738 mirror DIR URL; see fetch1738 mirror --help"))
	}
	url, dir := urls[0], urls[1]
	if typed.HasKnownScheme(dir) && !typed.HasKnownScheme(url) {
		url, dir = dir, url
		s.isUpload = true
	}
	err := s.check(disk.Of(ctx), dir)
	if err == nil && s.isUpload {
		s.upload.StateDir, err = stateDir(s.upload.State)
	}
	if err != nil {
		return shown.Misused(err)
	}
	return copyTree(ctx, s, shown, c.Operations[0], url, dir)
}

// copyTree creates or updates a copy and returns the exit code.
func copyTree(ctx context.Context, s *settings, shown *report.Reporter, op *plan.Operation, url, dir string) int {
	t := &transfer.Result{Task: transfer.Task{URL: url}, Sink: output.At(dir)}
	rep := &mirrorReport{t: t, reporter: shown, dry: s.DryRun, json: s.json, upload: s.isUpload}
	rep.gauge = gauge{meter: shown.Meter, moved: t.Account.Moved.Load, upload: rep.upload}
	shown.Show(op.Global, func(progress.Totals) string { return rep.gauge.line() })
	rep.out = stdio.CheckOutput(shown.Out)
	kept, err := client.OpenArchive(op.Archive)
	if err != nil {
		return shown.Misused(err)
	}
	reach := &client.Client{Streams: shown.Streams, Pause: shown.Pause, Archive: kept}
	defer reach.Close()
	network, err := reach.Network(ctx, op)
	if err != nil {
		kept.Close()
		return shown.Misused(err)
	}
	t.Network, t.Out = network, shown.Out
	t.Account.Begin()
	t.Err = runMirror(ctx, t, s, dir, rep)
	t.Err = cmp.Or(t.Err, kept.Close(), rep.out.Err(), shown.Lost())
	switch {
	case ctx.Err() != nil:
		if !op.Silent && !s.DryRun {
			shown.Stopped("interrupted", rep.gauge.reached(), true)
		}
		return exit.OfSignal(ctx)
	case t.Err == nil:
		return exit.OK
	}
	if rep.complain(); rep.failures.ended && !op.Silent && !s.DryRun {
		shown.Stopped("stopped", rep.gauge.reached(), rep.failures.again)
	}
	return report.Code(t)
}

// runMirror runs the mirror. t represents the whole run.
func runMirror(ctx context.Context, t *transfer.Result, s *settings, dir string, rep *mirrorReport) (err error) {
	if err := t.Read(); err != nil {
		return err
	}
	if last := output.LastSegment(t.Locator, t.URL); !s.isUpload && output.Pattern(t.Locator, t.URL) != nil && strings.ContainsAny(last, "*?") {
		return localerr.Usagef("mirror copies whole directories; for the files that match %[1]s: fetch1738 mirror --include '%[1]s' URL/ FOLDER, with the URL of their directory", last)
	}
	if t.Gateway() != "" || t.AskedProxy(t.Locator) != nil {
		return localerr.Usagef("mirror cannot list directories through a gateway or a forwarding HTTP proxy; use -p, --proxytunnel")
	}
	if err := t.Authenticate(); err != nil {
		return err
	}
	t.Pick() // every URL comes from a listing; the Mirror stays on the server
	req, err := client.Request(t.Op, t.Locator)
	if err != nil {
		return err
	}
	ctx = rep.reporter.Watch(t.Account.Watch(t.Context(ctx), nil, false), t)
	if t.Op.Limits.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.Op.Limits.Time)
		defer cancel()
	}
	var log *progress.Log
	if !s.json {
		log = rep.reporter.Tell(t.Op.Global, rep.gauge.log)
	}
	var sum summary
	if s.isUpload {
		sum, err = s.send(ctx, t, req.Options, dir, rep)
	} else {
		sum.Summary, err = s.copy(ctx, t, req.Options, dir, rep)
	}
	rep.reporter.Pause() // permanently
	log.Close()
	if ctx.Err() != nil {
		report.ClearKey(rep.reporter)
	}
	rep.summary(sum, ctx.Err() != nil || rep.failures.ended)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		err = localerr.Errorf(localerr.Timeout, "timed out after %vs (--max-time); run the same command again to continue", t.Op.Limits.Time.Seconds())
	}
	return err
}

// copy copies the tree into dir.
func (s *settings) copy(ctx context.Context, t *transfer.Result, options any, dir string, rep *mirrorReport) (mirror.Summary, error) {
	m := s.Mirror
	m.Fetcher, m.Start, m.Dir, m.Options = t.Resolver, t.Locator, dir, options
	m.Retry, m.Rate = t.AwaitRetry, t.Op.Limits.Rate
	m.Report = func(e mirror.Event) { rep.event(ofCopy(e)) }
	if l, isNews := t.Locator.(*locator.News); isNews && l.Host == "" {
		m.NewsServer = strings.ToLower(plan.NewsServer(t.Op.NewsServer))
	}
	return m.Run(ctx)
}

// send brings the files of dir to the server. If dir is a copy, they get the names of its server.
func (s *settings) send(ctx context.Context, t *transfer.Result, options any, dir string, rep *mirrorReport) (summary, error) {
	names, err := mirror.ServerNames(ctx, dir, t.Locator, s.Names)
	if err != nil {
		return summary{}, err
	}
	u := s.upload
	u.Fetcher, u.Start, u.Dir, u.Options, u.ServerName = t.Resolver, t.Locator, dir, options, names
	u.Include, u.Exclude, u.Depth, u.MaxEntries = s.Include, s.Exclude, s.Depth, s.MaxEntries
	u.Connections, u.Wait, u.Rate, u.Retry = s.Connections, s.Wait, t.Op.Limits.Rate, t.AwaitRetry
	u.Delete, u.MaxDelete, u.NewOnly, u.DryRun = s.Delete, s.MaxDelete, s.NewOnly, s.DryRun
	u.Report = func(e deploy.Event) { rep.event(ofUpload(e)) }
	sum, err := u.Run(ctx)
	return uploaded(sum), err
}
