package extract

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/verbtest"
	"github.com/fetch1738/fetch1738/locator"
)

// A large text costs no more memory than a small one.
func TestExtractMemory(t *testing.T) {
	const line = "A line of text with http://host.example/a/url?in=it and more words behind.\n"
	const lines = 1 << 18
	var out verbtest.Counter
	if got := verbtest.HeapGrowth(func() {
		text := io.LimitReader(&repeated{text: line}, lines*int64(len(line)))
		if code := Command().Run(t.Context(), nil, stdio.Streams{In: text, Out: &out, Err: io.Discard}); code != 0 {
			t.Errorf("code %d", code)
		}
	}); got > 16<<20 { // what is garbage depends on how often it is collected
		t.Errorf("%d MiB of text took %d octets of memory", lines*len(line)>>20, got)
	}
	if want := lines * len("http://host.example/a/url?in=it\n"); out.N != want {
		t.Errorf("%d octets of URLs, want %d", out.N, want)
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

	got := verbtest.Run(t, Command(), "http://h/in", one, "-", two)
	if want := "http://h/1\nhttp://h/in\nhttp://h/2\n"; got.Code != 0 || got.Out != want || got.Err != "" {
		t.Errorf("%+v", got)
	}
	// A file that can't be read does not keep the others from being read.
	got = verbtest.Run(t, Command(), "", missing, one, dir)
	if got.Code != 26 || got.Out != "http://h/1\n" {
		t.Errorf("%+v", got)
	}
	if lines := strings.Split(got.Err, "\n"); len(lines) != 3 || !strings.Contains(lines[0], missing) || !strings.HasPrefix(lines[0], "fetch1738: (26) extract: ") {
		t.Errorf("%q", got.Err)
	}
}

// Whatever the text, every line is a URL that parses, and JSON is JSON.
func FuzzExtract(f *testing.F) {
	for _, seed := range []string{"", "<URL:ftp://a.b/c;\ntype=d>", "http://h/a-\nb", "see http://h/x#y.", "<<http://h/>>", "http://[::1]/\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for line := range strings.Lines(verbtest.Run(t, Command(), text, "--json").Out) {
			verbtest.OneJSONLine(t, line)
		}
		for line := range strings.Lines(verbtest.Run(t, Command(), text, "--strict").Out) {
			url, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "#")
			if _, err := (locator.Parser{}).Parse(url); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
	})
}
