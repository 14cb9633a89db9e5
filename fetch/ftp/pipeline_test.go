package ftp

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// several fetches a list of paths in sequence, all but the last with More. Paths that are not
// in want must fail.
func several(ctx context.Context, t *testing.T, f *Fetcher, srv *ftptest.Server, want map[string]string, paths []string) {
	t.Helper()
	for i, path := range paths {
		req := &fetch.Request{Locator: parse(t, srv.URL+path), Options: &Options{More: reports(i < len(paths)-1)}}
		got, err := read(ctx, f, req)
		if text, has := want[path]; err == nil != has || has && got != text {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}

// reports returns a function for Options.More.
func reports(more bool) func() bool { return func() bool { return more } }

var documents = map[string]string{"/a/b/c.txt": "line one\nline two\n", "/x.txt": "top\n", "/etc/x": "etc x\n", "/pub/sub/y": "y\n"}

// TestPipelining tests the order of the commands, and which of them are sent together: to a server
// that its greeting shows, to an unknown one, without pipelining, and to one that does not support it.
func TestPipelining(t *testing.T) {
	oneByOne := []string{
		"USER anonymous", "PASS anonymous@", "PWD", "CWD a", "CWD b", "TYPE I", "SIZE c.txt", "EPSV", "RETR c.txt",
		"EPSV", "RETR c.txt",
		"CWD /", "CWD a", "EPSV", "RETR none",
		"CWD none",
		"CWD b", "SIZE none", "RETR none",
		"CWD /", "CWD pub", "CWD sub", "SIZE y", "RETR y",
		"CWD /", "EPSV", "RETR x.txt", "QUIT",
	}
	for greeting, want := range map[string][]string{
		measured: {
			"USER anonymous", "PASS anonymous@|PWD|TYPE I|CWD a|CWD b|SIZE c.txt|EPSV", "RETR c.txt|EPSV",
			"RETR c.txt|EPSV", // no SIZE: the reply to RETR stated it
			"CWD /|CWD a", "RETR none|EPSV", "SIZE none",
			"CWD none|SIZE x",              // no EPSV: a port is there
			"CWD b|SIZE none", "RETR none", // no EPSV: it may be refused again
			"CWD /|CWD pub|CWD sub|SIZE y", "RETR y", "EPSV",
			"CWD /", "RETR x.txt", "QUIT",
		},
		"220 ready": {
			"USER anonymous", "PASS anonymous@", "PWD|TYPE I", "CWD a|CWD b|SIZE c.txt|EPSV", "RETR c.txt", "EPSV",
			"RETR c.txt", "EPSV",
			"CWD /|CWD a", "RETR none", "SIZE none",
			"CWD none|SIZE x",
			"CWD b|SIZE none", "RETR none",
			"CWD /|CWD pub|CWD sub|SIZE y", "RETR y", "EPSV",
			"CWD /", "RETR x.txt", "QUIT",
		},
		"":           oneByOne,
		curlGreeting: oneByOne,
	} {
		t.Run(greeting, func(t *testing.T) { testPackets(t, greeting, want) })
	}
}

// curlGreeting is the greeting of curl's tests/ftpserver.pl.
const curlGreeting = `220-        _   _ ____  _
220-    ___| | | |  _ \| |
220-   / __| | | | |_) | |
220-  | (__| |_| |  _ {| |___
220    \___|\___/|_| \_\_____|`

// testPackets fetches several files and compares what is sent in each packet. Without a greeting,
// pipelining is disabled.
func testPackets(t *testing.T, greeting string, want []string) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, func(s *ftptest.Server) { s.InMemory, s.Greeting = true, greeting })
		var packets []string
		f := &Fetcher{DisablePipelining: greeting == "", Env: &fetch.Env{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := srv.Dial(ctx, network, address)
			return written{c, &packets}, err
		}}}
		several(t.Context(), t, f, srv, documents, []string{"/a/b/c.txt", "/a/b/c.txt", "/a/none", "/a/none/x", "/a/b/none", "/pub/sub/y", "/x.txt"})
		f.Close()
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
	for _, ahead := range []ftptest.Ahead{ftptest.AheadLost, ftptest.AheadOutOfTurn, ftptest.AheadCloses} {
		for _, inTransfers := range []bool{false, true} {
			t.Run(fmt.Sprint(ahead, inTransfers), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv := start(t, func(s *ftptest.Server) { s.InMemory, s.Ahead, s.AheadInTransfers = true, ahead, inTransfers })
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
		ahead  ftptest.Ahead
		reply  string
		logins int
	}{
		"one command":  {ftptest.AheadLost, "500 Unrecognized command", 2},
		"one password": {ftptest.AheadLost, "530 Login incorrect.", 2},
		"refused":      {ftptest.AheadKept, "530 Login incorrect.", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := start(t, func(s *ftptest.Server) { s.InMemory, s.Ahead = true, tc.ahead })
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
		srv := start(t, func(s *ftptest.Server) { s.InMemory = true })
		srv.On("PASS", 1, testserver.Reply("530 Login incorrect."))
		srv.On("PWD", 1, testserver.Close())
		f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
		defer f.Close()
		if got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")}); fetch.KindOf(err) != fetch.ErrUnauthenticated || logins(srv) != 1 {
			t.Errorf("a refusal after which the server hangs up: %q, %v, %d logins", got, err, logins(srv))
		}
	})
}

