package locator

// class is a set of octets, in the terms of RFC 1738 §5. Every reserved character has its own class,
// so that the class of a component looks like its production.
type class uint16

const (
	unreserved class = 1 << iota // alpha | digit | safe | extra
	semicolon
	slash
	question
	colon
	at
	ampersand
	equals
	alpha
	digit
	groupMark  // allowed in the name of a newsgroup, besides letters and digits
	schemeMark // allowed in the name of a scheme, besides letters and digits
	hexDigit
	unsafe // tolerated by [UnsafeOctets]: space, "national" and 80-FF
)

// The components of §5 whose productions are a repetition of characters. Each of them may also contain
// escapes.
const (
	uchar       = unreserved
	xchar       = unreserved | reserved
	reserved    = semicolon | slash | question | colon | at | ampersand | equals
	user        = unreserved | semicolon | question | ampersand | equals
	password    = user
	fsegment    = unreserved | question | colon | at | ampersand | equals
	hpath       = unreserved | semicolon | colon | at | ampersand | equals | slash
	search      = unreserved | semicolon | colon | at | ampersand | equals
	article     = unreserved | semicolon | slash | question | colon | ampersand | equals
	psegment    = unreserved | question | colon | at | ampersand | equals
	ppath       = psegment | slash
	fieldname   = unreserved | question | colon | at | ampersand
	fieldvalue  = fieldname
	groupOctet  = alpha | digit | groupMark
	schemeOctet = alpha | digit | schemeMark
)

// classes has the classes of each octet.
var classes = makeClasses()

func makeClasses() (t [256]class) {
	add := func(octets string, c class) {
		for i := range len(octets) {
			t[octets[i]] |= c
		}
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	add(letters, unreserved|alpha)
	add("0123456789", unreserved|digit|hexDigit)
	add("abcdefABCDEF", hexDigit)
	add("$-_.+", unreserved)
	add("!*'(),", unreserved)
	add("-.+_", groupMark)
	add("-.+", schemeMark)
	add(";", semicolon)
	add("/", slash)
	add("?", question)
	add(":", colon)
	add("@", at)
	add("&", ampersand)
	add("=", equals)
	add(" {}|\\^~[]`", unsafe)
	for o := 0x80; o <= 0xFF; o++ {
		t[o] |= unsafe
	}
	return t
}

func (c class) has(octet byte) bool { return classes[octet]&c != 0 }

// isEscape reports whether s starts with an escape: "%" and two hexadecimal
// digits.
func isEscape(s string) bool {
	return len(s) >= 3 && s[0] == '%' && hexDigit.has(s[1]) && hexDigit.has(s[2])
}

// unhex returns the value of a hexadecimal digit.
func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c&^0x20 - 'A' + 10
}

// appendDecoded appends octets to b, and encodes those that are not in c.
func appendDecoded(b []byte, octets string, c class) []byte {
	for i := range len(octets) {
		if c.has(octets[i]) {
			b = append(b, octets[i])
		} else {
			b = appendEscape(b, octets[i])
		}
	}
	return b
}

// appendEncoded appends text that is already encoded. It keeps escapes as they are, and encodes other
// octets that are not in c.
func appendEncoded(b []byte, text string, c class) []byte {
	for i := 0; i < len(text); i++ {
		if c.has(text[i]) {
			b = append(b, text[i])
		} else if isEscape(text[i:]) {
			b = append(b, text[i:i+3]...)
			i += 2
		} else {
			b = appendEscape(b, text[i])
		}
	}
	return b
}

// decodeWords decodes encoded search words, in which "+" means a space, as in browsers.
func decodeWords(encoded string) string {
	b := make([]byte, 0, len(encoded))
	for i := 0; i < len(encoded); i++ {
		switch {
		case encoded[i] == '+':
			b = append(b, ' ')
		case isEscape(encoded[i:]):
			b = append(b, unhex(encoded[i+1])<<4|unhex(encoded[i+2]))
			i += 2
		default:
			b = append(b, encoded[i])
		}
	}
	return string(b)
}

func appendEscape(b []byte, octet byte) []byte {
	const digits = "0123456789ABCDEF"
	return append(b, '%', digits[octet>>4], digits[octet&0xF])
}

// usualLength is the size of a buffer for most URLs, small enough for the stack.
const usualLength = 128
