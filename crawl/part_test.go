package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// Links that another crawl has found lead to public addresses only, and their failures are no errors.
func TestFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gopher("a.example", files(map[string]string{"": menu(item('0', "/x", "a.example")), "/x": "x\r\n.\r\n"}))
		w.gopher("private.example", files(map[string]string{"": menu()}))
		w.site("private.example").addr = netip.MustParseAddr("192.168.0.1")
		ftp := ftptest.New(t, func(s *ftptest.Server) {
			s.Network = &w.net
			s.Content = fstest.MapFS{"pub/a": {Data: []byte("a")}}
		})
		w.site("f.example").ports[21] = ftp.Addr
		var user []string
		c := w.crawl(t.TempDir())
		c.Links = func(ctx context.Context, target fetch.Target) error {
			if target.From.Kind != fetch.OriginRemote && target.From.Kind != fetch.OriginRedirect {
				user = append(user, target.Locator.String())
			}
			return policy.Public(ctx, target)
		}
		c.Connections = 1
		c.Found = []crawl.Link{
			{URL: "gopher://A.example.:70", From: "http://other.example/page", Depth: 2}, {URL: "gopher://a.example/0/gone"},
			{URL: "ftp://f.example/pub/a"}, {URL: "ftp://user:topsecret@f.example/pub/b", From: "ftp://me:topsecret@other.example/"},
			{URL: "gopher://private.example/", From: "gopher://private.example/"},
			{URL: "gopher://[fe80::1%25eth0]/"}, {URL: "ftp://[fe80::2%25eth0]/x", From: "ftp://[fe80::1%25eth0]/"}, {URL: "ftp://127.0.0.1/"},
			{URL: "gopher://unknown.example/"},
		}
		sum, err := w.run(t.Context(), c)
		if err != nil || !sum.Complete || sum.Documents != 3 || sum.Failed != 2 || len(user) > 0 {
			t.Errorf("%+v, %v, as the user's: %q", sum, err, user)
		}
		dead := make(map[string]crawl.Reason)
		for _, d := range sum.Dead {
			dead[d.Host] = d.Reason
		}
		want := map[string]crawl.Reason{
			"private.example:70": crawl.Refused, "[fe80::1%eth0]:70": crawl.Refused, "[fe80::2%eth0]:21": crawl.Refused,
			"127.0.0.1:21": crawl.Refused, "unknown.example:70": crawl.Unresolved,
		}
		if diff := cmp.Diff(want, dead); diff != "" {
			t.Error(diff)
		}
		got := fields(t, c.Dir)
		for url, lines := range map[string]string{
			"gopher://a.example/": "via: http://other.example/page\r\nhopsFromSeed: LL\r\n", "gopher://a.example/0/x": "via: gopher://a.example/\r\nhopsFromSeed: LLL\r\n",
			"ftp://f.example/pub/b": "via: ftp://other.example/\r\n",
		} {
			if !strings.Contains(got[url], "\n"+lines) {
				t.Errorf("%s: %q", url, got[url])
			}
		}
		frontier, err := os.ReadFile(filepath.Join(c.Dir, crawl.FrontierFile))
		if err != nil || strings.Contains(string(frontier), "topsecret") {
			t.Errorf("the frontier has a password: %v", err)
		}
		before := len(w.asked)
		if _, err := w.run(t.Context(), c); err != nil || len(w.asked) != before {
			t.Errorf("a second run asks again: %q, %v", w.asked[before:], err)
		}
	})
}

