package main

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/archive/warc"
)

// archiveFile writes captures of two times to a WARC file and returns its name.
func archiveFile(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "site.warc.gz")
	w, err := warc.CreateFile(name, warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][4]string{
		{"gopher://h.example/0file", "text/plain", "1994-12-01T23:00:00Z", "first\r\n"},
		{"gopher://h.example/0file", "text/plain", "1996-01-01T00:00:00Z", "second\r\n"},
		{"ftp://h.example/file", "text/plain", "1996-01-01T00:00:00Z", "12345"},
	} {
		block := warc.NewBlock()
		defer block.Close()
		io.WriteString(block, c[3])
		err := w.Write(warc.Draft{Block: block, Header: warc.Header{
			{Name: warc.FieldType, Value: "resource"}, {Name: warc.FieldTargetURI, Value: c[0]}, {Name: warc.FieldContentType, Value: c[1]}, {Name: warc.FieldDate, Value: c[2]}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestServeArchive tests that each site has a server, with the captures of a time.
func TestServeArchive(t *testing.T) {
	name := archiveFile(t)
	for at, want := range map[string]string{"": "second\r\n.\r\n", "1994-12-01": "first\r\n.\r\n", "1994-12-01T22:00:00Z": "first\r\n.\r\n", "1996-01-01T01:00:00+01:00": "second\r\n.\r\n"} {
		s := startServe(t, 2, "--archive", name, "--at", at)
		local, site, _ := strings.Cut(s.urls[1], "\t")
		if !strings.HasPrefix(local, "gopher://127.0.0.1:") || site != "gopher://h.example/" || !strings.HasSuffix(s.urls[0], "\tftp://h.example/") {
			t.Fatalf("it shows %q", s.urls)
		}
		if got := converse(t, local, "file\r\n"); got != want {
			t.Errorf("at %q: %q, want %q", at, got, want)
		}
		if code := s.stop(); code != 0 || s.log.String() != "fetch1738: serving until interrupted\n" {
			t.Errorf("code %d: %s", code, s.log.String())
		}
	}
}

// TestArchiveRefuses tests the messages of the verbs that show an archive.
func TestArchiveRefuses(t *testing.T) {
	name := archiveFile(t)
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"serve", "--archive", name + ".missing"}, 26, "missing"},
		{[]string{"serve", "--archive", name, "--at", "yesterday"}, 26, `--at "yesterday" is not a day such as 1994-12-01`},
		{[]string{"serve", "--archive", name, "--gopher", "0"}, 2, "--archive serves each site on a free port"},
		{[]string{"serve", "--archive", name, "--public"}, 2, "--archive serves each site on a free port"},
		{[]string{"serve", "--at", "1994-12-01"}, 2, "--at is for --archive"},
		{[]string{"gateway", "--at", "1994-12-01"}, 2, "--at is for --archive"},
		{[]string{"gateway", "--archive", name + ".missing"}, 26, "missing"},
		{[]string{"gateway", "--archive", name, "--open", "ftp://h.example/"}, 2, "without --archive"},
	} {
		got := runVerb(t, tc.args[0], "", tc.args[1:]...)
		if got.code != tc.code || got.out != "" || !strings.Contains(got.err, tc.want) {
			t.Errorf("%q: %+v", tc.args, got)
		}
		oneLine(t, got.err)
	}
}

// TestGatewayArchive tests that the gateway shows an archive.
func TestGatewayArchive(t *testing.T) {
	g := startGateway(t, "--archive", archiveFile(t), "--at", "1994-12-01")
	if status, body := g.get(t, "/gopher/h.example/0file"); status != 200 || body != "first\r\n" {
		t.Errorf("%d, %q", status, body)
	}
	html := func(r *http.Request) { r.Header.Set("Accept", "text/html") }
	if status, body := g.get(t, "/?q=FILE+h.example", html); status != 200 || !strings.Contains(body, `href="/gopher/h.example/0file"`) || !strings.Contains(body, "as of 1994-12-01") {
		t.Errorf("%d, %q", status, body)
	}
	if status, body := g.get(t, "/ftp/other.example/", html); status != 404 || !strings.Contains(body, "The archive has nothing of this server.") {
		t.Errorf("%d, %q", status, body)
	}
	if status, body := g.get(t, "/at/9999/gopher/h.example/0file"); status != 200 || body != "second\r\n" {
		t.Errorf("another time than that of --at: %d, %q", status, body)
	}
	if status, body := g.get(t, "/gopher/h.example/0file", html); status != 200 || !strings.Contains(body, "1 of 2") || !strings.Contains(body, `href="/at/`) {
		t.Errorf("the bar: %d, %q", status, body)
	}
	if status, body := g.get(t, "/gopher/h.example/0file?timemap"); status != 200 || strings.Count(body, "memento") != 2 {
		t.Errorf("the TimeMap: %d, %q", status, body)
	}
	if code := g.stop(); code != 0 {
		t.Errorf("code %d", code)
	}
}
