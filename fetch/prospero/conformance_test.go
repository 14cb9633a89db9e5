package prospero

import (
	"io/fs"
	"net/netip"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
)

func TestConformance(t *testing.T) {
	t.Run("memory", func(t *testing.T) { fetchtest.Run(t, harness(true)) })
	t.Run("loopback", func(t *testing.T) { fetchtest.Run(t, harness(false)) })
}

func harness(inMemory bool) fetchtest.Harness {
	return fetchtest.Harness{
		New: func(env *fetch.Env) driver.Fetcher { return &Fetcher{Env: env} },
		Serve: func(tb testing.TB, content fs.FS, login *locator.Login) *fetchtest.Site {
			if login != nil {
				return nil
			}
			srv := prosperotest.New(tb, func(s *prosperotest.Server) { s.Content, s.InMemory = content, inMemory })
			at := netip.MustParseAddrPort(srv.Addr)
			site := &fetchtest.Site{Locate: func(name string) locator.Locator {
				l := &locator.Prospero{HostPort: locator.HostPort{Host: at.Addr().String(), Port: at.Port()}, HSOName: "/"}
				if name != "." {
					l.HSOName = "/" + name
				}
				return l
			}}
			if inMemory {
				site.Dial = srv.Dial
			}
			return site
		},
	}
}
