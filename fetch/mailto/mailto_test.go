package mailto

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest"
	"github.com/fetch1738/fetch1738/locator"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	fetchtest.Run(t, fetchtest.Harness{
		New: func(env *fetch.Env) driver.Fetcher { return &Fetcher{Env: env, SMTP: "127.0.0.1"} },
		Serve: func(_ testing.TB, _ fs.FS, login *locator.Login) *fetchtest.Site {
			if login != nil {
				return nil
			}
			return &fetchtest.Site{Locate: func(name string) locator.Locator {
				if name != "." { // an address is not a document
					return nil
				}
				return &locator.Mailto{Address: "joe@example.com"}
			}}
		},
		Local: true,
	})
}

// noNetwork returns an Env that must not be used to connect.
func noNetwork(t *testing.T) *fetch.Env {
	return &fetch.Env{Email: "me@example.com", Dial: func(context.Context, string, string) (net.Conn, error) {
		t.Error("something was dialled")
		return nil, errors.New("no")
	}}
}

// parse parses a URL as a user may type it.
func parse(t testing.TB, url string) locator.Locator {
	t.Helper()
	ref, err := locator.Parser{Tolerate: locator.TolerateAll}.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return ref.Locator
}

func TestAdvice(t *testing.T) {
	for _, tt := range []struct {
		url, advice string
		info        Info
	}{
		{"mailto:user%25site@host.dom", "send mail to user%site@host.dom", Info{To: []string{"user%site@host.dom"}}},
		{"mailto:a@b,c@d", "send mail to a@b, c@d", Info{To: []string{"a@b", "c@d"}}},
		{`mailto:%22a,%20%5C%22b%22@c,d@e`, `send mail to "a, \"b"@c, d@e`, Info{To: []string{`"a, \"b"@c`, "d@e"}}},
		{"mailto:what%3F@b", "send mail to what?@b", Info{To: []string{"what?@b"}}},
		{"mailto:a@b?subject=caf%C3%A9&body=1%0D%0A2", "send mail to a@b\nSubject: caf\u00e9\n\n1\n2", Info{To: []string{"a@b"}, Subject: "caf\u00e9", Body: "1\r\n2"}},
		{"mailto:?to=a@b,%20c@d&TO=e@f&Cc=g@h&bcc=i@j&In-Reply-To=%3Cx@y%3E", "send mail to a@b, c@d, e@f\nCc: g@h\nBcc: i@j\nIn-Reply-To: <x@y>",
			Info{To: []string{"a@b", "c@d", "e@f"}, Cc: []string{"g@h"}, Bcc: []string{"i@j"}, InReplyTo: "<x@y>"}},
		{"mailto:a@b?subject=1&subject=2", "send mail to a@b\nSubject: 1\n(ignored): subject", Info{To: []string{"a@b"}, Subject: "1", Ignored: []string{"subject"}}},
		{"mailto:a@b?subject=a+b", "send mail to a@b\nSubject: a+b", Info{To: []string{"a@b"}, Subject: "a+b"}},
		// case 95, CVE-2020-11879, CVE-2020-27748
		{"mailto:a@b?attach=/etc/passwd&Attachment=/etc/shadow&x-foo=1&from=root@b&amp;subject=x", "send mail to a@b\n(ignored): attach, Attachment, x-foo, from, amp;subject",
			Info{To: []string{"a@b"}, Ignored: []string{"attach", "Attachment", "x-foo", "from", "amp;subject"}}},
		// case 96, CVE-2022-4055, CVE-2006-2058, CVE-2004-0121, CVE-2007-3896: words, not a command line
		{"mailto:-f@b%20-s%20%22%60id%60%22", "send mail to -f@b -s \"`id`\"", Info{To: []string{"-f@b -s \"`id`\""}}},
	} {
		f := &Fetcher{Env: noNetwork(t)}
		req := &fetch.Request{Locator: parse(t, tt.url)}
		res, err := f.Fetch(t.Context(), req)
		if err != nil {
			t.Errorf("%s: %v", tt.url, err)
			continue
		}
		if res.Kind != fetch.KindAdvice || res.Advice != tt.advice || res.Size != -1 {
			t.Errorf("%s: %v %q, want %q", tt.url, res.Kind, res.Advice, tt.advice)
		}
		if _, err := io.Copy(io.Discard, res.Body); !errors.Is(err, fetch.ErrNoOctets) {
			t.Errorf("%s: the Body ends in %v", tt.url, err)
		}
		if !reflect.DeepEqual(*res.Info.(*Info), tt.info) {
			t.Errorf("%s: %+v, want %+v", tt.url, res.Info, tt.info)
		}
		if explained, err := f.Explain(req); err != nil || explained.Network != "" || explained.Steps[0].Do != "say: "+tt.advice {
			t.Errorf("%s: %+v, %v", tt.url, explained, err)
		}
	}
}

