package ftp

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// changing lists names as a server that stores files under other names: without spaces at either end
// and quotation marks, and with "_" in place of control characters.
func changing(s *ftptest.Server) {
	s.Listing = func(l ftptest.Listing) []string {
		for i, e := range l.Entries {
			name := strings.Map(func(c rune) rune {
				switch {
				case c < ' ':
					return '_'
				case c == '"':
					return -1
				}
				return c
			}, strings.Trim(e.Name(), " "))
			l.Entries[i] = renamed{e, name}
		}
		return l.Usual()
	}
}

type renamed struct {
	fs.FileInfo
	name string
}

func (r renamed) Name() string { return r.name }

// TestChangedNames tests uploads to servers that store some names under others: what is not listed
// under its name is an error.
func TestChangedNames(t *testing.T) {
	list := func(s *ftptest.Server) { s.Hide = []string{"MLSD", "MLST"} }
	for _, tc := range []struct {
		name    string
		changed bool
		opt     Options
		prepare func(*ftptest.Server)
	}{
		{"tab\tx", true, Options{}, changing},
		{"tab\tx", true, Options{}, func(s *ftptest.Server) { changing(s); list(s) }},
		{"trail ", true, Options{}, changing},
		{" lead", true, Options{}, changing},
		{`quo"te`, true, Options{}, changing},
		{`quo"te`, true, Options{Method: NoCWD}, changing},
		{`a/b/quo"te`, true, Options{Method: NoCWD}, changing},
		{`a/b/quo"te`, false, Options{Method: NoCWD}, nil},
		{"d\t/x", true, Options{CreateDirs: true}, changing},
		{"old\t/x", true, Options{}, changing},
		{"old\t/x", false, Options{}, nil},
		{"/old\t/x", true, Options{Method: SingleCWD}, changing},
		{"/old\t/x", false, Options{Method: SingleCWD}, nil},
		{"old\t/x", true, Options{Method: NoCWD}, changing},
		{"old\t/sub/x", true, Options{Method: SingleCWD}, changing},
		{"old\t/sub/x", false, Options{Method: NoCWD}, nil},
		{"a/../x", false, Options{}, changing},
		{"a/../x", false, Options{Method: NoCWD}, changing},
		{"d\t/x", false, Options{CreateDirs: true}, nil},
		{"tab\tx", false, Options{}, nil},
		{"trail ", false, Options{}, list},
		{"ü", true, Options{}, func(s *ftptest.Server) { // Twisted
			s.On("FEAT", 0, testserver.Reply("211-\n SIZE\n211 end"))
			s.Listing = func(l ftptest.Listing) []string { return []string{"-rw-r--r-- 1 ftp ftp 7 Jan 01 2020 Ã¼"} }
		}},
		{".tab\tx", false, Options{}, func(s *ftptest.Server) { // LIST may not show it
			list(s)
			s.Listing = func(l ftptest.Listing) []string { return []string{"-rw-r--r-- 1 ftp ftp 7 Jan 01 2020 other"} }
		}},
		{"tab\tx", false, Options{}, func(s *ftptest.Server) { // no listing is at hand
			s.On("MLSD", 0, testserver.Reply("550 Permission denied."))
		}},
		{"tab\tx", false, Options{}, ftptest.ListsNothing},
		{"tab\tx", false, Options{}, func(s *ftptest.Server) { // not all of it can be read
			list(s)
			s.Listing = func(l ftptest.Listing) []string {
				return []string{"-rw-r--r-- 1 ftp ftp 7 Jan 01 2020 other", "-rw-r--r-- 1 ftp ftp 7 Foo 01 2020 tab_x"}
			}
		}},
		{"tab\tx", false, Options{Unchecked: true}, changing},
	} {
		t.Run(fmt.Sprintf("%q", tc.name), func(t *testing.T) {
			srv := ftptest.New(t, func(s *ftptest.Server) {
				s.Content = fstest.MapFS{"a/b/c": {}, "other": {}, "old\t/c": {}, "old\t/sub/c": {}}
				if tc.prepare != nil {
					tc.prepare(s)
				}
			})
			f := &Fetcher{}
			defer f.Close()
			at := strings.ReplaceAll(url.PathEscape(tc.name), "%2F", "/")
			_, err := f.Replace(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/"+at), Options: &tc.opt}, strings.NewReader("stored\n"))
			switch {
			case tc.changed && (!errors.Is(err, fetch.ErrNotFound) || !strings.Contains(err.Error(), "does not list it")):
				t.Errorf("%v", err)
			case !tc.changed && (err != nil || string(srv.Uploads()[strings.TrimPrefix(path.Clean(tc.name), "/")]) != "stored\n"):
				t.Errorf("%v, stored %q", err, srv.Uploads())
			}
			if in := srv.Uploads(); tc.changed && tc.opt.Method != NoCWD && strings.Contains(tc.name, "\t/") && len(in) > 0 {
				t.Errorf("stored in a directory of another name: %q", in)
			}
		})
	}
}

// TestOrdinaryNames tests that no listing is requested for names that servers do not change, nor with
// Exact.
func TestOrdinaryNames(t *testing.T) {
	for name, f := range map[string]*Fetcher{"a-b-(1)_%7E2.tar.gz": {}, "M%C3%BCller": {}, "%7Ex": {}, "%5Bx%5D%3F%2A": {}, "tab%09x": {Exact: true}} {
		srv := ftptest.New(t, changing)
		if _, err := f.Replace(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/"+name)}, strings.NewReader("stored\n")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
		for _, line := range sent(srv) {
			if verb := verbOf(line); verb == "MLSD" || verb == "LIST" || verb == "NLST" {
				t.Errorf("%s: sent %s", name, line)
			}
		}
	}
}

// TestNamesWithSpaces tests a server that takes only the first word of a name: a listing shows that. The
// programs that have been measured do not, and are not asked for one.
func TestNamesWithSpaces(t *testing.T) {
	for greeting, cuts := range map[string]bool{"220 ESP": true, "220 (vsFTPd 3.0.3)": false} {
		srv := ftptest.New(t, func(s *ftptest.Server) {
			s.Greeting = greeting
			s.Listings = map[string][]string{"MLSD": {"type=file;size=7; a"}}
		})
		f := &Fetcher{}
		_, err := f.Replace(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/a%20b.txt")}, strings.NewReader("stored\n"))
		f.Close()
		if errors.Is(err, fetch.ErrNotFound) != cuts || !cuts && err != nil {
			t.Errorf("%s: %v", greeting, err)
		}
	}
}

// TestUnlistedUploads tests a server that lists other files, but not what is uploaded: a name with a space is
// not an error there.
func TestUnlistedUploads(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Greeting = "220 ready"
		s.Listings = map[string][]string{"MLSD": {"type=file;size=7; README"}}
	})
	f := &Fetcher{}
	defer f.Close()
	if _, err := f.Replace(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/a%20b.txt")}, strings.NewReader("stored\n")); err != nil {
		t.Error(err)
	}
}

// TestSessionAfterListing tests that a session is used again after an upload whose name was looked
// for, and that its time is set then.
func TestSessionAfterListing(t *testing.T) {
	srv := ftptest.New(t)
	f := &Fetcher{}
	then := time.Date(2020, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, name := range []string{"%20a", "b%20"} {
		req := &fetch.Request{Locator: parse(t, srv.URL+"/"+name), Options: &Options{SetModTime: then}}
		if _, err := f.Replace(t.Context(), req, strings.NewReader("stored\n")); err != nil {
			t.Error(err)
		}
	}
	f.Close()
	if n := logins(srv); n != 1 {
		t.Errorf("%d logins", n)
	}
	if info, err := fs.Stat(srv.Files(), "b "); err != nil || !info.ModTime().Equal(then) {
		t.Errorf("%v, %v", info, err)
	}
}

// An upload whose data the server has refused at their end is not sent again, also if the port was
// requested before: nothing of the source is left.
func TestRefusedAtEnd(t *testing.T) {
	for _, reply := range []string{"426 closed", "451 local error", "550 no"} {
		srv := ftptest.New(t, ftptest.VSFTPD, func(s *ftptest.Server) { s.Content = tree() })
		srv.On("END", 2, testserver.Reply(reply))
		f := new(Fetcher)
		for _, name := range []string{"p", "q"} {
			opt := &Options{Unchecked: true, More: func() bool { return name == "p" }}
			_, err := f.Replace(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/"+name), Options: opt}, strings.NewReader("the data of "+name))
			if want := name == "q"; (err != nil) != want || string(srv.Uploads()[name]) != "the data of "+name {
				t.Errorf("%s: %s: %v, stored %q", reply, name, err, srv.Uploads()[name])
			}
		}
		f.Close()
	}
}
