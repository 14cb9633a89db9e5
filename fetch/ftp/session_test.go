package ftp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/memnet"
)

func logins(srv *ftptest.Server) int { return count(sent(srv), "USER anonymous") }

// TestReuse tests when a session is reused.
func TestReuse(t *testing.T) {
	for name, tc := range map[string]struct {
		fetcher *Fetcher
		opt     *Options
		use     func(*fetch.Resource)
		logins  int
	}{
		"read to the end": {&Fetcher{}, nil, func(r *fetch.Resource) { io.Copy(io.Discard, r.Body); r.Close() }, 1},
		"never closed":    {&Fetcher{}, nil, func(r *fetch.Resource) { io.Copy(io.Discard, r.Body) }, 1},
		"closed early":    {&Fetcher{}, nil, func(r *fetch.Resource) { r.Close() }, 3},
		"raw commands":    {&Fetcher{}, &Options{Quote: []string{"NOOP"}}, func(r *fetch.Resource) { io.Copy(io.Discard, r.Body); r.Close() }, 3},
		"exact":           {&Fetcher{Exact: true}, nil, func(r *fetch.Resource) { io.Copy(io.Discard, r.Body); r.Close() }, 3},
		"disabled":        {&Fetcher{MaxIdle: -1}, nil, func(r *fetch.Resource) { io.Copy(io.Discard, r.Body); r.Close() }, 3},
	} {
		srv := start(t)
		for range 3 {
			res, err := tc.fetcher.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt"), Options: tc.opt})
			if err != nil {
				t.Fatal(err)
			}
			tc.use(res)
		}
		if err := tc.fetcher.Close(); err != nil {
			t.Error(err)
		}
		if n := logins(srv); n != tc.logins {
			t.Errorf("%s: %d logins, want %d", name, n, tc.logins)
		}
	}
}

// TestReuseAfterRefusal tests failures after which the session is reused.
func TestReuseAfterRefusal(t *testing.T) {
	srv := start(t)
	f := &Fetcher{}
	for _, path := range []string{"/none", "/a/none/x", "/a/b/none", "/a/b/c.txt", "/none;type=d", "/x.txt"} {
		if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+path)}); (err != nil) != strings.Contains(path, "none") {
			t.Errorf("%s: %v", path, err)
		}
	}
	f.Close()
	wantSent(t, srv, "USER anonymous", "PASS anonymous@", "PWD",
		"TYPE I", "SIZE none", "EPSV", "RETR none", // the data connection is kept
		"CWD a", "CWD none", "SIZE x", // pipelined after CWD
		"CWD b", "SIZE none", "RETR none",
		"SIZE c.txt", "RETR c.txt",
		"CWD /", "TYPE A", "EPSV", "NLST none", "EPSV",
		"TYPE I", "SIZE x.txt", "RETR x.txt", "QUIT")
}

// TestLoginDirectory tests the return to a login directory that is not the root.
func TestLoginDirectory(t *testing.T) {
	srv := start(t, func(s *ftptest.Server) { s.LoginDir = `/home/"lab"` })
	if err := srv.Put(`home/"lab"/mine`, []byte("mine\n")); err != nil {
		t.Fatal(err)
	}
	f := &Fetcher{}
	for _, path := range []string{"/%2Fetc/x", "/mine", "/%2Fa/b/c.txt", "/mine"} {
		if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+path)}); err != nil {
			t.Error(err)
		}
	}
	f.Close()
	wantSent(t, srv, "USER anonymous", "PASS anonymous@", "PWD", "TYPE I", "CWD /etc", "SIZE x", "EPSV", "RETR x",
		`CWD /home/"lab"`, "EPSV", "RETR mine", "CWD /a", "CWD b", "EPSV", "RETR c.txt",
		`CWD /home/"lab"`, "EPSV", "RETR mine", "QUIT")
}

