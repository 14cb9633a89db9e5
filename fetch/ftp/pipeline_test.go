package ftp

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
)

// several fetches a list of paths in sequence, all but the last with More. Paths that are not
// in want must fail.
func several(ctx context.Context, t *testing.T, f *Fetcher, srv *testserver.FTP, want map[string]string, paths []string) {
	t.Helper()
	for i, path := range paths {
		req := &fetch.Request{Locator: parse(t, srv.URL+path), Options: &Options{More: i < len(paths)-1}}
		got, err := read(ctx, f, req)
		if text, has := want[path]; err == nil != has || has && got != text {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}

var documents = map[string]string{"/a/b/c.txt": "line one\nline two\n", "/x.txt": "top\n", "/etc/x": "etc x\n", "/pub/sub/y": "y\n"}

// TestPipelining tests the order of the commands, and which of them are sent together.
func TestPipelining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, func(s *testserver.FTP) { s.InMemory, s.Ahead = true, testserver.AheadKept })
		var packets []string
		f := &Fetcher{Env: &fetch.Env{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := srv.Dial(ctx, network, address)
			return written{c, &packets}, err
		}}}
		several(t.Context(), t, f, srv, documents, []string{"/a/b/c.txt", "/a/b/c.txt", "/a/none", "/a/none/x", "/a/b/none", "/pub/sub/y", "/x.txt"})
		f.Close()
		want := []string{
			"USER anonymous", "PASS anonymous@|PWD|CWD a|CWD b|EPSV|TYPE I|SIZE c.txt", "RETR c.txt|EPSV",
			"RETR c.txt|EPSV", // no SIZE: the reply to RETR stated it
			"CWD /|CWD a", "RETR none|EPSV",
			"CWD none|SIZE x",
			"CWD b|EPSV|SIZE none", "RETR none|EPSV",
			"CWD /|CWD pub|CWD sub|SIZE y", "RETR y|EPSV",
			"CWD /", "RETR x.txt", "QUIT",
		}
		if !slices.Equal(packets, want) {
			t.Errorf("sent %q\nwant %q", packets, want)
		}
	})
}

// written is a connection that records each write.
type written struct {
	net.Conn
	packets *[]string
}

func (w written) Write(p []byte) (int, error) {
	*w.packets = append(*w.packets, strings.ReplaceAll(strings.TrimSpace(string(p)), "\r\n", "|"))
	return w.Conn.Write(p)
}

// sequentialNotes returns a context, and how often its Trace receives the note that a server gets one
// command at a time.
func sequentialNotes(t *testing.T) (ctx context.Context, notes *int) {
	notes = new(int)
	return fetch.WithTrace(t.Context(), &fetch.Trace{Note: func(text string) {
		if strings.Contains(text, "one command at a time") {
			*notes++
		}
	}}), notes
}

// TestPipeliningFallback tests servers that do not support pipelining. Every access still
// succeeds, and after the first failure commands are sent one at a time.
func TestPipeliningFallback(t *testing.T) {
	for _, ahead := range []testserver.Ahead{testserver.AheadLost, testserver.AheadOutOfTurn, testserver.AheadCloses} {
		for _, inTransfers := range []bool{false, true} {
			t.Run(fmt.Sprint(ahead, inTransfers), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv := start(t, func(s *testserver.FTP) { s.InMemory, s.Ahead, s.AheadInTransfers = true, ahead, inTransfers })
					f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
					defer f.Close()
					ctx, notes := sequentialNotes(t)
					begun := time.Now()
					several(ctx, t, f, srv, documents, []string{"/a/b/c.txt", "/x.txt", "/none", "/none/x", "/etc/x", "/pub/sub/y"})
					if took := time.Since(begun); took > 2*probeAfter {
						t.Errorf("waited %v for the reply to a lost command", took)
					}
					if *notes != 1 {
						t.Errorf("%d notes, want 1", *notes)
					}
					came := srv.CameAhead()
					several(ctx, t, f, srv, documents, []string{"/x.txt", "/a/b/c.txt", "/a/none", "/etc/x"})
					if srv.CameAhead() != came || *notes != 1 {
						t.Errorf("commands were pipelined again")
					}
				})
			})
		}
	}
}

