package entry

import (
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/locator"
)

// TestWord has a word for each kind of entry. The URL of an item in a menu says more than its type, and a
// mark of the server more than both.
func TestWord(t *testing.T) {
	for _, tc := range []struct {
		url, typ, name, media string
		kind                  fetch.Kind
		mark                  *fetch.Field
		want                  string
	}{
		{url: "gopher://h/0a", typ: "0", want: "text"},
		{url: "gopher://h/1a", typ: "1", kind: fetch.KindMenu, want: "menu"},
		{url: "gopher://h/9a.gif", typ: "9", name: "a.gif", media: "image/gif", want: "binary"},
		{url: "gopher://h/sa", typ: "s", media: "audio/x-wav", want: "sound"},
		{url: "gopher://h/Ia", typ: "I", want: "image"},
		{url: "gopher://h/7a", typ: "7", kind: fetch.KindQuery, want: "search"},
		{url: "gopher://h/2", typ: "2", kind: fetch.KindQuery, want: "phone book"},
		{url: "gopher://h/Za", typ: "Z", want: "type Z"},
		{url: "gopher://h/0a", typ: "0", mark: &fetch.Field{Name: gopher.HeaderPlus, Value: "?"}, want: "form"},
		{url: "gopher://h/0a", typ: "0", mark: &fetch.Field{Name: gopher.HeaderPlus, Value: "+"}, want: "text"},
		{url: "http://h/", typ: "h", media: "text/html", want: "web"},
		{url: "mailto:a@h", typ: "h", kind: fetch.KindAdvice, want: "mail"},
		{url: "telnet://h", typ: "8", kind: fetch.KindInteractive, want: "telnet"},
		{url: "ftp://h/a.txt", typ: "h", want: "ftp"},
		{url: "ftp://h/a/", kind: fetch.KindDirectory, want: "folder"},
		{url: "prospero://h/a", kind: fetch.KindMenu, want: "folder"},
		{url: "wais://h/a", kind: fetch.KindQuery, want: "search"},
		{url: "http://h/a/", kind: fetch.KindDirectory, want: "folder"},
		{url: "ftp://h/a.txt", name: "a.txt", want: "text"},
		{url: "ftp://h/a.png", name: "a.png", want: "image"},
		{url: "ftp://h/a.ogg", name: "a.ogg", want: "sound"},
		{url: "ftp://h/a.zip", name: "a.zip", want: "archive"},
		{url: "ftp://h/a", name: "a", want: "file"},
		{url: "http://h/a.txt", name: "a.txt", media: "video/mp4", want: "video"},
		{url: "ftp://h/a.txt", name: "a.txt", mark: &fetch.Field{Name: fetch.HeaderLink}, want: "link"},
		{url: "ftp://h/a.txt", name: "a.txt", mark: &fetch.Field{Name: fetch.HeaderSpecial}, want: "special"},
	} {
		ref, err := locator.Parser{}.Parse(tc.url)
		if err != nil {
			t.Fatal(err)
		}
		it := &fetch.Item{Name: tc.name, Locator: ref.Locator, Kind: tc.kind, Attributes: fetch.Attributes{MediaType: tc.media}}
		if tc.typ != "" {
			it.Header = append(it.Header, fetch.Field{Name: gopher.HeaderType, Value: tc.typ})
		}
		if tc.mark != nil {
			it.Header = append(it.Header, *tc.mark)
		}
		if got := Word(it); got != tc.want {
			t.Errorf("%+v is %q", tc, got)
		}
	}
}
