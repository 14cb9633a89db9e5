package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/testserver"
)

func TestDemo(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	got := runVerb(t, "demo", "")
	if got.code != 0 || got.err != "" {
		t.Errorf("code %d: %s%s", got.code, got.err, got.out)
	}
	if left, err := filepath.Glob(filepath.Join(temporary, "*")); err != nil || len(left) > 0 {
		t.Errorf("it leaves %v behind: %v", left, err)
	}
	for line := range strings.Lines(got.out) {
		if line = strings.TrimSuffix(line, "\n"); len(line) > demoColumns && !strings.Contains(line, temporary) {
			t.Errorf("%d columns: %s", len(line), line)
		}
		if !printable(line) || strings.TrimRight(line, " ") != line {
			t.Errorf("not for every terminal: %q", line)
		}
	}
	skeleton := demoSkeleton(got.out, temporary)
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
	// What went over the wire, in the order of RFC 1738 §3.2.2 and in one line each.
	inOrder(t, got.out, "> USER anonymous", "> PASS ****", "> CWD pub", "> TYPE I", "> RETR octets.bin", "< (1738 octets of data)", "< 226 ",
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

// A step that fails is told, and does not keep the others from being shown.
func TestDemoFails(t *testing.T) {
	serving := func(content fstest.MapFS, fault ...testserver.Fault) func(context.Context, fs.FS) (string, func(), error) {
		return func(ctx context.Context, _ fs.FS) (string, func(), error) {
			srv, err := testserver.StartFTP(ctx, "", func(s *testserver.FTP) { s.Content = content })
			if err != nil {
				return "", nil, err
			}
			srv.On("RETR", 1, fault...)
			return srv.URL, func() { srv.Close() }, nil
		}
	}
	wrong := fstest.MapFS{"a": {Data: []byte("other octets")}}
	for _, tc := range []struct {
		scheme demoScheme
		want   string
	}{
		{demoScheme{name: "ftp", start: serving(wrong), document: "/a"}, "FAILED: 12 octets that are not those of the original"},
		{demoScheme{name: "ftp", start: serving(wrong), document: "/missing"}, "FAILED: RETR ftp://"},
		{demoScheme{name: "ftp", start: serving(wrong, testserver.Truncate(3), testserver.Reply("426 aborted")), document: "/a"}, "cut short"},
		{demoScheme{name: "none", start: playing("none")}, "FAILED: no server for none"},
	} {
		var out bytes.Buffer
		d, err := newDemo(&out)
		if err != nil {
			t.Fatal(err)
		}
		d.schemes, d.refused = []demoScheme{tc.scheme}, nil
		d.run(t.Context())
		d.resolver.Close()
		if d.failures != 1 || !strings.Contains(strings.Join(strings.Fields(out.String()), " "), tc.want) {
			t.Errorf("want %q in %d failures:\n%s", tc.want, d.failures, out.String())
		}
		if strings.Contains(out.String(), "the same") {
			t.Errorf("a failed demonstration praises itself:\n%s", out.String())
		}
	}
}

// A listing that is not that of the sample, and a URL that should have been
// refused, are failures too.
func TestDemoFailsLater(t *testing.T) {
	var out bytes.Buffer
	d, err := newDemo(&out)
	if err != nil {
		t.Fatal(err)
	}
	defer d.resolver.Close()
	srv := testserver.NewFTP(t, func(s *testserver.FTP) {
		s.Content = fstest.MapFS{demoDocument: {Data: d.document}}
	})
	d.schemes = []demoScheme{{
		name: "ftp", document: "/" + demoDocument, listing: "/" + demoFolder + "/",
		start: func(context.Context, fs.FS) (string, func(), error) { return srv.URL, func() {}, nil },
	}}
	d.refused = []string{srv.URL + "/" + demoDocument}
	d.run(t.Context())
	if d.failures != 2 || !strings.Contains(out.String(), "FAILED: 1 entries in place of 4") || !strings.Contains(out.String(), "was not refused") {
		t.Errorf("%d failures:\n%s", d.failures, out.String())
	}
}

func TestFoldText(t *testing.T) {
	for _, tc := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 10, ""}, {"one two three", 7, "one two|three"}, {"one two three", 6, "one|two|three"}, {"unbreakable word", 5, "unbreakable|word"},
	} {
		if got := strings.Join(foldText(tc.text, tc.width), "|"); got != tc.want {
			t.Errorf("%q in %d: %q", tc.text, tc.width, got)
		}
	}
}

func TestConversation(t *testing.T) {
	var c conversation
	trace := c.trace()
	trace.Sent([]byte("USER a\r\nPA"))
	trace.Received([]byte("331-one\r\n331 t"))
	trace.Sent([]byte("SS ****\r\n"))
	trace.Received([]byte("wo\n\x1b[2J\xff\r\n\r\n"))
	trace.Body(10)
	trace.Note("a remark")
	trace.Body(7)
	trace.Received([]byte(strings.Repeat("x", 200) + "\n"))
	want := []string{"> USER a", "< 331-one", "> PASS ****", "< 331 two", `< "\x1b[2J\xff"`, "< (17 octets of data)", "* a remark", "< " + strings.Repeat("x", 67) + "..."}
	if got := c.shown(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q", got)
	}
}

// Every scheme of the table is demonstrated, or one that goes by the same Fetcher.
func TestDemoHasEveryScheme(t *testing.T) {
	shown := []string{demoMail[:strings.Index(demoMail, ":")]}
	for _, s := range demoSchemes() {
		shown = append(shown, s.name)
	}
	for _, row := range fetch1738.Builtin() {
		if !slices.ContainsFunc(row.Names, func(name string) bool { return slices.Contains(shown, name) }) {
			t.Errorf("%v is not demonstrated", row.Names)
		}
	}
}
