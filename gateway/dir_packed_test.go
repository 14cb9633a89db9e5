package gateway

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// noise is what does not become smaller by packing.
func noise(n int) string {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	return string(b)
}

// packedFiles are the files of the archives of these tests, in order.
var packedFiles = []struct{ name, data string }{
	{"docs/readme.txt", "See ftp://other.example/x\n"}, {"docs/page.html", "<script>alert(1)</script>"}, {"docs/a&b <i>.txt", "odd"},
	{"light.png", "\x89PNG\r\n\x1a\n"}, {"paper.pdf", "%PDF-1.4"}, {"tool.bin", "\x00\x01\x02"}, {"inner.zip", "PK"}, {"../up.txt", "up"},
}

// packedBoth are the same files as a zip and as a tar archive.
func packedBoth(t *testing.T) (zipped, tarred string) {
	t.Helper()
	var z, p bytes.Buffer
	zw, gw := zip.NewWriter(&z), gzip.NewWriter(&p)
	tw := tar.NewWriter(gw)
	for _, f := range packedFiles {
		w, err := zw.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)})
		if err == nil {
			_, err = io.WriteString(w, f.data)
		}
		if err == nil {
			err = tw.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.data)), Mode: 0o644, ModTime: time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)})
		}
		if err == nil {
			_, err = io.WriteString(tw, f.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range []io.Closer{zw, tw, gw} {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return z.String(), p.String()
}

// TestPacked tests the pages of what is in archives, and that the rules for documents apply to it.
func TestPacked(t *testing.T) {
	zipped, tarred := packedBoth(t)
	srv := startFTP(t, map[string]string{"pub/a.zip": zipped, "pub/a.tar.gz": tarred})
	s := start(t, nil)
	golden(t, "directory/archive.html", mainOf(t, pageAt(t, s, at(srv, "/pub/a.zip?in="), browser), srv.URL))
	for _, name := range []string{"/pub/a.zip", "/pub/a.tar.gz"} {
		top := pageAt(t, s, at(srv, name+"?in="), browser)
		if got, want := strings.Join(namesOf(rowsOf(top)), " "), "_../ docs/ inner.zip light.png paper.pdf tool.bin"; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		docs := pageAt(t, s, at(srv, name+"?in=docs/"), browser)
		if got, want := strings.Join(namesOf(rowsOf(docs)), " "), "a&b <i>.txt page.html readme.txt"; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		for _, part := range []string{`<a href="` + at(srv, name) + `?in=docs%2Fa%26b&#43;%3Ci%3E.txt">`, `<li><a href="` + at(srv, name) + `?in=">`, `<h1>docs</h1>`, `<tr class="parent"><td colspan="4"><a href="` + at(srv, name) + `?in=">`} {
			if !strings.Contains(docs, part) {
				t.Errorf("%s: %s is missing in\n%s", name, part, docs)
			}
		}
		found := pageAt(t, s, at(srv, name+"?in=docs/&filter=PAGE&sort=-size"), browser)
		if got := strings.Join(namesOf(rowsOf(found)), " "); got != "page.html" || !strings.Contains(found, `<input type="hidden" name="in" value="docs/">`) {
			t.Errorf("%s: %s\n%s", name, got, found)
		}
		for _, f := range []struct {
			within, accept, mediaType, disposition, body string
		}{
			{"light.png", "text/html", "text/html; charset=utf-8", "", "<h1>light.png</h1>"},
			{"docs/readme.txt", "text/html", "text/html; charset=utf-8", "", `<a href="/ftp/other.example/x">ftp://other.example/x</a>`},
			{"docs/readme.txt", "text/html", "text/html; charset=utf-8", "", "<h1>readme.txt</h1>"},
			{"docs/readme.txt&raw", "text/html", "text/plain", "", packedFiles[0].data},
			{"docs/readme.txt", "*/*", "text/plain", "", packedFiles[0].data},
			{"docs/page.html", "text/html", "text/html; charset=utf-8", "", "&lt;script&gt;alert(1)"},
			{"docs/page.html&raw", "text/html", "text/plain", "", packedFiles[1].data},
			{"light.png", "text/html", "text/html; charset=utf-8", "", `<img src="` + at(srv, name) + `?in=light.png&amp;raw" alt="light.png">`},
			{"light.png&raw", "image/png", "image/png", "", packedFiles[3].data},
			{"paper.pdf", "text/html", "application/pdf", `attachment; filename="paper.pdf"`, packedFiles[4].data},
			{"tool.bin", "text/html", "application/octet-stream", `attachment; filename="tool.bin"`, packedFiles[5].data},
			{"inner.zip", "text/html", "application/zip", `attachment; filename="inner.zip"`, packedFiles[6].data},
			{"_../up.txt&raw", "text/html", "text/plain", "", packedFiles[7].data},
		} {
			res, body, err := ask(t, s, http.MethodGet, at(srv, name+"?in="+f.within), "Accept", f.accept)
			if err != nil || res.StatusCode != 200 || res.Header.Get("Content-Type") != f.mediaType || res.Header.Get("Content-Disposition") != f.disposition || !strings.Contains(body, f.body) {
				t.Errorf("%s?in=%s: %s, %v\n%q\n%s", name, f.within, res.Status, err, res.Header, body)
			}
			if page := strings.HasPrefix(f.mediaType, "text/html"); !page && (res.Header.Get("Content-Security-Policy") != octetsSecurity || res.Header.Get("X-Content-Type-Options") != "nosniff" || body != f.body) {
				t.Errorf("%s?in=%s: %q\n%q", name, f.within, res.Header, body)
			}
		}
		if _, body, err := ask(t, s, http.MethodGet, at(srv, name), "Accept", "*/*"); err != nil || body != zipped && body != tarred {
			t.Errorf("%s itself: %v", name, err)
		}
	}
	listing := pageAt(t, s, at(srv, "/pub/"), browser)
	if strings.Count(listing, ` <a class="enter" href="./a.zip?in=" rel="nofollow">open</a>`) != 1 || strings.Contains(pageAt(t, s, at(srv, "/pub/"), program), "?in=") {
		t.Error(listing)
	}
}

// TestPackedErrors tests the pages of what cannot be opened.
func TestPackedErrors(t *testing.T) {
	zipped, tarred := packedBoth(t)
	locked := []byte(zipped)
	locked[bytes.LastIndex(locked, []byte("PK\x01\x02"))+8] |= 1 // ../up.txt
	srv := startFTP(t, map[string]string{"a.zip": zipped, "a.tgz": tarred, "locked.zip": string(locked), "text.zip": "a text", "text.tar": strings.Repeat("a text ", 1000), "cut.tgz": tarred[:100], "a.txt": "a"})
	s := start(t, nil)
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/a.zip?in=none":               {404, "The archive has no such file."},
		"/a.tgz?in=none":               {404, "The archive has no such file."},
		"/a.zip?in=docs":               {404, "The archive has no such file."},
		"/a.tgz?in=none/":              {404, "The archive has no such file."},
		"/a.zip?in=inner.zip/":         {404, "The archive has no such file."},
		"/a.zip?in=../up.txt":          {404, "The archive has no such file."},
		"/a.zip?in=..%5Cup.txt":        {404, "The archive has no such file."},
		"/locked.zip?in=_../up.txt":    {403, "This file is encrypted."},
		"/text.zip?in=":                {502, "The archive is damaged"},
		"/text.tar?in=":                {502, "The archive is damaged"},
		"/cut.tgz?in=":                 {502, "The archive is damaged"},
		"/none.zip?in=":                {404, "The server has no such document."},
		"/none.tgz?in=":                {404, "The server has no such document."},
		"/a.txt?in=":                   {400, "The gateway cannot open this as an archive."},
		"/?in=":                        {400, "The gateway cannot open this as an archive."},
		"/a.zip?in=docs/readme.txt%00": {404, "The archive has no such file."},
	} {
		res, body, err := ask(t, s, http.MethodGet, at(srv, path), browser...)
		if err != nil || res.StatusCode != want.status || !strings.Contains(body, want.text) {
			t.Errorf("%s: %s, %v\n%s", path, res.Status, err, body)
		}
		if res, _, err := ask(t, s, http.MethodHead, at(srv, path), browser...); err != nil || res.StatusCode != want.status {
			t.Errorf("HEAD %s: %s, %v", path, res.Status, err)
		}
	}
	if _, body, err := ask(t, s, http.MethodGet, at(srv, "/a.zip?in=none"), browser...); err != nil || !strings.Contains(body, `<a href="`+at(srv, "/a.zip?in=")+`" rel="nofollow">Contents of the archive</a>`) {
		t.Errorf("%v\n%s", err, body)
	}
	page := pageAt(t, s, at(srv, "/locked.zip?in=_../"), browser)
	if rows := rowsOf(page); len(rows) != 1 || rows[0].kind != "encrypted" || rows[0].href != "" {
		t.Errorf("%+v", rows)
	}
	// A link of another site asks first, as reading an archive may cost much.
	res, body, err := ask(t, s, http.MethodGet, at(srv, "/a.zip?in="), "Accept", "text/html", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
	if err != nil || res.StatusCode != 200 || strings.Contains(body, "light.png") || !strings.Contains(body, "to open this archive:") {
		t.Errorf("%v\n%s", err, body)
	}
}

// TestPackedRanges tests that a small part of a large zip archive is all that is fetched of it.
func TestPackedRanges(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range 10 {
		f, _ := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprint(i, ".txt"), Method: zip.Store})
		_, _ = io.WriteString(f, fmt.Sprint("file ", i, " ", noise(2<<20)))
	}
	_ = w.Close()
	srv := startFTP(t, map[string]string{"a.zip": b.String()})
	s := start(t, nil)
	if rows := rowsOf(pageAt(t, s, at(srv, "/a.zip?in="), browser)); len(rows) != 10 {
		t.Errorf("%d rows", len(rows))
	}
	if restarts := commandsOf(srv, "REST"); len(restarts) == 0 || len(restarts) > 8 {
		t.Errorf("%q", restarts)
	}
	if got := pageAt(t, s, at(srv, "/a.zip?in=7.txt&raw"), browser); len(got) != 2<<20+7 || !strings.HasPrefix(got, "file 7 ") {
		t.Errorf("%d bytes", len(got))
	}
	if n := len(commandsOf(srv, "REST")); n > 40 {
		t.Errorf("%d requests", n)
	}
}

