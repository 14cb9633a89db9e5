package interop

import (
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/replay"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// serveArchive serves an archive, until the test ends.
func serveArchive(t *testing.T, name string) []replay.Served {
	t.Helper()
	a, err := archive.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	past, err := replay.New(a, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { past.Close() })
	served, err := past.Serve(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return served
}

// servePast records servers, ends them, and serves the archive. It returns the local URLs, with a
// slash at the end, by the URLs of the servers.
func servePast(t *testing.T, ftpServer *ftptest.Server, site *gophertest.Server, web *webtest.Server) map[string]string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "past")
	w, err := warc.Create(dir, warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &fetch1738.Resolver{Recorder: (&archive.Recorder{Writer: w}).Record}
	defer r.Close()
	for _, url := range []string{ftpServer.URL + "/", ftpServer.URL + "/pub/", ftpServer.URL + "/motd.txt", ftpServer.URL + "/pub/a.txt",
		site.URL + "/", site.URL + "/1/pub", site.URL + "/0/motd.txt", web.URL + "/page.html"} {
		req, err := r.Request(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(url, "/pub/") {
			req.Options = &ftp.Options{Facts: true} // so that LIST has to be made from MLSD
		}
		res, err := r.Fetch(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
		if err := res.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	served := serveArchive(t, dir)
	for _, s := range []interface{ Close() error }{ftpServer, site, web} {
		_ = s.Close()
	}
	urls := make(map[string]string)
	for _, s := range served {
		urls[s.Site.String()] = s.URL + "/"
	}
	return urls
}

// TestPast tests that real clients browse an archive in the protocols of its servers.
func TestPast(t *testing.T) {
	lftp, lynx, curl, gopher := requireTool(t, "lftp"), requireTool(t, "lynx"), requireTool(t, "curl"), requireTool(t, "gopher")
	ftpServer := ftptest.New(t, func(s *ftptest.Server) { s.Content = shelf() })
	site := gophertest.New(t, func(s *gophertest.Server) { s.Content = shelf() })
	web := webtest.New(t, func(s *webtest.Server) { s.Content = shelf() })
	page := web.URL + "/page.html"
	past := servePast(t, ftpServer, site, web)
	files, menu, pages := past[ftpServer.URL+"/"], past[site.URL+"/"], past[web.URL+"/"]
	for name, tt := range map[string]struct {
		command []string
		want    []string
	}{
		"lftp":               {[]string{lftp, "-c", "open " + files + "; cd pub; ls; cat a.txt"}, []string{"-rw-r--r--", "a.txt\n", "a\n"}},
		"lftp, MLSD":         {[]string{lftp, "-c", "set ftp:use-mlsd yes; open " + files + "; cd pub; cls -l; cat a.txt"}, []string{"a.txt\n", "a\n"}},
		"curl, ftp":          {[]string{curl, "-sS", files + "motd.txt"}, []string{"hello\nworld\n"}},
		"curl, gopher":       {[]string{curl, "-sS", menu + "0/motd.txt"}, []string{"hello\r\nworld\r\n.\r\n"}},
		"curl, by a proxy":   {[]string{curl, "-sS", "-x", pages, page}, []string{"Good <b>morning</b>"}},
		"lynx, gopher":       {[]string{lynx, "-dump", menu}, []string{menu + "0/motd.txt", menu + "1/pub"}},
		"lynx, ftp":          {[]string{lynx, "-dump", files}, []string{"motd.txt", files + "motd.txt"}},
		"lynx, http":         {[]string{lynx, "-dump", pages + "page.html"}, []string{"Good morning"}},
		"lynx, not captured": {[]string{lynx, "-dump", menu + "0/none"}, []string{"the archive has no capture of it"}},
	} {
		out, _ := runTool(t, tt.command[0], tt.command[1:]...)
		for _, want := range tt.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, out)
			}
		}
	}
	_, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(menu, "gopher://"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	s := startScreen(t, gopher, "127.0.0.1", port)
	s.await("Press RETURN") // a greeting at the first start
	s.press("\r")
	s.await("motd.txt")
	s.press("/motd\r\r")
	s.await("world")
}
