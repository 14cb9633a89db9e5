package textview

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/gateway/internal/markup"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
)

// pageOf is the page of a document, whose links lead to the URLs themselves if they are web pages, and
// to the pages of the gateway otherwise. Texts have no links of their own.
func pageOf(t *testing.T, url string) *Page {
	t.Helper()
	l, err := place.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	visible := func(text string) string { return strings.ReplaceAll(text, "\x1b", "<1B>") }
	return &Page{
		Document: l,
		LinkTo: func(l locator.Locator) place.Link {
			switch l.(type) {
			case nil, *locator.File, *locator.Opaque:
				return place.Link{}
			case *locator.HTTP:
				return place.URL(l)
			}
			return place.At(place.Of(l))
		},
		Linked:    func(text string) []Piece { return []Piece{{Text: visible(text)}} },
		Visible:   visible,
		IsPicture: func(l locator.Locator) bool { return strings.HasSuffix(l.String(), ".png") },
	}
}

// spans are the texts of blocks: [text](link), and {text}(octets) for a picture that is shown.
func spans(blocks []*Block) string {
	var b strings.Builder
	for _, block := range blocks {
		for _, s := range block.Text {
			text := ""
			for _, r := range s.Runs {
				if r.Image.Empty() {
					text += r.Text
				} else {
					text += fmt.Sprintf("{%s}(%s)", r.Text, r.Image.URL)
				}
			}
			if !s.Link.Empty() {
				text = fmt.Sprintf("[%s](%s)", text, s.Link.URL)
			}
			b.WriteString(text)
		}
		b.WriteString(spans(block.Children))
	}
	return b.String()
}

func markdown(t *testing.T, document, text string) []*Block {
	blocks, ok := markup.Markdown(text)
	if !ok {
		t.Fatalf("%q is beyond the limits", text)
	}
	return slices.Collect(pageOf(t, document).Prose(slices.Values(blocks), 1))
}

// TestLinks tests where the links and pictures of a text lead, and which pictures are shown.
func TestLinks(t *testing.T) {
	const ftp, gopher = "ftp://h.example/a/b.md", "gopher://h.example/0/a/b.md"
	for _, tc := range []struct{ document, text, want string }{
		{ftp, "[c](d.md#E-f)", "[c](/ftp/h.example/a/d.md#doc-E-f)"},
		{ftp, "[c](#e)", "[c](#doc-e)"},
		{ftp, "[c](https://w.example/#e)", "[c](https://w.example/#e)"},
		{ftp, "[c *d*](e)", "[c d](/ftp/h.example/a/e)"},
		{ftp, "[c](javascript:alert(1)) [d](data:text/html,x) [e](file:///etc/passwd) [f](../../..#g)", "c (javascript:alert(1)) d (data:text/html,x) e (file:///etc/passwd) f (../../..#g)"},
		{ftp, "[c](<x:\x1b>)\x1b", "c (x:<1B>)<1B>"},
		{ftp, "![c](d.png)", "[{c}(/ftp/h.example/a/d.png?raw)](/ftp/h.example/a/d.png)"},
		{ftp, "[![c](d.png)](e)", "[{c}(/ftp/h.example/a/d.png?raw)](/ftp/h.example/a/e)"},
		{ftp, "![c](ftp://H.example:21/d.png)", "[{c}(/ftp/H.example:21/d.png?raw)](/ftp/H.example:21/d.png)"},
		{ftp, "![c](d.txt)", "[c](/ftp/h.example/a/d.txt)"},
		{ftp, "![c](ftp://other.example/d.png)", "[c](/ftp/other.example/d.png)"},
		{ftp, "![c](ftp://h.example:2121/d.png)", "[c](/ftp/h.example:2121/d.png)"},
		{ftp, "![c](gopher://h.example/I/d.png)", "[c](/gopher/h.example/I/d.png)"},
		{ftp, "![c](https://h.example/d.png)", "[c](https://h.example/d.png)"},
		{ftp, "![c](data:image/png;base64,x)", "c"},
		{gopher, "![c](d.png) [e](f.md)", "[{c}(/gopher/h.example/I/a/d.png?raw)](/gopher/h.example/I/a/d.png) [e](/gopher/h.example/0/a/f.md)"},
		{gopher, "![c](gopher://h.example/7/d.png?x)", "[c](/gopher/h.example/7/d.png%3Fx)"},
	} {
		if got := spans(markdown(t, tc.document, tc.text)); got != tc.want {
			t.Errorf("%s, %q:\n got %s\nwant %s", tc.document, tc.text, got, tc.want)
		}
	}
}

