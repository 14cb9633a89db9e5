package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curlvar"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/internal/pace"
)

// A commandLine is what the arguments say.
type commandLine struct {
	std        streams
	operations []*operation
	op         *operation // the one that options and URLs go to
	global     *global
	configs    int         // configuration files being read, one inside the other
	opened     []io.Closer // what --stderr and --trace write to
	table      []option    // those that there are
}

// global are the options that hold for all operations.
type global struct {
	failEarly, help, noMeter, progressBar, showError, silent, verbose, version bool

	parallel          bool
	parallelMax       int
	parallelMaxHost   int // 0 is no limit
	parallelImmediate bool

	starts *pace.Pace // of --rate, which keeps transfers apart; nil does not
	stderr string     // of --stderr
	trace  traceOptions

	variables curlvar.Variables // of --variable

	passwords *passwordSource // of --password-fd; nil is the terminal
	secrets   secrets
	display   *progress.Display // nil for none

	environments environments
}

func newCommandLine(std streams) *commandLine {
	c := &commandLine{std: std, global: &global{parallelMax: defaultParallel}, table: options()}
	c.begin()
	return c
}

// begin starts another operation.
func (c *commandLine) begin() {
	c.op = newOperation(c.global)
	c.operations = append(c.operations, c.op)
}

// warn tells of what is no mistake yet.
func (c *commandLine) warn(format string, args ...any) {
	if !c.global.silent {
		fmt.Fprintf(c.std.err, "fetch1738: warning: %s\n", term.SafeLine(fmt.Sprintf(format, args...), maxMessage))
	}
}

// A usageError says what is wrong with the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

// parse adds args to what the command line says, options and URLs in order.
func (c *commandLine) parse(args []string) error {
	fs := pflag.NewFlagSet("fetch1738", pflag.ContinueOnError)
	fs.SortFlags = false
	fs.SetOutput(io.Discard)
	taken := 0
	takeURLs := func() {
		for _, url := range fs.Args()[taken:] {
			c.op.urls = append(c.op.urls, url)
			taken++
		}
	}
	for _, o := range c.table {
		set := func(o option) func(string) error {
			return func(value string) error {
				takeURLs() // those before the option belong before what it changes
				if strings.Contains(value, "://") && !strings.Contains(o.arg, "URL") {
					c.op.swallowed = spelled(fs.Lookup(o.long)) // as long as there is no other URL
				}
				return o.set(c, value)
			}
		}
		c.define(fs, o, set(o))
		if o.arg != "" {
			c.define(fs, o.expanding(), set(o.expanding()))
		}
	}
	err := fs.Parse(splitShort(args))
	takeURLs()
	return explainUsage(err, c.table)
}

// define makes o known to fs, and --no-NAME with it if it is a switch.
func (c *commandLine) define(fs *pflag.FlagSet, o option, set func(string) error) {
	fs.VarP(&argument{o.arg, set}, o.long, o.short, o.help)
	if o.arg != "" {
		return
	}
	fs.Lookup(o.long).NoOptDefVal = "true"
	no := "no-" + strings.TrimPrefix(o.long, "no-")
	if fs.Lookup(no) == nil {
		fs.Var(&argument{set: set}, no, "")
		fs.Lookup(no).NoOptDefVal = "false"
	}
}

// argument is an option as pflag wants it.
type argument struct {
	name string
	set  func(string) error
}

func (a *argument) Set(value string) error { return a.set(value) }
func (a *argument) String() string         { return "" }
func (a *argument) Type() string           { return a.name }

// explainUsage is pflag's error in curl's words, about options of a table.
func explainUsage(err error, table []option) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	var file *codedError
	var nested *usageError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &file):
		return file
	case errors.As(err, &nested):
		return nested
	case errors.As(err, &unknown):
		long, short := unknown.GetSpecifiedName(), ""
		if unknown.GetSpecifiedShortnames() != "" {
			long, short = "", long
		}
		return &usageError{unknownOption(long, short, table)}
	case errors.As(err, &missing):
		return &usageError{fmt.Sprintf("option %s: requires parameter", spelled(missing.GetFlag()))}
	case errors.As(err, &invalid):
		return &usageError{fmt.Sprintf("option %s: %v", spelled(invalid.GetFlag()), errors.Unwrap(invalid))}
	}
	return &usageError{err.Error()}
}

func spelled(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand + ", --" + f.Name
	}
	return "--" + f.Name
}

// addURL adds a URL, or, of "@FILE", those of a file, one a line: as they are,
// and each to a file of its own.
func addURL(c *commandLine, value string) error {
	name, isFile := strings.CutPrefix(value, "@")
	if !isFile {
		c.op.urls = append(c.op.urls, value)
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
		if c.op.listed == nil {
			c.op.listed = make(map[int]bool)
		}
		c.op.listed[len(c.op.urls)] = true
		c.op.urls = append(c.op.urls, line)
	}
	return nil
}

// nextOperation begins another operation. Without a URL in this one there is nothing to
// end, and its options stay.
func nextOperation(c *commandLine, value string) error {
	if len(c.op.urls) > 0 {
		c.begin()
	}
	return nil
}
