package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/raced"
	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// A crawl only reads documents: what a link asks to be sent or answered is not followed.
func TestNeverFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		other := []string{"t.example", "cso.example", "web.example"}
		for _, name := range other {
			w.gopher(name, files(map[string]string{"": menu()}))
		}
		w.gopher("a.example", files(map[string]string{
			"": menu(
				item('8', "user", "t.example"), item('T', "", "t.example"), item('2', "", "cso.example"), item('7', "/search", "a.example"),
				"0a form\t/form\ta.example\t70\t?\r\n",
				"hmail\tURL:mailto:joe@a.example\ta.example\t70\r\n", "hweb\tURL:http://web.example:70/\ta.example\t70\r\n",
				"htelnet\tURL:telnet://t.example:70/\ta.example\t70\r\n", "hfile\tURL:file:///etc/passwd\ta.example\t70\r\n",
				"hquery\tURL:gopher://a.example/7/search%09words\ta.example\t70\r\n",
				"hform\tURL:gopher://a.example/0/form%09%09+%091%0d%0a\ta.example\t70\r\n",
				"hwais\tURL:wais://t.example/db?words\ta.example\t70\r\n", "hnews\tURL:news:alt.test\ta.example\t70\r\n",
				"hfoo\tURL:foo://t.example/\ta.example\t70\r\n", "inothing\t\t\t\r\n", item('3', "", "t.example"),
			),
		}))
		sum, err := w.run(t.Context(), w.crawl(t.TempDir(), "gopher://a.example/"))
		want := map[crawl.Reason]int{crawl.Scheme: 5, crawl.Search: 5, crawl.Web: 1}
		if err != nil || sum.Documents != 1 || !maps.Equal(sum.Skipped, want) {
			t.Errorf("%+v, %v", sum, err)
		}
		if got := w.urls(); !slices.Equal(got, []string{"a.example "}) {
			t.Errorf("asked %q", got)
		}
	})
}

// Robots.txt is asked first, and obeyed; the delay that it demands, too.
func TestRobotsAreObeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gopher("a.example", files(map[string]string{
			"robots.txt": "User-agent: *\r\nDisallow: /private\r\nCrawl-delay: 10\r\n.\r\n",
			"":           menu(item('0', "/private/x", "a.example"), item('0', "/public", "a.example"), item('0', "robots.txt", "a.example"), item('0', "/no", "b.example")),
			"/public":    "text\r\n.\r\n", "/private/x": "text\r\n.\r\n",
		}))
		w.gopher("b.example", files(map[string]string{
			"/robots.txt": "User-agent: Fetch1738\r\nDisallow: /\r\n.\r\n", "caps.txt": "CAPS\r\nServerDefaultEncoding=UTF-8\r\n.\r\n", "/no": "text\r\n.\r\n",
		}))
		c := w.crawl(t.TempDir(), "gopher://a.example/")
		sum, err := w.run(t.Context(), c)
		if err != nil || !sum.Complete || sum.Documents != 2 || sum.Skipped[crawl.Robots] != 2 {
			t.Errorf("%+v, %v", sum, err)
		}
		want := []string{
			"a.example robots.txt", "a.example caps.txt", "a.example /caps.txt", "a.example ", "a.example /public",
			"b.example robots.txt", "b.example /robots.txt", "b.example caps.txt",
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(w.asked))); diff != "" {
			t.Error(diff)
		}
		if got := captures(t, c.Dir)["gopher://a.example/0robots.txt"]; got != 1 {
			t.Errorf("%d captures of robots.txt", got)
		}
		report, err := os.ReadFile(filepath.Join(c.Dir, crawl.HostsFile))
		for _, part := range []string{`"delay":10,`, `"servers":{"gopher://a.example":{"robots":1}}`, `"servers":{"gopher://b.example":{"robots":1,"caps":{"ServerDefaultEncoding":"UTF-8"}}}`} {
			if !strings.Contains(string(report), part) {
				t.Errorf("no %s in %s, %v", part, report, err)
			}
		}
	})
}

