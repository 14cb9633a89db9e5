package ftp

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// TestDirectoriesBeyondASCII tests uploads to directories with names beyond ASCII on servers whose
// greeting is known and whose reply to FEAT lists no UTF8: the name is looked for before its CWD is
// sent, although FEAT is sent together with PASS.
func TestDirectoriesBeyondASCII(t *testing.T) {
	for name, server := range map[string]func(*ftptest.Server){"vsftpd": ftptest.VSFTPD, "inetutils": ftptest.Inetutils} {
		for _, path := range []string{"ä/x", "a/ä/x", "ä/y:z"} {
			srv := ftptest.New(t, server, func(s *ftptest.Server) {
				s.Content = fstest.MapFS{"a/b": {}, "ä/other": {}, "a/ä/other": {}}
			})
			f := &Fetcher{}
			at := strings.NewReplacer("ä", "%C3%A4", ":", "%3A").Replace(path)
			for _, more := range []string{"", "2"} {
				_, err := f.Replace(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/"+at+more)}, strings.NewReader("stored\n"))
				if err != nil || string(srv.Uploads()[path+more]) != "stored\n" {
					t.Errorf("%s: %s%s: %v, stored %q", name, path, more, err, srv.Uploads())
				}
			}
			f.Close()
		}
	}
}

// TestDirectoryOfAnotherName tests that nothing is stored in a directory of another name by a session
// that is in it already: after an upload that was refused for that, or after a download.
func TestDirectoryOfAnotherName(t *testing.T) {
	for _, opt := range []*Options{nil, {Unchecked: true}} {
		srv := ftptest.New(t, changing, func(s *ftptest.Server) { s.Content = fstest.MapFS{"old\t/c": {Data: []byte("c")}, "o": {}} })
		f := &Fetcher{}
		if got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/old%09/c")}); err != nil || got != "c" {
			t.Errorf("%q, %v", got, err)
		}
		for _, name := range []string{"x", "y"} {
			_, err := f.Replace(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/old%09/"+name), Options: opt}, strings.NewReader("stored\n"))
			if unchecked := opt != nil; errors.Is(err, fetch.ErrNotFound) == unchecked {
				t.Errorf("%s: %v", name, err)
			}
		}
		f.Close()
		if n := len(srv.Uploads()); opt == nil && n > 0 || logins(srv) != 1 {
			t.Errorf("%d stored, %d logins: %q", n, logins(srv), sent(srv))
		}
	}
}

// TestTildeOnEarlyPort tests that a name that begins with ~ is found if the port of its transfer was
// requested before: then SIZE follows the refusal, and finds the other spelling.
func TestTildeOnEarlyPort(t *testing.T) {
	for name, server := range map[string]func(*ftptest.Server){"vsftpd": ftptest.VSFTPD, "proftpd": ftptest.ProFTPD, "testserver": func(*ftptest.Server) {}} {
		for _, refused := range []string{"~", "./~"} {
			srv, err := ftptest.Start(t.Context(), "127.0.0.1:0", server, func(s *ftptest.Server) {
				s.Content = fstest.MapFS{"b": {Data: []byte("bb")}, "c": {Data: []byte("c")}, "~f": {Data: []byte("f")}, "~g": {Data: []byte("gg")}}
			})
			if err != nil {
				t.Fatal(err)
			}
			refuse(srv, refused, "550 No such file.")
			f := &Fetcher{}
			more := &Options{More: func() bool { return true }}
			for _, file := range []struct{ path, want string }{{"b", "bb"}, {"c", "c"}, {"%7Ef", "f"}, {"b", "bb"}, {"%7Eg", "gg"}} {
				got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/"+file.path), Options: more})
				if err != nil || got != file.want {
					t.Errorf("%s, %s is refused: %s: %q, %v", name, refused, file.path, got, err)
				}
			}
			f.Close()
			if n := logins(srv); n != 1 {
				t.Errorf("%s: %d logins", name, n)
			}
			srv.Close()
		}
	}
}

// TestTildeLooksFor tests that a name is looked for in the directory in which it was stored, and
// not in the home of a user.
func TestTildeLooksFor(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"~d/b": {}} })
	srv.On("STOR ~d/y:z", 0, testserver.Reply("550 No such file."))
	f := &Fetcher{}
	defer f.Close()
	req := &fetch.Request{Locator: parse(t, srv.URL+"/%7Ed/y%3Az"), Options: &Options{Method: NoCWD}}
	if _, err := f.Replace(t.Context(), req, strings.NewReader("stored\n")); err != nil || !slices.Contains(sent(srv), "MLSD ./~d") {
		t.Errorf("%v, sent %q", err, sent(srv))
	}
}

// TestEndlessListing tests that an upload ends although the listing in which its name is looked for
// does not.
func TestEndlessListing(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.ListingOctets = func(_, _ string) (io.ReadCloser, error) {
			return io.NopCloser(endless(bytes.Repeat([]byte("type=file; "+strings.Repeat("x", 1000)+"\r\n"), 64))), nil
		}
	})
	f := &Fetcher{}
	defer f.Close()
	if _, err := f.Replace(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/y%3Az")}, strings.NewReader("stored\n")); err != nil {
		t.Error(err)
	}
}

type endless []byte

func (e endless) Read(p []byte) (int, error) { return copy(p, e), nil }
