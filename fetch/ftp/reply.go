package ftp

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
)

// minDataPort is the lowest port of a data connection. Lower ports belong to other services of
// the host.
const minDataPort = 1024

// passivePort returns the host and port in "227 Entering Passive Mode (h1,h2,h3,h4,p1,p2)". Only the
// six numbers count: the parentheses may be missing (RFC 1123 §4.1.2.6), and some servers send spaces
// around the commas. Numbers that are a part of a longer list, or of another number, are not taken.
// The host is never connected to: that would let the server make the client connect to any host
// (CVE-2020-8284).
func passivePort(text string) (host netip.Addr, port uint16, err error) {
	for i := range len(text) {
		if isDigit(text[i]) && mayBegin(text[:i]) {
			if six, ok := hostPort(text[i:]); ok {
				port, err = dataPort(text, int(six[4])<<8|int(six[5]))
				return netip.AddrFrom4([4]byte(six[:4])), port, err
			}
		}
	}
	return host, 0, talk.Violation(text, "no host and port in the reply to PASV")
}

// mayBegin reports whether a list of numbers may begin after before.
func mayBegin(before string) bool {
	if before != "" && strings.IndexByte("0123456789.-", before[len(before)-1]) >= 0 {
		return false
	}
	list, comma := strings.CutSuffix(strings.TrimRight(before, blanks), ",")
	list = strings.TrimRight(list, blanks)
	return !comma || list == "" || !isDigit(list[len(list)-1])
}

// blanks are the characters that servers send around the numbers of a reply.
const blanks = " \t"

// hostPort parses six decimal numbers from 0 to 255.
func hostPort(s string) (six [6]byte, ok bool) {
	for i := range six {
		number, rest := leadingDigits(s)
		n, err := strconv.ParseUint(number, 10, 8)
		if err != nil || len(number) > 3 {
			return six, false
		}
		six[i] = byte(n)
		after, comma := strings.CutPrefix(strings.TrimLeft(rest, blanks), ",")
		s = strings.TrimLeft(after, blanks)
		if i == len(six)-1 {
			return six, !comma || s == "" || !isDigit(s[0])
		}
		if !comma {
			return six, false
		}
	}
	return six, true
}

// leadingDigits splits s after its leading decimal digits.
func leadingDigits(s string) (digits, rest string) {
	rest = strings.TrimLeft(s, "0123456789")
	return s[:len(s)-len(rest)], rest
}

// extendedPort returns the port in "229 Entering Extended Passive Mode (|||port|)"; the delimiter may
// be any printable character (RFC 2428 §3) but a digit. Some servers send spaces around the port, or
// leave out the last delimiter or, if it is "|", the parentheses.
func extendedPort(text string) (uint16, error) {
	for i := range text {
		rest, ok := strings.CutPrefix(text[i:], strings.Repeat(text[i:i+1], 3))
		if !ok || !mayDelimit(text[:i], text[i]) {
			continue
		}
		number, rest := leadingDigits(strings.TrimLeft(rest, blanks))
		port, err := strconv.ParseUint(number, 10, 16)
		rest, last := strings.CutPrefix(strings.TrimLeft(rest, blanks), text[i:i+1])
		if err == nil && (last && !strings.HasPrefix(rest, text[i:i+1]) || strings.HasPrefix(rest, ")")) {
			return dataPort(text, int(port))
		}
	}
	return 0, talk.Violation(text, "no port in the reply to EPSV")
}

// mayDelimit reports whether the octet d after before may be the first delimiter of an address.
func mayDelimit(before string, d byte) bool {
	if d == '|' {
		return !strings.HasSuffix(before, "|")
	}
	return '!' <= d && d <= '~' && !isDigit(d) && strings.HasSuffix(before, "(")
}

// dataPort returns port, or an error if a service other than FTP may use it.
func dataPort(text string, port int) (uint16, error) {
	if port < minDataPort {
		return 0, talk.Violation(text, fmt.Sprintf("invalid data port %d: lower than %d", port, minDataPort))
	}
	return uint16(port), nil
}

// quotedPath returns the pathname in `257 "/dir" comment`, in which quotes are
// doubled (RFC 959 appendix II). Some servers also send text before it. A pathname with a control
// character is refused, because it would become an argument of CWD.
func quotedPath(text string) (dir string, ok bool) {
	_, rest, ok := strings.Cut(text, `"`)
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
	if strings.ContainsFunc(dir, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", false
	}
	return dir, dir != ""
}

