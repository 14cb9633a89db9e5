package locator

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// seed adds the URLs of all cases, and a few hostile texts.
func seed(f *testing.F) {
	for _, file := range []string{acceptedFile, refusedFile, toleratedFile} {
		for _, c := range cases(f, file) {
			f.Add(c.url)
		}
	}
	for _, c := range rfcExamples {
		f.Add(c.url)
	}
	f.Add("ftp://user:hunter2@host/")
	f.Add("ftp://user:hunter2@host:x/")
	f.Add("http://a;b@good/")
	f.Add("x-own://u:p%40@h:79/a?b")
	f.Add("snews://h/a@b")
	f.Add("http://evil\\@good/")
	f.Add("http://good#@evil/")
	f.Add(strings.Repeat("%", 300))
	f.Add("http://" + strings.Repeat("a.", 300))
}

// FuzzParse: no panic; Parse agrees with the grammar; errors are printable.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, s string) {
		ref, err := Parser{}.Parse(s)
		if len(s) <= MaxLength && (err == nil) != derives(s) {
			t.Errorf("%q: Parse says %v, the grammar %v", s, err, derives(s))
		}
		if err != nil {
			var e *SyntaxError
			if !errors.As(err, &e) || ref.Locator != nil {
				t.Fatalf("%q: %v, %v", s, ref.Locator, err)
			}
			checkErrorText(t, s, err)
		}
		if err != nil || ref.Locator.Scheme() == "url" {
			return // "url:" is a scheme for one parser and a wrapper for the other
		}
		// The tolerant parser reads strict URLs in the same way. The exception is MailHeaders: by
		// §3.5 the fields are part of the address.
		r, err := Parser{TolerateAll &^ MailHeaders}.Parse(s)
		if err != nil || !Equal(r.Locator, ref.Locator) || r.Used != 0 {
			t.Errorf("%q: tolerant: %v by %s, %v", s, r, r.Used.String(), err)
		}
	})
}

// FuzzRoundTrip: String of an accepted URL means the same.
func FuzzRoundTrip(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, s string) {
		if ref, err := (Parser{}).Parse(s); err == nil {
			checkRoundTrip(t, ref.Locator)
		}
		r, err := Parser{TolerateAll}.Parse(s)
		if err != nil {
			return
		}
		if len(r.String()) > MaxLength {
			return // encoding can triple the length
		}
		again, err := Parser{lasting(r)}.Parse(r.String())
		if err != nil || !Equal(again.Locator, r.Locator) || again.Fragment != r.Fragment || again.Used&^lasting(r) != 0 {
			t.Errorf("%q: %s reads as %v by %s, %v", s, r, again, again.Used.String(), err)
		}
		if server, ok := ServerOf(r.Locator); ok && server.Login != nil && len(server.Login.Password) > 8 {
			bare := strings.Replace(r.String(), string(appendDecoded(nil, server.Login.Password, password)), "", 1)
			if red := r.Redacted(); strings.Contains(red, server.Login.Password) && !strings.Contains(bare, server.Login.Password) {
				t.Errorf("%q: Redacted is %s", s, red)
			}
		}
	})
}

// FuzzExtract: no panic; the URLs found are in the text, in that order.
func FuzzExtract(f *testing.F) {
	seed(f)
	f.Add(appendix)
	f.Add("<<URL:http://a/>(http://b/)mailto:x@y,\"ftp://h/\xff>")
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range []Parser{{}, {TolerateAll}} {
			rest := text
			for r := range p.Extract(text) {
				i := strings.Index(rest, r.Text)
				if i < 0 {
					t.Fatalf("%q is not in %q", r.Text, rest)
				}
				rest = rest[i+len(r.Text):]
				again, err := Parser{p.Tolerate | WrappedText | Fragments}.Parse(r.Text)
				if err != nil || again.String() != r.String() || again.Used != r.Used {
					t.Errorf("%q: extracted %s, parsed %v, %v", r.Text, r, again, err)
				}
			}
		}
	})
}

func portText(port uint16) string { return strconv.Itoa(int(port)) }

// FuzzVersusNetURL: if the parser and net/url both accept an http or ftp URL, they see the same host and
// port. Otherwise a program could check a URL with one and connect elsewhere with the other. The one
// known difference is the "?" that §3.1 allows in a user name.
func FuzzVersusNetURL(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, s string) {
		for _, p := range []Parser{{}, {TolerateAll &^ WrappedText &^ MissingSlashes}} {
			r, err := p.Parse(s)
			u, err2 := url.Parse(s)
			if err != nil || err2 != nil {
				continue
			}
			server, ok := ServerOf(r.Locator)
			if !ok || r.Locator.Scheme() == "file" || server.Login != nil && strings.ContainsAny(strings.SplitN(s, "@", 2)[0], "?") {
				continue
			}
			if server.Host != u.Hostname() {
				t.Errorf("%q: host %q, by net/url %q", s, server.Host, u.Hostname())
			}
			if port := strings.TrimLeft(u.Port(), "0"); port != "" && port != portText(server.Port) {
				t.Errorf("%q: port %d, by net/url %q", s, server.Port, u.Port())
			}
		}
	})
}
