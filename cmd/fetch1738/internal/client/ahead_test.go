package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// answers is a Fetcher that answers each request with what it gets.
type answers chan func(context.Context) (io.Reader, error)

// Fetch implements driver.Fetcher.
func (a answers) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	driver.ContextTrace(ctx).Sent([]byte("GET"))
	answer := <-a
	body, err := answer(ctx)
	if err != nil {
		return nil, err
	}
	return &fetch.Resource{Attributes: fetch.Attributes{Size: -1}, Locator: req.Locator, Body: io.NopCloser(body)}, nil
}

// earlyOf requests a document from a.
func (a answers) early(t *testing.T) (*Ahead, *Early) {
	ahead := NewAhead(t.Context())
	op := plan.New(new(plan.Global))
	resolver := &fetch1738.Resolver{Schemes: []fetch1738.Scheme{{Names: Kin("http"), New: func(*fetch.Env) driver.Fetcher { return a }}}}
	return ahead, ahead.Early(&Call{Network: &Network{Op: op, Resolver: resolver, client: new(Client)}, Locator: &locator.HTTP{Server: locator.Server{HostPort: locator.HostPort{Host: "a.example"}}}})
}

// sentTo returns a Trace that calls told.
func sentTo(ctx context.Context, told func(octets []byte)) *fetch.Trace {
	return driver.ContextTrace(fetch.WithTrace(ctx, &fetch.Trace{Sent: told}))
}

// What fails before its turn is as if it had not been requested. Later it is a failure.
func TestEarlyFailure(t *testing.T) {
	broken := errors.New("broken")
	ask := func(ctx context.Context) (io.Reader, error) {
		l := &locator.HTTP{Server: locator.Server{HostPort: locator.HostPort{Host: "a.example"}}}
		network := &Network{Op: plan.New(new(plan.Global)), client: new(Client)}
		_, err := network.ask(ctx, fetch.Challenge{Locator: l, User: "me"})
		return nil, err
	}
	for name, tc := range map[string]struct {
		answer func(context.Context) (io.Reader, error)
		late   string // text of the error in its turn, or "" for no attempt
	}{
		"request": {func(context.Context) (io.Reader, error) { return nil, broken }, "broken"},
		"body": {func(context.Context) (io.Reader, error) {
			return io.MultiReader(strings.NewReader("begin"), iotest.ErrReader(broken)), nil
		}, "broken"},
		"password": {ask, ""}, // in its turn it would be asked for
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := make(answers)
				ahead, e := server.early(t)
				server <- tc.answer
				synctest.Wait()
				told := false
				if res, err := e.Take(sentTo(t.Context(), func([]byte) { told = true })); res != nil || err != nil || told {
					t.Errorf("before its turn: %v, %v, told: %t", res, err, told)
				}
				if !ahead.failed.Load() || ahead.taken.Load() != 0 {
					t.Errorf("failed: %t, %d bytes", ahead.failed.Load(), ahead.taken.Load())
				}
				ahead.Close()
				if tc.late == "" {
					return
				}

				ahead, e = server.early(t)
				defer ahead.Close()
				go func() {
					synctest.Wait() // until Take waits
					server <- tc.answer
				}()
				res, err := e.Take(sentTo(t.Context(), func([]byte) { told = true }))
				if err == nil {
					_, err = io.ReadAll(res.Body)
				}
				if err == nil || !strings.Contains(err.Error(), tc.late) || errors.Is(err, errEarly) || !told {
					t.Errorf("in its turn: %v, told: %t", err, told)
				}
			})
		})
	}
}

// A document whose turn comes while it is received has all of its bytes. One that is too large before
// its turn is dropped.
func TestEarlyBody(t *testing.T) {
	document := bytes.Repeat([]byte("0123456789"), mostEarlyEach/5)
	for _, tc := range []struct {
		before int // bytes that come before its turn
		taken  bool
	}{{0, true}, {1, true}, {mostEarlyEach, true}, {mostEarlyEach + 1, false}} {
		synctest.Test(t, func(t *testing.T) {
			server := make(answers)
			ahead, e := server.early(t)
			defer ahead.Close()
			from, to := io.Pipe()
			server <- func(context.Context) (io.Reader, error) { return from, nil }
			go func() { _, _ = to.Write(document[:tc.before]) }()
			synctest.Wait()
			if got := ahead.taken.Load(); tc.taken && got != int64(tc.before) {
				t.Errorf("%d bytes wait, want %d", got, tc.before)
			}
			go func() {
				synctest.Wait() // until its turn has come
				_, _ = to.Write(document[tc.before:])
				to.Close()
			}()
			var sent []string
			res, err := e.Take(sentTo(t.Context(), func(b []byte) { sent = append(sent, string(b)) }))
			if err != nil || (res != nil) != tc.taken {
				t.Fatalf("%d: %v, %v", tc.before, res, err)
			}
			if ahead.taken.Load() != 0 {
				t.Errorf("%d bytes wait", ahead.taken.Load())
			}
			if res == nil {
				from.Close() // as Close of the Body would
				return
			}
			if got, err := io.ReadAll(res.Body); err != nil || !bytes.Equal(got, document) || !slices.Equal(sent, []string{"GET"}) {
				t.Errorf("%d: %d bytes, %v, sent %q", tc.before, len(got), err, sent)
			}
		})
	}
}
