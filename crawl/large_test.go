package crawl_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/crawl"
	"github.com/fetch1738/fetch1738/internal/raced"
)

// A crawl of many hosts with many documents is complete, and needs little memory. The usual size is
// 30 hosts, or 10 with the race detector; FETCH1738_CRAWL=300x2000 is the number of hosts and of items
// on each.
func TestManyHosts(t *testing.T) {
	hosts, items := 30, 200
	if raced.Enabled {
		hosts = 10
	}
	if size := os.Getenv("FETCH1738_CRAWL"); size != "" {
		if _, err := fmt.Sscanf(size, "%dx%d", &hosts, &items); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.many = true
		for i := range hosts {
			w.gopher(hostName(i), func(selector string) string { return generated(i, hosts, items, selector) })
		}
		c := w.crawl(t.TempDir(), "gopher://"+hostName(0)+"/")
		began := time.Now()
		sum, err := w.run(t.Context(), c)
		if err != nil || !sum.Complete || sum.Documents != hosts*items || sum.Failed != 0 {
			t.Errorf("%+v, %v", sum, err)
		}
		t.Logf("%d documents of %d hosts in %v of simulated time", sum.Documents, sum.Hosts, time.Since(began))
		w.checkPolite(crawl.DefaultWait)
		times := make([]byte, hosts*items) // by host and number: of a document, of a menu times each; the last for the root
		eachCapture(t, c.Dir, func(url string) {
			var host, number int
			kind := "root"
			_, after, _ := strings.Cut(url, ".example/")
			if after != "" {
				kind, after, _ = strings.Cut(after[2:], "/")
			}
			_, _ = fmt.Sscanf(url, "gopher://h%d.example", &host)
			number, _ = strconv.Atoi(after)
			switch kind {
			case "root":
				times[host*items+items-1]++
			case "menu":
				times[host*items+number*each]++
			case "doc":
				times[host*items+number]++
			}
		})
		for i, n := range times {
			if n != 1 {
				t.Fatalf("host %d: %d captures of item %d", i/items, n, i%items)
			}
		}
	})
	if most := maxResident(); most > 256<<20 {
		t.Errorf("%d MiB of memory", most>>20)
	} else {
		t.Logf("%d MiB of memory", most>>20)
	}
}

const each = 100 // items of a menu

func hostName(i int) string { return fmt.Sprintf("h%d.example", i) }

// generated is the answer of a host with a number of items: its root, menus of up to 100 items, and
// documents. Some menus link to the next hosts.
func generated(host, hosts, items int, selector string) string {
	var b strings.Builder
	menus := (items - 1) / each
	switch kind, text, _ := strings.Cut(strings.TrimPrefix(selector, "/"), "/"); kind {
	case "":
		for m := range menus {
			b.WriteString(item('1', fmt.Sprintf("/menu/%d", m), hostName(host)))
		}
		for k := menus * each; k < items-1; k++ {
			b.WriteString(item('0', fmt.Sprintf("/doc/%d", k), hostName(host)))
		}
		for _, next := range []int{2*host + 1, 2*host + 2, host / 2} {
			if next < hosts {
				b.WriteString(item('1', "", hostName(next)))
			}
		}
	case "menu":
		m, _ := strconv.Atoi(text)
		for k := m*each + 1; k < (m+1)*each; k++ { // with the menu itself they are 100
			b.WriteString(item('0', fmt.Sprintf("/doc/%d", k), hostName(host)))
		}
	case "doc":
		return fmt.Sprintf("This is document %s of host %d.\r\n.\r\n", text, host)
	default:
		return ""
	}
	return b.String() + ".\r\n"
}

// maxResident returns the most memory that the process had, in bytes; 0 where that is not known.
func maxResident() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil || runtime.GOOS != "linux" {
		return 0
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	var kib int64
	_, _ = fmt.Sscan(after, &kib)
	return kib << 10
}
