package talk

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/testserver/memnet"
)

// A part is what a server sends after a time.
type part struct {
	after time.Duration
	text  string
}

// slowly calls test with a Talk whose server sends parts, and then closes the connection if the last
// one is empty.
func slowly(t *testing.T, limits fetch.Limits, parts []part, test func(*Talk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var network memnet.Network
		l, err := network.Listen(t.Context(), "tcp", "127.0.0.1:21")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		done := make(chan struct{})
		defer func() { <-done }()
		go func() {
			defer close(done)
			c, err := l.Accept()
			if err != nil {
				return
			}
			for _, p := range parts {
				time.Sleep(p.after)
				_, _ = io.WriteString(c, p.text)
			}
			if parts[len(parts)-1].text == "" {
				c.Close()
			}
		}()
		conn, err := network.Dial(t.Context(), "tcp", "127.0.0.1:21")
		if err != nil {
			t.Fatal(err)
		}
		c := New(t.Context(), conn, "FTP", 4<<10, limits.WithDefaults(), driver.ContextTrace(t.Context()))
		defer c.Close()
		test(c)
	})
}

// TestUnclearEnd tests replies whose last line has another code than the first: it ends the reply only
// if nothing follows for two seconds.
func TestUnclearEnd(t *testing.T) {
	glftpd := "553-\r\n553- Directory excluded (precheck).\r\n150 Opening BINARY mode data connection.\r\n"
	late := errors.New("the limit of the reply")
	trickle := []part{{0, "250-a\r\n"}}
	for range 100 {
		trickle = append(trickle, part{1900 * time.Millisecond, "226 still here\r\n"})
	}
	for _, tc := range []struct {
		name  string
		parts []part
		want  Reply
		err   error
		took  time.Duration
	}{
		{"glftpd", []part{{0, glftpd}}, Reply{150, "\n Directory excluded (precheck).\nOpening BINARY mode data connection.", 553}, nil, 2 * time.Second},
		{"byte by byte", []part{{0, "250-a\r"}, {time.Second, "\n22"}, {time.Second, "6"}, {3 * time.Second, " b\r"}, {time.Second, "\n"}}, Reply{226, "a\nb", 250}, nil, 8 * time.Second},
		{"a code alone", []part{{0, "250-a\n226\n"}}, Reply{226, "a\n", 250}, nil, 2 * time.Second},
		{"two codes", []part{{0, "250-a\r\n226 b\r\n200 c\r\n"}}, Reply{200, "a\n226 b\nc", 250}, nil, 2 * time.Second},
		{"a worse code", []part{{0, "250-a\r\n550 b\r\n"}}, Reply{550, "a\nb", 250}, nil, 2 * time.Second},
		{"another failure", []part{{0, "550-a\r\n530 b\r\n"}}, Reply{530, "a\nb", 550}, nil, 2 * time.Second},
		{"and the end of the connection", []part{{0, "421-a\r\n530 b\r\n"}, {time.Second, ""}}, Reply{530, "a\nb", 421}, nil, time.Second},

		{"text", []part{{0, "250-a\r\n226 b\r\n250 c\r\n"}}, Reply{250, "a\n226 b\nc", 0}, nil, 0},
		{"text, slowly", []part{{0, "250-a\r\n226 b\r\n"}, {1900 * time.Millisecond, "550 c\r\n"}, {1900 * time.Millisecond, "250 d\r\n"}}, Reply{250, "a\n226 b\n550 c\nd", 0}, nil, 3800 * time.Millisecond},
		{"text, then a pause inside a line", []part{{0, "250-a\r\n226 b\r\n2"}, {9 * time.Second, "50 c\r\n"}}, Reply{250, "a\n226 b\nc", 0}, nil, 9 * time.Second},
		{"a pause after text without a code", []part{{0, "250-a\r\n226 b\r\nc\r\n"}, {9 * time.Second, "250 d\r\n"}}, Reply{250, "a\n226 b\nc\nd", 0}, nil, 9 * time.Second},
		{"a pause after the code of a line that is not the last", []part{{0, "250-a\r\n226-b\r\n"}, {9 * time.Second, "250 c\r\n"}}, Reply{250, "a\n226-b\nc", 0}, nil, 9 * time.Second},
		{"a pause before any other code", []part{{0, "250-a\r\n"}, {9 * time.Second, "250 b\r\n"}}, Reply{250, "a\nb", 0}, nil, 9 * time.Second},

		{"a failure does not become a success", []part{{0, "550-a\r\n226 b\r\n"}}, Reply{}, late, time.Minute},
		{"nor a question", []part{{0, "530-a\r\n331 b\r\n"}}, Reply{}, late, time.Minute},
		{"nor at the end of the connection", []part{{0, "426-a\r\n226 b\r\n"}, {time.Second, ""}}, Reply{}, ErrClosed, time.Second},
		{"lines without end", trickle, Reply{}, late, time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			slowly(t, fetch.Limits{}, tc.parts, func(c *Talk) {
				start := time.Now()
				c.Lenient = true
				got, err := c.Reply()
				if took := time.Since(start); got != tc.want || took != tc.took || (err == nil) != (tc.err == nil) {
					t.Errorf("%+v %v after %v, want %+v after %v", got, err, took, tc.want, tc.took)
				}
				if tc.err == late && !errors.Is(err, os.ErrDeadlineExceeded) || tc.err == ErrClosed && err != ErrClosed {
					t.Errorf("error %v, want %v", err, tc.err)
				}
			})
		})
	}
	slowly(t, fetch.Limits{}, []part{{0, glftpd}}, func(c *Talk) { // NNTP, SMTP
		if got, err := c.Reply(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("not lenient: %+v %v", got, err)
		}
	})
	slowly(t, fetch.Limits{Reply: time.Second}, []part{{0, glftpd}, {3 * time.Second, "200 next\r\n"}}, func(c *Talk) {
		start := time.Now()
		c.Lenient = true
		if got, err := c.Reply(); got.Code != 150 || err != nil || time.Since(start) != time.Second/2 {
			t.Errorf("a short limit: %+v %v after %v", got, err, time.Since(start))
		}
	})
	slowly(t, fetch.Limits{Reply: -1}, []part{{0, glftpd}, {2 * time.Hour, "226 done\r\n"}}, func(c *Talk) {
		c.Lenient = true
		for _, want := range []int{150, 226} {
			if got, err := c.Reply(); got.Code != want || err != nil {
				t.Errorf("no limit: %+v %v, want %d", got, err, want)
			}
		}
	})
	slowly(t, fetch.Limits{}, []part{{0, glftpd}}, func(c *Talk) {
		c.Lenient = true
		ctx, cancel := context.WithCancel(context.Background())
		c.Resume(ctx, c.Limits, c.Trace)
		time.AfterFunc(time.Second, cancel)
		if got, err := c.Reply(); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %+v %v", got, err)
		}
	})
}

