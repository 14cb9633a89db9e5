package http

import (
	"context"
	"fmt"
	"io"
	"log"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

type ctx = context.Context

var quiet = log.New(io.Discard, "", 0)

// TestTrace checks that the hooks receive the whole dialogue, without secrets.
func TestTrace(t *testing.T) {
	w := newNetwork(t, map[string]server{
		"a.example:80": func(v *received) string {
			v.body()
			if v.field("Authorization") == "" {
				return status("401 Unauthorized", "", `WWW-Authenticate: Basic realm="x"`)
			}
			return "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + status("302 Found", "", "Location: /there")
		},
		"b.example:80": says(document("x")),
	})
	w.servers["a.example:80"] = func(next server) server {
		return func(v *received) string {
			if strings.HasPrefix(v.head, "GET /there ") {
				return document(alphabet)
			}
			return next(v)
		}
	}(w.servers["a.example:80"])
	w.peers = map[string]string{"a.example:80": "192.0.2.1:80"}
	f := w.fetcher(func(f *Fetcher) { f.Env.Credentials = gives("me", "canary") })
	var told []string
	note := func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }
	ctx := fetch.WithTrace(t.Context(), &fetch.Trace{
		DialStart: func(network, address string) { note("dial %s %s", network, address) },
		Connected: func(c fetch.Connection) { note("connected %s %s", c.Host, c.Remote) },
		Reused:    func(c fetch.Connection) { note("reused %s %s", c.Host, c.Remote) },
		Sent:      func(o []byte) { note("> %s", o) },
		Received:  func(o []byte) { note("< %s", o) },
		Body:      func(n int64) { note("body %d", n) },
	})
	opt := &Options{Method: "POST", Body: strings.NewReader("form"), Header: map[string][]string{"Cookie": {"canary"}}}
	if _, _, err := do(ctx, f, &fetch.Request{Locator: parse(t, "http://a.example/here"), Options: opt}); err != nil {
		t.Fatal(err)
	}
	own := "Host: a.example\r\nUser-Agent: fetch1738\r\n"
	want := []string{
		"dial tcp a.example:80", "connected a.example 192.0.2.1:80",
		"> POST /here HTTP/1.1\r\n" + own + "Content-Length: 4\r\nAccept: */*\r\nAccept-Encoding: identity\r\nCookie: ****\r\n\r\n", "body 4",
		"< HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n",
		"reused a.example 192.0.2.1:80",
		"> POST /here HTTP/1.1\r\n" + own + "Content-Length: 4\r\nAccept: */*\r\nAccept-Encoding: identity\r\nAuthorization: ****\r\nCookie: ****\r\n\r\n",
		"< HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n",
		"< HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n",
		"reused a.example 192.0.2.1:80",
		"> GET /there HTTP/1.1\r\n" + own + "Accept: */*\r\nAccept-Encoding: identity\r\nAuthorization: ****\r\nCookie: ****\r\n\r\n",
		"< HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\n", "body 26",
	}
	// Head and body of a request are sent at the same time, so the order of the hooks varies.
	if len(told) > 3 && strings.HasPrefix(told[2], "body") {
		told[2], told[3] = told[3], told[2]
	}
	if got, want := fmt.Sprintf("%q", told), fmt.Sprintf("%q", want); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
