package crawl_test

import (
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/policy"
)

// What is waited for is reported: a host that fails, and long waits that a server asks for. There is
// something to come until all is done.
func TestWaitsAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.site("down.example")
		w.gopher("slow.example", files(map[string]string{"robots.txt": "User-agent: *\r\nCrawl-delay: 60\r\n", "": menu(item('0', "/x", "slow.example")), "/x": "x\r\n.\r\n"}))
		c := w.crawl(t.TempDir(), "gopher://slow.example/", "gopher://down.example/")
		var failed, waits []time.Duration
		first := true
		c.Report = func(e crawl.Event) {
			wait := time.Until(e.Next).Round(time.Second)
			switch {
			case first:
				if e.Host != "" || e.Queued != 2 {
					t.Errorf("first event: %+v", e)
				}
			case e.Host == "down.example:70" && !e.Next.IsZero() && e.Err != nil:
				if failed = append(failed, wait); e.Reason != crawl.Unreachable || e.Queued == 0 {
					t.Errorf("%+v", e)
				}
			case e.Host == "slow.example:70" && !e.Next.IsZero():
				if waits = append(waits, wait); e.Reason != "" || e.Queued == 0 {
					t.Errorf("%+v", e)
				}
			}
			first = false
		}
		sum, err := w.run(t.Context(), c)
		if err == nil || sum.Documents != 2 || len(failed) != 2 || failed[0] != 30*time.Second || failed[1] != 60*time.Second || len(waits) == 0 {
			t.Errorf("%+v, %v; failed %v, waits %v", sum, err, failed, waits)
		}
	})
}

// A crawl of which the policy has refused all links is not complete, also if it is run again. With
// another policy, a run continues.
func TestRefusedAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gopher("private.example", files(map[string]string{"": menu(item('0', "/x", "private.example"), item('1', "/m", "private.example")), "/x": "x\r\n.\r\n", "/m": menu(item('0', "/y", "private.example")), "/y": "y\r\n.\r\n"}))
		w.site("private.example").addr = netip.MustParseAddr("192.168.0.1")
		c := w.crawl(t.TempDir(), "gopher://private.example/")
		zones := []policy.Zone{policy.ZonePrivate}
		c.Resolver.Env.Allow = (&policy.Rules{AllowZones: zones}).Allow
		for range 2 {
			sum, err := w.run(t.Context(), c)
			if !errors.Is(err, crawl.ErrRefused) || sum.Complete || sum.Documents != 1 || sum.Skipped[crawl.Refused] != 2 {
				t.Errorf("%+v, %v", sum, err)
			}
		}
		c.Links = (&policy.Rules{PublicOnly: true, AllowZones: zones}).Allow
		sum, err := w.run(t.Context(), c)
		if err != nil || !sum.Complete || sum.Documents != 4 || sum.Skipped[crawl.Refused] != 0 {
			t.Errorf("%+v, %v", sum, err)
		}
	})
}

// A URL of Start that robots.txt forbids is an error of each run.
func TestForbiddenStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gopher("a.example", files(map[string]string{"robots.txt": "User-agent: *\r\nDisallow: /\r\n", "": menu()}))
		c := w.crawl(t.TempDir(), "gopher://a.example/")
		for range 2 {
			sum, err := w.run(t.Context(), c)
			if err == nil || sum.Complete || sum.Documents != 0 || sum.Skipped[crawl.Robots] != 1 {
				t.Errorf("%+v, %v", sum, err)
			}
		}
	})
}
