package atom

import (
	"strings"
	"testing"
	"time"
)

// What a feed is made of can be any octets.
func TestFeedEscapes(t *testing.T) {
	const text = "<a href='x'>&\"]]>\t\r\n\x00\x1b\xff\ufffe\u00fc"
	const want = "&lt;a href=&#39;x&#39;&gt;&amp;&#34;]]&gt;&#x9;&#xD;&#xA;\ufffd\ufffd\ufffd\ufffd\u00fc"
	var feed strings.Builder
	if err := (&Feed{Title: text, Entries: []Entry{{Title: text, Author: &Person{text}}, {}}}).Write(&feed); err != nil {
		t.Fatal(err)
	}
	if strings.Count(feed.String(), "<title>"+want+"</title>") != 2 || strings.Count(feed.String(), "<name>"+want+"</name>") != 1 || strings.Count(feed.String(), "<author>") != 1 {
		t.Errorf("%s\nhas no %q", feed.String(), want)
	}
}

func TestTime(t *testing.T) {
	for at, want := range map[time.Time]string{{}: "1970-01-01T00:00:00Z", time.Date(2024, 2, 29, 1, 2, 3, 4, time.FixedZone("", 3600)): "2024-02-29T00:02:03Z"} {
		if got := Time(at); got != want {
			t.Errorf("%s is %s, want %s", at, got, want)
		}
	}
}
