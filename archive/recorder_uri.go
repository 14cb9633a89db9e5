package archive

import (
	"net/url"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/percent"
	"github.com/fetch1738/fetch1738/locator"
)

// targetURI returns the WARC-Target-URI of a resource: its URL without a login and the default port,
// in ASCII, so that "host:21" in a listing is the URL that was typed. That of a directory ends in
// "/".
func targetURI(l locator.Locator, kind fetch.Kind) string {
	l, _ = locator.WithLogin(l, nil)
	switch a := l.(type) {
	case *locator.FTP:
		c := *a
		c.HasPath, c.HostPort = true, usual(a.HostPort, a.Scheme())
		if kind == fetch.KindDirectory && !strings.ContainsAny(c.Name, "*?[") {
			if c.Type = 0; c.Name != "" {
				c.CWD, c.Name = append(c.CWD[:len(c.CWD):len(c.CWD)], c.Name), ""
			}
		}
		l = &c
	case *locator.HTTP:
		c := *a
		c.HasPath, c.HostPort = true, usual(a.HostPort, a.Scheme())
		l = &c
	case *locator.Gopher:
		c := *a
		if c.HostPort = usual(a.HostPort, a.Scheme()); !c.HasPath {
			c.HasPath, c.Type = true, '1'
		}
		l = &c
	case *locator.NNTP:
		c := *a
		c.HostPort = usual(a.HostPort, a.Scheme())
		l = &c
	case *locator.News:
		c := *a
		c.HostPort = usual(a.HostPort, a.Scheme())
		l = &c
	case *locator.WAIS:
		c := *a
		c.HostPort = usual(a.HostPort, a.Scheme())
		l = &c
	case *locator.Prospero:
		c := *a
		c.HostPort = usual(a.HostPort, a.Scheme())
		l = &c
	}
	uri := escaped(l.String())
	if _, ok := l.(*locator.File); ok && kind == fetch.KindDirectory && !strings.HasSuffix(uri, "/") {
		uri += "/"
	}
	return uri
}

// usual returns a host in lower case, without the default port of the scheme.
func usual(h locator.HostPort, scheme string) locator.HostPort {
	h.Host = strings.ToLower(h.Host)
	if h.Port == locator.DefaultPort(scheme) {
		h.Port = 0
	}
	return h
}

// escaped encodes the octets that no URI may have, such as those of a host that is not in ASCII.
func escaped(uri string) string {
	return percent.Encode(uri, func(c byte) bool { return c <= ' ' || c > '~' || strings.IndexByte("<>\"{}|\\^`", c) >= 0 })
}

// searched returns l with the words of a search, as its URL has them.
func searched(l locator.Locator, query string) locator.Locator {
	if query == "" {
		return l
	}
	switch a := l.(type) {
	case *locator.Gopher:
		if c := *a; c.Search == "" {
			c.Search, c.Fields, c.HasPath = query, max(c.Fields, 1), true
			return &c
		}
	case *locator.WAIS:
		if c := *a; c.Form == locator.WAISDatabase {
			c.Form, c.Search = locator.WAISSearch, query
			return &c
		}
	case *locator.HTTP:
		if c := *a; !c.HasSearch {
			c.HasSearch, c.Search = true, url.QueryEscape(query)
			return &c
		}
	}
	return l
}