// A link that is not followed when a document has it is not followed when another crawl has found it.
func TestFoundIsChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gopher("a.example", files(map[string]string{"/x": "x\r\n.\r\n"}))
		c := w.crawl(t.TempDir())
		for _, url := range []string{
			"telnet://a.example/", "mailto:joe@a.example", "file:///etc/passwd", "foo://a.example/", "gopher:", "", "rubbish", "\xff\x00",
			"gopher://a.example/8x", "gopher://a.example/0/x\r\nDELE x", "gopher://a.example:70:70/", "gopher:///", "news:alt.test",
			"gopher://a.example/0" + strings.Repeat("x", locator.MaxLength), "gopher://a.example/7/search", "gopher://a.example/0/form%09%09+%091%0d%0a",
			"gopher://a.example/7/s%09words", "wais://a.example/db?words", "http://a.example/",
			"gopher://a.example/0/" + strings.Repeat("x", 2000), "gopher://a.example/1/a/b/a/b/a/b",
			"gopher://a.example/0/x%0d%0aDELE%20x", "ftp://a.example/x%0d%0aDELE%20x",
			"gopher://a.example/0/x", "gopher://a.example/0/x",
		} {
			c.Found = append(c.Found, crawl.Link{URL: url, From: url, Depth: -5})
		}
		c.Found = append(c.Found, crawl.Link{URL: "gopher://a.example/0/deep", Depth: math.MaxInt})
		sum, err := w.run(t.Context(), c)
		skipped := map[crawl.Reason]int{crawl.Scheme: 16, crawl.Search: 4, crawl.Web: 1, crawl.Trap: 2}
		if diff := cmp.Diff(skipped, sum.Skipped); diff != "" || !errors.Is(err, crawl.ErrLimit) || sum.Documents != 1 || sum.Left[crawl.LimitDepth] != 1 {
			t.Errorf("%+v, %v\n%s", sum, err, diff)
		}
		if got := w.urls(); !slices.Equal(got, []string{"a.example /x"}) {
			t.Errorf("asked %q", got)
		}
		if _, err := w.run(t.Context(), w.crawl(t.TempDir())); err == nil {
			t.Error("a crawl with nothing to begin with")
		}
	})
}

// only reports whether a URL is on a host.
func only(host string) func(locator.Locator) bool {
	return func(l locator.Locator) bool {
		at, _ := locator.ServerOf(l)
		return at.Host == host
	}
}

// Links to what another crawl has are given to it, each once, also over runs.
func TestElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gopher("a.example", files(map[string]string{
			"":      menu(item('1', "/sub", "a.example"), item('1', "", "b.example"), item('0', "/y", "b.example"), item('1', "", "B.example."), item('7', "/s", "b.example")),
			"/sub":  menu(item('0', "/z", "b.example"), item('1', "", "b.example"), item('1', "", "c.example"), item('1', "", "a.example")),
			"/more": menu(item('0', "/y", "b.example"), item('1', "", "b.example"), item('0', "/w", "b.example"), item('0', "/found", "b.example")),
		}))
		w.gopher("b.example", files(map[string]string{"/y": "y\r\n.\r\n", "/found": "found\r\n.\r\n", "": menu()}))
		web := webtest.New(t, func(s *webtest.Server) {
			s.Network = &w.net
			s.Redirects = map[string]webtest.Redirect{"/old": {Location: "http://b.example/new", Status: 301}}
		})
		w.site("a.example").ports[80] = web.Addr
		var given []crawl.Link
		c := w.crawl(t.TempDir(), "gopher://a.example/", "http://a.example/old")
		c.HTTP, c.Here = true, only("a.example")
		c.Elsewhere = func(links []crawl.Link) error {
			given = append(given, links...)
			return nil
		}
		sum, err := w.run(t.Context(), c)
		want := []crawl.Link{
			{URL: "gopher://b.example/", From: "gopher://a.example/", Depth: 1}, {URL: "gopher://b.example/0/y", From: "gopher://a.example/", Depth: 1},
			{URL: "gopher://b.example/0/z", From: "gopher://a.example/1/sub", Depth: 2}, {URL: "gopher://c.example/", From: "gopher://a.example/1/sub", Depth: 2},
			{URL: "http://b.example/new", From: "http://a.example/old", Depth: 1},
		}
		slices.SortFunc(given, func(a, b crawl.Link) int { return strings.Compare(a.URL, b.URL) })
		if diff := cmp.Diff(want, given); err != nil || !sum.Complete || sum.Documents != 3 || sum.Hosts != 2 || diff != "" {
			t.Errorf("%+v, %v\n%s", sum, err, diff)
		}
		given = nil
		c.Start = nil
		c.Found = []crawl.Link{{URL: "gopher://a.example/1/more", Depth: 4}, {URL: "gopher://b.example/0/y"}, {URL: "gopher://b.example/0/found"}}
		sum, err = w.run(t.Context(), c)
		want = []crawl.Link{{URL: "gopher://b.example/0/w", From: "gopher://a.example/1/more", Depth: 5}}
		if diff := cmp.Diff(want, given); err != nil || sum.Documents != 6 || diff != "" {
			t.Errorf("%+v, %v\n%s", sum, err, diff)
		}
		c.Found, given = nil, nil
		c.Start = []locator.Locator{&locator.Gopher{HostPort: locator.HostPort{Host: "b.example"}}}
		if sum, err := w.run(t.Context(), c); err != nil || sum.Documents != 7 || len(given) > 0 {
			t.Errorf("a URL of Start that was given elsewhere: %+v, %v, %v", sum, err, given)
		}
		c = w.crawl(t.TempDir(), "gopher://a.example/")
		c.Here = only("a.example")
		if sum, err := w.run(t.Context(), c); err != nil || sum.Skipped[crawl.OtherHost] != 6 {
			t.Errorf("without Elsewhere: %+v, %v", sum, err)
		}
	})
}

