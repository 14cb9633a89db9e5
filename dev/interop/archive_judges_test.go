package interop

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// A capture is a document of the archive that is judged.
type capture struct{ url, mime, text string }

// library starts a server of each protocol, and returns documents that they have.
func library(t *testing.T) []capture {
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = shelf() })
	web := webtest.New(t, func(s *webtest.Server) { s.Content = shelf() })
	web2 := httptest.NewUnstartedServer(http.FileServerFS(shelf()))
	web2.EnableHTTP2 = true
	web2.StartTLS()
	t.Cleanup(web2.Close)
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = shelf() })
	article := "From: Grace <grace@example.org>\r\nNewsgroups: comp.lights\r\nSubject: A lens\r\nDate: Fri, 4 Mar 1994 05:06:07 GMT\r\nMessage-ID: <1@example.org>\r\n\r\nWhich lens?\r\n"
	news := nntptest.New(t, func(s *nntptest.Server) { s.Groups = map[string][]string{"comp.lights": {article}} })
	stories := fstest.MapFS{"stories/keeper.txt": {Data: []byte("The keeper of the lighthouse\n")}}
	wais := waistest.New(t, func(s *waistest.Server) { s.Content = stories })
	prospero := prosperotest.New(t, func(s *prosperotest.Server) { s.Content = stories })
	return []capture{
		{ftp.URL + "/pub/a.txt", "text/plain", "a\n"},
		{ftp.URL + "/pub/", "text/plain", ""},
		{ftp.URL + "/every.bin", "application/octet-stream", string(shelf()["every.bin"].Data)},
		{web.URL + "/page.html", "text/html", string(shelf()["page.html"].Data)},
		{web2.URL + "/page.html", "text/html", string(shelf()["page.html"].Data)},
		{web2.URL + "/dots.txt", "text/plain", ".\n.x\nend\n"},
		{gopher.URL + "/1/pub", "application/gopher-menu", ""},
		{gopher.URL + "/0/dots.txt", "text/plain", ".\n.x\nend\n"},
		{news.URL + "/comp.lights/1", "message/rfc822", article},
		{news.URL + "/comp.lights", "text/plain", ""},
		{wais.URL + "/stories?lighthouse", "text/plain", ""},
		{wais.URL + wais.DocumentPath("stories", "stories/keeper.txt"), "text/plain", "The keeper of the lighthouse\n"},
		{prospero.URL + "/stories/", "text/plain", ""},
	}
}

// archived is an archive that the command has made.
type archived struct {
	dir, warc, wacz string
	captures        []capture
}

// recordLibrary fetches all documents of the library into a WARC file, and makes a WACZ file of it.
func recordLibrary(t *testing.T) *archived {
	t.Helper()
	program := buildCommand(t)
	a := &archived{dir: t.TempDir(), captures: library(t)}
	a.warc, a.wacz = filepath.Join(a.dir, "library.warc.gz"), filepath.Join(a.dir, "library.wacz")
	line := []string{"-sSk", "--warc", a.warc} // the server of HTTP/2 has a certificate of its own
	for i, c := range a.captures {
		line = append(line, c.url)
		ref, err := locator.Parser{Tolerate: locator.TolerateUsual}.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		a.captures[i].url = ref.Locator.String() // as in WARC-Target-URI
	}
	for _, line := range [][]string{line, {"warc", "verify", a.warc}, {"warc", "index", "--wacz", a.wacz, a.warc}} {
		if out, code := runTool(t, program, line...); code != 0 {
			t.Fatalf("%q: exit code %d\n%s", line, code, out)
		}
	}
	return a
}

// TestArchiveJudges has readers of others judge our WARC and WACZ files.
func TestArchiveJudges(t *testing.T) {
	t.Parallel()
	a := recordLibrary(t)
	t.Run("gowarc", a.testGowarc)
	t.Run("warcio", a.testWarcio)
	t.Run("js-wacz", a.testJSWacz)
	t.Run("ReplayWeb.page", a.testReplayWeb)
}

// gowarc builds the judge that is a module of its own.
var gowarc = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "gowarc")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", dir, ".")
	cmd.Dir = "archives/gowarc"
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return filepath.Join(dir, "gowarc"), err
})

