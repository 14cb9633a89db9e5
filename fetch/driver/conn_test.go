package driver_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/memnet"
)

// withConn calls client with a Conn to a server, in a bubble. What the hooks of the Trace are
// called with is written to said.
func withConn(t *testing.T, limits fetch.Limits, server func(net.Conn), client func(t *testing.T, ctx context.Context, cancel func(), c *driver.Conn, said *strings.Builder)) {
	synctest.Test(t, func(t *testing.T) {
		var network memnet.Network
		ln, err := network.Listen(t.Context(), "tcp", "127.0.0.1:79")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			conn, err := ln.Accept()
			if err == nil {
				server(conn)
				conn.Close()
			}
		}()
		said := new(strings.Builder)
		ctx, cancel := context.WithCancel(fetch.WithTrace(t.Context(), &fetch.Trace{
			Sent:     func(octets []byte) { fmt.Fprintf(said, "> %q ", octets) },
			Received: func(octets []byte) { fmt.Fprintf(said, "< %q ", octets) },
			Body:     func(n int64) { fmt.Fprintf(said, "body %d ", n) },
		}))
		defer cancel()
		env := &fetch.Env{Dial: network.Dial, Limits: limits}
		l := &locator.Opaque{Name: "x"}
		c, err := driver.NewEnv(env).Open(ctx, fetch.Target{Locator: l, Host: "127.0.0.1", Port: 79})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		client(t, ctx, cancel, c, said)
	})
}

// A greeting, a line of the client, a reply and a document: each reaches the Trace.
func TestConn(t *testing.T) {
	withConn(t, fetch.Limits{}, func(conn net.Conn) {
		io.WriteString(conn, "hello\r\n")
		io.ReadFull(conn, make([]byte, len("PASS secret\r\n")))
		io.WriteString(conn, "200 here\nthe docu")
		time.Sleep(time.Second)
		io.WriteString(conn, "ment")
	}, func(t *testing.T, _ context.Context, _ func(), c *driver.Conn, said *strings.Builder) {
		greeting, err := c.ReadLine()
		if greeting != "hello" || err != nil {
			t.Fatalf("%q, %v", greeting, err)
		}
		if _, err := io.WriteString(c, "PASS secret\r\n"); err != nil {
			t.Fatal(err)
		}
		reply, err := c.ReadLine()
		if reply != "200 here" || err != nil {
			t.Fatalf("%q, %v", reply, err)
		}
		body, err := c.Body()
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(body); string(text) != "the document" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		if want := `< "hello\r\n" > "PASS ****\r\n" < "200 here\n" body 8 body 4 `; said.String() != want {
			t.Errorf("the hooks were called with %s, want %s", said, want)
		}
		if c.Peer().String() != "127.0.0.1:79" {
			t.Errorf("the peer is %v", c.Peer())
		}
		if err := body.Close(); err != nil {
			t.Error(err)
		}
		if _, err := io.WriteString(c, "QUIT\r\n"); fetch.KindOf(err) != fetch.ErrConnectionFailed {
			t.Errorf("after Close of the body: %v", err)
		}
	})
}

// Each failure is an *Error with everything that a Fetcher must return, and closes the connection.
func TestConnFails(t *testing.T) {
	limits := fetch.Limits{Reply: 20 * time.Second, Idle: 5 * time.Second, Line: 10}
	line := func(c *driver.Conn) error { _, err := c.ReadLine(); return err }
	body := func(c *driver.Conn) error {
		b, err := c.Body()
		if err == nil {
			_, err = io.Copy(io.Discard, b)
		}
		return err
	}
	silent := func(conn net.Conn) { conn.Read(make([]byte, 1)) }
	says := func(text string, then func(net.Conn)) func(net.Conn) {
		return func(conn net.Conn) { io.WriteString(conn, text); then(conn) }
	}
	closes := func(net.Conn) {}
	for name, tc := range map[string]struct {
		server func(net.Conn)
		client func(*driver.Conn) error
		want   fetch.ErrorKind
		after  time.Duration
	}{
		"a silent server":          {silent, line, fetch.ErrTimeout, limits.Reply},
		"a body that never begins": {silent, body, fetch.ErrTimeout, limits.Reply},
		"a line that stops":        {says("20", silent), line, fetch.ErrTimeout, limits.Idle},
		"a body that stops":        {says("20", silent), body, fetch.ErrTimeout, limits.Idle},
		"a line of the limit":      {says("01234567\r\n0", silent), func(c *driver.Conn) error { return firstOf(line(c), line(c)) }, fetch.ErrTimeout, limits.Idle},
		"a longer line":            {says("012345678\r\n", silent), line, fetch.ErrTooLarge, 0},
		"an end before a line":     {closes, line, fetch.ErrConnectionFailed, 0},
		"an end within a line":     {says("20", closes), line, fetch.ErrTruncated, 0},
		"a reply after the next write": {says("1\r\n", silent), func(c *driver.Conn) error {
			_ = line(c)
			_, err := io.WriteString(c, "x")
			return firstOf(err, line(c))
		}, fetch.ErrConnectionFailed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			withConn(t, limits, tc.server, func(t *testing.T, _ context.Context, _ func(), c *driver.Conn, _ *strings.Builder) {
				begun := time.Now()
				err := tc.client(c)
				e, ok := err.(*fetch.Error)
				if !ok || e.Kind != tc.want || e.Op == "" || e.URL != "x:" || time.Since(begun) != tc.after {
					t.Errorf("after %v: %#v, %v; want %v after %v", time.Since(begun), err, err, tc.want, tc.after)
				}
				if err := line(c); fetch.KindOf(err) != fetch.ErrConnectionFailed && fetch.KindOf(err) != fetch.ErrTooLarge {
					t.Errorf("another line: %v", err)
				}
			})
		})
	}
	withConn(t, limits, silent, func(t *testing.T, _ context.Context, cancel func(), c *driver.Conn, _ *strings.Builder) {
		time.AfterFunc(time.Second, cancel)
		if err := line(c); fetch.KindOf(err) != fetch.ErrCanceled {
			t.Errorf("after the context: %v", err)
		}
	})
	// A document without bytes is one.
	withConn(t, limits, closes, func(t *testing.T, _ context.Context, _ func(), c *driver.Conn, _ *strings.Builder) {
		if err := body(c); err != nil {
			t.Errorf("an empty body: %v", err)
		}
	})
}

// firstOf returns the first error.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestOptionsOf(t *testing.T) {
	type options struct{ Size int }
	l := &locator.Opaque{Name: "x", Rest: "y"}
	for _, given := range []any{nil, (*options)(nil), &options{}} {
		if o, err := driver.OptionsOf[options](&fetch.Request{Locator: l, Options: given}); err != nil || o.Size != 0 {
			t.Errorf("%T: %v, %v", given, o, err)
		}
	}
	_, err := driver.OptionsOf[options](&fetch.Request{Locator: l, Options: options{1}})
	if e, ok := err.(*fetch.Error); !ok || e.Op == "" || e.URL != "x:y" || e.Kind != fetch.ErrUnsupported {
		t.Errorf("%#v", err)
	}
}