// A link that is deeper than the limit is given to no other crawl, unless a shorter way leads to it.
func TestElsewhereIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gopher("a.example", files(map[string]string{
			"": menu(item('1', "/1", "a.example"), item('1', "/2", "a.example")), "/1": menu(item('1', "/deep", "a.example"), item('1', "", "b.example")),
			"/deep": menu(item('1', "", "c.example")), "/short": menu(item('1', "", "c.example")),
		}))
		var given []string
		c := w.crawl(t.TempDir(), "gopher://a.example/")
		c.Depth, c.Here = 2, only("a.example")
		c.Elsewhere = func(links []crawl.Link) error {
			for _, l := range links {
				given = append(given, l.URL)
			}
			return nil
		}
		sum, err := w.run(t.Context(), c)
		if err != nil || sum.Skipped[crawl.LimitDepth] != 1 || !slices.Equal(given, []string{"gopher://b.example/"}) {
			t.Errorf("%+v, %v, %q", sum, err, given)
		}
		c.Found = []crawl.Link{{URL: "gopher://a.example/1/short", Depth: 1}}
		if _, err := w.run(t.Context(), c); err != nil || !slices.Equal(given, []string{"gopher://b.example/", "gopher://c.example/"}) {
			t.Errorf("%v, %q", err, given)
		}
	})
}

// linking returns a world of some hosts, each with a menu of nine menus that have a link to another crawl;
// and a crawl of the hosts.
func linking(t *testing.T, hosts int) (*world, *crawl.Crawl) {
	w := newWorld(t)
	c := w.crawl(t.TempDir())
	c.Here = func(l locator.Locator) bool { return !only("other.example")(l) }
	for i := range hosts {
		name := hostName(i)
		documents := make(map[string]string)
		for k := range 9 {
			documents[""] += item('1', fmt.Sprintf("/%d", k), name)
			documents[fmt.Sprintf("/%d", k)] = item('0', fmt.Sprintf("/%d-%d", i, k), "other.example")
		}
		w.gopher(name, files(documents))
		c.Found = append(c.Found, crawl.Link{URL: "gopher://" + name + "/"})
	}
	return w, c
}

