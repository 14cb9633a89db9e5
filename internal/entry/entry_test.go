package entry

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

func TestWriteDocument(t *testing.T) {
	for body, want := range map[string]string{
		"a<b\n": `"body":"a<b\n"`, "": `"body":""`, "\x00": `"body":"\u0000"`, "\xff\xfe": `"body":"//4=","encoding":"base64"`,
	} {
		var b strings.Builder
		d := &Document{Item: fetch.Item{Name: "n", Locator: &locator.Gopher{}, Attributes: fetch.Attributes{Size: -1}}, Body: bytes.NewBufferString(body)}
		if err := WriteDocument(&b, d, charset.Charset{}); err != nil || !strings.HasSuffix(b.String(), `"kind":"document",`+want+"}\n") {
			t.Errorf("%q: %s, %v", body, b.String(), err)
		}
	}
}

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
		{fetch.Item{Name: "\x1b[0m \u009b \x7f \u202e \u2066 é 日 \U0001F600", Attributes: fetch.Attributes{Size: -1}},
			`{"name":"\u001b[0m \u009b \u007f \u202e \u2066 é 日 😀","kind":"text"}`},
		{fetch.Item{Name: "n", Attributes: fetch.Attributes{Size: -1}}, `{"name":"n","kind":"text"}`},
		{fetch.Item{Name: "n", Attributes: fetch.Attributes{Size: -1, Header: []fetch.Field{{Name: gopher.HeaderError}}}}, `{"name":"n","kind":"error"}`},
		{fetch.Item{Name: "3", Locator: ref.Locator, Attributes: fetch.Attributes{Size: 5, MediaType: "message/rfc822", Header: []fetch.Field{{Name: "Subject", Value: "=?utf-8?Q?gr=C3=BCn?= \xfc"}, {Name: "From", Value: "A & B <a@b>"}}}},
			`{"name":"3","url":"ftp://h/a%0Ab","kind":"document","size":5,"type":"message/rfc822","author":"A & B <a@b>","subject":"grün ü"}`},
		{fetch.Item{Name: "a.b", Locator: ref.Locator, Kind: fetch.KindDirectory, Attributes: fetch.Attributes{Size: -1, Header: []fetch.Field{{Name: "Description", Value: "Tests"}}}},
			`{"name":"a.b","url":"ftp://h/a%0Ab","kind":"directory","description":"Tests"}`},
	} {
		var b strings.Builder
		if err := WriteJSON(&b, &tc.item, charset.Charset{}); err != nil || b.String() != tc.want+"\n" {
			t.Errorf("%s, %v; want %s", b.String(), err, tc.want)
		}
	}
}
