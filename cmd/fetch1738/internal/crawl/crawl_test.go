package crawl

import (
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
	"github.com/fetch1738/fetch1738/crawl"
)

// Each of crawl's own options is in the table once, is explained, and is used in a script. Options
// about security apply to crawl too.
func TestCrawlOptions(t *testing.T) {
	script, err := os.ReadFile("../../testdata/script/crawl.txtar")
	if err != nil {
		t.Fatal(err)
	}
	setters := make(map[string]uintptr)
	for _, o := range new(settings).table() {
		if setters[o.Long] != 0 {
			t.Errorf("--%s is in the table twice", o.Long)
		}
		setters[o.Long] = reflect.ValueOf(o.Set).Pointer()
	}
	for _, o := range new(settings).options() {
		if o.Help == "" || o.Groups != "crawl" || !strings.Contains(string(script), " --"+o.Long+" ") {
			t.Errorf("--%s: %q in %q", o.Long, o.Help, o.Groups)
		}
	}
	for _, o := range curl.Options() {
		if o.Guards() && setters[o.Long] != reflect.ValueOf(o.Set).Pointer() {
			t.Errorf("crawl ignores --%s", o.Long)
		}
	}
}

func TestCrawlLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watch{left: 1, silent: true}
		if got := w.line(progress.Totals{}); got != "0 documents, 0 not fetched, 1 to come, 0 hosts given up, 0 B" {
			t.Error(got)
		}
		w.event(crawl.Event{URL: "ftp://h/a", Host: "h:21", Octets: 3 << 20, Queued: 7})
		w.event(crawl.Event{URL: "ftp://h/b", Host: "h:21", Reason: crawl.Failed, Queued: 6})
		w.event(crawl.Event{Host: "h:21", Reason: crawl.Timeout, Queued: 6})
		const counts = "1 document, 1 not fetched, 6 to come, 1 host given up, 3.0 MiB"
		if got := w.line(progress.Totals{}); got != counts {
			t.Error(got)
		}
		w.event(crawl.Event{Host: "h.example:70", Reason: crawl.Unreachable, Err: io.EOF, Next: time.Now().Add(30 * time.Second), Queued: 6})
		if got := w.line(progress.Totals{}); got != "h.example: next try in 30 s; "+counts {
			t.Error(got)
		}
		w.event(crawl.Event{Host: "h.example:70", Next: time.Now().Add(2 * time.Hour), Queued: 6})
		time.Sleep(time.Hour)
		if got := w.line(progress.Totals{}); got != "h.example: next request in 60 min; "+counts {
			t.Error(got)
		}
		w.event(crawl.Event{URL: "ftp://h/c", Host: "h:21", Reason: crawl.Failed, Queued: 5})
		if got := w.line(progress.Totals{}); got != "1 document, 2 not fetched, 5 to come, 1 host given up, 3.0 MiB" {
			t.Error(got)
		}
	})
}

func TestSentence(t *testing.T) {
	for _, tt := range []struct {
		sum  crawl.Summary
		now  int
		want string
	}{
		{crawl.Summary{Complete: true, Documents: 1, Octets: 72, Hosts: 2}, 1, "complete; 1 document, 72 bytes, from 2 hosts in 1.5 s"},
		{crawl.Summary{Documents: 8, Hosts: 1, Failed: 2, Left: map[crawl.Reason]int{crawl.LimitDepth: 4}, Skipped: map[crawl.Reason]int{crawl.Web: 1, crawl.Refused: 2}}, 3,
			"not complete; 8 documents, 0 bytes, from 1 host; this run fetched 3 in 1.5 s; 2 failed; 4 links not fetched yet (beyond --depth); 3 links not followed (2 refused by the policy, 1 to http)"},
		{crawl.Summary{Dead: []crawl.Dead{{Host: "h:70", Reason: crawl.Unreachable}, {Host: "i:70", Reason: crawl.Refused}}}, 0,
			"not complete; 0 documents, 0 bytes, from 0 hosts in 1.5 s; 2 hosts given up: h:70 (unreachable), i:70 (refused by the policy)"},
	} {
		if got := sentence(tt.sum, tt.now, 1500*time.Millisecond); got != tt.want {
			t.Errorf("%s\nwant %s", got, tt.want)
		}
	}
}

// Each reason for which links are not followed, or left, has a text.
func TestReasonsHaveTexts(t *testing.T) {
	for _, reason := range []crawl.Reason{crawl.Scheme, crawl.Search, crawl.Web, crawl.OtherHost, crawl.Trap, crawl.Robots, crawl.Refused, crawl.LimitDepth} {
		if counts(map[crawl.Reason]int{reason: 1}, skipped, "not followed") == nil {
			t.Errorf("no text for skipped %s", reason)
		}
	}
	for _, reason := range []crawl.Reason{crawl.LimitDepth, crawl.LimitHosts, crawl.LimitDocuments, crawl.LimitOctets, crawl.LimitLinks, crawl.Stopped} {
		if counts(map[crawl.Reason]int{reason: 1}, left, "not fetched yet") == nil {
			t.Errorf("no text for left %s", reason)
		}
	}
}

// The help fits the width of the terminal.
func TestHelpFolds(t *testing.T) {
	for line := range strings.Lines(Command().Help(60)) {
		if len(line)-1 > 60 && !strings.HasPrefix(line, "  $ ") {
			t.Errorf("%q", line)
		}
	}
}
