package mailto

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/memnet"
	"github.com/fetch1738/fetch1738/testserver/smtptest"
)

// post starts a mail server in memory.
func post(t *testing.T, configure ...func(*smtptest.Server)) *smtptest.Server {
	t.Helper()
	return smtptest.New(t, append(configure, func(s *smtptest.Server) { s.InMemory = true })...)
}

// sender returns a Fetcher that trusts srv.
func sender(srv *smtptest.Server) *Fetcher {
	return &Fetcher{
		Env:  &fetch.Env{Dial: srv.Dial, Email: "me@example.com", Limits: fetch.Limits{Reply: time.Minute}, TLS: with(&tls.Config{RootCAs: srv.Roots()})},
		SMTP: srv.Addr,
	}
}

// with returns an Env.TLS.
func with(config *tls.Config) func() (*tls.Config, error) {
	return func() (*tls.Config, error) { return config, nil }
}

func plainly(s *smtptest.Server) { s.Hide = []string{"STARTTLS"} }

const letter = "From: Joe <joe@example.com>\nTo: list@example.com\nDate: Thu, 1 Dec 1994 12:00:00 +0000\nSubject: dots\n\n.\n..x\n.end\n\n\x80\xff octets\nlast"

func TestSend(t *testing.T) {
	const sentLetter = "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=unknown-8bit\r\nContent-Transfer-Encoding: 8bit\r\nFrom: Joe <joe@example.com>\r\nTo: list@example.com\r\nDate: Thu, 1 Dec 1994 12:00:00 +0000\r\nSubject: dots\r\n\r\n.\r\n..x\r\n.end\r\n\r\n\x80\xff octets\r\nlast\r\n"
	for _, tt := range []struct {
		name, url, body string
		hide            []string
		from            string
		to              []string
		data            string
		sent            []string
	}{
		{"a letter", "mailto:a@b", letter, nil, "joe@example.com", []string{"a@b"}, sentLetter,
			[]string{"EHLO [127.0.0.1]", "STARTTLS", "EHLO [127.0.0.1]", "MAIL FROM:<joe@example.com> BODY=8BITMIME", "RCPT TO:<a@b>", "DATA", "QUIT"}},
		{"in the clear", "mailto:a@b", letter, []string{"STARTTLS"}, "joe@example.com", []string{"a@b"}, sentLetter,
			[]string{"EHLO [127.0.0.1]", "MAIL FROM:<joe@example.com> BODY=8BITMIME", "RCPT TO:<a@b>", "DATA", "QUIT"}},
		{"an old server", "mailto:a@b", letter, []string{"EHLO", "8BITMIME"}, "joe@example.com", []string{"a@b"}, sentLetter,
			[]string{"EHLO [127.0.0.1]", "HELO [127.0.0.1]", "MAIL FROM:<joe@example.com>", "RCPT TO:<a@b>", "DATA", "QUIT"}},
		{"plain text", "mailto:a%25b@c?subject=caf%C3%A9&cc=d@e&bcc=f@g&in-reply-to=%3Cx@y%3E&body=not%20this", "\r\nhello\r\n", nil, "me@example.com", []string{"a%b@c", "d@e", "f@g"},
			"From: me@example.com\r\nDate: Sat, 01 Jan 2000 00:00:00 +0000\r\nTo: a%b@c\r\nCc: d@e\r\nSubject: =?utf-8?q?caf=C3=A9?=\r\nIn-Reply-To: <x@y>\r\n\r\n\r\nhello\r\n", nil},
		{"UTF-8", "mailto:a@b", "gr\u00fcn", nil, "me@example.com", []string{"a@b"},
			"From: me@example.com\r\nDate: Sat, 01 Jan 2000 00:00:00 +0000\r\nTo: a@b\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n" +
				"Content-Transfer-Encoding: 8bit\r\n\r\ngr\u00fcn\r\n", nil},
		{"a message that says what it is", "mailto:a@b", "From: a@b\nDate: x\nTo: c@d\nContent-Type: text/plain; charset=koi8-r\n\n\xc1", nil, "a@b", []string{"a@b"},
			"From: a@b\r\nDate: x\r\nTo: c@d\r\nContent-Type: text/plain; charset=koi8-r\r\n\r\n\xc1\r\n", nil},
		{"one line", "mailto:%22a%20b%22@c", "hello", nil, "me@example.com", []string{`"a b"@c`},
			"From: me@example.com\r\nDate: Sat, 01 Jan 2000 00:00:00 +0000\r\nTo: \"a b\"@c\r\n\r\nhello\r\n", nil},
		{"nothing", "mailto:a@b", "", nil, "me@example.com", []string{"a@b"},
			"From: me@example.com\r\nDate: Sat, 01 Jan 2000 00:00:00 +0000\r\nTo: a@b\r\n\r\n", nil},
		{"a header alone, folded", "mailto:a@b?subject=no", "subject: yes\n\tand more\nfrom:\n \"x y\"@z\n", nil, `"x y"@z`, []string{"a@b"},
			"Date: Sat, 01 Jan 2000 00:00:00 +0000\r\nTo: a@b\r\nsubject: yes\r\n\tand more\r\nfrom:\r\n \"x y\"@z\r\n\r\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := post(t, func(s *smtptest.Server) { s.Hide = tt.hide })
				attrs, err := sender(srv).Update(t.Context(), &fetch.Request{Locator: parse(t, tt.url)}, strings.NewReader(tt.body))
				if err != nil {
					t.Fatalf("%v\n%s", err, srv.Transcript())
				}
				mail := srv.Mail()
				secure := !slices.Contains(tt.hide, "STARTTLS") && !slices.Contains(tt.hide, "EHLO")
				if len(mail) != 1 || mail[0].From != tt.from || !slices.Equal(mail[0].To, tt.to) || mail[0].TLS != secure {
					t.Fatalf("%+v", mail)
				}
				got := strings.Replace(mail[0].Data, time.Now().Format("-0700"), "+0000", 1)
				if got != tt.data {
					t.Errorf("%q, want %q", got, tt.data)
				}
				if attrs.Size <= 0 || attrs.Size > int64(len(tt.data)) {
					t.Errorf("Size %d", attrs.Size)
				}
				synctest.Wait()
				lines := srv.Transcript().From(testserver.FromClient)
				for _, want := range tt.sent {
					i := slices.Index(lines, want)
					if i < 0 {
						t.Fatalf("%q was not sent in\n%s", want, srv.Transcript())
					}
					lines = lines[i+1:]
				}
			})
		})
	}
}

