package locator

import "strings"

// Reference is a parsed URL with the text it was read from.
type Reference struct {
	Locator     Locator
	Fragment    string    // the text after "#", still encoded
	HasFragment bool      // whether the text has a "#"
	Used        Tolerance // the departures that the text needed
	Text        string    // the original text; it shows the password
	// HyphenBreak is set if a line was broken after a hyphen. The hyphen is kept, but may have been
	// added with the break (Appendix).
	HyphenBreak bool
}

// String returns the canonical URL with the fragment. It shows the password.
func (r Reference) String() string {
	if r.Locator == nil {
		return r.fragment()
	}
	return r.Locator.String() + r.fragment()
}

// Redacted returns String with the password replaced by "***".
func (r Reference) Redacted() string {
	if r.Locator == nil {
		return r.fragment()
	}
	return r.Locator.Redacted() + r.fragment()
}

// fragment returns the fragment with its "#", encoded; "" means no fragment.
func (r Reference) fragment() string {
	if !r.HasFragment && r.Fragment == "" {
		return ""
	}
	return string(appendEncoded([]byte{'#'}, r.Fragment, xchar))
}

// reference parses s, or returns why it is not a URL.
func (p Parser) reference(s string) (Reference, failure) {
	r, _, bad := p.read(s)
	return r, bad
}

// read parses s, and returns the position of the password in s.
func (p Parser) read(s string) (r Reference, secret span, bad failure) {
	w := wrapped{url: s}
	if p.Tolerate&WrappedText != 0 {
		w = unwrap(s)
	}
	r = Reference{Text: s, HyphenBreak: w.hyphenBreak}
	if w.url != s {
		r.Used = WrappedText
	}
	url := w.url
	if p.Tolerate&Fragments != 0 {
		url, r.Fragment, r.HasFragment = strings.Cut(w.url, "#")
	}
	u := parser{s: url, size: len(url), tol: p.Tolerate}
	r.Locator = u.url()
	if _, opaque := r.Locator.(*Opaque); opaque && r.HasFragment {
		encoded := r.Locator.String() // a backslash becomes %5C, which is not skipped as a slash is
		if inPassword(w.url, len(url)) || inPassword(encoded+w.url[len(url):], len(encoded)) {
			u.fail(len(url), "2.2", `ambiguous "#": in a password it must be encoded as %23`)
		}
	}
	if u.bad.msg == "" && r.HasFragment {
		r.Used |= Fragments
		r.Fragment = u.fragment(w.url, len(url)+1)
	}
	r.Used |= u.used
	if u.bad.msg != "" {
		u.bad.offset = w.offset(s, u.bad.offset)
		return Reference{}, span{}, u.bad
	}
	if u.secret.to > 0 {
		u.secret = span{w.offset(s, u.secret.from), w.offset(s, u.secret.to)}
	}
	return r, u.secret, failure{}
}

// inPassword reports whether the octet at offset i of text may be part of a password.
func inPassword(text string, i int) bool {
	from, to := findPassword(text)
	return from <= i && i < to
}

// fragment reads the fragment of text, which starts at offset i. It is not sent, so another "#" in it
// makes no difference to the server.
func (p *parser) fragment(text string, i int) string {
	p.s, p.i = text, i
	fragment := []byte(p.encoded(xchar, 0))
	for p.i < len(p.s) && p.s[p.i] == '#' && p.tolerate(UnsafeOctets) {
		p.i++
		fragment = append(append(fragment, "%23"...), p.encoded(xchar, 0)...)
	}
	p.end("2.2")
	return string(fragment)
}

// wrapped is a text without its wrapper.
type wrapped struct {
	url         string
	start       int  // offset of url in the text
	squeezed    bool // whether white space was removed from url
	hyphenBreak bool
}

const whiteSpace = " \t\r\n\v\f"

// unwrap removes white space, angle brackets and "URL:" from s. White space inside the URL is removed
// only between angle brackets, which show where the URL ends.
func unwrap(s string) (w wrapped) {
	w.url = strings.TrimRight(s, whiteSpace)
	trim := func() { w.url = strings.TrimLeft(w.url, whiteSpace) }
	trim()
	if n := len(w.url); n >= 2 && w.url[0] == '<' && w.url[n-1] == '>' {
		w.url = strings.TrimRight(w.url[1:n-1], whiteSpace)
		w.squeezed = true
		s = s[:strings.LastIndexByte(s, '>')]
		trim()
	}
	if len(w.url) >= len("URL:") && strings.EqualFold(w.url[:4], "URL:") {
		w.url = w.url[4:]
		trim()
	}
	w.start = len(strings.TrimRight(s, whiteSpace)) - len(w.url)
	if w.squeezed = w.squeezed && strings.ContainsAny(w.url, whiteSpace); w.squeezed {
		w.url, w.hyphenBreak = squeeze(w.url)
	}
	return w
}

// squeeze removes white space, and reports whether there was a line break after a hyphen.
func squeeze(s string) (squeezed string, hyphenBreak bool) {
	b := make([]byte, 0, len(s))
	for _, octet := range []byte(s) {
		if !isSpace(octet) {
			b = append(b, octet)
		} else if (octet == '\n' || octet == '\r') && len(b) > 0 && b[len(b)-1] == '-' {
			hyphenBreak = true
		}
	}
	return string(b), hyphenBreak
}

func isSpace(octet byte) bool { return strings.IndexByte(whiteSpace, octet) >= 0 }

// offset returns the offset in text of the octet at offset n of w.url.
func (w wrapped) offset(text string, n int) int {
	i := w.start
	if !w.squeezed {
		return i + n
	}
	for ; i < len(text) && (n > 0 || isSpace(text[i])); i++ {
		if !isSpace(text[i]) {
			n--
		}
	}
	return i
}