// certainPath is quotedPath without a pathname that has two bytes IAC in a row: some servers double
// each of them in a reply, others do not.
func certainPath(text string) string {
	dir, _ := quotedPath(text)
	if strings.Contains(dir, iac+iac) {
		return ""
	}
	return dir
}

// fileSize returns the number at the end of a 213 reply to SIZE (RFC 3659 §4.1). Some servers
// repeat the name before it. It returns -1 if there is no number; some servers send none
// for an empty file.
func fileSize(text string) int64 {
	text = strings.TrimSpace(text)
	before := strings.TrimRight(text, "0123456789")
	n, err := strconv.ParseInt(text[len(before):], 10, 64)
	if err != nil || strings.HasSuffix(before, "-") {
		return -1
	}
	return n
}

// fileTime returns the time in a 213 reply to MDTM, "YYYYMMDDhhmmss" with an optional
// fraction (RFC 3659 §3.1). It returns the zero Time if there is no valid time.
func fileTime(text string) time.Time {
	digits, _, _ := strings.Cut(strings.TrimSpace(text), ".")
	t, err := time.Parse("20060102150405", digits)
	if err != nil {
		return time.Time{}
	}
	return t
}

// announcedSize returns the number in "150 Opening … (29 bytes)", which many servers
// send; -1 if there is no number. The name of the file may have the same form.
func announcedSize(text, name string) int64 {
	if strings.Contains(name, " bytes)") {
		text = strings.ReplaceAll(text, name, "")
	}
	i := strings.LastIndexByte(text, '(')
	digits, _, ok := strings.Cut(text[i+1:], " bytes)")
	n, err := strconv.ParseInt(digits, 10, 64)
	if i < 0 || !ok || err != nil || !isDigit(digits[0]) {
		return -1
	}
	return n
}

// kbytesPrecision is how exact announcedRest is, in bytes: half of 0.1 kbytes.
const kbytesPrecision = 52

// announcedRest returns the number of bytes that Pure-FTPd states will follow, rounded, in
// "150 7215.4 kbytes to download"; -1 if there is no such number.
func announcedRest(text string) int64 {
	number, ok := strings.CutSuffix(text[strings.LastIndexByte(text, '\n')+1:], " kbytes to download")
	n, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || n < 0 || n >= 1<<50 {
		return -1
	}
	return int64(n * 1024)
}

// shortfalls are phrases in the last reply to a transfer, in lower case, by which servers say that
// they have left something out, although the code of the reply is that of a success.
var shortfalls = []struct {
	phrase  string
	listing bool // only of listings
	kind    fetch.ErrorKind
}{

	{"truncated", false, fetch.ErrTruncated},                // Pure-FTPd: 226-Output truncated to 10000 matches
	{"failed to open directory", true, fetch.ErrPermission}, // vsftpd: 226 Transfer done (but failed to open directory).
	{"unable to read", true, fetch.ErrPermission},           // Pure-FTPd: 226-Sorry, we were unable to read [.]
	{"permission denied", true, fetch.ErrPermission},
	{"access denied", true, fetch.ErrPermission},
	{"access is denied", true, fetch.ErrPermission},
}

// shortfall returns the kind of the error if the last reply to a transfer says that the server has
// left something out. Servers also repeat names, which may contain such a phrase.
func shortfall(text string, listing bool, names ...string) (fetch.ErrorKind, bool) {
	text = strings.ToLower(text)
	for _, s := range shortfalls {
		rest := text
		for _, name := range names {
			if name = strings.ToLower(name); strings.Contains(name, s.phrase) {
				rest = strings.ReplaceAll(rest, name, "")
			}
		}
		if (listing || !s.listing) && strings.Contains(rest, s.phrase) {
			return s.kind, true
		}
	}
	return fetch.ErrOther, false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// features holds the reply to FEAT (RFC 2389): the parameters of each extension to
// RFC 959 that the server supports, by its name in upper case.
type features map[string]string

// parseFeatures parses the reply to FEAT. The lines of features are those between the first and the
// last. RFC 2389 §3.2 has one space before each; some servers send a tab, several spaces, none, or
// "211-", which is no part of the text.
func parseFeatures(text string) features {
	f := features{}
	lines := strings.Split(text, "\n")
	for _, line := range lines[1:max(1, len(lines)-1)] {
		name, parameters := strings.TrimSpace(line), ""
		if i := strings.IndexAny(name, blanks); i >= 0 {
			name, parameters = name[:i], strings.TrimLeft(name[i:], blanks)
		}
		if name != "" {
			f[strings.ToUpper(name)] = parameters
		}
	}
	return f
}
