package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
)

// A scriptLine is a line of a --telnet-script: "expect TEXT" waits until the
// server has said TEXT, "send TEXT" types it and the Enter key, "timeout SECONDS"
// is how long to wait from now on. \r \n \t \\ \xHH in TEXT stand for octets, \c
// at its end leaves Enter out. A line may be empty or begin with "#".
type scriptLine struct {
	number  int
	verb    string
	text    string
	enter   bool
	timeout time.Duration
}

// scriptTimeout is how long a script waits that does not say.
const scriptTimeout = 60 * time.Second

// maxScript bounds a script, in octets.
const maxScript = 1 << 20

func setTelnetScript(c *commandLine, name string) error {
	var in io.Reader = c.std.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return &codedError{exitRead, err}
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxScript+1))
	if err != nil {
		return &codedError{exitRead, err}
	}
	c.op.telnet.script, err = parseScript(string(text))
	return err
}

// parseScript reads a script. It is never nil, unless there is an error.
func parseScript(text string) ([]scriptLine, error) {
	if len(text) > maxScript {
		return nil, fmt.Errorf("the script has more than %d octets", maxScript)
	}
	script := []scriptLine{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if words := strings.TrimLeft(line, " \t"); words == "" || words[0] == '#' {
			continue
		}
		l, err := parseScriptLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d of the script: %w", number, err)
		}
		l.number = number
		script = append(script, l)
	}
	return script, nil
}

func parseScriptLine(line string) (scriptLine, error) {
	verb, arg, _ := strings.Cut(strings.TrimLeft(line, " \t"), " ")
	l := scriptLine{verb: verb, enter: true}
	switch verb {
	case "timeout":
		n, err := strconv.ParseFloat(strings.TrimSpace(arg), 64)
		if err != nil || !(n >= 1e-9) || n > math.MaxInt32 {
			return l, errors.New("timeout wants a number of seconds")
		}
		l.timeout = time.Duration(n * float64(time.Second))
		return l, nil
	case "send":
		arg, l.enter = cutEnter(arg)
	case "expect":
		if arg == "" {
			return l, errors.New("expect wants a text")
		}
	default:
		return l, fmt.Errorf("%s is none of expect, send, timeout", fetch.Printable(verb))
	}
	var err error
	l.text, err = unescapeScript(arg)
	return l, err
}

// cutEnter takes \c off the end of a text.
func cutEnter(text string) (rest string, enter bool) {
	rest, found := strings.CutSuffix(text, `\c`)
	backslashes := len(rest) - len(strings.TrimRight(rest, `\`))
	if !found || backslashes%2 == 1 {
		return text, true
	}
	return rest, false
}

func unescapeScript(text string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch {
		case i == len(text):
			return "", errors.New(`a \ at the end means nothing`)
		case strings.IndexByte(`rnt\`, text[i]) >= 0:
			b.WriteByte("\r\n\t\\"[strings.IndexByte(`rnt\`, text[i])])
		case text[i] == 'x' && i+2 < len(text):
			n, err := strconv.ParseUint(text[i+1:i+3], 16, 8)
			if err != nil {
				return "", fmt.Errorf(`\%s: two hexadecimal digits follow \x`, fetch.Printable(text[i:i+3]))
			}
			b.WriteByte(byte(n))
			i += 2
		default:
			return "", fmt.Errorf(`\%s means nothing`, fetch.Printable(text[i:i+1]))
		}
	}
	return b.String(), nil
}

// recite goes through the script. When it is through, the server is listened to
// until it closes or is silent.
func (d *dialogue) recite(ctx context.Context) (done bool, err error) {
	wait := scriptTimeout
	for _, l := range d.t.op.telnet.script {
		switch l.verb {
		case "timeout":
			wait = l.timeout
		case "send":
			text := l.text
			if l.enter {
				text += d.s.Enter()
			}
			if _, err := io.WriteString(d.s, text); err != nil {
				return true, err
			}
		case "expect":
			if err := d.await(ctx, l, wait); err != nil {
				return true, err
			}
		}
	}
	d.quiet(wait, nil)
	return false, nil
}

// await waits until the server has said a text.
func (d *dialogue) await(ctx context.Context, l scriptLine, wait time.Duration) error {
	wake := func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.more.Broadcast()
	}
	late := time.Now().Add(wait)
	defer time.AfterFunc(wait, wake).Stop()
	defer context.AfterFunc(ctx, wake)()
	what := fmt.Sprintf("line %d of the script: the server has not said %s", l.number, fetch.Printable(term.SafeLine(l.text, maxMessage)))
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		if i := strings.Index(string(d.text), l.text); i >= 0 {
			d.text = d.text[i+len(l.text):]
			return nil
		}
		switch {
		case d.over && !d.broken:
			return fetch.Fail(fetch.OpRead, d.t.locator, fetch.ErrTruncated, errors.New(what))
		case d.over || ctx.Err() != nil:
			return nil // reading tells why
		case !time.Now().Before(late):
			return d.timeout(what)
		}
		d.more.Wait()
	}
}
