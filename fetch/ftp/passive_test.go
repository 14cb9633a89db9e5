package ftp

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// passively runs a test with a server in memory at addr and a Fetcher.
func passively(t *testing.T, addr string, test func(*testing.T, *ftptest.Server, *Fetcher)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		srv, err := ftptest.Start(t.Context(), addr, func(s *ftptest.Server) { s.InMemory, s.Content = true, tree() })
		if err != nil {
			t.Fatal(err)
		}
		defer srv.Close()
		f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
		defer f.Close()
		test(t, srv, f)
	})
}

// TestUselessEPSV tests replies to EPSV that cannot be used: PASV is sent instead. Later
// sessions of the same Fetcher send only PASV.
func TestUselessEPSV(t *testing.T) {
	for _, answer := range []string{
		"500 what", "425 cannot", "522 no", "200 ok", "331 what", "150 wait",
		"229", "229 (", "229 ()", "229 (|||0|)", "229 (|||22|)", "229 (|||99999|)", "229 (|1|10.0.0.5|2222|)",
		"229 (|||3333|)", // nothing listens there
	} {
		passively(t, "127.0.0.1:21", func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
			srv.On("EPSV", 0, testserver.Reply(answer))
			f.MaxIdle = -1 // a new session for each access
			var notes []string
			ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Note: func(text string) { notes = append(notes, text) }})
			for range 2 {
				if got, err := read(ctx, f, &fetch.Request{Locator: at("/x.txt")}); got != "top\n" || err != nil {
					t.Errorf("%s: %q %v", answer, got, err)
				}
			}
			want := []string{"USER", "PASS", "TYPE", "SIZE", "EPSV", "PASV", "RETR", "QUIT", "USER", "PASS", "TYPE", "SIZE", "PASV", "RETR", "QUIT"}
			if got := verbs(srv); !slices.Equal(got, want) {
				t.Errorf("%s: sent %q", answer, got)
			}
			if len(notes) != 1 || !strings.Contains(notes[0], "PASV") {
				t.Errorf("%s: notes %q", answer, notes)
			}
		})
	}
}

// TestUselessEPSVOfAnother tests that EPSV is disabled only for the server where it failed.
func TestUselessEPSVOfAnother(t *testing.T) {
	bad, good := start(t, func(s *ftptest.Server) { s.Hide = []string{"EPSV"} }), start(t)
	f := &Fetcher{}
	defer f.Close()
	for _, srv := range []*ftptest.Server{bad, good} {
		if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/x.txt")}); err != nil {
			t.Error(err)
		}
	}
	if !slices.Contains(verbs(good), "EPSV") || slices.Contains(verbs(good), "PASV") {
		t.Errorf("sent %q", verbs(good))
	}
}

// TestEPSVAndPolicy tests that PASV is not tried after a refusal by the policy, nor after
// cancellation.
func TestEPSVAndPolicy(t *testing.T) {
	for what, spoil := range map[string]func(*Fetcher, context.CancelFunc){
		"policy": func(f *Fetcher, _ context.CancelFunc) {
			f.Env.Allow = func(_ context.Context, t fetch.Target) error {
				if t.Purpose == fetch.PurposeData {
					return errors.New("no data")
				}
				return nil
			}
		},
		"cancelled": func(f *Fetcher, cancel context.CancelFunc) {
			dial := f.Env.Dial
			f.Env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				if !strings.HasSuffix(address, ":21") {
					cancel()
					return nil, syscall.ECONNREFUSED
				}
				return dial(ctx, network, address)
			}
		},
	} {
		passively(t, "127.0.0.1:21", func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			spoil(f, cancel)
			if _, err := read(ctx, f, &fetch.Request{Locator: at("/x.txt")}); !errors.Is(err, fetch.ErrRefused) && !errors.Is(err, fetch.ErrCanceled) {
				t.Errorf("%s: %v", what, err)
			}
			if slices.Contains(verbs(srv), "PASV") {
				t.Errorf("%s: sent %q", what, verbs(srv))
			}
		})
	}
}