// TestRefusedPacket tests servers that refuse PASS because of the commands in the same packet:
// they take the packet for one command or for a long password. One at a time, the same
// commands succeed. A login that the server has really refused is not repeated.
func TestRefusedPacket(t *testing.T) {
	for name, tc := range map[string]struct {
		ahead  testserver.Ahead
		reply  string
		logins int
	}{
		"one command":  {testserver.AheadLost, "500 Unrecognized command", 2},
		"one password": {testserver.AheadLost, "530 Login incorrect.", 2},
		"refused":      {testserver.AheadKept, "530 Login incorrect.", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := start(t, func(s *testserver.FTP) { s.InMemory, s.Ahead = true, tc.ahead })
				srv.On("PASS", 1, testserver.Reply(tc.reply))
				f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
				defer f.Close()
				got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")})
				if tc.logins == 2 && (err != nil || got != documents["/a/b/c.txt"]) || tc.logins == 1 && err == nil {
					t.Errorf("%q, %v", got, err)
				}
				if n := logins(srv); n != tc.logins {
					t.Errorf("%d logins, want %d", n, tc.logins)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, func(s *testserver.FTP) { s.InMemory = true })
		srv.On("PASS", 1, testserver.Reply("530 Login incorrect."))
		srv.On("PWD", 1, testserver.Close())
		f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
		defer f.Close()
		if got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")}); fetch.KindOf(err) != fetch.ErrUnauthenticated || logins(srv) != 1 {
			t.Errorf("a refusal after which the server hangs up: %q, %v, %d logins", got, err, logins(srv))
		}
	})
}

// TestPipeliningResume tests a connection with a pipelined command that fails in the middle
// of a file. The file is resumed only if it still has the same size.
func TestPipeliningResume(t *testing.T) {
	for name, tc := range map[string]struct {
		more   bool
		size   string // the second reply to SIZE
		resume bool
	}{
		"pipelined":     {more: true, resume: true},
		"another size":  {more: true, size: "213 99"},
		"not pipelined": {},
	} {
		t.Run(name, func(t *testing.T) {
			srv := start(t)
			srv.On("DATA", 1, testserver.Truncate(5))
			srv.On("END", 1, testserver.Close())
			if tc.size != "" {
				srv.On("SIZE", 2, testserver.Reply(tc.size))
			}
			f := &Fetcher{}
			got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt"), Options: &Options{More: tc.more}})
			f.Close()
			if tc.resume && (err != nil || got != documents["/a/b/c.txt"]) || !tc.resume && (fetch.KindOf(err) != fetch.ErrTruncated || got != "line ") {
				t.Errorf("%q, %v", got, err)
			}
			if slices.Contains(sent(srv), "REST 5") != tc.more {
				t.Errorf("sent %q", sent(srv))
			}
		})
	}
}

// TestSwapped swaps the replies to a refused CWD and to the EPSV after it. No file may be
// fetched from the wrong directory.
func TestSwapped(t *testing.T) {
	srv := start(t)
	if err := srv.Put("c.txt", []byte("of another directory\n")); err != nil {
		t.Fatal(err)
	}
	srv.On("CWD b", 1, testserver.Reply("229 Entering Extended Passive Mode (|||1025|)"))
	srv.On("EPSV", 1, testserver.Reply("550 No such directory."))
	f := &Fetcher{}
	defer f.Close()
	if got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")}); err != nil || got != documents["/a/b/c.txt"] {
		t.Errorf("%q, %v", got, err)
	}
	if n := logins(srv); n != 2 {
		t.Errorf("%d logins", n)
	}
}

// TestTransferAhead fetches files of one directory, so that RETR is sent together with SIZE. What
// goes wrong with the second RETR must not affect the other files.
func TestTransferAhead(t *testing.T) {
	for name, tc := range map[string]struct {
		fault  testserver.Fault
		fails  bool // the second file
		logins int
		notes  int // on the end of pipelining
	}{
		"refused": {fault: testserver.Reply("550 Not today."), fails: true, logins: 1},
		"slow":    {fault: testserver.Delay(probeAfter + time.Second), logins: 1},
		"silent":  {fault: testserver.Silence(), logins: 2, notes: 1},
		"closes":  {fault: testserver.Close(), logins: 2, notes: 1},
		"a port":  {fault: testserver.Reply("229 Entering Extended Passive Mode (|||1025|)"), logins: 2, notes: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := start(t, func(s *testserver.FTP) { s.InMemory = true })
				srv.On("RETR", 2, tc.fault)
				f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
				defer f.Close()
				ctx, notes := sequentialNotes(t)
				for i := range 4 {
					req := &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt"), Options: &Options{More: i < 3}}
					if got, err := read(ctx, f, req); err == nil == (tc.fails && i == 1) || err == nil && got != documents["/a/b/c.txt"] {
						t.Errorf("file %d: %q, %v", i+1, got, err)
					}
				}
				if n := logins(srv); n != tc.logins || *notes != tc.notes {
					t.Errorf("%d logins and %d notes, want %d and %d", n, *notes, tc.logins, tc.notes)
				}
			})
		})
	}
}
