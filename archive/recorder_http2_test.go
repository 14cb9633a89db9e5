package archive_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// A web2 is a server of HTTP/2, and a Resolver that records.
type web2 struct {
	t           *testing.T
	url         string
	connections atomic.Int32
	file        string
	writer      *warc.Writer
	*fetch1738.Resolver
}

// newWeb2 starts a server. Without TLS it speaks HTTP/2 only.
func newWeb2(t *testing.T, secure bool, handler http.HandlerFunc) *web2 {
	w := &web2{t: t, file: filepath.Join(t.TempDir(), "x.warc.gz")}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			w.connections.Add(1)
		}
	}
	protocols := new(http.Protocols)
	if secure {
		server.EnableHTTP2 = true
		server.StartTLS()
		protocols.SetHTTP1(true)
		protocols.SetHTTP2(true)
	} else {
		protocols.SetUnencryptedHTTP2(true)
		server.Config.Protocols = protocols
		server.Start()
	}
	t.Cleanup(server.Close)
	w.url = server.URL
	var err error
	if w.writer, err = warc.CreateFile(w.file, warc.Options{}); err != nil {
		t.Fatal(err)
	}
	w.Resolver = &fetch1738.Resolver{
		Env: fetch.Env{
			TLS: func() (*tls.Config, error) { return &tls.Config{InsecureSkipVerify: true}, nil },
			Credentials: func(context.Context, fetch.Challenge) (locator.Login, error) {
				return locator.Login{User: "me", Password: "secret-1738", HasPassword: true}, nil
			},
		},
		Schemes: []fetch1738.Scheme{{Names: []string{"http", "https"}, New: func(env *fetch.Env) driver.Fetcher {
			return &fetchhttp.Fetcher{Env: env, Protocols: protocols}
		}}},
		Recorder: (&archive.Recorder{Writer: w.writer}).Record,
	}
	t.Cleanup(func() { w.Resolver.Close() })
	return w
}

// get fetches a URL to its end.
func (w *web2) get(url string, options *fetchhttp.Options) (string, error) {
	req, err := w.Request(w.t.Context(), url)
	if err != nil {
		return "", err
	}
	req.Options = options
	res, err := w.Fetch(w.t.Context(), req)
	if err != nil {
		return "", err
	}
	defer res.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

// records closes the file, and returns its records. It checks that no message says HTTP/2, which no
// program that reads WARC files knows, and that no secret is in them.
func (w *web2) records() []record {
	w.t.Helper()
	if err := w.writer.Close(); err != nil {
		w.t.Fatal(err)
	}
	all := readRecords(w.t, w.file)
	for _, r := range all {
		line, _, _ := strings.Cut(r.block, "\r\n")
		if strings.HasPrefix(r.Get(warc.FieldContentType), "application/http") && strings.Contains(line, "HTTP/2") {
			w.t.Errorf("%s %s: %q", r.typ, r.uri, line)
		}
		if strings.Contains(r.block, "secret-1738") || strings.Contains(r.block, "bWU6c2VjcmV0LTE3Mzg") {
			w.t.Errorf("%s %s has the password: %s", r.typ, r.uri, r.block)
		}
	}
	return all
}

// exchanges returns the first lines of the responses and requests, with WARC-Truncated.
func exchanges(all []record) (lines []string) {
	for _, r := range all {
		if r.typ != warc.Metadata {
			line, _, _ := strings.Cut(r.block, "\r\n")
			lines = append(lines, strings.TrimRight(fmt.Sprintf("%s: %s;%s", r.typ, line, r.Get(warc.FieldTruncated)), ";"))
		}
	}
	return lines
}

// answer2 is the handler of the tests.
func answer2(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/old":
		http.Redirect(w, r, "/page", http.StatusMovedPermanently)
	case "/page":
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "page.html", time.Unix(800000000, 0), strings.NewReader("<p>page</p>"))
	case "/private", "/locked":
		if _, password, _ := r.BasicAuth(); password != "secret-1738" || r.URL.Path == "/locked" {
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		io.WriteString(w, "private")
	case "/cut":
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "0123456789")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case "/broken":
		w.Header().Set("ETag", `"2"`)
		if r.Header.Get("Range") == "" {
			w.Header().Set("Content-Length", "20")
			io.WriteString(w, "0123456789")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		http.ServeContent(w, r, "broken.txt", time.Time{}, strings.NewReader("0123456789abcdefghij"))
	case "/away":
		http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
	default:
		http.NotFound(w, r)
	}
}