// A link to an address that is not public is refused before a connection, but the URLs of Start are
// the user's.
func TestLinksArePublic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gopher("inside.example", files(map[string]string{"": menu(item('0', "/x", "inside.example"), item('1', "", "a.example"))}))
		w.gopher("a.example", files(map[string]string{"": menu(item('1', "", "private.example"), item('0', "/x", "127.0.0.1"))}))
		w.gopher("private.example", files(map[string]string{"": menu()}))
		w.site("inside.example").addr = netip.MustParseAddr("10.0.0.1")
		w.site("private.example").addr = netip.MustParseAddr("192.168.0.1")
		sum, err := w.run(t.Context(), w.crawl(t.TempDir(), "gopher://inside.example/"))
		want := []crawl.Dead{{Host: "private.example:70", Reason: crawl.Refused, Left: 1}, {Host: "127.0.0.1:70", Reason: crawl.Refused, Left: 1}}
		for i := range sum.Dead {
			sum.Dead[i].Error = ""
		}
		slices.SortFunc(sum.Dead, func(a, b crawl.Dead) int { return strings.Compare(b.Host, a.Host) })
		if diff := cmp.Diff(want, sum.Dead); err != nil || diff != "" || sum.Documents != 2 || sum.Skipped[crawl.Refused] != 1 {
			t.Errorf("%+v, %v\n%s", sum, err, diff)
		}
		if got := w.urls(); !slices.Equal(got, []string{"a.example ", "inside.example "}) {
			t.Errorf("asked %q", got)
		}
		c := w.crawl(t.TempDir(), "gopher://inside.example/")
		zones := []policy.Zone{policy.ZonePrivate}
		c.Resolver.Env.Allow = (&policy.Rules{AllowZones: zones}).Allow
		c.Links = (&policy.Rules{PublicOnly: true, AllowZones: zones}).Allow
		if sum, err := w.run(t.Context(), c); err != nil || sum.Documents != 3 || sum.Failed != 1 {
			t.Errorf("%+v, %v", sum, err)
		}
	})
}

// Hosts that do not answer are given up, and reported with the reason. The next run asks them again.
func TestDeadHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gopher("a.example", files(map[string]string{
			"": menu(item('1', "", "unknown.example"), item('1', "", "refuses.example"), item('0', "/x", "refuses.example"), item('1', "", "deaf.example")),
		}))
		w.site("refuses.example")
		w.site("deaf.example").deaf = true
		var dead []string
		c := w.crawl(t.TempDir(), "gopher://a.example/")
		c.Report = func(e crawl.Event) {
			if e.Host != "" && e.URL == "" && e.Next.IsZero() {
				dead = append(dead, e.Host)
			}
		}
		sum, err := w.run(t.Context(), c)
		want := []crawl.Dead{
			{Host: "unknown.example:70", Reason: crawl.Unresolved, Left: 1}, {Host: "refuses.example:70", Reason: crawl.Unreachable, Left: 2}, {Host: "deaf.example:70", Reason: crawl.Timeout, Left: 1},
		}
		for i := range sum.Dead {
			if sum.Dead[i].Error == "" {
				t.Errorf("%s: no text", sum.Dead[i].Host)
			}
			sum.Dead[i].Error = ""
		}
		if diff := cmp.Diff(want, sum.Dead); err != nil || diff != "" || !sum.Complete || len(dead) != 3 {
			t.Errorf("%+v, %v, %q\n%s", sum, err, dead, diff)
		}
		w.gopher("refuses.example", files(map[string]string{"": menu(), "/x": "x\r\n.\r\n"}))
		sum, err = w.run(t.Context(), c)
		if err != nil || len(sum.Dead) != 2 || sum.Documents != 3 {
			t.Errorf("%+v, %v", sum, err)
		}
	})
}

