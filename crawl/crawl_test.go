package crawl_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/crawl"
)

// A crawl follows links over hosts, politely, and keeps each document once.
func TestCrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.gopher("a.example", files(map[string]string{
			"":      menu(item('0', "/one", "a.example"), item('1', "/sub", "a.example"), item('1', "", "b.example")),
			"/sub":  menu(item('0', "/One", "a.example"), item('0', "/one", "A.example"), item('1', "", "a.example")),
			"/one":  "one\r\n.\r\n",
			"/One":  "another\r\n.\r\n",
			"/none": "",
		}))
		w.gopher("b.example", files(map[string]string{
			"": menu(item('9', "/data", "b.example"), item('0', "/gone", "b.example"), item('1', "", "c.example")), "/data": "\x00\x01",
		}))
		w.gopher("c.example", files(map[string]string{"": menu(item('1', "", "a.example"))}))
		w.site("c.example").addr = w.site("b.example").addr // one server with two names
		c := w.crawl(t.TempDir(), "gopher://a.example/")
		sum, err := w.run(t.Context(), c)
		want := crawl.Summary{
			Complete: true, Documents: 7, Failed: 1, Hosts: 3, Octets: sum.Octets,
			Skipped: map[crawl.Reason]int{}, Left: map[crawl.Reason]int{}, Dead: []crawl.Dead{},
		}
		if diff := cmp.Diff(want, sum); err != nil || diff != "" || sum.Octets == 0 {
			t.Errorf("%v\n%s", err, diff)
		}
		got := captures(t, c.Dir)
		for _, url := range []string{
			"gopher://a.example/", "gopher://a.example/0/one", "gopher://a.example/0/One", "gopher://a.example/1/sub",
			"gopher://b.example/", "gopher://b.example/9/data", "gopher://c.example/",
		} {
			if got[url] != 1 {
				t.Errorf("%d captures of %s", got[url], url)
			}
		}
		w.checkPolite(crawl.DefaultWait)
		before := len(w.asked)
		if sum, err := w.run(t.Context(), c); err != nil || !sum.Complete || len(w.asked) != before {
			t.Errorf("a second run asks again: %v, %v", w.asked[before:], err)
		}
	})
}

// Hosts do not wait for each other.
func TestHostsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var urls []string
		for _, name := range []string{"a.example", "b.example", "c.example"} {
			w.gopher(name, files(map[string]string{"": menu()}))
			urls = append(urls, "gopher://"+name+"/")
		}
		began := time.Now()
		if _, err := w.run(t.Context(), w.crawl(t.TempDir(), urls...)); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != 4*crawl.DefaultWait { // two places for robots.txt and two for caps.txt
			t.Error(took)
		}
	})
}
