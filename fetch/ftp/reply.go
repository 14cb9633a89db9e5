package ftp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A reply is a server's answer to a command (RFC 959 §4.2).
type reply struct {
	code int
	text string // without the code; several lines are separated by LF
}

// class is the first digit: 1 preliminary, 2 completion, 3 intermediate,
// 4 transient and 5 permanent negative.
func (r reply) class() int { return r.code / 100 }

// maxReplyLines bounds the lines of a reply besides Limits.Header, which bounds
// their octets.
const maxReplyLines = 1000

// errClosed is a control connection that ended where a reply was due.
var errClosed = &fetch.Error{Kind: fetch.ConnectionFailed, Err: errors.New("the server closed the control connection")}

// violation is a breach of the protocol; text is what the server sent.
func violation(text, what string) error {
	return &fetch.Error{Kind: fetch.Protocol, Reply: text, Err: errors.New(what)}
}

// readReply reads one reply of at most maxOctets, 0 being no bound, and shows
// each of its lines to received.
func readReply(lines *wire.LineReader, maxOctets int, received func([]byte)) (reply, error) {
	var r reply
	var text []string
	octets := 0
	for {
		line, err := readReplyLine(lines, received)
		if err != nil {
			return reply{}, err
		}
		octets += len(line)
		if len(text) == maxReplyLines || maxOctets > 0 && octets > maxOctets {
			return reply{}, violation(text[0], "an endless reply")
		}
		line = wire.TrimEOL(line)
		code, last, ok := replyCode(line)
		switch {
		case len(text) == 0 && !ok:
			return reply{}, violation(string(line), "no FTP reply")
		case len(text) == 0:
			r.code = code
		case !ok || code != r.code:
			text = append(text, replyText(line))
			continue
		}
		text = append(text, replyText(line[min(4, len(line)):]))
		if last {
			r.text = strings.Join(text, "\n")
			return r, nil
		}
	}
}

func readReplyLine(lines *wire.LineReader, received func([]byte)) ([]byte, error) {
	line, err := lines.ReadLine()
	if err == wire.ErrLineTooLong {
		return nil, &fetch.Error{Kind: fetch.Protocol, Err: err}
	}
	if len(line) > 0 {
		received(line)
	}
	switch {
	case err == io.EOF, err == nil && !bytes.HasSuffix(line, []byte("\n")):
		return nil, errClosed
	case err != nil:
		return nil, err
	case bytes.IndexByte(line, 0) >= 0:
		return nil, violation(string(wire.TrimEOL(line)), "a NUL in a reply")
	}
	return line, nil
}

