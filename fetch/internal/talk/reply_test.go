package talk

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// said is a connection from which a fixed text is read.
type said struct {
	net.Conn
	text *strings.Reader
}

func (s said) Read(p []byte) (int, error)       { return s.text.Read(p) }
func (s said) SetReadDeadline(time.Time) error  { return nil }
func (s said) SetWriteDeadline(time.Time) error { return nil }

func converse(text string, line, header int, received func([]byte)) *Talk {
	limits := fetch.Limits{Line: line, Header: header}.WithDefaults()
	trace := driver.ContextTrace(fetch.WithTrace(context.Background(), &fetch.Trace{Received: received}))
	return New(context.Background(), said{text: strings.NewReader(text)}, "FTP", 16, limits, trace)
}

func parseReply(s string) (Reply, error) { return converse(s, 200, 2000, nil).Reply() }

func TestReadReply(t *testing.T) {
	for in, want := range map[string]Reply{
		"220 ready\r\n": {220, "ready", 0},
		"220 bare LF\n": {220, "bare LF", 0},
		"220\r\n":       {220, "", 0},
		"220 \r\n":      {220, "", 0},
		"250-one\r\n two\r\n250-three\r\n250 four\r\n": {250, "one\n two\nthree\nfour", 0},
		"250-one\r\n226 two\r\n250 three\r\n":          {250, "one\n226 two\nthree", 0},
		"250-one\r\n\r\n250\r\n":                       {250, "one\n\n", 0},
		"250-\r\n250x\r\n250 y\r\n":                    {250, "\n250x\ny", 0},
		"257 \"/\xff\"\r\n":                            {257, "\"/\xff\"", 0},
		"215\tlist\r\n":                                {215, "list", 0},
		"150 caf\xe9\r\n":                              {150, "caf\xe9", 0},
	} {
		if got, err := parseReply(in); err != nil || got != want {
			t.Errorf("%q: %v %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{
		"", "2", "220 no end", "250-one\r\n", "hello\r\n", "020 x\r\n", "620 x\r\n", "22a x\r\n", "220x\r\n", "\r\n",
		"220 a\x00b\r\n", "250-one\r\nt\x00wo\r\n250 x\r\n", "220 " + strings.Repeat("x", 200) + "\r\n",
		strings.Repeat("220-x\r\n", 1001) + "220 x\r\n", "220-" + strings.Repeat("xxxxxxxxx\r\n", 200) + "220 x\r\n",
	} {
		got, err := parseReply(in)
		kind := fetch.KindOf(err)
		if err == nil || kind != fetch.ErrProtocol && kind != fetch.ErrConnectionFailed {
			t.Errorf("%.40q: %v %v", in, got, err)
		}
	}
}

// TestTelnet tests that Telnet commands are skipped where they precede a reply code, if that is
// allowed, and nowhere else: names in replies have an octet FF, too.
func TestTelnet(t *testing.T) {
	for in, want := range map[string]Reply{
		"\xff\xfc\x01200 ok\r\n":                                        {200, "ok", 0},
		"\xff\xfe\x00\xff\xfb\x01\xff\xf1550 none\r\n":                  {550, "none", 0},
		"\xff\xfd\x03200\r\n":                                           {200, "", 0},
		"250-one\r\n\xff\xfc\x01two\r\n\xff\xf1\r\n\xff\xf1250 end\r\n": {250, "one\n\xff\xfc\x01two\n\xff\xf1\nend", 0},
		"257 \"/\xff\xf1\xff\xff\xff\xfc\x01\"\r\n":                     {257, "\"/\xff\xf1\xff\xff\xff\xfc\x01\"", 0},
	} {
		for _, allowed := range []bool{false, true} {
			c, skipped := converse(in, 200, 2000, nil), false
			if allowed {
				c.Telnet = func() { skipped = true }
			}
			got, err := c.Reply()
			switch first := in[0] == 0xFF; {
			case first && !allowed:
				if fetch.KindOf(err) != fetch.ErrProtocol {
					t.Errorf("%q, not allowed: %v %v", in, got, err)
				}
			case first || allowed:
				if err != nil || got != want || skipped != (want.Code != 257) {
					t.Errorf("%q: %v %v, want %v", in, got, err, want)
				}
			}
		}
	}
	for _, in := range []string{"\xff\xff200 ok\r\n", "\xff200 ok\r\n", "\xff\xfc\x01", "\xff\xfc\x01hello\r\n", "\xff\xfc200 ok\r\n", "\xff\xfc\r\n"} {
		c := converse(in, 200, 2000, nil)
		c.Telnet = func() { t.Errorf("%q: skipped", in) }
		if got, err := c.Reply(); err == nil {
			t.Errorf("%q: %v", in, got)
		}
	}
}

// TestHTTPReply tests that an answer of HTTP is named as such.
func TestHTTPReply(t *testing.T) {
	for _, in := range []string{"HTTP/1.1 400 Bad Request\r\nServer: x\r\n", "HTTP/1.0 408 Request Timeout\r\n"} {
		if _, err := parseReply(in); fetch.KindOf(err) != fetch.ErrProtocol || !strings.Contains(err.Error(), "the server speaks HTTP, not FTP") {
			t.Errorf("%q: %v", in, err)
		}
	}
}

// TestLineReply tests that LineReply rejects a reply of several lines.
func TestLineReply(t *testing.T) {
	c := converse("200 one\r\n200-two\r\n200 two\r\n", 200, 2000, nil)
	if r, err := c.LineReply(); err != nil || r != (Reply{200, "one", 0}) {
		t.Errorf("%v %v", r, err)
	}
	if r, err := c.LineReply(); fetch.KindOf(err) != fetch.ErrProtocol || c.Err != err {
		t.Errorf("%v %v", r, err)
	}
}

func FuzzReply(f *testing.F) {
	for _, s := range []string{"220 ready\r\n", "250-a\r\nb\r\n250 c\r\n", "227 ) (\r\n", "257 \"\r\n", "220-\r\n", "\xff\xf6220 x\r\n", "230 logged\x00 in\r\n", "text\r\n220-a\r\n150 b\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		shown := 0
		r, err := converse(in, 100, 1000, func(b []byte) { shown += len(b) }).Reply()
		c := converse(in, 100, 1000, nil)
		c.Lenient = true
		if lenient, err2 := c.Reply(); err == nil && (lenient != r || err2 != nil) || err2 == nil && (lenient.Code < 100 || lenient.Code > 599) {
			t.Errorf("%q: %+v %v, lenient %+v %v", in, r, err, lenient, err2)
		}
		if err != nil {
			if k := fetch.KindOf(err); k != fetch.ErrProtocol && k != fetch.ErrConnectionFailed {
				t.Errorf("%q: %v", in, err)
			}
			return
		}
		if r.Code < 100 || r.Code > 599 || len(r.Text) > shown || shown > 1000 || strings.ContainsRune(r.Text, 0) {
			t.Errorf("%q: %+v, %d bytes shown", in, r, shown)
		}
		if again, err := parseReply(in); err != nil || again != r {
			t.Errorf("%q: %+v, %+v %v", in, r, again, err)
		}
	})
}
