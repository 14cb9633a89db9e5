package nntp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// plan returns the steps of Explain, split into unconditional and conditional ones.
func plan(t *testing.T, f *Fetcher, l locator.Locator, o *Options) (server string, always, sometimes []string) {
	t.Helper()
	req := &fetch.Request{Locator: l}
	if o != nil {
		req.Options = o
	}
	p, err := f.Explain(req)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Steps {
		text := strings.TrimSuffix(s.Send, "\r\n") + s.Do
		if s.When == "" {
			always = append(always, text)
		} else {
			sometimes = append(sometimes, text)
		}
	}
	return fmt.Sprintf("%s %s:%d", p.Network, p.Host, p.Port), always, sometimes
}

// TestExplain checks the server and the commands for each form of URL.
func TestExplain(t *testing.T) {
	f := &Fetcher{Env: &fetch.Env{NewsServer: "news.example.org"}}
	for _, tt := range []struct {
		url     string
		options *Options
		server  string
		always  string
	}{
		{"news:comp.infosystems.www.misc", nil, "tcp news.example.org:119", "CAPABILITIES|GROUP comp.infosystems.www.misc|QUIT"},
		{"news:*", nil, "tcp news.example.org:119", "CAPABILITIES|LIST ACTIVE|QUIT"},
		{"nntp://h/", nil, "tcp h:119", "CAPABILITIES|LIST ACTIVE|QUIT"},
		{"nntps://h:1563", nil, "tcp h:1563", "TLS|CAPABILITIES|LIST ACTIVE|QUIT"},
		{"news:a%25b@example.org", nil, "tcp news.example.org:119", "CAPABILITIES|ARTICLE <a%b@example.org>|QUIT"},
		{"nntp://h/alt.test", nil, "tcp h:119", "CAPABILITIES|GROUP alt.test|QUIT"},
		{"nntp://h:1119/alt.test/0042", nil, "tcp h:1119", "CAPABILITIES|GROUP alt.test|ARTICLE 0042|QUIT"},
		{"nntp://H/alt.test/1", &Options{StartTLS: true}, "tcp h:119", "STARTTLS|TLS|CAPABILITIES|GROUP alt.test|ARTICLE 1|QUIT"},
		{"nntp://h/alt.test", articles("7,1-3,9-"), "tcp h:119", "CAPABILITIES|GROUP alt.test|ARTICLE 7|ARTICLE 1|the same for each article up to 3|ARTICLE 9|the same for each article that follows|QUIT"},
		{"nntps://h/alt.test/1", nil, "tcp h:563", "TLS|CAPABILITIES|GROUP alt.test|ARTICLE 1|QUIT"},
		{"nntp://h/alt.test/1", &Options{TryTLS: true}, "tcp h:119", "STARTTLS|TLS, unless the server refuses|CAPABILITIES|GROUP alt.test|ARTICLE 1|QUIT"},
		{"nntps://h:9563/alt.test", &Options{StartTLS: true, TryTLS: true}, "tcp h:9563", "TLS|CAPABILITIES|GROUP alt.test|QUIT"},
		{"snews:alt.test", nil, "tcp news.example.org:563", "TLS|CAPABILITIES|GROUP alt.test|QUIT"},
		{"snews:a@b", nil, "tcp news.example.org:563", "TLS|CAPABILITIES|ARTICLE <a@b>|QUIT"},
		{"snews:*", nil, "tcp news.example.org:563", "TLS|CAPABILITIES|LIST ACTIVE|QUIT"},
		{"snews://h/alt.test", nil, "tcp h:563", "TLS|CAPABILITIES|GROUP alt.test|QUIT"},
		{"snews://h:1563/a%40c@b", nil, "tcp h:1563", "TLS|CAPABILITIES|ARTICLE <a@c@b>|QUIT"},
		{"snews://h/", nil, "tcp h:563", "TLS|CAPABILITIES|LIST ACTIVE|QUIT"},
	} {
		server, always, sometimes := plan(t, f, parse(t, tt.url), tt.options)
		if got := strings.Join(always, "|"); server != tt.server || got != tt.always {
			t.Errorf("%s: %s %s\nwant %s %s", tt.url, server, got, tt.server, tt.always)
		}
		if !slices.Contains(sometimes, "AUTHINFO PASS ****") || !slices.Contains(sometimes, "MODE READER") {
			t.Errorf("%s: sometimes %q", tt.url, sometimes)
		}
	}
}

// TestExplainedListings checks that listings send the commands that Explain announces.
func TestExplainedListings(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		for _, url := range []string{"/local.test", "news:local.test", "news:*", "/"} {
			w.srv.ResetTranscript()
			if _, err := w.get(url); err != nil {
				w.Fatal(err)
			}
			w.Close()
			said := w.srv.Transcript().From('C')
			_, always, _ := plan(w.T, &w.Fetcher, w.url(url), nil)
			for _, step := range always {
				i := slices.Index(said, step)
				if i < 0 {
					w.Errorf("%s: the plan has %q, but the client sent %q", url, step, said)
					break
				}
				said = said[i+1:]
			}
		}
	})
}

