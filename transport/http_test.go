package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	neturl "net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/remotefs"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/transport"
)

// random returns n bytes, always the same.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

// A Transport answers ranges and conditions as package net/http answers them for a file.
func TestTransportAsServeContent(t *testing.T) {
	docs := content()
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = docs })
	local := t.TempDir()
	if err := os.CopyFS(local, docs); err != nil {
		t.Fatal(err)
	}
	for name := range docs {
		if err := os.Chtimes(filepath.Join(local, name), time.Time{}, written); err != nil {
			t.Fatal(err)
		}
	}
	client := &http.Client{Transport: &transport.Transport{Files: true}}
	defer client.CloseIdleConnections()

	const (
		same    = "Tue, 20 Dec 1994 17:04:05 GMT"
		earlier = "Tue, 20 Dec 1994 17:04:04 GMT"
		later   = "Tue, 20 Dec 1994 17:04:06 GMT"
	)
	for _, name := range []string{"pub/motd.txt", "pub/empty.txt"} {
		head, _ := roundTrip(t, client, "HEAD", srv.URL+"/"+name, "")
		tag := head.Header.Get("Etag")
		if tag == "" {
			t.Fatalf("no ETag: %v", head.Header)
		}
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Etag", tag)
			http.ServeContent(w, r, name, written, bytes.NewReader(docs[name].Data))
		}))
		defer web.Close()

		conditions := [][]string{
			{}, {"If-None-Match", tag}, {"If-Match", `"other"`}, {"If-Modified-Since", same},
			{"If-None-Match", `"other"`}, {"If-None-Match", "*"}, {"If-None-Match", "W/" + tag}, {"If-None-Match", `"other", ` + tag},
			{"If-Match", tag}, {"If-Match", "*"}, {"If-Match", "W/" + tag}, {"If-Match", `"other", ` + tag},
			{"If-Modified-Since", earlier}, {"If-Modified-Since", later}, {"If-Modified-Since", "yesterday"},
			{"If-Unmodified-Since", earlier}, {"If-Unmodified-Since", same}, {"If-Unmodified-Since", later},
			{"If-Match", `"other"`, "If-None-Match", tag}, {"If-Match", tag, "If-None-Match", tag},
			{"If-Match", `"other"`, "If-Modified-Since", same}, {"If-Unmodified-Since", earlier, "If-Modified-Since", later},
			{"If-None-Match", `"other"`, "If-Modified-Since", same}, {"If-None-Match", tag, "If-Modified-Since", earlier},
			{"If-Match", tag, "If-Unmodified-Since", earlier},
		}
		ranges := [][]string{{}}
		for _, spec := range []string{"0-", "0-0", "2-4", "7-", "7-99", "9-9", "10-", "10-12", "99-", "-1", "-3", "-10", "-99"} {
			if strings.HasPrefix(spec, "-") && len(docs[name].Data) == 0 {
				continue // package net/http sends "bytes 0--1/0", which is no Content-Range
			}
			ranges = append(ranges, []string{"Range", "bytes=" + spec})
			for _, known := range []string{tag, `"other"`, "W/" + tag, same, earlier, later, "yesterday"} {
				ranges = append(ranges, []string{"Range", "bytes=" + spec, "If-Range", known})
			}
		}
		file := "file://" + filepath.ToSlash(filepath.Join(local, name))
		for _, part := range ranges {
			for i, condition := range conditions {
				if i > 3 && len(part) > 0 || i > 1 && len(part) > 2 {
					break // the others show nothing more with a part
				}
				header := append(part[:len(part):len(part)], condition...)
				want, wantBody := roundTrip(t, client, "GET", web.URL, "", header...)
				for _, url := range []string{srv.URL + "/" + name, file} {
					got, body := roundTrip(t, client, "GET", url, "", header...)
					compare(t, "GET "+url+" "+strings.Join(header, " "), got, want)
					if body != wantBody && got.StatusCode/100 == 2 {
						t.Errorf("GET %s %q: body %q, want %q", url, header, body, wantBody)
					}
					if len(part) == 0 {
						got, _ := roundTrip(t, client, "HEAD", url, "", header...)
						want, _ := roundTrip(t, client, "HEAD", web.URL, "", header...)
						compare(t, "HEAD "+url+" "+strings.Join(header, " "), got, want)
					}
				}
			}
		}
	}
}

