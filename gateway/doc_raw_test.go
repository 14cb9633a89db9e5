package gateway

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/filename"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/memnet"
)

// lastWritten is when the files of the test servers were written.
var lastWritten = time.Date(1994, 12, 20, 17, 4, 5, 0, time.UTC)

// TestRawAsServeContent tests that a file has the same ranges and conditions through the gateway as
// it has on a web server.
func TestRawAsServeContent(t *testing.T) {
	content := fstest.MapFS{
		"pub/motd.txt":  {Data: []byte("0123456789"), ModTime: lastWritten},
		"pub/empty.txt": {Data: []byte{}, ModTime: lastWritten},
		"pub/music.ogg": {Data: bytes.Repeat([]byte("OggS"), 20_000), ModTime: lastWritten},
	}
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = content })
	s := start(t, nil)
	const (
		same    = "Tue, 20 Dec 1994 17:04:05 GMT"
		earlier = "Tue, 20 Dec 1994 17:04:04 GMT"
		later   = "Tue, 20 Dec 1994 17:04:06 GMT"
	)
	for name, file := range content {
		raw := pathOf(t, srv.URL+"/"+name) + "?raw"
		head, _, _ := ask(t, s, "HEAD", raw)
		tag := head.Header.Get("Etag")
		if tag == "" {
			t.Fatalf("%s: no ETag: %v", name, head.Header)
		}
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Etag", tag)
			http.ServeContent(w, r, name, lastWritten, bytes.NewReader(file.Data))
		}))
		defer web.Close()
		requests := [][]string{
			{}, {"If-None-Match", tag}, {"If-None-Match", `"other"`}, {"If-None-Match", "*"}, {"If-None-Match", "W/" + tag},
			{"If-Match", tag}, {"If-Match", `"other"`}, {"If-Modified-Since", same}, {"If-Modified-Since", earlier},
			{"If-Modified-Since", later}, {"If-Unmodified-Since", earlier}, {"If-Unmodified-Since", same},
		}
		for _, spec := range []string{"0-", "0-0", "2-4", "7-", "7-99", "9-9", "10-12", "100000-", "-1", "-3", "-99"} {
			if spec[0] == '-' && len(file.Data) == 0 {
				continue // package net/http sends "bytes 0--1/0", which is no Content-Range
			}
			part := []string{"Range", "bytes=" + spec}
			requests = append(requests, part, append(part, "If-None-Match", tag), append(part, "If-Range", tag),
				append(part, "If-Range", `"other"`), append(part, "If-Range", same), append(part, "If-Range", earlier))
		}
		for _, header := range requests {
			for _, method := range []string{"GET", "HEAD"} {
				if method == "HEAD" && len(header) > 0 && header[0] == "Range" {
					continue // RFC 9110 §14.2 defines ranges for GET only
				}
				got, body, err := ask(t, s, method, raw, header...)
				want, wantBody, _ := ask(t, web, method, "/", header...)
				what := method + " " + name + " " + strings.Join(header, " ")
				if err != nil || got.StatusCode != want.StatusCode || want.StatusCode/100 == 2 && (body != wantBody || got.ContentLength != want.ContentLength) {
					t.Errorf("%s: %s of %d bytes, %v; want %s of %d", what, got.Status, got.ContentLength, err, want.Status, want.ContentLength)
					continue
				}
				fields := []string{"Content-Range"}
				if want.StatusCode/100 == 2 {
					fields = append(fields, "Last-Modified", "Etag", "Accept-Ranges", "Content-Length")
				}
				for _, name := range fields {
					if got.Header.Get(name) != want.Header.Get(name) {
						t.Errorf("%s: %s %q, want %q", what, name, got.Header.Get(name), want.Header.Get(name))
					}
				}
				if got.Header.Get("X-Content-Type-Options") != "nosniff" || got.Header.Get("Content-Security-Policy") != octetsSecurity {
					t.Errorf("%s: %v", what, got.Header)
				}
			}
		}
	}
}

