// Package idn converts names of hosts with letters beyond ASCII to the form that is looked up and
// sent: "münchen.example" to "xn--mnchen-3ya.example" (RFC 5891). It is the only package that uses
// x/net/idna, which has the tables of Unicode and follows browsers (UTS 46). net/http has the same
// tables in a copy that other packages cannot import, so a program has them twice.
package idn

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/fetch1738/fetch1738/locator"
)

// ASCII returns a name in ASCII, by the rules of idna.Lookup, which net/http uses. A name in ASCII is
// returned as it is: those rules do not permit the "_" of many names.
func ASCII(host string) (string, error) {
	if IsASCII(host) {
		return host, nil
	}
	ascii, err := idna.Lookup.ToASCII(host)
	switch {
	case err != nil:
		return "", fmt.Errorf("bad host %q: IDNA does not permit it: %w", host, err)
	case ascii == "" || !utf8.ValidString(host): // ToASCII takes what is not UTF-8 for U+FFFD
		return "", fmt.Errorf("bad host %q: IDNA does not permit it", host)
	}
	return ascii, nil
}

// IsASCII reports whether s has no byte beyond ASCII.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Same reports whether two names are those of one host, in either form and without regard to case.
func Same(a, b string) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	if IsASCII(a) && IsASCII(b) {
		return false
	}
	x, err1 := ASCII(a)
	y, err2 := ASCII(b)
	return err1 == nil && err2 == nil && strings.EqualFold(x, y)
}

// URL returns the text of a URL with its host in ASCII. Archives have a host in either form, and also
// percent-encoded, as package net/url writes it. A text with another host is returned as it is, also
// if IDNA does not permit it.
func URL(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	end := strings.IndexAny(rest+"/", "/?#\\")
	start := strings.LastIndexByte(rest[:end], '@') + 1
	if port := strings.LastIndexByte(rest[:end], ':'); port >= start {
		end = port
	}
	host, err := url.PathUnescape(rest[start:end])
	if !ok || err != nil || IsASCII(host) {
		return text
	}
	if host, err = ASCII(host); err != nil {
		return text
	}
	return scheme + "://" + rest[:start] + host + rest[end:]
}

// Locator returns l with its host in ASCII. Only the URLs of schemes with a grammar are changed.
func Locator(l locator.Locator) (locator.Locator, error) {
	server, ok := locator.AuthorityOf(l)
	if !ok || IsASCII(server.Host) {
		return l, nil
	}
	host, err := ASCII(server.Host)
	if err != nil {
		return l, err
	}
	server.Host = host
	return locator.WithHostPort(l, server.HostPort), nil
}
