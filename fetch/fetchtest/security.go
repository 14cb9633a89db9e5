package fetchtest

import (
	"crypto/tls"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// security tests that TLS uses the settings of Env.TLS, which is called for a handshake and not
// before.
func (k *kit) security(t *testing.T) {
	unreadable := errors.New("the certificates cannot be read")
	k.test(t, "settings", func(r *rig) {
		var asked, bad atomic.Bool
		r.env.TLS = func() (*tls.Config, error) {
			if asked.Store(true); bad.Load() {
				return nil, unreadable
			}
			return r.site.TLS, nil
		}
		l := r.site.any()
		r.open()
		if asked.Load() {
			r.Error("Env.TLS was called when the Fetcher was created; it must be called at the first handshake")
		}
		bad.Store(true)
		a := r.get(r.ctx(), l)
		switch {
		case !k.secure && (asked.Load() || a.err != nil):
			r.Errorf("Env.TLS called: %v, error: %v; without TLS it must not be called, and the fetch must succeed", asked.Load(), a.err)
		case k.secure && (a.err == nil || a.err.Op != fetch.OpTLS || !errors.Is(a.err, unreadable)):
			r.Errorf("Env.TLS failed, and the fetch returned %+v; want an error with Op %q that wraps the error of Env.TLS", a.err, fetch.OpTLS)
		}
		bad.Store(false)
		if a := r.get(r.ctx(), l); a.err != nil {
			r.Errorf("a fetch after one for which Env.TLS failed: %v", a.err)
		}
	})
}