// TestSendFaults sets each fault for each command: the error has the right kind, and no message is
// reported as sent that was not.
func TestSendFaults(t *testing.T) {
	commands := []string{"GREETING", "EHLO", "MAIL", "RCPT", "DATA", "END"}
	type fault struct {
		fault smtptest.Fault
		kinds []fetch.ErrorKind
	}
	broken := []fetch.ErrorKind{fetch.ErrConnectionFailed, fetch.ErrProtocol}
	for _, command := range commands {
		faults := []fault{
			{testserver.Delay(time.Second), nil},
			{testserver.Split(1), nil},
			{testserver.Drip(1, 10*time.Millisecond), nil},
			{testserver.Delay(time.Hour), []fetch.ErrorKind{fetch.ErrTimeout}},
			{testserver.Silence(), []fetch.ErrorKind{fetch.ErrTimeout}},
			{testserver.Drip(1, time.Hour), []fetch.ErrorKind{fetch.ErrTimeout}},
			{testserver.Close(), broken},
			{testserver.Truncate(0), broken}, {testserver.Truncate(2), broken},
			{testserver.Reset(0), broken}, {testserver.Reset(2), broken},
			{testserver.EndlessLine(), []fetch.ErrorKind{fetch.ErrProtocol}},
			{testserver.Garbage(200, 1), []fetch.ErrorKind{fetch.ErrProtocol}},
			{testserver.Reply("421 closing"), []fetch.ErrorKind{fetch.ErrBusy}},
			{testserver.Reply("451 later"), []fetch.ErrorKind{fetch.ErrBusy}},
			{testserver.Reply("530 login"), []fetch.ErrorKind{fetch.ErrUnauthenticated}},
			{testserver.Reply("552 large"), []fetch.ErrorKind{fetch.ErrTooLarge}},
			{testserver.Reply("554 no"), []fetch.ErrorKind{fetch.ErrPermission, fetch.ErrBusy}},
			{testserver.Reply("199 what"), []fetch.ErrorKind{fetch.ErrProtocol}},
			{testserver.Reply(strings.Repeat("250-x\n", 60000) + "250 x"), []fetch.ErrorKind{fetch.ErrProtocol}},
		}
		for _, f := range faults {
			for _, secure := range []bool{false, true} {
				if secure && slices.Contains([]string{"GREETING", "EHLO"}, command) {
					continue
				}
				name := command + " " + f.fault.String()
				if secure {
					name += " over TLS"
				}
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						srv := post(t, func(s *smtptest.Server) {
							if !secure {
								plainly(s)
							}
						})
						srv.On(command, 0, f.fault)
						start := time.Now()
						_, err := sender(srv).Update(t.Context(), &fetch.Request{Locator: parse(t, "mailto:a@b")}, strings.NewReader(letter))
						checkFault(t, srv, err, f.kinds)
						if took := time.Since(start); took > 2*time.Minute {
							t.Errorf("it took %v", took)
						}
					})
				})
			}
		}
	}
}

