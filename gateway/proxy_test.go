package gateway

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

func copyBody(w io.Writer, res *http.Response) (int64, error) {
	defer res.Body.Close()
	return io.Copy(w, res.Body)
}

// TestProxy tests that a client of the proxy gets documents as they are, with their type, and pages
// whose links are URLs.
func TestProxy(t *testing.T) {
	content := fstest.MapFS{
		"a b#c?d%.html": {Data: []byte("<script>x</script>")}, "pub/a.txt": {Data: []byte("hello\r\n")}, "pub/x.bin": {Data: []byte{0, 1, 255}},
		"pub/a.gif": {Data: []byte("GIF89a")},
	}
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = content })
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = content })
	news := nntptest.New(t, func(s *nntptest.Server) {
		s.Groups = map[string][]string{"local.test": {"From: a@b\r\nSubject: one\r\nMessage-ID: <1@local>\r\nNewsgroups: local.test\r\n\r\nhello\r\n"}}
	})
	wais := waistest.New(t, func(s *waistest.Server) {
		s.Content, s.Databases = content, []waistest.Database{{Name: "pub", Files: []string{"pub/a.txt"}}}
	})
	s := start(t, func(h *Handler) {
		h.Proxy = true
		h.Resolver.Env.NewsServer = news.Addr
	})
	addr := s.Listener.Addr().String()
	for _, tc := range []struct {
		url, accept, mediaType, body string // of a page a part
	}{
		{ftp.URL + "/pub/a.txt", "text/html", "text/plain", "hello\r\n"},
		{ftp.URL + "/pub/a.txt;type=i", "*/*", "text/plain", "hello\r\n"},
		{ftp.URL + "/pub/x.bin", "text/html", "application/octet-stream", "\x00\x01\xff"},
		{ftp.URL + "/a%20b%23c%3Fd%25.html", "text/html", "text/html", "<script>x</script>"},
		{ftp.URL + "/pub", "text/html", "", ""},
		{ftp.URL + "/pub/", "text/html", "text/html", `href="` + ftp.URL + `/pub/a.txt"`},
		{ftp.URL + "/pub/", "*/*", "text/html", `href="` + ftp.URL + `/pub/a.txt"`},
		{ftp.URL, "text/html", "text/html", `href="` + ftp.URL + `/pub/"`},
		{gopher.URL + "/0/pub/a.txt", "text/html", "text/plain", "hello\r\n"},
		{gopher.URL + "/9/pub/x.bin", "text/html", "application/octet-stream", "\x00\x01\xff"},
		{gopher.URL + "/g/pub/a.gif", "text/html", "image/gif", "GIF89a"},
		{gopher.URL + "/1/pub", "text/html", "text/html", `href="` + gopher.URL + `/0/pub/a.txt"`},
		{gopher.URL, "text/html", "text/html", `href="` + gopher.URL + `/1/pub"`},
		{gopher.URL + "/7/%09hello", "text/html", "text/html", `href="` + gopher.URL + `/0/pub/a.txt"`},
		{news.URL + "/local.test/1", "text/html", "message/rfc822", "\r\n\r\nhello\r\n"},
		{news.URL + "/local.test", "text/html", "text/html", "local.test"},
		{"news:local.test", "text/html", "text/html", "local.test"},
		{"news:1@local", "text/html", "message/rfc822", "\r\n\r\nhello\r\n"},
		{wais.URL + "/pub?hello", "text/html", "text/html", "wais://"},
	} {
		res, body := exchange(t, addr, "GET "+tc.url, "Accept: "+tc.accept)
		mediaType, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
		isPage := mediaType == "text/html" && strings.HasPrefix(body, "<!doctype")
		switch {
		case tc.mediaType == "":
		case res.StatusCode != 200 || mediaType != tc.mediaType || !strings.Contains(body, tc.body):
			t.Errorf("%s, %s: %s %s, want %s with %q\n%s", tc.url, tc.accept, res.Status, mediaType, tc.mediaType, tc.body, body)
		case !isPage && mediaType != "message/rfc822" && body != tc.body:
			t.Errorf("%s: %q, want %q", tc.url, body, tc.body)
		case !isPage && !strings.HasPrefix(res.Header.Get("Content-Security-Policy"), "sandbox"):
			t.Errorf("%s: %v", tc.url, res.Header)
		case isPage && (strings.Contains(body, `href="/`) || strings.Contains(body, `src="/`)):
			t.Errorf("%s: a link has no scheme:\n%s", tc.url, body)
		}
	}
	// w3m does not send the type of an item of gopher.
	for path, want := range map[string]string{
		"/": `href="` + gopher.URL + `/1/pub"`, "/pub": `href="` + gopher.URL + `/0/pub/a.txt"`, "/pub/a.txt": "hello\r\n",
		"/pub/x.bin": "\x00\x01\xff", "/pub%09hello": `href="` + gopher.URL + `/0/pub/a.txt"`,
	} {
		res, body := exchange(t, addr, "GET "+gopher.URL+path, "User-Agent: w3m/0.5.3+git20230121", "Accept: text/html, text/*;q=0.5")
		if res.StatusCode != 200 || !strings.Contains(body, want) || !strings.HasPrefix(want, "href") && body != want {
			t.Errorf("w3m %s: %s without %q\n%s", path, res.Status, want, body)
		}
	}
	if res, _ := exchange(t, addr, "GET "+gopher.URL+"/none", "User-Agent: w3m/0.5.3"); res.StatusCode != 404 {
		t.Errorf("w3m: %s", res.Status)
	}
	// A HEAD has the same fields.
	if res, body := exchange(t, addr, "HEAD "+ftp.URL+"/pub/a.txt"); res.StatusCode != 200 || body != "" || res.ContentLength != 7 {
		t.Errorf("%s, length %d, %q", res.Status, res.ContentLength, body)
	}
	if res, body := exchange(t, addr, "GET "+ftp.URL+"/pub/a.txt", "Range: bytes=1-2"); res.StatusCode != 206 || body != "el" {
		t.Errorf("%s %q", res.Status, body)
	}
}