// FuzzTransportRange requests parts of a file. A part is the one that package net/http returns; a
// Range field that asks for none, or for several, may be ignored.
func FuzzTransportRange(f *testing.F) {
	name := filepath.Join(f.TempDir(), "digits")
	const digits = "0123456789"
	if err := os.WriteFile(name, []byte(digits), 0o644); err != nil {
		f.Fatal(err)
	}
	url := (&neturl.URL{Scheme: "file", Path: filepath.ToSlash(name)}).String()
	transport := &transport.Transport{Files: true}
	for _, field := range []string{"bytes=0-", "bytes=2-4", "bytes=-3", "bytes=9-99", "bytes=10-", "bytes= 1-2", "bytes=1-2,4-5", "bytes=5-2", "bytes=-0", "bytes=9223372036854775807-", "lines=1-2"} {
		f.Add(field)
	}
	f.Fuzz(func(t *testing.T, field string) {
		req := httptest.NewRequest("GET", "/", nil)
		req.Header.Set("Range", field)
		want := httptest.NewRecorder()
		http.ServeContent(want, req, name, time.Time{}, strings.NewReader(digits))
		req = httptest.NewRequest("GET", url, nil)
		req.Header.Set("Range", field)
		res, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatalf("%q: %v", field, err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatalf("%q: %v", field, err)
		}
		if res.StatusCode == http.StatusOK && string(body) == digits {
			return
		}
		if res.StatusCode != want.Code || res.Header.Get("Content-Range") != want.Header().Get("Content-Range") ||
			res.StatusCode == http.StatusPartialContent && string(body) != want.Body.String() {
			t.Errorf("%q: %s, %q, %q, want %d, %q, %q", field, res.Status, res.Header.Get("Content-Range"), body,
				want.Code, want.Header().Get("Content-Range"), want.Body)
		}
	})
}

// compare compares the status and the header fields that say what a response is.
func compare(t *testing.T, what string, got, want *http.Response) {
	t.Helper()
	if ok := want.StatusCode/100 == 2; got.StatusCode != want.StatusCode || ok && got.ContentLength != want.ContentLength {
		t.Errorf("%s: %s of %d bytes, want %s of %d", what, got.Status, got.ContentLength, want.Status, want.ContentLength)
		return
	}
	fields := []string{"Content-Range"}
	if got.StatusCode/100 == 2 {
		fields = append(fields, "Content-Length", "Last-Modified", "Etag", "Accept-Ranges")
	}
	for _, name := range fields {
		if got.Header.Get(name) != want.Header.Get(name) && !(name == "Etag" && strings.Contains(what, "file://")) {
			t.Errorf("%s: %s %q, want %q", what, name, got.Header.Get(name), want.Header.Get(name))
		}
	}
}

// In type A the line ends decide how long a document is, so it has no parts and no length.
func TestTransportASCII(t *testing.T) {
	for _, size := range []ftptest.SizeInASCII{ftptest.SizeConverted, ftptest.SizeRaw, ftptest.SizeRefused} {
		srv := ftptest.New(t, func(s *ftptest.Server) {
			s.SizeInASCII = size
			s.Content = fstest.MapFS{"a.txt": {Data: []byte("one\ntwo\nthree\n"), ModTime: written}}
		})
		client := &http.Client{Transport: &transport.Transport{}}
		for _, value := range []string{"", "bytes=0-2", "bytes=4-6", "bytes=4-", "bytes=-3", "bytes=99-"} {
			res, body := roundTrip(t, client, "GET", srv.URL+"/a.txt;type=a", "", "Range", value)
			if res.StatusCode != 200 || res.ContentLength != -1 || res.Header.Get("Content-Range") != "" || res.Header.Get("Accept-Ranges") != "" || body != "one\ntwo\nthree\n" {
				t.Errorf("SizeInASCII %d, Range %q: %s of %d bytes, %v, %q", size, value, res.Status, res.ContentLength, res.Header, body)
			}
		}
		if res, _ := roundTrip(t, client, "HEAD", srv.URL+"/a.txt;type=a", ""); res.StatusCode != 200 || res.ContentLength != -1 {
			t.Errorf("HEAD: %s of %d bytes", res.Status, res.ContentLength)
		}
		client.CloseIdleConnections()
	}
}

// A part of a listing cannot be requested.
func TestTransportListingRange(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = content() })
	client := &http.Client{Transport: &transport.Transport{}}
	defer client.CloseIdleConnections()
	for _, path := range []string{"/pub/", "/pub;type=d", "/"} {
		_, whole := roundTrip(t, client, "GET", srv.URL+path, "")
		for _, value := range []string{"bytes=0-1", "bytes=1-2", "bytes=-2", "bytes=9999-"} {
			res, body := roundTrip(t, client, "GET", srv.URL+path, "", "Range", value)
			if res.StatusCode != 200 || body != whole || res.ContentLength != -1 || res.Header.Get("Content-Type") != "text/plain" {
				t.Errorf("%s, Range %s: %s of %d bytes, %q", path, value, res.Status, res.ContentLength, body)
			}
		}
		res, _ := roundTrip(t, client, "HEAD", srv.URL+path, "")
		if res.StatusCode != 200 || res.ContentLength != -1 || res.Header.Get("Content-Type") != "text/plain" {
			t.Errorf("HEAD %s: %s of %d bytes, %v", path, res.Status, res.ContentLength, res.Header)
		}
	}
}