// TestValidators tests that a page never has the validators of the octets, and ignores conditions.
func TestValidators(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a.txt": {Data: []byte("text\n"), ModTime: lastWritten}, "b.png": {Data: []byte("\x89PNG"), ModTime: lastWritten}}
	})
	s := start(t, nil)
	for _, name := range []string{"a.txt", "b.png"} {
		path := pathOf(t, srv.URL+"/"+name)
		raw, _, _ := ask(t, s, "GET", path+"?raw")
		page, body, err := ask(t, s, "GET", path, "Accept", "text/html", "If-None-Match", raw.Header.Get("Etag"), "If-Modified-Since", raw.Header.Get("Last-Modified"))
		if err != nil || page.StatusCode != 200 || !strings.Contains(body, "<h1>") || page.Header.Get("Etag")+page.Header.Get("Last-Modified")+page.Header.Get("Accept-Ranges") != "" {
			t.Errorf("%s: %s %v", name, page.Status, page.Header)
		}
		if raw.Header.Get("Etag") == "" || !strings.Contains(raw.Header.Get("Vary"), "Accept") {
			t.Errorf("%s: %v", name, raw.Header)
		}
	}
}

// TestTypes tests the type of the octets of documents, and which of them are downloads.
func TestTypes(t *testing.T) {
	content := fstest.MapFS{}
	type row struct{ file, data, contentType, disposition string }
	rows := []row{
		{"a.txt", "text\n", "text/plain", ""},
		{"a.html", "<script>alert(1)</script>", "text/plain", ""},
		{"a.svg", "<svg onload=alert(1)/>", "text/plain", ""},
		{"a.xml", "<?xml version='1.0'?><a/>", "text/plain", ""},
		{"a.js", "alert(1)", "text/plain", ""},
		{"a.pdf", "%PDF-1.4", "application/pdf", `attachment; filename="a.pdf"`},
		{"a.zip", "PK\x03\x04", "application/zip", `attachment; filename="a.zip"`},
		{"a.png", "\x89PNG\r\n\x1a\n", "image/png", ""},
		{"a.ogg", "OggS", "audio/ogg", ""},
		{"README", "Read me.\n", "text/plain", ""},
		{"PAGE", "<html><script>alert(1)</script>", "text/plain", ""},
		{"binary", "\x00\x01\x02", "application/octet-stream", `attachment; filename="binary"`},
		{"gr\u00fcn \"x\".zip", "PK", "application/zip", `attachment; filename="gr_n _x_.zip"; filename*=UTF-8''gr%C3%BCn%20_x_.zip`},
	}
	for _, r := range rows {
		content[r.file] = &fstest.MapFile{Data: []byte(r.data), ModTime: lastWritten}
	}
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = content })
	s := start(t, nil)
	for _, r := range rows {
		path := pathOf(t, srv.URL+"/"+strings.NewReplacer("\u00fc", "%C3%BC", " ", "%20", `"`, "%22").Replace(r.file))
		res, body, err := ask(t, s, "GET", path+"?raw")
		if err != nil || body != r.data || res.Header.Get("Content-Type") != r.contentType || res.Header.Get("Content-Disposition") != r.disposition {
			t.Errorf("%s: %v %q %q, %v", r.file, res.Status, res.Header.Get("Content-Type"), res.Header.Get("Content-Disposition"), err)
		}
	}
}

