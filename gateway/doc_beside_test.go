package gateway

import (
	"archive/zip"
	"bytes"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// besideIn are the links to the pictures before and after one, and its place, as a page has them.
func besideIn(page string) string {
	nav := regexp.MustCompile(`(?s)<nav class="pages" aria-label="Pictures of this folder">.*?</nav>`).FindString(page)
	found := regexp.MustCompile(`href="[^"]*?([^"/]*)"|<li>(\d+ of \d+)</li>`).FindAllStringSubmatch(nav, -1)
	var parts []string
	for _, m := range found {
		parts = append(parts, m[1]+m[2])
	}
	return strings.Join(parts, " ")
}

// TestBeside tests the links from a picture to those before and after it, in the order of the folder.
func TestBeside(t *testing.T) {
	srv := startFTP(t, map[string]string{"p/10.png": "x", "p/9.png": "xx", "p/a b.JPG": "x", "p/.hidden.gif": "x", "p/text.txt": "x", "p/sub/1.png": "x", "p/c.svg": "x", "alone/one.png": "x"})
	s := start(t, nil)
	for path, want := range map[string]string{
		"/p/9.png": "1 of 4 10.png", "/p/10.png": "9.png 2 of 4 a%20b.JPG", "/p/a%20b.JPG": "10.png 3 of 4 .hidden.gif", "/p/.hidden.gif": "a%20b.JPG 4 of 4",
		"/p/10.png;type=i": "", "/alone/one.png": "", "/p/sub/1.png": "",
	} {
		if got := besideIn(pageAt(t, s, at(srv, path), browser)); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range []string{"10.png", "9.png", "d/x.png", "d/y.png", "note.txt"} {
		if _, err := w.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	_ = w.Close()
	packed := startFTP(t, map[string]string{"a.zip": b.String()})
	for within, want := range map[string]string{"9.png": "1 of 2 a.zip?in=10.png", "d/y.png": "a.zip?in=d%2Fx.png 2 of 2"} {
		if got := besideIn(pageAt(t, s, at(packed, "/a.zip?in="+within), browser)); got != want {
			t.Errorf("%s: %s, want %s", within, got, want)
		}
	}
}

// TestBesideInMenu tests the links from a picture to those before and after it in the menu that its
// selector is below, in the order of the menu.
func TestBesideInMenu(t *testing.T) {
	srv, s := startGopher(t, map[string]string{"/art/b.png": "x"}, nil)
	host := strings.ReplaceAll(srv.Addr, ":", "\t")
	row := func(line string) string { return strings.Replace(line, "HOST", host, 1) + "\r\n" }
	srv.On("REQUEST /art", 0, testserver.Data(row("iPictures\t\t-\t0")+row("IB\t/art/b.png\tHOST")+row("0A text\t/art/c.txt\tHOST")+row("Ielsewhere\t/art/d.png\texample.org\t70")+
		row("gA\t/art/a.gif\tHOST")+row("IB again\t/art/b.png\tHOST")+row("9Z\t/art/z.jpg\tHOST")+".\r\n"))
	srv.On("REQUEST /none", 0, testserver.Data("3No such menu\t\terror\t0\r\n.\r\n"))
	for path, want := range map[string]string{"I/art/b.png": "1 of 3 a.gif", "g/art/a.gif": "b.png 2 of 3 z.jpg", "9/art/z.jpg": "a.gif 3 of 3", "I/art/x.png": "", "I/none/x.png": "", "Ialone.png": ""} {
		page := pageAt(t, s, "/gopher/"+srv.Addr+"/"+path, browser)
		if got := besideIn(page); got != want || !strings.HasSuffix(page, "</html>\n") {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestBesideCosts tests that the folder of a picture is listed once, after the picture has been asked
// for, and that the page is there without a listing.
func TestBesideCosts(t *testing.T) {
	files := map[string]string{"p/1.png": "x", "p/2.png": "x", "p/3.png": "x"}
	srv := startFTP(t, files)
	s := start(t, nil)
	pageAt(t, s, at(srv, "/p/2.png"), browser)
	if got, want := commandsOf(srv, "CWD", "SIZE", "MDTM", "MLST", "EPSV", "MLSD", "LIST", "RETR"), 5; len(got) > want || !slices.Contains(got, "MLSD") {
		t.Errorf("%q are more than %d round trips", got, want)
	}
	var longNames strings.Builder
	for i := range heldNames/(4*8000) + 3 {
		fmt.Fprintf(&longNames, "type=file; %d%s.png\r\ntype=file; %[1]d.png\r\n", i, strings.Repeat("\xff", 8000))
	}
	for name, fault := range map[string]ftptest.Fault{
		"refused": testserver.Reply("421 no"), "broken": testserver.Reset(10), "endless": testserver.Data(listingOf(heldRows) + "type=file; 2.png\r\ntype=file; 1.png\r\n"), "empty": testserver.Data(""),
		"long names": testserver.Data(longNames.String()),
	} {
		srv := startFTP(t, files)
		srv.On("MLSD", 0, fault)
		page := pageAt(t, s, at(srv, "/p/2.png"), browser)
		if !strings.Contains(page, `<img src="`+at(srv, "/p/2.png?raw")+`"`) || !strings.HasSuffix(page, "</html>\n") || besideIn(page) != "" {
			t.Errorf("%s: %s", name, page)
		}
	}
}

// TestDownload tests that the action "Download" of a page stores what a browser would show.
func TestDownload(t *testing.T) {
	zipped, _ := packedBoth(t)
	srv := startFTP(t, map[string]string{"light.png": "x", "notes.txt": "x", "a.zip": zipped})
	s := start(t, nil)
	for path, name := range map[string]string{"/light.png?": "light.png", "/notes.txt?": "notes.txt", "/a.zip?in=docs%2Freadme.txt&amp;": "readme.txt", "/a.zip?in=light.png&amp;": "light.png"} {
		action := at(srv, path+"raw&amp;download")
		if page := pageAt(t, s, at(srv, strings.TrimRight(html.UnescapeString(path), "?&")), browser); !strings.Contains(page, `<li><a href="`+action+`" rel="nofollow">Download</a></li>`) {
			t.Errorf("%s is missing in\n%s", action, page)
		}
		res, _, err := ask(t, s, http.MethodGet, html.UnescapeString(action), browser...)
		if want := `attachment; filename="` + name + `"`; err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Disposition") != want {
			t.Errorf("%s: %v, %q", action, err, res.Header)
		}
	}
}

// TestOpenPDF tests that a PDF is a download, unless the user opens it: then it is in the sandbox. No
// other type can be opened like that.
func TestOpenPDF(t *testing.T) {
	srv := startFTP(t, map[string]string{"paper.pdf": "%PDF-1.4", "a.bin": "\x00"})
	s := start(t, nil)
	if page := pageAt(t, s, at(srv, "/"), browser); strings.Count(page, `<a class="enter" href="./paper.pdf?raw&amp;open" rel="nofollow">open</a>`) != 1 || strings.Count(page, "enter") != 1 {
		t.Error(page)
	}
	for path, want := range map[string]string{"/paper.pdf": `attachment; filename="paper.pdf"`, "/paper.pdf?raw": `attachment; filename="paper.pdf"`, "/paper.pdf?raw&open": "", "/a.bin?raw&open": `attachment; filename="a.bin"`} {
		res, _, err := ask(t, s, http.MethodGet, at(srv, path), browser...)
		if err != nil || res.Header.Get("Content-Disposition") != want || res.Header.Get("Content-Security-Policy") != octetsSecurity || res.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v, %q", path, err, res.Header)
		}
	}
	_, body, err := ask(t, s, http.MethodGet, at(srv, "/paper.pdf?raw&open"), "Accept", "text/html", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
	if err != nil || !strings.Contains(body, "Continue") {
		t.Errorf("another site: %v, %q", err, body)
	}
}

// TestPlaylist tests that the sounds of a folder are a list that can be played.
func TestPlaylist(t *testing.T) {
	srv := startFTP(t, map[string]string{"s/10.mp3": "x", "s/9.ogg": strings.Repeat("x", 2048), "s/cover.png": "x", "s/old.au": "x", "s/sub/x": "x", "one/a.mp3": "x"})
	s := start(t, nil)
	page := pageAt(t, s, at(srv, "/s/?play"), browser)
	sounds := regexp.MustCompile(`<audio [^>]*src="([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(sounds) != 2 || sounds[0][1] != "./9.ogg?raw" || sounds[1][1] != "./10.mp3?raw" || !strings.Contains(page, "2.0 KiB") || strings.Contains(page, "cover.png") || !strings.Contains(page, "data-playlist") {
		t.Errorf("%q\n%s", sounds, page)
	}
	for path, want := range map[string]bool{"/s/": true, "/one/": false} {
		if page := pageAt(t, s, at(srv, path), browser); strings.Contains(page, path+`?play" rel="nofollow">Play sounds`) != want {
			t.Errorf("%s: %s", path, page)
		}
	}
	res, body, err := ask(t, s, http.MethodGet, at(srv, "/s/?play"), "Accept", "text/html", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
	if err != nil || res.StatusCode != 200 || strings.Contains(body, "<audio") || !strings.Contains(body, "Continue") {
		t.Errorf("%v\n%s", err, body)
	}
}