// TestEPSVOverIPv6 tests that only EPSV is sent over IPv6, which PASV does not support.
func TestEPSVOverIPv6(t *testing.T) {
	passively(t, "[::1]:21", func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
		f.DisableEPSV = true
		for range 2 {
			if got, err := read(t.Context(), f, &fetch.Request{Locator: at6("/x.txt")}); got != "top\n" || err != nil {
				t.Errorf("%q %v", got, err)
			}
		}
		srv.On("EPSV", 0, testserver.Reply("500 what"))
		var e *fetch.Error
		if _, err := read(t.Context(), f, &fetch.Request{Locator: at6("/x.txt")}); !errors.As(err, &e) || e.Op != "EPSV" || e.Code != 500 {
			t.Error(err)
		}
		if slices.Contains(verbs(srv), "PASV") {
			t.Errorf("sent %q", verbs(srv))
		}
	})
}

// TestDataConnectionNotUsed tests transfers that are not started: no port is open then, except in
// passive mode after a refused RETR, because the next transfer uses it. The session is reused.
func TestDataConnectionNotUsed(t *testing.T) {
	for name, tc := range map[string]struct {
		fault string
		req   fetch.Request
		fails bool
	}{
		"at the end":     {"", fetch.Request{Offset: 4}, false},
		"beyond the end": {"", fetch.Request{Offset: 5}, true},
		"TYPE refused":   {"TYPE", fetch.Request{}, true},
		"RETR refused":   {"RETR", fetch.Request{}, true},
	} {
		for _, active := range []*Active{nil, {}} {
			passively(t, "127.0.0.1:21", func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
				f.Active = active
				open := 0
				f.Env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
					c, err := srv.Dial(ctx, network, address)
					if err == nil && address != "127.0.0.1:21" {
						open++
						c = &tallied{Conn: c, open: &open}
					}
					return c, err
				}
				f.Env.Listen = func(ctx context.Context, network, address string) (net.Listener, error) {
					l, err := srv.Network.Listen(ctx, network, address)
					open++
					return &talliedListener{Listener: l, open: &open}, err
				}
				sessions := 1
				if tc.fault != "" {
					srv.On(tc.fault, 1, testserver.Reply("504 no"))
				}
				if tc.fault == "TYPE" { // it is tried again, one command at a time
					srv.On(tc.fault, 2, testserver.Reply("504 no"))
					sessions = 2
				}
				tc.req.Locator = at("/x.txt")
				if _, err := read(t.Context(), f, &tc.req); (err != nil) != tc.fails {
					t.Errorf("%s: %v", name, err)
				}
				kept := 0
				if tc.fault == "RETR" && active == nil {
					kept = 1
				}
				if open != kept {
					t.Errorf("%s: %d data connections or ports are open", name, open)
				}
				if got, err := read(t.Context(), f, &fetch.Request{Locator: at("/x.txt")}); got != "top\n" || err != nil {
					t.Errorf("%s: %q %v", name, got, err)
				}
				if n := logins(srv); n != sessions {
					t.Errorf("%s: %d logins", name, n)
				}
			})
		}
	}
}

type tallied struct {
	net.Conn
	open *int
	done bool
}

func (c *tallied) Close() error {
	if !c.done {
		c.done = true
		*c.open--
	}
	return c.Conn.Close()
}

type talliedListener struct {
	net.Listener
	open *int
	done bool
}

func (l *talliedListener) Close() error {
	if !l.done {
		l.done = true
		*l.open--
	}
	return l.Listener.Close()
}

// TestServersAreForgotten tests that the set of remembered servers is limited.
func TestServersAreForgotten(t *testing.T) {
	var s servers
	for port := range uint16(2*maxServers + 1) {
		at := serverKey{"h", port}
		s.add(at)
		n := 0
		s.Range(func(any, any) bool { n++; return true })
		if _, has := s.Load(at); !has || n > maxServers {
			t.Fatalf("after %d: %d, with the last: %t", port+1, n, has)
		}
	}
}