// TestHTTP2 has a document, redirects, a login, an error and bodies that break off.
func TestHTTP2(t *testing.T) {
	for _, test := range []struct {
		path, login string
		err         error
		want        []string
	}{
		{"/page", "", nil, []string{"response: HTTP/1.1 200 ", "request: GET /page HTTP/1.1"}},
		{"/old", "", nil, []string{"response: HTTP/1.1 301 ;unspecified", "request: GET /old HTTP/1.1", "response: HTTP/1.1 200 ", "request: GET /page HTTP/1.1"}},
		{"/private", "me:secret-1738@", nil, []string{"response: HTTP/1.1 200 ", "request: GET /private HTTP/1.1"}},
		{"/private", "", nil, []string{"response: HTTP/1.1 401 ", "request: GET /private HTTP/1.1", "response: HTTP/1.1 200 ", "request: GET /private HTTP/1.1"}},
		{"/locked", "", fetch.ErrUnauthenticated, []string{"response: HTTP/1.1 401 ", "request: GET /locked HTTP/1.1", "response: HTTP/1.1 401 ", "request: GET /locked HTTP/1.1"}},
		{"/none", "", fetch.ErrNotFound, []string{"response: HTTP/1.1 404 ;unspecified", "request: GET /none HTTP/1.1"}},
		{"/away", "", fetch.ErrRefused, []string{"response: HTTP/1.1 302 ;unspecified", "request: GET /away HTTP/1.1"}},
		{"/cut", "", fetch.ErrTruncated, []string{"response: HTTP/1.1 200 ;disconnect", "request: GET /cut HTTP/1.1"}},
		{"/broken", "", nil, []string{"response: HTTP/1.1 200 ", "request: GET /broken HTTP/1.1"}},
	} {
		t.Run(test.path+" "+test.login, func(t *testing.T) {
			w := newWeb2(t, true, answer2)
			if _, err := w.get(strings.Replace(w.url, "//", "//"+test.login, 1)+test.path, nil); !errors.Is(err, test.err) {
				t.Fatalf("%v, want %v", err, test.err)
			}
			all := w.records()
			if got := exchanges(all); !slices.Equal(got, test.want) {
				t.Errorf("the records are\n%q, want\n%q", got, test.want)
			}
			for _, r := range all {
				if r.typ == warc.Metadata && r.Get(warc.FieldContentType) != "text/plain; charset=us-ascii" {
					continue
				}
				if r.typ == warc.Metadata {
					if !strings.Contains(r.block, "> GET "+test.path+" HTTP/2\n") || !strings.Contains(r.block, "< HTTP/2 ") {
						t.Errorf("the conversation is %s", r.block)
					}
				} else if !slices.Contains(r.protocols(), "h2") || r.Get(warc.FieldIPAddress) != "127.0.0.1" {
					t.Errorf("%s %s: %v", r.typ, r.uri, r.Header)
				}
			}
		})
	}
}

// TestHTTP2Fields reads the heads and the fields of the records.
func TestHTTP2Fields(t *testing.T) {
	w := newWeb2(t, true, answer2)
	if _, err := w.get(w.url+"/page", nil); err != nil {
		t.Fatal(err)
	}
	all := w.records()
	response, request := only(t, all, warc.Response, w.url+"/page"), only(t, all, warc.Request, w.url+"/page")
	for _, r := range []record{response, request} {
		if !slices.Equal(r.protocols(), []string{"h2", "tls/1.3"}) || !strings.HasPrefix(r.Get(warc.FieldCipherSuite), "TLS_") {
			t.Errorf("%s: %v", r.typ, r.Header)
		}
	}
	if head, body, _ := strings.Cut(response.block, "\r\n\r\n"); body != "<p>page</p>" || !strings.Contains(head, "\r\ncontent-length: 11\r\n") || !strings.Contains(head, "\r\netag: \"1\"") {
		t.Errorf("the response is %q", response.block)
	}
	if want := "GET /page HTTP/1.1\r\nHost: " + strings.TrimPrefix(w.url, "https://") + "\r\nUser-Agent: fetch1738\r\n"; !strings.HasPrefix(request.block, want) || !strings.HasSuffix(request.block, "\r\n\r\n") {
		t.Errorf("the request is %q", request.block)
	}
}

