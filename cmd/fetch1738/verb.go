package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// verb is the command line of one verb: its flags, its help and its complaints.
type verb struct {
	*pflag.FlagSet
	std  stdio.Streams
	help string
}

func newVerb(name, help string, std stdio.Streams) *verb {
	v := &verb{pflag.NewFlagSet(name, pflag.ContinueOnError), std, help}
	v.SetOutput(io.Discard)
	v.SortFlags = false
	return v
}

// isWord reports whether an argument is one word, as verbs are.
func isWord(arg string) bool {
	return arg != "" && strings.Trim(arg, "abcdefghijklmnopqrstuvwxyz") == ""
}

// verbHint is what to do if an argument that is no verb was meant to be one; "" if
// it is like none.
func verbHint(arg string) string {
	names := verbNames()
	switch meant := nearest(arg, names); {
	case !isWord(arg) || meant == "":
		return ""
	case slices.Contains(names, arg):
		return "a verb is the first argument: fetch1738 " + arg
	default:
		return "did you mean: fetch1738 " + meant
	}
}

// newCommand is a verb with flags of its own: define adds them, and gives what
// is done once they are read.
func newCommand(name, summary, help string, define func(*verb) func(context.Context) int) command {
	return command{
		name: name, summary: summary,
		run: func(ctx context.Context, args []string, std stdio.Streams) int {
			v := newVerb(name, help, std)
			work := define(v)
			if code, ok := v.parse(args); !ok {
				return code
			}
			return work(ctx)
		},
		options: func() []option {
			v := newVerb(name, help, stdio.Streams{})
			define(v)
			return v.options()
		},
	}
}

// take adds flags for options of the table, which set op.
func (v *verb) take(op *plan.Operation, names ...string) {
	c := &commandLine{op: op}
	for _, o := range options() {
		set := func(value string) error { return o.set(c, value) }
		switch {
		case !slices.Contains(names, o.long):
		case o.arg == "":
			v.BoolFuncP(o.long, o.short, o.help, set)
		default:
			v.FuncP(o.long, o.short, o.help+" (`"+o.arg+"`)", set)
		}
	}
}

// options are the flags as entries of an option table.
func (v *verb) options() (list []option) {
	v.VisitAll(func(f *pflag.Flag) {
		arg, usage := pflag.UnquoteUsage(f)
		list = append(list, option{short: f.Shorthand, long: f.Name, arg: arg, help: usage})
	})
	return list
}

// parse reads the flags. Unless ok, the verb ends with code.
func (v *verb) parse(args []string) (code int, ok bool) {
	switch err := v.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		if _, err := fmt.Fprintf(v.std.Out, "%s\n%s", v.help, v.FlagUsagesWrapped(80)); err != nil {
			return exitWrite, false
		}
		return exitOK, false
	case err != nil:
		return v.usage("%v%s", err, v.meant(err)), false
	}
	return 0, true
}

// meant names the flag that a misspelt one is most like.
func (v *verb) meant(err error) string {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		if near := nearestOption(unknown.GetSpecifiedName(), v.options()); near != "" {
			return "; did you mean " + near + "?"
		}
	}
	return ""
}

// usage complains about the command line.
func (v *verb) usage(format string, args ...any) int {
	return v.fail(exitUsage, "%s; see fetch1738 %s --help", fmt.Sprintf(format, args...), v.Name())
}

// fail prints one line and is code.
func (v *verb) fail(code int, format string, args ...any) int {
	fmt.Fprintf(v.std.Err, "fetch1738: (%d) %s: %s\n", code, v.Name(), fmt.Sprintf(format, args...))
	return code
}