// HEAD says that a server sends parts only if it does.
func TestTransportAcceptRanges(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		srv := ftptest.New(t, func(s *ftptest.Server) {
			s.Content = content()
			if hidden {
				s.Hide = []string{"REST"}
			}
		})
		client := &http.Client{Transport: &transport.Transport{}}
		res, _ := roundTrip(t, client, "HEAD", srv.URL+"/pub/motd.txt", "")
		if got := res.Header.Get("Accept-Ranges"); (got == "bytes") == hidden {
			t.Errorf("REST hidden: %v; Accept-Ranges: %q", hidden, got)
		}
		res, body := roundTrip(t, client, "GET", srv.URL+"/pub/motd.txt", "", "Range", "bytes=3-5")
		if want := map[bool]string{false: "345", true: "0123456789"}[hidden]; body != want || res.ContentLength != int64(len(want)) {
			t.Errorf("REST hidden: %v; %s %q", hidden, res.Status, body)
		}
		client.CloseIdleConnections()
	}
}

// The body has as many bytes as Content-Length says, or ends in an error. It may be the beginning
// of a document that grows during the transfer, if the reply to RETR states the size of before.
func TestTransportLength(t *testing.T) {
	for announced, want := range map[string]string{"213 4": "0123", "213 12": "", "213 0": "", "213 10": "0123456789"} {
		for n := range 4 {
			toFile, stated := n%2 == 0, n/2 == 0
			srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = content() })
			srv.On("SIZE", 0, testserver.Reply(announced))
			if !stated {
				srv.On("RETR", 0, testserver.Reply("150 Here it comes."))
			}
			client := &http.Client{Transport: &transport.Transport{}}
			res, err := client.Get(srv.URL + "/pub/motd.txt")
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if toFile {
				var file *os.File
				if file, err = os.Create(filepath.Join(t.TempDir(), "a")); err != nil {
					t.Fatal(err)
				}
				_, err = io.Copy(file, res.Body)
				_, _ = file.Seek(0, io.SeekStart)
				_, _ = got.ReadFrom(file)
				file.Close()
			} else {
				_, err = got.ReadFrom(res.Body)
			}
			res.Body.Close()
			if wrong := announced != "213 10"; wrong && !errors.Is(err, fetch.ErrTruncated) || !wrong && (err != nil || got.String() != want || res.ContentLength != int64(len(want))) {
				t.Errorf("SIZE %s, to a file: %v: %q of %d, %v", announced, toFile, got.String(), res.ContentLength, err)
			}
			client.CloseIdleConnections()
		}
	}
}

// If only the reply to RETR states a length, a document that has more ends in an error, as has one
// that has less.
func TestTransportStatedLength(t *testing.T) {
	for stated, whole := range map[int]bool{0: false, 5: false, 10: true, 12: false} {
		srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = content(); s.Hide = []string{"SIZE", "MLST"} })
		srv.On("RETR", 0, testserver.Reply(fmt.Sprintf("150 Opening data connection (%d bytes).", stated)))
		client := &http.Client{Transport: &transport.Transport{}}
		res, err := client.Get(srv.URL + "/pub/motd.txt")
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		res.Body.Close()
		client.CloseIdleConnections()
		if whole && (err != nil || string(got) != "0123456789") || !whole && !errors.Is(err, fetch.ErrTruncated) {
			t.Errorf("%d bytes: %q of %d, %v", stated, got, res.ContentLength, err)
		}
	}
}

// A part ends where the response says, also if the file has grown since.
func TestTransportRangeOfGrowingFile(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = content() })
	for n := 1; n < 8; n += 2 { // SIZE is sent again after each part, as more came
		srv.On("SIZE", n, testserver.Reply("213 8"))
	}
	client := &http.Client{Transport: &transport.Transport{}}
	defer client.CloseIdleConnections()
	for value, want := range map[string]string{"bytes=5-": "567", "bytes=5-99": "567", "bytes=-3": "567", "bytes=2-3": "23"} {
		res, body := roundTrip(t, client, "GET", srv.URL+"/pub/motd.txt", "", "Range", value)
		if res.StatusCode != 206 || body != want || res.ContentLength != int64(len(want)) {
			t.Errorf("%s: %s of %d bytes, %q", value, res.Status, res.ContentLength, body)
		}
	}
}

