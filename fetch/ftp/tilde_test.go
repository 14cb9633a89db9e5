package ftp

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

var stamp = time.Date(2020, 3, 4, 5, 6, 7, 0, time.UTC)

// refuse makes a server refuse the names with that beginning, in all commands.
func refuse(srv *ftptest.Server, beginning, reply string) {
	for _, name := range []string{"a", "d", "e", "f", "g", "m", "n", "r", "s"} {
		name = beginning + name
		for _, verb := range []string{"CWD", "MKD", "RMD", "DELE", "RETR", "STOR", "APPE", "SIZE", "MDTM", "RNFR", "RNTO", "NLST", "LIST", "MFMT 20200304050607"} {
			srv.On(verb+" "+name, 0, testserver.Reply(reply))
		}
	}
}

// TestTilde tests every command with a name that begins with ~, on servers that take it for a home
// directory, on servers that refuse ./~name, and on others.
func TestTilde(t *testing.T) {
	for kind, tc := range map[string]struct {
		refused, reply string
		wasted         int // commands that are refused: the first one, and those that no spelling helps
	}{
		"~ is a home": {"~", "550 No such file.", 4}, "~ is no login": {"~", "530 Who?", 4}, "~ is no name": {"~", "553 Not allowed.", 4},
		"./ is refused":      {"./~", "550 No such file.", 3},
		"an ordinary server": {"", "", 0},
	} {
		t.Run(kind, func(t *testing.T) {
			srv, err := ftptest.Start(t.Context(), "127.0.0.1:0", func(s *ftptest.Server) {
				s.Content = fstest.MapFS{"~a/~f": {Data: []byte("f")}, "~g": {Data: []byte("g")}, "plain": {Data: []byte("p")}, "site/~m/x": {Data: []byte("x")}}
			})
			if err != nil {
				t.Fatal(err)
			}
			defer srv.Close()
			if tc.refused != "" {
				refuse(srv, tc.refused, tc.reply)
			}
			f := new(Fetcher)
			request := func(path string, o *Options) *fetch.Request {
				return &fetch.Request{Locator: parse(t, srv.URL+"/"+strings.ReplaceAll(path, "~", "%7E")), Options: o}
			}
			reads := func(path, want string, o *Options) {
				t.Helper()
				if got, err := read(t.Context(), f, request(path, o)); err != nil || got != want {
					t.Errorf("%s: %q, %v, want %q", path, got, err, want)
				}
			}
			ok := func(_ any, err error) {
				t.Helper()
				if err != nil {
					t.Error(err)
				}
			}
			reads("~a/~f", "f", nil)
			reads("~g", "g", &Options{ModTime: true})
			for _, path := range []string{"~a/", "~a;type=d", "~a/~f;type=d"} {
				res, err := f.Fetch(t.Context(), request(path, &Options{ListOnly: true}))
				ok(nil, err)
				for item, err := range res.Items {
					if l := item.Locator.(*locator.FTP); err != nil || !slices.Equal(l.CWD, []string{"~a"}) || l.Name != "~f" {
						t.Errorf("%s lists %v, %v", path, l, err)
					}
				}
				res.Close()
			}
			reads("~a/~f", "f", &Options{Method: NoCWD})
			ok(f.FindAttributes(t.Context(), request("~g", nil)))
			ok(f.FindAttributes(t.Context(), request("~a", nil))) // CWD
			ok(f.Replace(t.Context(), request("~n", &Options{SetModTime: stamp}), strings.NewReader("n")))
			ok(f.Update(t.Context(), request("~n", nil), strings.NewReader("+n")))
			ok(f.Replace(t.Context(), request("~d/~e", &Options{CreateDirs: true}), strings.NewReader("e")))
			edits := []fetch.Edit{
				{Kind: fetch.EditSize, Name: "~n"}, {Kind: fetch.EditTime, Name: "~n", Time: stamp}, {Kind: fetch.EditRename, Name: "plain", To: "~r"},
				{Kind: fetch.EditRename, Name: "~r", To: "~s"}, {Kind: fetch.EditMakeDir, Name: "~m"}, {Kind: fetch.EditRemoveDir, Name: "~m"},
				{Kind: fetch.EditRemove, Name: "~g"}, {Kind: fetch.EditRename, Name: "~s", To: "end"}, {Kind: fetch.EditMakeDir, Name: "made"},
			}
			ok(nil, f.Edit(t.Context(), request("", nil), edits))
			for _, e := range edits {
				ok(nil, e.Err)
			}
			f.Close()
			if edits[0].Size != 3 {
				t.Errorf("size %d", edits[0].Size)
			}
			for name, want := range map[string]string{"~n": "n+n", "~d/~e": "e", "end": "p"} {
				if got, err := fs.ReadFile(srv.Files(), name); err != nil || string(got) != want {
					t.Errorf("%s has %q, %v", name, got, err)
				}
			}
			wasted := 0
			for _, l := range srv.Transcript() {
				if l.From == testserver.FromServer && tc.reply != "" && l.Octets == tc.reply+"\r\n" {
					wasted++
				}
			}
			if n := logins(srv); wasted != tc.wasted || n != 1 {
				t.Errorf("%d commands refused, want %d; %d logins: %q", wasted, tc.wasted, n, sent(srv))
			}
		})
	}
}

