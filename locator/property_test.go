package locator

import (
	oldrand "math/rand"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
	"unicode"
)

const canary = "hunter2-canary"

// TestEveryOctetSurvives puts each octet 00-FF into each decoded component.
func TestEveryOctetSurvives(t *testing.T) {
	server := Server{HostPort: only("h")}
	for name, build := range map[string]func(s string) Locator{
		"ftp user":     func(s string) Locator { return &FTP{Server: Server{&Login{User: s}, only("h")}} },
		"ftp password": func(s string) Locator { return &FTP{Server: Server{&Login{"u", s, true}, only("h")}} },
		"ftp cwd":      func(s string) Locator { return &FTP{Server: server, CWD: []string{s, s}, Name: "n", HasPath: true} },
		"ftps name": func(s string) Locator {
			return &FTP{Server: server, CWD: []string{s}, Name: s, HasPath: true, Secure: true}
		},
		"snews":         func(s string) Locator { return &News{MessageID: s + "@h", Secure: true} },
		"snews, served": func(s string) Locator { return &News{HostPort: only("h"), MessageID: s + "@h", Secure: true} },
		"ftp name":      func(s string) Locator { return &FTP{Server: server, Name: s, Type: 'd', HasPath: true} },
		"telnet user":   func(s string) Locator { return &Telnet{Server: Server{&Login{s, s, true}, only("h")}} },
		"gopher type":   func(s string) Locator { return &Gopher{HostPort: only("h"), Type: s[0], Selector: "s", HasPath: true} },
		"gopher plus":   func(s string) Locator { return plus(s) },
		"mailto":        func(s string) Locator { return &Mailto{Address: s} },
		"message-id":    func(s string) Locator { return &News{MessageID: s + "@h"} },
		"wais database": func(s string) Locator { return &WAIS{HostPort: only("h"), Database: s} },
		"wais search":   func(s string) Locator { return &WAIS{HostPort: only("h"), Form: WAISSearch, Search: s} },
		"wais document": func(s string) Locator { return &WAIS{HostPort: only("h"), Form: WAISDocument, WType: s, WPath: s} },
		"file":          func(s string) Locator { return &File{Segments: []string{s, s}} },
		"hsoname":       func(s string) Locator { return &Prospero{HostPort: only("h"), HSOName: s} },
		"field":         func(s string) Locator { return &Prospero{HostPort: only("h"), Fields: []Field{{s, s}, {s, s}}} },
	} {
		all := make([]byte, 256)
		for o := range all {
			all[o] = byte(o)
			checkSurvives(t, name, build(string(all[o:o+1])))
		}
		checkSurvives(t, name, build(string(all)))
	}
}

// TestGopherOctetsSurvive: selector and search can contain any octet but a tab, which separates the
// fields of a gopher-path.
func TestGopherOctetsSurvive(t *testing.T) {
	for o := range 256 {
		if s := string([]byte{byte(o)}); s != "\t" {
			checkSurvives(t, "gopher", &Gopher{HostPort: only("h"), Type: '7', Selector: s, Search: s, Plus: s, Fields: 2, HasPath: true})
		}
	}
}

func checkSurvives(t *testing.T, name string, l Locator) {
	t.Helper()
	ref, err := Parser{}.Parse(l.String())
	if err != nil || !Equal(ref.Locator, l) {
		t.Errorf("%s: %s: %v, %v", name, l, ref.Locator, err)
	}
}

// TestEncodedOctetsSurvive: http and other schemes keep their text as written.
func TestEncodedOctetsSurvive(t *testing.T) {
	for o := range 256 {
		for _, digits := range []string{hex(byte(o)), strings.ToLower(hex(byte(o)))} {
			e := "%" + digits
			for _, s := range []string{"http://h/a" + e + "?b" + e, "https://h/" + e, "x-foo:" + e, "x-foo://a/" + e} {
				if ref, err := (Parser{}).Parse(s); err != nil || ref.Locator.String() != s {
					t.Errorf("%s: %v, %v", s, ref.Locator, err)
				}
			}
		}
	}
}

// TestRandomLocators: Parse accepts String of any Locator that it could have returned.
func TestRandomLocators(t *testing.T) {
	g := locatorGenerator{rand.New(rand.NewPCG(3, 1738))}
	for range 20000 {
		l := g.locator()
		checkSurvives(t, l.Scheme(), l)
		checkRoundTrip(t, l)
		if strings.Contains(l.Redacted(), canary) {
			t.Errorf("Redacted shows the password: %s", l.Redacted())
		}
		if _, opaque := l.(*Opaque); opaque {
			continue
		}
		if s, ok := ServerOf(l); ok && s.Login != nil && s.Login.HasPassword {
			if !strings.Contains(l.Redacted(), ":***@") || l.Redacted() == l.String() {
				t.Errorf("Redacted: %s", l.Redacted())
			}
		} else if l.Redacted() != l.String() {
			t.Errorf("Redacted: %s, but there is no password in %s", l.Redacted(), l)
		}
	}
}

