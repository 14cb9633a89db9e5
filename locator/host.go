package locator

import (
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"
)

// host reads "hostname | hostnumber", or a host that [ModernHosts] tolerates.
func (p *parser) host() string {
	s := p.s[p.i:]
	if n, ok := strictHost(s); ok {
		p.i += n
		return s[:n]
	}
	if !p.tolerate(ModernHosts) {
		offset, msg := explainHost(s)
		p.fail(p.i+offset, "3.1", msg)
		return ""
	}
	n, offset, msg := modernHost(s)
	if msg != "" {
		p.fail(p.i+offset, "3.1", msg)
		return ""
	}
	p.i += n
	return strings.Replace(strings.Trim(s[:n], "[]"), "%25", "%", 1)
}

// The longest label and the longest name (RFC 1034 §3.1, RFC 1123 §2.1).
const (
	maxLabel = 63
	maxHost  = 255
)

// strictHost returns the length of the host that s starts with, and whether it is a host by §3.1. No
// branch of its loop depends on the octets, because a parser spends most of its time on mispredicted
// branches.
func strictHost(s string) (n int, ok bool) {
	var wrong hostOctet
	banned := hostOctets['.'] >> 2
	for ; n < len(s); n++ {
		o := hostOctets[s[n]]
		if o == 0 {
			break
		}
		wrong |= o & banned
		banned = o >> 2
	}
	if wrong|banned&(dot|hyphen) != 0 || !hostEnds(s[n:]) {
		return n, false
	}
	if n > maxLabel && !labelsAreRight(s[:n]) {
		return n, false
	}
	top := n - 1
	for top > 0 && s[top-1] != '.' {
		top--
	}
	return n, alpha.has(s[top]) || isIPv4(s[:n])
}

// hostOctet is the class of an octet in a host, and the classes that may not follow it.
type hostOctet uint8

const (
	dot           hostOctet = 1
	hyphen        hostOctet = 2
	noDot                   = dot << 2 // neither a dot nor the end may follow
	noHyphen                = hyphen << 2
	letterOrDigit hostOctet = 1 << 7
)

var hostOctets = makeHostOctets()

