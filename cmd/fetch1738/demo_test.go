package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/verbtest"
)

func TestDemo(t *testing.T) {
	const columns = 80 // of the narrowest terminal
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	got := runVerb(t, "demo", "")
	if got.Code != 0 || got.Err != "" {
		t.Errorf("code %d: %s%s", got.Code, got.Err, got.Out)
	}
	if left, err := filepath.Glob(filepath.Join(temporary, "*")); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v behind: %v", left, err)
	}
	for line := range strings.Lines(got.Out) {
		if line = strings.TrimSuffix(line, "\n"); len(line) > columns && !strings.Contains(line, temporary) {
			t.Errorf("%d columns: %s", len(line), line)
		}
		if !verbtest.Printable(line) || strings.TrimRight(line, " ") != line {
			t.Errorf("not for every terminal: %q", line)
		}
	}
	skeleton := demoSkeleton(got.Out, temporary)
	if *update {
		if err := os.WriteFile("testdata/demo.golden", []byte(skeleton), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/demo.golden")
	if err != nil {
		t.Fatal(err)
	}
	if skeleton != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", skeleton, want)
	}
	// What went over the wire, in one line each.
	inOrder(t, got.Out, "> USER anonymous", "> PASS ****", "> TYPE I", "> CWD pub", "> RETR octets.bin", "< (1738 bytes of data)", "< 226 ",
		"gopher://", "> /pub/octets.bin", "http://", "> GET /pub/octets.bin HTTP/1.1", "< HTTP/1.1 200 ")
}

// demoSkeleton is the demonstration without its conversations, and without what
// differs from run to run.
func demoSkeleton(text, temporary string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !regexp.MustCompile(`^ +[<>*] `).MatchString(line) {
			b.WriteString(line)
		}
	}
	text = strings.ReplaceAll(b.String(), strings.TrimPrefix(filepath.ToSlash(temporary), "/"), "TMP")
	text = regexp.MustCompile(`fetch1738-demo-\d+`).ReplaceAllString(text, "fetch1738-demo-N")
	text = regexp.MustCompile(`127\.0\.0\.1:\d{4,5}/`).ReplaceAllString(text, "127.0.0.1:PORT/")
	return regexp.MustCompile(`\d+\.\d ms`).ReplaceAllString(text, "N ms")
}

func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		_, rest, found := strings.Cut(text, part)
		if !found {
			t.Errorf("%q is missing, or too early", part)
			continue
		}
		text = rest
	}
}
