package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
)

// A setter carries out one option on what the command line has said so far. The
// value of a switch is "true", or "false" for --no-NAME.
type setter func(c *commandLine, value string) error

var (
	errNotNumeric  = errors.New("expected a proper numerical parameter")
	errNotPositive = errors.New("expected a positive numerical parameter")
)

func toggle(field func(*operation) *bool) setter {
	return func(c *commandLine, value string) (err error) {
		*field(c.op), err = strconv.ParseBool(value)
		return err
	}
}

// inverse is for switches that are on to begin with.
func inverse(field func(*operation) *bool) setter {
	return func(c *commandLine, value string) error {
		on, err := strconv.ParseBool(value)
		*field(c.op) = !on
		return err
	}
}

// ignore is for switches that change nothing either way.
func ignore(*commandLine, string) error { return nil }

// always is for switches that are on and cannot be switched off.
func always(_ *commandLine, value string) error {
	if value != "true" {
		return errors.New("cannot be switched off")
	}
	return nil
}

func text(field func(*operation) *string) setter {
	return func(c *commandLine, value string) error {
		*field(c.op) = value
		return nil
	}
}

// optionalText is for options whose empty value differs from their absence.
func optionalText(field func(*operation) **string) setter {
	return func(c *commandLine, value string) error {
		*field(c.op) = &value
		return nil
	}
}

// atMost is for a number from 1 to limit; for another one the usual is taken, as
// curl does.
func atMost(limit, usual int, field func(*operation) *int) setter {
	return func(c *commandLine, value string) error {
		if err := count(field)(c, value); err != nil {
			return err
		}
		if n := field(c.op); *n < 1 || *n > limit {
			*n = usual
		}
		return nil
	}
}

func count(field func(*operation) *int) setter {
	return func(c *commandLine, value string) error {
		n, err := strconv.Atoi(value)
		switch {
		case err != nil:
			return errNotNumeric
		case n < 0:
			return errNotPositive
		}
		*field(c.op) = n
		return nil
	}
}

// seconds reads a decimal number of seconds; 0 is no limit.
func seconds(field func(*operation) *time.Duration) setter {
	return func(c *commandLine, value string) error {
		n, err := strconv.ParseFloat(value, 64)
		switch {
		case err != nil || math.IsNaN(n):
			return errNotNumeric
		case n < 0:
			return errNotPositive
		}
		*field(c.op) = time.Duration(min(n*float64(time.Second), math.MaxInt64/2))
		return nil
	}
}

// size reads a number of octets, with a suffix such as k, M or G.
func size(field func(*operation) *int64) setter {
	return func(c *commandLine, value string) error {
		shift := 0
		if n := len(value); n > 0 {
			if unit := strings.IndexByte("bkmgtp", value[n-1]|0x20); unit >= 0 {
				value, shift = value[:n-1], 10*unit
			}
		}
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case err != nil:
			return errNotNumeric
		case n < 0:
			return errNotPositive
		case n > math.MaxInt64>>shift:
			return errors.New("number too large")
		}
		*field(c.op) = n << shift
		return nil
	}
}

func addPort(c *commandLine, value string) error {
	n, err := strconv.ParseUint(value, 10, 16)
	if err != nil || n == 0 {
		return errors.New("expected a port, 1 to 65535")
	}
	c.op.rules.AllowPorts = append(c.op.rules.AllowPorts, uint16(n))
	return nil
}

// addLike reads the URL of a document that others should be like.
func addLike(c *commandLine, value string) error {
	l, err := c.op.parseURL(value)
	c.op.like = append(c.op.like, l)
	return err
}

// addGateway reads "SCHEME=URL".
func addGateway(c *commandLine, value string) error {
	scheme, url, found := strings.Cut(value, "=")
	if !found || scheme == "" || !strings.Contains(url, ":") {
		return errors.New("expected SCHEME=URL, such as wais=http://127.0.0.1:8118/?url={url}")
	}
	if c.op.gateways == nil {
		c.op.gateways = make(map[string]string)
	}
	c.op.gateways[strings.ToLower(scheme)] = url
	return nil
}

func addZone(c *commandLine, value string) error {
	zone, err := policy.ParseZone(value)
	c.op.rules.AllowZones = append(c.op.rules.AllowZones, zone)
	return err
}

func setResume(c *commandLine, value string) error {
	if value == "-" {
		c.op.resume = resumeFound
		return nil
	}
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err != nil:
		return errNotNumeric
	case n < 0:
		return errNotPositive
	}
	c.op.resume, c.op.resumeAt = resumeGiven, n
	return nil
}

// byteRange reads "FIRST-LAST", "FIRST-" or "-COUNT".
func setSpan(c *commandLine, value string) error {
	first, last, dash := strings.Cut(value, "-")
	if !dash { // "100" is taken for "100-", as curl does
		last = ""
	}
	var r span
	var err1, err2 error
	switch {
	case strings.Contains(value, ","):
		return c.op.setRanges(value)
	case strings.ContainsAny(value, "+ ") || strings.Contains(last, "-"):
		return errors.New("expected one range, such as 0-499, 500- or -500")
	case first == "":
		r.offset, err1 = strconv.ParseInt(last, 10, 64)
		r.offset = -r.offset
	default:
		r.offset, err1 = strconv.ParseInt(first, 10, 64)
		if last != "" {
			var end int64
			end, err2 = strconv.ParseInt(last, 10, 64)
			r.length = end - r.offset + 1
			r.empty = r.length < 1
		}
	}
	if err1 != nil || err2 != nil {
		return errors.New("expected a range, such as 0-499, 500- or -500")
	}
	r.empty = r.empty || first == "" && r.offset == 0
	c.op.span, c.op.ranges, c.op.spanText = &r, "", value
	if !dash {
		c.op.spanText += "-"
	}
	return nil
}

