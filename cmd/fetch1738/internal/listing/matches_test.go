package listing

import (
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/wildcard"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// An endless listing, of matching names or of others, ends anyway
// (CVE-2026-41324, CVE-2020-8285: cases 25 and 28).
func TestEndlessListing(t *testing.T) {
	p := wildcard.Parse("*.txt")
	for name, entry := range map[string]string{
		"others": "other", "fitting": "x.txt", "long": strings.Repeat("x", 60<<10) + ".txt",
	} {
		seen := 0
		res := &fetch.Resource{
			Locator: &locator.FTP{Server: locator.Server{HostPort: locator.HostPort{Host: "h"}}},
			Items: func(yield func(fetch.Item, error) bool) {
				for yield(fetch.Item{Name: entry, Kind: fetch.KindDocument}, nil) {
					seen++
				}
			},
		}
		found, err := Select(res, p, nil)
		if fetch.KindOf(err) != fetch.ErrTooLarge || found != nil || seen > maxEntries || seen*len(entry) > maxNames+maxEntries*len("other") {
			t.Errorf("%s: %v after %d entries, %v", name, found, seen, err)
		}
	}
}
