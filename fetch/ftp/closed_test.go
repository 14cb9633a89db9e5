package ftp

import (
	"errors"
	"fmt"
	"io/fs"
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

// closesAfterTransfers makes a server close the control connection after the last reply to each
// transfer.
func closesAfterTransfers(srv *ftptest.Server) {
	srv.On("END", 0, testserver.Truncate(int64(len("226 Transfer complete.\r\n"))))
}

// TestClosedAfterTransfer tests that the last reply to a transfer stands if the server closes the
// connection after it. What is sent after a transfer goes over another one.
func TestClosedAfterTransfer(t *testing.T) {
	for _, security := range []Security{NoTLS, RequireTLS} {
		for _, pipelining := range []bool{true, false} {
			t.Run(fmt.Sprintf("TLS %t, pipelining %t", security != NoTLS, pipelining), func(t *testing.T) {
				securely(t, nil, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
					f.Security, f.DisablePipelining = security, !pipelining
					closesAfterTransfers(srv)
					then := time.Date(2020, 3, 4, 5, 6, 7, 0, time.UTC)
					for _, req := range []*fetch.Request{
						{Locator: on(srv, "pub/new")}, {Locator: on(srv, "pub/new"), Offset: 3}, {Locator: on(srv, "pub/timed"), Options: &Options{SetModTime: then}},
					} {
						attr, err := f.Replace(t.Context(), req, strings.NewReader("abcdef"))
						if err != nil || attr.Size != req.Offset+6 {
							t.Errorf("%+v: %+v, %v", req, attr, err)
						}
					}
					if info, err := fs.Stat(srv.Files(), "pub/timed"); err != nil || !info.ModTime().Equal(then) {
						t.Errorf("%v, %v", info, err)
					}
					if n := count(verbs(srv), "SIZE"); n != 3 {
						t.Errorf("SIZE was sent %d times", n)
					}
					if _, err := f.Update(t.Context(), &fetch.Request{Locator: on(srv, "pub/new")}, strings.NewReader("+")); err != nil {
						t.Error(err)
					}
					for _, tc := range []struct {
						req  *fetch.Request
						want string
					}{
						{&fetch.Request{Locator: on(srv, "pub/new")}, "abcabcdef+"},
						{&fetch.Request{Locator: on(srv, "pub/new"), Offset: 4, Options: &Options{ModTime: true}}, "bcdef+"},
						{&fetch.Request{Locator: on(srv, "pub/new"), Offset: 2, Length: 3}, "cab"},
						{&fetch.Request{Locator: on(srv, "pub/"), Options: &Options{ListOnly: true}}, "a.txt\nnew\ntimed\n"},
					} {
						if got, err := read(t.Context(), f, tc.req); got != tc.want || err != nil {
							t.Errorf("%+v: got %q, %v", tc.req, got, err)
						}
					}
				})
			})
		}
	}
}

// TestClosedBeforeCheck tests what happens to the check of an upload if its connection has ended: it
// finds a document that is not complete, does not follow raw commands, and is left out if there is no
// other connection.
func TestClosedBeforeCheck(t *testing.T) {
	for name, tc := range map[string]struct {
		arm    func(*ftptest.Server)
		opt    Options
		fails  bool
		logins int
		note   bool
	}{
		"checked":             {func(*ftptest.Server) {}, Options{}, false, 2, false},
		"cut":                 {func(srv *ftptest.Server) { srv.On("STOR", 1, ftptest.Keep(3)) }, Options{}, true, 2, false},
		"unchecked":           {func(*ftptest.Server) {}, Options{Unchecked: true}, false, 1, false},
		"no other connection": {func(srv *ftptest.Server) { srv.On("GREETING", 2, testserver.Reply("421 busy")) }, Options{}, false, 1, true},
		"no other login":      {func(srv *ftptest.Server) { srv.On("PASS", 2, testserver.Reply("530 no")) }, Options{}, false, 2, true},
		"after raw commands":  {func(*ftptest.Server) {}, Options{Quote: []string{"NOOP"}}, false, 1, true},
		"raw commands later":  {func(*ftptest.Server) {}, Options{PostQuote: []string{"NOOP"}}, true, 1, false},
	} {
		actively(t, nil, func(t *testing.T, srv *ftptest.Server, f *Fetcher) {
			f.Active = nil
			closesAfterTransfers(srv)
			tc.arm(srv)
			noted := false
			ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Note: func(text string) { noted = noted || strings.Contains(text, "not checked") }})
			_, err := f.Replace(ctx, &fetch.Request{Locator: locate(srv, "pub", "new"), Options: &tc.opt}, strings.NewReader("abcdef"))
			if (err != nil) != tc.fails || name == "cut" && !errors.Is(err, fetch.ErrTruncated) || noted != tc.note {
				t.Errorf("%s: %v, note: %t", name, err, noted)
			}
			if n := count(verbs(srv), "USER"); n != tc.logins {
				t.Errorf("%s: %d logins", name, n)
			}
		})
	}
}