// TestLateReply tests 226 as the reply to CWD after a transfer that was refused. It ends that transfer, which the
// server has performed anyway, and the directory may not have been changed: another connection is used.
func TestLateReply(t *testing.T) {
	for _, ahead := range []ftptest.Ahead{ftptest.AheadKept, ftptest.AheadLost} {
		srv := start(t, func(s *ftptest.Server) {
			s.Ahead, s.Content = ahead, fstest.MapFS{"c.txt": {Data: []byte("above")}, "a/c.txt": {Data: []byte("below")}}
		})
		srv.On("CWD a", 1, testserver.Reply("226 Transfer complete."))
		f := &Fetcher{}
		if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/none")}); fetch.KindOf(err) != fetch.ErrNotFound {
			t.Fatal(err)
		}
		got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/a/c.txt")})
		if got != "below" || err != nil || logins(srv) < 2 {
			t.Errorf("%q, %v, %d logins", got, err, logins(srv))
		}
		f.Close()
	}
}

// TestOddSuccess tests 226 as the reply to a command before any transfer was requested. It can end none, and is a
// positive reply like any other.
func TestOddSuccess(t *testing.T) {
	for _, verb := range []string{"PASS", "CWD a", "TYPE"} {
		srv := start(t, func(s *ftptest.Server) { s.On(verb, 1, testserver.Garble(0, "226")) })
		f := &Fetcher{}
		if got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")}); err != nil || got != documents["/a/b/c.txt"] {
			t.Errorf("%s: %q, %v", verb, got, err)
		}
		f.Close()
	}
}

// TestRepeat tests transfers in which something went wrong after a command was sent early. They are
// performed again, one command at a time, and the bytes must be the same.
func TestRepeat(t *testing.T) {
	const cut = 5 // bytes of the first transfer, after which the server hangs up
	for name, tc := range map[string]struct {
		path   string
		more   bool
		faults func(*ftptest.Server)
		want   string // "" if the second transfer must not count
	}{
		"a file":            {"/a/b/c.txt", true, nil, documents["/a/b/c.txt"]},
		"text":              {"/a/b/c.txt;type=a", true, nil, documents["/a/b/c.txt"]},
		"names":             {"/;type=d", true, nil, "a\netc\nhome\npub\nsp ace\nx.txt\n"},
		"another size":      {"/a/b/c.txt", true, func(s *ftptest.Server) { s.On("SIZE", 2, testserver.Reply("213 99")) }, ""},
		"another content":   {"/a/b/c.txt", true, func(s *ftptest.Server) { s.On("DATA", 2, testserver.Data("other one\nline two\n")) }, ""},
		"gone":              {"/a/b/c.txt", true, func(s *ftptest.Server) { s.On("RETR", 2, testserver.Reply("550 gone")) }, ""},
		"nothing was early": {"/a/b/c.txt", false, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := start(t, func(s *ftptest.Server) { s.InMemory = true })
				srv.On("DATA", 1, testserver.Truncate(cut))
				srv.On("END", 1, testserver.Close())
				if tc.faults != nil {
					tc.faults(srv)
				}
				f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
				defer f.Close()
				got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+tc.path), Options: &Options{More: reports(tc.more)}})
				if (err == nil) != (tc.want != "") || err == nil && got != tc.want || err != nil && len(got) > cut {
					t.Errorf("%q, %v; want %q", got, err, tc.want)
				}
				if n := logins(srv); n != 1 && !tc.more || n != 2 && tc.more {
					t.Errorf("%d logins", n)
				}
				if slices.ContainsFunc(sent(srv), func(line string) bool { return strings.HasPrefix(line, "REST") }) {
					t.Errorf("what came was not dropped: %q", sent(srv))
				}
			})
		})
	}
}

