package locator

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// HostPort is a host and an optional port (§3.1).
type HostPort struct {
	// Host is a domain name or address as written; IPv6 literals (tolerated
	// only) are without their brackets. Non-ASCII names (tolerated only) are
	// valid UTF-8 and not converted: whoever looks them up does that.
	Host string
	// Port is 0 when the URL gives none; see [DefaultPort].
	Port uint16
}

// Server is the "//user:password@host:port" of the common Internet scheme
// syntax (§3.1).
type Server struct {
	// Login is nil when the URL has no "@". Only ftp and telnet define one; http
	// has one when [HTTPLogin] was tolerated.
	Login *Login
	HostPort
}

// Login is what stands before the "@" (§3.1). An empty user or password differs
// from an absent one: "ftp://@h/" has an empty user and no password,
// "ftp://foo:@h/" the user foo and an empty password.
type Login struct {
	User, Password string
	HasPassword    bool
}

// slashes reads the "//" that the common Internet scheme syntax starts with.
func (p *parser) slashes() {
	switch {
	case strings.HasPrefix(p.s[p.i:], "//"):
		p.i += 2
	case p.tolerate(MissingSlashes):
		p.next('/')
	default:
		p.next('/')
		p.fail(p.i, "3.1", `"//" must follow the scheme`)
	}
}

// findLogin returns the index of the "@" that ends a login, or -1. Neither a
// user name nor a password holds a "/".
func (p *parser) findLogin() int {
	rest := p.s[p.i:]
	i := strings.IndexByte(rest, '@')
	if i < 0 || strings.IndexByte(rest[:i], '/') >= 0 {
		return -1
	}
	return p.i + i
}

// login reads "user [ ':' password ] '@'" up to the "@" that findLogin found.
func (p *parser) login(l *Login, end int) {
	// A "\" is no part of a login even where unsafe octets are tolerated: some
	// programs take it for a "/", and so another host for the URL's.
	if i := strings.IndexByte(p.s[p.i:end], '\\'); i >= 0 {
		p.fail(p.i+i, "2.2", `"\" must be encoded as %5C`)
		return
	}
	l.User = p.text(user, 0)
	if p.next(':') {
		l.HasPassword = true
		l.Password = p.text(password, colon)
	}
	p.expect('@', "3.1", `":", "@" and "/" must be encoded in a user name and password`)
}

// hostport reads "host [ ':' port ]".
func (p *parser) hostport(h *HostPort) {
	h.Host = p.host()
	if p.next(':') {
		h.Port = p.port()
	}
}

func (p *parser) port() uint16 {
	start, n := p.i, 0
	for p.i < len(p.s) && digit.has(p.s[p.i]) {
		n = min(n*10+int(p.s[p.i]-'0'), 1<<16)
		p.i++
	}
	switch {
	case p.i == start:
		if p.i < len(p.s) && p.s[p.i] != '/' || !p.tolerate(EmptyPort) {
			p.fail(p.i, "3.1", "a port number must follow the colon behind the host")
		}
	case n == 0 || n >= 1<<16:
		p.fail(start, "3.1", "a port is a number from 1 to 65535")
	}
	return uint16(n)
}

// host reads "hostname | hostnumber", or what [ModernHosts] tolerates.
func (p *parser) host() string {
	s := p.s[p.i:]
	if n, ok := strictHost(s); ok {
		p.i += n
		return s[:n]
	}
	n, bad := modernHost(s)
	if p.tol&ModernHosts == 0 {
		bad = explainHost(s)
	}
	if bad.msg != "" {
		p.fail(p.i+bad.offset, bad.section, bad.msg)
		return ""
	}
	p.tolerate(ModernHosts)
	p.i += n
	return strings.Trim(s[:n], "[]")
}

// The longest label and the longest name (RFC 1034 §3.1, RFC 1123 §2.1).
const (
	maxLabel = 63
	maxHost  = 255
)

// strictHost returns the length of the host that s starts with, and whether it
// is one. No branch of its loop depends on what the octets are: mispredicted
// branches are what a parse spends most of its time on.
func strictHost(s string) (n int, ok bool) {
	var wrong, top hostOctet // top is the first octet of the last label
	banned := hostOctets['.'] >> 2
	for ; n < len(s); n++ {
		o := hostOctets[s[n]]
		if o == 0 {
			break
		}
		wrong |= o & banned
		behindDot := -(banned & hyphen >> 1) // all ones or all zeros
		top = top&^behindDot | o&behindDot
		banned = o >> 2
	}
	if wrong|banned&(dot|hyphen) != 0 || !hostEnds(s[n:]) {
		return n, false
	}
	if n > maxLabel && checkLabels(s[:n]).msg != "" {
		return n, false
	}
	return n, top&letter != 0 || isIPv4(s[:n])
}

// hostOctet is what an octet is in a host, and what may not come behind it.
type hostOctet uint8

const (
	dot      hostOctet = 1
	hyphen   hostOctet = 2
	noDot              = dot << 2 // a dot may not come behind it, nor the end
	noHyphen           = hyphen << 2
	number   hostOctet = 1 << 6
	letter   hostOctet = 1 << 7
)

var hostOctets = makeHostOctets()

func makeHostOctets() (t [256]hostOctet) {
	for o := range t {
		switch {
		case alpha.has(byte(o)):
			t[o] = letter
		case digit.has(byte(o)):
			t[o] = number
		}
	}
	t['-'] = hyphen | noDot
	t['.'] = dot | noHyphen | noDot
	return t
}

