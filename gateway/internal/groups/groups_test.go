package groups

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
)

// TestGroupsAreKept tests with the clock that a page waits a fraction of a second for a silent news
// server, that the server is not asked again for some minutes, and that nothing runs after Close.
func TestGroupsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		r := &fetch1738.Resolver{Env: fetch.Env{NewsServer: "192.0.2.1", Allow: func(context.Context, fetch.Target) error { return nil }}}
		r.Env.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			asked++
			<-ctx.Done()
			return nil, ctx.Err()
		}
		var c Cache
		wait := func(want time.Duration, total int) {
			t.Helper()
			begin := time.Now()
			names := c.Get(t.Context(), r)
			synctest.Wait()
			if took := time.Since(begin); took != want || asked != total || names != nil {
				t.Errorf("%q after %v, asked %d times; want %v and %d", names, took, asked, want, total)
			}
		}
		wait(await, 1)
		wait(await, 1)
		time.Sleep(limit)
		wait(0, 1)
		time.Sleep(kept)
		wait(await, 2)
		c.Close()
		wait(0, 2)
		_ = r.Close()
	})
}
