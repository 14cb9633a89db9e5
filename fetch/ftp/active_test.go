package ftp

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// actively runs a test with a server and a Fetcher in active mode.
func actively(t *testing.T, configure func(*ftptest.Server), test func(*testing.T, *ftptest.Server, *Fetcher)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, func(s *ftptest.Server) {
			s.InMemory = true
			if configure != nil {
				configure(s)
			}
		})
		if err := srv.Put("pub/a.txt", []byte("0123456789")); err != nil {
			t.Fatal(err)
		}
		f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial, Listen: srv.Network.Listen}, Active: &Active{}}
		defer f.Close()
		test(t, srv, f)
	})
}

// verbs returns the verbs of the commands that a server has received.
func verbs(srv *ftptest.Server) (verbs []string) {
	for _, line := range srv.Transcript() {
		if line.From == testserver.FromClient {
			verb, _, _ := strings.Cut(line.Text, " ")
			verbs = append(verbs, strings.TrimSpace(verb))
		}
	}
	return verbs
}

// TestActive tests every kind of transfer.
func TestActive(t *testing.T) {
	actively(t, nil, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
		file := locate(srv, "pub", "a.txt")
		for _, tc := range []struct {
			req  *fetch.Request
			want string
		}{
			{&fetch.Request{Locator: file}, "0123456789"},
			{&fetch.Request{Locator: file, Offset: 4}, "456789"},
			{&fetch.Request{Locator: file, Offset: 2, Length: 3}, "234"},
			{&fetch.Request{Locator: locate(srv, "pub", ""), Options: &Options{ListOnly: true}}, "a.txt\n"},
		} {
			if got, err := read(t.Context(), f, tc.req); got != tc.want || err != nil {
				t.Errorf("%+v: got %q, %v", tc.req, got, err)
			}
		}
		req := &fetch.Request{Locator: locate(srv, "pub", "new")}
		for _, store := range []func() (*fetch.Attributes, error){
			func() (*fetch.Attributes, error) { return f.Replace(t.Context(), req, strings.NewReader("abcdef")) },
			func() (*fetch.Attributes, error) { return f.Update(t.Context(), req, strings.NewReader("gh")) },
			func() (*fetch.Attributes, error) {
				return f.Replace(t.Context(), &fetch.Request{Locator: req.Locator, Offset: 3}, strings.NewReader("DE"))
			},
		} {
			if _, err := store(); err != nil {
				t.Error(err)
			}
		}
		if got := string(srv.Uploads()["pub/new"]); got != "abcDEfgh" {
			t.Errorf("stored %q", got)
		}
		got := verbs(srv)
		if slices.Contains(got, "PORT") || slices.Contains(got, "EPSV") || slices.Contains(got, "PASV") {
			t.Errorf("sent %q", got)
		}
	})
}

// TestActiveFallback tests that each attempt at a listing opens its own port, and that
// an unused port is closed.
func TestActiveFallback(t *testing.T) {
	actively(t, func(s *ftptest.Server) { s.Hide = []string{"LIST"} }, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
		open := 0
		listen := f.Env.Listen
		f.Env.Listen = func(ctx context.Context, network, address string) (net.Listener, error) {
			l, err := listen(ctx, network, address)
			open++
			return closing{l, &open}, err
		}
		if got, err := read(t.Context(), f, &fetch.Request{Locator: locate(srv, "pub", "")}); got != "a.txt\n" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		if _, err := read(t.Context(), f, &fetch.Request{Locator: locate(srv, "pub", "none")}); !errors.Is(err, fetch.ErrNotFound) {
			t.Errorf("%v", err)
		}
		if open != 0 {
			t.Errorf("%d ports are left open", open)
		}
	})
}

// closing is a listener that decrements open when it is closed.
type closing struct {
	net.Listener
	open *int
}

func (c closing) Close() error { *c.open--; return c.Listener.Close() }

