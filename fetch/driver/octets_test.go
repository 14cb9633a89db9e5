package driver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// The octets that components refuse, because they would end the component on the wire (RFC 1738
// §6).
const (
	ends   = "\x00\r\n"
	fields = ends + "\t"
	words  = fields + " "
	group  = words + `*?[]\,!`
)

// controls are the C0 controls, the space and DEL.
var controls = func() string {
	s := "\x7f"
	for c := byte(0); c <= ' '; c++ {
		s += string([]byte{c})
	}
	return s
}()

// components returns Locators with a text in every component of every scheme.
var components = []struct {
	name    string
	refused string
	with    func(text string) locator.Locator
}{
	{"ftp host", controls + `/\?#@`, func(s string) locator.Locator { return &locator.FTP{Server: host(s)} }},
	{"ftp user", ends, func(s string) locator.Locator { return &locator.FTP{Server: user(s)} }},
	{"ftp password", ends, func(s string) locator.Locator { return &locator.FTP{Server: password(s)} }},
	{"ftp path", ends, func(s string) locator.Locator { return &locator.FTP{CWD: []string{"a", s}, Name: "x", HasPath: true} }},
	{"ftp path", ends, func(s string) locator.Locator { return &locator.FTP{CWD: []string{""}, Name: s, HasPath: true} }},
	{"telnet host", controls + `/\?#@`, func(s string) locator.Locator { return &locator.Telnet{Server: host(s)} }},
	{"telnet user", ends + "\xff", func(s string) locator.Locator { return &locator.Telnet{Server: user(s)} }},
	{"telnet password", ends + "\xff", func(s string) locator.Locator { return &locator.Telnet{Server: password(s)} }},
	{"http host", controls + `/\?#@`, func(s string) locator.Locator { return &locator.HTTP{Server: host(s)} }},
	{"https user", ends, func(s string) locator.Locator { return &locator.HTTP{Server: user(s), Secure: true} }},
	{"http password", ends, func(s string) locator.Locator { return &locator.HTTP{Server: password(s)} }},
	{"http path", controls, func(s string) locator.Locator { return &locator.HTTP{Path: s, HasPath: true} }},
	{"http search", controls, func(s string) locator.Locator {
		return &locator.HTTP{HasPath: true, Search: s, HasSearch: true}
	}},
	{"gopher host", controls + `/\?#@`, func(s string) locator.Locator { return &locator.Gopher{Type: '0', HostPort: host(s).HostPort} }},
	{"gopher selector", fields, func(s string) locator.Locator { return &locator.Gopher{Type: '0', Selector: s, HasPath: true} }},
	{"gopher search", fields, func(s string) locator.Locator {
		return &locator.Gopher{Type: '7', Search: s, Fields: 1, HasPath: true}
	}},
	{"gopher Gopher+ string", fields, func(s string) locator.Locator {
		return &locator.Gopher{Type: '0', Plus: s, Fields: 2, HasPath: true}
	}},
	{"gopher Gopher+ string", fields, func(s string) locator.Locator {
		return &locator.Gopher{Type: '0', Plus: "+" + s + "\t1\r\n+-1\r\nvalue\r\n.\r\n", Fields: 2, HasPath: true}
	}},
	{"gopher Gopher+ form", ends, func(s string) locator.Locator {
		return &locator.Gopher{Type: '0', Plus: "+\t1\r\n+-1\r\nfirst\r\n" + s + "\r\nlast\r\n.\r\n", Fields: 2, HasPath: true}
	}},
	{"news group", group, func(s string) locator.Locator { return &locator.News{Group: s} }},
	{"news message-id", words + "<>", func(s string) locator.Locator { return &locator.News{MessageID: s + "@host"} }},
	{"nntp group", group, func(s string) locator.Locator { return &locator.NNTP{Group: s, Article: "1"} }},
	{"nntp article", words, func(s string) locator.Locator { return &locator.NNTP{Group: "g", Article: s} }},
	{"wais database", ends, func(s string) locator.Locator { return &locator.WAIS{Database: s} }},
	{"wais search", "", func(s string) locator.Locator {
		return &locator.WAIS{Form: locator.WAISSearch, Database: "d", Search: s}
	}},
	{"wais wpath", "", func(s string) locator.Locator {
		return &locator.WAIS{Form: locator.WAISDocument, Database: "d", WType: "TEXT", WPath: s}
	}},
	{"prospero hsoname", ends, func(s string) locator.Locator { return &locator.Prospero{HSOName: s} }},
	{"prospero field", ends, func(s string) locator.Locator {
		return &locator.Prospero{HSOName: "x", Fields: []locator.Field{{Name: s}}}
	}},
	{"prospero field", ends, func(s string) locator.Locator {
		return &locator.Prospero{HSOName: "x", Fields: []locator.Field{{Name: "f", Value: s}}}
	}},
	{"mailto address", ends, func(s string) locator.Locator { return &locator.Mailto{Address: s} }},
	{"file path", "\x00/", func(s string) locator.Locator { return &locator.File{Segments: []string{"a", s, "b"}} }},
	{"x-new rest", "", func(s string) locator.Locator { return &locator.Opaque{Name: "x-new", Rest: s} }},
}