func checkFault(t *testing.T, srv *smtptest.Server, err error, kinds []fetch.ErrorKind) {
	t.Helper()
	var e *fetch.Error
	switch {
	case len(kinds) == 0:
		if err != nil || len(srv.Mail()) != 1 {
			t.Errorf("%v, %d messages\n%s", err, len(srv.Mail()), srv.Transcript())
		}
	case err == nil:
		// After EHLO, HELO is tried.
		if len(srv.Mail()) != 1 || !strings.Contains(srv.Transcript().String(), "HELO [127.0.0.1]") {
			t.Errorf("no error, but %d messages\n%.2000s", len(srv.Mail()), srv.Transcript())
		}
	case !errors.As(err, &e) || !slices.Contains(kinds, e.Kind):
		t.Errorf("%v, want one of %v", err, kinds)
	case e.Op == "" || e.URL != "mailto:a@b" || strings.ContainsAny(err.Error(), "\r\n"):
		t.Errorf("Op %q, URL %q: %q", e.Op, e.URL, err)
	}
}

// TestSlowReply: the limit is the same for a reply that arrives byte by byte.
func TestSlowReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := post(t, plainly)
		srv.On("MAIL", 1, testserver.Reply("250 "+strings.Repeat("x", 100)), testserver.Drip(1, time.Second))
		start := time.Now()
		_, err := sender(srv).Update(t.Context(), &fetch.Request{Locator: parse(t, "mailto:a@b")}, strings.NewReader(letter))
		var e *fetch.Error
		if took := time.Since(start).Round(time.Second); !errors.As(err, &e) || e.Kind != fetch.ErrTimeout || e.Op != "MAIL" || took != time.Minute {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// TestCutReply: the beginning of a positive reply is not accepted.
func TestCutReply(t *testing.T) {
	for _, command := range []string{"GREETING", "MAIL", "RCPT", "END"} {
		for n := range len("250 fine\r\n") {
			synctest.Test(t, func(t *testing.T) {
				srv := post(t, plainly)
				reply := "250 fine"
				if command == "GREETING" {
					reply = "220 fine"
				}
				srv.On(command, 1, testserver.Reply(reply), testserver.Truncate(int64(n)))
				_, err := sender(srv).Update(t.Context(), &fetch.Request{Locator: parse(t, "mailto:a@b")}, strings.NewReader(letter))
				if !errors.Is(err, fetch.ErrConnectionFailed) {
					t.Errorf("%s, %d bytes of a reply: %v", command, n, err)
				}
			})
		}
	}
}

// TestStartTLS: no downgrade, no server with the wrong certificate, and no use of data received in
// clear text after TLS has started (CVE-2011-0411, CVE-2012-3523).
func TestStartTLS(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tls   *tls.Config
		reply string
		kind  fetch.ErrorKind
	}{
		{"an unknown authority", nil, "", fetch.ErrConnectionFailed},
		{"another host", &tls.Config{ServerName: "elsewhere.example"}, "", fetch.ErrConnectionFailed},
		{"whatever it is", &tls.Config{InsecureSkipVerify: true}, "", fetch.ErrOther},
		{"refused", nil, "454 not now", fetch.ErrBusy},
		{"unknown", nil, "502 what?", fetch.ErrUnsupported},
		{"replies ahead", &tls.Config{InsecureSkipVerify: true}, "220 go\n250-x\n250 y", fetch.ErrProtocol},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := post(t)
				if tt.reply != "" {
					srv.On("STARTTLS", 1, testserver.Reply(tt.reply))
				}
				f := sender(srv)
				f.Env.TLS = with(tt.tls)
				if tt.name == "another host" {
					tt.tls.RootCAs = srv.Roots()
				}
				_, err := f.Update(t.Context(), &fetch.Request{Locator: parse(t, "mailto:a@b")}, strings.NewReader(letter))
				if tt.kind == fetch.ErrOther && err != nil || tt.kind != fetch.ErrOther && !errors.Is(err, tt.kind) {
					t.Errorf("%v, want %v", err, tt.kind)
				}
				if want := tt.kind == fetch.ErrOther; (len(srv.Mail()) == 1) != want || srv.Transcript().Has(testserver.FromClient, "MAIL FROM:<joe@example.com>") {
					t.Errorf("%d messages\n%s", len(srv.Mail()), srv.Transcript())
				}
			})
		})
	}
}