// A part from a server that ignores REST ends in an error, where that shows.
func TestTransportAnotherPart(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = content() })
	srv.On("REST", 0, testserver.FromStart())
	client := &http.Client{Transport: &transport.Transport{}}
	defer client.CloseIdleConnections()
	for _, value := range []string{"bytes=5-", "bytes=5-99", "bytes=-3", "bytes=2-3"} {
		req, err := http.NewRequest("GET", srv.URL+"/pub/motd.txt", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Range", value)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(res.Body); !errors.Is(err, fetch.ErrBadRange) {
			t.Errorf("%s: %s, %q, %v", value, res.Status, body, err)
		}
		res.Body.Close()
	}
}

// ignoresREST returns a server that replies to REST with 350 and ignores it, and whose replies do not
// show it.
func ignoresREST(t *testing.T, files fstest.MapFS) *ftptest.Server {
	t.Helper()
	return ftptest.New(t, func(s *ftptest.Server) {
		s.Content, s.IgnoreREST, s.Replies = files, true, map[string]string{"150": "150 ok"}
	})
}

// A part from the middle is the right one also from a server that ignores REST, or the answer is the
// whole document: what comes is compared with its beginning before the response.
func TestTransportMiddle(t *testing.T) {
	big := random(6 << 20)
	srv := ignoresREST(t, fstest.MapFS{"big": {Data: big, ModTime: written}})
	client := &http.Client{Transport: &transport.Transport{}}
	defer client.CloseIdleConnections()
	for value, want := range map[string]struct {
		status int
		body   []byte
	}{
		"bytes=1000000-1999999": {206, big[1000000:2000000]},
		"bytes=100-199":         {206, big[100:200]},
		"bytes=1000000-":        {206, big[1000000:]},
		"bytes=5000000-5999999": {200, big},
		"bytes=5000000-":        {200, big},
	} {
		res, body := roundTrip(t, client, "GET", srv.URL+"/big", "", "Range", value)
		if res.StatusCode != want.status || body != string(want.body) {
			t.Errorf("%s: %s, %d bytes, right %v", value, res.Status, len(body), body == string(want.body))
		}
	}
}

// A file of an FS has the right bytes after Seek, also if only some are read, or there is an error.
func TestSeekFromTheStart(t *testing.T) {
	big := random(6 << 20)
	srv := ignoresREST(t, fstest.MapFS{"big": {Data: big, ModTime: written}})
	fsys, err := remotefs.New(t.Context(), nil, srv.URL+"/")
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	for _, at := range []int{1 << 20, 100, 5 << 20, 6<<20 - 100} {
		f, err := fsys.Open("big")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.(io.Seeker).Seek(int64(at), io.SeekStart); err != nil {
			t.Error(err)
		}
		got := make([]byte, 50)
		n, err := io.ReadFull(f, got)
		if near := at <= 4<<20; near && (err != nil || !bytes.Equal(got, big[at:at+50])) || !near && (n != 0 || !errors.Is(err, fetch.ErrBadRange)) {
			t.Errorf("at %d: %d bytes, %v", at, n, err)
		}
		f.Close()
	}
}

// anyDocument is a Fetcher whose documents say anything about themselves.
type anyDocument struct {
	Env        *fetch.Env
	attributes fetch.Attributes
	body       string
}

func (f *anyDocument) Fetch(_ context.Context, req *fetch.Request) (*fetch.Resource, error) {
	return &fetch.Resource{Locator: req.Locator, Attributes: f.attributes, Body: io.NopCloser(strings.NewReader(f.body))}, nil
}

