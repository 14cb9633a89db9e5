package curl

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/internal/text/charset"
)

// setClobber is --clobber and --no-clobber.
func setClobber(c *CommandLine, value string) error {
	c.op.Output.Clobber = plan.ClobberNever
	if value == strconv.FormatBool(true) {
		c.op.Output.Clobber = plan.ClobberAlways
	}
	return nil
}

// setFileMode is --create-file-mode.
func setFileMode(c *CommandLine, value string) error {
	mode, err := strconv.ParseUint(value, 8, 32)
	switch {
	case err != nil || strings.HasPrefix(value, "+"):
		return errors.New("expected permissions in octal, such as 0640")
	case mode > 0o777:
		return errors.New("number too large")
	}
	c.op.FileMode = fs.FileMode(mode)
	return nil
}

// setArchive is --warc.
func setArchive(c *CommandLine, value string) error {
	if value == "" || value == "-" {
		return errors.New("expected the name of a file")
	}
	c.Global.Archive.Path = value
	return nil
}

// SetArchiveVersion is --warc-version.
func SetArchiveVersion(c *CommandLine, value string) error {
	if value != "1.0" && value != "1.1" {
		return errors.New("expected 1.0 or 1.1")
	}
	c.Global.Archive.Version = value
	return nil
}

func setOutput(c *CommandLine, value string) error {
	if value == "" {
		return errors.New("expected the name of a file, or - for standard output")
	}
	c.op.Outputs = append(c.op.Outputs, plan.Destination{Path: value})
	return nil
}

func setRemoteName(c *CommandLine, value string) error {
	on, err := strconv.ParseBool(value)
	c.op.Outputs = append(c.op.Outputs, plan.Destination{Remote: on})
	return err
}

// setNull is --out-null. Like -o and -O, it applies to one URL.
func setNull(c *CommandLine, value string) error {
	on, err := strconv.ParseBool(value)
	c.op.Outputs = append(c.op.Outputs, plan.Destination{Null: on})
	return err
}

func setCharset(c *CommandLine, value string) (err error) {
	c.op.Output.Charset, err = charset.Named(value)
	return err
}

func setWriteOut(c *CommandLine, value string) error {
	if name, isFile := strings.CutPrefix(value, "@"); isFile {
		b, err := c.readFile(name)
		if err != nil {
			return err
		}
		value = string(withoutLineEnds(b)) // as in curl: only \n in the format is a line end
	}
	c.op.Output.WriteOut = value
	return nil
}

func addUpload(c *CommandLine, value string) error {
	c.op.Uploads = append(c.op.Uploads, value)
	return nil
}

// setVerbose is -v. Of -v, --trace and --trace-ascii the last one takes effect.
func setVerbose(c *CommandLine, value string) error {
	on, err := strconv.ParseBool(value)
	c.overrideTrace("-v, --verbose", plan.TraceLines, "%")
	if c.Global.Verbose = on; !on {
		c.Global.Trace.Form = plan.TraceNot
	}
	return err
}

// SetVerbosity is -v of a command that reports files: the first one sets Global.Verbose, and the second one
// shows the conversation, as -v does without a verb.
func SetVerbosity(c *CommandLine, value string) error {
	if on, _ := strconv.ParseBool(value); !on || c.Global.Verbose && !c.InFile() {
		return setVerbose(c, value)
	}
	c.Global.Verbose = true
	return nil
}

// setTrace is --trace or --trace-ascii.
func setTrace(form plan.TraceForm) Setter {
	return func(c *CommandLine, value string) error {
		name := map[plan.TraceForm]string{plan.TraceHex: "--trace", plan.TraceASCII: "--trace-ascii"}[form]
		c.overrideTrace(name, form, value)
		c.Global.Verbose = false
		return nil
	}
}

// overrideTrace sets the form of the conversation, with a warning if it replaces another one.
func (c *CommandLine) overrideTrace(name string, form plan.TraceForm, file string) {
	trace := &c.Global.Trace
	if trace.Form != plan.TraceNot && trace.Form != form {
		c.warn("%s overrides an earlier trace/verbose option", name)
	}
	trace.Form, trace.File = form, file
}

func setTraceTime(c *CommandLine, value string) (err error) {
	c.Global.Trace.Time, err = strconv.ParseBool(value)
	return err
}

func setStderr(c *CommandLine, value string) error {
	c.Stderr = value
	return nil
}
