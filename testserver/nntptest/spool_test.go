package nntptest_test

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// spool has the groups local.test, which has a listing, and local.bare, which has none.
type spool struct{}

// exact is an article with octets that other servers would change.
const exact = "Subject: x\r\nMessage-ID: <1@b>\r\n\r\n.a\n.b\r\r\n\x00\xff\n\r\n.\r\n"

var errBroken = errors.New("broken")

func text(s string, err error) (io.ReadCloser, error) {
	r := io.Reader(strings.NewReader(s))
	if err != nil {
		r = io.MultiReader(r, iotest.ErrReader(err))
	}
	return io.NopCloser(r), nil
}

func (spool) Active() (io.ReadCloser, error) {
	return text("local.test 9 1 y\r\nlocal.bare 2 1 m\r\nother 0 1 n\r\n", nil)
}

func (spool) Numbers(group string) ([]int, error) {
	switch group {
	case "local.test":
		return []int{1, 4, 9}, nil
	case "local.bare":
		return []int{1, 2, 3}, nil
	case "local.broken":
		return nil, errBroken
	}
	return nil, fs.ErrNotExist
}

func (spool) Overview(group string, from, to int) (io.ReadCloser, error) {
	switch {
	case group == "local.bare":
		return nil, nil
	case from == 1 && to == 9:
		return text("1\ta\r\nno number\r\n9\tb\r\n", nil)
	case from == 4:
		return text("4\tc\r\n", errBroken)
	}
	return nil, errBroken
}

func (spool) Article(group string, number int) (io.ReadCloser, error) {
	switch number {
	case 1:
		return text(exact, nil)
	case 2:
		return text("Subject: cut\r\n\r\nthe beg", errBroken)
	case 4:
		return nil, errBroken
	}
	return nil, fs.ErrNotExist
}

func (spool) ArticleByID(id string) (io.ReadCloser, error) {
	if id != "<id@b>" {
		return nil, fs.ErrNotExist
	}
	return text("Subject: y\r\n\r\n", nil)
}

func TestSpool(t *testing.T) {
	const greeting = "201 testserver ready, no posting\r\n"
	sent := strings.Replace(strings.Replace(exact, "\r\n.a", "\r\n..a", 1), "\r\n.\r\n", "\r\n..\r\n", 1)
	for _, tt := range []struct{ name, say, want string }{
		{"articles", "GROUP local.test\r\nARTICLE 1\r\nSTAT 3\r\nSTAT\r\nARTICLE 4\r\n", "211 3 1 9 local.test\r\n220 1 <1@b>\r\n" + sent + ".\r\n423 No article of that number.\r\n223 1 <1@b>\r\n403 The article cannot be read.\r\n"},
		{"message-ids", "HEAD <id@b>\r\nSTAT <1@b>\r\n", "221 0 <id@b>\r\nSubject: y\r\n.\r\n430 No such article.\r\n"},
		{"an article that is not complete", "GROUP local.bare\r\nARTICLE 2\r\nSTAT 1\r\n", "211 3 1 3 local.bare\r\n220 2 <0>\r\nSubject: cut\r\n\r\nthe beg"},
		{"an overview", "GROUP local.test\r\nOVER 1-99\r\nOVER 9-\r\nOVER 2-3\r\n", "211 3 1 9 local.test\r\n224 Overview follows\r\n1\ta\r\nno number\r\n9\tb\r\n.\r\n403 The overview cannot be read.\r\n423 No articles in that range.\r\n"},
		{"an overview that is not complete", "GROUP local.test\r\nOVER 4\r\nSTAT 1\r\n", "211 3 1 9 local.test\r\n224 Overview follows\r\n4\tc\r\n"},
		{"an overview from articles", "GROUP local.bare\r\nXOVER 1-9\r\n", "211 3 1 3 local.bare\r\n224 Overview follows\r\n1\tx\t\t\t<1@b>\t\t49\t5\r\n2\tcut\t\t\t<0>\t\t23\t0\r\n.\r\n"},
		{"lists", "LIST\r\nLIST ACTIVE local.*,!*.bare\r\nLIST NEWSGROUPS\r\n", "215 list of newsgroups follows\r\nlocal.test 9 1 y\r\nlocal.bare 2 1 m\r\nother 0 1 n\r\n.\r\n215 list of newsgroups follows\r\nlocal.test 9 1 y\r\n.\r\n215 descriptions follow\r\n.\r\n"},
		{"groups", "GROUP local.none\r\nGROUP local.broken\r\nLISTGROUP local.test 2-\r\n", "411 No such group.\r\n403 The group cannot be read.\r\n211 3 1 9 local.test list follows\r\n4\r\n9\r\n.\r\n"},
		{"read only", "POST\r\nNEWNEWS * 700101 000000\r\nIHAVE <9@b>\r\n", "440 Posting not allowed.\r\n500 What?\r\n500 What?\r\n"},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := nntptest.New(t, func(s *nntptest.Server) { s.InMemory, s.Spool = true, spool{} })
			if got, err := talk(t, srv, tt.say); got != greeting+tt.want || err != nil {
				t.Errorf("the server sent %q, %v\nwant %q", got, err, greeting+tt.want)
			}
		})
	}
}

// A Spool can have the faults of a server.
func TestSpoolFaults(t *testing.T) {
	testclient.InBubble(t, "", func(t *testing.T) {
		srv := nntptest.New(t, func(s *nntptest.Server) { s.InMemory, s.Spool = true, spool{} })
		srv.On("HEAD", 1, testserver.BareLF())
		got, err := talk(t, srv, "HEAD <id@b>\r\n")
		if want := "201 testserver ready, no posting\r\n221 0 <id@b>\r\nSubject: y\n.\n"; got != want || err != nil {
			t.Errorf("the server sent %q, %v", got, err)
		}
	})
}
