package main

import (
	"cmp"
	"net/url"
	"testing"

	"github.com/fetch1738/fetch1738/locator"
)

func TestURLParts(t *testing.T) {
	for _, tc := range []struct {
		url  string
		want map[string]string
	}{
		{"http://h", map[string]string{"scheme": "http", "host": "h", "port": "80", "path": "/"}},
		{"FTP://u:p%40@h:2121/a/b;type=i?q#f", map[string]string{
			"scheme": "ftp", "user": "u", "password": "p%40", "host": "h", "port": "2121", "path": "/a/b;type=i", "query": "q", "fragment": "f"}},
		{"http://u@[fe80::1%25eth0]:8/", map[string]string{"scheme": "http", "user": "u", "host": "[fe80::1]", "zoneid": "eth0", "port": "8", "path": "/"}},
		{"http://[::1]/x", map[string]string{"scheme": "http", "host": "[::1]", "port": "80", "path": "/x"}},
		{"file:///a", map[string]string{"scheme": "file", "path": "/a"}},
		{"news:a@b", map[string]string{"scheme": "news", "path": "a@b"}},
		{"gopher://h/0a?b#c?d", map[string]string{"scheme": "gopher", "host": "h", "port": "70", "path": "/0a", "query": "b", "fragment": "c?d"}},
		{"no url", nil},
	} {
		for _, name := range []string{"scheme", "user", "password", "options", "host", "port", "path", "query", "fragment", "zoneid"} {
			if !isURLPart(name) {
				t.Errorf("no part %q", name)
			}
			if got := urlPartOf(tc.url, name); got != tc.want[name] {
				t.Errorf("%s: %s is %q", tc.url, name, got)
			}
		}
	}
}

// Where net/url takes a URL, the two agree.
func FuzzURLPart(f *testing.F) {
	for _, u := range []string{"http://u:p@h:1/a?b#c", "ftp://[::1]/x", "x://@:/?#", "http://h:%25", "a:b"} {
		f.Add(u)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path, query := urlPartOf(text, "path"), urlPartOf(text, "query")
		host := urlPartOf(text, "host")
		u, err := url.Parse(text)
		if err != nil || u.Opaque != "" || u.Scheme == "" || u.Host == "" || u.User != nil {
			return
		}
		if query != u.RawQuery {
			t.Errorf("query %q, net/url has %q", query, u.RawQuery)
		}
		if got, err := url.PathUnescape(path); err != nil || got != cmp.Or(u.Path, "/") {
			t.Errorf("path %q, net/url has %q", path, u.Path)
		}
		if l, err := locator.Parse(text); err == nil {
			if got := withoutPassword(text, l); got != text {
				t.Errorf("no password and yet %q", got)
			}
		}
		if len(host) > len(text) {
			t.Errorf("host %q", host)
		}
	})
}

func TestWithoutPassword(t *testing.T) {
	for _, tc := range []struct{ text, scheme, want string }{
		{"http://h/", "http", "http://h/"},
		{"http://h:8080/@x", "http", "http://h:8080/@x"},
		{"ftp://u@h/a:b@c", "ftp", "ftp://u@h/a:b@c"},
		{"ftp://u:@h/", "ftp", "ftp://u:@h/"},
		{"ftp://u:p@h/u:p@h", "ftp", "ftp://u:***@h/u:p@h"},
		{"FTP://p:p%40@h:21/", "ftp", "FTP://p:***@h:21/"},
		{"ftp://u:p@q:r?s#@h/", "ftp", "ftp://u:***@h/"},
		{"http://u@[::1]:80/", "http", "http://u@[::1]:80/"},
		{"u:p@h", "http", "u:***@h"},
		{"News:a@b", "news", "News:a@b"},
		{"ftp://u:p/q@h/", "", "ftp://u:***@h/"},
		{"ftp:u:p@h", "", "ftp:***@h"},
		{"nothing", "", "nothing"},
	} {
		var l locator.Locator
		if tc.scheme != "" {
			l = &locator.Opaque{Name: tc.scheme}
		}
		if got := withoutPassword(tc.text, l); got != tc.want {
			t.Errorf("%s: %s", tc.text, got)
		}
	}
}