// TestGopherTypes tests the type of gopher items, whose type of item says what they are.
func TestGopherTypes(t *testing.T) {
	srv := gophertest.New(t, func(s *gophertest.Server) {
		s.Content = fstest.MapFS{
			"picture.bin": {Data: []byte("\x89PNG\r\n\x1a\n....")}, "a.jpg": {Data: []byte("\xff\xd8\xff\xe0")},
			"page.html": {Data: []byte("<html><script>alert(1)</script></html>")}, "song.bin": {Data: []byte("ID3\x03....")},
		}
	})
	s := start(t, nil)
	for path, want := range map[string]string{
		"/I/picture.bin": "image/png", "/I/a.jpg": "image/jpeg", "/h/page.html": "text/plain", "/I/page.html": "text/plain", "/s/song.bin": "audio/mpeg",
		"/9/picture.bin": "application/octet-stream", "/1/": "text/plain", "/g/page.html": "image/gif",
	} {
		res, _, err := ask(t, s, "GET", pathOf(t, srv.URL+path)+"?raw")
		if err != nil || res.Header.Get("Content-Type") != want {
			t.Errorf("%s: %v %v, want %s", path, res, err, want)
		}
	}
}

// TestCut tests that a transfer which the server cuts off never looks complete: the client has a
// status of an error, or the connection breaks.
func TestCut(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), 8<<10)
	small := []byte("0123456789")
	ftp := func(stage string, faults ...ftptest.Fault) func(t *testing.T) string {
		return func(t *testing.T) string {
			srv := ftptest.New(t, func(s *ftptest.Server) {
				s.Content = fstest.MapFS{"pub/a.ogg": {Data: data, ModTime: lastWritten}, "pub/small.ogg": {Data: small, ModTime: lastWritten}, "pub/a.txt": {Data: data, ModTime: lastWritten}}
			})
			srv.On(stage, 0, faults...)
			return srv.URL + "/pub/"
		}
	}
	gopher := func(stage string, faults ...gophertest.Fault) func(t *testing.T) string {
		return func(t *testing.T) string {
			srv := gophertest.New(t, func(s *gophertest.Server) {
				s.Content = fstest.MapFS{"pub/a.ogg": {Data: data}, "pub/small.ogg": {Data: small}, "pub/a.txt": {Data: data}}
			})
			srv.On(stage, 0, faults...)
			return srv.URL + "/9/pub/"
		}
	}
	for name, server := range map[string]func(*testing.T) string{
		"ftp cut in the middle":      ftp("RETR", testserver.Truncate(50_000)),
		"ftp truncated to nothing":   ftp("RETR", testserver.Truncate(0)),
		"ftp reset in the middle":    ftp("RETR", testserver.Reset(50_000)),
		"ftp 426 after the data":     ftp("RETR", testserver.Split(1<<16), testserver.Reply("426 aborted")),
		"ftp 451 after the data":     ftp("RETR", testserver.Split(1<<16), testserver.Reply("451 disk error")),
		"ftp 550":                    ftp("RETR", testserver.Reply("550 no")),
		"ftp closed instead of 226":  ftp("RETR", testserver.Truncate(1<<30), testserver.Close()),
		"ftp closed at login":        ftp("PASS", testserver.Close()),
		"ftp reset at the greeting":  ftp("GREETING", testserver.Reset(0)),
		"gopher reset in the middle": gopher("REQUEST", testserver.Reset(50_000)),
	} {
		t.Run(name, func(t *testing.T) {
			for _, file := range []string{"a.ogg", "small.ogg", "a.txt"} {
				for _, header := range [][]string{{"Accept", "*/*"}, {"Accept", "text/html"}, {"Accept", "*/*", "Range", "bytes=2-"}} {
					if file == "small.ogg" && strings.Contains(name, "middle") {
						continue
					}
					url := server(t)
					s := start(t, nil)
					path := pathOf(t, url+file)
					if file != "a.txt" {
						path += "?raw"
					}
					res, body, err := ask(t, s, "GET", path, header...)
					if err == nil && res.StatusCode < 400 {
						t.Errorf("%s %v: %s with %d bytes looks complete", file, header, res.Status, len(body))
					}
				}
			}
		})
	}
}

