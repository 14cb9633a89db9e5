// Package mbox is the format mboxrd of RFC 4155's files: messages in one file, each after a line that
// begins with "From ", and before an empty line. A line of a message that is ">" any number of times
// and then "From " has one ">" more in the file, so that every message can be read again octet for
// octet, apart from its line ends: those in the file are LF, and the last line of a message has one.
package mbox

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/internal/text/date822"
)

// Separator returns the line before a message, without its LF. from is the value of its field From:
// "Name <address>" or "address (Name)". A zero date becomes 1970.
func Separator(from string, date time.Time) string {
	if date.IsZero() {
		date = time.Unix(0, 0)
	}
	return "From " + address(from) + " " + date.UTC().Format(time.ANSIC)
}

// SeparatorOf is Separator for the header that a message begins with. It reads no more than 64 KiB.
func SeparatorOf(message io.Reader) string {
	var from string
	var date time.Time
	lines := bufio.NewScanner(io.LimitReader(message, 64<<10))
	lines.Buffer(nil, 64<<10)
	for lines.Scan() && lines.Text() != "" {
		name, value, _ := strings.Cut(lines.Text(), ":")
		switch strings.ToLower(name) {
		case "from":
			from = value
		case "date":
			date = date822.Parse(value)
		}
	}
	return Separator(from, date)
}

// address returns the address in a field From, which has no space.
func address(from string) string {
	address, _, _ := strings.Cut(strings.TrimSpace(from), " ")
	if i := strings.LastIndexByte(from, '<'); i >= 0 {
		address, _, _ = strings.Cut(from[i+1:], ">")
	}
	odd := strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' })
	if odd || !strings.Contains(address, "@") {
		return "MAILER-DAEMON"
	}
	return address
}

// IsQuoted reports whether a line of a message has a ">" more in the file.
func IsQuoted(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(line, ">"), []byte("From "))
}

// Write writes a message with the separator before it and the empty line after it. A CR LF in it
// becomes LF; other octets stay, also a CR alone.
func Write(w io.Writer, separator string, message io.Reader) error {
	out := bufio.NewWriter(w)
	_, _ = out.WriteString(separator)
	_ = out.WriteByte('\n')
	if err := copyLines(out, message, true); err != nil {
		return err
	}
	_ = out.WriteByte('\n')
	return out.Flush()
}

// WriteLF writes a message with LF for CR LF, as a file of a maildir has it. The last line has one.
func WriteLF(w io.Writer, message io.Reader) error {
	out := bufio.NewWriter(w)
	if err := copyLines(out, message, false); err != nil {
		return err
	}
	return out.Flush()
}

// copyLines copies lines of any length. The error is that of reading; out keeps its own.
func copyLines(out *bufio.Writer, message io.Reader, quote bool) error {
	in := bufio.NewReader(message)
	begins, cr := true, false // at the beginning of a line; after a CR that is not written yet
	for {
		if begins && quote {
			begins = !quoteLine(out, in)
		}
		piece, err := in.ReadSlice('\n')
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			return err
		}
		if cr && (len(piece) == 0 || piece[0] != '\n') {
			_ = out.WriteByte('\r')
		}
		whole := err == nil
		if begins = begins && len(piece) == 0 || whole; whole {
			piece = bytes.TrimSuffix(piece[:len(piece)-1], []byte("\r"))
		}
		if cr = !whole && err != io.EOF && bytes.HasSuffix(piece, []byte("\r")); cr {
			piece = piece[:len(piece)-1]
		}
		_, _ = out.Write(piece)
		if whole || err == io.EOF && !begins {
			_ = out.WriteByte('\n')
		}
		if err == io.EOF {
			return nil
		}
	}
}

// quoteLine copies each ">" at the beginning of a line, and adds one before "From ". It reports whether
// it has copied any.
func quoteLine(out *bufio.Writer, in *bufio.Reader) (quoted bool) {
	for c, _ := in.Peek(1); string(c) == ">"; c, _ = in.Peek(1) {
		_, _ = in.Discard(1)
		_ = out.WriteByte('>')
		quoted = true
	}
	if next, _ := in.Peek(5); string(next) == "From " {
		_ = out.WriteByte('>')
	}
	return quoted
}
