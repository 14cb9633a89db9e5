package wais

import (
	"testing"

	"github.com/fetch1738/fetch1738/internal/codec/z3950"
	"github.com/fetch1738/fetch1738/locator"
)

func TestParsePath(t *testing.T) {
	for wpath, want := range map[string]struct {
		id     string
		length int64
	}{
		"162/1=h%3A210;7=%00;": {"\x01\x05h:210\x07\x01\x00", 162},
		"162/1=h:210;7=\x00;":  {"\x01\x05h:210\x07\x01\x00", 162}, // was encoded as RFC 1738 wants it
		"0/3=x;":               {"\x03\x01x", -1},
		"3=x;":                 {"\x03\x01x", -1},
		"3=a/b;":               {"\x03\x03a/b", -1},
		"opaque":               {"opaque", -1},
		"5/opaque":             {"5/opaque", -1},
		"a=b":                  {"a=b", -1},
		"-5/3=x;":              {"-5/3=x;", -1},
		"\x00\xff":             {"\x00\xff", -1},
	} {
		doc, err := parsePath(wpath)
		if err != nil || string(doc.id) != want.id || doc.length != want.length {
			t.Errorf("%q: %q, %d, %v; want %q, %d", wpath, doc.id, doc.length, err, want.id, want.length)
		}
	}
	for _, wpath := range []string{"", "1=x", "5/1=x", "5/1=x;2", "1=x;y=z;", "5/99999999999=x;"} {
		if doc, err := parsePath(wpath); err == nil {
			t.Errorf("%q: %q", wpath, doc.id)
		}
	}
}

// TestURLForms parses three forms of the same URL.
func TestURLForms(t *testing.T) {
	const browser = "wais://localhost" + whale
	want := parse(t, browser)
	for _, url := range []string{browser, want.String()} {
		got := parse(t, url)
		doc, err := parsePath(got.WPath)
		if err != nil || doc.length != 162 || len(doc.id) != 125 || URL(got) != browser {
			t.Errorf("%s: %d bytes of id, length %d, %v; URL %s", url, len(doc.id), doc.length, err, URL(got))
		}
	}
	for _, url := range []string{"wais://h/d", "wais://h/d?x", "wais://h/d/T/opaque%2Fid"} {
		if got := URL(parse(t, url)); got != url {
			t.Errorf("%s is written %s", url, got)
		}
	}
}

// FuzzPath checks that any document-id can be written and parsed again.
func FuzzPath(f *testing.F) {
	for _, id := range []string{"opaque", "\x01\x05h:210\x07\x01\x00", "1=a;", "5/1=x;", "\x03\x03%;=", ""} {
		f.Add([]byte(id), uint32(162))
	}
	f.Fuzz(func(t *testing.T, id []byte, length uint32) {
		if len(id) > 10000 {
			return
		}
		wpath, ok := path(id, z3950.Num(length))
		if !ok {
			return
		}
		l := &locator.WAIS{HostPort: locator.HostPort{Host: "h"}, Form: locator.WAISDocument, Database: "d", WType: "T", WPath: wpath}
		for _, url := range []string{l.String(), URL(l)} {
			ref, err := locator.Parser{Tolerate: locator.ReservedOctets}.Parse(url)
			if err != nil {
				t.Fatalf("%s: %v", url, err)
			}
			doc, err := parsePath(ref.Locator.(*locator.WAIS).WPath)
			if err != nil || string(doc.id) != string(id) {
				t.Fatalf("%q is written %s and read as %q, %v", id, url, doc.id, err)
			}
		}
	})
}

func TestHeadline(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "\x1b(found\x1b) words": "found words", "a\x1bPabcdef": "adef", "\t \x01lead": "lead", "two\r\nlines": "twolines",
		"\x1b": "", "x\x1bab": "x", "Caf\xe9": "Caf\xe9",
	} {
		if got := headline(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestDate(t *testing.T) {
	for in, want := range map[string]string{"941220": "1994-12-20", "19941220": "1994-12-20", "040102": "2004-01-02", "0": "0001-01-01", "": "0001-01-01", "999999": "0001-01-01", "1994": "0001-01-01"} {
		if got := date(in).Format("2006-01-02"); got != want {
			t.Errorf("%q becomes %s, want %s", in, got, want)
		}
	}
}

func TestMediaType(t *testing.T) {
	for typ, want := range map[string]string{"TEXT": "text/plain", "html": "text/html", "GIF": "image/gif", "WSRC": "application/x-wais-source", "XYZ": "application/octet-stream", "URL": ""} {
		if got := mediaType(typ); got != want {
			t.Errorf("%s is %s, want %s", typ, got, want)
		}
	}
}
