package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"
)

// Exit codes of the verbs, curl's where curl has one.
const (
	exitOK          = 0
	exitUnsupported = 1
	exitUsage       = 2
	exitBadURL      = 3
	exitWrite       = 23
	exitRead        = 26
	exitRefused     = 120
	exitInterrupted = 130 // as a shell reports SIGINT
)

// verb is the command line of one verb: its flags, its help and its complaints.
type verb struct {
	*pflag.FlagSet
	std  streams
	help string
}

func newVerb(name, help string, std streams) *verb {
	v := &verb{pflag.NewFlagSet(name, pflag.ContinueOnError), std, help}
	v.SetOutput(io.Discard)
	v.SortFlags = false
	return v
}

// parse reads the flags. Unless ok, the verb ends with code.
func (v *verb) parse(args []string) (code int, ok bool) {
	switch err := v.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		if _, err := fmt.Fprintf(v.std.out, "%s\n%s", v.help, v.FlagUsagesWrapped(80)); err != nil {
			return exitWrite, false
		}
		return exitOK, false
	case err != nil:
		return v.usage("%v", err), false
	}
	return 0, true
}

// usage complains about the command line.
func (v *verb) usage(format string, args ...any) int {
	return v.fail(exitUsage, "%s; see fetch1738 %s --help", fmt.Sprintf(format, args...), v.Name())
}

// fail prints one line and is code.
func (v *verb) fail(code int, format string, args ...any) int {
	fmt.Fprintf(v.std.err, "fetch1738: (%d) %s: %s\n", code, v.Name(), fmt.Sprintf(format, args...))
	return code
}

// interruptible is r whose reads end with ctx, even one that waits for a
// keyboard. Close it when no more is wanted.
func interruptible(ctx context.Context, r io.Reader) io.ReadCloser {
	pr, pw := io.Pipe()
	stop := context.AfterFunc(ctx, func() { pw.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(pw, r)
		stop()
		if err != nil {
			err = fmt.Errorf("standard input: %w", err)
		}
		pw.CloseWithError(err)
	}()
	return pr
}

// writeJSON writes v on one line of ASCII. What encoding/json leaves as it is
// is escaped, for terminals; "<", ">" and "&" are not, for people.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	line := make([]byte, 0, b.Len())
	for _, r := range b.String() {
		switch {
		case r < 0x7F:
			line = append(line, byte(r))
		case r > 0xFFFF:
			r -= 0x10000
			line = fmt.Appendf(line, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			line = fmt.Appendf(line, `\u%04x`, r)
		}
	}
	_, err := w.Write(line)
	return err
}

// chars is octets with each one as the character of its number, U+0000 to
// U+00FF.
func chars(octets string) string {
	var b strings.Builder
	for i := range len(octets) {
		b.WriteRune(rune(octets[i]))
	}
	return b.String()
}

// asGiven is text from outside for JSON: itself, or its chars if it is no UTF-8.
func asGiven(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return chars(text)
}

// quoteOctets shows octets between double quotes: printable ASCII as it is, the rest
// as \n, \r, \t or \xNN.
func quoteOctets(octets string) string {
	b := []byte{'"'}
	for i := range len(octets) {
		switch c := octets[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case ' ' <= c && c <= '~':
			b = append(b, c)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		default:
			b = fmt.Appendf(b, `\x%02x`, c)
		}
	}
	return string(append(b, '"'))
}

// plain is s itself if it is printable ASCII and not empty, else quoted.
func plain(s string) string {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return quoteOctets(s)
	}
	return s
}

// foldText breaks text at spaces into lines of at most width columns; longer
// words stay whole.
func foldText(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}