func TestNewsServer(t *testing.T) {
	for server, want := range map[string]string{
		"news.example.org": "tcp news.example.org:119", "News.Example.org:1119": "tcp news.example.org:1119", " h ": "tcp h:119",
		"127.0.0.1:119": "tcp 127.0.0.1:119", "[::1]:1119": "tcp ::1:1119", "[::1]": "tcp ::1:119", "::1": "tcp ::1:119",
	} {
		if got, _, _ := plan(t, &Fetcher{Env: &fetch.Env{NewsServer: server}}, parse(t, "news:x"), nil); got != want {
			t.Errorf("%q: %s, want %s", server, got, want)
		}
	}
	for server, kind := range map[string]fetch.ErrorKind{
		"": fetch.ErrUnsupported, "  ": fetch.ErrUnsupported, "h:0": fetch.ErrBadURL, "h:65536": fetch.ErrBadURL, "h:x": fetch.ErrBadURL,
		"h/x": fetch.ErrBadURL, "h\r\nPOST": fetch.ErrBadURL, "u@h": fetch.ErrBadURL, ":119": fetch.ErrBadURL, "a b": fetch.ErrBadURL,
	} {
		_, err := (&Fetcher{Env: &fetch.Env{NewsServer: server}}).Explain(&fetch.Request{Locator: parse(t, "news:x")})
		if fetch.KindOf(err) != kind || err == nil {
			t.Errorf("%q: %v; want kind %q", server, err, kind)
		}
		if server == "" && !strings.Contains(err.Error(), "Env.NewsServer") {
			t.Errorf("the error does not name Env.NewsServer: %v", err)
		}
	}
}

// TestInjection checks that no method connects for a URL that no command can carry (row 81 of the
// list of attacks, CVE-2002-1405; CVE-2004-1316).
func TestInjection(t *testing.T) {
	long := strings.Repeat("a", 600)
	var list []locator.Locator
	for _, url := range []string{
		"news:x%0d%0aPOST@h", "news:%3ca@b", "news:a%20b@h", "news:a%00@h", "news:a%09@h", "news:" + long + "@h", "nntp://h/" + long,
		"nntp://h/g/12345678901234567", "snews:%0d%0a@h", "snews://h/a%20b@c",
	} {
		list = append(list, parse(t, url))
	}
	for _, text := range []string{"x\r\nPOST", "g h", "a\x00", "a\t", "*", "a*", "a?", "[a]", `\`, "a,b", "!a"} {
		list = append(list, &locator.News{Group: text}, &locator.NNTP{HostPort: locator.HostPort{Host: "h"}, Group: text},
			&locator.NNTP{HostPort: locator.HostPort{Host: "h"}, Group: "g", Article: text})
	}
	list = append(list, &locator.News{}, &locator.News{MessageID: "no-at"}, &locator.NNTP{}, &locator.NNTP{Group: "g"}, &locator.NNTP{HostPort: locator.HostPort{Host: "h"}, Article: "1"},
		&locator.NNTP{HostPort: locator.HostPort{Host: "h\r\n"}, Group: "g"}, &locator.NNTP{HostPort: locator.HostPort{Host: "h"}, Group: "g", Article: "1-5"})
	f := &Fetcher{Env: &fetch.Env{NewsServer: "h", Dial: func(context.Context, string, string) (net.Conn, error) {
		t.Error("the client connected")
		return nil, fs.ErrInvalid
	}}}
	for _, l := range list {
		req := &fetch.Request{Locator: l}
		_, errFetch := f.Fetch(t.Context(), req)
		_, errFind := f.FindAttributes(t.Context(), req)
		_, errUpdate := f.Update(t.Context(), req, strings.NewReader(letter))
		_, errExplain := f.Explain(req)
		for i, err := range []error{errFetch, errFind, errUpdate, errExplain} {
			var e *fetch.Error
			if !errors.As(err, &e) || e.Kind != fetch.ErrBadURL || e.URL != l.Redacted() {
				t.Errorf("%d: %.100q: %v", i, l.String(), err)
			}
		}
	}
	for _, url := range []string{"news:x%0d%0aPOST", "nntp://h/g%20h/1", "news:%3ca@b%3e", "news:a\\", "news:%5c", "nntp://h/g/\\", "nntp://h/g/1-500"} {
		if ref, err := (locator.Parser{}).Parse(url); err == nil {
			t.Errorf("%s: parsed as %#v, want an error", url, ref.Locator)
		}
	}
}

func TestOtherOptions(t *testing.T) {
	f := &Fetcher{}
	l := parse(t, "nntp://h/g/1")
	for _, req := range []*fetch.Request{
		{Locator: l, Offset: 1}, {Locator: l, Length: 1}, {Locator: l, Options: 5}, {Locator: parse(t, "http://h/")}, {Locator: parse(t, "x-y:z")},
	} {
		_, err := f.Explain(req)
		if fetch.KindOf(err) != fetch.ErrUnsupported {
			t.Errorf("%+v: %v", req, err)
		}
	}
	if _, err := f.Explain(&fetch.Request{Locator: l, Options: (*Options)(nil)}); err != nil {
		t.Error(err)
	}
}