// hostEnds reports whether a host may end before rest.
func hostEnds(rest string) bool {
	return rest == "" || reserved.has(rest[0]) || rest[0] == '#'
}

// isIPv4 reports whether host is four groups from 0 to 255. Groups with leading
// zeros are refused: some programs read them as octal numbers.
func isIPv4(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.Is4()
}

// explainHost says why s starts with no host by §3.1.
func explainHost(s string) failure {
	n := 0
	for n < len(s) && hostOctets[s[n]] != 0 {
		n++
	}
	if n < len(s) && !hostEnds(s[n:]) {
		return failure{n, "3.1", `a host consists of letters, digits, "-" and "."`}
	}
	if bad := checkLabels(s[:n]); bad.msg != "" {
		return bad
	}
	return failure{strings.LastIndexByte(s[:n], '.') + 1, "3.1", "the last label of a host name starts with a letter"}
}

// checkLabels says what is wrong with the labels of host, if anything.
func checkLabels(host string) failure {
	switch {
	case host == "":
		return failure{0, "3.1", "the host is missing"}
	case len(host) > maxHost:
		return failure{maxHost, "3.1", "a host has at most 255 octets"}
	case isAmbiguous(host):
		return failure{0, "3.1", "ambiguous IPv4 address; write four groups from 0 to 255 without leading zeros"}
	}
	start := 0
	for label := range strings.SplitSeq(host, ".") {
		switch {
		case label == "":
			return failure{start, "3.1", "a label of the host name is empty"}
		case len(label) > maxLabel:
			return failure{start + maxLabel, "3.1", "a label of a host name has at most 63 octets"}
		case label[0] == '-':
			return failure{start, "3.1", `a label of a host name does not start with "-"`}
		case label[len(label)-1] == '-':
			return failure{start + len(label) - 1, "3.1", `a label of a host name does not end with "-"`}
		}
		start += len(label) + 1
	}
	return failure{}
}

// isAmbiguous reports whether some programs would take host for an IPv4 address
// that it is not by §3.1: its last label, but for a final dot, is a number in
// decimal, octal or hexadecimal.
func isAmbiguous(host string) bool {
	name := strings.TrimSuffix(host, ".")
	last := name[strings.LastIndexByte(name, '.')+1:]
	digits := "0123456789"
	if strings.HasPrefix(last, "0x") || strings.HasPrefix(last, "0X") {
		last, digits = last[1:], "0123456789abcdefABCDEFxX"
	}
	return last != "" && strings.Trim(last, digits) == "" && !isIPv4(host)
}

// modernHost returns the length of the host by [ModernHosts] that s starts with,
// brackets included, or what is wrong with it.
func modernHost(s string) (n int, bad failure) {
	if strings.HasPrefix(s, "[") {
		return ipv6Literal(s)
	}
	for n < len(s) && !hostEnds(s[n:]) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !inModernHost(r, size) {
			return 0, failure{n, "3.1", `a host consists of letters, digits, "-", "_" and "."`}
		}
		n += size
	}
	if host := s[:n]; !isAmbiguous(host) {
		s = strings.TrimSuffix(host, ".")
	}
	return n, checkLabels(s)
}

func inModernHost(r rune, size int) bool {
	if r < utf8.RuneSelf {
		return (alpha | digit).has(byte(r)) || r == '-' || r == '.' || r == '_'
	}
	return (r != utf8.RuneError || size > 1) && (unicode.IsLetter(r) || unicode.IsMark(r))
}

func ipv6Literal(s string) (n int, bad failure) {
	end := strings.IndexByte(s, ']')
	if end < 0 || !hostEnds(s[end+1:]) {
		return 0, failure{0, "3.1", "an IPv6 address stands between [ and ]"}
	}
	a, err := netip.ParseAddr(s[1:end])
	if err != nil || !a.Is6() || a.Zone() != "" {
		return 0, failure{1, "3.1", "no IPv6 address; zones are not supported"}
	}
	return end + 1, failure{}
}

// appendLogin appends "user:password@", the password as "***" if hidden.
func (l *Login) append(b []byte, hidden bool) []byte {
	if l == nil {
		return b
	}
	b = appendDecoded(b, l.User, user)
	if l.HasPassword || l.Password != "" {
		b = append(b, ':')
		if hidden {
			b = append(b, "***"...)
		} else {
			b = appendDecoded(b, l.Password, password)
		}
	}
	return append(b, '@')
}

// append appends "host:port".
func (h HostPort) append(b []byte) []byte {
	b = appendHost(b, h.Host)
	if h.Port != 0 {
		b = append(b, ':')
		b = strconv.AppendUint(b, uint64(h.Port), 10)
	}
	return b
}

// appendHost appends a host, in brackets if it is an IPv6 address. What can be
// in no host is encoded, which makes it one that nothing accepts.
func appendHost(b []byte, host string) []byte {
	if a, err := netip.ParseAddr(host); err == nil && a.Is6() && a.Zone() == "" {
		b = append(b, '[')
		b = append(b, host...)
		return append(b, ']')
	}
	for i, r := range host {
		size := max(utf8.RuneLen(r), 1)
		if r == utf8.RuneError && !strings.HasPrefix(host[i:], string(r)) {
			size = 1
		}
		if inModernHost(r, size) {
			b = append(b, host[i:i+size]...)
			continue
		}
		for _, octet := range []byte(host[i : i+size]) {
			b = appendEscape(b, octet)
		}
	}
	return b
}
