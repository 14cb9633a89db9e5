package traffic_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/conversation"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/traffic"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// client is a client in memory that notes what it receives, and when.
type client struct {
	t     *testing.T
	net   *testserver.Network
	tls   *tls.Config
	start time.Time

	mu    sync.Mutex
	notes []string
}

func (c *client) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes = append(c.notes, fmt.Sprintf("%v ", time.Since(c.start))+fmt.Sprintf(format, args...))
}

func (c *client) dial(addr string) net.Conn {
	c.t.Helper()
	nc, err := c.net.Dial(c.t.Context(), "tcp", addr)
	if err != nil {
		c.t.Fatal(err)
	}
	return nc
}

func (c *client) secure(nc net.Conn) net.Conn {
	c.t.Helper()
	secure := tls.Client(nc, c.tls)
	if err := secure.HandshakeContext(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	return secure
}

// say sends a line, and notes one line of the answer. It returns that.
func (c *client) say(nc net.Conn, line string) string {
	if line != "" {
		_, _ = io.WriteString(nc, line+"\r\n")
	}
	var answer []byte
	for one := make([]byte, 1); !bytes.HasSuffix(answer, []byte("\n")); {
		if _, err := nc.Read(one); err != nil {
			c.note("%q %v", answer, cause(err))
			return ""
		}
		answer = append(answer, one[0])
	}
	c.note("%q", answer)
	return string(answer)
}

// rest notes what comes until the end.
func (c *client) rest(nc net.Conn) {
	for part := make([]byte, 100); ; {
		n, err := nc.Read(part)
		c.note("data %q %v", part[:n], cause(err))
		if err != nil {
			return
		}
	}
}

// cause returns an error without addresses, which differ.
func cause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

func (c *client) login(addr string) net.Conn {
	nc := c.dial(addr)
	c.say(nc, "")
	c.say(nc, "USER anonymous")
	c.say(nc, "PASS secret")
	c.say(nc, "TYPE I")
	return nc
}

// data opens a data connection.
func (c *client) data(nc net.Conn) net.Conn {
	c.t.Helper()
	return c.dial(conversation.DataAddr("127.0.0.1:21", c.say(nc, "EPSV")))
}

// A client sees the same octets at the same times from the server and from the replay.
func TestReplay(t *testing.T) {
	for name, tc := range map[string]struct {
		configure func(*ftptest.Server)
		arm       func(*ftptest.Server)
		run       func(*client)
		want      string // among the notes
	}{
		"a download that breaks off": {
			arm: func(s *ftptest.Server) {
				s.On("RETR", 1, testserver.Delay(time.Hour), testserver.Drip(1, 10*time.Second), testserver.Truncate(3), testserver.Reply("426 aborted"))
				s.On("QUIT", 1, testserver.Split(2))
			},
			run: func(c *client) {
				nc := c.login("127.0.0.1:21")
				data := c.data(nc)
				time.Sleep(time.Minute)
				c.say(nc, "RETR a.txt")
				c.rest(data)
				data.Close()
				c.say(nc, "")
				c.say(nc, "QUIT")
				c.rest(nc)
				nc.Close()
			},
			want: `1h1m20s data "l" <nil>`,
		},
		"an upload": {
			arm: func(s *ftptest.Server) { s.On("END", 1, testserver.Delay(5*time.Second)) },
			run: func(c *client) {
				nc := c.login("127.0.0.1:21")
				data := c.data(nc)
				c.say(nc, "STOR b")
				time.Sleep(time.Minute)
				_, _ = data.Write(bytes.Repeat([]byte("0123456789"), 20_000))
				data.Close()
				c.say(nc, "")
				nc.Close()
			},
			want: "1m5s \"226",
		},
		"a reset": {
			arm: func(s *ftptest.Server) { s.On("PWD", 1, testserver.Reset(2)) },
			run: func(c *client) {
				nc := c.login("127.0.0.1:21")
				c.say(nc, "PWD")
				nc.Close()
			},
			want: "connection reset by peer",
		},
		"silence": {
			arm: func(s *ftptest.Server) { s.On("PWD", 1, testserver.Silence()) },
			run: func(c *client) {
				nc := c.login("127.0.0.1:21")
				_ = nc.SetReadDeadline(time.Now().Add(time.Minute))
				c.say(nc, "PWD")
				nc.Close()
			},
			want: `1m0s "" i/o timeout`,
		},
		"TLS that is cut": {
			arm: func(s *ftptest.Server) { s.On("RETR", 1, testserver.Truncate(2)) },
			run: func(c *client) {
				nc := c.dial("127.0.0.1:21")
				c.say(nc, "")
				c.say(nc, "AUTH TLS")
				secure := c.secure(nc)
				for _, line := range []string{"USER anonymous", "PASS secret", "PBSZ 0", "PROT P"} {
					c.say(secure, line)
				}
				for range 2 {
					data := c.data(secure)
					c.say(secure, "RETR a.txt")
					c.rest(c.secure(data))
					data.Close()
					c.say(secure, "")
				}
				c.say(secure, "QUIT")
				c.rest(secure)
				nc.Close()
			},
			want: `data "he" <nil>`,
		},
		"clients at the same time": {
			arm: func(s *ftptest.Server) { s.On("RETR", 0, testserver.Drip(2, time.Second)) },
			run: func(c *client) {
				var wg sync.WaitGroup
				for i := range 3 {
					time.Sleep(time.Millisecond)
					wg.Go(func() {
						nc := c.login("127.0.0.1:21")
						time.Sleep(time.Duration(i) * 100 * time.Millisecond)
						data := c.data(nc)
						c.say(nc, "RETR a.txt")
						c.rest(data)
						data.Close()
						c.say(nc, "")
						nc.Close()
					})
				}
				wg.Wait()
			},
			want: `data "o\n" <nil>`,
		},
		"data at the control port": {
			configure: func(s *ftptest.Server) { s.OnePort = true },
			arm:       func(s *ftptest.Server) { s.On("RETR", 1, testserver.Drip(2, time.Second)) },
			run: func(c *client) {
				nc := c.login("127.0.0.1:21")
				data := c.data(nc)
				c.say(nc, "RETR a.txt")
				c.rest(data)
				data.Close()
				c.say(nc, "")
				nc.Close()
			},
			want: `data "ll" <nil>`,
		},
		"a transfer that is broken off": {
			arm: func(s *ftptest.Server) {},
			run: func(c *client) {
				nc := c.login("127.0.0.1:21")
				data := c.data(nc)
				c.say(nc, "RETR large")
				time.Sleep(time.Second)
				c.say(nc, "ABOR")
				data.Close()
				c.say(nc, "")
				nc.Close()
			},
			want: `1s "426`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var file bytes.Buffer
				config := testserver.NewTLS()
				srv := ftptest.New(t, func(s *ftptest.Server) {
					s.InMemory, s.TLS, s.Recorder = true, config, traffic.NewRecorder(&file)
					s.Content = fstest.MapFS{"a.txt": {Data: []byte("hello\n")}, "large": {Data: make([]byte, 1<<20)}}
					if tc.configure != nil {
						tc.configure(s)
					}
				})
				tc.arm(srv)
				run := func(network *testserver.Network) string {
					c := &client{t: t, net: network, start: time.Now(), tls: &tls.Config{RootCAs: srv.Roots(), ServerName: "localhost"}}
					tc.run(c)
					synctest.Wait()
					return strings.Join(c.notes, "\n")
				}
				want := run(srv.Network)
				time.Sleep(time.Minute)
				if err := srv.Close(); err != nil {
					t.Error(err)
				}
				if !strings.Contains(want, tc.want) {
					t.Errorf("the server sends\n%s\nwithout %s", want, tc.want)
				}
				if got := run(replay(t, file.Bytes(), nil)); got != want {
					t.Errorf("the server sends\n%s\nthe replay\n%s\nof\n%s", want, got, file.String())
				}
			})
		})
	}
}