// TestStale tests sessions that fail while they are idle. The next access succeeds with a
// new session.
func TestStale(t *testing.T) {
	for name, die := range map[string]func(*ftptest.Server){
		"closed":            func(s *ftptest.Server) { s.On("CWD /", 1, testserver.Close()) },
		"reset":             func(s *ftptest.Server) { s.On("CWD /", 1, testserver.Reset(0)) },
		"421":               func(s *ftptest.Server) { s.On("CWD /", 1, testserver.Reply("421 Timeout.")) },
		"silence":           func(s *ftptest.Server) { s.On("CWD /", 1, testserver.Silence()) },
		"garbage":           func(s *ftptest.Server) { s.On("CWD /", 1, testserver.Garbage(100, 1)) },
		"an extra reply":    func(s *ftptest.Server) { s.On("END", 1, testserver.ExtraReply("250 what")) },
		"CWD / is refused":  func(s *ftptest.Server) { s.On("CWD /", 1, testserver.Reply("550 No such directory.")) },
		"closed at EPSV":    func(s *ftptest.Server) { s.On("EPSV", 2, testserver.Close()) },
		"closed at RETR":    func(s *ftptest.Server) { s.On("RETR x.txt", 1, testserver.Close()) },
		"idle for too long": func(*ftptest.Server) {},
	} {
		synctest.Test(t, func(t *testing.T) {
			srv := start(t, func(s *ftptest.Server) {
				s.InMemory = true
				if name != "idle for too long" {
					s.IdleTimeout = 24 * time.Hour
				}
			})
			die(srv)
			var retries int
			ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Retry: func(fetch.Retry) { retries++ }})
			f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}, IdleTime: time.Hour}
			defer f.Close()
			for _, path := range []string{"/a/b/c.txt", "/x.txt"} {
				if _, err := read(ctx, f, &fetch.Request{Locator: parse(t, srv.URL+path)}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				<-time.After(30 * time.Minute) // idle
			}
			want := 1
			if name == "idle for too long" || name == "an extra reply" { // detected before a command is sent
				want = 0
			}
			if n := logins(srv); n != 2 || retries != want {
				t.Errorf("%s: %d logins, %d retries", name, n, retries)
			}
		})
	}
}

// TestStaleUpload tests that no upload is repeated.
func TestStaleUpload(t *testing.T) {
	for _, stage := range []string{"EPSV", "STOR new"} {
		srv := start(t)
		f := &Fetcher{}
		if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/x.txt")}); err != nil {
			t.Fatal(err)
		}
		srv.On(stage, 1, testserver.Close())
		if _, err := f.Replace(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/new")}, strings.NewReader("new")); err != nil {
			t.Errorf("%s: %v", stage, err)
		}
		if got := srv.Uploads()["new"]; string(got) != "new" {
			t.Errorf("%s: stored %q", stage, got)
		}
		srv.On("END", 1, testserver.Close())
		if _, err := f.Replace(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/new")}, strings.NewReader("newer")); err == nil {
			t.Errorf("%s: an upload with an unknown result was repeated", stage)
		}
		f.Close()
	}
}

// TestIdle tests that idle sessions are closed.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, func(s *ftptest.Server) { s.InMemory = true })
		f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
		defer f.Close()
		if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/x.txt")}); err != nil {
			t.Fatal(err)
		}
		<-time.After(59 * time.Second)
		if slices.Contains(sent(srv), "QUIT") {
			t.Error("closed within the minute")
		}
		<-time.After(2 * time.Second)
		if !slices.Contains(sent(srv), "QUIT") {
			t.Error("still open after a minute")
		}
	})
}