// TestEditClosed tests edits in a session that the server closes: before the first reply, as after a
// transfer, or after a reply that stands. The next session does not know what the server can do.
func TestEditClosed(t *testing.T) {
	then := time.Date(2020, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, verb := range []string{"CWD", "FEAT", "SIZE", "MFMT", "RNFR", "RNTO", "DELE", "MKD"} {
		for _, sequential := range []bool{false, true} {
			srv := editable(t)
			f := &Fetcher{DisablePipelining: sequential}
			if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/dir/sub/c")}); err != nil {
				t.Fatal(err)
			}
			srv.On(verb, 1, testserver.Close())
			edits := []fetch.Edit{
				{Kind: fetch.EditSize, Name: "a"}, {Kind: fetch.EditTime, Name: "a", Time: then}, {Kind: fetch.EditRename, Name: "a", To: "z"},
				{Kind: fetch.EditRemove, Name: "b"}, {Kind: fetch.EditMakeDir, Name: "m"},
			}
			err := f.Edit(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/dir/")}, edits)
			if err != nil || slices.ContainsFunc(edits, func(e fetch.Edit) bool { return !e.Done || e.Err != nil }) {
				t.Errorf("%s, one by one %t: %v %+v", verb, sequential, err, edits)
			}
			f.Close()
			srv.ResetFaults()
		}
	}
}

// TestEditClosedAfterReply tests a server that closes the connection after each positive reply to a
// command that changes something.
func TestEditClosedAfterReply(t *testing.T) {
	for _, sequential := range []bool{false, true} {
		content := fstest.MapFS{}
		var edits []fetch.Edit
		for i := range 5 {
			name := fmt.Sprint("f", i)
			content["dir/"+name] = &fstest.MapFile{Data: []byte("x")}
			edits = append(edits, fetch.Edit{Kind: fetch.EditRename, Name: name, To: "z" + name}, fetch.Edit{Kind: fetch.EditRemove, Name: "z" + name}, fetch.Edit{Kind: fetch.EditMakeDir, Name: "d" + name})
		}
		srv := ftptest.New(t, func(s *ftptest.Server) {
			s.Content = content
			s.Replies = ftptest.Replies{"RNTO 250": "250 ok", "DELE 250": "250 ok", "MKD 257": "257 ok"}
		})
		for _, verb := range []string{"RNTO", "DELE", "MKD"} {
			srv.On(verb, 0, testserver.Truncate(int64(len("250 ok\r\n"))))
		}
		f := &Fetcher{DisablePipelining: sequential}
		err := f.Edit(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/dir/")}, edits)
		if err != nil || slices.ContainsFunc(edits, func(e fetch.Edit) bool { return !e.Done || e.Err != nil }) {
			t.Errorf("one by one %t: %v %+v", sequential, err, edits)
		}
		f.Close()
	}
}

// After 421, the next connection is made when the server has closed this one, because it may serve one at
// a time.
func TestNextConnectionAfter421(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := ftptest.Start(t.Context(), "127.0.0.1:21", func(s *ftptest.Server) { s.InMemory, s.Content, s.MaxConns = true, tree(), 1 })
		if err != nil {
			t.Fatal(err)
		}
		defer srv.Close()
		srv.On("SIZE", 2, testserver.Reply("421 No more time."))
		f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}, DisablePipelining: true}
		defer f.Close()
		edits := []fetch.Edit{{Kind: fetch.EditSize, Name: "x.txt"}, {Kind: fetch.EditSize, Name: "x.txt"}}
		if err := f.Edit(t.Context(), &fetch.Request{Locator: at("/")}, edits); err != nil || edits[1].Size != 4 || logins(srv) != 2 {
			t.Errorf("%v, %+v, %d logins", err, edits, logins(srv))
		}
	})
}
