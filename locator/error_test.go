package locator

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestSyntaxErrorHidesPasswords has malformed URLs whose password may contain octets that end a password
// in a valid URL.
func TestSyntaxErrorHidesPasswords(t *testing.T) {
	for _, s := range []string{
		"http://u:PASSWORD@h/", "https://u:PASSWORD@h/", "HTTP://u:PASSWORD@h/", "gopher://u:PASSWORD@h/",
		"ftp://u:PASSWORD@h:0/", "ftp://u:PASSWORD@h/^", "ftp://u:PASSWORD@", "ftp://u:PASSWORD@-/", "ftp://u:PASSWORD@[::1]/",
		"ftp://u:a/PASSWORD@h/^", "ftp://u:a#PASSWORD@h/", "ftp://u:a@PASSWORD@h/", "ftp://u:a:PASSWORD@h/", "ftp://u:a?PASSWORD@h/^",
		"ftp://u:a//PASSWORD//b@h/^", "ftp://u:1/PASSWORD@h/^", "ftp://u:a\\PASSWORD@h/", "ftp://u:a\nPASSWORD@h/", "ftp://u:%PASSWORD@h/",
		"ftp:/u:PASSWORD@h/", "ftp:u:PASSWORD@h/", "ftp:///u:PASSWORD@h/", "ftp:\\\\u:PASSWORD@h/", "ftp://\tu:PASSWORD@h/",
		"u:PASSWORD@h^", "u:PASSWORD@h/#", "u u:PASSWORD@h", "//u:PASSWORD@h/", "/u:PASSWORD@h", "user:PASSWORD@h#", "u_:PASSWORD@h",
		"<URL:ftp://u:PASSWORD@h/^>", "<ftp://u:PASSWORD@h/^>", "URL:ftp://u:PASSWORD@h/^", " ftp://u:PASSWORD@h/", "\"ftp://u:PASSWORD@h/\"",
		"ftp://u:PASSWORD", "ftp://u:PASSWORD/x", "ftp://u:a/PASSWORD", "telnet://u:PASSWORD", "ftp:u:PASSWORD", "ftp://[u:PASSWORD", "ftp://[u:PASSWORD]",
		"f tp://u:PASSWORD@h/", "ftp//u:PASSWORD@h/", "ftp;//u:PASSWORD@h/", ":u:PASSWORD@h",
		"x-foo://u:PASSWORD@h/^", "x-foo:u:PASSWORD@h/^", "ftp://:PASSWORD@h:x/", "ftp://u:PASSWORD@h:x@y/",
		"ftp://u:PASSWORD@h/a?b@c#", "ftp://u:PASSWORD@" + strings.Repeat("h", 500) + "/", "ftp://" + strings.Repeat("u", 500) + ":PASSWORD@h/^",
	} {
		s = strings.Replace(s, "PASSWORD", canary, 1)
		for _, p := range []Parser{{}, {WrappedText}, {TolerateAll &^ HTTPLogin}, {TolerateAll}} {
			r, err := p.Parse(s)
			if err != nil {
				checkErrorText(t, s, err)
			} else if strings.Contains(r.Redacted(), canary) && !strings.Contains(r.Fragment, canary) && !harmless(r.Locator) {
				t.Errorf("%q: Redacted is %s", s, r.Redacted())
			}
		}
	}
}

// harmless reports whether l has no password by the grammar: the text that looks like one is part of
// the path.
func harmless(l Locator) bool {
	s, ok := ServerOf(l)
	return ok && s.Login == nil
}

func checkErrorText(t *testing.T, s string, err error) {
	t.Helper()
	var e *SyntaxError
	if !errors.As(err, &e) {
		t.Fatalf("%q: %T", s, err)
	}
	text := err.Error()
	if strings.Contains(text, canary) {
		t.Errorf("%q: the error shows the password: %s", s, text)
	}
	if len(text) > 300 || len(e.Text) > 120 {
		t.Errorf("%q: %d bytes: %s", s, len(text), text)
	}
	for _, octet := range []byte(text + e.Text + e.Msg) {
		if octet < ' ' || octet > '~' {
			t.Errorf("%q: octet %02x in the error: %s", s, octet, text)
		}
	}
	if e.Offset < 0 || e.Offset > len(s) {
		t.Errorf("%q: offset %d", s, e.Offset)
	}
}

