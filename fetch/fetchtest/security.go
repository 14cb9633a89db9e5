package fetchtest

import (
	"crypto/tls"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// security: the settings for TLS are those of Env.TLS, which is asked when a
// handshake is due and not before.
func (k *kit) security(t *testing.T) {
	unreadable := errors.New("the authorities cannot be read")
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
			r.Error("Env.TLS was called to make the Fetcher")
		}
		bad.Store(true)
		a := r.get(r.ctx(), l)
		switch {
		case !k.secure && (asked.Load() || a.err != nil):
			r.Errorf("Env.TLS was called (%v), where there is no TLS: %v", asked.Load(), a.err)
		case k.secure && (a.err == nil || a.err.Op != fetch.OpTLS || !errors.Is(a.err, unreadable)):
			r.Errorf("without settings for TLS: %+v; want an error of the %s that wraps the reason", a.err, fetch.OpTLS)
		}
		bad.Store(false)
		if a := r.get(r.ctx(), l); a.err != nil {
			r.Errorf("with settings for TLS, after a fetch without: %v", a.err)
		}
	})
}