// TestStartTLSSettings checks that an error of Env.TLS is the error of the handshake, and that
// nothing is sent.
func TestStartTLSSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, unreadable := post(t), errors.New("unreadable")
		f := sender(srv)
		f.Env.TLS = func() (*tls.Config, error) { return nil, unreadable }
		_, err := f.Update(t.Context(), &fetch.Request{Locator: parse(t, "mailto:a@b")}, strings.NewReader(letter))
		var e *fetch.Error
		if !errors.As(err, &e) || e.Op != fetch.OpTLS || !errors.Is(err, unreadable) || len(srv.Mail()) != 0 {
			t.Errorf("%v; %d messages", err, len(srv.Mail()))
		}
	})
}

// dripping delays what the peer sends after "220 go", byte by byte.
type dripping struct {
	net.Conn
	on bool
}

func (d *dripping) Write(p []byte) (int, error) {
	d.on = d.on || p[0] == 0x16 // a record of TLS
	return d.Conn.Write(p)
}

func (d *dripping) Read(p []byte) (int, error) {
	if d.on {
		time.Sleep(200 * time.Millisecond)
		p = p[:1]
	}
	return d.Conn.Read(p)
}

// TestSlowHandshake: Limits.Connect applies to a slow TLS handshake.
func TestSlowHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := post(t)
		f := sender(srv)
		f.Env.Limits.Connect = 8 * time.Second
		f.Env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := srv.Dial(ctx, network, address)
			return &dripping{Conn: c}, err
		}
		start := time.Now()
		_, err := f.Update(t.Context(), &fetch.Request{Locator: parse(t, "mailto:a@b")}, strings.NewReader(letter))
		var e *fetch.Error
		if took := time.Since(start).Round(time.Second); !errors.As(err, &e) || e.Kind != fetch.ErrTimeout || e.Op != fetch.OpTLS || took != 8*time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// TestAllOrNone: if one recipient is refused, the message is sent to none.
func TestAllOrNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := post(t, plainly, func(s *smtptest.Server) { s.Unknown = []string{"c@d"} })
		_, err := sender(srv).Update(t.Context(), &fetch.Request{Locator: parse(t, "mailto:a@b?cc=c@d")}, strings.NewReader(letter))
		var e *fetch.Error
		if !errors.As(err, &e) || e.Kind != fetch.ErrNotFound || e.Op != "RCPT" || e.Code != 550 || len(srv.Mail()) != 0 {
			t.Errorf("%v, %d messages", err, len(srv.Mail()))
		}
	})
}

// TestReaderFails: an incomplete message is not sent.
func TestReaderFails(t *testing.T) {
	sorry := errors.New("the disk is on fire")
	for name, begin := range map[string]string{"in the header": "From: a@b\n", "in the text": letter} {
		synctest.Test(t, func(t *testing.T) {
			srv := post(t, plainly)
			body := io.MultiReader(strings.NewReader(begin), iotest.ErrReader(sorry))
			_, err := sender(srv).Update(t.Context(), &fetch.Request{Locator: parse(t, "mailto:a@b")}, body)
			synctest.Wait()
			if !errors.Is(err, fetch.ErrLocalIO) || !errors.Is(err, sorry) || len(srv.Mail()) != 0 {
				t.Errorf("%s: %v, %d messages", name, err, len(srv.Mail()))
			}
		})
	}
}