// TestHTTP2Cleartext has HTTP/2 without TLS.
func TestHTTP2Cleartext(t *testing.T) {
	w := newWeb2(t, false, answer2)
	if _, err := w.get(w.url+"/page", nil); err != nil {
		t.Fatal(err)
	}
	if r := only(t, w.records(), warc.Response, w.url+"/page"); !slices.Equal(r.protocols(), []string{"h2c"}) || !strings.HasPrefix(r.block, "HTTP/1.1 200 \r\n") {
		t.Errorf("%v %q", r.Header, r.block)
	}
}

// TestHTTP2Revisit fetches a document twice, and then only if it has changed.
func TestHTTP2Revisit(t *testing.T) {
	w := newWeb2(t, true, answer2)
	url := w.url + "/page"
	for _, options := range []*fetchhttp.Options{nil, nil, {IfModifiedSince: time.Now()}} {
		if _, err := w.get(url, options); err != nil {
			t.Fatal(err)
		}
	}
	all := w.records()
	first := only(t, all, warc.Response, url)
	all = slices.DeleteFunc(all, func(r record) bool { return r.typ != warc.Revisit })
	if len(all) != 2 {
		t.Fatal(listed(all))
	}
	for i, want := range []struct{ profile, line string }{{warc.IdenticalPayload, "HTTP/1.1 200 \r\n"}, {warc.NotModified, "HTTP/1.1 304 \r\n"}} {
		r := all[i]
		if r.Get(warc.FieldProfile) != want.profile || !strings.HasPrefix(r.block, want.line) || !slices.Contains(r.protocols(), "h2") || r.Get(warc.FieldRefersTo) != first.Get(warc.FieldRecordID) {
			t.Errorf("%v %q", r.Header, r.block)
		}
	}
	a, err := archive.Open(t.Context(), w.file)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	captures := 0
	for c, err := range a.Captures(url) {
		if err != nil {
			t.Fatal(err)
		}
		captures++
		doc, err := a.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(doc.Body)
		if err != nil || string(body) != "<p>page</p>" || !strings.HasPrefix(c.MediaType, "text/html") {
			t.Errorf("%s: %q, %v, %+v", c.Type, body, err, c)
		}
		doc.Body.Close()
	}
	if captures != 3 {
		t.Errorf("%d captures", captures)
	}
}

// TestHTTP2AtOnce has many exchanges over one connection at once. None may have a head or a body of
// another one.
func TestHTTP2AtOnce(t *testing.T) {
	const most = 40
	var here sync.WaitGroup
	here.Add(most)
	w := newWeb2(t, true, func(w http.ResponseWriter, r *http.Request) {
		if path, ok := strings.CutPrefix(r.URL.Path, "/via"); ok {
			http.Redirect(w, r, path, http.StatusFound)
			return
		}
		here.Done()
		here.Wait() // until all are on the way
		w.Header().Set("X-Path", r.URL.Path)
		w.Write(bytes.Repeat([]byte(r.URL.Path+"\n"), 1000))
	})
	var all sync.WaitGroup
	for i := range most {
		all.Go(func() {
			if _, err := w.get(fmt.Sprintf("%s/via/%d", w.url, i), nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := w.connections.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
	records := w.records()
	for i := range most {
		path := fmt.Sprintf("/%d", i)
		head, body, _ := strings.Cut(only(t, records, warc.Response, w.url+path).block, "\r\n\r\n")
		if !strings.Contains(head, "\r\nx-path: "+path+"\r\n") || body != strings.Repeat(path+"\n", 1000) {
			t.Errorf("the response to %s is %q and %d bytes", path, head, len(body))
		}
		if r := only(t, records, warc.Request, w.url+path); !strings.HasPrefix(r.block, "GET "+path+" HTTP/1.1\r\n") {
			t.Errorf("the request for %s is %q", path, r.block)
		}
		if r := only(t, records, warc.Response, w.url+"/via"+path); !strings.Contains(r.block, "\r\nlocation: "+path+"\r\n") {
			t.Errorf("the redirect to %s is %q", path, r.block)
		}
	}
}