// A port that does not answer is no reason to give up the other ports of that name, but all of them
// are asked in turn.
func TestPorts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gopher("b.example", files(map[string]string{"": menu(item('0', "/x", "b.example")), "/x": "x\r\n.\r\n"}))
		w.gopher("a.example", files(map[string]string{
			"":   "1other\t\ta.example\t7070\r\n1mail\t\ta.example\t25\r\n1closed\t\ta.example\t7071\r\n" + menu(item('0', "/x", "a.example")),
			"/x": "x\r\n.\r\n",
		}))
		a := w.site("a.example")
		a.ports[7070] = w.site("b.example").ports[70]
		w.site("b.example").addr = a.addr
		c := w.crawl(t.TempDir(), "gopher://a.example/")
		sum, err := w.run(t.Context(), c)
		if err != nil || !sum.Complete || sum.Documents != 4 || len(sum.Dead) != 2 || sum.Hosts != 3 {
			t.Errorf("%+v, %v", sum, err)
		}
		w.checkPolite(crawl.DefaultWait)
	})
}

// The failure of a URL that the user gave is the error of the run, and that URL is asked again.
func TestStartFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		content := map[string]string{}
		w.gopher("a.example", files(content))
		c := w.crawl(t.TempDir(), "gopher://a.example/0/x", "gopher://dead.example/")
		sum, err := w.run(t.Context(), c)
		if !errors.Is(err, fetch.ErrNotFound) || sum.Complete || sum.Failed != 1 || len(sum.Dead) != 1 {
			t.Errorf("%+v, %v", sum, err)
		}
		content["/x"] = "x\r\n.\r\n"
		w.gopher("dead.example", files(map[string]string{"": menu()}))
		if sum, err := w.run(t.Context(), c); err != nil || !sum.Complete || sum.Documents != 2 || sum.Failed != 0 {
			t.Errorf("%+v, %v", sum, err)
		}
		for _, url := range []string{"telnet://a.example/", "mailto:joe@a.example", "file:///etc/passwd", "foo://a.example/"} {
			if _, err := w.run(t.Context(), w.crawl(t.TempDir(), url)); !errors.Is(err, fetch.ErrUnsupported) {
				t.Errorf("%s: %v", url, err)
			}
		}
	})
}

// What a limit leaves is reported, and a run with a higher limit continues there.
func TestLimits(t *testing.T) {
	for name, c := range map[string]struct {
		set       func(*crawl.Crawl)
		documents int
		left      map[crawl.Reason]int
	}{
		"depth":     {func(c *crawl.Crawl) { c.Depth = 1 }, 6, map[crawl.Reason]int{crawl.LimitDepth: 5}},
		"start":     {func(c *crawl.Crawl) { c.Depth = -1 }, 1, map[crawl.Reason]int{crawl.LimitDepth: 5}},
		"hosts":     {func(c *crawl.Crawl) { c.MaxHosts = 1 }, 6, map[crawl.Reason]int{crawl.LimitHosts: 5}},
		"documents": {func(c *crawl.Crawl) { c.MaxDocuments = 4 }, 4, map[crawl.Reason]int{crawl.LimitDocuments: 2}},
		"octets":    {func(c *crawl.Crawl) { c.MaxOctets = 350 }, 3, nil},
		"of a host": {func(c *crawl.Crawl) { c.MaxHostOctets = 350 }, 3, nil},
		"similar":   {func(c *crawl.Crawl) { c.MaxSimilar = 2 }, 8, map[crawl.Reason]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				a, b := map[string]string{}, map[string]string{}
				for i := range 5 {
					a[""] += item('0', fmt.Sprintf("/cgi?%d", i), "a.example")
					a[fmt.Sprintf("/cgi?%d", i)] = strings.Repeat("x", 80)
					a["/cgi?4"] = ""
				}
				a["/m"], b["/d"] = "", ""
				a[""] = strings.ReplaceAll(a[""], item('0', "/cgi?4", "a.example"), item('1', "/m", "a.example"))
				for i := range 5 {
					a["/m"] += item('0', fmt.Sprintf("/d%d", i), "b.example")
					b[fmt.Sprintf("/d%d", i)] = "d\r\n.\r\n"
				}
				w.gopher("a.example", files(a))
				w.gopher("b.example", files(b))
				crawled := w.crawl(t.TempDir(), "gopher://a.example/")
				c.set(crawled)
				sum, err := w.run(t.Context(), crawled)
				if limited := name != "similar"; errors.Is(err, crawl.ErrLimit) != limited || sum.Complete == limited {
					t.Errorf("%+v, %v", sum, err)
				}
				if sum.Documents != c.documents && name != "similar" || c.left != nil && !maps.Equal(sum.Left, c.left) {
					t.Errorf("%+v, %v", sum, err)
				}
				if name == "similar" && sum.Skipped[crawl.Trap] != 2 {
					t.Errorf("%+v", sum)
				}
				again := w.crawl(crawled.Dir, "gopher://a.example/")
				if sum, err = w.run(t.Context(), again); err != nil || !sum.Complete {
					t.Errorf("without the limit: %+v, %v", sum, err)
				}
			})
		})
	}
}