// TestInjection (case 96, CVE-2022-4055, CVE-2006-2058): no line end, wherever it is in the URL,
// becomes part of a header or a command.
func TestInjection(t *testing.T) {
	for url, component := range map[string]string{
		"mailto:a@b?subject=x%0d%0aBcc:c@d":   "header",
		"mailto:a@b?subject=x%0ABcc:c@d":      "header",
		"mailto:a@b?cc=x%0d":                  "header",
		"mailto:a@b?x%0a=1":                   "header",
		"mailto:a@b?in-reply-to=%00":          "header",
		"mailto:a@b?body=%00":                 "body",
		"mailto:a@b%0d%0aRCPT%20TO:%3Cc@d%3E": "address",
		"mailto:a%00@b":                       "address",
	} {
		l := parse(t, url)
		f := &Fetcher{Env: noNetwork(t), SMTP: "127.0.0.1:25"}
		_, fetched := f.Fetch(t.Context(), &fetch.Request{Locator: l})
		_, updated := f.Update(t.Context(), &fetch.Request{Locator: l}, strings.NewReader("x"))
		for _, err := range []error{fetched, updated} {
			var control *locator.EncodedControl
			if !errors.As(err, &control) || control.Scheme != "mailto" || control.Component != component || !errors.Is(err, fetch.ErrBadURL) {
				t.Errorf("%s: %v", url, err)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	l := &locator.Mailto{Address: "a@b"}
	for name, tt := range map[string]struct {
		smtp string
		env  fetch.Env
		req  fetch.Request
		kind fetch.ErrorKind
		text string
	}{
		"no server":     {"", fetch.Env{Email: "me@b"}, fetch.Request{Locator: l}, fetch.ErrUnsupported, "mailto.Fetcher.SMTP"},
		"no sender":     {"h", fetch.Env{}, fetch.Request{Locator: l}, fetch.ErrUnsupported, "Env.Email"},
		"bad sender":    {"h", fetch.Env{Email: "me>"}, fetch.Request{Locator: l}, fetch.ErrBadURL, "RFC 822"},
		"bad server":    {"h:x", fetch.Env{Email: "me@b"}, fetch.Request{Locator: l}, fetch.ErrBadURL, "HOST:PORT"},
		"no host":       {":25", fetch.Env{Email: "me@b"}, fetch.Request{Locator: l}, fetch.ErrBadURL, "HOST:PORT"},
		"port 0":        {"h:0", fetch.Env{Email: "me@b"}, fetch.Request{Locator: l}, fetch.ErrBadURL, "HOST:PORT"},
		"no locator":    {"h", fetch.Env{}, fetch.Request{}, fetch.ErrUnsupported, ""},
		"another":       {"h", fetch.Env{}, fetch.Request{Locator: &locator.News{All: true}}, fetch.ErrUnsupported, ""},
		"offset":        {"h", fetch.Env{}, fetch.Request{Locator: l, Offset: 1}, fetch.ErrUnsupported, ""},
		"options":       {"h", fetch.Env{}, fetch.Request{Locator: l, Options: 1}, fetch.ErrUnsupported, ""},
		"nobody":        {"h", fetch.Env{}, fetch.Request{Locator: parse(t, "mailto:?subject=x")}, fetch.ErrBadURL, "no address"},
		"no domain":     {"h", fetch.Env{Email: "me@b"}, fetch.Request{Locator: &locator.Mailto{Address: "joe"}}, fetch.ErrBadURL, "RFC 822"},
		"a name":        {"h", fetch.Env{Email: "me@b"}, fetch.Request{Locator: &locator.Mailto{Address: "Joe <a@b>"}}, fetch.ErrBadURL, "RFC 822"},
		"a parameter":   {"h", fetch.Env{Email: "me@b"}, fetch.Request{Locator: &locator.Mailto{Address: "a@b> NOTIFY=NEVER <"}}, fetch.ErrBadURL, "RFC 822"},
		"escape octets": {"h", fetch.Env{Email: "me@b"}, fetch.Request{Locator: &locator.Mailto{Address: "\"\x1b[2J\"@b"}}, fetch.ErrBadURL, "byte 1B"},
		"too long":      {"h", fetch.Env{Email: "me@b"}, fetch.Request{Locator: &locator.Mailto{Address: strings.Repeat("a", 300) + "@b"}}, fetch.ErrBadURL, "aaa"},
		"one of many":   {"h", fetch.Env{Email: "me@b"}, fetch.Request{Locator: parse(t, "mailto:a@b?bcc=c")}, fetch.ErrBadURL, "RFC 822"},
	} {
		env := tt.env
		env.Dial = noNetwork(t).Dial
		_, err := (&Fetcher{Env: &env, SMTP: tt.smtp}).Update(t.Context(), &tt.req, strings.NewReader("hello\n"))
		if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v, want %v and %q", name, err, tt.kind, tt.text)
		}
	}
}

// FuzzMailto checks that any URL results in advice or an error, without a connection, and that all
// fields are on the list.
func FuzzMailto(f *testing.F) {
	for _, s := range []string{"mailto:a@b", "mailto:a@b?subject=x%0d%0aBcc:c@d&cc=,,&body=%0d%0a", "mailto:%22,%22@b?to=%2C&&=&attach=/", "mailto:?to=a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, url string) {
		ref, err := locator.Parser{Tolerate: locator.TolerateAll}.Parse(url)
		l, ok := ref.Locator.(*locator.Mailto)
		if err != nil || !ok {
			return
		}
		fetcher := &Fetcher{Env: noNetwork(t)}
		res, err := fetcher.Fetch(t.Context(), &fetch.Request{Locator: l})
		if err != nil {
			if !errors.Is(err, fetch.ErrBadURL) || strings.ContainsAny(err.Error(), "\r\n\x00") {
				t.Errorf("%q: %v", url, err)
			}
			return
		}
		info := res.Info.(*Info)
		known := []string{"to", "cc", "bcc", "subject", "body", "in-reply-to"}
		for _, h := range l.Headers {
			if !slices.Contains(known, strings.ToLower(h.Name)) && !slices.Contains(info.Ignored, h.Name) {
				t.Errorf("%q: %q is neither known nor ignored", url, h.Name)
			}
		}
		for _, s := range append(info.recipients(), info.Subject, info.InReplyTo) {
			if strings.ContainsAny(s, "\r\n\x00") {
				t.Errorf("%q: %q", url, s)
			}
		}
		_, err = fetcher.Update(t.Context(), &fetch.Request{Locator: l}, strings.NewReader("x"))
		if !errors.Is(err, fetch.ErrUnsupported) {
			t.Errorf("%q: %v", url, err)
		}
	})
}