// TestRepeatUpload tests an upload to a server that hangs up in place of the final reply, after the port
// of the next one has been requested: the whole source is sent again, or nothing, if that is not possible.
func TestRepeatUpload(t *testing.T) {
	for _, seeks := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			srv := start(t, func(s *ftptest.Server) { s.InMemory, s.Greeting = true, measured })
			srv.On("END", 1, testserver.Close())
			f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
			defer f.Close()
			source := io.Reader(strings.NewReader("stored\n"))
			if !seeks {
				source = io.MultiReader(source)
			}
			req := &fetch.Request{Locator: parse(t, srv.URL+"/a/new"), Options: &Options{Unchecked: true, More: reports(true)}}
			_, err := f.Replace(t.Context(), req, source)
			if seeks != (err == nil) || !seeks && fetch.KindOf(err) != fetch.ErrLocalIO {
				t.Errorf("seeks %t: %v", seeks, err)
			}
			if got := string(srv.Uploads()["a/new"]); seeks && got != "stored\n" || logins(srv) != 2 {
				t.Errorf("seeks %t: stored %q, %d logins", seeks, got, logins(srv))
			}
			if stor := strings.Count(strings.Join(sent(srv), "\n"), "STOR new"); seeks && stor != 2 || !seeks && stor != 1 {
				t.Errorf("seeks %t: %d uploads", seeks, stor)
			}
		})
	}
}

// TestRepeatListing tests a walk in which a server hangs up in or before a listing, after the port of
// the next one has been requested.
func TestRepeatListing(t *testing.T) {
	for _, cut := range []int64{0, 5} {
		synctest.Test(t, func(t *testing.T) {
			srv := start(t, func(s *ftptest.Server) { s.InMemory = true })
			srv.On("DATA", 2, testserver.Truncate(cut))
			srv.On("END", 2, testserver.Close())
			f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
			defer f.Close()
			for i := range 3 {
				res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/pub/"), Options: &Options{Facts: true}})
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for _, err := range res.Items {
					if err != nil {
						t.Errorf("cut at %d, listing %d: %v", cut, i+1, err)
					}
					n++
				}
				if res.Close(); n != 4 {
					t.Errorf("cut at %d: listing %d has %d entries", cut, i+1, n)
				}
			}
		})
	}
}

// TestFinalReplyLost tests servers that lose the final reply to a transfer, or send another one:
// because of a command that came during the transfer, or for no reason. No transfer without its
// final reply counts, nor does a reply to the probe count as one.
func TestFinalReplyLost(t *testing.T) {
	for name, tc := range map[string]struct {
		path, greeting string
		more           bool
	}{
		"a file, asked early":      {"/a/b/c.txt", measured, true},
		"a file, asked at its end": {"/a/b/c.txt", "220 ready", true},
		"a file":                   {"/a/b/c.txt", "220 ready", false},
		"a listing":                {"/pub/", "220 ready", true},
		"a listing, asked early":   {"/pub/", measured, true},
	} {
		for _, reply := range []ftptest.Fault{ftptest.NoFinalReply(), testserver.Reply("215 UNIX"), testserver.Reply("229 ok (|||4000|)"), testserver.Reply("500 what")} {
			t.Run(name+fmt.Sprint(reply), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					srv := start(t, func(s *ftptest.Server) { s.InMemory, s.Greeting = true, tc.greeting })
					srv.On("END", 0, reply)
					f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
					defer f.Close()
					got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+tc.path), Options: &Options{More: reports(tc.more)}})
					if err == nil {
						t.Errorf("%q without an error", got)
					}
				})
			})
		}
	}
}

