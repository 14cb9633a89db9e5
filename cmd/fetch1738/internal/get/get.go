// Package get is the program without a verb: it fetches and uploads.
package get

import (
	"context"
	"fmt"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/dialogue"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/report"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// Verbs are the verbs, for hints and --help, and what only the program itself may do.
type Verbs struct {
	Names   []string
	Help    func(ctx context.Context, args []string, std stdio.Streams) int // the verb help
	Lasting func()                                                          // of [transfer.Engine]
}

// Run is the program without a verb. It returns the exit code of the last URL, or with -Z
// that of the last transfer that failed.
func Run(ctx context.Context, args []string, std stdio.Streams, verbs Verbs) int {
	shown := &report.Reporter{Streams: std, Disk: disk.Of(ctx), Verbs: verbs.Names}
	defer shown.Close()
	c := curl.New(std, curl.Options())
	err := c.Parse(args)
	shown.Redirect(c.Stderr)
	if err == nil {
		err = shown.Open(c.Global.Trace)
	}
	switch {
	case c.Help:
		return verbs.Help(ctx, c.URLs(), std)
	case c.Version:
		return cli.Print(std, cli.Version())
	case err != nil:
		code := shown.Misused(err)
		if len(args) > 0 && shown.WordHint(args[0]) != "" {
			fmt.Fprintf(std.Err, "fetch1738: hint: %s\n", shown.WordHint(args[0]))
		}
		return code
	}
	if text := shown.NoVerb(c.URLs()); text != "" {
		fmt.Fprintf(shown.Err, "fetch1738: (%d) %s\n", exit.Usage, text)
		return exit.Usage
	}
	perform := inTurn
	if c.Global.Parallel.On {
		perform = atOnce
	}
	kept, err := openArchive(c)
	if err != nil {
		return shown.Misused(err)
	}
	jar, err := readCookies(c, std)
	if err != nil {
		return shown.Misused(err)
	}
	code := perform(ctx, c.Operations, shown, func() (*transfer.Engine, func()) { return newEngine(shown, kept, verbs.Lasting) })
	if err := kept.Close(); err != nil && code == exit.OK {
		code = shown.Misused(err)
	}
	if err := writeCookies(ctx, c, std, jar); err != nil && code == exit.OK {
		code = shown.Misused(err)
	}
	if ctx.Err() != nil {
		return exit.OfSignal(ctx)
	}
	if code == exit.OK {
		cli.NoteServers(std.Notes, c, args)
	}
	return code
}

// openArchive opens the file of --warc, if the options can be combined with that.
func openArchive(c *curl.CommandLine) (*client.Archive, error) {
	if c.Global.Archive.Path != "" {
		for _, op := range c.Operations {
			if err := curl.Check(op); err != nil {
				return nil, err
			}
		}
	}
	return client.OpenArchive(c.Global.Archive)
}

// inTurn performs Operations one after the other.
func inTurn(ctx context.Context, ops []*plan.Operation, shown *report.Reporter, newEngine engines) int {
	shown.Show(ops[0].Global, nil)
	engine, done := newEngine()
	defer done()
	code, lost := exit.OK, false
	for _, op := range ops {
		code = exit.OK
		err := curl.Check(op)
		if err == nil {
			warnOfOutputs(engine.Client, op)
			var last *transfer.Result
			if last, err = engine.InTurn(ctx, op); last != nil {
				code, lost = report.Code(last), localerr.KindOf(last.Err) == localerr.Output
			}
		}
		if err != nil {
			code = shown.Misused(err)
		}
		if ctx.Err() != nil || code == exit.Usage || code != exit.OK && op.FailEarly || lost {
			break
		}
	}
	return code
}

// atOnce performs Operations in parallel.
func atOnce(ctx context.Context, ops []*plan.Operation, shown *report.Reporter, newEngine engines) int {
	for _, op := range ops {
		if err := curl.Check(op); err != nil {
			return shown.Misused(err)
		}
	}
	shown.ShowAll(ops)
	engine, done := newEngine()
	defer done()
	for _, op := range ops {
		warnOfOutputs(engine.Client, op)
	}
	last, err := engine.AtOnce(ctx, ops)
	switch {
	case localerr.KindOf(err) == localerr.Output && ops[0].Silent:
		return exit.Write
	case err != nil:
		return shown.Misused(err)
	case last != nil:
		return report.Code(last)
	}
	return exit.OK
}

// engines returns an Engine. The caller must call done.
type engines func() (engine *transfer.Engine, done func())

// newEngine returns an Engine with the events of shown. The caller must call done.
func newEngine(shown *report.Reporter, kept *client.Archive, lasting func()) (engine *transfer.Engine, done func()) {
	c := &client.Client{Streams: shown.Streams, Pause: shown.Pause, Archive: kept}
	return &transfer.Engine{
		Client: c, In: shown.In, Out: shown.Out, Err: shown.Err, Events: shown, Lasting: lasting,
		Console: &dialogue.Console{Streams: shown.Streams, Pause: shown.Pause},
	}, c.Close
}

// warnOfOutputs warns that some of the outputs are for no URL.
func warnOfOutputs(c *client.Client, op *plan.Operation) {
	if len(op.Outputs) > len(op.URLs) && !op.Silent {
		c.Streams.Warn("there are more output options (-o, -O, --out-null) than URLs")
	}
}
