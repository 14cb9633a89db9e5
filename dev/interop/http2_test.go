package interop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// curlHTTP2 returns the path of curl. A curl without HTTP/2 counts as missing.
func curlHTTP2(t *testing.T) string {
	t.Helper()
	curl := requireTool(t, "curl")
	if out, _ := runTool(t, curl, "--version"); !strings.Contains(out, " HTTP2 ") {
		if os.Getenv("CI") != "" {
			t.Fatal("curl has no HTTP/2")
		}
		t.Skip("curl has no HTTP/2")
	}
	return curl
}

// TestCurlHTTP2 tests that curl gets from webtest by HTTP/2 what it gets by HTTP/1.1.
func TestCurlHTTP2(t *testing.T) {
	t.Parallel()
	curl := curlHTTP2(t)
	local := filepath.Join(t.TempDir(), "local.txt")
	large := strings.Repeat("one\ntwo\nthree\n", 1<<17)
	if err := os.WriteFile(local, []byte(large), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		args  string
		want  string
		code  int
		sent  []string
		again bool // the connection is used again
	}{
		{"get", "-u lab:s3cret -w [%{http_version}] URL/motd.txt", "hello\nworld\n[2]", 0, []string{"GET /motd.txt HTTP/2", "Authorization: Basic bGFiOnMzY3JldA=="}, false},
		{"get binary", "URL/every.bin", string(shelf()["every.bin"].Data), 0, nil, false},
		{"range", "-r 1-3 URL/every.bin", string(shelf()["every.bin"].Data[1:4]), 0, []string{"Range: bytes=1-3"}, false},
		{"head", "-I URL/pub/a.txt", "HTTP/2 200 \r\naccept-ranges: bytes\r\ncontent-length: 2\r\ncontent-type: text/plain; charset=utf-8\r\netag: \"ae970678cdb8000-2\"\r\nlast-modified: Thu, 01 Dec 1994 12:00:00 GMT\r\n\r\n", 0, []string{"HEAD /pub/a.txt HTTP/2"}, false},
		{"put", "-T LOCAL URL/up.txt", "created\n", 0, []string{"PUT /up.txt HTTP/2"}, false},
		{"post", "--data-binary @LOCAL URL/up.txt", "created\n", 0, []string{"POST /up.txt HTTP/2"}, false},
		{"redirect followed", "-L URL/old", "a\n", 0, []string{"GET /old HTTP/2", "GET /pub/a.txt HTTP/2"}, true},
		{"no login", "-f URL/motd.txt", "", 22, nil, false},
		{"only if newer", "-z 20200101 -w %{http_code} URL/pub/a.txt", "304", 0, nil, false},
		{"two on one connection", "-w [%{num_connects}] URL/pub/a.txt URL/pub/a.txt", "a\n[1]a\n[0]", 0, nil, true},
		{"HTTP/1.1", "--http1.1 -w [%{http_version}] URL/pub/a.txt", "a\n[1.1]", 0, []string{"GET /pub/a.txt HTTP/1.1"}, false},
	} {
		for _, way := range []string{"--http2", "--http2-prior-knowledge"} {
			if tt.again && way != "--http2" {
				continue // curl 7.88 cannot use a connection of prior knowledge again (exit 16), at Go's server neither
			}
			t.Run(tt.name+way, func(t *testing.T) {
				srv := startWebHTTP2(t, way)
				args := append([]string{way, "--cacert", trustFile(t, srv)}, curlArgs(tt.args, srv.URL, local)[1:]...)
				for i := range args {
					args[i] = strings.Replace(args[i], "@LOCAL", "@"+local, 1)
				}
				out, code := runTool(t, curl, append([]string{"-q"}, args...)...)
				if out != tt.want || code != tt.code {
					t.Errorf("exit %d, %.200q; want %d, %.200q\n%s", code, out, tt.code, tt.want, srv.Transcript())
				}
				sent(t, srv, tt.sent...)
				for name, data := range srv.Uploads() {
					if string(data) != large {
						t.Errorf("%s: %d bytes were uploaded, want %d", name, len(data), len(large))
					}
				}
			})
		}
	}
}

// startWebHTTP2 starts a server of which curl asks for HTTP/2 in a way: with TLS for ALPN.
func startWebHTTP2(t *testing.T, way string) *webtest.Server {
	t.Helper()
	return webtest.New(t, func(s *webtest.Server) {
		s.Content = shelf()
		s.Users = map[string]testserver.User{"lab": {Password: "s3cret"}}
		s.Protected = []string{"/motd"}
		s.Redirects = map[string]webtest.Redirect{"/old": {Location: "/pub/a.txt"}}
		if way == "--http2" {
			s.TLS, s.ImplicitTLS = testserver.NewTLS(), true
		}
	})
}

// trustFile returns a file with the certificates of a server.
func trustFile(t *testing.T, srv *webtest.Server) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, srv.CA(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestCurlSeesHTTP2Faults tests what curl makes of the faults that only HTTP/2 has.
func TestCurlSeesHTTP2Faults(t *testing.T) {
	t.Parallel()
	curl := curlHTTP2(t)
	for _, tt := range []struct {
		faults []webtest.Fault
		code   int // 0 means that the whole document comes
	}{
		{[]webtest.Fault{webtest.ResetStream(1, "INTERNAL_ERROR")}, 92},
		{[]webtest.Fault{webtest.ResetStream(-1, "REFUSED_STREAM")}, 0}, // it tries again
		{[]webtest.Fault{webtest.EndStream(1)}, 92},
		{[]webtest.Fault{webtest.ContentLength(20)}, 92},
		{[]webtest.Fault{webtest.ContentLength(1)}, 92},
		{[]webtest.Fault{webtest.Chunked()}, 0},
		{[]webtest.Fault{webtest.Trailers("X-Sum", "7"), webtest.Interim(103)}, 0},
		{[]webtest.Fault{webtest.GoAway(-1, "NO_ERROR")}, 0},
		{[]webtest.Fault{webtest.GoAway(0, "NO_ERROR")}, 16},
		{[]webtest.Fault{webtest.GoAway(-1, "INTERNAL_ERROR"), testserver.Close()}, 18},
		{[]webtest.Fault{testserver.Truncate(1)}, 18},
		{[]webtest.Fault{testserver.Close()}, 18},
		{[]webtest.Fault{webtest.Frame("HEADERS", "\x80")}, 52},
		{[]webtest.Fault{webtest.Frame("PUSH_PROMISE", "\x00\x00\x00\x02\x82")}, 52},
		{[]webtest.Fault{webtest.Header(":path", "/")}, 92},
		{[]webtest.Fault{webtest.EndlessHeaders()}, 56},
		{[]webtest.Fault{webtest.HeaderBomb(64 << 20)}, 56},
		{[]webtest.Fault{webtest.Flood("CONTINUATION")}, 56},
		{[]webtest.Fault{webtest.Status(421)}, 0},
	} {
		for _, way := range []string{"--http2", "--http2-prior-knowledge"} {
			name := ""
			for _, f := range tt.faults {
				name += f.String()
			}
			t.Run(name+way, func(t *testing.T) {
				srv := startWebHTTP2(t, way)
				srv.On("GET", 1, tt.faults...)
				out, code := runTool(t, curl, "-q", "-sS", way, "--cacert", trustFile(t, srv), srv.URL+"/pub/a.txt")
				if code != tt.code || code == 0 && out != "a\n" {
					t.Errorf("exit %d, %q; want %d\n%s", code, out, tt.code, srv.Transcript())
				}
			})
		}
	}
}