// TestTildeEdits tests that each edit of several gets its own reply if the first one shows how names
// are spelled.
func TestTildeEdits(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"a": {Data: []byte("a")}, "~f": {Data: []byte("f")}, "~g": {Data: []byte("gg")}}
	})
	srv.On("SIZE ~f", 1, testserver.Reply("550 No such user."))
	f := new(Fetcher)
	defer f.Close()
	edits := []fetch.Edit{
		{Kind: fetch.EditSize, Name: "a"}, {Kind: fetch.EditSize, Name: "~f"}, {Kind: fetch.EditSize, Name: "~g"}, {Kind: fetch.EditSize, Name: "~none"},
		{Kind: fetch.EditRemove, Name: "~g"}, {Kind: fetch.EditSize, Name: "a"},
	}
	if err := f.Edit(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/")}, edits); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{1, 1, 2, 0, 0, 1} {
		if e := edits[i]; !e.Done || e.Size != want || (e.Err != nil) != (i == 3) {
			t.Errorf("edit %d: %+v", i, e)
		}
	}
	if got, want := named(sent(srv)), []string{"SIZE a", "SIZE ~f", "SIZE ./~f", "SIZE ./~g", "SIZE ./~none", "SIZE ~none", "DELE ./~g", "SIZE a"}; !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
}

// TestTildeRefused tests which refusals are final: those of names without ~, other replies, those of
// both spellings, and all with Exact.
func TestTildeRefused(t *testing.T) {
	for _, tc := range []struct {
		path, reply string
		exact       bool
		want        []string
	}{
		{"a", "550 No.", false, []string{"RETR a"}},
		{"a~", "550 No.", false, []string{"RETR a~"}},
		{"~a", "450 Busy.", false, []string{"RETR ~a"}},
		{"~a", "550 No.", false, []string{"RETR ~a", "RETR ./~a"}},
		{"~a", "550 No.", true, []string{"RETR ~a"}},
	} {
		h := &hostile{on: map[string]string{"SIZE": "550 No.\r\n"}, first: map[string]string{"RETR": tc.reply + "\r\n"}}
		h.serve(t)
		f := &Fetcher{Env: h.env(), Exact: tc.exact}
		_, err := read(t.Context(), f, &fetch.Request{Locator: at("/" + strings.ReplaceAll(tc.path, "~", "%7E"))})
		f.Close()
		if e, ok := errors.AsType[*fetch.Error](err); !ok || e.Reply != tc.reply[4:] {
			t.Errorf("%+v: %v", tc, err)
		}
		got := slices.DeleteFunc(named(h.sent()), func(line string) bool { return !strings.HasPrefix(line, "RETR") })
		if !slices.Equal(got, tc.want) {
			t.Errorf("%+v: sent %q", tc, got)
		}
	}
}

// TestTildeStored tests that data that was sent is not sent again, if the server refuses it at last.
func TestTildeStored(t *testing.T) {
	h := &hostile{on: map[string]string{"STOR": "550 Disk.\r\n"}}
	h.serve(t)
	f := &Fetcher{Env: h.env()}
	_, err := f.Replace(t.Context(), &fetch.Request{Locator: at("/%7Ea")}, strings.NewReader("data"))
	f.Close()
	if e, ok := errors.AsType[*fetch.Error](err); !ok || e.Reply != "Disk." {
		t.Error(err)
	}
	if got, want := named(h.sent()), []string{"STOR ~a"}; !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
}

// TestTildeChanges tests that a session that has used one spelling finds names that need the other.
func TestTildeChanges(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"~a/f": {Data: []byte("a")}, "~g/f": {Data: []byte("g")}}
	})
	srv.On("CWD ~a", 0, testserver.Reply("550 No such user."))
	srv.On("CWD ./~g", 0, testserver.Reply("550 No such directory.")) // a home
	f := new(Fetcher)
	defer f.Close()
	for range 2 {
		for _, name := range []string{"a", "g"} {
			if got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/%7E"+name+"/f")}); err != nil || got != name {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	}
}
