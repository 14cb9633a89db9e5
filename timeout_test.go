package fetch1738_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/mailto"
	"github.com/fetch1738/fetch1738/locator"
)

// TestTimeoutText tests that a timeout names what was awaited and the limit that was
// set, for each limit and scheme.
func TestTimeoutText(t *testing.T) {
	const connect, reply, idle = 7 * time.Second, 11 * time.Second, 13 * time.Second
	deaf := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	// server returns a Dial for servers that send a text and nothing after it; if answers,
	// they first receive something.
	server := func(answers bool, text string) func(context.Context, string, string) (net.Conn, error) {
		return func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				if answers {
					theirs.Read(make([]byte, 1))
				}
				go io.Copy(io.Discard, theirs)
				if text != "" {
					io.WriteString(theirs, text)
				}
			}()
			return ours, nil
		}
	}
	mute := server(false, "")
	const head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"
	for _, tc := range []struct {
		url  string
		dial func(context.Context, string, string) (net.Conn, error)
		want string
	}{
		{"ftp://server.example/x", deaf, "connect ftp://server.example/x: timed out after 7s: no connection to server.example:21"},
		{"http://server.example/x", deaf, "connect http://server.example/x: timed out after 7s: no connection to server.example:80"},
		{"gopher://server.example/0x", deaf, "connect gopher://server.example/0x: timed out after 7s: no connection to server.example:70"},
		{"nntp://server.example/a.b/1", deaf, "connect nntp://server.example/a.b/1: timed out after 7s: no connection to server.example:119"},

		{"ftp://server.example/x", mute, "connect ftp://server.example/x: timed out after 7s: no greeting"},
		{"ftp://server.example/x", server(false, "220-ready\r\n"), "connect ftp://server.example/x: timed out after 7s: no greeting"},
		{"ftp://server.example/x", server(false, "text\r\n"), "connect ftp://server.example/x: timed out after 7s: no greeting"},
		{"ftp://server.example/x", server(false, "220 ready\r\n"), "USER ftp://server.example/x: timed out after 11s: no reply"},
		{"ftps://server.example/x", mute, "TLS handshake ftps://server.example/x: timed out after 7s: no TLS handshake"},
		{"http://server.example/x", mute, "GET http://server.example/x: timed out after 11s: no response"},
		{"https://server.example/x", mute, "TLS handshake https://server.example/x: timed out after 7s: no TLS handshake"},
		{"http://server.example/x", server(true, head), "GET http://server.example/x: timed out after 13s: no data"},
		{"gopher://server.example/0x", mute, "read gopher://server.example/0x: timed out after 11s: no data"},
		{"gopher://server.example/0x", server(true, "hello"), "read gopher://server.example/0x: timed out after 13s: no data"},
		{"nntp://server.example/a.b/1", mute, "connect nntp://server.example/a.b/1: timed out after 7s: no greeting"},
		{"nntp://server.example/a.b/1", server(false, "200 ready\r\n"), "CAPABILITIES nntp://server.example/a.b/1: timed out after 11s: no reply"},
		{"wais://server.example/db?word", mute, "init wais://server.example/db?word: timed out after 11s: no data"},
		{"prospero://server.example//x", mute, "LIST prospero://server.example//x: timed out after 11s: no reply"},
	} {
		t.Run(tc.url+" "+tc.want, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &fetch1738.Resolver{Env: fetch.Env{Dial: tc.dial, Limits: fetch.Limits{Connect: connect, Reply: reply, Idle: idle}}}
				defer r.Close()
				res, err := r.Get(t.Context(), tc.url)
				if err == nil {
					_, err = io.Copy(io.Discard, res.Body)
					res.Close()
				}
				if err == nil || err.Error() != tc.want {
					t.Errorf("got  %v\nwant %s", err, tc.want)
				}
				if !errors.Is(err, fetch.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%#v is not a timeout", err)
				}
			})
		})
	}
	for _, tc := range []struct {
		limits fetch.Limits
		want   string
	}{
		{fetch.Limits{Connect: connect, Reply: reply}, "timed out after 7s: no greeting"},
		{fetch.Limits{Connect: connect, Reply: -1}, "timed out after 7s: no greeting"},
		{fetch.Limits{Reply: reply}, "timed out after 11s: no greeting"},
		{fetch.Limits{Connect: time.Minute, Reply: reply}, "timed out after 11s: no greeting"},
		{fetch.Limits{Connect: -1, Reply: reply}, "timed out after 11s: no greeting"},
		{fetch.Limits{}, "timed out after 60s: no greeting"}, // not the default of Connect
	} {
		synctest.Test(t, func(t *testing.T) {
			env := &fetch.Env{Dial: mute, Limits: tc.limits, Email: "a@b.example"}
			r := &fetch1738.Resolver{Env: *env, Schemes: []fetch1738.Scheme{{Names: []string{"mailto"}, New: func(env *fetch.Env) driver.Fetcher {
				return &mailto.Fetcher{Env: env, SMTP: "server.example:25"}
			}}}}
			defer r.Close()
			ref, err := locator.Parser{}.Parse("mailto:c@d.example")
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.Update(t.Context(), &fetch.Request{Locator: ref.Locator}, strings.NewReader("Subject: x\r\n\r\nx\r\n"))
			if want := "greeting mailto:c@d.example: " + tc.want; err == nil || err.Error() != want {
				t.Errorf("%+v: got  %v\nwant %s", tc.limits, err, want)
			}
		})
	}
}
