package crawl

import (
	"os"
	"reflect"
	"strings"
	"testing"

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
	w := new(watch)
	w.event(crawl.Event{URL: "ftp://h/a", Octets: 3 << 20, Queued: 7})
	w.event(crawl.Event{URL: "ftp://h/b", Reason: crawl.Failed, Queued: 6})
	w.event(crawl.Event{Host: "h", Reason: crawl.Timeout, Queued: 6})
	if got := w.line(progress.Totals{}); got != "1 documents, 1 not fetched, 6 to come, 1 hosts given up, 3.0 MiB" {
		t.Error(got)
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