func setMaxRedirects(c *commandLine, value string) error {
	n, err := strconv.Atoi(value)
	switch {
	case err != nil:
		return errNotNumeric
	case n < -1:
		return errNotPositive
	case n == -1:
		n = 1000
	}
	c.op.maxRedirects = n
	return nil
}

// maxOptionFile bounds a file that an option reads whole, in octets.
const maxOptionFile = 64 << 20

// readFile reads a file that an option names; "-" is standard input.
func (c *commandLine) readFile(name string) ([]byte, error) {
	var b []byte
	var err error
	if name == "-" {
		b, err = bounded(c.std.in, name)
	} else {
		b, err = readBounded(name)
	}
	if err != nil {
		return nil, &codedError{exitRead, err}
	}
	return b, nil
}

// readBounded reads a file that is to be held in memory.
func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bounded(f, name)
}

func bounded(r io.Reader, name string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxOptionFile+1))
	if err == nil && len(b) > maxOptionFile {
		err = fmt.Errorf("%s: more than %d octets", name, maxOptionFile)
	}
	return b, err
}

// setView reads "TYPE", "TYPE,LANG" or ",LANG".
func setView(c *commandLine, value string) error {
	c.op.view, c.op.language, _ = strings.Cut(value, ",")
	return nil
}

func setCharset(c *commandLine, value string) (err error) {
	c.op.charset, err = term.CharsetNamed(value)
	return err
}

func setFTPMethod(c *commandLine, value string) error {
	switch value {
	case "multicwd", "singlecwd", "nocwd":
		c.op.ftpMethod = value
		return nil
	}
	return errors.New("expected multicwd, singlecwd or nocwd")
}

// headerLines reads LINE, or with @FILE the lines of FILE.
func headerLines(add func(*commandLine, string)) setter {
	return func(c *commandLine, value string) error {
		lines := []byte(value)
		if name, isFile := strings.CutPrefix(value, "@"); isFile {
			b, err := c.readFile(name)
			if err != nil {
				return err
			}
			lines = b
		} else if strings.ContainsAny(value, "\r\n") {
			return errLineEnd
		}
		for line := range bytes.Lines(lines) {
			if line = bytes.TrimRight(line, "\r\n"); bytes.ContainsAny(line, "\r\x00") {
				return errLineEnd
			}
			if len(line) > 0 {
				add(c, string(line))
			}
		}
		return nil
	}
}

var errLineEnd = errors.New("a header line cannot hold CR, LF or NUL")

func addProxyHeader(c *commandLine, line string) {
	c.op.proxy.headers = append(c.op.proxy.headers, line)
}

func useNetrc(use netrcMode) setter {
	return func(c *commandLine, value string) error {
		on, err := strconv.ParseBool(value)
		switch {
		case err != nil:
			return err
		case on:
			c.op.netrc = use
		case c.op.netrc == use:
			c.op.netrc = netrcUnused
		}
		return nil
	}
}

func setNetrcFile(c *commandLine, value string) error {
	c.op.netrcFile = value
	return nil
}

func setOutput(c *commandLine, value string) error {
	if value == "" {
		return errors.New("expected the name of a file, or - for standard output")
	}
	c.op.outputs = append(c.op.outputs, destination{path: value})
	return nil
}

func setRemoteName(c *commandLine, value string) error {
	on, err := strconv.ParseBool(value)
	c.op.outputs = append(c.op.outputs, destination{remote: on})
	return err
}

func addUpload(c *commandLine, value string) error {
	c.op.uploads = append(c.op.uploads, value)
	return nil
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

func addQuote(c *commandLine, value string) error {
	if strings.Trim(value, "+-*") == "" || strings.ContainsAny(value, "\r\n\x00") {
		return errors.New("expected a command, without CR, LF and NUL")
	}
	c.op.quotes = append(c.op.quotes, value)
	return nil
}

func setLogin(c *commandLine, value string) error {
	login := locator.Login{}
	login.User, login.Password, login.HasPassword = strings.Cut(value, ":")
	c.op.login = &login
	return nil
}

func setWriteOut(c *commandLine, value string) error {
	if name, isFile := strings.CutPrefix(value, "@"); isFile {
		b, err := c.readFile(name)
		if err != nil {
			return err
		}
		value = string(withoutLineEnds(b)) // as curl does: a line end is \n
	}
	c.op.writeOut = value
	return nil
}

// next begins another operation. Without a URL in this one there is nothing to
// end, and its options stay.
func nextOperation(c *commandLine, value string) error {
	if len(c.op.urls) > 0 {
		c.begin()
	}
	return nil
}
