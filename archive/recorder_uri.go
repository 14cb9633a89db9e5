package archive

import (
	"net/url"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/urls/percent"
	"github.com/fetch1738/fetch1738/locator"
)

// targetURI returns the WARC-Target-URI of a resource: its URL without a login and the default port,
// in ASCII, so that "host:21" in a listing is the URL that was typed. That of a directory ends in
// "/".
func targetURI(l locator.Locator, kind fetch.Kind) string {
	l, _ = locator.WithLogin(l, nil)
	l = locator.WithHostPort(l, usual(l))
	switch a := l.(type) {
	case *locator.FTP:
		c := *a
		c.HasPath = true
		if kind == fetch.KindDirectory && !strings.ContainsAny(c.Name, "*?[") {
			if c.Type = 0; c.Name != "" {
				c.CWD, c.Name = append(c.CWD[:len(c.CWD):len(c.CWD)], c.Name), ""
			}
		}
		l = &c
	case *locator.HTTP:
		c := *a
		c.HasPath = true
		l = &c
	case *locator.Gopher:
		if c := *a; !c.HasPath {
			c.HasPath, c.Type = true, '1'
			l = &c
		}
	}
	uri := escaped(l.String())
	if _, ok := l.(*locator.File); ok && kind == fetch.KindDirectory && !strings.HasSuffix(uri, "/") {
		uri += "/"
	}
	return uri
}

// usual returns the host of a URL in lower case, and no port if that is the default one of the scheme.
func usual(l locator.Locator) locator.HostPort {
	at, _ := locator.AuthorityOf(l)
	if at.Host = strings.ToLower(at.Host); at.Port == locator.DefaultPort(l.Scheme()) {
		at.Port = 0
	}
	return at.HostPort
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
