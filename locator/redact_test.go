package locator

import (
	"strings"
	"testing"
)

// TestRedact: only the password changes in a text, in every spelling that a Parser tolerates.
func TestRedact(t *testing.T) {
	all := Parser{TolerateAll}
	long := strings.Repeat("h", MaxLength)
	for text, want := range map[string]string{
		"ftp://u:p@h/a:b@c":          "ftp://u:***@h/a:b@c",
		"FTP:u:p@h":                  "FTP:u:***@h",
		"ftp:/u:p@h/x":               "ftp:/u:***@h/x",
		"ftp:u:p%40q@h:21/x;type=i":  "ftp:u:***@h:21/x;type=i",
		"ftp:u:p:q@h":                "ftp:u:***@h",
		"ftp:u:p?q;r@h/":             "ftp:u:***@h/",
		"ftp:u:p{ }|^~[]`%zz\xff@h/": "ftp:u:***@h/",
		"ftp:@h/":                    "ftp:@h/",
		"ftp://u:@h/":                "ftp://u:@h/",
		"ftp:h:21/a:b@c":             "ftp:h:21/a:b@c",
		"ftp://u@h/a:b@c":            "ftp://u@h/a:b@c",
		"http://u:p@h/?x:y@z#f:g@h":  "http://u:***@h/?x:y@z#f:g@h",
		"http:u:p@[::1]:80?x":        "http:u:***@[::1]:80?x",
		"https:/u:p@H_1.:/":          "https:/u:***@H_1.:/",
		"http://h:8080/@x":           "http://h:8080/@x",
		"http://[::1]:80/a:b@c":      "http://[::1]:80/a:b@c",
		"telnet:u:p@h":               "telnet:u:***@h",
		" <URL:ftp:u:p\n q@h/x> ":    " <URL:ftp:u:***@h/x> ",
		"<URL:telnet://u:p@h>":       "<URL:telnet://u:***@h>",
		"URL:ftp:u:p@h#f":            "URL:ftp:u:***@h#f",
		"News:a:b@c":                 "News:a:b@c",
		"mailto:a:b@c":               "mailto:a:b@c",
		"gopher:h:70/0a:b@c":         "gopher:h:70/0a:b@c",
		"ftps://u:p@h/x":             "ftps://u:***@h/x",
		"ftps:u:p@h/x":               "ftps:u:***@h/x",
		"snews://h/a:b@c":            "snews://h/a:b@c",
		"x-foo:u:p@h/x":              "x-foo:***@h/x", // in an Opaque URL this may be a password
		"x-foo://u:p@h/":             "x-foo://u:***@h/",
		"ftp://u:p/q@h/":             "ftp://u:***@h/", // not a URL
		"http:u:p\\q@h":              "http:***@h",
		"gopher://u:p@h/":            "gopher://u:***@h/",
		"u:p@h":                      "u:***@h",
		"ftp://u:p":                  "ftp://u:***",
		"ftp://u:p@" + long:          "ftp://u:***@" + long,
		"nothing":                    "nothing",
		"":                           "",
	} {
		if got := all.Redact(text); got != want {
			t.Errorf("%.80q: %.80q, want %.80q", text, got, want)
		}
	}
	for _, text := range []string{"x-foo:u:SECRET#x@h", "u:SECRET#x@h/", "x-foo://u:SECRET#@h"} {
		if ref, err := all.Parse(text); err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s, whose password may contain the start of the fragment: %v, %v", text, ref, err)
		}
	}
	if got := (Parser{}).Redact("http:u:p@h"); got != "http:***@h" {
		t.Errorf("a text that the Parser refuses: %q", got)
	}
}

func TestHasPassword(t *testing.T) {
	for url, want := range map[string]bool{
		"ftp://u:p@h/": true, "ftp://u:@h/": true, "ftp://u@h/": false, "ftp://h:21/a:b%40c": false, "ftp://u:***@h/": true,
		"http://u:p@h/": true, "telnet:u:p@h": true, "ftps://u:p@h/": true, "ftps://u:***@h/": true, "ftps:u:p@h/": true, "ftps:/u:p@h": true,
		"ftps://u@h/": false, "ftps://h:990/x": false, "gophers://h/0x": false, "snews:a@b": false, "news:a@b": false, "mailto:a@b": false, "mid:a@b": false,
		"x-foo:u:p@h": true, "nfs://h/x": false, "x-foo://u:@h/": true, "x-foo://u@h/": false,
	} {
		ref, err := Parser{TolerateAll}.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		if got := HasPassword(ref.Locator); got != want {
			t.Errorf("%s: %v", url, got)
		}
	}
	if !HasPassword(&FTP{Server: Server{Login: &Login{Password: "p"}}}) {
		t.Error("HasPassword is false for a Login with a Password")
	}
}

// FuzzRedact: the hidden part is the Locator's password; another password in its place changes nothing
// else.
func FuzzRedact(f *testing.F) {
	seed(f)
	for _, s := range []string{"ftp:u:p@h/x", "<URL:http:/u:p w@h>", "telnet://a:b@c", " ftp:u:p:q@h#f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p := Parser{TolerateAll}
		from, to := p.FindPassword(s)
		if from < 0 || to < from || to > len(s) {
			t.Fatalf("%q: %d to %d", s, from, to)
		}
		ref, err := p.Parse(s)
		if err != nil {
			return
		}
		server, ok := ServerOf(ref.Locator)
		if _, opaque := ref.Locator.(*Opaque); !ok || opaque {
			return
		}
		if server.Login == nil || server.Login.Password == "" {
			if from != to {
				t.Errorf("%q has no password, hidden is %q", s, s[from:to])
			}
			return
		}
		again, err := p.Parse(s[:from] + "secret" + s[to:])
		if err != nil {
			t.Fatalf("%q: with another password: %v", s, err)
		}
		login := *server.Login
		login.Password = "secret"
		if want, _ := WithLogin(ref.Locator, &login); !Equal(again.Locator, want) {
			t.Errorf("%q: with another password %s, want %s", s, again, want)
		}
	})
}