// TestAnyErrorText damages URLs with passwords at random.
func TestAnyErrorText(t *testing.T) {
	d := deriver{rand.New(rand.NewPCG(4, 1738))}
	refused := 0
	for range 20000 {
		head, tail := d.mutate(d.one("ftp://", "http://", "telnet://", "x:", "ftp:")+d.chars("")), d.mutate(d.host()+d.path("@:"))
		s := head + ":" + canary + d.mutate("@") + tail
		if !strings.Contains(s[max(0, strings.Index(s, canary)):], "@") {
			continue // it looks like a path
		}
		if _, err := (Parser{}).Parse(s); err != nil {
			refused++
			checkErrorText(t, s, err)
		}
	}
	if refused < 5000 {
		t.Errorf("only %d of the URLs were refused", refused)
	}
}

func TestErrorText(t *testing.T) {
	for s, want := range map[string]string{
		"http://h:99999/":        `bad URL "http://h:99999/": a port is a number from 1 to 65535, at offset 9 (RFC 1738, section 3.1)`,
		"http://u:p@h/":          `bad URL "http://u:***@h/": no user name or password is allowed here, at offset 10 (RFC 1738, section 3.3)`,
		"http://h/\x00\x1b[31mé": `bad URL "http://h/\x00\x1B[31m\xC3\xA9": byte 00 must be encoded as %00, at offset 9 (RFC 1738, section 2.2)`,
		"ftp://h/a;type=x":       `bad URL "ftp://h/a;type=x": a typecode is one of "a", "i" and "d", and ends the URL, at offset 15 (RFC 1738, section 3.2.2)`,
		"mailto:a@b c":           `bad URL "mailto:a@b c": byte 20 must be encoded as %20, at offset 10 (RFC 1738, section 2.2)`,
		"news:a@b c":             `bad URL "news:a@b c": a host consists of letters, digits, "-" and ".", at offset 8 (RFC 1738, section 3.1)`,
		"http://h:80/a^b":        `bad URL "http://h:80/a^b": "^" must be encoded as %5E, at offset 13 (RFC 1738, section 2.2)`,
		"http://[::1]:80/":       `bad URL "http://[::1]:80/": a host consists of letters, digits, "-" and ".", at offset 7 (RFC 1738, section 3.1)`,
		"mid:1@h^":               `bad URL "mid:1@h^": "^" must be encoded as %5E, at offset 7 (RFC 1738, section 2.2)`,
		"urn:isbn:1^":            `bad URL "urn:isbn:1^": "^" must be encoded as %5E, at offset 10 (RFC 1738, section 2.2)`,
		"user:pass@h^":           `bad URL "user:***@h^": "^" must be encoded as %5E, at offset 11 (RFC 1738, section 2.2)`,
		"http://h/" + strings.Repeat("a", 200) + "^": `bad URL "http://h/` + strings.Repeat("a", 108) + `...": "^" must be encoded as %5E, at offset 209 (RFC 1738, section 2.2)`,
	} {
		if _, err := (Parser{}).Parse(s); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", s, err, want)
		}
	}
}

// TestOpaqueRedacted: in an unknown scheme the password may be anywhere.
func TestOpaqueRedacted(t *testing.T) {
	for s, want := range map[string]string{
		"x-foo://u:p@h/":      "x-foo://u:***@h/",
		"x-foo://u@h/":        "x-foo://u@h/",
		"x-foo://h:80/":       "x-foo://h:80/",
		"x-foo://h:80/a@b":    "x-foo://h:***@b",
		"user:pass@host/path": "user:***@host/path",
		"user:pa/ss@host":     "user:***@host",
		"mid:1@h.dom":         "mid:1@h.dom",
		"urn:ietf:rfc:1738":   "urn:ietf:rfc:1738",
		"x-foo:":              "x-foo:",
	} {
		ref, err := Parser{}.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := ref.Locator.Redacted(); got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
}
