package ftptest_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

// TestConditions tests when faults with conditions act. On each of two connections, NOOP comes first,
// after SYST, and after TYPE A.
func TestConditions(t *testing.T) {
	for _, tt := range []struct {
		name       string
		conditions []ftptest.Fault
		want       string // of each NOOP: f is the reply of the fault
	}{
		{"none", nil, "ffffff"},
		{"the second connection", []ftptest.Fault{testserver.Connection(2)}, "...fff"},
		{"from the fourth on", []ftptest.Fault{testserver.From(4)}, "...fff"},
		{"after SYST", []ftptest.Fault{testserver.After("SYST")}, ".ff.ff"},
		{"until SYST", []ftptest.Fault{testserver.Until("syst")}, "f..f.."},
		{"after an argument", []ftptest.Fault{testserver.After("TYPE A")}, "..f..f"},
		{"not after another argument", []ftptest.Fault{testserver.After("TYPE E")}, "......"},
		{"until itself", []ftptest.Fault{testserver.Until("NOOP")}, "f..f.."},
		{"after itself", []ftptest.Fault{testserver.After("NOOP")}, ".ff.ff"},
		{"all of them", []ftptest.Fault{testserver.After("SYST"), testserver.Until("TYPE A"), testserver.Connection(2)}, "....f."},
		{"the second of those that count", []ftptest.Fault{testserver.After("SYST"), testserver.From(2)}, "..f.ff"},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := ftptest.New(&testclient.Failing{T: t}, inMemory)
			defer srv.Close()
			srv.On("NOOP", 0, append(tt.conditions, testserver.Reply("299 f"))...)
			got := ""
			for range 2 {
				c := testclient.LoginFTP(t, srv)
				for _, command := range []string{"", "SYST", "TYPE A"} {
					if command != "" {
						c.Expect(command, "2")
					}
					c.Send("NOOP")
					if reply := c.Reply(); reply == "299 f" {
						got += "f"
					} else {
						got += "."
					}
				}
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
	srv := ftptest.New(t)
	srv.On("MKD", 0, testserver.Matching("*.part"), testserver.Reply("553 No."))
	c := testclient.LoginFTP(t, srv)
	c.Expect("MKD a.part", "553")
	c.Expect("MKD a.part.b", "257")
	for _, wrong := range [][]testserver.Fault{
		{testserver.From(0), testserver.Reply("f")}, {testserver.Connection(-1), testserver.Reply("f")}, {testserver.After(""), testserver.Reply("f")}, {testserver.From(2)}, {testserver.Matching("["), testserver.Reply("f")},
	} {
		if err := srv.Arm("NOOP", 0, wrong...); err == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
}

// TestOctetsAndHangup sends exact octets, and closes after an answer.
func TestOctetsAndHangup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) { s.Content = fstest.MapFS{"motd.txt": {Data: []byte("hello\n")}} })
		srv.On("NOOP", 1, testserver.Octets("200 a\n200 b\r\n"))
		srv.On("SYST", 1, testserver.Hangup())
		srv.On("CWD", 1, testserver.Octets("250 fine\n"))
		srv.On("RETR", 1, testserver.Octets("150-\r\n150 go\r\n"), testserver.Hangup())
		c := testclient.LoginFTP(t, srv)
		c.Expect("NOOP", "200 a")
		if got := c.Reply(); got != "200 b" {
			t.Errorf("%q", got)
		}
		c.Expect("SYST", "215")
		if got := c.Reply(); !strings.HasSuffix(got, "!EOF") {
			t.Errorf("after the answer: %q", got)
		}
		c = testclient.LoginFTP(t, srv)
		c.Expect("CWD /", "250 fine")
		data, first, last, err := c.Get("RETR motd.txt")
		if data != "hello\n" || first != "150-\n150 go" || !strings.HasPrefix(last, "226 ") || err != nil {
			t.Errorf("%q, %q, %q, %v", data, first, last, err)
		}
		if got := c.Reply(); !strings.HasSuffix(got, "!EOF") {
			t.Errorf("after the transfer: %q", got)
		}
	})
}

// TestNoFirstReply tests a transfer whose first reply is its last one.
func TestNoFirstReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) { s.Replies = ftptest.Replies{"LIST 150": ""} })
		c := testclient.LoginFTP(t, srv)
		c.Expect("EPSV", "229")
		c.Expect("LIST", "425") // nobody has connected
	})
}

// TestListings sends listings that are settings.
func TestListings(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"pub/a": {Data: []byte("a")}, "b": {Data: []byte("b")}}
		s.Listings = map[string][]string{"LIST /pub": {"one", "two"}, "NLST": {"all"}}
	})
	c := testclient.LoginFTP(t, srv)
	for command, want := range map[string]string{"LIST pub": "one\r\ntwo\r\n", "NLST pub": "all\r\n", "NLST": "all\r\n", "LIST -a /pub": "one\r\ntwo\r\n"} {
		if data, _, _, err := c.Get(command); data != want || err != nil {
			t.Errorf("%s: %q, %v", command, data, err)
		}
	}
	if data, _, _, _ := c.Get("LIST"); !strings.Contains(data, " pub") {
		t.Errorf("LIST: %q", data)
	}
}
