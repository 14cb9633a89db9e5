package http

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// TestNotReused has responses after which the connection must not be used again.
func TestNotReused(t *testing.T) {
	for name, tc := range map[string]struct {
		answer string
		opt    *Options
	}{
		"another protocol":   {"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", &Options{AnyStatus: true}},
		"no status of HTTP":  {strings.Replace(document("x"), "200", "099", 1), &Options{AnyStatus: true}},
		"HTTP/1.0":           {document("x"), &Options{HTTP10: true}},
		"HTTP/1.0, kept":     {strings.Replace(document("x", "Connection: keep-alive"), "1.1", "1.0", 1), &Options{HTTP10: true}},
		"the request: close": {document("x"), &Options{Header: http.Header{"Connection": {"close"}}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newNetwork(t, map[string]server{"a.example:80": says(tc.answer)})
			f := w.fetcher()
			for range 2 {
				_, _, _ = get(t, f, "http://a.example/", tc.opt)
			}
			if len(w.dials) != 2 {
				t.Errorf("%s: %d connections", name, len(w.dials))
			}
		})
	}
}

// TestChunkAtOnce checks that a chunk is returned although what follows it is late.
func TestChunkAtOnce(t *testing.T) {
	const head, first, all = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nhello", "5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n"
	for at := len(first); at < len(all); at++ {
		want := "hello"
		switch came := at - len(first+"\r\n5\r\n"); {
		case came > 5+len("\r\n0\r"):
			continue // it is the trailer that is late
		case came > 0:
			want += "world"[:min(came, 5)]
		}
		synctest.Test(t, func(t *testing.T) {
			w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
				io.WriteString(v.out, head+all[:at])
				time.Sleep(time.Hour)
				return all[at:]
			}})
			began := time.Now()
			f := w.fetcher(func(f *Fetcher) { f.Env.Limits.Idle = -1 })
			res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, "http://a.example/")})
			if err != nil {
				t.Fatal(err)
			}
			defer res.Close()
			p := make([]byte, 100)
			n, err := res.Body.Read(p)
			if string(p[:n]) != want || err != nil || time.Since(began) != 0 {
				t.Errorf("cut after %q: %q, %v, after %v", all[:at], p[:n], err, time.Since(began))
			}
			if rest, err := io.ReadAll(res.Body); string(p[:n])+string(rest) != "helloworld" || err != nil {
				t.Errorf("cut after %q: then %q, %v", all[:at], rest, err)
			}
		})
	}
}

// TestBytesBehind checks that bytes behind a response, which TLS has read already, are not taken for
// the next response.
func TestBytesBehind(t *testing.T) {
	n := 0
	dial := func(context.Context, string, string) (net.Conn, error) {
		here, there := socketPair(t)
		n++
		go func() {
			defer there.Close()
			// records gathers what is written, so that it is sent at once.
			records := &gathered{Conn: there}
			c := tls.Server(records, &tls.Config{Certificates: []tls.Certificate{certificate(t)}})
			p := make([]byte, 4096)
			for {
				if _, err := c.Read(p); err != nil {
					return
				}
				records.gather = true
				io.WriteString(c, document("right"))
				io.WriteString(c, document("wrong"))
				records.send()
			}
		}()
		return here, nil
	}
	f := &Fetcher{Env: &fetch.Env{Dial: dial, TLS: with(&tls.Config{InsecureSkipVerify: true})}, Retries: -1}
	defer f.Close()
	for range 3 {
		if body, _, err := get(t, f, "https://a.example/", nil); body != "right" || err != nil {
			t.Errorf("%q, %v", body, err)
		}
	}
	if n != 3 {
		t.Errorf("%d connections", n)
	}
}

// gathered is a connection that sends several writes as one.
type gathered struct {
	net.Conn
	gather bool
	out    bytes.Buffer
}

func (g *gathered) Write(p []byte) (int, error) {
	if g.gather {
		return g.out.Write(p)
	}
	return g.Conn.Write(p)
}

func (g *gathered) send() {
	g.gather = false
	_, _ = g.out.WriteTo(g.Conn)
}

// TestClosedWhileIdle checks that a POST is not sent over a kept connection that the server has
// closed meanwhile, also if nobody but a read can find that out.
func TestClosedWhileIdle(t *testing.T) {
	for _, url := range []string{"http://a.example/", "https://a.example/"} {
		for _, wrapped := range []bool{false, true} {
			w := newNetwork(t, map[string]server{"a.example:80": storeAndClose, "a.example:443": storeAndClose})
			w.sockets = true
			f := w.fetcher(func(f *Fetcher) {
				if wrapped {
					f.Env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
						c, err := w.dial(ctx, network, address)
						return struct{ net.Conn }{c}, err
					}
				}
			})
			for range 3 {
				_, err := f.Update(t.Context(), &fetch.Request{Locator: parse(t, url)}, strings.NewReader("x"))
				if err != nil {
					t.Errorf("%s, wrapped: %v: %v", url, wrapped, err)
				}
				w.serving.Wait()
			}
		}
	}
}

