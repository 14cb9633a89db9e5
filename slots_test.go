package fetch1738

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// A busy Fetcher is asked for one URL after another; each answer is a body that the test reads or
// closes.
type busy struct {
	mu     sync.Mutex
	asked  []string
	answer func(*fetch.Request) (*fetch.Resource, error)
}

func (b *busy) Fetch(_ context.Context, req *fetch.Request) (*fetch.Resource, error) {
	b.mu.Lock()
	b.asked = append(b.asked, strings.TrimPrefix(req.Locator.String(), "ftp://"))
	b.mu.Unlock()
	return b.answer(req)
}

// TestMaxTransfers: of ten requests to two hosts as many run as the limits allow, in the order of
// their calls. Others follow when a body is closed or read, or when a request fails.
func TestMaxTransfers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &busy{answer: func(req *fetch.Request) (*fetch.Resource, error) {
			if strings.HasSuffix(req.Locator.String(), "/fails") {
				return nil, driver.Fail(fetch.OpAccess, req.Locator, fetch.ErrNotFound, errors.New("no such file"))
			}
			return text("x")(req)
		}}
		r := Resolver{Schemes: fakes(map[string]driver.Fetcher{"ftp": b}), MaxTransfers: 3, MaxTransfersPerHost: 2}
		var results sync.Map
		get := func(ctx context.Context, url string) {
			go func() {
				res, err := r.Get(ctx, "ftp://"+url)
				if (err != nil) != strings.HasSuffix(url, "/fails") {
					t.Errorf("%s: %v", url, err)
				}
				results.Store(url, res)
			}()
			synctest.Wait()
		}
		for i := range 4 {
			get(t.Context(), fmt.Sprint("a.example/", i))
			get(t.Context(), fmt.Sprint("B.example./", i))
		}
		get(t.Context(), "c.example/fails")
		get(t.Context(), "c.example/0")
		asked := func(want ...string) {
			t.Helper()
			synctest.Wait()
			if got := fmt.Sprint(b.asked); got != fmt.Sprint(want) {
				t.Fatalf("the requests are %s, want %s", got, want)
			}
		}
		asked("a.example/0", "B.example./0", "a.example/1")
		result := func(url string) *fetch.Resource {
			res, _ := results.Load(url)
			return res.(*fetch.Resource)
		}
		if err := result("a.example/0").Close(); err != nil {
			t.Error(err)
		}
		asked("a.example/0", "B.example./0", "a.example/1", "B.example./1")
		_ = result("a.example/0").Close() // again; it makes no room
		if text, err := io.ReadAll(result("B.example./0").Body); string(text) != "x" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		asked("a.example/0", "B.example./0", "a.example/1", "B.example./1", "c.example/fails", "c.example/0")
		for range 6 {
			for _, res := range results.Range {
				if res := res.(*fetch.Resource); res != nil {
					res.Close()
				}
			}
			synctest.Wait()
		}
		if len(b.asked) != 10 || len(r.slots.hosts) != 0 || len(r.slots.all) != 0 {
			t.Errorf("%d requests; at the end %d hosts and %d slots are in use", len(b.asked), len(r.slots.hosts), len(r.slots.all))
		}
	})
}

// TestMaxTransfersCanceled: a request that waits ends with its context, and takes no slot, also none
// of its own host.
func TestMaxTransfersCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for r, busy := range map[*Resolver]string{
			{MaxTransfers: 1}: "h", {MaxTransfersPerHost: 1}: "h", {MaxTransfers: 1, MaxTransfersPerHost: 1}: "other",
		} {
			r.Schemes = fakes(map[string]driver.Fetcher{"ftp": &fake{answer: text("x")}})
			first, err := r.Get(t.Context(), "ftp://"+busy+"/1")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			notes := make(chan string, 1)
			failed := make(chan error, 1)
			go func() {
				_, err := r.Get(fetch.WithTrace(ctx, &fetch.Trace{Note: func(text string) { notes <- text }}), "ftp://h/2")
				failed <- err
			}()
			synctest.Wait()
			cancel()
			if err := <-failed; !errors.Is(err, fetch.ErrCanceled) {
				t.Errorf("the request that waited ends with %v", err)
			}
			if note := <-notes; note != "waiting for another transfer to end" {
				t.Errorf("the note is %q", note)
			}
			first.Close()
			if len(r.slots.hosts) != 0 || len(r.slots.all) != 0 {
				t.Errorf("%d hosts and %d slots are in use", len(r.slots.hosts), len(r.slots.all))
			}
			if err := closed(r.Get(t.Context(), "ftp://h/3")); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestMaxTransfersListing: the entries of a listing can be fetched during the loop over it, also
// with a limit of one.
func TestMaxTransfersListing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &busy{answer: func(req *fetch.Request) (*fetch.Resource, error) {
			res, err := text("listing")(req)
			if l := req.Locator.(*locator.FTP); l.Name == "" {
				res.Items = func(yield func(fetch.Item, error) bool) {
					yield(fetch.Item{Name: "x", Locator: mustParse(t, "ftp://h/x")}, nil)
				}
			}
			return res, err
		}}
		r := Resolver{Schemes: fakes(map[string]driver.Fetcher{"ftp": b}), MaxTransfersPerHost: 1}
		res, err := r.Get(t.Context(), "ftp://h/")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Close()
		for item := range res.Items {
			if err := closed(r.Fetch(t.Context(), &fetch.Request{Locator: item.Locator})); err != nil {
				t.Error(err)
			}
		}
		if len(b.asked) != 2 {
			t.Errorf("the requests are %q", b.asked)
		}
		// A listing that is streamed keeps its slot until the loop ends.
		res, err = r.Fetch(t.Context(), &fetch.Request{Locator: mustParse(t, "ftp://h/"), Stream: true})
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan error, 1)
		for item := range res.Items {
			go func() { got <- closed(r.Fetch(t.Context(), &fetch.Request{Locator: item.Locator})) }()
			synctest.Wait()
			if len(b.asked) != 3 {
				t.Errorf("during the loop the requests are %q", b.asked)
			}
		}
		if err := <-got; err != nil {
			t.Error(err)
		}
	})
}

// TestMaxTransfersStored: storing takes a slot until it has ended.
func TestMaxTransfersStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answer: text("x")}
		r := Resolver{Schemes: fakes(map[string]driver.Fetcher{"ftp": f}), MaxTransfers: 1}
		body, feed := io.Pipe()
		go r.Put(t.Context(), "ftp://h/1", body)
		synctest.Wait()
		got := make(chan error, 1)
		go func() { got <- closed(r.Get(t.Context(), "ftp://h/2")) }()
		synctest.Wait()
		if len(f.requests) != 1 {
			t.Errorf("%d requests run at once", len(f.requests))
		}
		feed.Close()
		if err := <-got; err != nil {
			t.Error(err)
		}
	})
}
