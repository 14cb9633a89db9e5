package replay_test

import (
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

func TestReplayWAIS(t *testing.T) {
	server := waistest.New(t, func(s *waistest.Server) {
		s.InMemory, s.Host = true, "wais.example.org"
		s.Content = fstest.MapFS{
			"poems/light house.txt": {Data: []byte("The lighthouse\nstands (score 3, TEXT)\n")},
			"poems/sea.txt":         {Data: []byte("The sea\n" + strings.Repeat("a lighthouse and the sea\n", 2000))},
			"poems/even.txt":        {Data: []byte("even " + strings.Repeat("0123456789", 2000)[5:])}, // two slices
			"poems/empty.txt":       {Data: nil},
			"poems/octets.gif":      {Data: []byte("GIF\x00\xff\r\n.\r\n")},
		}
	})
	p := newPast(t, map[string]*testserver.Server{"wais.example.org:210": &server.Server})
	urls := []string{"wais://wais.example.org/poems", "wais://wais.example.org/poems?lighthouse", "wais://wais.example.org/poems?sea+or%20even", "wais://wais.example.org/poems?nothing", "wais://wais.example.org/INFO?poems"}
	for _, name := range []string{"light house.txt", "sea.txt", "even.txt", "octets.gif", "empty.txt"} {
		urls = append(urls, "wais://wais.example.org"+server.DocumentPath("poems", "poems/"+name))
	}
	unknown := strings.Replace(urls[6], "/50008/", "/0/", 1)
	if unknown == urls[6] {
		t.Fatal(urls[6])
	}
	before := p.record(append(urls, unknown, "wais://wais.example.org/poems?c%2B%2B+x")...)
	p.begin()
	p.same(before)
	for url, want := range map[string]string{
		"wais://wais.example.org/poems?other":     `it has "c++ x", "lighthouse", "nothing", "sea or even"`,
		"wais://wais.example.org/none?other":      "nothing of the database",
		"wais://wais.example.org/none":            "nothing of the database",
		strings.Replace(urls[5], "TEXT", "PS", 1): "Missing DocID",
	} {
		if _, err := p.again.Get(t.Context(), url); fetch.KindOf(err) != fetch.ErrNotFound || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// A shelf answers each search in the same way.
type shelf struct{ *waistest.Answer }

func (s shelf) Search(string, string) (*waistest.Answer, error) { return s.Answer, nil }

func (s shelf) Open(string, []byte, string) (io.ReadCloser, error) { return nil, fs.ErrNotExist }

// An archive has an answer as text. The answer that is made from it has the same text.
func TestReplayAnswers(t *testing.T) {
	hit := func(headline string, types ...string) waistest.Hit {
		return waistest.Hit{Headline: headline, ID: []byte("id"), Types: types, Score: 1000, Lines: 2, Length: 7, Date: "940612"}
	}
	bare := waistest.Hit{Headline: "bare", ID: []byte("1=x"), Types: []string{"TEXT"}, Score: -1, Lines: -1, Length: -1}
	odd := hit("  (score 7, 3 lines, TEXT, 9 bytes, 1994-01-01)  (", "PS")
	odd.Date, odd.Lines, odd.Score = "941332", 1, 0
	catalogue := waistest.Hit{Headline: "Catalogue", ID: []byte("c"), Types: []string{"WCAT"}, Lines: 3, Length: 5}
	for name, a := range map[string]waistest.Answer{
		"several":           {Hits: []waistest.Hit{hit("one", "TEXT", "PS", "GIF"), hit("two", "HTML"), odd, bare, bare, hit("\x1b(bold\x1b) 12. x", "MIME")}},
		"without documents": {},
		"diagnostics": {
			Hits:        []waistest.Hit{hit("x", "TEXT")},
			Diagnostics: []waistest.Note{{Code: "T1", Text: "two of them"}, {Code: "T1"}, {Code: "ZZ", Text: "a: b"}},
		},
		"catalogue": {Hits: []waistest.Hit{catalogue}},
		"URLs":      {Hits: []waistest.Hit{hit("gopher://example.org/", "URL"), hit("file:///etc/passwd", "URL"), hit("http://example.org/a%20b", "URL", "TEXT")}},
		"no id":     {Hits: []waistest.Hit{{Headline: "x", Types: []string{"TEXT"}, Score: 3}, hit("y", "TEXT")}},
	} {
		t.Run(name, func(t *testing.T) {
			server := waistest.New(t, func(s *waistest.Server) { s.InMemory, s.Library = true, shelf{&a} })
			p := newPast(t, map[string]*testserver.Server{"wais.example.org:210": &server.Server})
			before := p.record("wais://wais.example.org/db?x")
			p.begin()
			p.same(before)
		})
	}
}
