// Package files implements the verbs about files on servers: ls, stat, du, rm, mv and mkdir. A verb is a
// row of options and a function; a run has what all of them need, an operand is one URL.
package files

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/report"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// Commands returns the verbs.
func Commands() []cli.Command {
	var list []cli.Command
	for _, v := range []verb{lsVerb(), statVerb(), duVerb(), rmVerb(), mvVerb(), mkdirVerb()} {
		list = append(list, v.command())
	}
	return list
}

// settings holds the values of the options of all verbs.
type settings struct {
	all, long, recursive, human, itself bool // ls
	byTime, bySize, reverse             bool
	files, sums, kibibytes, flat        bool // du
	depth                               int
	force, ask, dryRun, json            bool // those that change files
	parents, hasMode                    bool // mkdir
	mode                                fs.FileMode
}

// A verb is one of the verbs.
type verb struct {
	name, summary, help string
	does                string                          // completes "rm, which ..." in an error
	least               int                             // how many URLs it takes at least
	follows             bool                            // redirects of HTTP
	options             func(s *settings) []curl.Option // in the order of their names
	familiar            func(s *settings) []curl.Option // that the commands of these names have; see familiar.go
	do                  func(ctx context.Context, r *run) error
}

// The options of curl that are of use besides those for connecting, and those for connecting that are
// not. See [curl.Besides].
const (
	useful  = " charset cookie header http1.0 http1.1 http2 http2-prior-knowledge no-buffer no-progress-meter progress-bar progress-meter referer show-error silent stderr user-agent verbose "
	useless = " continue-at exact fail-early form form-file ftp-create-dirs ftp-guess-type list-only list-views next number parallel parallel-immediate parallel-max " +
		"parallel-max-host quote range rate request segments speed-limit speed-time time-cond use-ascii view "
)

// command returns the verb as a command.
func (v verb) command() cli.Command {
	c := cli.NewClient(v.name, v.summary, v.help, func(int) cli.Client {
		s := new(settings)
		own := v.options(s)
		return cli.Client{
			Own: own, Table: curl.Besides(slices.Concat(own, v.familiar(s)), v.name+", which "+v.does, useful, useless),
			Run: func(ctx context.Context, c *curl.CommandLine, shown *report.Reporter) int {
				return v.run(ctx, c, shown, s)
			},
		}
	})
	run := c.Run
	c.Run = func(ctx context.Context, args []string, std stdio.Streams) int {
		if slices.Equal(args, []string{"-h"}) { // with a URL it is an option of some verbs
			args = []string{"--help"}
		}
		return run(ctx, args, std)
	}
	return c
}

// run performs the verb and returns the exit code.
func (v verb) run(ctx context.Context, c *curl.CommandLine, shown *report.Reporter, s *settings) int {
	op := c.Operations[0]
	if len(op.URLs) < v.least {
		what := "a URL"
		if v.least > 1 {
			what = "a URL and a new URL"
		}
		return shown.Misused(localerr.Usagef("%s requires %s; see fetch1738 %s --help", v.name, what, v.name))
	}
	op.HTTPSession.Location = v.follows
	r := &run{Reporter: shown, settings: s, verb: v, op: op}
	shown.Show(op.Global, r.line)
	r.out = stdio.CheckOutput(shown.Out)
	reach := &client.Client{Streams: shown.Streams, Pause: shown.Pause}
	defer reach.Close()
	var err error
	if r.network, err = reach.Network(ctx, op); err != nil {
		return shown.Misused(err)
	}
	timed, cancel := ctx, context.CancelFunc(func() {})
	if op.Limits.Time > 0 {
		timed, cancel = context.WithTimeout(ctx, op.Limits.Time)
	}
	defer cancel()
	err = v.do(timed, r)
	shown.Pause() // permanently
	err = cmp.Or(err, r.out.Err(), shown.Lost())
	switch {
	case ctx.Err() != nil:
		if !op.Silent && r.interrupted() != "" {
			fmt.Fprintf(shown.Err, "fetch1738: interrupted; %s\n", r.interrupted())
		}
		return exit.OfSignal(ctx)
	case timed.Err() != nil:
		return shown.Misused(localerr.Errorf(localerr.Timeout, "timed out after %vs (--max-time); %s", op.Limits.Time.Seconds(), cmp.Or(r.interrupted(), "run the same command again")))
	case err != nil:
		return shown.Misused(err)
	}
	return r.code
}

// own returns an option of a verb.
func own(short, long, help string, field *bool) curl.Option {
	return curl.Option{Short: short, Long: long, Groups: "files", Help: help, Set: curl.OnOff(field), Curl: curl.Own}
}

// verbose returns -v, which names paths. Given twice it is that of curl, too.
func verbose(help string) curl.Option {
	return curl.Option{Short: "v", Long: "verbose", Groups: "files", Help: help + "; -vv also shows the conversation", Set: curl.SetVerbosity, Curl: curl.Own}
}
