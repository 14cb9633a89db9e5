package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/dump"
	"github.com/fetch1738/fetch1738/internal/z3950"
)

// A traceForm is how the conversation is shown.
type traceForm uint8

const (
	traceNot   traceForm = iota
	traceLines           // -v: lines behind a mark
	traceHex             // --trace: octets in hexadecimal and ASCII
	traceASCII           // --trace-ascii: octets in ASCII
)

// traceOptions are what the command line says of showing the conversation.
type traceOptions struct {
	form traceForm
	file string // of --trace and --trace-ascii; "-" is standard output, "%" standard error
	time bool
	to   io.Writer // where it goes; set by openTrace
}

// setVerbose is -v. The last of it, --trace and --trace-ascii counts.
func setVerbose(c *commandLine, value string) error {
	on, err := strconv.ParseBool(value)
	c.overrideTrace("-v, --verbose", traceLines, "%")
	if c.global.verbose = on; !on {
		c.global.trace.form = traceNot
	}
	return err
}

// setTrace is --trace or --trace-ascii.
func setTrace(form traceForm) setter {
	return func(c *commandLine, value string) error {
		name := map[traceForm]string{traceHex: "--trace", traceASCII: "--trace-ascii"}[form]
		c.overrideTrace(name, form, value)
		c.global.verbose = false
		return nil
	}
}

func (c *commandLine) overrideTrace(name string, form traceForm, file string) {
	trace := &c.global.trace
	if trace.form != traceNot && trace.form != form {
		c.warn("%s overrides an earlier trace/verbose option", name)
	}
	trace.form, trace.file = form, file
}

func setTraceTime(c *commandLine, value string) (err error) {
	c.global.trace.time, err = strconv.ParseBool(value)
	return err
}

func setStderr(c *commandLine, value string) error {
	c.global.stderr = value
	return nil
}

// openStderr lets what goes to standard error go where --stderr says.
func (c *commandLine) openStderr() {
	switch c.global.stderr {
	case "":
		return
	case "-":
		c.std.err = c.std.out
		return
	}
	f, err := os.Create(c.global.stderr)
	if err != nil {
		c.warn("cannot write to the file of --stderr: %v", err)
		return // as curl does
	}
	c.std.err = f
	c.opened = append(c.opened, f)
}

// openTrace readies what the conversation is shown in.
func (c *commandLine) openTrace() error {
	trace := &c.global.trace
	switch {
	case trace.form == traceNot, trace.file == "%":
		trace.to = c.std.err
	case trace.file == "-":
		trace.to = c.std.out
	default:
		f, err := os.Create(trace.file)
		if err != nil {
			return &codedError{exitWrite, err}
		}
		trace.to = f
		c.opened = append(c.opened, f)
	}
	return nil
}

// closeFiles closes what --stderr and --trace opened. It is too late to tell of
// a failure.
func (c *commandLine) closeFiles() {
	for _, f := range c.opened {
		_ = f.Close()
	}
}

// stamp is what stands before a line with --trace-time.
func (n *narrator) stamp() string {
	if !n.time {
		return ""
	}
	return time.Now().Format("15:04:05.000000 ")
}

// bodyMoved tells how much of the body has come, or gone, since the last line of
// the conversation, in the manner of curl: the first of it only.
func (n *narrator) bodyMoved(octets int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.moving || n.form != traceLines || n.silentBody || octets == 0 {
		return
	}
	n.moving = true
	mark := '{'
	if n.uploading {
		mark = '}'
	}
	fmt.Fprintf(n.w, "%s%c [%d bytes data]\n", n.stamp(), mark, octets)
}

// dumpHead shows what was sent as a whole, and what was received line by line
// where it is text.
func (n *narrator) dumpHead(mark string, octets []byte) {
	n.mu.Lock()
	whole := n.udp || z3950.Annotate(octets) != nil
	n.mu.Unlock()
	switch {
	case mark == "> ":
		n.dump(sentHead, octets)
		return
	case whole:
		n.dump(receivedHead, octets)
		return
	}
	for line := range bytes.Lines(octets) {
		n.dump(receivedHead, line)
	}
}

// dump shows octets under a heading.
func (n *narrator) dump(heading string, octets []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	b := fmt.Appendf(nil, "%s%s, %d bytes (0x%x)\n", n.stamp(), heading, len(octets), len(octets))
	if n.form == traceHex {
		b = dump.AppendHex(b, octets)
	} else {
		b = dump.AppendASCII(b, octets)
	}
	_, _ = n.w.Write(b) // a trace that cannot be written ends no transfer
}

// The headings of dumps.
const (
	sentHead     = "=> Send header"
	sentData     = "=> Send data"
	receivedHead = "<= Recv header"
	receivedData = "<= Recv data"
)