// TestPreface tests text before the greeting of a server: a few lines of it are skipped, but another
// protocol is named at once.
func TestPreface(t *testing.T) {
	ten := strings.Repeat("Authorized use only\r\n", 10)
	for in, want := range map[string]Reply{
		"test disclaimer\r\n220 ready\r\n":                        {220, "ready", 0},
		"\r\n\tb\xfccher\r\n* * *\r\n220 ready\r\n":               {220, "ready", 0},
		"220x\r\n220 ready\r\n":                                   {220, "ready", 0},
		ten + "220 ready\r\n":                                     {220, "ready", 0},
		"disclaimer\n220-a\n230 b\n550-c\n220 ready\n":            {220, "a\n230 b\n550-c\nready", 0},
		"disclaimer\r\n530 no\r\n":                                {530, "no", 0},
		"220-hello\r\n230 b\r\n331-c\r\nd\r\n220 ready\r\n":       {220, "hello\n230 b\n331-c\nd\nready", 0},
		"SSH is not offered here\r\nHTTP is not\r\n220 ready\r\n": {220, "ready", 0},
	} {
		c := converse(in, 200, 2000, nil)
		c.Lenient = true
		if got, err := c.Reply(); err != nil || got != want {
			t.Errorf("%q: %+v %v", in, got, err)
		}
		if c = converse(in, 200, 2000, nil); !strings.HasPrefix(in, "220-") {
			if got, err := c.Reply(); fetch.KindOf(err) != fetch.ErrProtocol {
				t.Errorf("%q, not lenient: %+v %v", in, got, err)
			}
		}
	}
	for in, want := range map[string]string{
		"SSH-2.0-OpenSSH_9.2\r\n":                            `SSH-2.0-OpenSSH_9.2 (not a valid FTP reply)`,
		"RFB 003.008\n":                                      `RFB 003.008 (not a valid FTP reply)`,
		"* OK IMAP4rev1\r\n":                                 `* OK IMAP4rev1 (not a valid FTP reply)`,
		"+OK POP3\r\n":                                       `+OK POP3 (not a valid FTP reply)`,
		"@RSYNCD: 31.0\n":                                    `@RSYNCD: 31.0 (not a valid FTP reply)`,
		"<html>\r\n":                                         `<html> (not a valid FTP reply)`,
		"HTTP/1.1 400 Bad Request\r\n":                       `HTTP/1.1 400 Bad Request (the server speaks HTTP, not FTP)`,
		"disclaimer\r\nHTTP/1.1 400 Bad Request\r\n":         `HTTP/1.1 400 Bad Request (the server speaks HTTP, not FTP)`,
		"disclaimer\r\nSSH-2.0-x\r\n":                        `disclaimer (not a valid FTP reply)`,
		"\x15\x03\x01\x02\x02\x0a":                           "not a valid FTP reply",
		"\x16\x03\x01 x\n":                                   "not a valid FTP reply",
		"\xff\xfd\x18\xff\xfb\x01\r\nlogin\r\n":              "not a valid FTP reply",
		"a\x00b\r\n":                                         "the reply contains a NUL",
		"disclaimer\r\na\x00b\r\n220 ready\r\n":              "the reply contains a NUL",
		"Sat Nov 28 18:16:41 2026\r\n":                       `Sat Nov 28 18:16:41 2026 (not a valid FTP reply)`, // daytime, which closes the connection
		ten + "one more\r\n220 ready\r\n":                    `Authorized use only (not a valid FTP reply)`,
		"disclaimer\r\n" + strings.Repeat("x", 200) + "\r\n": "line too long",
		strings.Repeat(strings.Repeat("x", 198)+"\n", 10) + "220-" + strings.Repeat("y", 100) + "\n": "the reply is too long",
		"disclaimer\r\n220-ready\r\n": "the server closed the connection",
	} {
		c := converse(in, 200, 2000, nil)
		c.Lenient = true
		if got, err := c.Reply(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v %v, want %q", in, got, err, want)
		}
	}
	slowly(t, fetch.Limits{}, []part{{0, "220 ready\r\n"}, {time.Second, "text\r\n200 ok\r\n"}}, func(c *Talk) {
		c.Lenient = true
		if got, err := c.Reply(); got.Code != 220 || err != nil {
			t.Errorf("%+v %v", got, err)
		}
		if err := c.Send("NOOP"); err != nil {
			t.Error(err)
		}
		if got, err := c.Reply(); fetch.KindOf(err) != fetch.ErrProtocol {
			t.Errorf("after the greeting: %+v %v", got, err)
		}
	})
	slowly(t, fetch.Limits{}, []part{{0, "disclaimer\r\n"}, {time.Second, "more\r\n"}}, func(c *Talk) {
		start := time.Now()
		c.Lenient = true
		if got, err := c.Reply(); err == nil || err.Error() != "timed out after 60s: no greeting" || time.Since(start) != time.Minute {
			t.Errorf("no greeting: %+v %v after %v", got, err, time.Since(start))
		}
	})
}

// TestLongFirstLine tests a first line that exceeds the limit of a whole reply.
func TestLongFirstLine(t *testing.T) {
	for _, in := range []string{"220 " + strings.Repeat("x", 100) + "\r\n", strings.Repeat("x", 100) + "\r\n"} {
		if got, err := converse(in, 200, 50, nil).Reply(); fetch.KindOf(err) != fetch.ErrProtocol {
			t.Errorf("%q: %+v %v", in, got, err)
		}
	}
}

// TestEmptyLines tests empty lines before a reply, which some servers send after another one.
func TestEmptyLines(t *testing.T) {
	for text, want := range map[string]int{"\r\n226 ok\r\n": 226, "\n\r\n226-ok\r\n226 ok\r\n": 226, " \r\n226 ok\r\n": 0, strings.Repeat("\r\n", maxPreface+1) + "226 ok\r\n": 0} {
		c := converse(text, 200, 2000, nil)
		c.Lenient, c.sent = true, true
		if r, err := c.Reply(); r.Code != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %+v %v", text, r, err)
		}
	}
	if r, err := parseReply("\r\n226 ok\r\n"); err == nil {
		t.Errorf("%+v", r)
	}
}
