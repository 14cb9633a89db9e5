// Package cli has what the verbs share: flags, help and error messages.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	// pflag parses the options of verbs: short ones together, values after "=", and "--" (POSIX and GNU).
	// Package flag has none of these. A framework for commands, such as cobra, would bring its own help.
	"github.com/spf13/pflag"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// A Command is a verb of the command line.
type Command struct {
	Name    string
	Summary string
	Run     func(ctx context.Context, args []string, std stdio.Streams) int // returns the exit code
	Options func() []curl.Option                                            // returns the options of the verb
	Help    func(width int) string                                          // returns the text of --help, width columns wide
}

// A Verb is the command line of one verb: its flags, help and error messages.
type Verb struct {
	*pflag.FlagSet
	Std   stdio.Streams
	Given []string // the arguments, with flags
	help  string
}

// NewVerb returns a verb without flags.
func NewVerb(name, help string, std stdio.Streams) *Verb {
	v := &Verb{FlagSet: pflag.NewFlagSet(name, pflag.ContinueOnError), Std: std, help: help}
	v.SetOutput(io.Discard)
	v.SortFlags = false
	return v
}

// New returns a verb with its own flags. define adds the flags and returns the function to run
// after they are parsed.
func New(name, summary, help string, define func(*Verb) func(context.Context) int) Command {
	defined := func() *Verb {
		v := NewVerb(name, help, stdio.Streams{})
		define(v)
		return v
	}
	return Command{
		Name: name, Summary: summary,
		Run: func(ctx context.Context, args []string, std stdio.Streams) int {
			v := NewVerb(name, help, std)
			work := define(v)
			if code, ok := v.parse(args); !ok {
				return code
			}
			return work(ctx)
		},
		Options: func() []curl.Option { return defined().options() },
		Help:    func(width int) string { return defined().usage(width) },
	}
}

// Take adds flags for the named options of package curl. The flags set fields of op.
func (v *Verb) Take(op *plan.Operation, names ...string) {
	for _, o := range curl.Options() {
		set := func(value string) error { return o.On(op, value) }
		switch {
		case !slices.Contains(names, o.Long):
		case o.Arg == "":
			v.BoolFuncP(o.Long, o.Short, o.Help, set)
		default:
			v.FuncP(o.Long, o.Short, o.Help+named("`"+o.Arg+"`"), set)
		}
	}
}

// options returns the flags as entries of an option table.
func (v *Verb) options() (list []curl.Option) {
	v.VisitAll(func(f *pflag.Flag) {
		arg, usage := pflag.UnquoteUsage(f)
		list = append(list, curl.Option{Short: f.Shorthand, Long: f.Name, Arg: arg, Help: strings.TrimSuffix(usage, named(arg))})
	})
	return list
}

// named returns the suffix that Take adds to the help of an option. pflag takes the name of the
// value from it.
func named(arg string) string { return " (" + arg + ")" }

// usage returns the help of the verb, width columns wide.
func (v *Verb) usage(width int) string {
	text := Prose(v.help, width)
	if list := v.options(); len(list) > 0 {
		text += "\n" + Options(list, width)
	}
	return text
}

// parse parses the flags. Unless ok, the verb exits with code.
func (v *Verb) parse(args []string) (code int, ok bool) {
	v.Given = args
	switch err := v.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return Print(v.Std, v.usage(Width(v.Std.Out))), false
	case err != nil:
		return v.Complain("%v%s", err, v.meant(err)), false
	}
	return 0, true
}

// meant suggests the flag that a misspelt one is most similar to.
func (v *Verb) meant(err error) string {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		if near := curl.NearestOption(unknown.GetSpecifiedName(), v.options()); near != "" {
			return "; did you mean " + near + "?"
		}
	}
	return ""
}

// Complain reports a usage error and returns its exit code.
func (v *Verb) Complain(format string, args ...any) int {
	return v.Fail(exit.Usage, "%s; see fetch1738 %s --help", fmt.Sprintf(format, args...), v.Name())
}

// Fail prints an error message as one printable line and returns code.
func (v *Verb) Fail(code int, format string, args ...any) int {
	fmt.Fprintln(v.Std.Err, v.message(code, fmt.Sprintf(format, args...)))
	return code
}

// FailOutput reports the error of a write to standard output and returns its exit code.
func (v *Verb) FailOutput(err error) int {
	err = stdio.OutputError(err)
	v.Std.Complain(err, v.message(exit.Write, err.Error()))
	return exit.Write
}

// message returns the message of an error, as one printable line.
func (v *Verb) message(code int, text string) string {
	return fmt.Sprintf("fetch1738: (%d) %s: %s", code, v.Name(), stdio.Line(text))
}

// Print prints text to standard output and returns the exit code.
func Print(std stdio.Streams, text string) int {
	if _, err := io.WriteString(std.Out, text); err != nil {
		err = stdio.OutputError(err)
		std.Complain(err, fmt.Sprintf("fetch1738: (%d) %v", exit.Write, err))
		return exit.Write
	}
	return exit.OK
}

// Names returns the names of commands.
func Names(all []Command) (names []string) {
	for _, c := range all {
		names = append(names, c.Name)
	}
	return names
}