// If another crawl cannot get its links, the run ends, and the document that has them does not count.
func TestElsewhereFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts = 4
		w, c := linking(t, hosts)
		full := errors.New("no space")
		given, documents, failures := make(map[string]int), 0, 0
		var refused []crawl.Link
		c.Report = func(e crawl.Event) {
			if e.URL != "" {
				documents++
			}
		}
		for calls := 1; ; calls++ {
			left := calls
			c.Elsewhere = func(links []crawl.Link) error {
				if left--; left == 0 {
					refused = append(refused, links...)
					failures++
					return full
				}
				for _, l := range links {
					given[l.URL]++
				}
				return nil
			}
			sum, err := w.run(t.Context(), c)
			if sum.Documents != documents || sum.Complete != (err == nil) || err != nil && !errors.Is(err, full) {
				t.Fatalf("%d documents, %+v, %v", documents, sum, err)
			}
			if err == nil {
				break
			}
		}
		if documents != 10*hosts || len(given) != 9*hosts || failures == 0 {
			t.Errorf("%d documents, %v, %d failures", documents, given, failures)
		}
		for url, n := range given {
			if n != 1 {
				t.Errorf("%s was given %d times", url, n)
			}
		}
		for _, l := range refused {
			if given[l.URL] == 0 {
				t.Errorf("%s was not given again", l.URL)
			}
		}
	})
}

// Claim is asked for each address before a server is asked. Without it, the request is left.
func TestClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gopher("a.example", files(map[string]string{"": menu(item('1', "", "b.example"), item('1', "", "a.example"))}))
		w.gopher("b.example", files(map[string]string{"": menu()}))
		busy := errors.New("the address is busy")
		var mu sync.Mutex
		claimed := make(map[netip.Addr]bool)
		refuse := w.site("b.example").addr
		c := w.crawl(t.TempDir(), "gopher://a.example/")
		c.Claim = func(ctx context.Context, addr netip.Addr) error {
			mu.Lock()
			defer mu.Unlock()
			if addr == refuse {
				return busy
			}
			claimed[addr] = true
			return ctx.Err()
		}
		sum, err := w.run(t.Context(), c)
		if !errors.Is(err, crawl.ErrStopped) || sum.Complete || sum.Documents != 1 || sum.Failed != 0 || len(sum.Dead) != 0 || sum.Left[crawl.Stopped] != 1 {
			t.Errorf("%+v, %v", sum, err)
		}
		if got := w.urls(); !slices.Equal(got, []string{"a.example "}) || w.most[refuse] != 0 {
			t.Errorf("asked %q, %d connections", got, w.most[refuse])
		}
		refuse = netip.Addr{}
		if sum, err := w.run(t.Context(), c); err != nil || !sum.Complete || sum.Documents != 2 || !claimed[w.site("b.example").addr] {
			t.Errorf("%+v, %v", sum, err)
		}
		for url, n := range captures(t, c.Dir) {
			if n != 1 {
				t.Errorf("%d captures of %s", n, url)
			}
		}
	})
}

// One address of several is enough, if another host or another crawl has the others, and the waits are
// those of any host.
func TestClaimOneOfSeveral(t *testing.T) {
	shared := netip.MustParseAddr("93.2.0.1")
	for name, claim := range map[string]func(context.Context, netip.Addr) error{
		"another host": nil,
		"another crawl": func(_ context.Context, addr netip.Addr) error {
			if addr == shared {
				return errors.New("the address is busy")
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				c := w.crawl(t.TempDir(), "gopher://a.example/", "gopher://b.example/")
				for _, name := range []string{"a.example", "b.example"} {
					w.gopher(name, files(map[string]string{"": menu(item('0', "/x", name), item('0', "/y", name)), "/x": "x\r\n.\r\n", "/y": "y\r\n.\r\n"}))
					w.site(name).first = []netip.Addr{shared}
				}
				c.Claim = claim
				sum, err := w.run(t.Context(), c)
				if err != nil || !sum.Complete || sum.Documents != 6 {
					t.Errorf("%+v, %v", sum, err)
				}
				w.checkPolite(crawl.DefaultWait)
			})
		})
	}
}

