package main

import (
	"cmp"
	"net/url"
	"testing"
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
		if len(host) > len(text) {
			t.Errorf("host %q", host)
		}
	})
}
