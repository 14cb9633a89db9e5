package entry_test

import (
	"testing"

	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/locator"
)

// TestNews tests that each URL of news is an article, a group or the list of groups, and only one of them.
func TestNews(t *testing.T) {
	for url, want := range map[string]string{
		"news:a.b": "group", "snews://h/a.b": "group", "nntp://h/a.b": "group",
		"news:1@h": "article", "snews://h/1@h": "article", "nntp://h/a.b/1": "article",
		"news:*": "groups", "snews://h/*": "groups", "nntp://h/": "groups", "nntps://h": "groups",
		"gopher://h/": "", "http://h/": "",
	} {
		ref, err := locator.Parser{Tolerate: locator.AllGroups}.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for word, is := range map[string]func(locator.Locator) bool{"article": entry.IsArticle, "group": entry.IsGroup, "groups": entry.IsGroups} {
			if is(ref.Locator) {
				got += word
			}
		}
		if got != want || entry.IsNews(ref.Locator) != (want != "") {
			t.Errorf("%s is %q, want %q", url, got, want)
		}
	}
}
