package ftptest_test

import (
	"crypto/tls"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

func FuzzFTPSession(f *testing.F) {
	f.Add([]byte("USER anonymous\r\nPASS x\r\nCWD pub\r\nEPSV\r\nNLST\r\nQUIT\r\n"))
	f.Add([]byte("USER anonymous\r\nPASS x\r\nPORT 127,0,0,1,200,1\r\nREST 5\r\nRETR motd.txt\r\n"))
	f.Add([]byte("USER anonymous\r\nPASS x\r\nRNFR pub\r\nRNTO x\r\nMKD \x00\r\nEPRT |\r\nMFMT 1 2\r\nLIST -\r\n"))
	f.Add([]byte("AUTH TLS\r\nUSER anonymous\r\nPROT P\r\nCCC\r\n"))
	f.Add([]byte("USER anonymous\r\nPASS x\r\nPRET STOR x\r\nAUTH TLS\r\n\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00"))
	f.Add([]byte("\xff\xf4\xff\xf2ABOR\r\n\xff\xff\r\n\n\r\r\n " + strings.Repeat("x", 9000)))
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			srv := ftptest.New(t, inMemory, func(s *ftptest.Server) { s.TLS = new(tls.Config) })
			testclient.AnswerAnything(t, srv, srv.Addr, octets)
			testclient.LoginFTP(t, srv).Expect("QUIT", "221")
		})
	})
}