// TestActivePort tests that PORT is sent if EPRT is refused or disabled. EPRT is tried once
// per session.
func TestActivePort(t *testing.T) {
	for name, tc := range map[string]struct {
		configure func(*ftptest.Server)
		disable   bool
		want      []string
	}{
		"refused":  {func(s *ftptest.Server) { s.Hide = []string{"EPRT"} }, false, []string{"EPRT", "PORT", "RETR", "PORT", "RETR"}},
		"disabled": {nil, true, []string{"PORT", "RETR", "PORT", "RETR"}},
		"accepted": {nil, false, []string{"EPRT", "RETR", "EPRT", "RETR"}},
	} {
		t.Run(name, func(t *testing.T) {
			actively(t, tc.configure, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
				f.Active.DisableEPRT = tc.disable
				for range 2 {
					if got, err := read(t.Context(), f, &fetch.Request{Locator: locate(srv, "pub", "a.txt")}); got != "0123456789" || err != nil {
						t.Errorf("got %q, %v", got, err)
					}
				}
				got := slices.DeleteFunc(verbs(srv), func(verb string) bool { return !slices.Contains([]string{"EPRT", "PORT", "RETR", "EPSV"}, verb) })
				if !slices.Equal(got, tc.want) {
					t.Errorf("sent %q, want %q", got, tc.want)
				}
			})
		})
	}
}

// TestActiveFailures tests the ways in which active mode fails.
func TestActiveFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		fault func(*ftptest.Server, *Fetcher)
		op    fetch.Op
		kind  fetch.ErrorKind
	}{
		"PORT is refused": {func(srv *ftptest.Server, _ *Fetcher) {
			srv.On("EPRT", 0, testserver.Reply("500 What?"))
			srv.On("PORT", 0, testserver.Reply("501 No."))
		}, "PORT", fetch.ErrUnsupported},
		"it cannot connect": {func(srv *ftptest.Server, f *Fetcher) {
			acceptNothing(f)
			srv.On("END", 0, testserver.Silence())
		}, "accept", fetch.ErrTimeout},
		"it gives up": {func(srv *ftptest.Server, f *Fetcher) {
			acceptNothing(f)
			srv.On("END", 0, testserver.Reply("421 Connection timed out."))
		}, "accept", fetch.ErrBusy},
		"no port": {func(_ *ftptest.Server, f *Fetcher) {
			f.Env.Listen = func(context.Context, string, string) (net.Listener, error) { return nil, errors.New("none") }
		}, "PORT", fetch.ErrUnreachable},
		"ports the wrong way round":  {func(_ *ftptest.Server, f *Fetcher) { f.Active.Ports = [2]uint16{2, 1} }, "check", fetch.ErrUnsupported},
		"an address with a line end": {func(_ *ftptest.Server, f *Fetcher) { f.Active.Host = "127.0.0.1\r\nDELE x" }, "check", fetch.ErrBadURL},
	} {
		t.Run(name, func(t *testing.T) {
			actively(t, nil, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
				tc.fault(srv, f)
				_, err := read(t.Context(), f, &fetch.Request{Locator: locate(srv, "pub", "a.txt")})
				var e *fetch.Error
				if !errors.As(err, &e) || e.Op != tc.op || e.Kind != tc.kind {
					t.Errorf("%v (%+v)", err, e)
				}
			})
		})
	}
}

// acceptNothing makes the ports of f deaf.
func acceptNothing(f *Fetcher) {
	listen := f.Env.Listen
	f.Env.Listen = func(ctx context.Context, network, address string) (net.Listener, error) {
		l, err := listen(ctx, network, address)
		if err == nil {
			l = deaf{l, make(chan struct{})}
		}
		return l, err
	}
}

// deaf is a listener that never accepts a connection.
type deaf struct {
	net.Listener
	closed chan struct{}
}

func (d deaf) Accept() (net.Conn, error) { <-d.closed; return nil, net.ErrClosed }
func (d deaf) Close() error              { close(d.closed); return d.Listener.Close() }

// TestActiveIPv6 tests EPRT over IPv6, which PORT does not support.
func TestActiveIPv6(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := ftptest.Start(t.Context(), "[::1]:21", func(s *ftptest.Server) { s.InMemory = true })
		if err != nil {
			t.Fatal(err)
		}
		defer srv.Close()
		if err := srv.Put("a.txt", []byte("x")); err != nil {
			t.Fatal(err)
		}
		f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial, Listen: srv.Network.Listen}, Active: &Active{DisableEPRT: true}}
		defer f.Close()
		if got, err := read(t.Context(), f, &fetch.Request{Locator: at6("/a.txt")}); got != "x" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		sent := func() (line string) {
			for _, l := range srv.Transcript() {
				if strings.HasPrefix(l.Text, "EPRT |2|::1|") {
					line = l.Text
				}
			}
			return line
		}
		if sent() == "" {
			t.Errorf("sent %q", verbs(srv))
		}
		srv.On("EPRT", 0, testserver.Reply("522 No."))
		_, err = read(t.Context(), f, &fetch.Request{Locator: at6("/a.txt")})
		var e *fetch.Error
		if !errors.As(err, &e) || e.Op != "EPRT" || e.Code != 522 {
			t.Errorf("%v", err)
		}
	})
}