// TestSilence tests that a server that stops sending ends the response, at each stage.
func TestSilence(t *testing.T) {
	stages := map[string]ftptest.Fault{"no 226": ftptest.NoFinalReply()}
	for _, stage := range []string{"CONNECT", "GREETING", "USER", "PASS", "TYPE", "EPSV", "SIZE", "RETR"} {
		stages[stage] = testserver.Silence()
	}
	for stage, fault := range stages {
		t.Run(stage, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := ftptest.New(t, func(s *ftptest.Server) {
					s.InMemory = true
					s.Content = fstest.MapFS{"a.ogg": {Data: bytes.Repeat([]byte("x"), 100_000), ModTime: lastWritten}}
				})
				srv.On(strings.Replace(stage, "no 226", "RETR", 1), 0, fault)
				client := inMemory(t, &srv.Server, nil)
				res, err := client.Get("http://localhost:8738" + pathOf(t, srv.URL+"/a.ogg") + "?raw")
				if err != nil {
					return // broken off
				}
				defer res.Body.Close()
				if _, err := io.ReadAll(res.Body); err == nil && res.StatusCode != http.StatusGatewayTimeout {
					t.Errorf("%s", res.Status)
				}
			})
		})
	}
}

// inMemory starts a gateway without sockets, and returns a client of it. The URL of the gateway is
// http://localhost:8738.
func inMemory(t *testing.T, srv *testserver.Server, set func(*http.Server, *Handler)) *http.Client {
	t.Helper()
	network := new(memnet.Network)
	l, err := network.Listen(t.Context(), "tcp", "127.0.0.1:8738")
	if err != nil {
		t.Fatal(err)
	}
	h := &Handler{
		Hosts: []string{"localhost:8738"},
		Resolver: &fetch1738.Resolver{Env: fetch.Env{
			Limits: Limits(), Dial: srv.Dial, Allow: func(context.Context, fetch.Target) error { return nil },
		}},
	}
	web := &http.Server{Handler: h}
	if set != nil {
		set(web, h)
	}
	var done sync.WaitGroup
	done.Go(func() { _ = web.Serve(l) })
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return network.Dial(ctx, "tcp", "127.0.0.1:8738")
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = web.Close()
		_ = h.Close()
		done.Wait()
	})
	return &http.Client{Transport: transport}
}

// TestClientGone tests that the transfer from the server ends when the client goes away.
func TestClientGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, func(s *ftptest.Server) {
			s.InMemory = true
			s.Content = fstest.MapFS{"a.ogg": {Data: bytes.Repeat([]byte("x"), 64<<20), ModTime: lastWritten}}
		})
		var mu sync.Mutex
		var logged []LogEntry
		client := inMemory(t, &srv.Server, func(_ *http.Server, h *Handler) {
			h.Log = func(a LogEntry) { mu.Lock(); defer mu.Unlock(); logged = append(logged, a) }
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost:8738"+pathOf(t, srv.URL+"/a.ogg")+"?raw", nil)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(res.Body, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		cancel()
		res.Body.Close()
		synctest.Wait()
		if err := srv.WaitIdle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the transfer went on for %v", took)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(logged) != 1 || logged[0].Err == nil || logged[0].Bytes >= 64<<20 {
			t.Errorf("%+v", logged)
		}
	})
}

// TestAbortIsNoCrash tests that a broken response is not reported as a crash of the gateway, but in
// its log.
func TestAbortIsNoCrash(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a.ogg": {Data: bytes.Repeat([]byte("x"), 100_000), ModTime: lastWritten}}
	})
	srv.On("RETR", 0, testserver.Truncate(50_000))
	var crashes bytes.Buffer
	logged := make(chan LogEntry, 1)
	h := &Handler{Log: func(a LogEntry) { logged <- a }}
	h.Resolver = &fetch1738.Resolver{Env: fetch.Env{Limits: Limits(), Allow: func(context.Context, fetch.Target) error { return nil }}}
	defer h.Close()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(&crashes, "", 0)
	s.Start()
	_, body, err := ask(t, s, "GET", pathOf(t, srv.URL+"/a.ogg")+"?raw")
	if err == nil || len(body) != 50_000 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
	a := <-logged
	s.Close()
	if !errors.Is(a.Err, fetch.ErrTruncated) || a.Status != 200 || a.Bytes != 50_000 {
		t.Errorf("%+v", a)
	}
	if crashes.Len() > 0 {
		t.Errorf("%s", crashes.String())
	}
}

