package main

import (
	"context"
	"errors"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/internal/pace"
)

const mirrorHelp = `Usage: fetch1738 mirror [option]... URL DIR

Copies what is below URL into the folder DIR: the tree of an ftp or file
directory, the menus and documents of a gopher hole, the articles of a
newsgroup. Done again it fetches only what is new or has changed, goes on where
it was cut off, and says what has disappeared. DIR/.fetch1738/manifest.jsonl is
the list of all files.

  $ fetch1738 mirror --exclude '*.iso' ftp://ftp.example.org/pub/ pub

The options for connecting (-u, -n, -x, --proto, --retry, --news-server and so
on) are as without a verb, and these are mirror's own:

`

// runMirror is the verb mirror.
func runMirror(ctx context.Context, args []string, std stdio.Streams) int {
	c := newCommandLine(std)
	settings := new(mirrorSettings)
	c.table = settings.table()
	defer c.closeFiles()
	err := c.parseAll(args)
	switch {
	case c.global.Help:
		return c.print(showMirrorHelp(std.Out))
	case c.global.Version:
		return c.print(showVersion(std.Out))
	case err == nil && len(c.op.URLs) != 2:
		err = fault.Usagef("mirror wants a URL and a folder for the copy; see fetch1738 mirror --help")
	}
	if err == nil && !plan.HasScheme(c.op.URLs[0]) && plan.HasScheme(c.op.URLs[1]) {
		err = fault.Usagef("the URL comes before the folder: fetch1738 mirror URL DIR")
	}
	if err != nil {
		return c.misused(err)
	}
	signal.Ignore(syscall.SIGPIPE)
	return c.mirror(ctx, settings, c.op.URLs[0], c.op.URLs[1])
}

func showMirrorHelp(w io.Writer) error {
	var b strings.Builder
	b.WriteString(mirrorHelp)
	for _, o := range mirrorOptions() {
		b.WriteString(helpLine(o))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// mirror makes or renews a copy. It returns the exit code.
func (c *commandLine) mirror(ctx context.Context, s *mirrorSettings, url, dir string) int {
	t := &transfer{url: url}
	show := &mirrorReport{t: t, dry: s.DryRun}
	c.openDisplay(show.line)
	defer c.global.display.Close()
	env, err := newEnvironment(c.std, c.op)
	if err != nil {
		return c.misused(err)
	}
	defer c.global.environments.close()
	if err := env.askProxyPassword(ctx); err != nil {
		return c.misused(err)
	}
	t.environment = env
	t.account.start = time.Now()
	err = t.mirrored(ctx, s, dir, show)
	switch {
	case ctx.Err() != nil:
		return signalCode(ctx)
	case err == nil && show.broken != nil:
		return exitWrite
	case err == nil:
		return exitOK
	}
	t.err = err
	t.code = t.exitCode()
	show.complain()
	return t.code
}

// mirrored is mirror with the transfer that stands for all of it.
func (t *transfer) mirrored(ctx context.Context, s *mirrorSettings, dir string, show *mirrorReport) (err error) {
	if err := t.readURL(); err != nil {
		return err
	}
	if t.gateway() != "" || t.askedProxy(t.locator) != nil {
		return fault.Usagef("mirror cannot list directories through a gateway or an http proxy that is asked for URLs; -p, --proxytunnel makes a tunnel")
	}
	if err := t.authenticate(); err != nil {
		return err
	}
	t.picked.Store(true) // a tree is what its listings lead to; the Mirror stays on the server
	t.sink = &sink{path: dir}
	m := s.Mirror
	m.Fetcher, m.Start, m.Dir, m.Report, m.Again = t.resolver, t.locator, dir, show.event, t.mirrorAgain
	m.Rate = t.op.Limits.Rate
	req, err := requestFor(t.op, t.locator)
	if err != nil {
		return err
	}
	m.Options = req.Options
	ctx = t.account.watch(context.WithValue(ctx, transferKey{}, t), false)
	if t.narrator = t.newTracer(); t.narrator != nil {
		ctx = t.narrator.watch(ctx)
	}
	if t.op.Limits.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.op.Limits.Time)
		defer cancel()
	}
	sum, err := m.Run(ctx)
	t.op.display.Pause() // for good
	show.summary(sum)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		err = fault.Errorf(fault.Timeout, "not done after %v; the same command goes on", t.op.Limits.Time)
	}
	return err
}

// mirrorAgain decides about a request that failed for the n-th time, and waits.
func (t *transfer) mirrorAgain(ctx context.Context, n int, err error) bool {
	if n >= t.op.Retry.Times || !t.transient(err) {
		return false
	}
	wait, inTime := t.retryWait(n)
	if !inTime {
		return false
	}
	t.warn("%v; trying again in %v", err, wait)
	return pace.Sleep(ctx, wait) == nil
}