// replay plays a record on a network of its own until the test ends. It fails if there is a difference,
// unless these are wanted.
func replay(t *testing.T, file []byte, differences *[]traffic.Difference) *testserver.Network {
	t.Helper()
	events, err := traffic.Read(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	network := new(testserver.Network)
	p := traffic.Player{Listen: network.Listen, Report: func(d traffic.Difference) {
		if differences == nil {
			t.Errorf("%+v", d)
		} else {
			*differences = append(*differences, d)
		}
	}}
	r, err := p.Start(context.Background(), events)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return network
}

// A file of the disk, which the system could copy to the socket by itself, is recorded.
func TestFileOfDisk(t *testing.T) {
	dir, data := t.TempDir(), bytes.Repeat([]byte("0123456789"), 20_000)
	if err := os.WriteFile(filepath.Join(dir, "a"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content, s.Recorder = os.DirFS(dir), traffic.NewRecorder(&file) })
	if got, _, _, err := testclient.LoginFTP(t, srv).Get("RETR a"); err != nil || got != string(data) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	_ = srv.Close()
	events, err := traffic.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	var recorded []byte
	for _, e := range events {
		if e.Conn == 2 {
			recorded = append(recorded, e.Octets...)
		}
	}
	if !bytes.Equal(recorded, data) {
		t.Errorf("%d of %d bytes are recorded", len(recorded), len(data))
	}
}

// A difference is reported once for each connection, and the replay continues.
func TestDifferences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var file bytes.Buffer
		srv := ftptest.New(t, func(s *ftptest.Server) { s.InMemory, s.Recorder = true, traffic.NewRecorder(&file) })
		first := &client{t: t, net: srv.Network, start: time.Now()}
		nc := first.login("127.0.0.1:21")
		first.say(nc, "NOOP")
		nc.Close()
		time.Sleep(time.Minute)
		_ = srv.Close()

		var got []traffic.Difference
		c := &client{t: t, net: replay(t, file.Bytes(), &got), start: time.Now()}
		nc = c.dial("127.0.0.1:21")
		c.say(nc, "")
		for _, line := range []string{"USER anonymous", "PASS another and longer one", "TYPE A", "NOOP"} {
			c.say(nc, line)
		}
		_, _ = io.WriteString(nc, "more\r\n")
		nc.Close()
		c.rest(c.dial("127.0.0.1:21"))
		synctest.Wait()
		strip := func(notes []string) string { return strings.ReplaceAll(strings.Join(notes, "\n"), "0s ", "") }
		if want := strip(first.notes) + "\ndata \"\" EOF"; strip(c.notes) != want {
			t.Errorf("%s\nwant\n%s", strip(c.notes), want)
		}
		if len(got) != 2 {
			t.Fatalf("%+v", got)
		}
		want := traffic.Difference{Addr: "127.0.0.1:21", Conn: 1, What: "byte 22 of the client", Got: "PASS another and longer one", Want: "PASS secret"}
		if got[0] != want {
			t.Errorf("%+v, want %+v", got[0], want)
		}
		if got[1].Conn != 0 || got[1].Addr != "127.0.0.1:21" || !strings.Contains(got[1].What, "no further connection") {
			t.Errorf("%+v", got[1])
		}
	})
}

