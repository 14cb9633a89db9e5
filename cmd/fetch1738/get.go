package main

import (
	"cmp"
	"context"
	"fmt"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/fault"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
)

// stdio.MaxMessage bounds a message of ours, in columns.
const stdio.MaxMessage = 1000

// runGet fetches, or uploads, what the arguments say. The exit code is that of
// the last URL, or of the last that failed where several are fetched at once.
func runGet(ctx context.Context, args []string, std stdio.Streams) int {
	c := newCommandLine(std)
	defer c.closeFiles()
	err := c.parseAll(args)
	switch {
	case c.global.Help:
		return run(ctx, append([]string{"help"}, c.op.URLs...), std)
	case c.global.Version:
		return c.print(showVersion(std.Out))
	case err != nil:
		code := c.misused(err)
		if len(args) > 0 && verbHint(args[0]) != "" {
			fmt.Fprintf(std.Err, "fetch1738: hint: %s\n", verbHint(args[0]))
		}
		return code
	}
	// A reader that goes away is a failed write, as any other.
	signal.Ignore(syscall.SIGPIPE)
	defer func() { c.global.environments.close() }()
	perform := c.performInTurn
	if c.global.Parallel.On {
		runtime.GOMAXPROCS(2) // of many transfers one may wait for the disk while others go on
		perform = c.performAtOnce
	}
	code := perform(ctx)
	c.global.display.Close()
	if ctx.Err() != nil {
		return signalCode(ctx)
	}
	return code
}

// performInTurn does the transfers of all operations, one after the other.
func (c *commandLine) performInTurn(ctx context.Context) int {
	c.openDisplay(nil)
	code := exitOK
	for _, op := range c.operations {
		if code = c.perform(ctx, op); stops(ctx, c.global, code) {
			break
		}
	}
	return code
}

// parseAll reads the default configuration file and the arguments.
func (c *commandLine) parseAll(args []string) error {
	var wrong error
	if !skipsDefault(args) {
		wrong = c.readDefault()
	}
	err := c.parse(args)
	c.openStderr()
	if wrong != nil || err != nil {
		return cmp.Or(wrong, err)
	}
	return c.openTrace()
}

// stops reports whether nothing more is to be done after an exit code.
func stops(ctx context.Context, g *plan.Global, code int) bool {
	return ctx.Err() != nil || code == exitUsage || code != exitOK && g.FailEarly
}

// signalCode is the exit code that tells of the signal that ended ctx.
func signalCode(ctx context.Context) int {
	if strings.HasPrefix(context.Cause(ctx).Error(), syscall.SIGTERM.String()) {
		return exitTerminated
	}
	return exitInterrupted
}

func (c *commandLine) print(err error) int {
	if err != nil {
		return exitWrite
	}
	return exitOK
}

// misused complains about the command line.
func (c *commandLine) misused(err error) int {
	if kind := fault.KindOf(err); kind != 0 && kind != fault.Usage {
		code := faultCodes()[kind]
		fmt.Fprintf(c.std.Err, "fetch1738: (%d) %s\n", code, term.SafeLine(err.Error(), stdio.MaxMessage))
		return code
	}
	fmt.Fprintf(c.std.Err, "fetch1738: %s\n", term.SafeLine(err.Error(), stdio.MaxMessage))
	fmt.Fprintln(c.std.Err, "fetch1738: try 'fetch1738 --help' for more information")
	return exitUsage
}

// perform does the transfers of one operation, one after the other.
func (c *commandLine) perform(ctx context.Context, op *plan.Operation) int {
	if err := check(op); err != nil {
		return c.misused(err)
	}
	env, err := c.environment(ctx, op)
	if err != nil {
		return c.misused(err)
	}
	code := exitOK
	for t := range env.transfers(ctx) {
		if code = t.run(ctx); stops(ctx, c.global, code) {
			break
		}
	}
	return code
}

// environment readies an operation that has been checked.
func (c *commandLine) environment(ctx context.Context, op *plan.Operation) (*environment, error) {
	if len(op.Outputs) > len(op.URLs) {
		c.warn("there are more of -o, -O and --out-null than URLs")
	}
	env, err := newEnvironment(c.std, op)
	if err == nil {
		err = env.askProxyPassword(ctx)
	}
	return env, err
}
