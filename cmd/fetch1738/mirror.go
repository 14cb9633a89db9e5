package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/fetch1738/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/mirror"
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
func runMirror(ctx context.Context, args []string, std streams) int {
	c := newCommandLine(std)
	settings := new(mirrorSettings)
	c.table = settings.table()
	defer c.closeFiles()
	err := c.parseAll(args)
	switch {
	case c.global.help:
		return c.print(showMirrorHelp(std.out))
	case c.global.version:
		return c.print(showVersion(std.out))
	case err == nil && len(c.op.urls) != 2:
		err = &usageError{"mirror wants a URL and a folder for the copy; see fetch1738 mirror --help"}
	}
	if err != nil {
		return c.misused(err)
	}
	signal.Ignore(syscall.SIGPIPE)
	code := c.mirror(ctx, settings, c.op.urls[0], c.op.urls[1])
	if ctx.Err() != nil {
		return signalCode(ctx)
	}
	return code
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
	env, err := newEnvironment(c.std, c.op)
	if err != nil {
		return c.misused(err)
	}
	defer c.global.environments.close()
	if err := env.askProxyPassword(ctx); err != nil {
		return c.misused(err)
	}
	t := &transfer{environment: env, url: url}
	t.account.start = time.Now()
	show := newMirrorDisplay(t, s.DryRun)
	err = t.mirrored(ctx, s, dir, show)
	show.end()
	switch {
	case err == nil && show.broken != nil:
		return exitWrite
	case err == nil:
		return exitOK
	}
	t.err = err
	t.code = t.exitCode()
	show.complain(t)
	return t.code
}

// mirrored is mirror with the transfer that stands for all of it.
func (t *transfer) mirrored(ctx context.Context, s *mirrorSettings, dir string, show *mirrorDisplay) (err error) {
	if t.locator, err = t.op.parseURL(t.url); err != nil {
		return err
	}
	if scheme := t.locator.Scheme(); !t.op.proto.has(scheme) {
		return &codedError{exitUnsupported, fmt.Errorf("the scheme %q is switched off by --proto", scheme)}
	}
	if t.op.gateways[t.locator.Scheme()] != "" || t.askedProxy(t.locator) != nil {
		return &usageError{"mirror cannot list directories through a gateway or an http proxy that is asked for URLs; -p, --proxytunnel makes a tunnel"}
	}
	if err := t.authenticate(); err != nil {
		return err
	}
	t.picked.Store(true) // a tree is what its listings lead to; the Mirror stays on the server
	t.sink = &sink{path: dir}
	m := s.Mirror
	m.Fetcher, m.Start, m.Dir, m.Report, m.Again = t.resolver, t.locator, dir, show.event, t.mirrorAgain
	m.Rate = t.op.limitRate
	req, err := t.op.request(t.locator)
	if err != nil {
		return err
	}
	m.Options = req.Options
	ctx = t.account.watch(context.WithValue(ctx, transferKey{}, t), false)
	if t.narrator = t.newTracer(); t.narrator != nil {
		ctx = t.narrator.watch(ctx)
	}
	if t.op.maxTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.op.maxTime)
		defer cancel()
	}
	sum, err := m.Run(ctx)
	show.summary(sum)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
		err = &codedError{exitTimeout, fmt.Errorf("not done after %v; the same command goes on", t.op.maxTime)}
	}
	return err
}

// mirrorAgain decides about a request that failed for the n-th time, and waits.
func (t *transfer) mirrorAgain(ctx context.Context, n int, err error) bool {
	if n >= t.op.retry || !t.transient(err) {
		return false
	}
	wait := t.op.retryDelay
	if wait == 0 {
		wait = min(time.Second<<min(n, 20), maxRetryWait)
	}
	if limit := t.op.retryMaxTime; limit > 0 && time.Since(t.account.start)+wait > limit {
		return false
	}
	t.warn("%v; trying again in %v", err, wait)
	select {
	case <-ctx.Done():
		return false
	case <-time.After(wait):
		return true
	}
}

// mirrorDisplay tells of a mirror: files that disappeared on standard output,
// with -v and in a dry run all of them, failures on standard error, and on a
// terminal how far it is.
type mirrorDisplay struct {
	t      *transfer
	dry    bool
	line   *mirrorLine
	first  error // that was told of
	broken error // of standard output
}

// say writes a line to standard output.
func (d *mirrorDisplay) say(text string) {
	d.line.clear()
	if _, err := fmt.Fprintln(d.t.std.out, text); err != nil {
		d.broken = err
	}
}

func newMirrorDisplay(t *transfer, dry bool) *mirrorDisplay {
	return &mirrorDisplay{t: t, dry: dry, line: startMirrorLine(t)}
}

// event shows one.
func (d *mirrorDisplay) event(e mirror.Event) {
	d.line.event(e)
	switch e.Action {
	case mirror.Listed, mirror.Planned, mirror.Started, mirror.Unchanged:
		return
	case mirror.Failed:
		d.failed(e)
		return
	case mirror.Added, mirror.Replaced, mirror.Checked:
		if !d.t.op.verbose && !d.dry {
			return
		}
	case mirror.Skipped:
		if !d.t.op.verbose {
			return
		}
	}
	if d.t.op.silent {
		return
	}
	text := fmt.Sprintf("%-8s %s", e.Action, e.File)
	if d.dry && e.Size >= 0 {
		text += fmt.Sprintf(", %d octets", e.Size)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	d.say(term.SafeLine(text, maxMessage))
}

// failed complains about a file, or a listing.
func (d *mirrorDisplay) failed(e mirror.Event) {
	if d.first == nil {
		d.first = e.Err
	}
	one := transfer{environment: d.t.environment, locator: d.t.locator, err: e.Err}
	one.code = one.exitCode()
	if e.File != "" && !strings.Contains(one.message(), e.File) {
		one.err = fmt.Errorf("%s: %w", e.File, e.Err)
	}
	d.line.clear()
	one.complain()
}

// summary shows what was done, in a line.
func (d *mirrorDisplay) summary(s mirror.Summary) {
	if d.t.op.silent {
		return
	}
	took := time.Since(d.t.account.start).Seconds()
	d.say(fmt.Sprintf("%d new, %d changed, %d unchanged, %d gone, %d skipped, %d failed; %d octets in %.1f s",
		s.New, s.Changed, s.Unchanged, s.Gone, s.Skipped, s.Failed, s.Octets, took))
}

// complain says why the mirror failed unless an event has.
func (d *mirrorDisplay) complain(t *transfer) {
	if d.first != t.err {
		t.complain()
	}
}

func (d *mirrorDisplay) end() { d.line.end() }