// What a server says about a document cannot add fields to the header of a response, nor bytes to
// its body.
func TestTransportHostileAttributes(t *testing.T) {
	for _, c := range []struct {
		attributes  fetch.Attributes
		body        string
		contentType string
		fails       bool
	}{
		{fetch.Attributes{Size: 3, MediaType: "text/plain", Charset: "utf-8"}, "abc", "text/plain; charset=utf-8", false},
		{fetch.Attributes{Size: 3, MediaType: "text/plain; charset=utf-8"}, "abc", "", false},
		{fetch.Attributes{Size: 3, MediaType: "text/plain\r\nSet-Cookie: a=b"}, "abc", "", false},
		{fetch.Attributes{Size: 3, MediaType: "text/html", Charset: "utf-8\r\n\r\n<script>"}, "abc", "text/html; charset*=utf-8''utf-8%0D%0A%0D%0A%3Cscript%3E", false},
		{fetch.Attributes{Size: 3, MediaType: "text/html", Charset: `x"; boundary=y`}, "abc", `text/html; charset="x\"; boundary=y"`, false},
		{fetch.Attributes{Size: 3, MediaType: "\x00"}, "abc", "", false},
		{fetch.Attributes{Size: 3}, "abcHTTP/1.1 200 OK\r\n\r\n", "", false},
		{fetch.Attributes{Size: 0}, "more", "", false},
		{fetch.Attributes{Size: 4}, "abc", "", true},
		{fetch.Attributes{Size: -1}, "abc", "", false},
		{fetch.Attributes{Size: -5}, "abc", "", false},
	} {
		r := &fetch1738.Resolver{Schemes: []fetch1738.Scheme{{Names: []string{"any"}, New: func(env *fetch.Env) driver.Fetcher {
			return &anyDocument{env, c.attributes, c.body}
		}}}}
		client := &http.Client{Transport: &transport.Transport{Resolver: r}}
		res, err := client.Get("any://host/a")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if got := res.Header.Get("Content-Type"); got != c.contentType || len(res.Header["Content-Type"]) > 1 {
			t.Errorf("%+v: Content-Type %q", c.attributes, got)
		}
		for name, values := range res.Header {
			for _, value := range values {
				if strings.ContainsAny(name+value, "\r\n\x00") {
					t.Errorf("%+v: %q: %q", c.attributes, name, value)
				}
			}
		}
		switch {
		case c.fails:
			if !errors.Is(err, fetch.ErrTruncated) {
				t.Errorf("%+v: %v", c.attributes, err)
			}
		case err != nil:
			t.Errorf("%+v: %v", c.attributes, err)
		case res.ContentLength >= 0 && res.ContentLength != int64(len(body)), res.ContentLength < 0 && string(body) != c.body:
			t.Errorf("%+v: %d bytes, Content-Length %d", c.attributes, len(body), res.ContentLength)
		}
	}
}

// A body that is not as long as its request says is not stored as if it were whole.
func TestTransportStoreLength(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = content() })
	client := &http.Client{Transport: &transport.Transport{}}
	defer client.CloseIdleConnections()
	for declared, ok := range map[int64]bool{0: true, -1: true, 3: true, 2: false, 4: false} {
		req, _ := http.NewRequestWithContext(t.Context(), "PUT", srv.URL+"/new.txt", io.NopCloser(strings.NewReader("one")))
		req.ContentLength = declared
		res, err := client.Do(req)
		if (err == nil) != ok {
			t.Errorf("ContentLength %d: %v", declared, err)
		}
		if err == nil {
			res.Body.Close()
		}
	}
}

// The text of an error has no password in it, whatever the server repeats.
func TestTransportErrorText(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = content()
		s.Users = map[string]testserver.User{"lab": {Password: "geheim77"}}
	})
	srv.On("PASS", 0, testserver.Reply("530 PASS geheim77: no\r\nX-Evil: 1"))
	transport := &transport.Transport{Statuses: true}
	client := &http.Client{Transport: transport}
	defer client.CloseIdleConnections()
	res, body := roundTrip(t, client, "GET", strings.Replace(srv.URL, "://", "://lab:geheim77@", 1)+"/pub/motd.txt", "")
	if res.StatusCode != 401 || strings.Contains(body, "geheim77") || strings.Count(body, "\n") != 1 {
		t.Errorf("%s %q", res.Status, body)
	}
	transport.Statuses = false
	if _, err := client.Get(strings.Replace(srv.URL, "://", "://lab:geheim77@", 1) + "/pub/motd.txt"); err == nil || strings.Contains(err.Error(), "geheim77") {
		t.Errorf("%v", err)
	}
}

// The end of a request's context is an error, also with Statuses: no server has answered.
func TestTransportStatusesTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, func(s *ftptest.Server) { s.InMemory, s.Content = true, content() })
		srv.On("USER", 1, testserver.Silence())
		transport := &transport.Transport{Statuses: true, Resolver: &fetch1738.Resolver{Env: fetch.Env{Dial: srv.Dial}}}
		client := &http.Client{Transport: transport, Timeout: time.Second}
		defer client.CloseIdleConnections()
		if res, err := client.Get(srv.URL + "/pub/motd.txt"); err == nil {
			res.Body.Close()
			t.Errorf("%s", res.Status)
		} else if !os.IsTimeout(err) {
			t.Errorf("%v", err)
		}
	})
}
