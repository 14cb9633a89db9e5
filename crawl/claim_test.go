package crawl_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/fetch"
)

// A claim that ends while the connection is made, as in a process that was stopped and continued: the
// server is not asked.
func TestClaimEndsWhileConnecting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gopher("a.example", files(map[string]string{"": menu()}))
		c := w.crawl(t.TempDir(), "gopher://a.example/")
		var over atomic.Bool
		c.Claim = func(context.Context, netip.Addr) error {
			if over.Load() {
				return errors.New("over")
			}
			return nil
		}
		dial := c.Resolver.Env.Dial
		c.Resolver.Env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			over.Store(true)
			return conn, err
		}
		_, err := w.run(t.Context(), c)
		synctest.Wait()
		if len(w.asked) > 0 || !errors.Is(err, crawl.ErrStopped) {
			t.Errorf("asked %q, %v", w.asked, err)
		}
	})
}

// The address that is claimed last is the connected one, also if another one was tried meanwhile.
func TestClaimsConnected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gopher("a.example", files(map[string]string{"": menu()}))
		c := w.crawl(t.TempDir(), "gopher://a.example/")
		var mu sync.Mutex
		var last netip.Addr
		c.Claim = func(_ context.Context, addr netip.Addr) error {
			mu.Lock()
			defer mu.Unlock()
			last = addr
			return nil
		}
		dial := c.Resolver.Env.Dial
		c.Resolver.Env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			_ = fetch.DialControl(ctx, network, "93.7.7.7:70", nil)
			return conn, err
		}
		_, err := w.run(t.Context(), c)
		if last != w.site("a.example").addr || err != nil {
			t.Errorf("claimed last %v, connected to %v, %v", last, w.site("a.example").addr, err)
		}
	})
}