func TestBadMessages(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		kind fetch.ErrorKind
	}{
		"From":       {"From: nobody\n\nx", fetch.ErrBadURL},
		"header":     {"Subject: x\nno field\n\nx", fetch.ErrBadURL},
		"long line":  {"Subject: " + strings.Repeat("x", 20<<10), fetch.ErrTooLarge},
		"CR":         {"Subject: x\n\na\rb", fetch.ErrLocalIO},
		"CR, header": {"Subject: x\rTo: y\n\na", fetch.ErrLocalIO},
		"CR CR LF":   {"Subject: x\n\na\r\r\n", fetch.ErrLocalIO},
		"CR, end":    {"Subject: x\n\na\r", fetch.ErrLocalIO},
		"NUL":        {"a\x00b", fetch.ErrLocalIO},
		"domain":     {"From: u@\u00e4_b.example\n\nx", fetch.ErrBadURL},
		"many lines": {strings.Repeat("X: "+strings.Repeat("y", 1000)+"\n", 300), fetch.ErrTooLarge},
	} {
		f := &Fetcher{Env: noNetwork(t), SMTP: "127.0.0.1:25"}
		_, err := f.Update(t.Context(), &fetch.Request{Locator: parse(t, "mailto:a@b")}, strings.NewReader(tt.text))
		if !errors.Is(err, tt.kind) {
			t.Errorf("%s: %v, want %v", name, err, tt.kind)
		}
	}
}

// TestBadOctets: a line that no message may contain is named. If it comes late, the message has begun,
// but is not sent.
func TestBadOctets(t *testing.T) {
	for bad, want := range map[string]string{"a\x00b\n": "byte 00", "a\rb\n": "byte 0D", "\r\r\n": "byte 0D", "\r": "byte 0D"} {
		for _, lines := range []int{3, 1500} {
			synctest.Test(t, func(t *testing.T) {
				srv := post(t, plainly)
				body := iotest.HalfReader(strings.NewReader("Subject: x\r\n\n" + strings.Repeat(strings.Repeat("x", 998)+"\r\n", lines-3) + bad))
				_, err := sender(srv).Update(t.Context(), &fetch.Request{Locator: parse(t, "mailto:a@b")}, body)
				synctest.Wait()
				if !errors.Is(err, fetch.ErrLocalIO) || !strings.Contains(err.Error(), fmt.Sprintf("line %d of the message contains the %s", lines, want)) || len(srv.Mail()) != 0 {
					t.Errorf("%q in line %d: %v, %d messages", bad, lines, err, len(srv.Mail()))
				}
				if begun := srv.Transcript().Has(testserver.FromClient, "EHLO [127.0.0.1]"); begun != (lines > 3) {
					t.Errorf("%q in line %d: begun: %t", bad, lines, begun)
				}
			})
		}
	}
}

