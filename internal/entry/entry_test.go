package entry

import (
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/internal/charset"
	"github.com/fetch1738/fetch1738/locator"
)

func TestWriteJSON(t *testing.T) {
	ref, err := locator.Parser{}.Parse("ftp://h/a%0Ab")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		item fetch.Item
		want string
	}{
		{fetch.Item{Name: "n", Locator: ref.Locator, Kind: fetch.KindDocument, Attributes: fetch.Attributes{Size: 0, ModTime: time.Unix(0, 0), MediaType: "text/plain"}},
			`{"name":"n","url":"ftp://h/a%0Ab","kind":"document","size":0,"mtime":"1970-01-01T00:00:00Z","type":"text/plain"}`},
		{fetch.Item{Name: "n", Locator: ref.Locator, Kind: fetch.KindDirectory, Attributes: fetch.Attributes{Size: -1}},
			`{"name":"n","url":"ftp://h/a%0Ab","kind":"directory"}`},
		{fetch.Item{Name: "n", Locator: ref.Locator, Attributes: fetch.Attributes{Size: -1, Header: []fetch.Field{{Name: fetch.HeaderLink, Value: "../d"}}}},
			`{"name":"n","url":"ftp://h/a%0Ab","kind":"link","target":"../d"}`},
		{fetch.Item{Name: "n", Locator: ref.Locator, Attributes: fetch.Attributes{Size: -1, Header: []fetch.Field{{Name: fetch.HeaderSpecial}}}},
			`{"name":"n","url":"ftp://h/a%0Ab","kind":"special"}`},
		{fetch.Item{Name: "n", Attributes: fetch.Attributes{Size: -1}}, `{"name":"n","kind":"text"}`},
		{fetch.Item{Name: "n", Attributes: fetch.Attributes{Size: -1, Header: []fetch.Field{{Name: gopher.HeaderError}}}}, `{"name":"n","kind":"error"}`},
	} {
		var b strings.Builder
		if err := WriteJSON(&b, &tc.item, charset.Charset{}); err != nil || b.String() != tc.want+"\n" {
			t.Errorf("%s, %v; want %s", b.String(), err, tc.want)
		}
	}
}