// TestConcurrent tests several accesses at once. A range that ends with the file ends a transfer
// like the whole file does: the session is another access's at once.
func TestConcurrent(t *testing.T) {
	srv := start(t)
	f := &Fetcher{MaxIdle: 4}
	defer f.Close()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 5 {
				path, length, want := "/a/b/c.txt", int64(i/2%2*18), "line one\nline two\n"
				if i%2 == 0 {
					path, length, want = "/etc/x;type=a", 0, "etc x\n"
				}
				if got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+path), Length: length}); err != nil || got != want {
					t.Errorf("%q %v", got, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestPolicyOfReuse tests that the policy is asked about every access, even if it needs no new
// control connection.
func TestPolicyOfReuse(t *testing.T) {
	srv := start(t)
	var asked []fetch.Target
	f := &Fetcher{Env: &fetch.Env{Allow: func(_ context.Context, target fetch.Target) error {
		asked = append(asked, target)
		if target.From.Kind == fetch.OriginRemote && target.Addr.IsValid() {
			return errors.New("not from there")
		}
		return nil
	}}}
	defer f.Close()
	l := parse(t, srv.URL+"/x.txt")
	if _, err := read(t.Context(), f, &fetch.Request{Locator: l}); err != nil {
		t.Fatal(err)
	}
	asked = nil
	_, err := read(t.Context(), f, &fetch.Request{Locator: l, From: fetch.Provenance{Kind: fetch.OriginRemote}})
	if !errors.Is(err, fetch.ErrRefused) || len(asked) != 2 || asked[0].Addr.IsValid() || asked[1].Addr.Port() != l.Port || asked[1].From.Kind != fetch.OriginRemote {
		t.Errorf("%v, asked %+v", err, asked)
	}
	if _, err := read(t.Context(), f, &fetch.Request{Locator: l}); err != nil || logins(srv) != 1 {
		t.Errorf("the session was not kept: %v", err)
	}
	for _, target := range asked[2:] {
		if target.Purpose == fetch.PurposeData && (target.Port < minDataPort || target.Host != "127.0.0.1" || target.Locator == nil) {
			t.Errorf("%+v", target)
		}
	}
}

// TestProxy tests a Dial that connects through another host. The remote address is not that of
// the server, so the data connection is dialled by name.
func TestProxy(t *testing.T) {
	srv := start(t)
	var dials []string
	f := &Fetcher{Env: &fetch.Env{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		dials = append(dials, address)
		_, port, _ := net.SplitHostPort(address)
		if port == "21" {
			return srv.Dial(ctx, network, srv.Addr)
		}
		return srv.Dial(ctx, network, "127.0.0.1:"+port)
	}}}
	defer f.Close()
	got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, "ftp://ftp.example.org/x.txt")})
	if err != nil || got != "top\n" || len(dials) != 2 || dials[0] != "ftp.example.org:21" || !strings.HasPrefix(dials[1], "ftp.example.org:") {
		t.Errorf("%q %v, dialled %q", got, err, dials)
	}
}

// TestDataPeer tests that the name is resolved only for the control connection. It may resolve
// to another address by the time of the data connection.
func TestDataPeer(t *testing.T) {
	srv := start(t)
	var dials []string
	f := &Fetcher{Env: &fetch.Env{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		dials = append(dials, address)
		return srv.Dial(ctx, network, strings.Replace(address, "ftp.example.org", "127.0.0.1", 1))
	}}}
	defer f.Close()
	_, port, _ := net.SplitHostPort(srv.Addr)
	got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, "ftp://ftp.example.org:"+port+"/x.txt")})
	if err != nil || got != "top\n" || len(dials) != 2 || !strings.HasPrefix(dials[1], "127.0.0.1:") {
		t.Errorf("%q %v, dialled %q", got, err, dials)
	}
}

// FuzzSession runs a session with a server that sends arbitrary replies. Each line of the
// script is the reply to one command, with "|" for a line end. The last line is the data.
func FuzzSession(f *testing.F) {
	for _, script := range []string{
		"220 hi\n331 pw\n230 in\n257 \"/\"\n250 ok\n200 ok\n213 4\n229 (|||2222|)\n150 ok|226 ok\n221 bye\ndata",
		"220 hi\n331 pw\n230 in\n257 \"/\n250 ok\n200 ok\n500 no\n500 no\n227 (1,2,3,4,8,174)\n150 (4 bytes)\n226 ok\ndata",
		"120 wait|220 hi\n332 acct\n230 in\n257 \"/\"\n550 no\n-rw-r--r-- 1 u g 1 Jan 1 2001 x",
		"220 hi\n230 in\n257 \"/\"\n250 ok\n227 ) (\n",
		"220-\n\n", "421 no\n", "\x00\n", "220 a|220 b\n",
	} {
		for _, typ := range []string{"", ";type=a", ";type=d"} {
			f.Add(script, typ, int64(0))
		}
	}
	f.Add("220 hi\n331 pw\n230 in\n257 \"/\"\n250 ok\n200 ok\n213 4\n229 (|||2222|)\n350 ok\n150 ok|226 ok\n221 bye\nta", "", int64(2))
	f.Fuzz(func(t *testing.T, script, typ string, offset int64) {
		if typ != "" && typ != ";type=a" && typ != ";type=d" {
			return
		}
		synctest.Test(t, func(t *testing.T) { fuzzSession(t, script, typ, offset) })
	})
}

