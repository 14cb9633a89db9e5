package replay_test

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/replay"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/locator"
)

// overYears returns a Replay of captures of the first day of each year, for the pairs of a URL and the
// years, and of the content "URL of YEAR".
func overYears(t *testing.T, records ...string) *replay.Replay {
	t.Helper()
	dir := t.TempDir()
	w, err := warc.Create(dir, warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(records); i += 2 {
		for year := range strings.FieldsSeq(records[i+1]) {
			block := warc.NewBlock()
			defer block.Close()
			io.WriteString(block, records[i]+" of "+year)
			err := w.Write(warc.Draft{Block: block, Header: warc.Header{
				{Name: warc.FieldType, Value: "resource"}, {Name: warc.FieldTargetURI, Value: records[i]},
				{Name: warc.FieldDate, Value: year + "-01-01T00:00:00Z"}, {Name: warc.FieldContentType, Value: "text/plain"},
			}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := archive.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	past, err := replay.New(a, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { past.Close() })
	return past
}

// TestTimes tests which captures the server of a URL answers with.
func TestTimes(t *testing.T) {
	past := overYears(t,
		"ftp://Ftp.Example/a;type=i", "1993 1995", "ftp://Ftp.Example/a/b", "1990", "ftp://Ftp.Example/%2Fetc/", "1991",
		"gopher://h.example/", "1993", "gopher://h.example/0/text", "1994 1993", "gopher://h.example/0/text2", "1999", "gopher://h.example/9/bin", "1996", "gopher://h.example/0/plus%09%09+", "1992",
		"news:comp.lang.c", "1993", "news:1@h.example", "1994", "nntp://n.example/g/1", "1995", "wais://w.example/db?x", "1996", "prospero://p.example/dir", "1997",
	)
	for url, want := range map[string]string{
		"ftp://ftp.example/a": "1993 1995", "ftp://ftp.example/a;type=i": "1993 1995", "ftp://ftp.example/a/b": "1990", "ftp://ftp.example/etc/": "1991", "ftp://ftp.example/%2Fetc/": "1991", "ftp://ftp.example/": "",
		"ftp://ftp.example:2121/a": "", "ftps://ftp.example/a": "", "gopher://h.example": "1993", "gopher://h.example/1": "1993", "gopher://h.example/0/text": "1993 1994", "gopher://h.example/9/text": "1993 1994",
		"gopher://h.example/0/bin": "1996", "gopher://h.example/0/text%09%09+": "1993 1994", "gopher://h.example/0/plus%09%09+": "1992", "gopher://h.example/0/none": "", "gopher://h.example/7/text%09words": "",
		"news:comp.lang.c": "1993", "news:1@h.example": "1994", "news:*": "", "nntp://n.example/g/1": "1995", "nntp://n.example/g": "", "wais://w.example/db?x": "1996", "wais://w.example/db?y": "",
		"prospero://p.example/dir": "1997", "mailto:a@b": "", "telnet://h.example/": "", "http://h.example/": "",
	} {
		ref, err := locator.Parser{Tolerate: locator.TolerateUsual}.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		var years []string
		for at, err := range past.Times(ref.Locator) {
			if err != nil {
				t.Errorf("%s: %v", url, err)
			}
			years = append(years, at.Format("2006"))
		}
		if got := strings.Join(years, " "); got != want {
			t.Errorf("%s: the captures of %q, want %q", url, got, want)
		}
	}
}

// TestPages tests where reading each site begins.
func TestPages(t *testing.T) {
	past := overYears(t,
		"ftp://f.example/pub/a", "1990", "gopher://h.example/1/", "1990", "gopher://h2.example/", "1990", "gopher://lone.example/0/a", "1990", "http://www.example/", "1990", "wais://w.example/", "1990", "wais://w2.example/db?x", "1990",
		"news:*", "1990", "news:1@h.example", "1990", "news:comp.lang.c", "1990 1991", "news:comp.lang.c++", "1990",
		"nntp://N.example/comp.lang.c", "1990", "nntp://N.example/comp.lang.c/1", "1990 1991", "nntp://N.example/comp.lang.c/2", "1990", "nntp://N.example/comp.lang.c++/1", "1990", "nntp://N.example/alt/1", "1990",
		"snews://s.example/group", "1990",
	)
	want := map[string]string{
		"ftp://f.example/": "ftp://f.example/", "gopher://h.example/": "gopher://h.example/1/", "gopher://h2.example/": "gopher://h2.example/", "gopher://lone.example/": "", "http://www.example/": "http://www.example/", "wais://w.example/": "wais://w.example/", "wais://w2.example/": "",
		"news:": "news:* news:comp.lang.c news:comp.lang.c++", "nntp://n.example/": "nntp://N.example/alt nntp://N.example/comp.lang.c nntp://N.example/comp.lang.c++", "snews://s.example/": "snews://s.example/group",
	}
	for _, s := range past.Sites() {
		pages, err := past.Pages(s)
		slices.Sort(pages)
		if got := strings.Join(pages, " "); err != nil || got != want[s.String()] {
			t.Errorf("%s: %q, %v, want %q", s, got, err, want[s.String()])
		}
		delete(want, s.String())
	}
	if len(want) > 0 {
		t.Errorf("no sites %v", want)
	}
	if pages, err := past.Pages(archive.Site{Scheme: "gopher", Host: "none.example", Port: 70}); pages != nil || err != nil {
		t.Errorf("of no site: %q, %v", pages, err)
	}
	var many []string
	for i := range 150 {
		many = append(many, "nntp://n.example/g"+strings.Repeat("x", i)+"/1", "1990")
	}
	if pages, err := overYears(t, many...).Pages(archive.Site{Scheme: "nntp", Host: "n.example", Port: 119}); len(pages) != 100 || err != nil {
		t.Errorf("of many: %d, %v", len(pages), err)
	}
}