// testGowarc validates the records. The judge itself must see that one is damaged.
func (a *archived) testGowarc(t *testing.T) {
	judge, err := gowarc()
	if err != nil {
		t.Fatal(err)
	}
	if out, code := runTool(t, judge, a.warc); code != 0 {
		t.Errorf("exit code %d: %s", code, out)
	}
	plain, code := runTool(t, requireTool(t, "zcat"), a.warc)
	damaged := filepath.Join(t.TempDir(), "damaged.warc")
	writeFile(t, damaged, strings.Replace(plain, "Which lens?", "Which Lens?", 1))
	if out, _ := runTool(t, judge, damaged); code != 0 || !strings.Contains(out, "digest") {
		t.Errorf("the judge does not see a wrong digest: %s", out)
	}
}

// requireModule finds a program of archives/node_modules.
func requireModule(t *testing.T, name string) string {
	path, err := filepath.Abs("archives/node_modules/.bin/" + name)
	if err != nil {
		t.Fatal(err)
	}
	requireFile(t, path, "npm ci --prefix dev/interop/archives --ignore-scripts")
	return path
}

// An indexLine is a line of a CDXJ file.
type indexLine struct {
	Key                                         string `json:"-"`
	URL, Mime, Digest, Length, Offset, Filename string
}

func indexLines(t *testing.T, text string) (all []indexLine) {
	t.Helper()
	for line := range strings.Lines(text) {
		fields := strings.SplitN(line, " ", 3)
		var l indexLine
		if err := json.Unmarshal([]byte(fields[2]), &l); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		l.Key, l.Filename = fields[0], filepath.Base(l.Filename)
		l.Digest = strings.TrimPrefix(l.Digest, "sha1:")
		all = append(all, l)
	}
	return all
}

// testWarcio reads and indexes the file with warcio.js. Each document must have one line with its
// type, and our index must be the same, sorted.
func (a *archived) testWarcio(t *testing.T) {
	warcio := requireModule(t, "warcio")
	if out, code := runTool(t, warcio, "index", a.warc); code != 0 || strings.Count(out, "\n") < len(a.captures) {
		t.Errorf("index: exit code %d\n%s", code, out)
	}
	out, code := runTool(t, warcio, "cdx-index", a.warc)
	if code != 0 {
		t.Fatalf("cdx-index: exit code %d", code)
	}
	theirs := slices.DeleteFunc(indexLines(t, out), func(l indexLine) bool { return strings.HasPrefix(l.URL, "metadata:") })
	for _, c := range a.captures {
		of := slices.Collect(func(yield func(string) bool) {
			for _, l := range theirs {
				if l.URL == c.url {
					yield(l.Mime)
				}
			}
		})
		if !slices.Equal(of, []string{c.mime}) {
			t.Errorf("%s: has lines of the types %q, not one of %s", c.url, of, c.mime)
		}
	}
	ours, code := runTool(t, buildCommand(t), "warc", "index", a.warc)
	if code != 0 {
		t.Fatalf("our index: exit code %d", code)
	}
	slices.SortFunc(theirs, func(a, b indexLine) int { return cmp.Compare(a.Key, b.Key) })
	got := slices.DeleteFunc(indexLines(t, ours), func(l indexLine) bool { return strings.HasPrefix(l.Key, "warcinfo:") })
	if !slices.Equal(got, theirs) {
		t.Errorf("our index:\n%v\nnot as that of warcio.js, sorted:\n%v", got, theirs)
	}
}

