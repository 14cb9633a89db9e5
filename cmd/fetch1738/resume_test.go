package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// TestResumeEverywhere cuts a document behind every octet, once and then again,
// on its way to a file and to a pipe. What comes of it is the document, or for a
// pipe an error; never a mixture.
func TestResumeEverywhere(t *testing.T) {
	const text = "0123456789"
	content := fstest.MapFS{"file": {Data: []byte(text), ModTime: time.Date(1994, time.December, 1, 12, 0, 0, 0, time.UTC)}}
	startFTP := func(t *testing.T) *testserver.Server {
		return &ftptest.New(t, func(s *ftptest.Server) { s.Content = content }).Server
	}
	startHTTP := func(t *testing.T) *testserver.Server {
		return &webtest.New(t, func(s *webtest.Server) { s.Content = content }).Server
	}
	for _, tc := range []struct {
		name    string
		start   func(t *testing.T) *testserver.Server
		stage   string
		arm     func(s *testserver.Server)
		pipable bool // the second response can be recognized as the rest of the first
	}{
		{"ftp", startFTP, "RETR", func(*testserver.Server) {}, true},
		{"ftp, changed", startFTP, "RETR", func(s *testserver.Server) { s.On("MDTM", 2, testserver.Reply("213 20000101000000")) }, false},
		{"ftp, shorter", startFTP, "RETR", func(s *testserver.Server) { s.On("SIZE", 1, testserver.Reply("213 99")) }, false},
		{"ftp without SIZE", startFTP, "RETR", func(s *testserver.Server) { s.On("SIZE", 0, testserver.Reply("502 no")) }, false},
		{"ftp without REST", startFTP, "RETR", func(s *testserver.Server) { s.On("REST", 0, testserver.Reply("502 no")) }, false},
		{"http", startHTTP, "REQUEST", func(*testserver.Server) {}, true},
		{"ftp, REST ignored", startFTP, "RETR", func(s *testserver.Server) { s.On("REST", 0, testserver.FromStart()) }, false},
		{"http, another part", startHTTP, "REQUEST", func(s *testserver.Server) { s.On("REQUEST", 0, testserver.FromStart()) }, false},
		{"http, changed", startHTTP, "REQUEST", func(s *testserver.Server) {
			s.On("REQUEST", 1, webtest.Header("ETag", `"old"`))
		}, false},
		{"http without a validator", startHTTP, "REQUEST", func(s *testserver.Server) {
			s.On("REQUEST", 0, webtest.Header("ETag", `W/"weak"`))
		}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			server := tc.start(t)
			for n := range text {
				for _, again := range []bool{false, true} {
					for _, pipe := range []bool{false, true} {
						server.ResetFaults()
						tc.arm(server)
						server.On(tc.stage, 1, testserver.Truncate(int64(n)))
						if again {
							server.On(tc.stage, 2, testserver.Truncate(1))
						}
						got, code, said := tryAgain(t, server.URL+"/file", pipe)
						what := fmt.Sprintf("cut after %d, again %v, pipe %v: %q, exit code %d, %s", n, again, pipe, got, code, said)
						switch {
						case code == exit.OK && got != text:
							t.Error(what)
						case code != exit.OK && (!pipe || tc.pipable || !strings.HasPrefix(text, got)):
							t.Error(what)
						}
					}
				}
			}
			server.ResetFaults() // there need not be a second try
		})
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
	code = run(t.Context(), args, stdio.Streams{In: strings.NewReader(""), Out: &out, Err: &complaints})
	if pipe {
		return out.String(), code, complaints.String()
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v: %s", err, complaints.String())
	}
	return string(b), code, complaints.String()
}

// TestAppendOnce has an FTP server that refuses to append a file, or fails after it has stored some or
// all of it. What may be stored is not sent again.
func TestAppendOnce(t *testing.T) {
	const text = "0123456789"
	for name, tc := range map[string]struct {
		arm  func(*ftptest.Server)
		code int
	}{
		"refused": {func(srv *ftptest.Server) { srv.On("APPE", 1, testserver.Reply("450 busy")) }, exit.OK},
		"failed":  {func(srv *ftptest.Server) { srv.On("END", 1, testserver.Reply("451 no")) }, exit.Partial},
		"broken":  {func(srv *ftptest.Server) { srv.On("END", 1, testserver.Close()) }, exit.Receive},
	} {
		t.Run(name, func(t *testing.T) {
			srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{} })
			tc.arm(srv)
			file := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var complaints bytes.Buffer
			args := []string{"-q", "--retry", "2", "--retry-delay", "0.001", "-a", "-T", file, srv.URL + "/log"}
			code := run(t.Context(), args, stdio.Streams{In: strings.NewReader(""), Out: io.Discard, Err: &complaints})
			got, err := fs.ReadFile(srv.Files(), "log")
			if string(got) != text || err != nil || code != tc.code {
				t.Errorf("%q, %v, exit code %d, %s", got, err, code, &complaints)
			}
			if says := strings.Contains(complaints.String(), "no retry: part of the document has already been written"); says == (code == exit.OK) {
				t.Error(&complaints)
			}
		})
	}
}