type locatorGenerator struct{ *rand.Rand }

// octets are up to 6 random octets, many of them special.
func (g locatorGenerator) octets() string {
	b := make([]byte, g.IntN(7))
	for i := range b {
		if b[i] = byte(g.Uint32()); g.IntN(2) == 0 {
			b[i] = ";/?:@&=%#. ~aZ0*"[g.IntN(16)]
		}
	}
	return string(b)
}

func (g locatorGenerator) hostport() HostPort {
	return HostPort{deriver(g).host(), uint16(g.IntN(2) * g.IntN(1<<16))}
}

func (g locatorGenerator) server() Server {
	s := Server{HostPort: g.hostport()}
	switch g.IntN(3) {
	case 0:
		s.Login = &Login{User: g.octets()}
	case 1:
		s.Login = &Login{g.octets(), g.octets() + canary + g.octets(), true}
	}
	return s
}

func (g locatorGenerator) list() []string {
	s := make([]string, g.IntN(6))
	for i := range s {
		s[i] = g.octets()
	}
	return s
}

func (g locatorGenerator) flip() bool { return g.IntN(2) == 0 }

func (g locatorGenerator) locator() Locator {
	d := deriver(g)
	switch g.IntN(11) {
	case 0:
		l := &FTP{Server: g.server(), Secure: g.flip()}
		if l.HasPath = g.flip(); l.HasPath {
			l.CWD, l.Name, l.Type = g.list(), g.octets(), "\x00aid"[g.IntN(4)]
		}
		return l
	case 1:
		l := &HTTP{Server: Server{HostPort: g.hostport()}, Secure: g.flip()}
		if l.HasPath = g.flip(); l.HasPath {
			l.Path = d.path(";:@&=")
			if l.HasSearch = g.flip(); l.HasSearch {
				l.Search = d.chars(";:@&=")
			}
		}
		return l
	case 2:
		l := &Gopher{HostPort: g.hostport(), Type: '1', Secure: g.flip()}
		if l.HasPath = g.flip(); l.HasPath {
			noTab := func() string { return strings.ReplaceAll(g.octets(), "\t", "x") }
			l.Type, l.Selector, l.Fields = byte(g.Uint32()), noTab(), uint8(g.IntN(3))
			if l.Fields >= 1 {
				l.Search = noTab()
			}
			if l.Fields == 2 {
				l.Plus = g.octets()
			}
		}
		return l
	case 3:
		return &Mailto{Address: "x" + g.octets()}
	case 4:
		l := []*News{{All: true}, {Group: d.group()}, {MessageID: g.octets() + "x" + g.octets() + "@" + d.host()}}[g.IntN(3)]
		if l.Secure = g.flip(); l.Secure && g.flip() {
			l.HostPort = g.hostport()
		}
		return l
	case 5:
		return &NNTP{g.hostport(), d.group(), d.maybe("0815"), g.flip()}
	case 6:
		return &Telnet{g.server(), g.flip()}
	case 7:
		l := &WAIS{HostPort: g.hostport(), Form: WAISForm(g.IntN(3)), Database: g.octets()}
		switch l.Form {
		case WAISSearch:
			l.Search = g.octets()
		case WAISDocument:
			l.WType, l.WPath = g.octets(), g.octets()
		}
		return l
	case 8:
		return &File{d.one("", "localhost", d.host()), append(g.list(), g.octets())}
	case 9:
		l := &Prospero{HostPort: g.hostport(), HSOName: g.octets()}
		for _, s := range g.list() {
			l.Fields = append(l.Fields, Field{s, g.octets()})
		}
		return l
	}
	return &Opaque{"x-" + d.one("a", "9", "+.-"), d.chars(reservedBNF)}
}

// TestAnyLiteral: String and Redacted of any literal do not fail and are one line. Parse refuses the
// result or returns an equal Locator, apart from the two spellings that mean the same.
func TestAnyLiteral(t *testing.T) {
	for _, f := range []any{
		func(l FTP) bool { return isLine(&l) },
		func(l HTTP) bool { return isLine(&l) },
		func(l Gopher) bool { return isLine(&l) },
		func(l Mailto) bool { return isLine(&l) },
		func(l News) bool { return isLine(&l) },
		func(l NNTP) bool { return isLine(&l) },
		func(l Telnet) bool { return isLine(&l) },
		func(l WAIS) bool { return isLine(&l) },
		func(l File) bool { return isLine(&l) },
		func(l Prospero) bool { return isLine(&l) },
		func(l Opaque) bool { return isLine(&l) },
	} {
		if err := quick.Check(f, &quick.Config{MaxCount: 200, Rand: oldrand.New(oldrand.NewSource(1738))}); err != nil {
			t.Errorf("%v: %v", reflect.TypeOf(f), err)
		}
	}
}

func isLine(l Locator) bool {
	for _, s := range []string{l.String(), l.Redacted()} {
		for _, r := range s {
			if r <= ' ' || r == 0x7F || r > 0x7F && !unicode.IsLetter(r) && !unicode.IsMark(r) {
				return false
			}
		}
	}
	return true
}