// TestHTTP10 tests that a client of HTTP/1.0, for which the end of the connection ends the document,
// sees a broken transfer as an error too.
func TestHTTP10(t *testing.T) {
	srv := gophertest.New(t, func(s *gophertest.Server) {
		s.Content = fstest.MapFS{"a.bin": {Data: bytes.Repeat([]byte("x"), 100_000)}}
	})
	srv.On("REQUEST", 0, testserver.Reset(50_000))
	s := start(t, nil)
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET "+pathOf(t, srv.URL+"/9/a.bin")+"?raw HTTP/1.0\r\nHost: "+s.Listener.Addr().String()+"\r\n\r\n")
	if answer, err := io.ReadAll(conn); err == nil {
		t.Errorf("%d bytes look complete: %.30q", len(answer), answer)
	}
}

// TestRawLarge tests that a large file, and a part of it, arrives as it is.
func TestRawLarge(t *testing.T) {
	data := make([]byte, 13<<20+7)
	for i := range data {
		data[i] = byte(i * i >> 7)
	}
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"large.ogg": {Data: data, ModTime: lastWritten}}
	})
	s := start(t, nil)
	path := pathOf(t, srv.URL+"/large.ogg") + "?raw"
	for part, want := range map[string][]byte{"": data, "bytes=5000000-12999999": data[5000000:13000000], "bytes=-9000000": data[len(data)-9000000:]} {
		res, body, err := ask(t, s, "GET", path, "Range", part)
		if err != nil || res.ContentLength != int64(len(want)) || body != string(want) {
			t.Errorf("%q: %s, %d bytes, want %d, %v", part, res.Status, len(body), len(want), err)
		}
	}
}

// TestOctetWriter tests that the last byte waits for the end, however the others arrive.
func TestOctetWriter(t *testing.T) {
	const data = "0123456789"
	for _, length := range []int64{int64(len(data)), -1} {
		for _, step := range []int{1, 3, 9, 10} {
			for _, read := range []bool{false, true} {
				rec := httptest.NewRecorder()
				w := &octetWriter{response: &response{ResponseWriter: rec, code: 206}, left: 1 << 40}
				if length >= 0 {
					w.left = length - 1
				}
				for i := 0; i < len(data); i += step {
					part := data[i:min(i+step, len(data))]
					var n int64
					var err error
					if read {
						n, err = w.ReadFrom(&io.LimitedReader{R: strings.NewReader(part + "more"), N: int64(len(part))})
					} else {
						var written int
						written, err = w.Write([]byte(part))
						n = int64(written)
					}
					if n != int64(len(part)) || err != nil {
						t.Errorf("%d bytes, %v", n, err)
					}
				}
				before := rec.Body.String()
				if err := w.end(); err != nil || rec.Body.String() != data || rec.Code != 206 || length >= 0 && before != data[:9] || length < 0 && before != data {
					t.Errorf("length %d, step %d: %q, then %q, %v", length, step, before, rec.Body, err)
				}
			}
		}
	}
}

func FuzzDisposition(f *testing.F) {
	f.Add("a b.txt")
	f.Add("gr\u00fcn%\"\\;.zip")
	f.Fuzz(func(t *testing.T, name string) {
		name, err := filename.Safe(name)
		if err != nil {
			return
		}
		value := disposition(name)
		kind, parameters, err := mime.ParseMediaType(value)
		if err != nil || kind != "attachment" || parameters["filename"] != name && !strings.ContainsAny(name, "%") {
			t.Errorf("%q is written as %s: %v, %v", name, value, parameters, err)
		}
	})
}
