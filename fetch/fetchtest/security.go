package fetchtest

import (
	"crypto/tls"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// testTLS tests that TLS uses the settings of Env.TLS, which is called for a handshake and not
// before.
func testTLS(t *testing.T, s *subject) {
	unreadable := errors.New("the certificates cannot be read")
	subtest(t, s, "settings", func(fx *fixture) {
		var asked, bad atomic.Bool
		fx.env.TLS = func() (*tls.Config, error) {
			if asked.Store(true); bad.Load() {
				return nil, unreadable
			}
			return fx.site.TLS, nil
		}
		l := fx.site.any()
		fx.open()
		if asked.Load() {
			fx.Error("Env.TLS was called when the Fetcher was created; it must be called at the first handshake")
		}
		bad.Store(true)
		a := fx.get(fx.ctx(), l)
		switch {
		case !s.secure && (asked.Load() || a.Err != nil):
			fx.Errorf("Env.TLS called: %v, error: %v; without TLS it must not be called, and the fetch must succeed", asked.Load(), a.Err)
		case s.secure && (a.Err == nil || a.Err.Op != fetch.OpTLS || !errors.Is(a.Err, unreadable)):
			fx.Errorf("Env.TLS failed, and the fetch returned %+v; want an error with Op %q that wraps the error of Env.TLS", a.Err, fetch.OpTLS)
		}
		bad.Store(false)
		if a := fx.get(fx.ctx(), l); a.Err != nil {
			fx.Errorf("a fetch after one for which Env.TLS failed: %v", a.Err)
		}
	})
}
