package play

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/fetch"
)

// TestResolvers tests that each Resolver answers as of its time, also while others begin and end, and
// that those in use are kept.
func TestResolvers(t *testing.T) {
	dir := t.TempDir()
	w, err := warc.Create(dir, warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for year := 1990; year < 1996; year++ {
		for _, url := range []string{"gopher://h.example/0/a", "ftp://f.example/a"} {
			block := warc.NewBlock()
			defer block.Close()
			fmt.Fprintf(block, "%s of %d", url, year)
			err := w.Write(warc.Draft{Block: block, Header: warc.Header{
				{Name: warc.FieldType, Value: "resource"}, {Name: warc.FieldTargetURI, Value: url},
				{Name: warc.FieldDate, Value: fmt.Sprintf("%d-01-01T00:00:00Z", year)}, {Name: warc.FieldContentType, Value: "text/plain"},
			}})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	past, end, err := OpenReplay(t.Context(), []string{dir}, "", t.Errorf)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	made := 0
	all := NewResolvers(past, 2, func(r *fetch1738.Resolver) {
		made++
		r.Env.Limits = fetch.Limits{Line: 100}
	})
	read := func(r *fetch1738.Resolver, url string) string {
		res, err := r.Get(t.Context(), url)
		if err != nil {
			return err.Error()
		}
		defer res.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	at := func(year int) time.Time { return time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC) }
	first, firstDone := all.At(at(1990))
	var group sync.WaitGroup
	for i := range 30 {
		group.Go(func() {
			year := 1991 + i%5
			r, done := all.At(at(year))
			defer done()
			for _, url := range []string{"gopher://h.example/0/a", "ftp://f.example/a"} {
				if got, want := strings.TrimSpace(read(r, url)), url+" of "+at(year).Format("2006"); got != want {
					t.Errorf("%q, want %q", got, want)
				}
			}
		})
	}
	group.Wait()
	if got := read(first, "ftp://f.example/a"); got != "ftp://f.example/a of 1990" {
		t.Errorf("the one in use: %q", got)
	}
	before := made
	again, done := all.At(at(1990))
	if again != first || made != before {
		t.Error("the Resolver of the same time is another one")
	}
	done()
	firstDone()
	for year := 1991; year < 1996; year++ {
		_, done := all.At(at(year))
		done()
	}
	before = made
	if r, done := all.At(at(1995)); made != before || r == nil {
		t.Error("the last one was not kept")
	} else {
		done()
	}
	if r, done := all.At(at(1990)); r == first || made != before+1 {
		t.Error("one that was used long ago was kept")
	} else {
		done()
	}
	if err := all.Close(); err != nil {
		t.Error(err)
	}
}