// replyCode reads "123 ", "123-" or a lone "123". A line of the second kind is
// not the last one.
func replyCode(line []byte) (code int, last, ok bool) {
	if len(line) < 3 || line[0] < '1' || line[0] > '5' || !isDigit(line[1]) || !isDigit(line[2]) {
		return 0, false, false
	}
	code = int(line[0]-'0')*100 + int(line[1]-'0')*10 + int(line[2]-'0')
	return code, len(line) == 3 || line[3] != '-', len(line) == 3 || line[3] == ' ' || line[3] == '-'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// replyText undoes the doubling of IAC on the Telnet connection that the control
// connection is (RFC 959 §3.3).
func replyText(b []byte) string { return strings.ReplaceAll(string(b), "\xff\xff", "\xff") }

// minDataPort is the least port of a data connection: those below belong to the
// services of the host.
const minDataPort = 1024

// passivePort is the host and port in "227 Entering Passive Mode (h1,h2,h3,h4,p1,p2)". The
// parentheses may be missing (RFC 1123 §4.1.2.6). The host is never
// connected to: that would let the server choose whom we connect to
// (CVE-2020-8284).
func passivePort(text string) (host netip.Addr, port uint16, err error) {
	for i := range len(text) {
		if isDigit(text[i]) && (i == 0 || strings.IndexByte("0123456789,.-", text[i-1]) < 0) {
			if six, ok := hostPort(text[i:]); ok {
				port, err = dataPort(text, int(six[4])<<8|int(six[5]))
				return netip.AddrFrom4([4]byte(six[:4])), port, err
			}
		}
	}
	return host, 0, violation(text, "no host and port in the reply")
}

// hostPort reads six decimal numbers that octets can hold.
func hostPort(s string) (six [6]byte, ok bool) {
	for i := range six {
		digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
		n, err := strconv.ParseUint(s[:digits], 10, 8)
		if err != nil || digits > 3 {
			return six, false
		}
		s, six[i] = s[digits:], byte(n)
		if i < len(six)-1 {
			if s == "" || s[0] != ',' {
				return six, false
			}
			s = s[1:]
		}
	}
	return six, s == "" || s[0] != ','
}

// extendedPort is the port in "229 Entering Extended Passive Mode (|||port|)";
// the delimiter may be any printable character (RFC 2428 §3).
func extendedPort(text string) (uint16, error) {
	_, s, _ := strings.Cut(text, "(")
	s, _, closed := strings.Cut(s, ")")
	if !closed || len(s) < 5 || s[0] < '!' || s[0] > '~' || s[1] != s[0] || s[2] != s[0] || s[len(s)-1] != s[0] {
		return 0, violation(text, "no port in the reply")
	}
	port, err := strconv.ParseUint(s[3:len(s)-1], 10, 16)
	if err != nil || !isDigit(s[3]) {
		return 0, violation(text, "no port in the reply")
	}
	return dataPort(text, int(port))
}

func dataPort(text string, port int) (uint16, error) {
	if port < minDataPort {
		return 0, violation(text, fmt.Sprintf("port %d is not one for data", port))
	}
	return uint16(port), nil
}

// quotedPath is the pathname in `257 "/dir" comment`, in which a quote is
// doubled (RFC 959 appendix II).
func quotedPath(text string) (dir string, ok bool) {
	rest, ok := strings.CutPrefix(text, `"`)
	if !ok {
		return "", false
	}
	var b strings.Builder
	for {
		part, after, closed := strings.Cut(rest, `"`)
		b.WriteString(part)
		if !closed {
			return "", false
		}
		if rest, ok = strings.CutPrefix(after, `"`); !ok {
			break
		}
		b.WriteByte('"')
	}
	dir = b.String()
	return dir, dir != "" && !strings.ContainsAny(dir, "\r\n")
}

// fileSize is the number at the end of a 213 reply to SIZE (RFC 3659 §4.1), before
// which some servers repeat the name; -1 when there is none, as some say of empty
// files.
func fileSize(text string) int64 {
	text = strings.TrimSpace(text)
	before := strings.TrimRight(text, "0123456789")
	n, err := strconv.ParseInt(text[len(before):], 10, 64)
	if err != nil || strings.HasSuffix(before, "-") {
		return -1
	}
	return n
}

// fileTime is the time in a 213 reply to MDTM, "YYYYMMDDhhmmss" with a fraction or
// without (RFC 3659 §3.1); zero when it is none.
func fileTime(text string) time.Time {
	digits, _, _ := strings.Cut(strings.TrimSpace(text), ".")
	t, err := time.Parse("20060102150405", digits)
	if err != nil {
		return time.Time{}
	}
	return t
}

// announcedSize is the number in "150 Opening … (29 bytes)", which many servers
// add; -1 when there is none.
func announcedSize(text string) int64 {
	i := strings.LastIndexByte(text, '(')
	digits, _, ok := strings.Cut(text[i+1:], " bytes)")
	n, err := strconv.ParseInt(digits, 10, 64)
	if i < 0 || !ok || err != nil || !isDigit(digits[0]) {
		return -1
	}
	return n
}

// saysTruncated reports whether the reply at the end of a transfer says that the
// server left something out, as pure-ftpd's "226-Output truncated to 10000
// matches" does. Servers also repeat the name of the file, which may hold the word.
func saysTruncated(text, name string) bool {
	if name != "" {
		text = strings.ReplaceAll(text, name, "")
	}
	return strings.Contains(strings.ToLower(text), "truncated")
}
