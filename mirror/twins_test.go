package mirror

import (
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// TestTwins checks that the entries of a tree under TLS are found again under TLS on the same
// server, and that no other entries belong to it.
func TestTwins(t *testing.T) {
	parse := func(url string) locator.Locator {
		ref, err := locator.Parser{}.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		return ref.Locator
	}
	for _, tc := range []struct{ start, item, other string }{
		{"ftps://u@h/d/", "ftps://u@h/d/a", "ftp://u@h:990/d/a"},
		{"gophers://h/1/d", "gophers://h/0/d/a", "gopher://h/0/d/a"},
		{"nntps://h/g", "nntps://h/g/1", ""},
		{"snews://h:5630/g", "snews://h:5630/a@b", ""},
		{"snews:g", "snews:a@b", ""},
		{"news:g", "news:a@b", ""},
	} {
		tree, err := treeOf(parse(tc.start))
		if err != nil {
			t.Fatal(err)
		}
		item := fetch.Item{Name: "1", Locator: parse(tc.item)}
		item.Header = []fetch.Field{{Name: "Message-ID", Value: "<a@b>"}}
		at, err := tree.place(item)
		if err != nil {
			t.Errorf("%s: %v", tc.item, err)
			continue
		}
		if again, _ := tree.find(tree.start(), tree.key(item.Locator, at), at.dir, at.id); !locator.Equal(again, item.Locator) {
			t.Errorf("%s is found again as %v", tc.item, again)
		}
		if tc.other == "" {
			continue
		}
		if _, err := tree.place(fetch.Item{Name: "1", Locator: parse(tc.other)}); err != ErrServer {
			t.Errorf("%s belongs to %s: %v", tc.other, tc.start, err)
		}
	}
	menu := newGopherTree(parse("gophers://h/1").(*locator.Gopher))
	if err := menu.alias([]string{"other"}); err != nil {
		t.Fatal(err)
	}
	if own := menu.canonical(parse("gopher://other/0x")); own.String() != "gophers://h/0x" {
		t.Errorf("an item on another name of the server is %v", own)
	}
}