// Servers without an end are left after a bounded number of requests.
func TestEndlessServers(t *testing.T) {
	most := 200
	if raced.Enabled {
		most = 50 // documents of a thousand links each
	}
	for name, answer := range map[string]func(string) string{
		"menus": func(s string) string { return menu(item('1', s+"/a", "a.example"), item('1', s+"/b", "a.example")) },
		"loop":  func(s string) string { return menu(item('1', s+"/a/b", "a.example")) },
		"calendar": func(s string) string {
			var day int
			_, _ = fmt.Sscanf(s, "/cal?day=%d", &day)
			return menu(item('1', fmt.Sprintf("/cal?day=%d", day+1), "a.example"), item('1', fmt.Sprintf("/cal?day=%d", day-1), "a.example"))
		},
		"sessions": func(s string) string {
			return menu(item('1', fmt.Sprintf("/%016x/index", time.Now().UnixNano()+int64(len(s))), "a.example"), item('1', fmt.Sprintf("/%016x/b", time.Now().UnixNano()), "a.example"))
		},
		"wide": func(s string) string {
			var b strings.Builder
			for i := range 1000 {
				b.WriteString(item('1', fmt.Sprintf("%s/%d", s, i), "a.example"))
			}
			return b.String() + ".\r\n"
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.gopher("a.example", func(s string) string {
					if strings.Contains(s, "robots.txt") || strings.Contains(s, "caps.txt") {
						return ""
					}
					return answer(s)
				})
				c := w.crawl(t.TempDir(), "gopher://a.example/")
				c.MaxDocuments, c.MaxSimilar = most, most/4
				sum, err := w.run(t.Context(), c)
				if err != nil && !errors.Is(err, crawl.ErrLimit) || len(w.urls()) > most || sum.Documents < 3 {
					t.Errorf("%d requests, %+v, %v", len(w.urls()), sum, err)
				}
				t.Logf("%d requests, %+v", len(w.urls()), sum)
				info, err := os.Stat(filepath.Join(c.Dir, crawl.FrontierFile))
				if err != nil || info.Size() > 4<<20 {
					t.Errorf("a frontier of %d bytes, %v", info.Size(), err)
				}
			})
		})
	}
}

// Two crawls cannot share a directory; an interrupted one continues.
func TestInterruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for i := range 3 {
			w.gopher(hostName(i), func(selector string) string { return generated(i, 3, 50, selector) })
		}
		dir := t.TempDir()
		ctx, cancel := context.WithTimeout(t.Context(), 31*time.Second)
		defer cancel()
		c := w.crawl(dir, "gopher://"+hostName(0)+"/")
		c.Report = func(crawl.Event) {
			if _, err := w.crawl(dir, "gopher://"+hostName(0)+"/").Run(t.Context()); !errors.Is(err, crawl.ErrInUse) {
				t.Errorf("another crawl: %v", err)
			}
			c.Report = nil
		}
		sum, err := w.run(ctx, c)
		if !errors.Is(err, context.DeadlineExceeded) || sum.Complete || sum.Documents < 5 || sum.Documents > 100 || sum.Left[crawl.Stopped] == 0 {
			t.Errorf("%+v, %v", sum, err)
		}
		sum, err = w.run(t.Context(), w.crawl(dir, "gopher://"+hostName(0)+"/"))
		if err != nil || !sum.Complete || sum.Documents != 150 {
			t.Errorf("%+v, %v", sum, err)
		}
		for url, n := range captures(t, dir) {
			if n != 1 {
				t.Errorf("%d captures of %s", n, url)
			}
		}
	})
}