// Continue is asked before each request, and before each wait.
func TestContinue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gopher("a.example", files(map[string]string{"": menu(item('0', "/x", "a.example"), item('1', "", "dead.example")), "/x": "x\r\n.\r\n"}))
		requests, longest := 0, time.Duration(0)
		c := w.crawl(t.TempDir(), "gopher://a.example/")
		c.Continue = func(wait time.Duration) bool {
			if wait == 0 {
				requests++
			}
			longest = max(longest, wait)
			return wait < time.Minute
		}
		began := time.Now()
		sum, err := w.run(t.Context(), c)
		if !errors.Is(err, crawl.ErrStopped) || sum.Complete || sum.Documents != 2 || !maps.Equal(sum.Left, map[crawl.Reason]int{crawl.Stopped: 1}) {
			t.Errorf("%+v, %v", sum, err)
		}
		if asked := len(w.asked) + 2; requests != asked { // dead.example was tried twice
			t.Errorf("asked before %d of %d requests", requests, asked)
		}
		if took := time.Since(began); longest != time.Minute || took >= time.Minute {
			t.Errorf("the longest wait is %v; it took %v", longest, took)
		}
		w.gopher("dead.example", files(map[string]string{"": menu()}))
		asked := len(w.asked)
		c.Continue = func(time.Duration) bool { return false }
		if sum, err := w.run(t.Context(), c); !errors.Is(err, crawl.ErrStopped) || sum.Left[crawl.Stopped] != 1 || len(w.asked) != asked {
			t.Errorf("%+v, %v, asked %q", sum, err, w.asked[asked:])
		}
		c.Continue = func(time.Duration) bool { return true }
		if sum, err := w.run(t.Context(), c); err != nil || !sum.Complete || sum.Documents != 3 {
			t.Errorf("%+v, %v", sum, err)
		}
		c.Continue = func(time.Duration) bool { return false }
		if sum, err := w.run(t.Context(), c); err != nil || !sum.Complete {
			t.Errorf("with nothing left: %+v, %v", sum, err)
		}
	})
}

// However a run is stopped, the next one continues there: nothing is lost, and only what was on its
// way is fetched twice.
func TestManyStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts = 3
		w, c := linking(t, hosts)
		given := make(map[string]int)
		var mu sync.Mutex
		step, until := 0, math.MaxInt // what is counted differs from run to run
		last := func() bool {
			mu.Lock()
			defer mu.Unlock()
			step++
			return step < until
		}
		found, runs := c.Found, 0
		for ; runs < 300; runs++ {
			ctx, cancel := context.WithCancel(t.Context())
			c.Claim, c.Continue, c.Report = nil, nil, nil
			c.Elsewhere = func(links []crawl.Link) error {
				if runs%4 == 0 && !last() {
					return errors.New("no space")
				}
				for _, l := range links {
					given[l.URL]++
				}
				return nil
			}
			step, until = 0, 2+runs%5
			switch runs % 4 {
			case 0:
				until = 1
			case 1:
				c.Claim = func(context.Context, netip.Addr) error {
					if !last() {
						return errors.New("busy")
					}
					return nil
				}
			case 2:
				c.Continue = func(time.Duration) bool { return last() }
			case 3:
				c.Report = func(crawl.Event) {
					if !last() {
						cancel()
					}
				}
			}
			sum, err := w.run(ctx, c)
			cancel()
			if len(sum.Dead) > 0 || sum.Failed > 0 {
				t.Fatalf("%+v, %v", sum, err)
			}
			if sum.Complete {
				break
			}
			c.Found = found[:runs%len(found)] // the others are known, unless nothing was committed
			if runs == 0 {
				c.Found = found
			}
		}
		t.Logf("%d runs", runs)
		got, twice := captures(t, c.Dir), 0
		for i := range hosts {
			for k := range 9 {
				n := got[fmt.Sprintf("gopher://%s/1/%d", hostName(i), k)]
				if n == 0 {
					t.Errorf("document %d of host %d is lost", k, i)
				}
				twice += n - 1
				if n := given[fmt.Sprintf("gopher://other.example/0/%d-%d", i, k)]; n != 1 {
					t.Errorf("link %d of host %d was given %d times", k, i, n)
				}
			}
		}
		if runs < 5 || twice > hosts*runs/2 {
			t.Errorf("%d runs, %d documents twice", runs, twice)
		}
		w.checkPolite(0)
	})
}
