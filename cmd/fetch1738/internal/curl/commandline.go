// Package curl reads the arguments and the configuration file of the command, which are those of curl,
// into a plan.Operation. The table of the options is in options.go.
package curl

import (
	"cmp"
	"errors"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// A CommandLine is the parsed form of the arguments and configuration files.
type CommandLine struct {
	Operations    []*plan.Operation
	Global        *plan.Global // shared by all Operations
	Help, Version bool         // only show the help or the version
	Stderr        string       // value of --stderr: a file, or "-" for standard output; "" if not given

	std       stdio.Streams
	op        *plan.Operation // the current one, which options and URLs are added to
	variables variables
	configs   int      // nesting depth of the configuration file being read; 0 if none is
	table     []Option // the supported options
}

// New returns a CommandLine without arguments that supports the options in table. It reads the
// file "-" from std.In and writes warnings to std.Err.
func New(std stdio.Streams, table []Option) *CommandLine {
	c := &CommandLine{std: std, Global: new(plan.Global), table: table}
	c.begin()
	return c
}

// Parse reads the default configuration file, unless the first argument is -q, and then args.
// After an error, c holds everything parsed before the error.
func (c *CommandLine) Parse(args []string) error {
	var wrong error
	if !skipsDefault(args) {
		wrong = c.readDefault()
	}
	return cmp.Or(wrong, c.add(args))
}

// begin adds an operation and makes it the current one.
func (c *CommandLine) begin() {
	c.op = plan.New(c.Global)
	c.Operations = append(c.Operations, c.op)
}

// warn writes a warning, unless -s is given.
func (c *CommandLine) warn(format string, args ...any) {
	if !c.Global.Silent {
		c.std.Warn(format, args...)
	}
}

// add parses args, options and URLs in order.
func (c *CommandLine) add(args []string) error {
	fs := pflag.NewFlagSet("fetch1738", pflag.ContinueOnError)
	fs.SortFlags = false
	fs.SetOutput(io.Discard)
	taken := 0
	takeURLs := func() {
		for _, url := range fs.Args()[taken:] {
			c.op.URLs = append(c.op.URLs, url)
			taken++
		}
	}
	for _, o := range c.table {
		if !mayName(args, o) {
			continue
		}
		set := func(o Option) func(string) error {
			return func(value string) error {
				takeURLs() // URLs before the option must be added before it takes effect
				if strings.Contains(value, "://") && !strings.Contains(o.Arg, "URL") {
					c.op.Swallowed = spelled(fs.Lookup(o.Long)) // reported only if there is no other URL
				}
				return o.Set(c, value)
			}
		}
		c.define(fs, o, set(o))
		if o.Arg != "" {
			c.define(fs, o.expanding(), set(o.expanding()))
		}
	}
	err := fs.Parse(splitShort(args, c.table))
	takeURLs()
	return explainUsage(err, c.table, args)
}

// define adds o to fs and, if it is a switch, --no-NAME too.
func (c *CommandLine) define(fs *pflag.FlagSet, o Option, set func(string) error) {
	fs.VarP(&argument{o.Arg, set}, o.Long, o.Short, o.Help)
	if o.Arg != "" {
		return
	}
	fs.Lookup(o.Long).NoOptDefVal = "true"
	no := "no-" + strings.TrimPrefix(o.Long, "no-")
	if fs.Lookup(no) == nil {
		fs.Var(&argument{set: set}, no, "")
		fs.Lookup(no).NoOptDefVal = "false"
	}
}

// argument is an option as a pflag.Value.
type argument struct {
	name string
	set  func(string) error
}

func (a *argument) Set(value string) error { return a.set(value) }
func (a *argument) String() string         { return "" }
func (a *argument) Type() string           { return a.name }

// explainUsage translates an error of pflag about args into curl's wording. table has the supported
// options.
func explainUsage(err error, table []Option, args []string) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var known *localerr.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.As(err, &unknown):
		long, short := unknown.GetSpecifiedName(), ""
		if unknown.GetSpecifiedShortnames() != "" {
			long, short = "", long
		}
		return localerr.Usagef("%s", unknownOption(long, short, table))
	case errors.As(err, &missing):
		return localerr.Usagef("option %s: requires parameter", spelled(missing.GetFlag()))
	case errors.As(err, &invalid):
		flag, wgets := invalid.GetFlag(), ""
		if flag.Name == "range" || flag.Name == "max-time" { // not an option of a verb with the same letter
			wgets = asInWget(flag.Shorthand, invalid.GetValue())
		}
		return localerr.Usagef("option %s: %v%s", spelled(flag), errors.Unwrap(invalid), wgets)
	}
	return localerr.Usagef("%s", err.Error())
}

// spelled returns a flag with its letter, if it has one.
func spelled(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand + ", --" + f.Name
	}
	return "--" + f.Name
}

// addURL adds a URL or, for "@FILE", the URLs in a file, one per line. URLs from a file are not
// globbed, and each is saved to its own file.
func addURL(c *CommandLine, value string) error {
	name, isFile := strings.CutPrefix(value, "@")
	if !isFile {
		c.op.URLs = append(c.op.URLs, value)
		return nil
	}
	b, err := c.readFile(name)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(b)) {
		line = strings.Trim(line, " \t\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if c.op.Listed == nil {
			c.op.Listed = make(map[int]bool)
		}
		c.op.Listed[len(c.op.URLs)] = true
		c.op.URLs = append(c.op.URLs, line)
	}
	return nil
}

// nextOperation begins another operation. If the current one has no URL, it continues and keeps
// its options.
func nextOperation(c *CommandLine, value string) error {
	if len(c.op.URLs) > 0 {
		c.begin()
	}
	return nil
}

// URLs returns the URLs after the last --next.
func (c *CommandLine) URLs() []string { return c.op.URLs }