// A request that an interruption breaks off is not a failure: the next run makes it again.
func TestInterruptedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, dir := newWorld(t), t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		w.gopher("a.example", func(selector string) string {
			if selector == "x" {
				cancel()
				<-ended
			}
			return files(map[string]string{"": menu(item('0', "x", "a.example")), "x": "text"})(selector)
		})
		c := w.crawl(dir, "gopher://a.example/")
		if sum, err := w.run(ctx, c); !errors.Is(err, context.Canceled) || sum.Documents != 1 || sum.Failed != 0 {
			t.Errorf("%+v, %v", sum, err)
		}
		close(ended)
		if sum, err := w.run(t.Context(), c); err != nil || !sum.Complete || sum.Documents != 2 {
			t.Errorf("%+v, %v", sum, err)
		}
	})
}

// A crawl follows directories, and pages if that is asked for, with their redirects.
func TestOtherSchemes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		ftp := ftptest.New(t, func(s *ftptest.Server) {
			s.Network = &w.net
			s.Content = fstest.MapFS{"robots.txt": {Data: []byte("User-agent: *\nDisallow: /no")}, "pub/a": {Data: []byte("a")}, "pub/sub/b": {Data: []byte("b")}, "no/c": {}}
		})
		web := webtest.New(t, func(s *webtest.Server) {
			s.Network = &w.net
			s.Content = fstest.MapFS{
				"index.html": {Data: []byte(`<title>x</title><a href="sub/p.html#f">p</a><img src=i.png><a href="gopher://g.example/0/t">t</a><a href="mailto:x@y">m</a><a href="/gone">`)},
				"sub/p.html": {Data: []byte(`<base href="/other/"><A HREF='q.html'>q</A><a href="ftp://f.example/">` +
					`<title><a href=no></title><textarea><a href=no></textarea><noscript><img src="r.png?a=1&copy=2"></noscript><noframes><a title="` + strings.Repeat(">", 5000) + `" href=s></noframes>`)},
				"i.png": {Data: []byte("png")}, "other/q.html": {Data: []byte("q")}, "other/r.png": {Data: []byte("r")}, "other/s": {Data: []byte("s")},
			}
		})
		w.site("f.example").ports[21], w.site("w.example").ports[80] = ftp.Addr, web.Addr
		w.gopher("g.example", files(map[string]string{"/t": "t\r\n.\r\n"}))
		c := w.crawl(t.TempDir(), "http://w.example/index.html")
		c.HTTP = true
		c.Resolver.Env.Limits.Hops = -1
		sum, err := w.run(t.Context(), c)
		if err != nil || !sum.Complete || sum.Failed != 1 || sum.Skipped[crawl.Robots] == 0 || sum.Skipped[crawl.Scheme] != 1 {
			t.Errorf("%+v, %v", sum, err)
		}
		got := captures(t, c.Dir)
		for _, url := range []string{
			"http://w.example/index.html", "http://w.example/sub/p.html", "http://w.example/i.png", "http://w.example/other/q.html", "http://w.example/gone",
			"http://w.example/other/r.png?a=1&copy=2", "http://w.example/other/s",
			"gopher://g.example/0/t", "ftp://f.example/", "ftp://f.example/pub/", "ftp://f.example/pub/a", "ftp://f.example/pub/sub/", "ftp://f.example/pub/sub/b", "ftp://f.example/robots.txt",
		} {
			if got[url] != 1 {
				t.Errorf("%d captures of %s", got[url], url)
			}
			delete(got, url)
		}
		delete(got, "http://w.example/robots.txt")
		if len(got) > 0 {
			t.Errorf("more captures: %v", got)
		}
	})
}
