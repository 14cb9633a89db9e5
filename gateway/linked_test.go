package gateway

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/textview"
	"github.com/fetch1738/fetch1738/internal/text/charset"
)

// written writes pieces as text, with links in square brackets.
func written(pieces []textview.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.Link.Empty() {
			b.WriteString(p.Text)
		} else {
			path, _, _ := strings.Cut(string(p.Link.URL), ":") // or the scheme of a URL
			fmt.Fprintf(&b, "[%s](%s)", p.Text, path)
		}
	}
	return b.String()
}

func TestLinked(t *testing.T) {
	v := &request{h: &Handler{}, prefix: "/net"}
	for text, want := range map[string]string{
		"":      "",
		"plain": "plain",
		"see ftp://host/pub/, gopher://host/1/a.":         "see [ftp://host/pub/](/net/ftp/host/pub/), [gopher://host/1/a](/net/gopher/host/1/a).",
		"<URL:ftp://host/a\r\n  b> and <ftp://host/c>":    "<URL:[ftp://host/a\n  b](/net/ftp/host/ab)> and <[ftp://host/c](/net/ftp/host/c)>",
		"http://host/ mailto:a@host news:comp.lang.c":     "[http://host/](http) [mailto:a@host](/net/mailto/a@host) [news:comp.lang.c](/net/news/comp.lang.c)",
		"file:///etc/passwd javascript://host/%0aalert()": "file:///etc/passwd javascript://host/%0aalert()",
		"ftp://host/a ftp://host/a":                       "[ftp://host/a](/net/ftp/host/a) [ftp://host/a](/net/ftp/host/a)",
		"ftp://u:secret@host/a":                           "[ftp://u:secret@host/a](/net/ftp/host/a)",
		"a\r\nb\rc\fd\te\n\n":                             "a\nb\nc\nd\te\n\n",
		"\x1b[1mbold\x00\x07 \u202eleft \x85 \xe4":        "<1B>[1mbold<00><07> <202E>left <85> ä",
		"a < b > c ftp://host/<x>":                        "a < b > c [ftp://host/](/net/ftp/host/)<x>",
	} {
		if got := written(v.linked(text)); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

// TestLinkedFrom tests that a long document has the links that it has in one piece.
func TestLinkedFrom(t *testing.T) {
	v := &request{h: &Handler{}}
	for name, line := range map[string]string{
		"lines":     "Grüße at ftp://host/pub/\r\n",
		"wrapped":   "text <URL:ftp://host/a\n b>\r\n",
		"words":     "Grüße at ftp://host/pub/ ",
		"one word":  "ü",
		"CR":        "a\r\n",
		"no ending": "<<<<",
	} {
		text := strings.Repeat(line, 100_000/len(line))
		failed := func(err error) { t.Errorf("%s: %v", name, err) }
		var b strings.Builder
		for p := range textview.Pieces(textview.Parts(iotest.OneByteReader(strings.NewReader(text)), charset.Guess([]byte(text)), failed), v.linked) {
			b.WriteString(written([]textview.Piece{p}))
		}
		if want := written(v.linked(text)); b.String() != want {
			t.Errorf("%s: %d bytes, want %d", name, b.Len(), len(want))
		}
	}
}

// TestLinkedFromError tests that what has come before an error is shown, and the error reported.
func TestLinkedFromError(t *testing.T) {
	v := &request{h: &Handler{}}
	cause := errors.New("broken")
	var got error
	var b strings.Builder
	for p := range textview.Pieces(textview.Parts(io.MultiReader(strings.NewReader("begin"), iotest.ErrReader(cause)), charset.Charset{}, func(err error) { got = err }), v.linked) {
		b.WriteString(p.Text)
	}
	if got != cause || b.String() != "begin" {
		t.Errorf("%q, %v", b.String(), got)
	}
}

func FuzzLinked(f *testing.F) {
	f.Add("a <URL:ftp://host/a\r\nb> \x1b\u202e <ftp://host/>.")
	f.Fuzz(func(t *testing.T, text string) {
		v := &request{h: &Handler{}}
		var b strings.Builder
		for _, p := range v.linked(text) {
			b.WriteString(p.Text)
		}
		if b.String() == "" && text != "" || strings.ContainsAny(b.String(), "\x00\x1b\r\f\u202e\u2066") {
			t.Errorf("%q is shown as %q", text, b.String())
		}
	})
}

func TestPieceLines(t *testing.T) {
	to := place.At("/x")
	lines := textview.PieceLines([]textview.Piece{{Text: "a\n\nb "}, {Text: "li\nnk", Link: to}, {Text: "\n"}})
	if got, want := fmt.Sprint(lines), fmt.Sprint([][]textview.Piece{{{Text: "a"}}, nil, {{Text: "b "}, {Text: "li", Link: to}}, {{Text: "nk", Link: to}}, nil}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
