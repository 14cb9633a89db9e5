package main

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/verbtest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
)

// unread returns a pipe that nobody reads any more, as after "| head -1".
func unread(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	t.Cleanup(func() { w.Close() })
	return w
}

// Every verb ends without a word when nobody reads its output any more.
func TestOutputUnread(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	files := (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(dir), "/") + "/"}).String()
	gopher := gophertest.New(t, func(s *gophertest.Server) {
		s.Content = fstest.MapFS{"text": {Data: []byte("word")}}
		s.Search = func(_, words string) []gophertest.MenuLine {
			return []gophertest.MenuLine{{Type: '0', Display: words, Selector: "/text"}}
		}
	})
	archie := prosperotest.New(t, func(s *prosperotest.Server) {
		s.Content, s.Site = fstest.MapFS{"db/word": {Data: []byte("word")}}, "ftp.example.org"
	})
	archive := verbtest.ArchiveFile(t)
	covered := make(map[string]bool)
	for _, line := range [][]string{
		{files + "a"}, {"--list", files}, {"--json", files}, {"--json", files + "a"}, {"-I", files + "a"}, {"-Z", files + "a", files + "b"},
		{"-o", os.DevNull, "-w", "%{url}", files + "a"}, {"--stderr", "-", "-v", "-o", os.DevNull, files + "a"}, {"--list", gopher.URL + "/"},
		{"--help"}, {"--version"}, {"parse", files}, {"parse", "--json", files}, {"parse", "--help"}, {"explain", files}, {"extract"},
		{"browse", files}, {"ls", files}, {"ls", "-R", files}, {"ls", "--json", files}, {"stat", files + "a"}, {"du", files},
		{"mkdir", "-v", files + "c"}, {"mv", "-v", files + "a", files + "d"}, {"rm", "-v", "-f", files + "b"}, {"search", gopher.URL + "/7/", "word"},
		{"search", "--json", gopher.URL + "/7/", "word"}, {"archie", "--archie-server", strings.TrimPrefix(archie.URL, "prospero://"), "word"},
		{"mirror", "--dry-run", gopher.URL + "/", t.TempDir()}, {"mirror", "--json", gopher.URL + "/", t.TempDir()}, {"mirror", "--help"},
		{"crawl", "--wait", "0", "--dir", t.TempDir(), gopher.URL + "/"}, {"crawl", "--json", "--wait", "0", "--dir", t.TempDir(), gopher.URL + "/"},
		{"gateway", "--port", "0"}, {"serve"}, {"serve", "--archive", archive}, {"serve", "--control", "127.0.0.1:0"}, {"judge", "--cases"},
		{"warc", "list", archive}, {"warc", "list", "--json", archive}, {"warc", "verify", archive}, {"warc", "verify", "--json", archive},
		{"warc", "get", archive, "ftp://h.example/file"}, {"warc", "index", archive}, {"demo"}, {"help"}, {"help", "all"}, {"help", "verbs"},
		{"completion", "bash"}, {"manual"},
	} {
		if verb := verbNamed(line); verb != nil {
			covered[verb.Name] = true
		}
		var err bytes.Buffer
		args := line
		if verbNamed(line) == nil {
			args = append([]string{"-q"}, line...)
		}
		code := run(t.Context(), args, stdio.Streams{In: strings.NewReader("http://h/\n"), Out: unread(t), Err: &err})
		if code != exit.Write || err.Len() > 0 {
			t.Errorf("%q: code %d, %q", line, code, err.String())
		}
	}
	for _, c := range commands() {
		if !covered[c.Name] {
			t.Errorf("%s is not in the table", c.Name)
		}
	}
}

// The signal of such a pipe ends no process: there may be something to clean up.
func TestOutputUnreadProcess(t *testing.T) {
	for _, args := range [][]string{{"parse", "http://h/"}, {"-q", "--version"}} {
		cmd := program(t, args...)
		var err bytes.Buffer
		cmd.Stdout, cmd.Stderr = unread(t), &err
		_ = cmd.Run()
		if code := cmd.ProcessState.ExitCode(); code != exit.Write || err.Len() > 0 {
			t.Errorf("%q: %v, %q", args, cmd.ProcessState, err.String())
		}
	}
}
