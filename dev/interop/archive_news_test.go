package interop

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// newsPast records a group and eleven of its twelve articles, ends the server, and serves the
// archive. It returns the address.
func newsPast(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "news.warc.gz")
	w, err := warc.CreateFile(file, warc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	srv := newsstand(t, func(s *nntptest.Server) { s.ReadOnly = true })
	r := &fetch1738.Resolver{Recorder: (&archive.Recorder{Writer: w}).Record}
	defer r.Close()
	for n := range 12 {
		url := fmt.Sprintf("%s/local.test/%d", srv.URL, n)
		res, err := r.Get(t.Context(), strings.TrimSuffix(url, "/0"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil {
			t.Fatal(err)
		}
		res.Close()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_ = srv.Close()
	served := serveArchive(t, file)
	if len(served) != 1 {
		t.Fatal(served)
	}
	return strings.TrimPrefix(served[0].URL, "nntp://")
}

// TestPastNews tests that newsreaders read an archive.
func TestPastNews(t *testing.T) {
	lynx, slrn, python := requireTool(t, "lynx"), requireTool(t, "slrn"), requireTool(t, "/usr/bin/python3")
	addr := newsPast(t)
	host, port, _ := strings.Cut(addr, ":")
	for path, want := range map[string]string{
		"/local.test":   `"plain" - Lab <lab@lab.example>`,
		"/local.test/2": "\n.\n..\n...\n.dot\nno dot.\n.\nend\n",
	} {
		if out, _ := runTool(t, lynx, "-nopause", "-connect_timeout=10", "-dump", "nntp://"+addr+path); !strings.Contains(out, want) {
			t.Errorf("lynx, %s: %q is missing in\n%s", path, want, out)
		}
	}

	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "newsrc"), "local.test:\n")
	writeFile(t, filepath.Join(dir, "slrnrc"), "set hostname \"example.test\"\nset username \"lab\"\n")
	converse(t, dir, []string{slrn, "-h", host, "-p", port, "-f", filepath.Join(dir, "newsrc"), "-i", filepath.Join(dir, "slrnrc")},
		exchange{"12  local.test", "\r"},
		exchange{"attachment", "\r"},
		exchange{"see file", "q"},
		exchange{"News Groups", "q"},
		exchange{"want to quit", "y"},
	)

	if _, code := runTool(t, python, "-W", "ignore", "-c", "import nntplib"); code != 0 {
		t.Skip("this Python has no nntplib, which Python 3.13 removed")
	}
	out, code := runTool(t, python, "-W", "ignore", "-c", `
import nntplib, sys
s = nntplib.NNTP(sys.argv[1], int(sys.argv[2]), readermode=True)
print(s.list()[1][0].group, *s.group("local.test")[1:4])
print(len(s.over((1, 12))[1]), s.over((2, 2))[1][0][1]["subject"], s.head("<dots@lab.example>")[1].message_id)
print(len([n for n in range(1, 12) if s.stat(n)[1] == n]))
try:
    s.body(12)
except nntplib.NNTPTemporaryError as e:
    print(e)
s.quit()
`, host, port)
	if want := "local.test 12 1 12\n12 dots <dots@lab.example>\n11\n423 No article of that number.\n"; out != want || code != 0 {
		t.Errorf("Python: exit %d, %s", code, out)
	}
}
