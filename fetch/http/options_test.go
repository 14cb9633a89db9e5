package http

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// moved returns a server that redirects /from to /to and sends a document for anything else.
func moved(code string) server {
	return func(v *received) string {
		if strings.Contains(v.head, " /from ") {
			return status(code+" Moved", "", "Location: /to")
		}
		return document("x")
	}
}

// TestOptionsOnTheWire has the request lines and fields that Options cause.
func TestOptionsOnTheWire(t *testing.T) {
	const rest = "Host: h.example\r\nUser-Agent: t\r\n"
	const plain = "Accept: */*\r\nAccept-Encoding: identity\r\n"
	for name, tc := range map[string]struct {
		opt  *Options
		path string
		want []string
	}{
		"verb":   {&Options{Verb: "FIND"}, "/", []string{"FIND / HTTP/1.1\r\n" + rest + plain}},
		"target": {&Options{Target: "*", Method: "OPTIONS"}, "/", []string{"OPTIONS * HTTP/1.1\r\n" + rest + plain}},
		"spelling": {&Options{Header: http.Header{"x-lower": {"1", "2"}, "accept": {"text/*"}}}, "/",
			[]string{"GET / HTTP/1.1\r\n" + rest + "Accept-Encoding: identity\r\naccept: text/*\r\nx-lower: 1\r\nx-lower: 2\r\n"}},
		"closing": {&Options{Header: http.Header{"Connection": {"close"}}}, "/", []string{"GET / HTTP/1.1\r\n" + rest + "Connection: close\r\n" + plain}},
		"verb on": {&Options{Verb: "FIND", Body: strings.NewReader("b")}, "/from", []string{
			"FIND /from HTTP/1.1\r\n" + rest + "Content-Length: 1\r\n" + plain, "FIND /to HTTP/1.1\r\n" + rest + plain}},
		"referer": {&Options{AutoReferer: true}, "/from", []string{
			"GET /from HTTP/1.1\r\n" + rest + plain, "GET /to HTTP/1.1\r\n" + rest + plain + "Referer: http://h.example/from\r\n"}},
		"kept": {&Options{KeepPost: []int{302}, Body: strings.NewReader("b"), Header: http.Header{"Content-Type": {"a/b"}}}, "/from", []string{
			"POST /from HTTP/1.1\r\n" + rest + "Content-Length: 1\r\n" + plain + "Content-Type: a/b\r\n",
			"POST /to HTTP/1.1\r\n" + rest + "Content-Length: 1\r\n" + plain + "Content-Type: a/b\r\n"}},
		"dropped": {&Options{Body: strings.NewReader("b"), Header: http.Header{"Content-Type": {"a/b"}}}, "/from", []string{
			"POST /from HTTP/1.1\r\n" + rest + "Content-Length: 1\r\n" + plain + "Content-Type: a/b\r\n", "GET /to HTTP/1.1\r\n" + rest + plain}},
		"chunked": {&Options{Body: strings.NewReader("b"), Header: http.Header{"Transfer-Encoding": {"chunked"}}}, "/", []string{
			"POST / HTTP/1.1\r\n" + rest + "Transfer-Encoding: chunked\r\n" + plain}},
		"large":   {&Options{Body: strings.NewReader(strings.Repeat("b", largeBody+1))}, "/", []string{"POST / HTTP/1.1\r\n" + rest + "Content-Length: 1048577\r\n" + plain + "Expect: 100-continue\r\n"}},
		"asked":   {&Options{Body: strings.NewReader("b"), Header: http.Header{"expect": {"100-continue"}}}, "/", []string{"POST / HTTP/1.1\r\n" + rest + "Content-Length: 1\r\n" + plain + "Expect: 100-continue\r\n"}},
		"unasked": {&Options{Body: strings.NewReader(strings.Repeat("b", largeBody+1)), Header: http.Header{"Expect": {}}}, "/", []string{"POST / HTTP/1.1\r\n" + rest + "Content-Length: 1048577\r\n" + plain}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newNetwork(t, map[string]server{"h.example:80": moved("302")})
			f := w.fetcher(func(f *Fetcher) { f.UserAgent = "t" })
			if _, _, err := get(t, f, "http://h.example"+tc.path, tc.opt); err != nil {
				t.Fatal(err)
			}
			heads := w.heads("")
			if len(heads) != len(tc.want) {
				t.Fatalf("%q", heads)
			}
			for i, want := range tc.want {
				if heads[i] != want+"\r\n" {
					t.Errorf("got  %q\nwant %q", heads[i], want+"\r\n")
				}
			}
		})
	}
	for name, opt := range map[string]*Options{"verb": {Verb: "A B"}, "CONNECT": {Verb: "CONNECT"}, "target": {Target: "/a b"}, "line": {Target: "/a\r\nX: y"}} {
		if _, _, err := get(t, new(Fetcher), "http://h.example/", opt); fetch.KindOf(err) != fetch.ErrBadURL {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLocation checks Info.Location with AnyStatus.
func TestLocation(t *testing.T) {
	for location, want := range map[string]string{"/to": "http://h.example/to", "gopher://g/0x": "gopher://g/0x", "": "", "http://": ""} {
		var fields []string
		if location != "" {
			fields = []string{"Location: " + location}
		}
		w := newNetwork(t, map[string]server{"h.example:80": says(status("302 Moved", "body", fields...))})
		f := w.fetcher(func(f *Fetcher) { f.Env.Limits.Hops = -1 })
		body, res, err := get(t, f, "http://h.example/", &Options{AnyStatus: true})
		if err != nil || body != "body" {
			t.Fatalf("%q: %q, %v", location, body, err)
		}
		got := ""
		if to := res.Info.(*Info).Location; to != nil {
			got = to.String()
		}
		if got != want {
			t.Errorf("%q leads to %q", location, got)
		}
	}
	w := newNetwork(t, map[string]server{"h.example:80": says(status("302 Moved", "body"))})
	if body, _, err := get(t, w.fetcher(), "http://h.example/", &Options{AnyStatus: true}); err != nil || body != "body" {
		t.Errorf("a redirect without a target: %q, %v", body, err)
	}
}

func TestProtocolErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		answer string
		want   error
	}{
		"text":            {"just text\n", ErrNotHTTP},
		"short text":      {"ha\n", ErrNotHTTP},
		"version 1.2":     {"HTTP/1.2 200 OK\r\nContent-Length: 1\r\n\r\nx", ErrNotHTTP},
		"version 2":       {"HTTP/2.0 200 OK\r\nContent-Length: 1\r\n\r\nx", ErrNotHTTP},
		"version 1.10":    {"HTTP/1.10 200 OK\r\n\r\n", ErrNotHTTP},
		"negative status": {"HTTP/1.1 -20 OK\r\n\r\n", ErrNotHTTP},
		"short status":    {"HTTP/1.1 2 OK\r\n\r\n", ErrNotHTTP},
		"long status":     {"HTTP/1.1 2000 OK\r\n\r\n", ErrNotHTTP},
		"transfer coding": {"HTTP/1.1 200 OK\r\nTransfer-Encoding: frob\r\n\r\nx", ErrCoding},
		"chunks of 1.0":   {"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", ErrCoding},
		"with a length":   {"HTTP/1.0 200 OK\nContent-Length: 15\ntransfer-encoding:chunked\n\n5\r\nhello\r\n0\r\n\r\n", ErrCoding},
		"chunks":          {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n", ErrFraming},
		"header":          {"HTTP/1.1 200 OK\r\nContent-Length 5\r\n\r\n", nil},
	} {
		w := newNetwork(t, map[string]server{"h.example:80": says(tc.answer + cut)})
		_, _, err := get(t, w.fetcher(), "http://h.example/", nil)
		if fetch.KindOf(err) != fetch.ErrProtocol {
			t.Errorf("%s: %v", name, err)
		}
		for _, cause := range []error{ErrNotHTTP, ErrCoding, ErrFraming} {
			if errors.Is(err, cause) != (cause == tc.want) {
				t.Errorf("%s: %v is %v: %v", name, err, cause, errors.Is(err, cause))
			}
		}
	}
}

// TestTransferCoding has documents with and without a transfer coding, by the versions that have one
// and that have none (RFC 9112 §6.1), in one piece and byte by byte.
func TestTransferCoding(t *testing.T) {
	const chunked = "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
	for answer, want := range map[string]string{
		"HTTP/1.1 200 OK\r\n" + chunked:                                                      "hello",
		"HTTP/1.1 200 OK\r\n\r\nhello":                                                       "hello",
		"HTTP/1.0 200 OK\r\n" + chunked:                                                      "",
		"HTTP/1.0 200 OK\r\n\r\nhello":                                                       "hello",
		"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello":                                  "hello",
		"HTTP/1.0 200 OK\r\nX-Transfer-Encoding: chunked\r\nTE: trailers\r\n\r\nhello":       "hello",
		"HTTP/1.0 200 OK\r\nX: Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nhello": "hello",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\n" + chunked:                         "",
		"HTTP/1.0 302 Found\r\nLocation: /b\r\n" + chunked:                                   "",
		"HTTP/1.0 404 Not Found\r\n" + chunked:                                               "",
	} {
		for _, step := range []int{1, len(answer)} {
			w := newNetwork(t, map[string]server{"h.example:80": func(v *received) string {
				rest := answer
				for len(rest) > step {
					_, _ = io.WriteString(v.out, rest[:step])
					rest = rest[step:]
				}
				return rest + cut
			}})
			body, _, err := get(t, w.fetcher(), "http://h.example/", &Options{AnyStatus: true})
			if body != want || (err == nil) != (want != "") || err != nil && (fetch.KindOf(err) != fetch.ErrProtocol || !errors.Is(err, ErrCoding)) {
				t.Errorf("%q, %d bytes at a time: %q, %v", answer, step, body, err)
			}
		}
	}
}

// TestServerSpeaksFirst has servers of another protocol, which may send a greeting before or after
// the request.
func TestServerSpeaksFirst(t *testing.T) {
	const greeting = "220 ready\r\n"
	f := &Fetcher{Retries: -1, Env: &fetch.Env{Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := socketPair(t)
		go func() {
			defer there.Close()
			_, _ = io.WriteString(there, greeting)
			_, _ = io.Copy(io.Discard, there)
		}()
		return here, nil
	}}}
	defer f.Close()
	received := make(chan string, 1)
	ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Received: func(octets []byte) { received <- string(octets) }})
	_, _, err := do(ctx, f, &fetch.Request{Locator: parse(t, "http://h.example/")})
	if !errors.Is(err, ErrNotHTTP) || fetch.KindOf(err) != fetch.ErrProtocol {
		t.Errorf("the error is %v", err)
	}
	if got := <-received; got != "220 ready\r\n" {
		t.Errorf("Received is called with %q", got)
	}
}

// TestEchoShowsNoPassword checks that a login that the server sends back is not shown.
func TestEchoShowsNoPassword(t *testing.T) {
	w := newNetwork(t, map[string]server{"h.example:80": func(v *received) string { return v.head + cut }})
	var received strings.Builder
	ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Received: func(octets []byte) { received.Write(octets) }})
	_, _, err := do(ctx, w.fetcher(), &fetch.Request{
		Locator: parse(t, "http://h.example/"), Options: &Options{Header: http.Header{"Authorization": {"Basic c2VjcmV0"}}},
	})
	if !errors.Is(err, ErrNotHTTP) || strings.Contains(err.Error()+received.String(), "c2VjcmV0") || received.String() != "GET / HTTP/1.1\r\n" {
		t.Errorf("%v; received %q", err, received.String())
	}
}