// TestAddressesBeyondASCII: a domain is sent in ASCII; any other part that is not in ASCII requires
// SMTPUTF8, which is not used without need.
func TestAddressesBeyondASCII(t *testing.T) {
	const local = "mailto:us%C3%A9r@m%C3%BCnchen.example"
	for name, tt := range map[string]struct {
		url, email, text string
		hide             string
		mail, rcpt       string // "" if MAIL is not sent
		fields           string // of the message
	}{
		"domain":               {"mailto:u@m%C3%BCnchen.example?cc=v@K%C3%96LN.example&bcc=w@%E6%97%A5%E6%9C%AC.jp", "me@ex.example", "x", "", "MAIL FROM:<me@ex.example> BODY=8BITMIME", "u@xn--mnchen-3ya.example v@xn--kln-sna.example w@xn--wgv71a.jp", "To: u@xn--mnchen-3ya.example\r\nCc: v@xn--kln-sna.example\r\n\r\n"},
		"domain, old server":   {"mailto:u@m%C3%BCnchen.example", "me@ex.example", "x", "SMTPUTF8", "MAIL FROM:<me@ex.example> BODY=8BITMIME", "u@xn--mnchen-3ya.example", "To: u@xn--mnchen-3ya.example\r\n"},
		"sender":               {"mailto:u@h", "me@münchen.example", "x", "SMTPUTF8", "MAIL FROM:<me@xn--mnchen-3ya.example> BODY=8BITMIME", "u@h", "From: me@xn--mnchen-3ya.example\r\n"},
		"local part":           {local, "me@ex.example", "x", "", "MAIL FROM:<me@ex.example> BODY=8BITMIME SMTPUTF8", "usér@xn--mnchen-3ya.example", "To: usér@xn--mnchen-3ya.example\r\n"},
		"local part, TLS":      {local, "me@ex.example", "x", "8BITMIME", "MAIL FROM:<me@ex.example> SMTPUTF8", "usér@xn--mnchen-3ya.example", ""},
		"local part refused":   {local, "me@ex.example", "x", "SMTPUTF8", "", "usér@xn--mnchen-3ya.example", ""},
		"local part, HELO":     {local, "me@ex.example", "x", "EHLO", "", "usér@xn--mnchen-3ya.example", ""},
		"sender's local part":  {"mailto:u@h", "mé@ex.example", "x", "", "MAIL FROM:<mé@ex.example> BODY=8BITMIME SMTPUTF8", "u@h", "From: mé@ex.example\r\n"},
		"sender refused":       {"mailto:u@h", "mé@ex.example", "x", "SMTPUTF8", "", "mé@ex.example", ""},
		"From":                 {"mailto:u@h", "", "From: mé@münchen.example\n\nx", "", "MAIL FROM:<mé@xn--mnchen-3ya.example> BODY=8BITMIME SMTPUTF8", "u@h", "From: mé@münchen.example\r\n"},
		"header":               {"mailto:u@h", "me@ex.example", "Subject: grün\n\nx", "", "MAIL FROM:<me@ex.example> BODY=8BITMIME SMTPUTF8", "u@h", "Subject: grün\r\n"},
		"header, old server":   {"mailto:u@h", "me@ex.example", "Subject: grün\n\nx", "SMTPUTF8", "MAIL FROM:<me@ex.example> BODY=8BITMIME", "u@h", "Subject: grün\r\n"},
		"header in Latin-1":    {"mailto:u@h", "me@ex.example", "Subject: gr\xfcn\n\nx", "", "MAIL FROM:<me@ex.example> BODY=8BITMIME", "u@h", "Subject: gr\xfcn\r\n"},
		"text and URL subject": {"mailto:u@h?subject=gr%C3%BCn", "me@ex.example", "grün", "", "MAIL FROM:<me@ex.example> BODY=8BITMIME", "u@h", "Subject: =?utf-8?q?gr=C3=BCn?=\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := post(t, func(s *smtptest.Server) { s.Hide = []string{tt.hide} })
				f := sender(srv)
				f.Env.Email = tt.email
				_, err := f.Update(t.Context(), &fetch.Request{Locator: parse(t, tt.url)}, strings.NewReader(tt.text))
				synctest.Wait()
				if tt.mail == "" {
					if !errors.Is(err, fetch.ErrUnsupported) || !strings.Contains(err.Error(), "SMTPUTF8") || !strings.Contains(err.Error(), strings.Trim(strconv.QuoteToASCII(tt.rcpt), `"`)) || strings.Contains(srv.Transcript().String(), "MAIL FROM") {
						t.Errorf("%v\n%s", err, srv.Transcript())
					}
					return
				}
				if err != nil || len(srv.Mail()) != 1 {
					t.Fatalf("%v\n%s", err, srv.Transcript())
				}
				mail := srv.Mail()[0]
				sent := srv.Transcript().Has(testserver.FromClient, tt.mail) || strings.Contains(srv.Transcript().String(), `"`+tt.mail+`\r\n"`)
				if !sent || strings.Join(mail.To, " ") != tt.rcpt || !strings.Contains(mail.Data, tt.fields) {
					t.Errorf("%+v\n%s", mail, srv.Transcript())
				}
			})
		})
	}
	f := &Fetcher{Env: noNetwork(t), SMTP: "127.0.0.1:25"}
	f.Env.Email = "me@ex.example"
	for _, url := range []string{"mailto:u@%C3%A4_b.example", "mailto:u@h?bcc=u@%E2%84%80.example", "mailto:u@" + strings.Repeat("%C3%BC.", 30) + strings.Repeat("a", 60) + "." + strings.Repeat("b", 60) + ".example"} {
		if _, err := f.Update(t.Context(), &fetch.Request{Locator: parse(t, url)}, strings.NewReader("x")); !errors.Is(err, fetch.ErrBadURL) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestSendContext: sending ends with its context, in every step.
func TestSendContext(t *testing.T) {
	for _, command := range []string{"GREETING", "EHLO", "STARTTLS", "MAIL", "END"} {
		synctest.Test(t, func(t *testing.T) {
			srv := post(t)
			srv.On(command, 0, testserver.Silence())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			time.AfterFunc(7*time.Second, cancel)
			start := time.Now()
			_, err := sender(srv).Update(ctx, &fetch.Request{Locator: parse(t, "mailto:a@b")}, strings.NewReader(letter))
			if !errors.Is(err, fetch.ErrCanceled) || time.Since(start) != 7*time.Second {
				t.Errorf("%s: %v after %v", command, err, time.Since(start))
			}
		})
	}
}

// TestSendAllowed: the policy is called with the URL and the mail server.
func TestSendAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := post(t)
		var asked []fetch.Target
		f := sender(srv)
		f.SMTP = "127.0.0.1" // its own port
		f.Env.Allow = func(_ context.Context, t fetch.Target) error {
			asked = append(asked, t)
			return nil
		}
		l := &locator.Mailto{Address: "a@b"}
		if _, err := f.Update(t.Context(), &fetch.Request{Locator: l}, strings.NewReader(letter)); err != nil {
			t.Fatal(err)
		}
		if len(asked) != 3 || asked[0].Network != "" || asked[1].Purpose != fetch.PurposeProxy || asked[1].Port != 25 || asked[1].Host != "127.0.0.1" || !asked[2].Addr.IsValid() {
			t.Errorf("%+v", asked)
		}
		denied := errors.New("no")
		for i := range 3 {
			asked = nil
			f.Env.Allow = func(_ context.Context, t fetch.Target) error {
				if asked = append(asked, t); len(asked) > i {
					return denied
				}
				return nil
			}
			if _, err := f.Update(t.Context(), &fetch.Request{Locator: l}, strings.NewReader(letter)); !errors.Is(err, fetch.ErrRefused) || !errors.Is(err, denied) {
				t.Errorf("%v", err)
			}
		}
	})
}

