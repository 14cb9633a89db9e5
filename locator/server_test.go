package locator

import "testing"

func TestWithLogin(t *testing.T) {
	login := &Login{User: "me", Password: "p", HasPassword: true}
	for url, want := range map[string]string{
		"ftp://h/a/b;type=i": "ftp://me:p@h/a/b;type=i",
		"ftp://x:y@h/a":      "ftp://me:p@h/a",
		"http://h:81/a?b":    "http://me:p@h:81/a?b",
		"https://h/":         "https://me:p@h/",
		"telnet://h/":        "telnet://me:p@h/",
		"ftps://x:y@h:991/a": "ftps://me:p@h:991/a",
		"x-own://h/a?b":      "x-own://me:p@h/a?b",
		"x-own://x@h:79":     "x-own://me:p@h:79",
		"x-own://a b/":       "",
		"gopher://h/1":       "",
		"gophers://h/1":      "",
		"snews://h/a":        "",
		"file:///x":          "",
		"news:a.b":           "",
		"x-own:rest":         "",
	} {
		r, err := Parser{UnsafeOctets}.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		l := r.Locator
		before := l.String()
		with, ok := WithLogin(l, login)
		if ok != (want != "") || ok && with.String() != want || !ok && with != l {
			t.Errorf("%s: %v, %v", url, with, ok)
		}
		if without, _ := WithLogin(with, nil); ok && without.String() == want {
			t.Errorf("%s: the login was not removed: %v", url, without)
		}
		if l.String() != before {
			t.Errorf("%s was changed to %v", url, l)
		}
	}
}

// TestLoginSurvives: Parse returns any login that WithLogin has set.
func TestLoginSurvives(t *testing.T) {
	all := make([]byte, 256)
	for o := range all {
		all[o] = byte(o)
	}
	login := &Login{User: string(all), Password: string(all), HasPassword: true}
	for _, l := range []Locator{&FTP{Server: Server{HostPort: only("h")}, Secure: true}, &Telnet{Server: Server{HostPort: only("h")}}, &Opaque{"x-own", "//h:79/%40?a@b:c"}} {
		with, ok := WithLogin(l, login)
		if ref, err := (Parser{}).Parse(with.String()); err != nil || !ok || !Equal(ref.Locator, with) {
			t.Fatalf("%s: %v, %v", with, ref.Locator, err)
		}
		if s, ok := AuthorityOf(with); !ok || s.Login == nil || *s.Login != *login || s.Host != "h" {
			t.Errorf("%s: %+v", with, s)
		}
		if without, _ := WithLogin(with, nil); !Equal(without, l) {
			t.Errorf("%s without the login is %s", with, without)
		}
	}
}

// TestServers: the server of a Locator has the default port of its scheme. A Locator of a scheme without
// a grammar has a server if its text has the syntax of §3.1.
func TestServers(t *testing.T) {
	for url, want := range map[string]string{
		"ftp://u:p@h/": "u:p@h:21", "ftps://u@h/": "u@h:990", "ftps://h:21/": "h:21", "gopher://h": "h:70", "gophers://h/": "h:70", "http://h/": "h:80",
		"https://h/": "h:443", "nntp://h/g": "h:119", "nntps://h/g": "h:563", "snews://h/g": "h:563", "snews://h:564/a@b": "h:564", "news:g": "", "snews:g": "",
		"telnet://h": "h:23", "wais://h/d": "h:210", "prospero://h/x": "h:1525", "file://h/x": "h", "file:///x": "", "mailto:a@h": "",
		"x-own://u:p%40@h:79/u": "u:p%40@h:79", "x-own://h": "h", "x-own://@h?x": "@h", "x-own://[::1]:79/": "[::1]:79", "x-own://u@[::1]": "u@[::1]",
		"x-own://%5B::1%5D/": "[::1]", "x-own:u@h": "", "x-own:/h": "", "x-own:///h": "", "x-own://h:0/": "", "x-own://a:b:c@h": "", "x-own://h^/": "", "localhost:80": "",
	} {
		r, err := Parser{UnsafeOctets | ModernHosts}.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		s, ok := ServerOf(r.Locator)
		if got := string(s.HostPort.append(s.Login.append(nil, false))); ok && got != want || !ok && want != "" {
			t.Errorf("%s: %s, %v", url, got, ok)
		}
	}
	if s, ok := ServerOf(nil); ok {
		t.Errorf("nil: %v", s)
	}
}
