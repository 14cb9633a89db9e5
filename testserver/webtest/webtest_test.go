package webtest_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

func webInMemory(s *webtest.Server) { s.InMemory, s.Content = true, testclient.Content() }

// webClient returns a client of net/http that does not follow redirects. It speaks HTTP/1.1, or one of the
// other protocols.
func webClient(t *testing.T, srv *webtest.Server, protocols ...func(*http.Protocols, bool)) *http.Client {
	tr := &http.Transport{DialContext: srv.Dial, ExpectContinueTimeout: time.Minute, TLSClientConfig: &tls.Config{RootCAs: srv.Roots()}}
	for _, set := range protocols {
		tr.Protocols = new(http.Protocols)
		set(tr.Protocols, true)
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func TestHTTPRequests(t *testing.T) {
	const etag = `"b05e5ca7469b600-c"`
	for _, tt := range []struct {
		name      string
		configure func(*webtest.Server)
		method    string
		path      string
		body      string
		header    string // "Name: value", several separated by "|"
		status    int
		want      string // the body
		has       string // fields of the response, in the form of header
	}{
		{"file", nil, "GET", "/motd.txt", "", "", 200, "hello\nworld\n", "Content-Type: text/plain; charset=utf-8|Content-Length: 12|Accept-Ranges: bytes|Last-Modified: Sat, 04 Mar 1995 05:06:07 GMT|ETag: " + etag},
		{"head", nil, "HEAD", "/motd.txt", "", "", 200, "", "Content-Length: 12|ETag: " + etag},
		{"binary", nil, "GET", "/every.bin", "", "", 200, string(testclient.Content()["every.bin"].Data), "Content-Type: application/octet-stream"},
		{"own media type", func(s *webtest.Server) { s.MediaTypes = map[string]string{".txt": "text/x-odd"} }, "GET", "/motd.txt", "", "", 200, "hello\nworld\n", "Content-Type: text/x-odd"},
		{"escaped name", nil, "GET", "/with%20space/100%25%20a.md", "", "", 200, "odd name\n", ""},
		{"range", nil, "GET", "/motd.txt", "", "Range: bytes=6-", 206, "world\n", "Content-Range: bytes 6-11/12"},
		{"range in the middle", nil, "GET", "/motd.txt", "", "Range: bytes=1-2", 206, "el", "Content-Range: bytes 1-2/12|Content-Length: 2"},
		{"range beyond the end", nil, "GET", "/motd.txt", "", "Range: bytes=12-", 416, "", "Content-Range: bytes */12"},
		{"another part", func(s *webtest.Server) { s.On("GET", 1, testserver.FromStart()) }, "GET", "/motd.txt", "", "Range: bytes=6-", 206, "hello\n", "Content-Range: bytes 6-11/12|Content-Length: 6"},
		{"ranges unknown", func(s *webtest.Server) { s.NoRanges = true }, "GET", "/motd.txt", "", "Range: bytes=6-", 200, "hello\nworld\n", "Accept-Ranges: (none)"},
		{"as another range", func(s *webtest.Server) { s.Ranges.As = "bytes=0-" }, "GET", "/motd.txt", "", "Range: bytes=6-", 206, "hello\nworld\n", "Content-Range: bytes 0-11/12"},
		{"less of a range", func(s *webtest.Server) { s.Ranges.Most = 2 }, "GET", "/motd.txt", "", "Range: bytes=6-", 206, "wo", "Content-Range: bytes 6-7/12|Content-Length: 2"},
		{"less than most of a range", func(s *webtest.Server) { s.Ranges.Most = 2 }, "GET", "/motd.txt", "", "Range: bytes=6-6", 206, "w", "Content-Range: bytes 6-6/12"},
		{"range in other words", func(s *webtest.Server) { s.Ranges.Says = "Bytes {first}-{last}/*, not {size}" }, "GET", "/motd.txt", "", "Range: bytes=6-", 206, "world\n", "Content-Range: Bytes 6-11/*, not 12"},
		{"same version", nil, "GET", "/motd.txt", "", "Range: bytes=6-|If-Range: " + etag, 206, "world\n", ""},
		{"another version", nil, "GET", "/motd.txt", "", `Range: bytes=6-|If-Range: "x"`, 200, "hello\nworld\n", ""},
		{"not modified", nil, "GET", "/motd.txt", "", "If-None-Match: " + etag, 304, "", ""},
		{"directory", nil, "GET", "/with%20space/", "", "", 200, "<!DOCTYPE html>\n<title>/with space</title>\n<h1>/with space</h1>\n<ul>\n<li><a href=\"./100%25%20a.md\">100% a.md</a>\n</ul>\n", "Content-Type: text/html; charset=utf-8"},
		{"directory without a slash", nil, "GET", "/with%20space", "", "", 301, "it is elsewhere\n", "Location: /with%20space/"},
		{"missing", nil, "GET", "/nix", "", "", 404, "not found\n", ""},
		{"file as a directory", nil, "GET", "/motd.txt/", "", "", 404, "not found\n", ""},
		{"forbidden", nil, "GET", "/secret/key.txt", "", "", 403, "forbidden\n", ""},
		{"method", nil, "DELETE", "/motd.txt", "", "", 405, "not allowed\n", "Allow: GET, HEAD, PUT, POST"},
		{"put", nil, "PUT", "/new", "body", "", 201, "created\n", "Location: /new"},
		{"put over", nil, "PUT", "/motd.txt", "body", "", 204, "", ""},
		{"put below nothing", nil, "PUT", "/nix/x", "body", "", 404, "not found\n", ""},
		{"put over a directory", nil, "PUT", "/pub", "body", "", 409, "conflict\n", ""},
		{"put a part", nil, "PUT", "/motd.txt", "body", "Content-Range: bytes 0-3/12", 400, "no partial PUT here\n", ""},
		{"put too much", func(s *webtest.Server) { s.MaxUpload = 3 }, "PUT", "/new", "body", "", 413, "request entity too large\n", "Connection: close"},
		{"put when asked to", nil, "PUT", "/new", "body", "Expect: 100-continue", 201, "created\n", ""},
		{"expectation refused", nil, "PUT", "/pub", "body", "Expect: 100-continue", 409, "conflict\n", ""},
		{"read only", func(s *webtest.Server) { s.ReadOnly = true }, "PUT", "/new", "body", "", 405, "not allowed\n", "Allow: GET, HEAD"},
		{"redirect", func(s *webtest.Server) {
			s.Redirects = map[string]webtest.Redirect{"/old": {Location: "/motd.txt"}}
		}, "GET", "/old", "", "", 302, "it is elsewhere\n", "Location: /motd.txt"},
		{"redirect as asked", func(s *webtest.Server) {
			s.Redirects = map[string]webtest.Redirect{"/old": {Location: "{query}?x={query}"}}
		}, "GET", "/old?http://h:1/a%20b", "", "", 302, "it is elsewhere\n", "Location: http://h:1/a b?x=http://h:1/a b"},
		{"redirect for good", func(s *webtest.Server) {
			s.Redirects = map[string]webtest.Redirect{"/old": {Location: "ftp://h/x", Status: 308}}
		}, "GET", "/old", "", "", 308, "it is elsewhere\n", "Location: ftp://h/x"},
		{"login needed", locked, "GET", "/motd.txt", "", "", 401, "who are you?\n", `WWW-Authenticate: Basic realm="lab only"`},
		{"login wrong", locked, "GET", "/motd.txt", "", "Authorization: Basic bGFiOng=", 401, "who are you?\n", ""},
		{"login right", locked, "GET", "/motd.txt", "", "Authorization: Basic bGFiOnNlY3JldA==", 200, "hello\nworld\n", ""},
		{"not protected", func(s *webtest.Server) { locked(s); s.Protected = []string{"/pub/"} }, "GET", "/motd.txt", "", "", 200, "hello\nworld\n", ""},
		{"protected", func(s *webtest.Server) { locked(s); s.Protected = []string{"/pub/"} }, "GET", "/pub/a.txt", "", "", 401, "who are you?\n", ""},
		{"echo", nil, "POST", "/echo?a=b", "body", "X-Odd: yes|User-Agent: me", 200, "POST /echo?a=b HTTP/1.1\r\nHost: 127.0.0.1:80\r\nUser-Agent: me\r\nContent-Length: 4\r\nX-Odd: yes\r\nAccept-Encoding: gzip\r\n\r\nbody", "Content-Type: message/http"},
	} {
		run := func(t *testing.T, protocols ...func(*http.Protocols, bool)) {
			srv := webtest.New(t, webInMemory, func(s *webtest.Server) {
				s.Forbidden = []string{"secret"}
				if tt.configure != nil {
					tt.configure(s)
				}
			})
			req, err := http.NewRequest(tt.method, srv.URL+tt.path, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range fields(tt.header) {
				req.Header.Set(name, value)
			}
			res, err := webClient(t, srv, protocols...).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if want := 1 + len(protocols); res.ProtoMajor != want {
				t.Errorf("HTTP/%d, want HTTP/%d", res.ProtoMajor, want)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if res.StatusCode != tt.status || err != nil {
				t.Errorf("status %d, %v; want %d", res.StatusCode, err, tt.status)
			}
			got, want := string(body), tt.want
			if res.ProtoMajor == 2 { // the client sends the fields in any order
				got, want = sortLines(got), sortLines(strings.Replace(want, "HTTP/1.1\r\n", "HTTP/2\r\n", 1))
			}
			if tt.status != 416 && got != want {
				t.Errorf("body %q\nwant %q", got, want)
			}
			for name, value := range fields(tt.has) {
				if value == "(none)" {
					value = ""
				}
				if got := res.Header.Get(name); got != value && !(name == "Connection" && (res.Close || res.ProtoMajor == 2)) {
					t.Errorf("%s: %q, want %q", name, got, value)
				}
			}
		}
		testclient.InBubble(t, tt.name, func(t *testing.T) { run(t) })
		testclient.InBubble(t, tt.name+" by HTTP 2", func(t *testing.T) { run(t, (*http.Protocols).SetUnencryptedHTTP2) })
	}
}

func sortLines(text string) string {
	return strings.Join(slices.Sorted(strings.SplitSeq(text, "\r\n")), "\r\n")
}

func locked(s *webtest.Server) {
	s.Users = map[string]testserver.User{"lab": {Password: "secret"}}
	s.Realm = "lab only"
}

func fields(text string) map[string]string {
	m := make(map[string]string)
	for part := range strings.SplitSeq(text, "|") {
		if name, value, ok := strings.Cut(part, ": "); ok {
			m[name] = value
		}
	}
	return m
}

func TestHTTPUploads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := webtest.New(t, webInMemory)
		client := webClient(t, srv)
		var etags []string
		for _, tt := range []struct{ method, path, body string }{
			{"PUT", "/new", "first"}, {"PUT", "/new", "other"}, {"POST", "/new", "+more"}, {"POST", "/log", "start"},
		} {
			req, _ := http.NewRequest(tt.method, srv.URL+tt.path, strings.NewReader(tt.body))
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			res, err = client.Head(srv.URL + tt.path)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			etags = append(etags, res.Header.Get("ETag"))
		}
		up := srv.Uploads()
		if len(up) != 2 || string(up["new"]) != "other+more" || string(up["log"]) != "start" {
			t.Errorf("uploads %q", up)
		}
		if etags[0] == etags[1] || etags[0] == "" {
			t.Errorf("two versions with one entity tag: %q", etags)
		}
	})
}

func TestHTTPConnectionIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := webtest.New(t, webInMemory)
		requests := "GET /motd.txt HTTP/1.1\r\nHost: h\r\n\r\n" +
			"PUT /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" +
			"HEAD /motd.txt HTTP/1.1\r\nHost: h\r\n\r\n" +
			"GET /pub/a.txt HTTP/1.0\r\n\r\n"
		got, err := testclient.Ask(t, srv, srv.Addr, requests)
		if err != nil || strings.Count(got, "HTTP/1.1 20") != 4 || !strings.HasSuffix(got, "\r\n\r\na") {
			t.Errorf("answers %q, %v", got, err)
		}
		if string(srv.Uploads()["x"]) != "abc" {
			t.Errorf("uploads %q", srv.Uploads())
		}
		for _, l := range srv.Transcript() {
			if l.Conn != 1 {
				t.Errorf("a second connection: %v", l)
			}
		}
	})
}