// TestOneCommandInAPacket tests a server that takes a packet for one command, whatever it contains,
// and greets the next client only when the previous connection has ended.
func TestOneCommandInAPacket(t *testing.T) {
	for _, greeting := range []string{"220 (vsFTPd 3.0.3)\r\n", "220 ready\r\n", "220 mute\r\n", "220 mute and silent\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			h := &hostile{greeting: greeting, data: "line\n", packets: true, single: true, mute: strings.Contains(greeting, "mute"), silent: strings.Contains(greeting, "silent")}
			start := time.Now()
			h.serve(t)
			f := &Fetcher{QuitTime: -1, Env: h.env()}
			defer f.Close()
			for range 2 {
				if got, err := read(t.Context(), f, &fetch.Request{Locator: at("/x.txt")}); err != nil || got != "line\n" {
					t.Errorf("%q: %q, %v", greeting, got, err)
				}
			}
			controls := slices.DeleteFunc(h.dialled(), func(to string) bool { return to != "127.0.0.1:21" })
			if len(controls) != 2 {
				t.Errorf("%q: %d control connections, want 2", greeting, len(controls))
			}
			if took := time.Since(start); took > 2*probeAfter {
				t.Errorf("%q: %v", greeting, took)
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

// TestRefusedDirectory fetches a file after one whose first directory does not exist. The CWD behind
// that one was sent, too, and has led to a directory that has a file of the same name.
func TestRefusedDirectory(t *testing.T) {
	want := map[string]string{"/x.txt": "top\n", "/a/x.txt": "of a\n", "/a/b/x.txt": "of b\n"}
	for _, paths := range [][]string{
		{"/x.txt", "/none/a/x.txt", "/x.txt"}, {"/none/a/x.txt", "/x.txt"}, {"/a/x.txt", "/a/none/b/x.txt", "/a/x.txt"},
		{"/a/x.txt", "/none/a/b/x.txt", "/a/b/x.txt"}, {"/x.txt", "/none/a/x.txt;type=a", "/x.txt"},
	} {
		synctest.Test(t, func(t *testing.T) {
			srv := start(t, func(s *ftptest.Server) { s.InMemory = true })
			for path, text := range want {
				if err := srv.Put(strings.TrimPrefix(path, "/"), []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
			defer f.Close()
			several(t.Context(), t, f, srv, want, paths)
			if n := logins(srv); n != 1 {
				t.Errorf("%q: %d logins", paths, n)
			}
		})
	}
}

// TestTransferAhead fetches files of one directory, so that RETR is sent together with SIZE. What
// goes wrong with the second RETR must not affect the other files.
func TestTransferAhead(t *testing.T) {
	for name, tc := range map[string]struct {
		fault  ftptest.Fault
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
				srv := start(t, func(s *ftptest.Server) { s.InMemory = true })
				srv.On("RETR", 2, tc.fault)
				if tc.fails {
					srv.On("RETR", 3, tc.fault) // with a port of its own
				}
				f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
				defer f.Close()
				ctx, notes := sequentialNotes(t)
				for i := range 4 {
					req := &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt"), Options: &Options{More: reports(i < 3)}}
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

// TestPipeliningAtTheLimit ends the time limit at the moment when pipelining has failed: that is a
// timeout, not the error of the attempt that would have been followed by another one.
func TestPipeliningAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, func(s *ftptest.Server) {
			s.InMemory, s.Greeting, s.Ahead = true, "220 ready", ftptest.AheadLost
		})
		srv.On("PWD", 1, testserver.Reply("502 Command not implemented.")) // as nodeftpd
		f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
		defer f.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ctx = fetch.WithTrace(ctx, &fetch.Trace{Note: func(text string) {
			if strings.Contains(text, "does not support pipelining") {
				<-ctx.Done() // the limit ends before another attempt begins
			}
		}})
		if _, err := read(ctx, f, &fetch.Request{Locator: parse(t, srv.URL+"/x.txt")}); fetch.KindOf(err) != fetch.ErrTimeout {
			t.Error(err)
		}
	})
}