func fuzzSession(t *testing.T, script, typ string, offset int64) {
	replies := strings.Split(script, "\n")
	data := replies[len(replies)-1]
	var network memnet.Network
	l, err := network.Listen(t.Context(), "tcp", "127.0.0.1:21")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { answer(c, replies) })
		}
	})
	env := &fetch.Env{Limits: fetch.Limits{Reply: time.Minute, Idle: time.Minute}}
	env.Dial = func(ctx context.Context, n, address string) (net.Conn, error) {
		if host, port, _ := net.SplitHostPort(address); host != "127.0.0.1" {
			t.Errorf("dialled %s", address)
		} else if port == "21" {
			return network.Dial(ctx, n, address)
		}
		here, there := net.Pipe()
		wg.Go(func() { there.Write([]byte(data)); there.Close() })
		return here, nil
	}
	fetcher := &Fetcher{Env: env}
	l1 := at("/d/x" + typ)
	for range 2 {
		got, err := read(t.Context(), fetcher, &fetch.Request{Locator: l1, Offset: offset})
		var e *fetch.Error
		switch {
		case err == nil && typ == "" && offset == 0 && got != data:
			t.Errorf("%q: %q without an error", script, got)
		case err != nil && (!errors.As(err, &e) || e.Kind == fetch.ErrOther || e.Op == "" || e.URL == ""):
			t.Errorf("%q: %#v", script, err)
		}
	}
	fetcher.Close()
	l.Close()
	wg.Wait()
}

// answer sends one reply for each line received.
func answer(c net.Conn, replies []string) {
	defer c.Close()
	buf := make([]byte, 4096)
	for _, r := range replies[:len(replies)-1] {
		if _, err := io.WriteString(c, strings.ReplaceAll(r, "|", "\r\n")+"\r\n"); err != nil {
			return
		}
		if _, err := c.Read(buf); err != nil {
			return
		}
	}
}