func storeAndClose(v *received) string { v.body(); return document("") + cut }

// TestSourceFails checks that an error of the source of a body ends the exchange at once, also if it
// looks like one of the connection.
func TestSourceFails(t *testing.T) {
	for _, failure := range []error{syscall.ECONNRESET, io.ErrUnexpectedEOF, io.ErrClosedPipe, errors.New("x")} {
		synctest.Test(t, func(t *testing.T) {
			w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string { v.body(); return document("") }})
			began := time.Now()
			body := io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(failure))
			_, err := w.fetcher().Replace(t.Context(), &fetch.Request{Locator: parse(t, "http://a.example/")}, body)
			if !errors.Is(err, failure) || time.Since(began) != 0 {
				t.Errorf("%v: %v, after %v", failure, err, time.Since(began))
			}
		})
	}
}

// TestSentAgain checks that a body that is sent again over another connection is sent from its first
// byte on, although the first sending may not have ended.
func TestSentAgain(t *testing.T) {
	content := strings.Repeat("0123456789", 100_000)
	for n := range 100 {
		var got string
		w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
			if v.n == 2 {
				io.ReadFull(v.rest, make([]byte, n<<12))
				return reset
			}
			got = v.body()
			return status("201 Created", "")
		}})
		w.sockets = true
		f := w.fetcher()
		for range 2 {
			_, err := f.Replace(t.Context(), &fetch.Request{Locator: parse(t, "http://a.example/")}, strings.NewReader(content))
			if err != nil || got != content {
				t.Fatalf("%d: %d of %d bytes, %v", n, len(got), len(content), err)
			}
			got = ""
		}
		if len(w.dials) != 2 {
			t.Fatalf("%d: %d connections", n, len(w.dials))
		}
	}
}

// TestOthersOpen checks that the error of a connection is what it is, and that the request is
// repeated, also while the server has other connections.
func TestOthersOpen(t *testing.T) {
	release := make(chan bool)
	w := newNetwork(t, map[string]server{"a.example:443": func(v *received) string {
		io.WriteString(v.out, strings.TrimSuffix(document("hello"), "hello"))
		<-release
		return "hello"
	}})
	w.sockets = true
	dials := 0
	f := w.fetcher(func(f *Fetcher) {
		f.Retries, f.Protocols = 0, new(http.Protocols)
		f.Protocols.SetHTTP1(true)
		f.Env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials++; dials == 1 {
				return w.dial(ctx, network, address)
			}
			here, there := socketPair(t)
			_ = there.(*net.TCPConn).SetLinger(0)
			there.Close()
			return here, nil
		}
	})
	res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, "https://a.example/")})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	if _, _, err := get(t, f, "https://a.example/", nil); fetch.KindOf(err) != fetch.ErrConnectionFailed || dials != 4 {
		t.Errorf("%v, after %d connections", err, dials)
	}
	close(release)
}

// TestSuccessBeforeBody has servers that respond with success before they read the body. It is sent, and
// the connection is kept.
func TestSuccessBeforeBody(t *testing.T) {
	for _, first := range []string{"", "HTTP/1.1 100 Continue\r\n\r\n"} {
		for range 20 {
			synctest.Test(t, func(t *testing.T) {
				var got string
				w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
					_, _ = io.WriteString(v.out, first+document(""))
					v.out = io.Discard // of another 100
					got = v.body()
					return ""
				}})
				f := w.fetcher()
				for range 2 {
					_, err := f.Replace(t.Context(), &fetch.Request{Locator: parse(t, "http://a.example/")}, io.MultiReader(strings.NewReader("body")))
					if synctest.Wait(); err != nil || got != "body" {
						t.Errorf("%q: the server has got %q, %v", first, got, err)
					}
					got = ""
				}
				if len(w.dials) != 1 {
					t.Errorf("%q: %d connections", first, len(w.dials))
				}
			})
		}
	}
}

// TestSmallBody checks that a small body is sent together with its head.
func TestSmallBody(t *testing.T) {
	var got string
	w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
		all, _ := v.rest.(*bufio.Reader).Peek(v.rest.(*bufio.Reader).Buffered())
		got = string(all)
		v.body()
		return document("")
	}})
	if _, err := w.fetcher().Update(t.Context(), &fetch.Request{Locator: parse(t, "http://a.example/")}, strings.NewReader("body")); err != nil || got != "body" {
		t.Errorf("%q came with the head, %v", got, err)
	}
}
