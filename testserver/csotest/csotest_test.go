package csotest_test

import (
	"io"
	"testing"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/csotest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

func phoneBook(s *csotest.Server) {
	s.InMemory = true
	s.Entries = []csotest.Entry{
		{{Name: "name", Value: "Frodo Baggins"}, {Name: "email", Value: "frodo@lab.example"}, {Name: "address", Value: "Bag End\nHobbiton"}},
		{{Name: "name", Value: "Bilbo Baggins"}, {Name: "email"}},
	}
}

// The expected replies were recorded from a real server, except for the spaces before numbers.
func TestCSO(t *testing.T) {
	const frodo = "-200:1:        name: Frodo Baggins\r\n-200:1:       email: frodo@lab.example\r\n-200:1:     address: Bag End\r\n-200:1:            : Hobbiton\r\n"
	const bye = "200:Bye!\r\n"
	for _, tt := range []struct{ name, request, want string }{
		{"one", "query frodo\r\nquit\r\n", "102:There were 1 matches to your request.\r\n" + frodo + "200:Ok.\r\n" + bye},
		{"two", "ph baggins\r\nquit\r\n", "102:There were 2 matches to your request.\r\n" + frodo + "-200:2:        name: Bilbo Baggins\r\n-508:2:       email: Not present in entry.\r\n200:Ok.\r\n" + bye},
		{"by field", "query email=frodo* name=FRODO return email\r\nquit\r\n", "102:There were 1 matches to your request.\r\n-200:1:       email: frodo@lab.example\r\n200:Ok.\r\n" + bye},
		{"none", "query sauron\r\nquit\r\n", "501:No matches to your query.\r\n" + bye},
		{"no field", "query shoe=4\r\nquit\r\n", "507:shoe:Field does not exist.\r\n" + bye},
		{"no words", "query\r\nquit\r\n", "599:Syntax error.\r\n" + bye},
		{"no command", "dance\r\nquit\r\n", "598:Command not recognized.\r\n" + bye},
		{"others", "id me\r\nstatus\r\nsiteinfo\r\nhelp\r\nquit\r\n", "200:Thanks.\r\n100:Qi server\r\n200:Database ready.\r\n-200:1:administrator:admin@localhost\r\n200:Ok.\r\n-200:1:query [field=]value ... [return field ...]\r\n200:Ok.\r\n" + bye},
		{"fields", "fields\r\nquit\r\n", "-200:1:name:max 256 Indexed Lookup Public Default\r\n-200:1:name:The name.\r\n-200:2:email:max 256 Indexed Lookup Public Default\r\n-200:2:email:The email.\r\n-200:3:address:max 256 Indexed Lookup Public Default\r\n-200:3:address:The address.\r\n200:Ok.\r\n" + bye},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := csotest.New(t, phoneBook)
			if got, err := testclient.Ask(t, srv, srv.Addr, tt.request); got != tt.want || err != nil {
				t.Errorf("got  %q, %v\nwant %q", got, err, tt.want)
			}
		})
	}
	testclient.InBubble(t, "too many, by a fault", func(t *testing.T) {
		srv := csotest.New(t, phoneBook, func(s *csotest.Server) { s.MaxMatches = 1 })
		srv.On("QUERY", 2, testserver.Reply("475:Database is busy."))
		got, err := testclient.Ask(t, srv, srv.Addr, "query baggins\r\nquery frodo\r\nquit\r\n")
		if want := "502:Too many entries to print.\r\n475:Database is busy.\r\n200:Bye!\r\n"; got != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		if srv.URL != "gopher://127.0.0.1:105/2" || !srv.Transcript().Has(testserver.FromClient, "query frodo") {
			t.Errorf("%s\n%s", srv.URL, srv.Transcript())
		}
	})
	testclient.InBubble(t, "quit ignored", func(t *testing.T) {
		srv := csotest.New(t, phoneBook, func(s *csotest.Server) { s.IgnoreQuit = true })
		nc := testclient.Dial(t, srv, srv.Addr)
		io.WriteString(nc, "id me\r\nquit\r\n")
		reply := make([]byte, len("200:Thanks.\r\n"))
		if _, err := io.ReadFull(nc, reply); err != nil {
			t.Error(err)
		}
		nc.Close()
	})
}