// at6 returns a locator on [::1], for which RFC 1738 has no syntax.
func at6(path string) *locator.FTP {
	l := at(path)
	l.Host = "::1"
	return l
}

// TestActiveStranger tests that a connection from another host (CVE-2002-0714) is closed
// without exchanging data.
func TestActiveStranger(t *testing.T) {
	actively(t, nil, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
		var strangers []net.Conn
		listen := f.Env.Listen
		f.Env.Listen = func(ctx context.Context, network, address string) (net.Listener, error) {
			l, err := listen(ctx, network, address)
			if err != nil {
				return nil, err
			}
			ours, theirs := net.Pipe()
			strangers = append(strangers, theirs)
			return &crowded{Listener: l, first: ours}, nil
		}
		if got, err := read(t.Context(), f, &fetch.Request{Locator: locate(srv, "pub", "a.txt")}); got != "0123456789" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		for _, c := range strangers {
			_ = c.SetReadDeadline(time.Now().Add(time.Second))
			if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the other host reads %d bytes, %v", n, err)
			}
			c.Close()
		}
		if len(strangers) != 1 {
			t.Errorf("%d ports were opened", len(strangers))
		}
	})
}

// TestActiveTooLate tests that a connection is closed if the server connects at the
// moment of the timeout.
func TestActiveTooLate(t *testing.T) {
	actively(t, nil, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		listen := f.Env.Listen
		f.Env.Listen = func(ctx context.Context, network, address string) (net.Listener, error) {
			l, err := listen(ctx, network, address)
			return &late{Listener: l, last: ours, closed: make(chan struct{})}, err
		}
		f.Env.Limits = fetch.Limits{Connect: time.Second}
		if _, err := read(t.Context(), f, &fetch.Request{Locator: locate(srv, "pub", "a.txt")}); !errors.Is(err, fetch.ErrTimeout) {
			t.Error(err)
		}
		_ = theirs.SetReadDeadline(time.Now().Add(time.Second))
		if n, err := theirs.Read(make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
			t.Errorf("the late connection reads %d bytes, %v", n, err)
		}
	})
}

// late is a listener at which the server connects when it is closed.
type late struct {
	net.Listener
	last   net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *late) Accept() (net.Conn, error) {
	<-l.closed
	return awaited{l.last}, nil
}

func (l *late) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

type awaited struct{ net.Conn }

func (awaited) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 20} }

// crowded is a listener whose first connection is from another host.
type crowded struct {
	net.Listener
	first net.Conn
}

func (c *crowded) Accept() (net.Conn, error) {
	if first := c.first; first != nil {
		c.first = nil
		return stranger{first}, nil
	}
	return c.Listener.Accept()
}

type stranger struct{ net.Conn }

func (stranger) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 5), Port: 4711} }

// TestActiveRefusedMeanwhile tests that a reply on the control connection ends the wait for
// the server, over a real network.
func TestActiveRefusedMeanwhile(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Forbidden = nil })
	if err := srv.Put("a.txt", []byte("x")); err != nil {
		t.Fatal(err)
	}
	// The announced port is the local end of a connection. Nothing listens there, and
	// no other program can.
	taken, err := net.Dial("tcp", srv.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	var held net.Listener
	defer func() { held.Close() }()
	f := &Fetcher{Active: &Active{}, Env: &fetch.Env{Listen: func(_ context.Context, network, address string) (_ net.Listener, err error) {
		held, err = net.Listen(network, address)
		return elsewhere{held, taken.LocalAddr()}, err
	}}}
	defer f.Close()
	_, err = read(t.Context(), f, &fetch.Request{Locator: locate(srv, "a.txt")})
	var e *fetch.Error
	if !errors.As(err, &e) || e.Op != "accept" || e.Code != 425 {
		t.Errorf("%v (%+v)", err, e)
	}
}

// elsewhere is a listener that reports another address.
type elsewhere struct {
	net.Listener
	addr net.Addr
}

func (e elsewhere) Addr() net.Addr { return e.addr }
