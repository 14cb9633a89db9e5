package listing

import (
	"io"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// The size of the URLs kept until the end of a menu is limited.
func TestReferences(t *testing.T) {
	const items = 50_000
	item := fetch.Item{Name: "x", Locator: &locator.Gopher{HostPort: locator.HostPort{Host: "h"}, Type: '0', Selector: strings.Repeat("s", 100)}}
	res := &fetch.Resource{Kind: fetch.KindMenu, Items: func(yield func(fetch.Item, error) bool) {
		for range items {
			if !yield(item, nil) {
				return
			}
		}
	}}
	var out strings.Builder
	list := Listing{References: true}
	r := list.Read(res)
	defer r.Close()
	if _, err := io.Copy(&out, r); err != nil {
		t.Fatal(err)
	}
	shown, references, _ := strings.Cut(out.String(), "\nReferences\n\n")
	if n := strings.Count(shown, "\n"); n != items {
		t.Errorf("%d items, want %d", n, items)
	}
	if len(references) > maxReferences+1024 || !strings.HasPrefix(references, "   1. gopher://h/0sss") || !strings.HasSuffix(references, "(truncated; use --json to list all)\n") {
		t.Errorf("%d bytes of references, ending in %q", len(references), references[max(0, len(references)-100):])
	}
}

// A line of a picture of CP437 tells the charset of the lines below it that are not UTF-8.
func TestPicture(t *testing.T) {
	names := []string{"caf\xe9", "\xc9\xcd\xcd\xcd\xbb", "\xba caf\x82 \xba", "café", "a"}
	want := []string{"café", "╔═══╗", "║ café ║", "café", "a"}
	list := new(Listing)
	for i, name := range names {
		if got := strings.TrimSpace(list.Line(&fetch.Item{Name: name}, "")); got != want[i] {
			t.Errorf("%q is %q, want %q", name, got, want[i])
		}
	}
	link := &locator.Gopher{HostPort: locator.HostPort{Host: "h"}, Type: '0'}
	if got := list.Line(&fetch.Item{Name: "caf\xe9", Locator: link}, ""); !strings.HasSuffix(got, "café") {
		t.Errorf("a link below the picture is %q", got)
	}
}
