package ftptest_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

// login logs in with a password that is the name, with type I.
func login(t *testing.T, srv *ftptest.Server, name string) *testclient.FTP {
	t.Helper()
	c := testclient.DialFTP(t, srv)
	c.Expect("USER "+name, "331")
	c.Expect("PASS "+name, "230")
	c.Expect("TYPE I", "200")
	return c
}

// TestUserRights tests what a user may do, by each right.
func TestUserRights(t *testing.T) {
	commands := []struct {
		command string
		needs   testserver.Rights
	}{
		{"RETR motd.txt", testserver.Read}, {"NLST", testserver.List}, {"MLSD", testserver.List}, {"LIST *.txt", testserver.List},
		{"STOR new", testserver.Write}, {"APPE motd.txt", testserver.Write}, {"STOU", testserver.Write},
		{"MKD dir", testserver.Write}, {"MFMT 20010203040506 motd.txt", testserver.Write},
		{"DELE crlf.txt", testserver.Delete}, {"RNFR dots.txt\r\nRNTO dots", testserver.Write | testserver.Delete}, {"RMD pub", testserver.Delete},
	}
	for _, denied := range []testserver.Rights{0, testserver.Read, testserver.List, testserver.Write, testserver.Delete} {
		synctest.Test(t, func(t *testing.T) {
			srv := ftptest.New(t, inMemory, func(s *ftptest.Server) {
				s.Users = map[string]testserver.User{"lab": {Password: "lab", Deny: denied}}
			})
			for _, tt := range commands {
				c := login(t, srv, "lab")
				nc := c.Data()
				c.Send(tt.command)
				last := c.Reply()
				if strings.HasPrefix(tt.command, "RNFR") {
					last = c.Reply()
				}
				nc.Close()
				refused := strings.Contains(last, "550 Permission denied")
				if want := tt.needs&denied != 0; refused != want {
					t.Errorf("without %b, %s: %q", denied, tt.command, last)
				}
				c.Close()
			}
			if facts := login(t, srv, "lab").Expect("MLST motd.txt", "250"); denied == testserver.Write && !strings.Contains(facts, "perm=rdf;") {
				t.Errorf("the facts of a user who may not write: %q", facts)
			}
		})
	}
}

// TestUserContent tests that a user with content of its own sees that, and stores there.
func TestUserContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) {
			s.Users = map[string]testserver.User{
				"own":   {Password: "own", Content: fstest.MapFS{"mine.txt": {Data: []byte("mine\n")}}},
				"other": {Password: "other"},
			}
		})
		own, other := login(t, srv, "own"), login(t, srv, "other")
		if data, _, _, err := own.Get("NLST"); data != "mine.txt\r\n" || err != nil {
			t.Errorf("own names %q, %v", data, err)
		}
		own.Put("STOR up", "1")
		other.Expect("SIZE mine.txt", "550")
		other.Expect("SIZE up", "550")
		login(t, srv, "own").Expect("SIZE up", "213 1")
		if got := string(srv.UploadsOf("own")["up"]); got != "1" || len(srv.Uploads()) > 0 || len(srv.UploadsOf("other")) > 0 {
			t.Errorf("uploads %q and %q", srv.UploadsOf("own"), srv.Uploads())
		}
	})
}

// TestRemove tests that files can be removed while the server runs.
func TestRemove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory)
		c := testclient.LoginFTP(t, srv)
		c.Put("STOR up", "1")
		for _, name := range []string{"motd.txt", "/pub", "up"} {
			if err := srv.Remove(name); err != nil {
				t.Errorf("Remove(%q): %v", name, err)
			}
		}
		for _, name := range []string{"motd.txt", "nothing", "pub/a.txt"} {
			if err := srv.Remove(name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Remove(%q) again: %v", name, err)
			}
		}
		if err := srv.Remove("/"); err == nil {
			t.Error("the root was removed")
		}
		c.Expect("SIZE motd.txt", "550")
		c.Expect("SIZE pub/a.txt", "550")
		c.Expect("CWD pub", "550")
		if err := srv.Put("pub/new.txt", []byte("new")); err != nil {
			t.Error(err)
		}
		if data, _, _, err := c.Get("NLST pub"); data != "pub/new.txt\r\n" || err != nil {
			t.Errorf("after Put: %q, %v", data, err)
		}
		if up := srv.Uploads(); len(up) > 0 {
			t.Errorf("uploads %q", up)
		}
	})
}

// TestSettle tests that the last reply follows the data at once, also for a client that reads it before
// it closes the data connection. Lynx gets a moment to close it first.
func TestSettle(t *testing.T) {
	for password, wait := range map[string]time.Duration{"guest@": 0, "WWWuser@": 100 * time.Millisecond} {
		testclient.InBubble(t, password, func(t *testing.T) {
			srv := ftptest.New(t, inMemory)
			c := testclient.DialFTP(t, srv)
			c.Expect("USER anonymous", "331")
			c.Expect("PASS "+password, "230")
			nc := c.Data()
			defer nc.Close()
			start := time.Now()
			c.Send("RETR motd.txt")
			c.Reply()
			if got := c.Reply(); !strings.HasPrefix(got, "226") || time.Since(start) != wait {
				t.Errorf("%q after %v with an open data connection, want %v", got, time.Since(start), wait)
			}
		})
	}
}

func TestNilConfigure(t *testing.T) {
	srv, err := ftptest.Start(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	srv.Close()
}