// A client that ends early is reported, and its session is over.
func TestClientEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var file bytes.Buffer
		srv := ftptest.New(t, func(s *ftptest.Server) {
			s.InMemory, s.Recorder, s.Content = true, traffic.NewRecorder(&file), fstest.MapFS{"a": {Data: []byte("x")}}
		})
		download := func(c *client) {
			nc := c.login("127.0.0.1:21")
			data := c.data(nc)
			c.say(nc, "RETR a")
			c.rest(data)
			data.Close()
			c.say(nc, "")
			nc.Close()
		}
		download(&client{t: t, net: srv.Network})
		download(&client{t: t, net: srv.Network})
		_ = srv.Close()

		var got []traffic.Difference
		network := replay(t, file.Bytes(), &got)
		c := &client{t: t, net: network}
		nc := c.login("127.0.0.1:21")
		nc.Close()
		synctest.Wait()
		if len(got) != 1 || !strings.Contains(got[0].What, "ended the connection after byte 37; the record has 6 more") {
			t.Errorf("%+v", got)
		}
		download(c) // the second one
		synctest.Wait()
		if len(got) != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// A connection that the server opened is reported, and the rest of the session is played.
func TestActiveMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var file bytes.Buffer
		srv := ftptest.New(t, func(s *ftptest.Server) {
			s.InMemory, s.Recorder, s.Content = true, traffic.NewRecorder(&file), fstest.MapFS{"a": {Data: []byte("x")}}
		})
		run := func(c *client, comes bool) []string {
			l, err := c.net.Listen(t.Context(), "tcp", "127.0.0.1:50001")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			nc := c.login("127.0.0.1:21")
			c.say(nc, "EPRT |1|127.0.0.1|50001|")
			c.say(nc, "RETR a")
			if comes {
				data, err := l.Accept()
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, data)
				data.Close()
			}
			c.say(nc, "")
			nc.Close()
			return c.notes
		}
		want := run(&client{t: t, net: srv.Network, start: time.Now()}, true)
		_ = srv.Close()
		var got []traffic.Difference
		notes := run(&client{t: t, net: replay(t, file.Bytes(), &got), start: time.Now()}, false)
		synctest.Wait()
		if strings.Join(notes, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q, want %q", notes, want)
		}
		if len(got) != 1 || got[0].Conn != 2 || !strings.Contains(got[0].What, "active mode") {
			t.Errorf("%+v", got)
		}
	})
}