// TestIsMenu tests what is taken for a menu where w3m does not say.
func TestIsMenu(t *testing.T) {
	for text, want := range map[string]bool{
		"iLab map\tTITLE\tnull.host\t1\r\niinfo\t\tnull.host\t1\r\n0Hello\t/docs/hello.txt\t127.0.0.1\t24313\r\nhWeb\tURL:http://127.0.0.1/\t127.0.0.1\t24313\r\n": true,
		"0Hello\t/hello\t127.0.0.1\t70\r\n.\r\n":   true,
		"0Hello\t/hello\t127.0.0.1\t70\r\n1Cut of": true, // the limit of what is read
		"":                   false,
		".\r\n":              false,
		"hello\n":            false,
		"in the beginning\n": false,
		"3.14\n":             false,
		"a\tb\tc\td\n":       false, // no port
		"\x00\x01\x02":       false,
	} {
		if got := isMenu([]byte(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// tunnel sends CONNECT and, after the answer, a line. It returns the status and what came back,
// with the error that ended it.
func tunnel(t *testing.T, addr, target, line string) (int, string, error) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", target)
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect})
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != 200 {
		return res.StatusCode, "", nil
	}
	if _, err := io.WriteString(conn, line); err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(in)
	return res.StatusCode, string(body), err
}

// TestConnect tests that CONNECT serves what a gopher client sends through it, and nothing else, and
// that the log has the bytes of each answer, also of one that says that there is no such document.
func TestConnect(t *testing.T) {
	binary := bytes.Repeat([]byte{0, '.', '\r', '\n', 255}, 10000)
	gopher := gophertest.New(t, func(s *gophertest.Server) {
		s.Content = fstest.MapFS{"a.txt": {Data: []byte("one\n.two\n")}, "x.bin": {Data: binary}}
	})
	logged := make(chan LogEntry, 100)
	s := start(t, func(h *Handler) {
		h.Proxy = true
		h.Resolver.Env.Allow = (&policy.Rules{PublicOnly: true, AllowZones: []policy.Zone{policy.ZoneLoopback}}).Allow
		h.Log = func(a LogEntry) { logged <- a }
	})
	addr := s.Listener.Addr().String()
	direct := func(line string) string {
		conn, err := net.Dial("tcp", gopher.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, line)
		body, _ := io.ReadAll(conn)
		return string(body)
	}
	for _, line := range []string{"/a.txt\r\n", "/a.txt\n", "\r\n", "/x.bin\r\n", "/none\r\n", "/\tone\r\n", "0/a.txt\t+\r\n"} {
		status, body, err := tunnel(t, addr, gopher.Addr, line)
		if want := direct(line); status != 200 || body != want || err != nil {
			t.Errorf("%q: %d, %q, %v; want %q", line, status, body, err, want)
		}
		if a := <-logged; a.Page != "connect" || a.Status != 200 || a.Bytes != int64(len(body)) || a.Err != nil || strings.HasPrefix(line, "/a.txt") != (a.URL == gopher.URL+"/9/a.txt") {
			t.Errorf("%q: %d bytes are logged as %+v", line, len(body), a)
		}
	}
	// What is no request of gopher ends in a broken connection, and reaches no server.
	if err := gopher.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := len(gopher.Transcript().From(testserver.FromClient))
	for _, line := range []string{
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n", "a\rb\r\n", "a\x00b\r\n", "a\tb\tc\td\r\n", strings.Repeat("x", 20000) + "\r\n",
		"x\t\t+\t1\r\n+-1\r\nvalue\r\n.\r\n",
	} {
		if _, body, err := tunnel(t, addr, gopher.Addr, line); body != "" || err == nil {
			t.Errorf("%.30q: %q, %v", line, body, err)
		}
		if a := <-logged; a.Bytes != 0 || a.Err == nil {
			t.Errorf("%.30q is logged as %+v", line, a)
		}
	}
	if err := gopher.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sent := gopher.Transcript().From(testserver.FromClient)[before:]; len(sent) > 0 {
		t.Errorf("the server received %q", sent)
	}
	for _, target := range []string{"127.0.0.1:22", "127.0.0.1:25", "127.0.0.1:443", "127.0.0.1:80", "127.0.0.1:6667", "127.0.0.1:0", "127.0.0.1:99999", "127.1:70", "10.0.0.1:70", "[fe80::1]:70", "example.org:443", "example.org:25"} {
		if status, _, _ := tunnel(t, addr, target, ""); status != 403 && status != 400 {
			t.Errorf("CONNECT %s: %d", target, status)
		}
	}
}

// TestReadSelector tests the longest line that is read, and what is left for the connection.
func TestReadSelector(t *testing.T) {
	for text, want := range map[string]string{
		"1234567890\n": "1234567890", "123456789\r\n": "123456789", "1234567890\r\n": "", "12345678901\n": "", "\n": "", "a\nb\n": "a", "a\rb\n": "a\rb", "1234567890": "", "12345678901": "",
	} {
		in := bufio.NewReader(strings.NewReader(text))
		line, err := readSelector(in, 10)
		rest, _ := io.ReadAll(in)
		if got := err == nil; line != want || got != (want != "" || text == "\n") || got && line != strings.TrimSuffix(text[:len(text)-len(rest)-1], "\r") {
			t.Errorf("%q: %q, %v, then %q", text, line, err, rest)
		}
	}
}

// TestConnectCut tests that what a server has sent before its connection broke does not look
// complete.
func TestConnectCut(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		server, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = bufio.NewReader(server).ReadString('\n')
		_, _ = io.WriteString(server, strings.Repeat("a part of it\n", 1000))
		reset(server)
		_ = server.Close()
	}()
	s := start(t, func(h *Handler) { h.Proxy = true })
	if _, body, err := tunnel(t, s.Listener.Addr().String(), listener.Addr().String(), "/x\r\n"); err == nil {
		t.Errorf("%d bytes without an error", len(body))
	}
}

// TestConnectAbandoned tests that the transfer from the server ends when the client goes away.
func TestConnectAbandoned(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	s := start(t, func(h *Handler) {
		h.Proxy = true
		h.Resolver.Env.Limits.Reply, h.Resolver.Env.Limits.Idle = time.Hour, time.Hour // not by these
	})
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n/x\r\n", listener.Addr())
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	_, _ = io.WriteString(server, "begin")
	for got := ""; !strings.HasSuffix(got, "begin"); {
		b := make([]byte, 100)
		n, err := conn.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		got += string(b[:n])
	}
	conn.Close()
	if _, err := io.Copy(io.Discard, server); err != nil && !errors.Is(err, context.Canceled) && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
}