// TestSizeInReply tests that SIZE is not sent for a file once the replies to RETR have stated the
// size that SIZE gave, and is sent again when they do not state it.
func TestSizeInReply(t *testing.T) {
	truthful := func(name string, size int) ftptest.Fault {
		return testserver.Reply(fmt.Sprintf("150 Opening BINARY mode data connection for %s (%d bytes).", name, size))
	}
	for name, tc := range map[string]struct {
		replies []ftptest.Fault // to RETR, in order
		paths   string
		request fetch.Request
		limit   int64
		sent    string // the commands after TYPE
	}{
		"stated":         {nil, "/x.txt /x.txt", fetch.Request{}, 0, "SIZE x.txt, EPSV, RETR x.txt, EPSV, RETR x.txt"},
		"in text":        {nil, "/x.txt /x.txt;type=a /x.txt", fetch.Request{}, 0, "SIZE x.txt, EPSV, RETR x.txt, TYPE A, EPSV, RETR x.txt, TYPE I, EPSV, RETR x.txt"},
		"not stated":     {[]ftptest.Fault{testserver.Reply("150 here")}, "/x.txt /x.txt", fetch.Request{}, 0, "SIZE x.txt, EPSV, RETR x.txt, SIZE x.txt, EPSV, RETR x.txt"},
		"another size":   {[]ftptest.Fault{truthful("x.txt", 5)}, "/x.txt /x.txt", fetch.Request{}, 0, "SIZE x.txt, EPSV, RETR x.txt, SIZE x.txt, EPSV, RETR x.txt"},
		"no longer":      {[]ftptest.Fault{truthful("x.txt", 4), testserver.Reply("150 here")}, "/x.txt /x.txt /x.txt", fetch.Request{}, 0, "SIZE x.txt, EPSV, RETR x.txt, EPSV, RETR x.txt, SIZE x.txt, SIZE x.txt, EPSV, RETR x.txt"},
		"parenthesis":    {nil, "/x.txt /pub/(9%20bytes)", fetch.Request{}, 0, "SIZE x.txt, EPSV, RETR x.txt, CWD pub, SIZE (9 bytes), EPSV, RETR (9 bytes)"},
		"part":           {nil, "/x.txt /x.txt", fetch.Request{Offset: 1}, 0, "SIZE x.txt, EPSV, REST 1, RETR x.txt, SIZE x.txt, EPSV, REST 1, RETR x.txt"},
		"fixed end":      {nil, "/x.txt /x.txt", fetch.Request{Options: &Options{EndAtSize: true}}, 0, "SIZE x.txt, EPSV, RETR x.txt, SIZE x.txt, EPSV, RETR x.txt"},
		"limit":          {nil, "/x.txt /x.txt", fetch.Request{}, 100, "SIZE x.txt, EPSV, RETR x.txt, SIZE x.txt, EPSV, RETR x.txt"},
		"refused":        {[]ftptest.Fault{truthful("x.txt", 4), testserver.Reply("550 none")}, "/x.txt /none /x.txt", fetch.Request{}, 0, "SIZE x.txt, EPSV, RETR x.txt, EPSV, RETR none, SIZE x.txt, RETR x.txt"},
		"refused as 553": {[]ftptest.Fault{truthful("x.txt", 4), testserver.Reply("553 bad name")}, "/x.txt /none", fetch.Request{}, 0, "SIZE x.txt, EPSV, RETR x.txt, EPSV, RETR none, SIZE none"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := start(t)
			if err := srv.Put("pub/(9 bytes)", []byte("name\n")); err != nil {
				t.Fatal(err)
			}
			for i, reply := range tc.replies {
				srv.On("RETR", i+1, reply)
			}
			f := &Fetcher{Env: &fetch.Env{Limits: fetch.Limits{Body: tc.limit}}}
			defer f.Close()
			for i, path := range strings.Fields(tc.paths) {
				req := tc.request
				req.Locator = parse(t, srv.URL+path)
				res, err := f.Fetch(t.Context(), &req)
				if path == "/none" {
					if !errors.Is(err, fetch.ErrNotFound) {
						t.Errorf("%s: %v", path, err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(res.Body)
				if err := cmp.Or(err, res.Close()); err != nil {
					t.Fatal(err)
				}
				want := int64(len(got)) + req.Offset
				if strings.HasSuffix(path, "type=a") || name == "no longer" && i == 1 {
					want = -1
				}
				if res.Size != want {
					t.Errorf("%s: size %d, want %d", path, res.Size, want)
				}
			}
			after := sent(srv)
			after = after[slices.Index(after, "TYPE I")+1:]
			if got := strings.Join(after, ", "); got != tc.sent {
				t.Errorf("sent %s\nwant %s", got, tc.sent)
			}
		})
	}
}

// TestTruncatedWithoutSIZE tests that a truncated file is an error, although the server says that
// the transfer is complete, if SIZE was not sent before it.
func TestTruncatedWithoutSIZE(t *testing.T) {
	for reply, after := range map[string]string{"150 x.txt (4 bytes)": "", "150 here": ", SIZE x.txt"} {
		srv := start(t)
		srv.On("RETR", 2, testserver.Reply(reply), testserver.Data("top"))
		f := &Fetcher{}
		defer f.Close()
		req := &fetch.Request{Locator: parse(t, srv.URL+"/x.txt")}
		if got, err := read(t.Context(), f, req); err != nil || got != "top\n" {
			t.Fatalf("%q, %v", got, err)
		}
		if got, err := read(t.Context(), f, req); !errors.Is(err, fetch.ErrTruncated) || got != "top" {
			t.Errorf("%q: %q, %v; want ErrTruncated", reply, got, err)
		}
		want := "SIZE x.txt, EPSV, RETR x.txt, EPSV, RETR x.txt" + after
		if got := strings.Join(sent(srv), ", "); !strings.HasSuffix(got, want) {
			t.Errorf("%q: sent %s\nwant it to end in %s", reply, got, want)
		}
	}
}