// TestLiterals: String of Locators that Parse never returns.
func TestLiterals(t *testing.T) {
	h := only("h")
	for _, c := range []struct {
		l    Locator
		want string
	}{
		{&FTP{Server: Server{HostPort: h}, Name: "n"}, "ftp://h/n"},
		{&FTP{Server: Server{HostPort: h}, CWD: []string{"a"}}, "ftp://h/a/"},
		{&FTP{Server: Server{HostPort: h}, Type: 'A'}, "ftp://h/;type=a"},
		{&FTP{Server: Server{HostPort: h}, Type: '\n'}, "ftp://h/;type=%0A"},
		{&FTP{Server: Server{Login: &Login{Password: "p"}, HostPort: h}}, "ftp://:p@h"},
		{&HTTP{Server: Server{HostPort: h}, Path: "a b?c%zz%7e#/"}, "http://h/a%20b%3Fc%25zz%7e%23/"},
		{&HTTP{Server: Server{HostPort: h}, Search: "a/b?c%"}, "http://h/?a/b?c%25"},
		{&HTTP{Server: Server{HostPort: h}, HasSearch: true}, "http://h/?"},
		{&Gopher{HostPort: h}, "gopher://h"},
		{&Gopher{HostPort: h, HasPath: true}, "gopher://h/%00"},
		{&Gopher{HostPort: h, Type: '0'}, "gopher://h/0"},
		{&Gopher{HostPort: h, Type: '7', Search: "s"}, "gopher://h/7%09s"},
		{&Gopher{HostPort: h, Type: '0', Plus: "+"}, "gopher://h/0%09%09+"},
		{&FTP{Server: Server{HostPort: h}, Secure: true}, "ftps://h"},
		{&Gopher{HostPort: h, Secure: true}, "gophers://h"},
		{&News{HostPort: h, All: true, Secure: true}, "snews://h/*"},
		{&News{MessageID: "//h/a@b", Secure: true}, "snews:%2F/h/a@b"},
		{&News{}, "news:"},
		{&News{Group: "a b"}, "news:a%20b"},
		{&News{MessageID: "a"}, "news:a"},
		{&NNTP{HostPort: h, Group: "a", Article: "x"}, "nntp://h/a/%78"},
		{&File{}, "file:///"},
		{&File{Host: "h"}, "file://h/"},
		{&Opaque{Name: "X-Foo", Rest: "a b%41#"}, "x-foo:a%20b%41%23"},
		{&Opaque{Name: "a/b", Rest: ""}, "a%2Fb:"},
		{&HTTP{Server: Server{HostPort: only("a/b@c:d")}}, "http://a%2Fb%40c%3Ad"},
		{&HTTP{Server: Server{HostPort: only("[::1]")}}, "http://%5B%3A%3A1%5D"},
		{&HTTP{Server: Server{HostPort: only("fe80::1%eth0")}}, "http://[fe80::1%25eth0]"},
		{&HTTP{Server: Server{HostPort: only("fe80::1%a/b@25")}}, "http://[fe80::1%25a%2Fb%4025]"},
		{&HTTP{Server: Server{HostPort: only("::1%eth0")}}, "http://%3A%3A1%25eth0"},
		{&HTTP{Server: Server{HostPort: only("\u202e\xff\ufffdé")}}, "http://%E2%80%AE%FF%EF%BF%BDé"},
		{&HTTP{}, "http://"},
	} {
		if got := c.l.String(); got != c.want {
			t.Errorf("%s: %s, want %s", describe(c.l), got, c.want)
		}
	}
}

// TestEqual compares all cases with each other.
func TestEqual(t *testing.T) {
	var ls []Locator
	var ds []string
	for _, c := range cases(t, acceptedFile) {
		ref, err := Parser{}.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		ls, ds = append(ls, ref.Locator), append(ds, describe(ref.Locator))
	}
	for i, a := range ls {
		for j, b := range ls {
			if got, want := Equal(a, b), ds[i] == ds[j]; got != want {
				t.Errorf("%s and %s: %v", a, b, got)
			}
		}
		if Equal(a, nil) || Equal(nil, a) {
			t.Errorf("%s equals nil", a)
		}
	}
	if !Equal(nil, nil) {
		t.Error("nil does not equal nil")
	}
	for _, a := range []Locator{(*FTP)(nil), (*HTTP)(nil), (*Gopher)(nil), (*File)(nil), (*Opaque)(nil)} {
		if !Equal(a, a) || Equal(a, nil) || Equal(a, ls[0]) || Equal(ls[0], a) {
			t.Errorf("%T(nil)", a)
		}
	}
	if Equal(&FTP{}, (*FTP)(nil)) || Equal((*FTP)(nil), &FTP{}) || !Equal(&FTP{CWD: []string{}}, &FTP{}) {
		t.Error("nil pointers, or nil slices")
	}
}
