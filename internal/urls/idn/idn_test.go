package idn

import (
	"testing"

	"github.com/fetch1738/fetch1738/locator"
)

func TestASCII(t *testing.T) {
	for host, want := range map[string]string{
		"münchen.example": "xn--mnchen-3ya.example", "MÜNCHEN.Example": "xn--mnchen-3ya.example", "Example": "Example", "": "", "日本。jp": "xn--wgv71a.jp", "faß.de": "xn--fa-hia.de",
		"℀.example": "", "ä/x": "", "ä:80": "", "ä@b": "", "ä b": "", "\xff": "", "ä%": "", "[ä]": "", "ä..b": "xn--4ca..b", "_dmarc.example": "_dmarc.example", "_dmarc.ä": "", "ä\x00": "", "ä.": "xn--4ca.", "a\u0308.example": "xn--4ca.example",
		"xn--ä.example": "", "-ä.example": "", "\u200d": "", "xn--a.example": "xn--a.example", "\u00ad": "", "\ufffd": "", "１２７.0.0.1": "127.0.0.1", "a／b": "",
	} {
		got, err := ASCII(host)
		if got != want || (err != nil) != (want == "" && host != "") {
			t.Errorf("%q: %q, %v; want %q", host, got, err, want)
		}
	}
}

func TestSame(t *testing.T) {
	for _, pair := range [][2]string{{"münchen.example", "XN--Mnchen-3ya.example"}, {"MÜNCHEN.example", "münchen.example"}, {"a.b", "A.B"}, {"ä/x", "Ä/x"}} {
		if !Same(pair[0], pair[1]) || !Same(pair[1], pair[0]) {
			t.Errorf("%q are two hosts", pair)
		}
	}
	for _, pair := range [][2]string{{"münchen.example", "munchen.example"}, {"ä/x", "ö/x"}, {"", "ä"}, {"a", "b"}} {
		if Same(pair[0], pair[1]) || Same(pair[1], pair[0]) {
			t.Errorf("%q are one host", pair)
		}
	}
}

func TestURL(t *testing.T) {
	for text, want := range map[string]string{
		"http://münchen.example/ü?ä#ö": "http://xn--mnchen-3ya.example/ü?ä#ö", "http://m%C3%BCnchen.example:80": "http://xn--mnchen-3ya.example:80", "ftp://ü:ä@münchen.example:21/x": "ftp://ü:ä@xn--mnchen-3ya.example:21/x",
		"https://MÜNCHEN.example?q": "https://xn--mnchen-3ya.example?q", "gopher://h/ü": "gopher://h/ü", "http://h%2Fx/": "http://h%2Fx/", "http://ü%2Fx/": "http://ü%2Fx/", "http://ü%zz/": "http://ü%zz/",
		"http://[fe80::1%25eth0]:80/": "http://[fe80::1%25eth0]:80/", "news:ü@ä": "news:ü@ä", "": "", "ü": "ü", "://ü": "://xn--tda", "http://℀/": "http://℀/", "http://ä\\ü": "http://xn--4ca\\ü",
	} {
		if got := URL(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestLocator(t *testing.T) {
	for text, want := range map[string]string{
		"http://münchen.example/x?y": "http://xn--mnchen-3ya.example/x?y", "https://u:p@münchen.example:81/": "https://u:p@xn--mnchen-3ya.example:81/", "ftp://u:p@münchen.example/a/b;type=i": "ftp://u:p@xn--mnchen-3ya.example/a/b;type=i",
		"gopher://münchen.example/1x": "gopher://xn--mnchen-3ya.example/1x", "nntp://münchen.example/a.b/1": "nntp://xn--mnchen-3ya.example/a.b/1", "snews://münchen.example/a.b": "snews://xn--mnchen-3ya.example/a.b",
		"telnet://u@münchen.example/": "telnet://u@xn--mnchen-3ya.example/", "wais://münchen.example/d?x": "wais://xn--mnchen-3ya.example/d?x", "prospero://münchen.example/x;a=b": "prospero://xn--mnchen-3ya.example/x;a=b",
		"ftps://münchen.example/": "ftps://xn--mnchen-3ya.example/", "news:a@b": "news:a@b", "mailto:a@b": "mailto:a@b", "http://h/": "http://h/",
	} {
		ref, err := locator.Parser{Tolerate: locator.TolerateUsual}.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		before := ref.Locator.String()
		if got, err := Locator(ref.Locator); err != nil || got.String() != want || ref.Locator.String() != before {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if l, err := Locator(&locator.Gopher{HostPort: locator.HostPort{Host: "℀"}}); err == nil {
		t.Error(l)
	}
}

func BenchmarkASCII(b *testing.B) {
	for b.Loop() {
		if _, err := ASCII("münchen.example"); err != nil {
			b.Fatal(err)
		}
	}
}
