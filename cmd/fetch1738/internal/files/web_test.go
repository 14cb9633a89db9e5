package files

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// perform runs a verb, and returns its exit code with what it printed.
func perform(t *testing.T, args ...string) (code int, out, complaint string) {
	t.Helper()
	return performIn(t.Context(), t, args...)
}

func performIn(ctx context.Context, t *testing.T, args ...string) (code int, out, complaint string) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	for _, c := range Commands() {
		if c.Name == args[0] {
			var out, complaint bytes.Buffer
			code := c.Run(ctx, args[1:], stdio.Streams{In: strings.NewReader(""), Out: &out, Err: &complaint})
			return code, out.String(), complaint.String()
		}
	}
	t.Fatalf("no verb %s", args[0])
	return 0, "", ""
}

// A dav is a server that deletes directories with all below them, whatever Depth says.
type dav struct {
	propfind, redirects bool // how it shows what a directory is

	mu    sync.Mutex
	asked []string
}

// ServeHTTP implements http.Handler. /dir is a directory.
func (d *dav) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, req.Method+" "+req.URL.Path)
	isDir := strings.TrimSuffix(req.URL.Path, "/") == "/dir"
	status := map[string]int{"/private": http.StatusUnauthorized, "/moved": http.StatusFound, "/none": http.StatusNotFound, "/unable": http.StatusNotImplemented}[req.URL.Path]
	switch {
	case status != 0 && (req.Method == "PROPFIND" || req.Method == http.MethodHead):
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	case req.Method == "PROPFIND" && d.propfind && isDir:
		w.WriteHeader(http.StatusMultiStatus)
		_, _ = w.Write([]byte(`<?xml version="1.0"?><x:multistatus xmlns:x="DAV:"><x:response><x:propstat><x:prop><x:resourcetype><x:collection/></x:resourcetype></x:prop></x:propstat></x:response></x:multistatus>`))
	case req.Method == "PROPFIND" && d.propfind:
		w.WriteHeader(http.StatusMultiStatus)
		_, _ = w.Write([]byte(`<multistatus xmlns="DAV:"><response><prop><resourcetype/><collection xmlns="urn:other"/></prop></response></multistatus>`))
	case req.Method == "PROPFIND":
		w.WriteHeader(http.StatusNotImplemented)
	case req.Method == http.MethodHead && req.URL.Path == "/dir" && d.redirects:
		http.Redirect(w, req, "/dir/", http.StatusMovedPermanently)
	case req.Method == http.MethodDelete && req.URL.Path == "/locked/":
		w.WriteHeader(http.StatusMultiStatus)
		_, _ = w.Write([]byte(`<multistatus xmlns="DAV:"><response><href>/locked/x</href><status>HTTP/1.1 423 Locked</status></response></multistatus>`))
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// rm without -r deletes no directory of a server that would delete it with all below it.
func TestRemoveFromWeb(t *testing.T) {
	for _, d := range []*dav{{propfind: true}, {redirects: true}} {
		srv := httptest.NewServer(d)
		for _, tc := range []struct {
			code  int
			url   string
			args  []string
			asked string // whether DELETE was sent, and for what
		}{
			{25, "/dir", nil, ""},
			{25, "/dir/", nil, ""},
			{2, "/dir", []string{"-r"}, ""},
			{0, "/dir", []string{"-r", "--dry-run"}, ""},
			{3, "/", []string{"-rf"}, ""},
			{3, "//", []string{"-rf"}, ""},
			{3, "/dir/..", []string{"-rf"}, ""},
			{3, "/dir/%2e%2E/", []string{"-rf"}, ""},
			{3, "/x%2F..", []string{"-rf"}, ""},
			{22, "/private", nil, ""},
			{22, "/private", []string{"-f"}, ""},
			{1, "/moved", []string{"-f"}, ""},
			{78, "/none", nil, ""},
			{0, "/none", []string{"-f"}, ""},
			{0, "/unable", nil, "DELETE /unable"},
			{0, "/file", nil, "DELETE /file"},
			{0, "/dir", []string{"-rf"}, "DELETE /dir/"},
			{22, "/locked/", []string{"-rf"}, "DELETE /locked/"},
		} {
			d.asked = nil
			code, out, complaint := perform(t, slices.Concat([]string{"rm"}, tc.args, []string{srv.URL + tc.url})...)
			sent := ""
			for _, line := range d.asked {
				if strings.HasPrefix(line, http.MethodDelete) {
					sent = line
				}
			}
			if code != tc.code || sent != tc.asked {
				t.Errorf("%s %q: exit code %d, sent %q: %s%s", tc.url, tc.args, code, sent, out, complaint)
			}
		}
		srv.Close()
	}
}

// mv -f replaces no directory of a server that would delete all that it has, and does not move the root.
func TestMoveOnWeb(t *testing.T) {
	one := new(dav)
	srv := httptest.NewServer(one)
	if code, _, complaint := perform(t, "mv", "-f", srv.URL+"/a/x", srv.URL+"/b/x", srv.URL+"/"); code != 25 || !slices.Contains(one.asked, "MOVE /a/x") || slices.Contains(one.asked, "MOVE /b/x") {
		t.Errorf("two of a name: exit code %d, sent %q: %s", code, one.asked, complaint)
	}
	srv.Close()
	for _, d := range []*dav{{propfind: true}, {redirects: true}} {
		srv := httptest.NewServer(d)
		for _, tc := range []struct {
			code     int
			from, to string
			moved    bool
		}{
			{0, "/file", "/other", true},
			{25, "/a/dir", "/", false},
			{3, "/", "/new/", false},
			{3, "/file", "/..", false},
		} {
			d.asked = nil
			code, out, complaint := perform(t, "mv", "-f", srv.URL+tc.from, srv.URL+tc.to)
			moved := slices.ContainsFunc(d.asked, func(line string) bool { return strings.HasPrefix(line, "MOVE ") })
			if code != tc.code || moved != tc.moved {
				t.Errorf("%s to %s: exit code %d, sent %q: %s%s", tc.from, tc.to, code, d.asked, out, complaint)
			}
		}
		srv.Close()
	}
}
