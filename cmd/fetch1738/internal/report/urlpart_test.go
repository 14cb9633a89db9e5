package report

import (
	"cmp"
	"net/url"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
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
		{"http://[fe80::1%eth0]", map[string]string{"scheme": "http", "host": "[fe80::1]", "zoneid": "eth0", "port": "80", "path": "/"}},
		{"http://[::1]/x", map[string]string{"scheme": "http", "host": "[::1]", "port": "80", "path": "/x"}},
		{"file:///a", map[string]string{"scheme": "file", "path": "/a"}},
		{"news:a@b", map[string]string{"scheme": "news", "path": "a@b"}},
		{"gopher://h/0a?b#c?d", map[string]string{"scheme": "gopher", "host": "h", "port": "70", "path": "/0a", "query": "b", "fragment": "c?d"}},
		{"ftp:u:p%40@h/x", map[string]string{"scheme": "ftp", "user": "u", "password": "p%40", "host": "h", "port": "21", "path": "/x"}},
		{"ftps:/u:p@h", map[string]string{"scheme": "ftps", "user": "u", "password": "p", "host": "h", "port": "990", "path": "/"}},
		{"h:8080/x", map[string]string{"scheme": "http", "host": "h", "port": "8080", "path": "/x"}},
		{"x-foo:u:p@h", map[string]string{"scheme": "x-foo", "password": "u:p", "path": "***@h"}},
		{"no url", map[string]string{"scheme": "http", "host": "no url", "port": "80", "path": "/"}},
	} {
		for _, name := range []string{"scheme", "user", "password", "options", "host", "port", "path", "query", "fragment", "zoneid"} {
			if !isURLPart(name) {
				t.Errorf("no part %q", name)
			}
			if got := maskedURL(new(plan.Operation), tc.url).part(name); got != tc.want[name] {
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
		shown := maskedURL(new(plan.Operation), text)
		path, query, host := shown.part("path"), shown.part("query"), shown.part("host")
		u, err := url.Parse(text)
		if err != nil || u.Opaque != "" || u.Scheme == "" || u.Host == "" || u.User != nil {
			return
		}
		if shown.password != "" {
			return // in what is no URL of ours it may be one, and net/url sees a path
		}
		if query != u.RawQuery {
			t.Errorf("query %q, net/url has %q", query, u.RawQuery)
		}
		if got, err := url.PathUnescape(path); err != nil || got != cmp.Or(u.Path, "/") {
			t.Errorf("path %q, net/url has %q", path, u.Path)
		}
		if ref, err := (locator.Parser{}).Parse(text); err == nil && u.User == nil {
			if _, opaque := ref.Locator.(*locator.Opaque); shown.typed() != text && !opaque {
				t.Errorf("no password and yet %q", shown.typed())
			}
		}
		if len(host) > len(text) {
			t.Errorf("host %q", host)
		}
	})
}

func TestShown(t *testing.T) {
	for typed, want := range map[string]string{
		"http://h/":            "http://h/",
		"http://h:8080/@x":     "http://h:8080/@x",
		"ftp://u@h/a:b@c":      "ftp://u@h/a:b@c",
		"ftp://u:@h/":          "ftp://u:@h/",
		"ftp://u:p@h/u:p@h":    "ftp://u:***@h/u:p@h",
		"FTP://p:p%40@h:21/":   "FTP://p:***@h:21/",
		"ftps://h:990/a:b@c":   "ftps://h:990/a:b@c",
		"FTPS:/u:p:q@h:990/@c": "FTPS:/u:***@h:990/@c",
		"http://u@[::1]:80/":   "http://u@[::1]:80/",
		"h:80/a:b@c":           "h:***@c", // nothing is guessed about an "@"
		"h/a:b@c":              "h/a:b@c",
		"u:p@h":                "u:***@h",
		"News:a@b":             "News:a@b",
		"ftp://u:p/q@h/":       "ftp://u:***@h/",
		"ftp:u:p@h":            "ftp:u:***@h",
		"ftp:u:p/@h":           "ftp:***@h", // no URL
		"nothing":              "nothing",
		"":                     "",
	} {
		if got := maskedURL(new(plan.Operation), typed).typed(); got != want {
			t.Errorf("%s: %s, want %s", typed, got, want)
		}
	}
	guessing := &plan.Operation{Reading: plan.Reading{DefaultScheme: "HTTP"}}
	if got := maskedURL(guessing, "u_x:p@h:80/a:b@c").typed(); got != "u_x:***@h:80/a:b@c" {
		t.Errorf("with --proto-default: %s", got)
	}
}
