// Command fetch1738-crawl crawls with several processes, on one machine or many. Its nodes share the
// work over a NATS server, which a node can start itself.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/fetch1738/fetch1738/internal/urls/typed"
	"github.com/fetch1738/fetch1738/scale"
	"github.com/fetch1738/fetch1738/scale/nats"
)

// program is the name of the command in its messages.
const program = "fetch1738-crawl"

// streams are the standard streams of the program.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// hooks are for tests: they change what the command line has set. In the program they are zero.
type hooks struct {
	// node is called before the Node of the verb node runs.
	node func(*scale.Node)
	// nats is called before a verb connects to the NATS server.
	nats func(*nats.Options)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the verb node waits for a second signal; it ends any other verb at once
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}, hooks{})
	stop()
	os.Exit(code)
}

// A verb is a command of the program. define adds its options, and returns the function to run after
// they are parsed.
type verb struct {
	name, summary string
	define        func(*command) func(context.Context) error
	help          string
}

// verbs returns all verbs, in the order of the help.
func verbs() []verb {
	return []verb{
		{"node", "crawl, and start a NATS server unless it joins one", defineNode, nodeHelp},
		{"add", "add URLs to the crawl", defineAdd, addHelp},
		{"status", "show the state of the crawl and its nodes", defineStatus, statusHelp},
		{"drain", "stop nodes without losing work", defineDrain, drainHelp},
		{"export", "copy the WARC files of the crawl to a folder", defineExport, exportHelp},
	}
}

// A command is the command line of a verb.
type command struct {
	*pflag.FlagSet
	std   streams
	hooks hooks
	help  string
}

// newCommand returns the command of a verb, and the function to run after its options are parsed.
func newCommand(v verb, std streams, h hooks) (*command, func(context.Context) error) {
	c := &command{FlagSet: pflag.NewFlagSet(v.name, pflag.ContinueOnError), std: std, hooks: h, help: v.help}
	c.SetOutput(io.Discard)
	return c, v.define(c)
}

// run runs the program with args and returns the exit code. When ctx ends, the verb node drains, and
// any other verb ends.
func run(ctx context.Context, args []string, std streams, h hooks) int {
	if len(args) == 0 {
		return fail(std, "", usagef("a verb is required: %s; see %s --help", verbNames(), program))
	}
	switch name := args[0]; {
	case name == "--help" || name == "-h" || name == "help" && len(args) == 1:
		return fail(std, "", write(std, helpText()))
	case name == "--version" || name == "-V":
		return fail(std, "", write(std, program+" "+version()+"\n"))
	case name == "help":
		args = []string{args[1], "--help"}
	}
	for _, v := range verbs() {
		if v.name == args[0] {
			c, work := newCommand(v, std, h)
			return fail(std, v.name, c.do(ctx, args[1:], work))
		}
	}
	return fail(std, "", usagef("unknown verb %q: the verbs are %s", args[0], verbNames()))
}

// do parses args and runs the verb.
func (c *command) do(ctx context.Context, args []string, work func(context.Context) error) error {
	switch err := c.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return write(c.std, c.text())
	case err != nil:
		return usagef("%w%s; see %s %s --help", err, c.meant(err), program, c.Name())
	}
	err := work(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return &failure{codeOf(context.Cause(ctx)), errors.New("interrupted")}
	}
	return err
}

// meant suggests the option that a misspelt one is most similar to.
func (c *command) meant(err error) string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return ""
	}
	var names []string
	c.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := typed.Nearest(unknown.GetSpecifiedName(), names); near != "" {
		return "; did you mean --" + near + "?"
	}
	return ""
}

// warn prints a warning.
func (c *command) warn(format string, args ...any) {
	fmt.Fprintf(c.std.err, "%s: warning: %s\n", program, printable(fmt.Sprintf(format, args...)))
}

// The exit codes. They are those of fetch1738.
const (
	exitUsage       = 2
	exitBadURL      = 3
	exitUnreachable = 7
	exitWrite       = 23
	exitRead        = 26
	exitAborted     = 42
	exitListen      = 45
	exitLogin       = 67
	exitInterrupted = 130
	exitTerminated  = 143
)

// A failure is an error with the exit code of the program.
type failure struct {
	code int
	error
}

// Unwrap returns the error.
func (f *failure) Unwrap() error { return f.error }

// usagef returns the failure of a wrong command line.
func usagef(format string, args ...any) error { return failuref(exitUsage, format, args...) }

// failuref returns a failure whose error is made by fmt.Errorf.
func failuref(code int, format string, args ...any) error {
	return &failure{code, fmt.Errorf(format, args...)}
}

// fail prints the error of a verb and returns the exit code.
func fail(std streams, verb string, err error) int {
	if err == nil {
		return 0
	}
	code := exitUnreachable // what is left are failures of the NATS server
	if f, ok := errors.AsType[*failure](err); ok {
		code = f.code
	}
	if verb != "" {
		verb += ": "
	}
	fmt.Fprintf(std.err, "%s: (%d) %s%s\n", program, code, verb, printable(err.Error()))
	return code
}

// codeOf returns the exit code for the signal that has ended a context.
func codeOf(cause error) int {
	if strings.HasPrefix(cause.Error(), syscall.SIGTERM.String()) {
		return exitTerminated
	}
	return exitInterrupted
}

// write prints text to standard output.
func write(std streams, text string) error {
	if _, err := io.WriteString(std.out, text); err != nil {
		return failuref(exitWrite, "standard output: %w", err)
	}
	return nil
}

// verbNames returns the names of the verbs.
func verbNames() string {
	var names []string
	for _, v := range verbs() {
		names = append(names, v.name)
	}
	last := len(names) - 1
	return strings.Join(slices.Concat(names[:last-1], []string{names[last-1] + " or " + names[last]}), ", ")
}