// TestPackedHeld tests zip archives on servers that send no parts: a small one is held, a large one is
// refused. It is the same for a server of FTP without REST.
func TestPackedHeld(t *testing.T) {
	zipped, tarred := packedBoth(t)
	large := noise(heldArchive + 1)
	gopher := gophertest.New(t, func(s *gophertest.Server) {
		s.Content = fstest.MapFS{"a.zip": {Data: []byte(zipped)}, "a.tgz": {Data: []byte(tarred)}, "large.zip": {Data: []byte(large)}}
	})
	old := startFTP(t, map[string]string{"a.zip": zipped, "large.zip": large}, func(s *ftptest.Server) { s.Hide = []string{"REST", "SIZE", "MDTM"} })
	s := start(t, nil)
	for range heldArchives + 2 { // each is released
		for _, path := range []string{pathOf(t, gopher.URL+"/9a.zip"), at(old, "/a.zip")} {
			if rows := rowsOf(pageAt(t, s, path+"?in=docs/", browser)); len(rows) != 3 {
				t.Errorf("%s: %+v", path, rows)
			}
		}
	}
	if got := pageAt(t, s, pathOf(t, gopher.URL+"/9a.tgz")+"?in=docs/readme.txt&raw", browser); got != packedFiles[0].data {
		t.Errorf("%q", got)
	}
	for _, path := range []string{pathOf(t, gopher.URL+"/9large.zip"), at(old, "/large.zip")} {
		res, body, err := ask(t, s, http.MethodGet, path+"?in=", browser...)
		if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(body, "larger than 16 MiB, and the server sends no parts of it") {
			t.Errorf("%s: %s, %v\n%s", path, res.Status, err, body)
		}
	}
}