// Sessions that use one data port after another do not get the data of each other, even if the first
// client is slower in the replay, or does not come at all.
func TestSharedPort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var file bytes.Buffer
		srv := ftptest.New(t, func(s *ftptest.Server) {
			s.InMemory, s.Recorder, s.PassivePorts = true, traffic.NewRecorder(&file), [2]uint16{50000, 50000}
			s.Content = fstest.MapFS{"a": {Data: []byte("of a")}, "b": {Data: []byte("of b")}}
		})
		// One client begins at once, one after a second. The first one waits before its data connection.
		run := func(network *testserver.Network, wait time.Duration) string {
			var wg sync.WaitGroup
			var got [2]string
			for i, name := range []string{"a", "b"} {
				wg.Go(func() {
					c := &client{t: t, net: network}
					if name == "b" {
						time.Sleep(time.Second)
					} else if wait < 0 {
						return
					}
					nc := c.login("127.0.0.1:21")
					if name == "a" {
						time.Sleep(wait)
					}
					data := c.data(nc)
					c.say(nc, "RETR "+name)
					octets, err := io.ReadAll(data)
					got[i] = fmt.Sprintf("%s %q %v ", name, octets, err)
					data.Close()
					c.say(nc, "")
					nc.Close()
				})
			}
			wg.Wait()
			synctest.Wait()
			return got[0] + got[1]
		}
		const want = `a "of a" <nil> b "of b" <nil> `
		if got := run(srv.Network, 0); got != want {
			t.Fatalf("the server sends %s", got)
		}
		time.Sleep(time.Minute)
		_ = srv.Close()
		if got := run(replay(t, file.Bytes(), nil), 5*time.Second); got != want {
			t.Errorf("the replay sends %s", got)
		}
		var differences []traffic.Difference
		if got := run(replay(t, file.Bytes(), &differences), -1); !strings.HasPrefix(got, `b "of `) || len(differences) == 0 {
			t.Errorf("the replay sends %s %+v", got, differences)
		}
	})
}

