package control_test

import (
	"bytes"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver/control"
)

// A sending is a request whose body has been announced and does not come.
type sending struct {
	io.Closer               // ends the body
	code      func() int    // waits for the response, and returns its status
	body      func() string // the response
}

// announce begins a request with a body of size bytes; -1 means that no size is announced. It returns
// when the body is read, or the request has been answered.
func announce(api *control.API, method, path, kind string, size int64, begins string) sending {
	begun := make(chan struct{})
	pr, pw := io.Pipe()
	body := io.MultiReader(strings.NewReader(begins), &onRead{func() { close(begun) }}, pr)
	r := httptest.NewRequest(method, "http://127.0.0.1"+path, body)
	r.ContentLength = size
	r.Header.Set("Authorization", "Bearer "+api.Token())
	r.Header.Set("Content-Type", kind)
	w, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		api.ServeHTTP(w, r)
		_ = pr.Close()
		close(done)
	}()
	select {
	case <-begun:
	case <-done:
	}
	return sending{pw, func() int { <-done; return w.Code }, func() string { <-done; return w.Body.String() }}
}

// onRead is empty, and calls a function when it is read.
type onRead struct{ do func() }

func (o *onRead) Read([]byte) (int, error) { o.do(); return 0, io.EOF }

// TestMemory tests that the memory of requests is limited, and is charged before their bodies come.
func TestMemory(t *testing.T) {
	api := control.New(control.Config{})
	defer api.Close()
	for range 2 {
		if status, got := request(api, "POST", "/v1/servers", "application/json", []byte(`{"protocol":"ftp"}`)); status != 201 {
			t.Fatalf("%d %s", status, got)
		}
	}
	const file = "/v1/servers/ftp-1/files/a"
	if status, got := request(api, "PUT", file, "", []byte("hello")); status != 204 {
		t.Fatalf("%d %s", status, got)
	}
	before := control.Held(api)
	var open []sending
	hold := func(want bool, method, path, kind string, size int64) {
		t.Helper()
		s := announce(api, method, path, kind, size, "")
		if want {
			open = append(open, s)
			return
		}
		_ = s.Close()
		if code := s.code(); code != 507 || !strings.Contains(s.body(), "DELETE the servers") {
			t.Errorf("%s of %d bytes: %d %s", path, size, code, s.body())
		}
	}
	for range 8 {
		hold(true, "PUT", file, "", 255<<20)
	}
	hold(false, "PUT", file, "", 9<<20)
	hold(false, "PUT", "/v1/servers/ftp-2/tree", "", 9<<20)
	hold(false, "POST", "/v1/servers", "application/json", 2<<20) // decoding takes more than the document
	hold(false, "POST", "/v1/scripts", "text/x-txtar", 2<<20)
	hold(false, "POST", "/v1/servers/ftp-1/faults", "application/json", 2<<20)
	chunked := announce(api, "PUT", "/v1/servers/ftp-2/files/large", "", -1, strings.Repeat("x", 9<<20))
	_ = chunked.Close()
	if code := chunked.code(); code != 507 {
		t.Errorf("without a size: %d %s", code, chunked.body())
	}
	small := announce(api, "PUT", "/v1/servers/ftp-2/files/small", "", -1, "0123456789")
	_ = small.Close()
	if code := small.code(); code != 204 {
		t.Errorf("without a size: %d %s", code, small.body())
	}
	if status, got := request(api, "GET", "/v1/servers/ftp-2/files/small", "", nil); status != 200 || string(got) != "0123456789" {
		t.Errorf("%d %q", status, got)
	}
	for i, s := range open[1:] {
		_ = s.Close()
		if code := s.code(); code != 204 {
			t.Errorf("request %d: %d %s", i, code, s.body())
		}
	}
	// The server of the first one ends before its body has come.
	request(api, "DELETE", "/v1/servers/ftp-1", "", nil)
	_ = open[0].Close()
	if code := open[0].code(); code != 404 {
		t.Errorf("a file for a server that has ended: %d %s", code, open[0].body())
	}
	request(api, "DELETE", "/v1/servers/ftp-2", "", nil)
	if n := control.Held(api); n != 0 || before == 0 {
		t.Errorf("%d bytes are held at the end, %d at the beginning", n, before)
	}
}

// TestMemoryOfMistakes tests that what is refused holds no memory.
func TestMemoryOfMistakes(t *testing.T) {
	api := control.New(control.Config{})
	defer api.Close()
	request(api, "POST", "/v1/servers", "application/json", []byte(`{"protocol":"ftp"}`))
	before := control.Held(api)
	for _, tc := range []struct{ method, path, kind, body string }{
		{"POST", "/v1/servers", "application/json", `{"protocol":`},
		{"POST", "/v1/servers", "application/json", `{"protocol":"ftp","files":{"a":"x","a/b":"y"}}`},
		{"POST", "/v1/servers", "application/json", `{"protocol":"ftp","users":{"lab":{"files":{"":"x"}}}}`},
		{"POST", "/v1/scripts", "text/x-txtar", "{\"protocol\":\"ftp\"}\n{\"protocol\":\"x\"}\n-- a --\ntext\n"},
		{"POST", "/v1/servers/ftp-1/faults", "application/json", `{}`},
		{"PUT", "/v1/servers/ftp-1/public", "application/json", `{"host":"a b"}`},
		{"PUT", "/v1/servers/ftp-1/files/", "", "text"},
		{"PUT", "/v1/servers/ftp-1/tree", "", strings.Repeat("no archive", 100)},
	} {
		if status, got := request(api, tc.method, tc.path, tc.kind, []byte(tc.body)); status < 400 || status > 499 {
			t.Errorf("%s %s: %d %s", tc.path, tc.body, status, got)
		}
		if n := control.Held(api); n != before {
			t.Errorf("%s %s: holds %d bytes", tc.path, tc.body, n-before)
		}
	}
	large := bytes.Repeat([]byte("x"), 100_000) // of an announced size, and of one that is not
	for _, size := range []int64{int64(len(large)), -1} {
		s := announce(api, "PUT", "/v1/servers/ftp-1/files/large", "", size, string(large))
		_ = s.Close()
		code, n := s.code(), control.Held(api)-before
		if code != 204 || n < int64(len(large)) || n > int64(len(large))+1 {
			t.Errorf("%d: %d bytes hold %d", code, len(large), n)
		}
		before = control.Held(api)
	}
}
