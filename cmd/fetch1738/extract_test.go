package main

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/locator"
)

// urlsOf is what is found in text of a Reader, cut into pieces of size.
func urlsOf(t *testing.T, r io.Reader, size int) []string {
	t.Helper()
	var urls []string
	for text, err := range pieces(r, size) {
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > size {
			t.Fatalf("a piece of %d octets", len(text))
		}
		for ref := range locator.Extract(text) {
			urls = append(urls, ref.String())
		}
	}
	return urls
}

const smallPiece = 2*locator.MaxLength + 4096

// A URL is found wherever the border of a piece happens to lie in it.
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
				t.Fatalf("%.30q with the border at %d: %.100q", tc.text, into, got)
			}
		}
	}
}

// Pieces do not change what is found.
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
		for ref := range locator.Extract(text) {
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
			t.Fatalf("round %d: %d URLs in place of %d; they differ from number %d on: %.80q", round, len(got), len(want), i, append(got, "")[i])
		}
	}
}

// What has no borders is passed over, not kept.
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

// A large text costs no more memory than a small one.
func TestExtractMemory(t *testing.T) {
	const line = "A line of text with http://host.example/a/url?in=it and more words behind.\n"
	const lines = 1 << 19
	var out countingWriter
	if got := heapGrowth(func() {
		text := io.LimitReader(&repeated{text: line}, lines*int64(len(line)))
		if code := run(t.Context(), []string{"extract"}, stdio.Streams{text, &out, io.Discard}); code != 0 {
			t.Errorf("code %d", code)
		}
	}); got > 16<<20 {
		t.Errorf("%d MiB of text took %d octets of memory", lines*len(line)>>20, got)
	}
	if want := lines * len("http://host.example/a/url?in=it\n"); out.n != want {
		t.Errorf("%d octets of URLs, want %d", out.n, want)
	}
}

// repeated is text over and over.
type repeated struct {
	text string
	i    int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		k := copy(p[n:], r.text[r.i:])
		r.i = (r.i + k) % len(r.text)
		n += k
	}
	return n, nil
}

func TestExtractFiles(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	for name, text := range map[string]string{one: "http://h/1", two: "<http://h/2"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	missing := filepath.Join(dir, "missing")

	got := runVerb(t, "extract", "http://h/in", one, "-", two)
	if want := "http://h/1\nhttp://h/in\nhttp://h/2\n"; got.code != 0 || got.out != want || got.err != "" {
		t.Errorf("%+v", got)
	}
	// A file that can't be read does not keep the others from being read.
	got = runVerb(t, "extract", "", missing, one, dir)
	if got.code != 26 || got.out != "http://h/1\n" {
		t.Errorf("%+v", got)
	}
	if lines := strings.Split(got.err, "\n"); len(lines) != 3 || !strings.Contains(lines[0], missing) || !strings.HasPrefix(lines[0], "fetch1738: (26) extract: ") {
		t.Errorf("%q", got.err)
	}
}

// Whatever the text, every line is a URL that parses, and JSON is JSON.
func FuzzExtract(f *testing.F) {
	for _, seed := range []string{"", "<URL:ftp://a.b/c;\ntype=d>", "http://h/a-\nb", "see http://h/x#y.", "<<http://h/>>", "http://[::1]/\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for line := range strings.Lines(runVerb(t, "extract", text, "--json").out) {
			oneJSONLine(t, line)
		}
		for line := range strings.Lines(runVerb(t, "extract", text, "--strict").out) {
			url, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "#")
			if _, err := locator.Parse(url); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
	})
}
