package locator

import "strings"

// Redact returns text with its password replaced by "***", and otherwise unchanged. If text is not a
// URL that p accepts, or if its scheme has no grammar here, it hides every part that may be a
// password.
func (p Parser) Redact(text string) string {
	from, to := p.FindPassword(text)
	return hide(text, from, to)
}

// FindPassword returns the position of the password that [Parser.Redact] hides: text[from:to]. That is
// empty if there is no password.
func (p Parser) FindPassword(text string) (from, to int) {
	if len(text) > MaxLength {
		return findPassword(text)
	}
	r, secret, bad := p.read(text)
	if _, opaque := r.Locator.(*Opaque); opaque || bad.msg != "" {
		return findPassword(text)
	}
	return secret.from, secret.to
}

// HasPassword reports whether a URL has a password, which may be empty. If its scheme has no grammar
// here, any part that may be a password counts.
func HasPassword(l Locator) bool {
	s, _ := ServerOf(l)
	if s.Login != nil && (s.Login.HasPassword || s.Login.Password != "") {
		return true
	}
	o, ok := l.(*Opaque)
	return ok && o.Redacted() != o.String()
}

// redact replaces every part of text that may be a password by "***". The text need not be a URL.
func redact(text string) string {
	from, to := findPassword(text)
	return hide(text, from, to)
}

// hide replaces the bytes between two offsets by "***", if there are any.
func hide(text string, from, to int) string {
	if from == to {
		return text
	}
	return text[:from] + "***" + text[to:]
}

// findPassword returns the part of text that may be a password: from the first colon after the scheme
// to the last "@". No octet between them ends the search, because a malformed password may contain any
// octet.
func findPassword(text string) (from, to int) {
	scheme, body := skipScheme(text)
	end := strings.LastIndexByte(text, '@')
	if end < body {
		return findUnfinished(text, scheme, body)
	}
	if body > 0 && text[body-1] == ':' && !hasAddress(scheme) {
		// Without slashes it may be "user:password@host".
		return body, end
	}
	if i := strings.IndexByte(text[body:end], ':'); i >= 0 {
		return body + i + 1, end
	}
	return 0, 0
}

// findUnfinished is findPassword for a text without "@", such as "ftp://user:password".
func findUnfinished(text, scheme string, body int) (from, to int) {
	if scheme == "news" || DefaultPort(scheme) == 0 && body > 0 && text[body-1] == ':' {
		return 0, 0 // no such scheme has a login
	}
	authority := text[body:]
	if i := strings.IndexByte(authority, '/'); i >= 0 {
		authority = authority[:i]
	}
	if i := strings.IndexByte(authority, ']'); i >= 0 && strings.Trim(authority[:i], "[0123456789ABCDEFabcdef:.") == "" {
		authority = authority[i:] // skip an IPv6 address
		body += i
	}
	i := strings.IndexByte(authority, ':')
	if i < 0 || strings.Trim(authority[i+1:], "0123456789") == "" {
		return 0, 0 // at most a port
	}
	return body + i + 1, len(text)
}

// skipScheme returns the scheme that text starts with, in lower case, and the index of the first octet
// after the scheme and its slashes. It skips "<" and "URL:".
func skipScheme(text string) (scheme string, body int) {
	const space = " \t\r\n"
	rest := strings.TrimLeft(text, space+"<")
	if len(rest) >= 4 && strings.EqualFold(rest[:4], "URL:") {
		rest = strings.TrimLeft(rest[4:], space)
	}
	n := 0
	for n < len(rest) && schemeOctet.has(rest[n]) {
		n++
	}
	if n < len(rest) && rest[n] == ':' {
		scheme = strings.ToLower(rest[:n])
		rest = strings.TrimLeft(rest[n+1:], space+`/\`)
	}
	return scheme, len(text) - len(rest)
}

// hasAddress reports whether URLs of a scheme contain an "@" that does not end a login.
func hasAddress(scheme string) bool {
	switch scheme {
	case "mailto", "news", "snews", "mid", "cid", "mailserver":
		return true
	}
	return false
}
