package transfer

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"testing"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/listing"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/output"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/wildcard"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// The names of a large directory take little more memory than their octets, also
// while they are looked at for two that would be one file.
func TestListingMemory(t *testing.T) {
	const entries = 200_000
	res := &fetch.Resource{Items: func(yield func(fetch.Item, error) bool) {
		for i := range entries {
			if !yield(fetch.Item{Name: fmt.Sprintf("file-%07d.txt", i), Kind: fetch.KindDocument}, nil) {
				return
			}
		}
	}}
	op := new(plan.Operation)
	place := &output.Place{Op: op, Destination: plan.Destination{Remote: true}}
	live := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := live()
	found, err := listing.Select(res, wildcard.Parse("*.txt"), nil)
	if err != nil {
		t.Fatal(err)
	}
	names := place.Names(found)
	count := 0
	for m := range found.All() {
		if _, free := names.Take(m); !free {
			t.Fatalf("%s is twice there", m.Name)
		}
		count++
	}
	if each := (live() - before) / entries; count != entries || each > 24 {
		t.Errorf("%d names take %d octets each", count, each)
	}
	runtime.KeepAlive(found)
	runtime.KeepAlive(names)
}

// Nor do lines that are no entries go on for ever.
func TestEndlessJunk(t *testing.T) {
	l := &locator.FTP{Server: locator.Server{HostPort: locator.HostPort{Host: "h"}}}
	network := &client.Network{Op: plan.New(new(plan.Global)), Resolver: &fetch1738.Resolver{Schemes: []fetch1738.Scheme{
		{Names: []string{"ftp"}, New: func(*fetch.Env) driver.Fetcher { return junk{} }},
	}}}
	one := &Result{Call: client.Call{Network: network, Locator: l}}
	matches, err := lookUp(t.Context(), one, wildcard.Parse("*"))
	if fetch.KindOf(err) != fetch.ErrTooLarge || matches != nil {
		t.Errorf("%v, %v", matches, err)
	}
}

// junk sends lines that are not entries until the context ends.
type junk struct{}

func (junk) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	trace := driver.ContextTrace(ctx)
	return &fetch.Resource{
		Locator: req.Locator, Kind: fetch.KindDirectory, Body: http.NoBody,
		Items: func(yield func(fetch.Item, error) bool) {
			for ctx.Err() == nil {
				trace.Body(1 << 20)
			}
			yield(fetch.Item{}, driver.Fail("LIST", req.Locator, fetch.ErrCanceled, ctx.Err()))
		},
	}, nil
}