// TestPackedCut tests that a part of a file from an archive does not look complete, whether the
// archive or the transfer ends early.
func TestPackedCut(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	_ = w.WriteHeader(&tar.Header{Name: "big.bin", Size: 300_000, Mode: 0o644})
	_, _ = io.WriteString(w, noise(300_000))
	srv := startFTP(t, map[string]string{"short.tar": b.String()[:200_000], "cut.tar": b.String()})
	srv.On("RETR cut.tar", 0, testserver.Reset(200_000))
	s := start(t, nil)
	for _, name := range []string{"short.tar", "cut.tar"} {
		_, body, err := ask(t, s, http.MethodGet, at(srv, "/"+name+"?in=big.bin&raw"), program...)
		if err == nil || len(body) >= 300_000 {
			t.Errorf("%s: %d bytes, %v", name, len(body), err)
		}
	}
}

// TestPackedForPrograms tests that a program gets the names in an archive as it gets those of a folder.
func TestPackedForPrograms(t *testing.T) {
	zipped, _ := packedBoth(t)
	srv := startFTP(t, map[string]string{"a.zip": zipped})
	s := start(t, nil)
	for accept, want := range map[string]string{"text/plain": "readme.txt\npage.html\na&b <i>.txt\n", "application/json": `"name":"readme.txt"`} {
		if _, body, err := ask(t, s, http.MethodGet, at(srv, "/a.zip?in="+url.QueryEscape("docs/")), "Accept", accept); err != nil || !strings.Contains(body, want) {
			t.Errorf("%s: %v\n%s", accept, err, body)
		}
	}
	if res, body, err := ask(t, s, http.MethodHead, at(srv, "/a.zip?in="), browser...); err != nil || res.StatusCode != 200 || body != "" {
		t.Errorf("HEAD: %s, %v", res.Status, err)
	}
}
