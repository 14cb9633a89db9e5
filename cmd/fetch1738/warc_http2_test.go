package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/verbtest"
)

// TestWARCHTTP2 records by HTTP/2, one after the other and at once, verifies and reads the file, and
// serves it.
func TestWARCHTTP2(t *testing.T) {
	t.Parallel()
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/old":
			http.Redirect(w, r, "/new", http.StatusMovedPermanently)
		case r.URL.Path == "/none":
			http.NotFound(w, r)
		case r.URL.Path == "/cut":
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "cut")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		default:
			w.Header().Set("Content-Type", "text/x-path")
			w.Header().Set("X-Path", r.URL.Path)
			fmt.Fprintf(w, "by %s: %s\n", r.Proto, r.URL.Path)
		}
	}))
	web.EnableHTTP2 = true
	web.StartTLS()
	defer web.Close()
	url := web.URL
	name := filepath.Join(t.TempDir(), "x.warc")
	runs(t, 0, "by HTTP/2.0: /new\n404 page not found\n", "-sk", "-L", "--warc", name, url+"/old", url+"/none")
	runs(t, 18, "cut", "-sk", "--warc", name, url+"/cut")
	runs(t, 0, "by HTTP/2.0: /new\n", "-sk", "--warc", name, url+"/new")
	wantRecorded(t, name, "response "+url+"/old unspecified", "response "+url+"/new", "response "+url+"/none",
		"response "+url+"/cut disconnect", "revisit "+url+"/new")
	runs(t, 0, "by HTTP/2.0: /new\n", "warc", "get", name, url+"/new")
	octets, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]int{"WARC-Protocol: h2\r\n": 10, "\r\n\r\nHTTP/1.1 200 \r\n": 3, "\r\n\r\nGET /new HTTP/1.1\r\n": 2, "\r\n\r\nHTTP/2": 0} {
		if n := bytes.Count(octets, []byte(line)); n != want {
			t.Errorf("%q is there %d times, not %d", line, n, want)
		}
	}

	const most = 20
	many := filepath.Join(t.TempDir(), "many.warc.gz")
	runs(t, 0, "", "-skZ", "--warc", many, "-o", filepath.Join(t.TempDir(), "#1"), fmt.Sprintf("%s/[1-%d]", url, most))
	for i := range most {
		path := fmt.Sprintf("/%d", i+1)
		runs(t, 0, "by HTTP/2.0: "+path+"\n", "warc", "get", many, url+path)
	}
	for _, name := range []string{name, many} {
		if out, err := program(t, "warc", "verify", name).CombinedOutput(); err != nil || !strings.Contains(string(out), ": 0 faults") {
			t.Errorf("%v: %s", err, out)
		}
	}

	s := verbtest.Start(t, *verbNamed([]string{"serve"}), strings.NewReader(""), 1, "--archive", name)
	local, _, _ := strings.Cut(s.Lines[0], "\t")
	for path, want := range map[string]string{"new": "200 by HTTP/2.0: /new\n text/x-path /new", "none": "404 404 page not found\n text/plain; charset=utf-8 ", "old": "301 "} {
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		res, err := client.Get(local + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if got := fmt.Sprintf("%d %s %s %s", res.StatusCode, body, res.Header.Get("Content-Type"), res.Header.Get("X-Path")); !strings.HasPrefix(got, want) || res.ProtoMajor != 1 {
			t.Errorf("%s: %q by %s, want %q", path, got, res.Proto, want)
		}
	}
}