// testJSWacz compares our WACZ file with one that js-wacz makes of the same records and pages.
func (a *archived) testJSWacz(t *testing.T) {
	tool := requireModule(t, "js-wacz")
	ours := unpack(t, a.wacz)
	dir := t.TempDir()
	makeDir(t, filepath.Join(dir, "pages"), 0o755)
	writeFile(t, filepath.Join(dir, "pages", "pages.jsonl"), string(ours["pages/pages.jsonl"]))
	other := filepath.Join(dir, "other.wacz")
	if out, code := runTool(t, tool, "create", "-f", a.warc, "-p", filepath.Join(dir, "pages"), "-o", other); code != 0 {
		t.Fatalf("js-wacz: exit code %d\n%s", code, out)
	}
	theirs := unpack(t, other)
	for name, hash := range hashes(t, ours) {
		if got := fmt.Sprintf("sha256:%x", sha256.Sum256(ours[name])); got != hash {
			t.Errorf("%s has the hash %s, not %s", name, got, hash)
		}
	}
	// js-wacz 0.1.6 states right hashes of what it has in memory only: in a file, it hashes each piece
	// of 64 KiB twice.
	his := hashes(t, theirs)
	for name, data := range theirs {
		switch filepath.Dir(name) {
		case "archive", "pages":
			if twice := sha256.Sum256(slices.Concat(data, data)); !bytes.Equal(ours[name], data) || his[name] != fmt.Sprintf("sha256:%x", twice) {
				t.Errorf("%s is another file than in that of js-wacz", name)
			}
		case "indexes":
			if got := fmt.Sprintf("sha256:%x", sha256.Sum256(data)); his[name] != got {
				t.Errorf("js-wacz: %s has the hash %s, not %s", name, got, his[name])
			}
		}
	}
	for name := range his {
		if !strings.HasPrefix(name, "indexes/") && hashes(t, ours)[name] == "" {
			t.Errorf("datapackage.json has no %s", name)
		}
	}
	folders := func(files map[string][]byte) (all []string) {
		for name := range files {
			all = append(all, filepath.Dir(name))
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	if !slices.Equal(folders(ours), folders(theirs)) {
		t.Errorf("folders: %q, not %q", folders(ours), folders(theirs))
	}
}

// unpack returns the files of a ZIP.
func unpack(t *testing.T, name string) map[string][]byte {
	t.Helper()
	z, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files := make(map[string][]byte)
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		r.Close()
	}
	return files
}

// hashes returns the hashes that datapackage.json has, by path.
func hashes(t *testing.T, files map[string][]byte) map[string]string {
	t.Helper()
	var pkg struct {
		Profile     string
		WaczVersion string `json:"wacz_version"`
		Resources   []struct{ Path, Hash string }
	}
	if err := json.Unmarshal(files["datapackage.json"], &pkg); err != nil {
		t.Fatal(err)
	}
	if pkg.Profile != "data-package" || pkg.WaczVersion != "1.1.1" {
		t.Errorf("datapackage.json: profile %q, version %q", pkg.Profile, pkg.WaczVersion)
	}
	all := make(map[string]string)
	for _, r := range pkg.Resources {
		all[r.Path] = r.Hash
	}
	return all
}

// testReplayWeb opens our WACZ file with ReplayWeb.page in Chromium. It shows HTML and text of any
// scheme; it has no view for menus.
func (a *archived) testReplayWeb(t *testing.T) {
	const tarball = "archives/replaywebpage-2.5.3.tgz"
	requireFile(t, tarball, "npm pack replaywebpage@2.5.3 --pack-destination dev/interop/archives")
	site := t.TempDir()
	if out, code := runTool(t, requireTool(t, "tar"), "-xzf", tarball, "-C", site, "package/ui.js", "package/sw.js"); code != 0 {
		t.Fatal(out)
	}
	data, err := os.ReadFile(a.wacz)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(site, "package", "library.wacz"), string(data))
	mux := http.NewServeMux()
	for _, prefix := range []string{"/", "/replay/"} {
		mux.Handle(prefix, http.StripPrefix(prefix, http.FileServer(http.Dir(filepath.Join(site, "package")))))
	}
	// The page that the service worker answers with: whether it does so yet depends on time.
	mux.HandleFunc("/replay/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<!doctype html><html><head><script src="./ui.js"></script></head><body><replay-app-main></replay-app-main></body></html>`)
	})
	mux.HandleFunc("/show", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>replay</title><script src="/ui.js"></script><replay-web-page source="/library.wacz" url=%q replayBase="/replay/"></replay-web-page>`, r.URL.Query().Get("url"))
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	local := strings.Replace(srv.URL, "127.0.0.1", "localhost", 1) // where a service worker may run without TLS
	p := startChromium(t, startCanary(t)).open(t)
	for _, c := range a.captures {
		if c.mime != "text/html" && c.mime != "text/plain" || c.text == "" {
			continue
		}
		p.load(local + "/show?url=" + url.QueryEscape(c.url))
		want := strings.TrimSpace(c.text)
		if c.mime == "text/html" {
			want = "Good morning"
		}
		var frame string
		p.do("framed", &frame, "text", want)
		t.Logf("%s is shown", c.url)
	}
}
