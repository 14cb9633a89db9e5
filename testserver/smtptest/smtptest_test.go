package smtptest_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/smtp"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/smtptest"
)

func mailInMemory(s *smtptest.Server) { s.InMemory = true }

// TestSMTP talks to the server by the standard library's client.
func TestSMTP(t *testing.T) {
	for _, secure := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			srv := smtptest.New(t, mailInMemory, func(s *smtptest.Server) { s.TLSOnly, s.Unknown = secure, []string{"x@y"} })
			c, err := smtp.NewClient(testclient.Dial(t, srv, srv.Addr), "127.0.0.1")
			if err != nil {
				t.Fatal(err)
			}
			if secure {
				if err := c.Mail("a@b"); err == nil || !strings.HasPrefix(err.Error(), "530") {
					t.Errorf("MAIL in the clear: %v", err)
				}
				if err := c.StartTLS(&tls.Config{RootCAs: srv.Roots(), ServerName: "127.0.0.1"}); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := c.Mail("a@b"); err != nil {
					t.Fatal(err)
				}
				if err := c.Rcpt("x@y"); err == nil || !strings.HasPrefix(err.Error(), "550") {
					t.Errorf("an unknown recipient: %v", err)
				}
				if err := c.Rcpt("c@d"); err != nil {
					t.Fatal(err)
				}
				if err := c.Reset(); err != nil {
					t.Error(err)
				}
			}
			if _, err := c.Data(); err == nil || !strings.HasPrefix(err.Error(), "503") {
				t.Errorf("DATA after RSET: %v", err)
			}
			_ = c.Mail("a@b")
			_ = c.Rcpt("c@d")
			w, err := c.Data()
			if err != nil {
				t.Fatal(err)
			}
			w.Write([]byte("Subject: x\n\n.\n..\n\xff"))
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if err := c.Quit(); err != nil {
				t.Error(err)
			}
			want := []smtptest.Mail{{From: "a@b", To: []string{"c@d"}, Data: "Subject: x\r\n\r\n.\r\n..\r\n\xff\r\n", TLS: secure}}
			if got := srv.Mail(); !reflect.DeepEqual(got, want) {
				t.Errorf("%+v", got)
			}
			if lines := srv.Transcript(); !lines.Has(testserver.FromClient, "RCPT TO:<c@d>") || !lines.Has(testserver.FromServer, "250 Accepted.") {
				t.Errorf("\n%s", lines)
			}
		})
	}
}

// TestRefusesBareLF has messages with and without an LF that has no CR before it.
func TestRefusesBareLF(t *testing.T) {
	for text, want := range map[string]string{"a\r\nb\r\n": "250", "a\nb\r\n": "550", "a\n.\r\nb\r\n": "550"} {
		synctest.Test(t, func(t *testing.T) {
			srv := smtptest.New(t, mailInMemory, func(s *smtptest.Server) { s.RefuseBareLF = true })
			conn := testclient.Dial(t, srv, srv.Addr)
			fmt.Fprintf(conn, "HELO x\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\n%s.\r\nQUIT\r\n", text)
			replies, err := io.ReadAll(conn)
			if lines := strings.Split(string(replies), "\r\n"); err != nil || len(lines) < 6 || !strings.HasPrefix(lines[5], want) {
				t.Errorf("%q: %q, %v", text, replies, err)
			}
		})
	}
}

func TestSMTPCommands(t *testing.T) {
	for _, tt := range []struct{ say, want string }{
		{"MAIL FROM:<a@b>", "503"}, {"HELO x\r\nRCPT TO:<a@b>", "250 503"}, {"EHLO x\r\nMAIL FROM:<>", "250- 250- 250- 250- 250 250"},
		{"HELO x\r\nMAIL FROM:a@b", "250 501"}, {"HELO x\r\nMAIL FROM:<a@b> SIZE=99999999999", "250 552"}, {"HELO x\r\nMAIL FROM:<a@b> X=1", "250 555"},
		{"HELO x\r\nMAIL FROM:<a@b>\r\nMAIL FROM:<a@b>", "250 250 503"}, {"HELO x\r\nmail from:<a@b>\r\nRCPT TO:<>", "250 250 501"},
		{"HELO x\r\nMAIL FROM:<ü@b>\r\nMAIL FROM:<ü@b> BODY=8BITMIME SMTPUTF8\r\nRCPT TO:<ä@c>", "250 553 250 250"}, {"HELO x\r\nMAIL FROM:<a@b> SMTPUTF8=1\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@ä>\r\nRCPT TO:<c@d>", "250 555 250 553 250"},
		{"VRFY x", "500"}, {"NOOP", "250"}, {"DATA", "503"}, {strings.Repeat("x", 9000), "500"}, {"", "500"},
	} {
		testclient.InBubble(t, tt.say[:min(20, len(tt.say))], func(t *testing.T) {
			srv := smtptest.New(t, mailInMemory)
			got, err := testclient.Ask(t, srv, srv.Addr, tt.say+"\r\nQUIT\r\n")
			var codes []string
			for line := range strings.SplitSeq(strings.TrimSuffix(got, "\r\n"), "\r\n") {
				codes = append(codes, strings.TrimSuffix(line[:4], " "))
			}
			if text := strings.Join(codes, " "); text != "220 "+tt.want+" 221" || err != nil {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

func FuzzSMTPSession(f *testing.F) {
	f.Add([]byte("EHLO x\r\nMAIL FROM:<a@b> BODY=8BITMIME\r\nRCPT TO:<c@d>\r\nDATA\r\n..\r\n.\r\nRSET\r\nQUIT\r\n"))
	f.Add([]byte("HELO\r\nMAIL FROM:<\r\nRCPT TO:>\r\nSTARTTLS\r\n\x16\x03\x01\x00"))
	f.Add([]byte("DATA\n\n\xff" + strings.Repeat("x", 9000)))
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			srv := smtptest.New(t, mailInMemory)
			testclient.AnswerAnything(t, srv, srv.Addr, octets)
			if got, err := testclient.Ask(t, srv, srv.Addr, "QUIT\r\n"); got != "220 testserver ready\r\n221 Goodbye.\r\n" {
				t.Errorf("the next client got %q, %v", got, err)
			}
		})
	})
}