// TestManyPictures tests that the browser fetches only some of many pictures.
func TestManyPictures(t *testing.T) {
	text := spans(markdown(t, "ftp://h.example/b.md", strings.Repeat("![c](d.png)\n\n", 3*maxPictures)))
	if shown, links := strings.Count(text, "?raw"), strings.Count(text, "]("); shown != maxPictures || links != 3*maxPictures {
		t.Errorf("%d pictures are shown, %d are links", shown, links)
	}
}

// TestHeadings tests that headings are below those of the page, and their names are not names of it.
func TestHeadings(t *testing.T) {
	for i, b := range markdown(t, "ftp://h.example/b.md", "# main\n## main\n###### filter") {
		if want := []int{2, 3, 6}[i]; b.Level != want || !strings.HasPrefix(b.ID, docID) {
			t.Errorf("%d, %s; want %d", b.Level, b.ID, want)
		}
	}
}

// TestRFC tests which RFCs are known to be in the folder of a document.
func TestRFC(t *testing.T) {
	const text = "1. One\n\nSee RFC 822, Section 1, [RFC2616], Section 3.2.\x1b\n"
	for document, want := range map[string]string{
		"ftp://h.example/rfc/rfc1738.txt":  "1. One\n\nSee [RFC 822, Section 1](/ftp/h.example/rfc/rfc822.txt#section-1), [[RFC2616], Section 3.2](/ftp/h.example/rfc/rfc2616.txt#section-3.2).<1B>",
		"ftp://h.example/rfc/RFC0010.TXT":  "1. One\n\nSee [RFC 822, Section 1](/ftp/h.example/rfc/RFC0822.TXT#section-1), [[RFC2616], Section 3.2](/ftp/h.example/rfc/RFC2616.TXT#section-3.2).<1B>",
		"gopher://h.example/0/rfc10.txt":   "1. One\n\nSee [RFC 822, Section 1](/gopher/h.example/0/rfc822.txt#section-1), [[RFC2616], Section 3.2](/gopher/h.example/0/rfc2616.txt#section-3.2).<1B>",
		"ftp://h.example/draft-ietf-a.txt": "1. One\n\nSee RFC 822, Section 1, [RFC2616], Section 3.2.<1B>",
		"gopher://h.example/0rfc10.txt":    "1. One\n\nSee RFC 822, Section 1, [RFC2616], Section 3.2.<1B>",
	} {
		var b strings.Builder
		for p := range pageOf(t, document).RFC(text) {
			for bit := range p.Bits {
				if bit.Link.Empty() {
					b.WriteString(bit.Text)
				} else {
					fmt.Fprintf(&b, "[%s](%s)", bit.Text, bit.Link.URL)
				}
			}
		}
		if got := b.String(); got != want {
			t.Errorf("%s:\n got %q\nwant %q", document, got, want)
		}
	}
}

// TestNumbered tests that each line has one number, wherever pieces end.
func TestNumbered(t *testing.T) {
	pieces := []Piece{{Text: "a\n\nb"}, {Text: "c\nd", Link: place.At("/x")}, {Text: "\n"}, {Text: "e\n"}}
	got := ""
	for bit := range Numbered(slices.Values(pieces)) {
		got += fmt.Sprintf("%d%q%s ", bit.Line, bit.Text, bit.Link.URL)
	}
	if want := `1"a\n" 2"\n" 3"b" 0"c\n"/x 4"d"/x 0"\n" 5"e\n" `; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestManyLines tests that a text of lines alone does not become a page of numbers alone, and that the
// template gets few parts of the rest, but all of it.
func TestManyLines(t *testing.T) {
	last, parts, octets := 0, 0, 0
	for bit := range Numbered(slices.Values([]Piece{{Text: strings.Repeat("\n", 2*maxNumbered)}})) {
		last, parts, octets = max(last, bit.Line), parts+1, octets+len(bit.Text)
	}
	if last != maxNumbered || parts != maxNumbered+1 || octets != 2*maxNumbered {
		t.Errorf("%d lines have numbers, in %d parts of %d octets", last, parts, octets)
	}
}
