package nntptest_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

func FuzzNNTPSession(f *testing.F) {
	f.Add([]byte("GROUP local.test\r\nOVER 1-\r\nARTICLE 2\r\nHEAD <1@b>\r\nNEXT\r\nQUIT\r\n"))
	f.Add([]byte("POST\r\nFrom: a@b\r\nNewsgroups: local.test, ,x\r\nSubject: x\r\n\r\n..\r\n.\r\nLIST NEWSGROUPS *\r\n"))
	f.Add([]byte("LISTGROUP local.test 9-1\r\nXOVER -5\r\nSTAT -1\r\nSTAT 99999999999999999999\r\nAUTHINFO\r\nMODE\r\nSTARTTLS\r\n"))
	f.Add([]byte("GROUP local.test\r\nXHDR Subject 1-\r\nHDR :lines\r\nNEWNEWS *,![a 941220 000000 GMT\r\nNEWGROUPS 000229 000000\r\n"))
	f.Add([]byte("POST\r\n" + strings.Repeat("x", 9000) + "\n.\n.\r"))
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			srv := nntptest.New(t, newsInMemory)
			testclient.AnswerAnything(t, srv, srv.Addr, octets)
			got, err := testclient.Ask(t, srv, srv.Addr, "STAT <1@b>\r\nQUIT\r\n")
			if !strings.HasSuffix(got, "\n223 0 <1@b>\r\n205 Bye.\r\n") {
				t.Errorf("the next client got %q, %v", got, err)
			}
		})
	})
}