// TestSendTrace: the trace has the whole dialogue, also over TLS, except for the message, whose
// bytes are counted.
func TestSendTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := post(t)
		var sent, received strings.Builder
		var body int64
		ctx := fetch.WithTrace(t.Context(), &fetch.Trace{
			Sent:     func(p []byte) { sent.Write(p) },
			Received: func(p []byte) { received.Write(p) },
			Body:     func(n int64) { body += n },
		})
		attrs, err := sender(srv).Update(ctx, &fetch.Request{Locator: parse(t, "mailto:a@b")}, strings.NewReader(letter))
		if err != nil {
			t.Fatal(err)
		}
		want := "EHLO [127.0.0.1]\r\nSTARTTLS\r\nEHLO [127.0.0.1]\r\nMAIL FROM:<joe@example.com> BODY=8BITMIME\r\nRCPT TO:<a@b>\r\nDATA\r\nQUIT\r\n"
		if sent.String() != want || !strings.HasSuffix(received.String(), "250 Accepted.\r\n221 Goodbye.\r\n") || body < attrs.Size {
			t.Errorf("%q\n%q\n%d bytes of %d", sent.String(), received.String(), body, attrs.Size)
		}
	})
}

// FuzzReplies: with any replies, sending ends without a panic, and with an error unless the server
// has accepted the message.
func FuzzReplies(f *testing.F) {
	f.Add([]byte("220 x\r\n250-x\r\n250 8BITMIME\r\n250 x\r\n250 x\r\n354 x\r\n250 x\r\n221 x\r\n"))
	f.Add([]byte("220 x\r\n250-x\r\n250 STARTTLS\r\n220 x\r\n\x16\x03\x01"))
	f.Add([]byte("220-\r\n220 \xff\r\n502 \r\n250\r\n\n\n"))
	f.Fuzz(func(t *testing.T, octets []byte) {
		if len(octets) > 1<<16 {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			network := new(memnet.Network)
			l, err := network.Listen(t.Context(), "tcp", "127.0.0.1:25")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Write(octets)
				c.(interface{ CloseWrite() error }).CloseWrite()
				io.Copy(io.Discard, c)
				c.Close()
			}()
			f := &Fetcher{Env: &fetch.Env{Dial: func(ctx context.Context, netw, addr string) (net.Conn, error) { return network.Dial(ctx, netw, addr) }}, SMTP: "127.0.0.1"}
			_, err = f.Update(t.Context(), &fetch.Request{Locator: &locator.Mailto{Address: "a@b"}}, strings.NewReader(letter))
			if err == nil && !strings.Contains(string(octets), "250") {
				t.Errorf("%q: no error", octets)
			}
			if err != nil && fetch.KindOf(err) == fetch.ErrOther {
				t.Errorf("%q: %v has no kind", octets, err)
			}
		})
	})
}