func TestHTTPTranscript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := webtest.New(t, webInMemory)
		if _, err := testclient.Ask(t, srv, srv.Addr, "GET /pub/a.txt HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		want := `C: GET /pub/a.txt HTTP/1.1
C: Host: h
C: Connection: close
C: 
S: HTTP/1.1 200 OK
S: Accept-Ranges: bytes
S: Connection: close
S: Content-Length: 1
S: Content-Type: text/plain; charset=utf-8
S: Etag: "ae970678cdb8000-1"
S: Last-Modified: Thu, 01 Dec 1994 12:00:00 GMT
S: 
`
		if got := srv.Transcript().String(); got != want {
			t.Errorf("transcript\n%swant\n%s", got, want)
		}
	})
}

func TestHTTPBadRequests(t *testing.T) {
	for _, tt := range []struct{ name, request, want string }{
		{"another protocol", "nonsense\r\n", "HTTP/1.1 400 Bad Request\r\n"},
		{"nonsense", "nonsense\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n"},
		{"large head", "GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 70000) + "\r\n\r\n", "HTTP/1.1 431 "},
		{"idle in the middle", "GET / HTTP/1.1\r\nX", "HTTP/1.1 408 Request Timeout\r\n"},
		{"two lengths", "PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", "HTTP/1.1 400 "},
		{"lines in LF", "GET /pub/a.txt HTTP/1.0\n\n", "HTTP/1.1 200 OK\r\n"},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := webtest.New(t, webInMemory)
			if got, err := testclient.Ask(t, srv, srv.Addr, tt.request); !strings.HasPrefix(got, tt.want) || err != nil {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

// An idle connection is closed without a reply.
func TestHTTPIdleConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := webtest.New(t, webInMemory)
		got, err := testclient.Ask(t, srv, srv.Addr, "HEAD /motd.txt HTTP/1.1\r\nHost: h\r\n\r\n")
		if strings.Count(got, "HTTP/") != 1 || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestHTTPFaults(t *testing.T) {
	type faults = []webtest.Fault
	head := "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n"
	for _, tt := range []struct {
		name   string
		stage  string
		faults faults
		want   string // the response without the fields that the table does not test
		err    error
		takes  time.Duration
	}{
		{"none", "GET", nil, head + "\r\nhello\nworld\n", nil, 0},
		{"not this method", "HEAD", faults{webtest.Status(500)}, head + "\r\nhello\nworld\n", nil, 0},
		{"status", "GET", faults{webtest.Status(503), webtest.Header("Retry-After", "7")}, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 12\r\nRetry-After: 7\r\n\r\nhello\nworld\n", nil, 0},
		{"status by path", "GET /motd.txt", faults{webtest.Status(599)}, "HTTP/1.1 599 \r\nContent-Length: 12\r\n\r\nhello\nworld\n", nil, 0},
		{"field left out", "GET", faults{webtest.Header("Content-Length", "")}, "HTTP/1.1 200 OK\r\n\r\nhello\nworld\n", nil, 0},
		{"usual value", "GET", faults{webtest.Header("Content-Length", "{usual}, {usual}"), webtest.Header("Age", "{usual}")}, "HTTP/1.1 200 OK\r\nContent-Length: 12, 12\r\n\r\nhello\nworld\n", nil, 0},
		{"too long a length", "GET", faults{webtest.ContentLength(20)}, "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhello\nworld\n", nil, 0},
		{"too short a length", "GET", faults{webtest.ContentLength(2)}, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello\nworld\n", nil, 0},
		{"no length", "REQUEST", faults{webtest.ContentLength(-1)}, "HTTP/1.1 200 OK\r\n\r\nhello\nworld\n", nil, 0},
		{"chunked", "GET", faults{webtest.Chunked()}, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\nhello\nworld\n\r\n0\r\n\r\n", nil, 0},
		{"trailers", "GET", faults{webtest.Chunked(), webtest.Trailers("X-Sum", "7")}, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\nhello\nworld\n\r\n0\r\nX-Sum: 7\r\n\r\n", nil, 0},
		{"early hints", "GET", faults{webtest.Interim(103)}, "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload; as=style\r\n\r\n" + head + "\r\nhello\nworld\n", nil, 0},
		{"not this version", "GET", faults{webtest.ResetStream(1, "CANCEL"), webtest.Flood("PING"), webtest.HeaderBomb(5)}, head + "\r\nhello\nworld\n", nil, 0},
		{"chunk truncated", "GET", faults{webtest.Chunked(), testserver.Truncate(5)}, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\nhello", nil, 0},
		{"truncated", "GET", faults{testserver.Truncate(5)}, head + "\r\nhello", nil, 0},
		{"no body at all", "GET", faults{testserver.Truncate(0)}, head + "\r\n", nil, 0},
		{"reset", "GET", faults{testserver.Reset(5)}, head + "\r\nhello", syscall.ECONNRESET, 0},
		{"drip", "GET", faults{testserver.Drip(1, time.Minute)}, head + "\r\nhello\nworld\n", nil, 12 * time.Minute},
		{"garble", "GET", faults{testserver.Garble(0, "J")}, head + "\r\nJello\nworld\n", nil, 0},
		{"data", "GET", faults{testserver.Data("other")}, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother", nil, 0},
		{"reply", "GET", faults{testserver.Reply("HTTP/9.9 what\n")}, "HTTP/9.9 what\r\n\r\n", nil, 0},
		{"redirect", "GET", faults{webtest.RedirectTo("/x", 0)}, "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", nil, 0},
		{"close", "GET", faults{testserver.Close()}, "", nil, 0},
		{"delay", "GET", faults{testserver.Delay(time.Hour)}, head + "\r\nhello\nworld\n", nil, time.Hour},
		{"silence", "GET", faults{testserver.Silence()}, "", os.ErrDeadlineExceeded, testclient.Patience},
		{"cut in the head", "CONNECT", faults{testserver.Truncate(10)}, "HTTP/1.1 2", nil, 0},
		{"cut in the body", "CONNECT", faults{testserver.Truncate(int64(len(plainResponse) - 7))}, head + "\r\nhello", nil, 0},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := webtest.New(t, webInMemory)
			srv.On(tt.stage, 1, tt.faults...)
			start := time.Now()
			nc := testclient.Dial(t, srv, srv.Addr)
			nc.SetReadDeadline(start.Add(testclient.Patience))
			io.WriteString(nc, "GET /motd.txt HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
			answer, err := io.ReadAll(nc)
			testclient.Pending(t, srv, tt.name)
			if got := plain(string(answer)); got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("got %q, %v\nwant %q, %v", got, err, tt.want, tt.err)
			}
			if took := time.Since(start); took != tt.takes {
				t.Errorf("took %v, want %v", took, tt.takes)
			}
		})
	}
}

const plainResponse = "HTTP/1.1 200 OK\r\nAccept-Ranges: bytes\r\nConnection: close\r\nContent-Length: 12\r\nContent-Type: text/plain; charset=utf-8\r\nEtag: \"b05e5ca7469b600-c\"\r\nLast-Modified: Sat, 04 Mar 1995 05:06:07 GMT\r\n\r\nhello\nworld\n"

// plain removes the fields of a response that the table does not test.
func plain(response string) string {
	for _, field := range []string{"Accept-Ranges", "Connection", "Content-Type", "Etag", "Last-Modified"} {
		if before, after, ok := strings.Cut(response, "\r\n"+field+": "); ok {
			_, after, _ = strings.Cut(after, "\r\n")
			response = before + "\r\n" + after
		}
	}
	return response
}

func TestHTTPEndlessHeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := webtest.New(t, webInMemory)
		srv.On("GET", 1, webtest.EndlessHeaders())
		nc := testclient.Dial(t, srv, srv.Addr)
		io.WriteString(nc, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
		r := bufio.NewReader(nc)
		for range 10000 {
			line, err := r.ReadString('\n')
			if err != nil || line == "\r\n" {
				t.Fatalf("%q, %v", line, err)
			}
		}
		nc.Close()
		synctest.Wait()
	})
}

func TestHTTPLargeFileOverLoopback(t *testing.T) {
	dir := t.TempDir()
	data := strings.Repeat("0123456789abcdef", 1<<17)
	if err := os.WriteFile(dir+"/big", []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	srv := webtest.New(t, func(s *webtest.Server) { s.Content = os.DirFS(dir) })
	for _, start := range []int{0, 100, 1 << 20} {
		req, _ := http.NewRequest("GET", srv.URL+"/big", nil)
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", start))
		res, err := webClient(t, srv).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		res.Body.Close()
		if string(got) != data[start:] || err != nil {
			t.Errorf("from %d: %d bytes, %v", start, len(got), err)
		}
	}
}

// TestTLS tests HTTP over TLS, with the server's own certificate.
func TestTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := webtest.New(t, webInMemory, func(s *webtest.Server) { s.TLS, s.ImplicitTLS = testserver.NewTLS(), true })
		if srv.URL != "https://127.0.0.1:443" {
			t.Errorf("URL %s", srv.URL)
		}
		client := webClient(t, srv)
		client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: srv.Roots()}
		for _, want := range []string{"hello\nworld\n", "hell"} {
			res, err := client.Get(srv.URL + "/motd.txt")
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(res.Body)
			res.Body.Close()
			if string(got) != want || (err == nil) != (len(want) > 4) {
				t.Errorf("%q, %v", got, err)
			}
			srv.On("GET", 1, testserver.Truncate(4))
		}
		srv.ResetFaults()
		if !srv.Transcript().Has(testserver.FromClient, "GET /motd.txt HTTP/1.1") {
			t.Errorf("transcript\n%s", srv.Transcript())
		}
	})
}

// TestUserRights tests the rights of users of HTTP, and content of their own.
func TestUserRights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := webtest.New(t, webInMemory, func(s *webtest.Server) {
			s.Users = map[string]testserver.User{
				"own":    {Content: fstest.MapFS{"mine.txt": testclient.NewFile("mine")}},
				"blind":  {Deny: testserver.Read | testserver.List},
				"reader": {Deny: testserver.Write},
			}
		})
		client := webClient(t, srv)
		for _, tt := range []struct {
			user, method, path string
			status             int
		}{
			{"own", "GET", "/mine.txt", 200}, {"own", "GET", "/motd.txt", 404}, {"own", "PUT", "/up", 201},
			{"blind", "GET", "/motd.txt", 403}, {"blind", "GET", "/", 403}, {"blind", "PUT", "/new", 201},
			{"reader", "GET", "/motd.txt", 200}, {"reader", "GET", "/", 200}, {"reader", "PUT", "/other", 403}, {"reader", "GET", "/up", 404},
		} {
			req, _ := http.NewRequest(tt.method, srv.URL+tt.path, strings.NewReader(""))
			req.SetBasicAuth(tt.user, "")
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, res.Body)
			if res.Body.Close(); res.StatusCode != tt.status {
				t.Errorf("%s: %s %s: %d, want %d", tt.user, tt.method, tt.path, res.StatusCode, tt.status)
			}
		}
		if up := srv.UploadsOf("own"); len(up) != 1 || len(srv.Uploads()) != 1 {
			t.Errorf("uploads %q and %q", up, srv.Uploads())
		}
	})
}

// TestHandler tests the responses of a Handler: one that has less than its length, or that is given up,
// has no clean end.
func TestHandler(t *testing.T) {
	testclient.InBubble(t, "", func(t *testing.T) {
		srv := webtest.New(t, webInMemory, func(s *webtest.Server) {
			s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/short":
					w.Header().Set("Content-Length", "9")
				case "/abort":
					w.Header().Set("Content-Length", "9")
					io.WriteString(w, "four")
					panic(http.ErrAbortHandler)
				case "/whole":
					w.Header().Set("Content-Length", "4")
				}
				io.WriteString(w, "four")
			})
		})
		client := webClient(t, srv)
		for path, whole := range map[string]bool{"/whole": true, "/motd.txt": true, "/short": false, "/abort": false} {
			for range 2 { // on a connection that may have been kept
				res, err := client.Get(srv.URL + path)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(res.Body)
				res.Body.Close()
				if string(body) != "four" || (err == nil) != whole {
					t.Errorf("%s: %q, %v", path, body, err)
				}
			}
		}
	})
}
