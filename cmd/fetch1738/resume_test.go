package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
)

// TestResumeEverywhere cuts a document behind every octet, once and then again,
// on its way to a file and to a pipe. What comes of it is the document, or for a
// pipe an error; never a mixture.
func TestResumeEverywhere(t *testing.T) {
	const text = "0123456789"
	content := fstest.MapFS{"file": {Data: []byte(text), ModTime: time.Date(1994, time.December, 1, 12, 0, 0, 0, time.UTC)}}
	ftp := testserver.NewFTP(t, func(s *testserver.FTP) { s.Content = content })
	http := testserver.NewHTTP(t, func(s *testserver.HTTP) { s.Content = content })
	cut := func(s *testserver.Server, stage string, nth, n int) {
		s.On(stage, nth, testserver.Truncate(int64(n)))
	}
	for _, tc := range []struct {
		name    string
		server  *testserver.Server
		stage   string
		arm     func(s *testserver.Server)
		pipable bool // the second answer can be told to go on with the first
	}{
		{"ftp", &ftp.Server, "RETR", func(*testserver.Server) {}, true},
		{"ftp, changed", &ftp.Server, "RETR", func(s *testserver.Server) { s.On("MDTM", 2, testserver.Reply("213 20000101000000")) }, false},
		{"ftp, shorter", &ftp.Server, "RETR", func(s *testserver.Server) { s.On("SIZE", 1, testserver.Reply("213 99")) }, false},
		{"ftp without SIZE", &ftp.Server, "RETR", func(s *testserver.Server) { s.On("SIZE", 0, testserver.Reply("502 no")) }, false},
		{"ftp without REST", &ftp.Server, "RETR", func(s *testserver.Server) { s.On("REST", 0, testserver.Reply("502 no")) }, false},
		{"http", &http.Server, "REQUEST", func(*testserver.Server) {}, true},
		{"http, changed", &http.Server, "REQUEST", func(s *testserver.Server) {
			s.On("REQUEST", 1, testserver.Header("ETag", `"old"`))
		}, false},
		{"http without a validator", &http.Server, "REQUEST", func(s *testserver.Server) {
			s.On("REQUEST", 0, testserver.Header("ETag", `W/"weak"`))
		}, false},
	} {
		for n := range text {
			for _, again := range []bool{false, true} {
				for _, pipe := range []bool{false, true} {
					tc.server.ResetFaults()
					tc.arm(tc.server)
					cut(tc.server, tc.stage, 1, n)
					if again {
						cut(tc.server, tc.stage, 2, 1)
					}
					got, code, said := tryAgain(t, tc.server.URL+"/file", pipe)
					what := fmt.Sprintf("%s: cut after %d, again %v, pipe %v: %q, exit code %d, %s", tc.name, n, again, pipe, got, code, said)
					switch {
					case code == exitOK && got != text:
						t.Error(what)
					case code != exitOK && (!pipe || tc.pipable || !strings.HasPrefix(text, got)):
						t.Error(what)
					}
				}
			}
		}
	}
}

// tryAgain fetches a URL, with two tries more, to a file or a pipe.
func tryAgain(t *testing.T, url string, pipe bool) (got string, code int, said string) {
	t.Helper()
	var out, complaints bytes.Buffer
	args := []string{"-q", "--retry", "2", "--retry-delay", "0.001", url}
	path := filepath.Join(t.TempDir(), "file")
	if !pipe {
		args = append(args, "-o", path)
	}
	code = run(t.Context(), args, streams{strings.NewReader(""), &out, &complaints})
	if pipe {
		return out.String(), code, complaints.String()
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v: %s", err, complaints.String())
	}
	return string(b), code, complaints.String()
}
