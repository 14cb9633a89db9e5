package locator_test

import (
	"errors"
	"fmt"

	"github.com/fetch1738/fetch1738/locator"
)

func ExampleParse() {
	ref, err := locator.Parser{}.Parse("ftp://myname@host.dom/%2Fetc/motd;type=a")
	if err != nil {
		fmt.Println(err)
		return
	}
	switch l := ref.Locator.(type) {
	case *locator.FTP:
		fmt.Println("log in to", l.Host, "as", l.Login.User)
		for _, dir := range l.CWD {
			fmt.Println("CWD", dir)
		}
		fmt.Printf("RETR %s, type %c\n", l.Name, l.Type)
	default:
		fmt.Println("another scheme:", l.Scheme())
	}
	// Output:
	// log in to host.dom as myname
	// CWD /etc
	// RETR motd, type a
}

func ExampleParse_refused() {
	for _, s := range []string{
		"http://user:secret@host.dom/",
		"ftp://host.dom/a;b",
		"gopher://host.dom:99999/1",
		"http://host.dom/~user",
	} {
		_, err := locator.Parser{}.Parse(s)
		fmt.Println(err)
	}
	// Output:
	// bad URL "http://user:***@host.dom/": no user name or password is allowed here, at offset 18 (RFC 1738, section 3.3)
	// bad URL "ftp://host.dom/a;b": ";" must be encoded as %3B, or start ";type=" and a typecode, at offset 16 (RFC 1738, section 3.2.2)
	// bad URL "gopher://host.dom:99999/1": a port is a number from 1 to 65535, at offset 18 (RFC 1738, section 3.1)
	// bad URL "http://host.dom/~user": "~" must be encoded as %7E, at offset 16 (RFC 1738, section 2.2)
}

func ExampleSyntaxError() {
	_, err := locator.Parser{}.Parse("http://host.dom/a b")
	var e *locator.SyntaxError
	if errors.As(err, &e) {
		fmt.Println(e.Text)
		fmt.Printf("%*s\n", e.Offset+1, "^")
		fmt.Println("see section", e.Section)
	}
	// Output:
	// http://host.dom/a b
	//                  ^
	// see section 2.2
}

func ExampleParser() {
	p := locator.Parser{Tolerate: locator.TolerateAll}
	r, err := p.Parse("<URL:http:host.dom/~user/a\n   b#part>")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Locator)
	fmt.Println("fragment", r.Fragment)
	fmt.Println("unsafe octets:", r.Used&locator.UnsafeOctets != 0)
	fmt.Println("empty port:", r.Used&locator.EmptyPort != 0)
	// Output:
	// http://host.dom/%7Euser/ab
	// fragment part
	// unsafe octets: true
	// empty port: false
}

func ExampleExtract() {
	const text = `Yes, Jim, I found it under <URL:ftp://info.cern.ch/pub/www/doc;
      type=d> but you can probably pick it up from <URL:ftp://ds.in
      ternic.net/rfc>, or by mail (mailto:mailserv@ds.internic.net).`
	for r := range locator.Extract(text) {
		fmt.Println(r)
	}
	// Output:
	// ftp://info.cern.ch/pub/www/doc;type=d
	// ftp://ds.internic.net/rfc
	// mailto:mailserv@ds.internic.net
}

// Locators may be written as literals. String encodes the octets that require it.
func ExampleLocator() {
	l := &locator.Gopher{
		HostPort: locator.HostPort{Host: "host.dom", Port: 7070},
		Type:     '7',
		Selector: "/find",
		Search:   "salmon & dogs",
		Fields:   1,
		HasPath:  true,
	}
	fmt.Println(l)
	// Output:
	// gopher://host.dom:7070/7/find%09salmon%20&%20dogs
}

func ExampleServerOf() {
	ref, err := locator.Parser{}.Parse("wais://host.dom/directory-of-servers")
	if err != nil {
		fmt.Println(err)
		return
	}
	if s, ok := locator.ServerOf(ref.Locator); ok {
		fmt.Println(s.Host, s.Port)
	}
	// Output:
	// host.dom 210
}

// TolerateUsual accepts URLs as people write them. Used names the departures from RFC 1738.
func ExampleParser_Parse() {
	p := locator.Parser{Tolerate: locator.TolerateUsual}
	r, err := p.Parse("http://[::1]/~user?q#top")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Used)
	_, err = locator.Parser{}.Parse("http://[::1]/~user?q#top") // strict
	fmt.Println(err)
	// Output:
	// UnsafeOctets|Fragments|ModernHosts
	// bad URL "http://[::1]/~user?q#top": a host consists of letters, digits, "-" and ".", at offset 7 (RFC 1738, section 3.1)
}

// Redact hides the password in a text that may be a URL, for logs.
func ExampleParser_Redact() {
	p := locator.Parser{Tolerate: locator.TolerateUsual}
	fmt.Println(p.Redact("ftp://lab:secret@ftp.example.org/pub"))
	fmt.Println(p.Redact("x-db://lab:secret@db.example.org/t"))
	// Output:
	// ftp://lab:***@ftp.example.org/pub
	// x-db://lab:***@db.example.org/t
}

func ExampleWithLogin() {
	ref, err := locator.Parser{}.Parse("ftp://ftp.example.org/pub/")
	if err != nil {
		fmt.Println(err)
		return
	}
	if with, ok := locator.WithLogin(ref.Locator, &locator.Login{User: "lab", Password: "secret", HasPassword: true}); ok {
		fmt.Println(with.Redacted())
	}
	// Output: ftp://lab:***@ftp.example.org/pub/
}

// An encoded line end would start a second command in a line protocol.
func ExampleCheckOctets() {
	ref, err := locator.Parser{}.Parse("ftp://ftp.example.org/a%0D%0ADELE%20x")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(locator.CheckOctets(ref.Locator))
	// Output: encoded CR (%0D) in ftp path at offset 23
}