func host(s string) locator.Server {
	return locator.Server{HostPort: locator.HostPort{Host: s}}
}

func user(s string) locator.Server { return locator.Server{Login: &locator.Login{User: s}} }

func password(s string) locator.Server {
	return locator.Server{Login: &locator.Login{User: "u", Password: s, HasPassword: true}}
}

// TestCheckOctets tries every octet in every component.
func TestCheckOctets(t *testing.T) {
	for _, c := range components {
		for octet := range 256 {
			o := string([]byte{byte(octet)})
			l := c.with("a" + o + "b")
			err := driver.CheckOctets(l)
			if strings.Contains(c.refused, o) {
				checkRefusal(t, c.name, byte(octet), l, err)
			} else if err != nil {
				t.Errorf("%s, octet %02X: %v", c.name, octet, err)
			}
		}
	}
}

func checkRefusal(t *testing.T, component string, octet byte, l locator.Locator, err error) {
	t.Helper()
	var control *locator.EncodedControl
	if !errors.Is(err, fetch.ErrBadURL) || !errors.As(err, &control) {
		t.Errorf("%s, octet %02X: %v", component, octet, err)
		return
	}
	if got := control.Scheme + " " + control.Component; got != component || control.Octet != octet {
		t.Errorf("%s, octet %02X: the error names %s, octet %02X", component, octet, got, control.Octet)
	}
	text := l.String()
	if i := control.Offset; i < 0 || text[i] != octet && !strings.HasPrefix(text[i:], fmt.Sprintf("%%%02X", octet)) {
		t.Errorf("%s, octet %02X: not at offset %d of %q", component, octet, control.Offset, text)
	}
	if strings.ContainsAny(err.Error(), "\x00\r\n\x1b") {
		t.Errorf("%s, octet %02X: %q", component, octet, err)
	}
}

func TestCheckOctetsText(t *testing.T) {
	ref, err := locator.Parser{}.Parse("ftp://h/a%0D%0ADELE%20x")
	if err != nil {
		t.Fatal(err)
	}
	const want = "check ftp://h/a%0D%0ADELE%20x: encoded CR (%0D) in ftp path at offset 9 (RFC 1738 section 6)"
	if err := driver.CheckOctets(ref.Locator); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestCheckOctetsGopherType tries every octet as a type.
func TestCheckOctetsGopherType(t *testing.T) {
	for octet := range 256 {
		l := &locator.Gopher{Type: byte(octet), HasPath: true}
		err := driver.CheckOctets(l)
		if refuse := strings.IndexByte(fields, byte(octet)) >= 0; refuse != (err != nil) {
			t.Errorf("type %02X: %v", octet, err)
		}
	}
}

// TestCheckOctetsForm: a filled Gopher+ form has exactly one final dot.
func TestCheckOctetsForm(t *testing.T) {
	for form, ok := range map[string]bool{
		"+\t1\r\n+-1\r\n.\r\n":                   true,
		"+\t1\r\n+-1\r\na\r\nb\r\n.\r\n":         true,
		"+\t1\r\n+-1\r\n\r\n.\r\n":               true,
		"+\t1\r\n+-1\r\na\r\nb\r\n":              false,
		"+\t1\r\n+-1\r\na\r\n.\r\nDELE\r\n.\r\n": false,
		"+\t1\r\n+-1\r\na\r\n.\r\nDELE\r\n":      false,
		"+\t1\r\n+-1\r\na\n.\r\n":                false,
		"+\t1\r\na":                              false,
		"+\t1":                                   false,
		"+application/octet-stream":              true,
	} {
		err := driver.CheckOctets(&locator.Gopher{Type: '0', Plus: form, Fields: 2, HasPath: true})
		if (err == nil) != ok {
			t.Errorf("%q: %v", form, err)
		}
	}
}

// FuzzCheckOctets: an accepted Locator has no line end in a component of a line protocol.
func FuzzCheckOctets(f *testing.F) {
	for _, seed := range []string{"ftp://h/a%0D", "gopher://h/0a%09b%09+%0D%0A", "news:a@b", "http://h/a?b", "file:///a%2Fb"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, url string) {
		ref, err := locator.Parser{Tolerate: locator.TolerateAll}.Parse(url)
		if err != nil {
			return
		}
		err = driver.CheckOctets(ref.Locator)
		if l, ok := ref.Locator.(*locator.FTP); ok {
			all := strings.Join(l.CWD, "") + l.Name
			if l.Login != nil {
				all += l.Login.User + l.Login.Password
			}
			if strings.ContainsAny(all, "\x00\r\n") != (err != nil) {
				t.Errorf("%q: %v", url, err)
			}
		}
		if err != nil && !errors.Is(err, fetch.ErrBadURL) {
			t.Errorf("%q: %v", url, err)
		}
	})
}
