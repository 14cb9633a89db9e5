package fetchtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/check"
	"github.com/fetch1738/fetch1738/locator"
)

// get fetches l, reads its body, and makes the checks that apply to every fetch.
func (fx *fixture) get(ctx context.Context, l locator.Locator) check.Answer {
	fx.Helper()
	return fx.do(ctx, &fetch.Request{Locator: l})
}

// readAtMost is the maximum number of bytes read of a body; a longer one counts as endless.
const readAtMost = 4 << 20

// do performs a request, and reads and closes the body.
func (fx *fixture) do(ctx context.Context, req *fetch.Request) (a check.Answer) {
	fx.Helper()
	start := time.Now()
	defer func() { a.Took = time.Since(start) }()
	a.Resource, a.Err, a.Hooks = fx.fetch(ctx, req)
	if a.Resource == nil {
		return a
	}
	var err error
	a.Octets, err = io.ReadAll(io.LimitReader(a.Resource.Body, readAtMost))
	switch kind := a.Resource.Kind; {
	case kind == fetch.KindQuery, kind == fetch.KindInteractive, kind == fetch.KindAdvice:
		if len(a.Octets) > 0 || !errors.Is(err, fetch.ErrNoOctets) {
			fx.Errorf("%s: the Body of a %v returns %d bytes and %v; want an error of kind NoOctets", req.Locator.Redacted(), kind, len(a.Octets), err)
		}
	case err != nil:
		a.Err = check.Error(fx, err, req.Locator)
	case len(a.Octets) < readAtMost:
		if n, err := a.Resource.Body.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			fx.Errorf("%s: a read after the end returns %d, %v; want 0, EOF", req.Locator.Redacted(), n, err)
		}
	}
	if err := a.Resource.Close(); err != nil && a.Err == nil && len(a.Octets) < readAtMost {
		fx.Errorf("%s: Close of a body that was read to its end returns %v", req.Locator.Redacted(), err)
	}
	return a
}

// fetch calls Fetch. The caller closes the Resource.
func (fx *fixture) fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, *fetch.Error, *check.Hooks) {
	fx.Helper()
	trace := &check.Hooks{TB: fx}
	before := *req
	text := req.Locator.String()
	res, err := fx.open().Fetch(fetch.WithTrace(ctx, trace.Trace()), req)
	if *req != before || req.Locator.String() != text {
		fx.Errorf("%s: Fetch has modified the Request; it must not", req.Locator.Redacted())
	}
	switch {
	case err != nil && res != nil:
		fx.Errorf("%s: Fetch returns both a Resource and an error", req.Locator.Redacted())
	case err == nil && res == nil:
		fx.Fatalf("%s: Fetch returns neither a Resource nor an error", req.Locator.Redacted())
	case err == nil && res.Body == nil:
		fx.Fatalf("%s: the Resource's Body is nil; it must be set", req.Locator.Redacted())
	}
	if err != nil {
		return nil, check.Error(fx, err, req.Locator), trace
	}
	check.Secrets(fx, "a Resource's Attributes", fmt.Sprintf("%+v", res.Attributes))
	check.Secrets(fx, "a Resource's Info", fmt.Sprintf("%+v", res.Info))
	return res, nil, trace
}

// mustFetch is fetch where it must succeed. The caller closes the Resource.
func (fx *fixture) mustFetch(ctx context.Context, l locator.Locator) *fetch.Resource {
	fx.Helper()
	res, fail, _ := fx.fetch(ctx, &fetch.Request{Locator: l})
	if fail != nil {
		fx.Fatal(fail)
	}
	return res
}

// An operation calls a method of the Fetcher with a locator.
type operation func(ctx context.Context, l locator.Locator) check.Answer

// operations returns all operations of the Fetcher, by name. Those that store something store a few
// bytes.
func (fx *fixture) operations() map[string]operation {
	f := fx.open()
	with := func(do func(ctx context.Context, req *fetch.Request) error) operation {
		return func(ctx context.Context, l locator.Locator) check.Answer {
			return fx.timed(ctx, l, func(ctx context.Context) error { return do(ctx, &fetch.Request{Locator: l}) })
		}
	}
	list := map[string]operation{"Fetch": fx.get}
	if f, ok := f.(driver.AttributeFinder); ok {
		list["FindAttributes"] = with(func(ctx context.Context, req *fetch.Request) error {
			_, err := f.FindAttributes(ctx, req)
			return err
		})
	}
	if f, ok := f.(driver.Updater); ok {
		list["Update"] = with(func(ctx context.Context, req *fetch.Request) error {
			_, err := f.Update(ctx, req, strings.NewReader("bytes\r\n"))
			return err
		})
	}
	if f, ok := f.(driver.Replacer); ok {
		list["Replace"] = with(func(ctx context.Context, req *fetch.Request) error {
			_, err := f.Replace(ctx, req, strings.NewReader("bytes\r\n"))
			return err
		})
	}
	return list
}

// timed runs an operation on l that has no Resource.
func (fx *fixture) timed(ctx context.Context, l locator.Locator, do func(ctx context.Context) error) (a check.Answer) {
	fx.Helper()
	a.Hooks = &check.Hooks{TB: fx}
	start := time.Now()
	if err := do(fetch.WithTrace(ctx, a.Hooks.Trace())); err != nil {
		a.Err = check.Error(fx, err, l)
	}
	a.Took = time.Since(start)
	return a
}

// list fetches a directory and returns the names of its entries.
func (fx *fixture) list(ctx context.Context, l locator.Locator) (names []string, fail *fetch.Error) {
	fx.Helper()
	res, fail, _ := fx.fetch(ctx, &fetch.Request{Locator: l})
	if fail != nil {
		return nil, fail
	}
	defer res.Close()
	items, fail := items(fx, res)
	for _, item := range items {
		if item.Locator != nil {
			names = append(names, item.Name)
		}
	}
	return names, fail
}

// items collects the Items of a Resource.
func items(t testing.TB, res *fetch.Resource) (items []fetch.Item, fail *fetch.Error) {
	t.Helper()
	for item, err := range res.Items {
		if fail != nil {
			t.Errorf("Items continues with %q after an error; it must end", item.Name)
		}
		if err != nil {
			fail = check.Error(t, err, res.Locator)
			continue
		}
		items = append(items, item)
	}
	return items, fail
}
