package ftp

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// TestNamesOfIIS tests that names are stored, found and listed as they are on a server that takes
// them for those of a code page until OPTS UTF8 ON.
func TestNamesOfIIS(t *testing.T) {
	content := fstest.MapFS{"Ordner ä/Größe €.txt": {Data: []byte("size\n")}, "Müller.txt": {Data: []byte("miller\n")}, "日本.txt": {Data: []byte("japan\n")}}
	for name, f := range map[string]*Fetcher{"": {}, "one command at a time": {DisablePipelining: true}, "no reuse": {MaxIdle: -1}} {
		t.Run(name, func(t *testing.T) {
			srv := ftptest.New(t, ftptest.IIS, func(s *ftptest.Server) { s.Content = content })
			defer f.Close()
			get := func(path, want string) {
				t.Helper()
				if got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+path)}); err != nil || got != want {
					t.Errorf("%s: %q, %v", path, got, err)
				}
			}
			first := []fetch.Edit{{Kind: fetch.EditMakeDir, Name: "né"}}
			if err := f.Edit(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/")}, first); err != nil || first[0].Err != nil {
				t.Errorf("%v %+v", err, first)
			}
			req := &fetch.Request{Locator: parse(t, srv.URL+"/n%C3%A9/M%C3%BCller.html"), Options: &Options{CreateDirs: true}}
			if _, err := f.Replace(t.Context(), req, strings.NewReader("stored\n")); err != nil {
				t.Error(err)
			}
			edits := []fetch.Edit{{Kind: fetch.EditRename, Name: "Müller.html", To: "Größe.html"}, {Kind: fetch.EditMakeDir, Name: "日本"}}
			if err := f.Edit(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/n%C3%A9/")}, edits); err != nil || edits[0].Err != nil || edits[1].Err != nil {
				t.Errorf("%v %+v", err, edits)
			}
			if got := srv.Uploads(); len(got) != 1 || string(got["né/Größe.html"]) != "stored\n" {
				t.Errorf("stored %q", got)
			}
			get("/Ordner%20%C3%A4/Gr%C3%B6%C3%9Fe%20%E2%82%AC.txt", "size\n")
			items, err := list(t, f, srv.URL+"/", &Options{Facts: true})
			var names []string
			for _, item := range items {
				names = append(names, item.Name)
				if file := content[item.Name]; file != nil {
					get(strings.TrimPrefix(item.Locator.String(), srv.URL), string(file.Data))
				}
			}
			if want := []string{"Müller.txt", "Ordner ä", "né", "日本.txt"}; err != nil || !slices.Equal(names, want) {
				t.Errorf("%q, %v, want %q", names, err, want)
			}
		})
	}
}

// TestLoginDirectoryOfIIS tests that the login directory is reached again after OPTS UTF8 ON, which
// changes its name.
func TestLoginDirectoryOfIIS(t *testing.T) {
	srv := ftptest.New(t, ftptest.IIS, func(s *ftptest.Server) {
		s.Content, s.LoginDir = fstest.MapFS{"Größe/a/x": {Data: []byte("x\n")}, "Größe/ü/y": {Data: []byte("y\n")}}, "/Größe"
	})
	for _, paths := range [][]string{{"/a/x", "/%C3%BC/y", "/a/x"}, {"/%C3%BC/y", "/a/x"}} {
		for _, f := range []*Fetcher{{}, {DisablePipelining: true}} {
			for _, path := range paths {
				if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+path)}); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
			f.Close()
		}
	}
	if n := logins(srv); n != 4 {
		t.Errorf("%d logins", n)
	}
}

// TestNamesOfACodePage tests that a URL with the octets of a code page still leads to its file, on a
// server to which OPTS UTF8 ON has not been sent.
func TestNamesOfACodePage(t *testing.T) {
	srv := ftptest.New(t, ftptest.IIS, func(s *ftptest.Server) { s.Content = fstest.MapFS{"Müller.txt": {Data: []byte("miller\n")}} })
	f := &Fetcher{}
	if got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/M%FCller.txt")}); err != nil || got != "miller\n" {
		t.Errorf("%q, %v", got, err)
	}
	f.Close()
	if got := sent(srv); slices.Contains(got, "FEAT") || slices.Contains(got, utf8On) {
		t.Errorf("sent %q", got)
	}
}