func makeHostOctets() (t [256]hostOctet) {
	for o := range t {
		if (alpha | digit).has(byte(o)) {
			t[o] = letterOrDigit
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

// isIPv4 reports whether host is four groups from 0 to 255. Groups with leading zeros are refused,
// because some programs read them as octal numbers.
func isIPv4(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.Is4()
}

func labelsAreRight(host string) bool {
	_, msg := checkLabels(host)
	return msg == ""
}

// explainHost returns why s does not start with a host by §3.1, and the offset of the error.
func explainHost(s string) (offset int, msg string) {
	n := 0
	for n < len(s) && hostOctets[s[n]] != 0 {
		n++
	}
	if !hostEnds(s[n:]) {
		return n, `a host consists of letters, digits, "-" and "."`
	}
	if offset, msg = checkLabels(s[:n]); msg == "" {
		offset, msg = strings.LastIndexByte(s[:n], '.')+1, "the last label of a host name starts with a letter"
	}
	return offset, msg
}

// checkLabels returns what is wrong with host, and the offset of the error. msg is empty if host is
// valid. It does not check the octets.
func checkLabels(host string) (offset int, msg string) {
	switch {
	case host == "":
		return 0, "the host is missing"
	case len(host) > maxHost:
		return maxHost, "a host name has at most 255 bytes"
	case isAmbiguous(host):
		return 0, "ambiguous IPv4 address; write four groups from 0 to 255 without leading zeros"
	}
	for label := range strings.SplitSeq(host, ".") {
		switch {
		case label == "":
			return offset, "a label of the host name is empty"
		case len(label) > maxLabel:
			return offset + maxLabel, "a label of a host name has at most 63 bytes"
		case label[0] == '-':
			return offset, `a label of a host name does not start with "-"`
		case label[len(label)-1] == '-':
			return offset + len(label) - 1, `a label of a host name does not end with "-"`
		}
		offset += len(label) + 1
	}
	return 0, ""
}

// isAmbiguous reports whether some programs would read host as an IPv4 address although it is not one
// by §3.1: all its labels, before a final dot, are numbers in decimal, octal or hexadecimal.
func isAmbiguous(host string) bool {
	name := strings.TrimSuffix(host, ".")
	for label := range strings.SplitSeq(name, ".") {
		digits := "0123456789"
		if strings.HasPrefix(label, "0x") || strings.HasPrefix(label, "0X") {
			label, digits = label[1:], "0123456789abcdefABCDEFxX"
		}
		if strings.Trim(label, digits) != "" {
			return false
		}
	}
	return name != "" && !isIPv4(host)
}

// modernHost returns the length, with brackets, of the host that s starts with by [ModernHosts]; or
// what is wrong with it, and the offset of the error.
func modernHost(s string) (n, offset int, msg string) {
	if strings.HasPrefix(s, "[") {
		return ipv6Literal(s)
	}
	for !hostEnds(s[n:]) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !inModernHost(r, size) {
			return 0, n, `a host consists of letters, digits, "-", "_" and "."`
		}
		n += size
	}
	host := s[:n]
	if !isAmbiguous(host) {
		host = strings.TrimSuffix(host, ".")
	}
	offset, msg = checkLabels(host)
	return n, offset, msg
}

func inModernHost(r rune, size int) bool {
	if r < utf8.RuneSelf {
		return (alpha | digit).has(byte(r)) || r == '-' || r == '.' || r == '_'
	}
	return (r != utf8.RuneError || size > 1) && (unicode.IsLetter(r) || unicode.IsMark(r))
}

// ipv6Literal parses "[address]" at the start of s, and returns its length. If msg is not empty, it
// is the problem at offset.
func ipv6Literal(s string) (n, offset int, msg string) {
	end := strings.IndexByte(s, ']')
	if end < 0 || !hostEnds(s[end+1:]) {
		return 0, 0, `an IPv6 address must be enclosed in "[" and "]"`
	}
	literal, zone, zoned := strings.Cut(s[1:end], "%")
	a, err := netip.ParseAddr(literal)
	switch at := 1 + len(literal); {
	case err != nil || !a.Is6():
		return 0, 1, "not an IPv6 address"
	case !zoned:
	case !a.IsLinkLocalUnicast():
		return 0, at, "only a link-local IPv6 address (fe80::/10) can have a zone"
	default:
		if offset, msg := checkZone(zone); msg != "" {
			return 0, at + offset, msg
		}
	}
	return end + 1, 0, ""
}

// checkZone returns what is wrong with the zone of an address, and the offset of the error from the
// "%". zone is the text after the "%". RFC 6874 writes "%25eth0"; "%eth0" is common. A zone that could
// be either, or an escape, is refused.
func checkZone(zone string) (offset int, msg string) {
	name, encoded := strings.CutPrefix(zone, "25")
	if name == "" || !encoded && isEscape("%"+zone) {
		return 0, `ambiguous zone of an IPv6 address; write "%25" before its name`
	}
	for i := range len(name) {
		if hostOctets[name[i]] == 0 && name[i] != '_' {
			return 1 + len(zone) - len(name) + i, `a zone consists of letters, digits, "-", "_" and "."`
		}
	}
	return 0, ""
}

// appendHost appends a host, in brackets if it is an IPv6 address. It encodes octets that no host may
// contain; the result is a URL that no parser accepts.
func appendHost(b []byte, host string) []byte {
	if a, err := netip.ParseAddr(host); err == nil && a.Is6() && (a.Zone() == "" || a.IsLinkLocalUnicast()) {
		b = append(b, '[')
		literal, zone, zoned := strings.Cut(host, "%")
		b = append(b, literal...)
		if zoned {
			b = appendEncodedHost(append(b, "%25"...), zone)
		}
		return append(b, ']')
	}
	return appendEncodedHost(b, host)
}

// appendEncodedHost appends a host, with escapes for what no host name has.
func appendEncodedHost(b []byte, host string) []byte {
	for len(host) > 0 {
		r, size := utf8.DecodeRuneInString(host)
		for _, octet := range []byte(host[:size]) {
			if inModernHost(r, size) {
				b = append(b, octet)
			} else {
				b = appendEscape(b, octet)
			}
		}
		host = host[size:]
	}
	return b
}
