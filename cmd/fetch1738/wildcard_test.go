package main

import (
	"io"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wildcard"
	"github.com/fetch1738/fetch1738/locator"
)

// A listing without an end, of names that fit or of others, ends all the same
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
		one := &transfer{environment: &environment{std: streams{err: io.Discard}, op: &operation{global: &global{}}}}
		matches, err := one.choose(res, p)
		if fetch.KindOf(err) != fetch.TooLarge || matches != nil || seen > maxEntries || seen*len(entry) > maxNames+maxEntries*len("other") {
			t.Errorf("%s: %d matches after %d entries, %v", name, len(matches), seen, err)
		}
	}
}