// FuzzReplay plays damaged records to clients of all their ports. The replay ends when it is closed.
func FuzzReplay(f *testing.F) {
	const listen = `{"t":"0s","event":"listen","addr":"127.0.0.1:21","url":"ftp://127.0.0.1:21"}` + "\n"
	const open = `{"t":"1ms","conn":1,"event":"open","addr":"127.0.0.1:21"}` + "\n"
	for _, events := range []string{
		`{"t":"1ms","conn":1,"event":"server","octets":"eA=="}` + "\n" + `{"t":"1ms","conn":1,"event":"client","octets":"eA=="}` + "\n",
		`{"t":"1ms","conn":2,"of":1,"event":"open","addr":"127.0.0.1:50000"}` + "\n" + `{"t":"1ms","conn":2,"event":"reset"}` + "\n",
		`{"t":"1ms","conn":2,"of":1,"event":"connect","addr":"127.0.0.1:50000"}` + "\n" + `{"t":"1ms","conn":2,"event":"shut"}` + "\n",
		`{"t":"1ms","conn":1,"event":"tls"}` + "\n" + `{"t":"1ms","conn":1,"event":"notify"}` + "\n",
		`{"t":"1ms","conn":1,"event":"cut","lost":-5}` + "\n" + `{"t":"-1ms","conn":1,"of":1,"event":"data"}` + "\n" + `{"conn":1,"event":"eof"}` + "\n",
	} {
		f.Add([]byte(listen + open + events))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		events, err := traffic.Read(bytes.NewReader(file))
		if err != nil {
			return
		}
		network := new(testserver.Network)
		r, err := (&traffic.Player{Listen: network.Listen}).Start(t.Context(), events)
		if err != nil {
			return
		}
		for _, e := range events {
			if nc, err := network.Dial(t.Context(), "tcp", e.Addr); err == nil {
				_, _ = io.WriteString(nc, "x\r\n")
				defer nc.Close()
			}
		}
		_ = r.Close()
	})
}

