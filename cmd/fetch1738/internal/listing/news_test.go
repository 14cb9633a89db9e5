package listing

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// newsgroup is the listing of a newsgroup in which the articles have only some fields.
func newsgroup(t *testing.T) *fetch.Resource {
	t.Helper()
	article := func(number, url string, date time.Time, header ...string) fetch.Item {
		ref, err := locator.Parser{}.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		it := fetch.Item{Name: number, Locator: ref.Locator, Kind: fetch.KindDocument, Attributes: fetch.Attributes{Size: -1, MediaType: "message/rfc822", ModTime: date}}
		for i := 0; i < len(header); i += 2 {
			it.Header = append(it.Header, fetch.Field{Name: header[i], Value: header[i+1]})
		}
		return it
	}
	date := time.Date(1994, time.December, 1, 12, 0, 0, 0, time.UTC)
	return &fetch.Resource{Items: func(yield func(fetch.Item, error) bool) {
		for _, it := range []fetch.Item{
			article("4", "nntp://h/g/4", date, "Subject", "all", "From", "Ann <a@h>", "Message-ID", "<4@h>"),
			article("5", "nntp://h/g/5", time.Time{}, "Subject", "a subject", "From", "u@u"),
			article("6", "nntp://h/g/6", time.Time{}, "Subject", "no author"),
			article("7", "nntp://h/g/7", time.Time{}),
			article("9", "news:9@h", date, "From", "=?UTF8?Q?caf=C3=A9?= <c@h>", "Subject", "=?us-ascii?Q?=93x=94?= \x93y\x94 =?utf-8?Q?=0Az?="),
			article("12", "nntp://h/g/12", date, "Subject", "\x1b[31m=?utf-8?Q?=1B=00=C2=9B=E2=80=AE?=", "From", "=?utf-8?Q?=1Bx?="),
		} {
			if !yield(it, nil) {
				return
			}
		}
	}}
}

// TestNewsgroup lists articles as far as they are known. What a line shows has no control characters.
func TestNewsgroup(t *testing.T) {
	r := (&Listing{}).Read(newsgroup(t))
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	want := strings.Join([]string{
		"      4  1994-12-01  Ann                   all",
		"      5              u@u                   a subject",
		"      6                                    no author",
		"      7",
		"      9  1994-12-01  café                  “x” “y”  z",
		"     12  1994-12-01  ␛x                    ␛[31m␛␀<U+009B><U+202E>",
	}, "\n") + "\n"
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestPickArticle picks an article by its number, whatever else is known of it.
func TestPickArticle(t *testing.T) {
	for number, want := range map[int]string{4: "nntp://h/g/4", 5: "nntp://h/g/5", 7: "nntp://h/g/7", 9: "news:9@h", 1: "", 2: "", 8: ""} {
		got := ""
		if chosen, _, _ := Pick(newsgroup(t).Items, number); chosen != nil {
			got = chosen.Locator.String()
		}
		if got != want {
			t.Errorf("%d: %q, want %q", number, got, want)
		}
	}
}