// TestUTF8Packets tests when OPTS UTF8 ON is sent, and together with what: it costs no round trip
// where FEAT can be sent with the login, and one where the first names were ASCII.
func TestUTF8Packets(t *testing.T) {
	facts := &Options{Facts: true}
	const u = "/%C3%BC/x" // the directory ü
	for _, tc := range []struct {
		name, greeting string
		f              *Fetcher
		prepare        func(*ftptest.Server)
		list           *Options
		paths          []string
		want           []string
	}{
		{"a listing", "220 ready", &Fetcher{}, nil, facts, []string{"/a/", "/pub/"},
			[]string{"PWD|TYPE A|FEAT", "OPTS UTF8 ON|CWD a|EPSV", "MLSD", "CWD /|CWD pub|EPSV", "MLSD"}},
		{"a listing by a known program", "220 (vsFTPd 3.0.3)", &Fetcher{}, nil, facts, []string{"/a/"},
			[]string{"PASS anonymous@|PWD|TYPE A|FEAT|OPTS UTF8 ON|CWD a|EPSV", "MLSD"}},
		{"a name", "220 ready", &Fetcher{}, nil, nil, []string{u, u},
			[]string{"PWD|TYPE I|FEAT", "OPTS UTF8 ON|CWD ü|SIZE x|EPSV", "RETR x", "EPSV", "RETR x"}},
		{"a name after others", "220 ready", &Fetcher{}, nil, nil, []string{"/x.txt", u},
			[]string{"PWD|TYPE I", "SIZE x.txt|EPSV", "RETR x.txt", "FEAT", "OPTS UTF8 ON|CWD ü|EPSV", "RETR x"}},
		{"a name, for a known program", "220 (vsFTPd 3.0.3)", &Fetcher{}, nil, nil, []string{"/x.txt", u},
			[]string{"PASS anonymous@|PWD|TYPE I|SIZE x.txt|EPSV", "RETR x.txt", "FEAT|OPTS UTF8 ON|CWD ü|EPSV", "RETR x"}},
		{"one at a time", "220 ready", &Fetcher{DisablePipelining: true}, nil, nil, []string{u, u},
			[]string{"PWD", "FEAT", "OPTS UTF8 ON", "CWD ü", "TYPE I", "SIZE x", "EPSV", "RETR x", "EPSV", "RETR x"}},
		{"no UTF8", "220 ready", &Fetcher{}, func(s *ftptest.Server) { s.On("FEAT", 1, testserver.Reply("211-\n SIZE\n211 end")) }, nil, []string{u},
			[]string{"PWD|TYPE I|FEAT", "CWD ü|SIZE x|EPSV", "RETR x"}},
		{"no FEAT", "220 ready", &Fetcher{}, func(s *ftptest.Server) { s.Hide = []string{"FEAT", "OPTS"} }, nil, []string{u, u},
			[]string{"PWD|TYPE I|FEAT", "CWD ü|SIZE x|EPSV", "RETR x", "EPSV", "RETR x"}},
		{"refused", "220 ready", &Fetcher{}, func(s *ftptest.Server) { s.Hide = []string{"OPTS"} }, nil, []string{u},
			[]string{"PWD|TYPE I|FEAT", "OPTS UTF8 ON|CWD ü|SIZE x|EPSV", "RETR x"}},
		{"refused by a known program", "220 ProFTPD ", &Fetcher{}, func(s *ftptest.Server) { s.Hide = []string{"FEAT", "OPTS"} }, facts, []string{"/a/"},
			[]string{"PASS anonymous@|PWD|TYPE A|FEAT|OPTS UTF8 ON|CWD a|EPSV", "LIST"}},
		{"exact", "220 ready", &Fetcher{Exact: true}, nil, nil, []string{u},
			[]string{"CWD ü", "TYPE I", "EPSV", "RETR x"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := start(t, func(s *ftptest.Server) {
					s.InMemory, s.Greeting = true, tc.greeting
					s.Content = fstest.MapFS{"ü/x": {}, "x.txt": {}, "a/b": {}, "pub/c": {}}
					if tc.prepare != nil {
						tc.prepare(s)
					}
				})
				var packets []string
				f := tc.f
				f.Env = &fetch.Env{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
					c, err := srv.Dial(ctx, network, address)
					return written{c, &packets}, err
				}}
				for _, path := range tc.paths {
					req := &fetch.Request{Locator: parse(t, srv.URL+path)}
					if tc.list != nil {
						req.Options = tc.list
					}
					if _, err := read(t.Context(), f, req); err != nil {
						t.Errorf("%s: %v", path, err)
					}
				}
				f.Close()
				packets = slices.DeleteFunc(packets, func(p string) bool {
					return strings.HasPrefix(p, "USER") || p == "PASS anonymous@" || p == "QUIT"
				})
				if !slices.Equal(packets, tc.want) {
					t.Errorf("sent %q\nwant %q", packets, tc.want)
				}
			})
		})
	}
}
