package extract

import (
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fetch1738/fetch1738/locator"
)

// urlsOf returns the URLs in the text of r, read in pieces of the given size.
func urlsOf(t *testing.T, r io.Reader, size int) []string {
	t.Helper()
	var urls []string
	for text, err := range pieces(r, size) {
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > size {
			t.Fatalf("piece of %d bytes, want at most %d", len(text), size)
		}
		for ref := range (locator.Parser{}).Extract(text) {
			urls = append(urls, ref.String())
		}
	}
	return urls
}

const smallPiece = 2*locator.MaxLength + 4096

// A URL is found even if the border of a piece would fall inside it.
func TestExtractAcrossPieces(t *testing.T) {
	for _, tc := range []struct{ text, url string }{
		{"see http://host.example/path now ", "http://host.example/path"},
		{"see <URL:ftp://ds.in\nternic.net/rfc> now ", "ftp://ds.internic.net/rfc"},
		{"see <http://host.example/a#b>, ", "http://host.example/a#b"},
		{`"http://host.example/quoted",`, "http://host.example/quoted"},
		{"<URL:http://h/" + strings.Repeat("long\n ", 10000) + "end>", "http://h/" + strings.Repeat("long", 10000) + "end"},
	} {
		step := max(1, len(tc.text)/23)
		for into := 0; into <= len(tc.text); into += step {
			filler := strings.Repeat("word ", smallPiece/5+1)[:smallPiece-into]
			text := filler[:len(filler)-1] + " " + tc.text + filler
			if got := urlsOf(t, strings.NewReader(text), smallPiece); !slices.Equal(got, []string{tc.url}) {
				t.Fatalf("%.30q, border at byte %d: found %.100q", tc.text, into, got)
			}
		}
	}
}

// Splitting into pieces does not change which URLs are found.
func TestExtractPiecesAgree(t *testing.T) {
	words := []string{
		"http://h/a", "<URL:ftp://h/b\n c>", "<", ">", " ", "\n", "\"", "xhttp://h/", "word", "news:*", "mailto:a@b", "<http://h/#f>",
		"<URL:", "(http://h/d).", "ftp://h/e;type=a,", "\x00", "\xff\xfe", "gopher://h/1-\n",
	}
	rare := []string{
		"<URL:http://h/" + strings.Repeat("y ", 20000) + ">", "http://h/" + strings.Repeat("z", 50000),
		strings.Repeat("x", 3000), strings.Repeat("<", 100), "<URL:" + strings.Repeat("w ", 20000),
	}
	rng := rand.New(rand.NewPCG(1738, 1994))
	for round := range 8 {
		var b strings.Builder
		for b.Len() < 1<<20 {
			if rng.IntN(2000) == 0 {
				b.WriteString(rare[rng.IntN(len(rare))])
			}
			b.WriteString(words[rng.IntN(len(words))])
			if rng.IntN(3) > 0 {
				b.WriteByte(' ')
			}
		}
		text := b.String()
		var want []string
		for ref := range (locator.Parser{}).Extract(text) {
			want = append(want, ref.String())
		}
		if len(want) < 100 {
			t.Fatalf("only %d URLs in the text", len(want))
		}
		got := urlsOf(t, iotest.HalfReader(strings.NewReader(text)), smallPiece+rng.IntN(4096))
		if !slices.Equal(got, want) {
			i := 0
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			t.Fatalf("round %d: found %d URLs, want %d; the first difference is number %d: %.80q", round, len(got), len(want), i, append(got, "")[i])
		}
	}
}

// A long run without delimiters is skipped, not kept in memory.
func TestExtractWithoutBorders(t *testing.T) {
	text := io.MultiReader(
		strings.NewReader("http://h/before "),
		io.LimitReader(zeros{}, 8<<20),
		strings.NewReader("http://h/inside http://h/after"),
	)
	want := []string{"http://h/before", "http://h/after"}
	if got := urlsOf(t, text, smallPiece); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// zeros is an endless reader of the digit 0.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// What stands within a URL and is no part of it is removed.
func TestUnescaped(t *testing.T) {
	for text, want := range map[string]string{
		"http://h:\x1b[1m80\x1b[22m/ \x1b[2J":            "http://h:80/ \x1b[2J",
		`{"u":"http:\/\/h\/?a=b\u0026c\u003dd\u00e4\n"}`: `{"u":"http://h/?a=b&c=d\u00e4\n"}`,
		`http://h/a\_b?c\&d\%41&amp;e&amp;amp;f`:         `http://h/a_b?c&d%41&e&amp;f`,
		`\d \ `:                                          `\d \ `,
	} {
		if got := unescaped(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