// What was written before a program was killed can be played.
func TestRead(t *testing.T) {
	const whole = `{"t":"1.5s","conn":1,"event":"open","addr":"127.0.0.1:21"}` + "\n"
	for text, want := range map[string]string{
		"": "0 <nil>", whole: "1 <nil>", whole + `{"t":"2s","conn":1,"eve`: "1 <nil>",
		whole + "x\n": "0 line 2: invalid character", whole + `{"t":"now"}` + "\n": "0 line 2: ",
	} {
		events, err := traffic.Read(strings.NewReader(text))
		if got := fmt.Sprintf("%d %v", len(events), err); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		whole + whole: "line 2: connection 1 is opened twice",
		whole + `{"t":"2s","conn":2,"event":"client","octets":"eA=="}` + "\n": "line 2: connection 2 is not open",
	} {
		events, _ := traffic.Read(strings.NewReader(text))
		if _, err := new(traffic.Player).Start(t.Context(), events); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A port that is taken is an error that names it.
func TestPortTaken(t *testing.T) {
	network := new(testserver.Network)
	if _, err := network.Listen(t.Context(), "tcp", "127.0.0.1:50000"); err != nil {
		t.Fatal(err)
	}
	p := traffic.Player{Listen: network.Listen}
	_, err := p.Start(t.Context(), []traffic.Event{
		{Event: traffic.Listen, URL: "ftp://127.0.0.1:21", Addr: "127.0.0.1:21"},
		{Event: traffic.Open, Conn: 1, Addr: "127.0.0.1:21"},
		{Event: traffic.Open, Conn: 2, Of: 1, Addr: "127.0.0.1:50000"},
	})
	if err == nil || !strings.Contains(err.Error(), "cannot listen on 127.0.0.1:50000, where the record has data connections: ") {
		t.Errorf("%v", err)
	}
}

// An error of the file ends the recording, and is kept.
func TestWriteError(t *testing.T) {
	r := traffic.NewRecorder(failing{})
	srv := webtest.New(t, func(s *webtest.Server) { s.InMemory, s.Recorder = true, r })
	nc, err := srv.Dial(t.Context(), "tcp", srv.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	_, _ = io.WriteString(nc, "GET / HTTP/1.0\r\n\r\n")
	if got, err := io.ReadAll(nc); err != nil || !strings.HasPrefix(string(got), "HTTP/1") {
		t.Errorf("%q, %v", got, err)
	}
	if err := r.Err(); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("%v", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// A client that spoke HTTP/2 over TLS does so at the replay, too.
func TestReplayHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var file bytes.Buffer
		config := testserver.NewTLS()
		srv := webtest.New(t, func(s *webtest.Server) {
			s.InMemory, s.Recorder, s.TLS, s.ImplicitTLS = true, traffic.NewRecorder(&file), config, true
			s.Content = fstest.MapFS{"a.txt": {Data: []byte("hello")}}
		})
		roots := srv.Roots()
		get := func(network *testserver.Network) string {
			tr := &http.Transport{DialContext: network.Dial, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots}}
			defer tr.CloseIdleConnections()
			res, err := (&http.Client{Transport: tr}).Get("https://127.0.0.1:443/a.txt")
			if err != nil {
				return err.Error()
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			return fmt.Sprint(res.Proto, " ", string(body), " ", err)
		}
		first := get(srv.Network)
		synctest.Wait()
		_ = srv.Close()
		var differences []traffic.Difference
		if again := get(replay(t, file.Bytes(), &differences)); again != first || first != "HTTP/2.0 hello <nil>" {
			t.Errorf("%q, want %q", again, first)
		}
	})
}

// What a client of HTTP/2 sends when it likes may come at other times than in the record: the replay
// waits for its requests, and for windows.
func TestReplayHTTP2Order(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := strings.Repeat("x", 200_000)
		var file bytes.Buffer
		srv := webtest.New(t, func(s *webtest.Server) {
			s.InMemory, s.Recorder = true, traffic.NewRecorder(&file)
			s.Content = fstest.MapFS{"a.txt": {Data: []byte(body)}}
		})
		first := frames(t, srv.Network, srv.Addr, 0)
		synctest.Wait()
		_ = srv.Close()
		if again := frames(t, replay(t, file.Bytes(), nil), srv.Addr, time.Second); again != first || first != len(body) {
			t.Errorf("%d octets, and %d from the replay; want %d", first, again, len(body))
		}

		// A server that did not wait for windows does not do so in the replay.
		events, err := traffic.Read(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		var impatient bytes.Buffer
		for _, e := range events {
			for _, stream := range []string{"\x00", "\x01"} {
				e.Octets = bytes.ReplaceAll(e.Octets, []byte("\x00\x00\x04\x08\x00\x00\x00\x00"+stream+"\x00\x10\x00\x00"), nil)
			}
			_ = json.NewEncoder(&impatient).Encode(e)
		}
		if n := frames(t, replay(t, impatient.Bytes(), nil), srv.Addr, -1); n != len(body) {
			t.Errorf("%d octets from the replay of a server that does not wait; want %d", n, len(body))
		}
	})
}

// frames gets a.txt by HTTP/2, and returns the length of the body. A client without a delay opens large
// windows before it acknowledges the SETTINGS of the server. One with a delay does that first, and opens
// another window when the first one is nearly full. With a negative one it opens none, and takes what
// comes.
func frames(t *testing.T, network *testserver.Network, addr string, delay time.Duration) (n int) {
	t.Helper()
	nc, err := network.Dial(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	f := http2.NewFramer(nc, nc)
	_, _ = io.WriteString(nc, http2.ClientPreface)
	_ = f.WriteSettings(http2.Setting{ID: http2.SettingEnablePush})
	open := func(n uint32) { _, _ = f.WriteWindowUpdate(0, n), f.WriteWindowUpdate(1, n) }
	const window = 65535
	full := window
	if delay < 0 {
		full = math.MaxInt
	}
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			t.Error(err)
			return n
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if frame.IsAck() {
				continue
			}
			if delay > 0 {
				_, _ = f.WriteSettingsAck(), f.WritePing(false, [8]byte{1})
				time.Sleep(delay)
			}
			var head bytes.Buffer
			fields := hpack.NewEncoder(&head)
			for _, pair := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", addr}, {":path", "/a.txt"}} {
				_ = fields.WriteField(hpack.HeaderField{Name: pair[0], Value: pair[1]})
			}
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: head.Bytes(), EndStream: true, EndHeaders: true})
			if delay == 0 {
				open(1 << 20)
				full += 1 << 20
				_ = f.WriteSettingsAck()
			}
		case *http2.DataFrame:
			if n += len(frame.Data()); n > full {
				t.Fatalf("%d octets have come, and the window ends at %d", n, full)
			}
			if frame.StreamEnded() {
				return n
			}
			if n > full-16384 { // the next frame does not fit
				time.Sleep(delay)
				open(window)
				full += window
			}
		}
	}
}
