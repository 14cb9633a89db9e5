// Package mirror is the verb mirror: it keeps a copy of a tree.
package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/help"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/report"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/internal/pace"
)

const mirrorHelp = `Usage: fetch1738 mirror [option]... URL DIR

Copies what is below URL into the folder DIR: the tree of an ftp or file
directory, the menus and documents of a gopher site, the articles of a
newsgroup. Run again, it fetches only new and changed files, resumes where it
stopped, and reports files that are gone. DIR/.fetch1738/manifest.jsonl lists
all files.

  $ fetch1738 mirror --exclude '*.iso' ftp://ftp.example.org/pub/ pub

The options for connecting (-u, -n, -x, --proto, --retry, --news-server and so
on) work as without a verb. These belong to mirror alone:
`

// Command is the verb.
func Command() cli.Command {
	return cli.Command{
		Name: "mirror", Summary: "keep a copy of a directory tree, gopher site or newsgroup", Run: run,
		Options: func() []curl.Option { return new(settings).options() },
		Help:    helpText,
	}
}

func run(ctx context.Context, args []string, std stdio.Streams) int {
	s := new(settings)
	shown := &report.Reporter{Streams: std}
	defer shown.Close()
	c := curl.New(std, s.table())
	err := c.Parse(args)
	shown.Redirect(c.Stderr)
	if err == nil {
		err = shown.Open(c.Global.Trace)
	}
	urls := c.URLs()
	switch {
	case c.Help:
		_, err := io.WriteString(std.Out, helpText(cli.Width(std.Out)))
		return written(err)
	case c.Version:
		return written(help.Version(std.Out))
	case err == nil && len(urls) != 2:
		err = fault.Usagef("mirror wants a URL and a folder for the copy; see fetch1738 mirror --help")
	}
	if err == nil && !plan.HasScheme(urls[0]) && plan.HasScheme(urls[1]) {
		err = fault.Usagef("the URL comes before the folder: fetch1738 mirror URL DIR")
	}
	if err != nil {
		return shown.Misused(err)
	}
	signal.Ignore(syscall.SIGPIPE)
	return copyTree(ctx, s, shown, c.Operations[0], urls[0], urls[1])
}

// written is the exit code of text that has been written, or not.
func written(err error) int {
	if err != nil {
		return exit.Write
	}
	return exit.OK
}

// helpText is the help on so many columns.
func helpText(width int) string {
	return cli.Prose(mirrorHelp, width) + "\n" + cli.Options(new(settings).options(), width)
}

// copyTree makes or renews a copy. It returns the exit code.
func copyTree(ctx context.Context, s *settings, shown *report.Reporter, op *plan.Operation, url, dir string) int {
	t := &transfer.Result{URL: url, Sink: output.At(dir)}
	told := &mirrorReport{t: t, reporter: shown, dry: s.DryRun}
	shown.Show(op.Global, told.line)
	reach := &client.Client{Streams: shown.Streams, Pause: shown.Pause}
	defer reach.Close()
	access, err := reach.Access(ctx, op)
	if err != nil {
		return shown.Misused(err)
	}
	t.Access, t.Out = access, shown.Out
	t.Account.Begin()
	t.Err = mirrored(ctx, t, s, dir, told)
	switch {
	case ctx.Err() != nil:
		if !op.Silent && !s.DryRun {
			fmt.Fprintln(shown.Err, "fetch1738: interrupted; run the same command again to continue")
		}
		return exit.OfSignal(ctx)
	case t.Err == nil && told.broken != nil:
		return exit.Write
	case t.Err == nil:
		return exit.OK
	}
	told.complain()
	return report.Code(t)
}

// mirrored is copyTree with the transfer that stands for all of it.
func mirrored(ctx context.Context, t *transfer.Result, s *settings, dir string, told *mirrorReport) (err error) {
	if err := t.Read(); err != nil {
		return err
	}
	if t.Gateway() != "" || t.AskedProxy(t.Locator) != nil {
		return fault.Usagef("mirror cannot list directories through a gateway or an http proxy that is asked for URLs; -p, --proxytunnel makes a tunnel")
	}
	if err := t.Authenticate(); err != nil {
		return err
	}
	t.Pick() // a tree is what its listings lead to; the Mirror stays on the server
	m := s.Mirror
	m.Fetcher, m.Start, m.Dir, m.Report = t.Resolver, t.Locator, dir, told.event
	m.Again = func(ctx context.Context, n int, err error) bool { return again(ctx, t, n, err) }
	m.Rate = t.Op.Limits.Rate
	req, err := client.Request(t.Op, t.Locator)
	if err != nil {
		return err
	}
	m.Options = req.Options
	ctx = told.reporter.Watch(t.Account.Watch(t.Context(ctx), false), t)
	if t.Op.Limits.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.Op.Limits.Time)
		defer cancel()
	}
	sum, err := m.Run(ctx)
	told.reporter.Pause() // for good
	told.summary(sum)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		err = fault.Errorf(fault.Timeout, "timed out after %vs (--max-time); run the same command again to continue", t.Op.Limits.Time.Seconds())
	}
	return err
}

// again decides about a request that failed for the n-th time, and waits.
func again(ctx context.Context, t *transfer.Result, n int, err error) bool {
	if n >= t.Op.Retry.Times || !t.Transient(err) {
		return false
	}
	wait, inTime := t.Wait(n, 0)
	if !inTime {
		return false
	}
	t.Warn("%v; retrying in %v", err, wait)
	return pace.Sleep(ctx, wait) == nil
}
