package gophertest_test

import (
	"testing"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

func FuzzGopherRequest(f *testing.F) {
	f.Add([]byte("\r\n"))
	f.Add([]byte("/pub\thello world\t+\t1\r\n+-1\r\n.\r\n"))
	f.Add([]byte("9/../\x00\xff\r"))
	f.Add([]byte("URL:javascript:\"<>\r\n"))
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			srv := gophertest.New(t, gopherInMemory)
			testclient.AnswerAnything(t, srv, srv.Addr, octets)
			if got, err := testclient.Ask(t, srv, srv.Addr, "/motd.txt\r\n"); got != "hello\r\nworld\r\n.\r\n" {
				t.Errorf("the next client got %q, %v", got, err)
			}
		})
	})
}

func FuzzGopherPlusRequest(f *testing.F) {
	f.Add([]byte("/pub/a.txt\t+\t1\r\n+-1\r\nx\r\n.\r\n"))
	f.Add([]byte("/pub/a.txt\t+\t1\r\n+-2\r\nx"))
	f.Add([]byte("/pub/a.txt\t+\t1\r\n+99999999999\r\nx"))
	f.Add([]byte("/\t$+VIEWS+\r\n"))
	f.Add([]byte("7\t\t!\r\n"))
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			srv := gophertest.New(t, plusSite(gophertest.UMNGopher))
			testclient.AnswerAnything(t, srv, srv.Addr, octets)
			if got, err := testclient.Ask(t, srv, srv.Addr, "/motd.txt\t+\r\n"); got != "+-1\r\nhello\r\nworld\r\n.\r\n" {
				t.Errorf("the next client got %q, %v", got, err)
			}
		})
	})
}
