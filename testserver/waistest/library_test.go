package waistest_test

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fetch1738/fetch1738/internal/codec/z3950"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

// library has documents whose id is their text. "cut" ends in an error.
type library struct{ opened []string }

func (l *library) Search(database, words string) (*waistest.Answer, error) {
	a := new(waistest.Answer)
	switch words {
	case "none":
	case "many":
		for range 1000 {
			a.Hits = append(a.Hits, waistest.Hit{Headline: strings.Repeat("x", 100), ID: []byte("id"), Types: []string{"TEXT"}, Score: -1})
		}
	case "one":
		a.Hits = []waistest.Hit{{Headline: database, ID: []byte("id"), Types: []string{"TEXT", "PS"}, Score: 1000, Lines: 3, Length: -1, Date: "940612"}}
		a.Diagnostics = []waistest.Note{{Code: "ZZ", Text: "a remark"}}
	default:
		return nil, errors.New("not in the library")
	}
	return a, nil
}

func (l *library) Open(database string, id []byte, typ string) (io.ReadCloser, error) {
	l.opened = append(l.opened, database+" "+typ)
	switch string(id) {
	case "none":
		return nil, fs.ErrNotExist
	case "bad":
		return nil, errors.New("it cannot be read")
	case "cut":
		return io.NopCloser(io.MultiReader(strings.NewReader("cut"), iotest.ErrReader(errors.New("cut")))), nil
	}
	return io.NopCloser(strings.NewReader(string(id))), nil
}

// summary returns what an answer has.
func summary(r *z3950.SearchResponse) (all []string) {
	for d := range r.Documents() {
		all = append(all, strings.TrimSpace(d.Headline+string(d.Text)+" "+strings.Join(d.Types, ",")))
	}
	for d := range r.Diagnostics() {
		all = append(all, d.Code+" "+d.Text)
	}
	return all
}

func TestLibrary(t *testing.T) {
	testclient.InBubble(t, "", func(t *testing.T) {
		shelf := new(library)
		srv := waistest.New(t, func(s *waistest.Server) { s.InMemory, s.Library = true, shelf })
		c := dialWAIS(t, srv)
		get := func(id string, start, end int64) *z3950.Search {
			return z3950.NewRetrieval("db", []byte(id), "TEXT", start, end)
		}
		const beyond = "SF Request out of range"
		for _, tt := range []struct {
			ask  *z3950.Search
			want []string
		}{
			{z3950.NewWordSearch("db", z3950.Words{Seed: "one"}), []string{"db TEXT,PS", "ZZ a remark"}},
			{z3950.NewWordSearch("db", z3950.Words{Seed: "none"}), nil},
			{z3950.NewWordSearch("db", z3950.Words{Seed: "other"}), []string{"S1 not in the library"}},
			{get("0123456789", 0, 4), []string{"0123"}},
			{get("0123456789", 4, 10), []string{"456789"}},
			{get("0123456789", 10, 20), []string{beyond}},
			{get("0123456789", 2, 20), []string{"23456789", beyond}},
			{get("0123456789", 30, 40), []string{beyond}},
			{get("", 0, 10), []string{"", beyond}},
			{get("none", 0, 10), []string{"SF Missing DocID in request"}},
			{get("bad", 0, 10), []string{"S1 it cannot be read"}},
			{get("cut", 0, 2), []string{"cu"}},
		} {
			if got := summary(c.search(tt.ask)); !slices.Equal(got, tt.want) {
				t.Errorf("%+v: the answer has %q, want %q", tt.ask, got, tt.want)
			}
		}
		if len(shelf.opened) != 6 || shelf.opened[0] != "db TEXT" { // slices in order do not open a document again
			t.Errorf("opened were %q", shelf.opened)
		}
		// Headers that do not fit are left out, and the server says so.
		if got := summary(c.search(z3950.NewWordSearch("db", z3950.Words{Seed: "many"}))); len(got) < 500 || !strings.HasPrefix(got[len(got)-1], "T1 ") {
			t.Errorf("there are %d records, the last one is %q", len(got), got[len(got)-1])
		}
		// The last octets are not sent if the end cannot be read.
		message, err := z3950.AppendMessage(nil, z3950.NewHeader(), get("cut", 2, 3))
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := c.ask(message); err == nil {
			t.Errorf("the answer is %q", answer)
		}
	})
}
