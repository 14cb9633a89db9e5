package http

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// TestHostileAnswers is cases 156, 158, 159 and similar ones: invalid answers.
func TestHostileAnswers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	endless := func(start, line string) server {
		return func(v *received) string {
			io.WriteString(v.out, start)
			for range 1 << 16 {
				if _, err := io.WriteString(v.out, line); err != nil {
					break
				}
			}
			return cut
		}
	}
	interim := func(n int) string { return strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", n) }
	for name, tc := range map[string]struct {
		s     server
		kinds []fetch.ErrorKind
	}{
		"endless header":         {endless(ok, "X-A: b\r\n"), []fetch.ErrorKind{fetch.ErrTooLarge}},
		"cut in a name":          {says(ok + strings.Repeat("X-"+strings.Repeat("a", 1000)+": b\r\n", 300) + "\r\n"), []fetch.ErrorKind{fetch.ErrTooLarge}},
		"endless line":           {endless(ok, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"), []fetch.ErrorKind{fetch.ErrTooLarge}},
		"endless cookies":        {endless(ok, "Set-Cookie: "+strings.Repeat("a=b; ", 500)+"\r\n"), []fetch.ErrorKind{fetch.ErrTooLarge}},
		"line":                   {says("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 16<<10) + "\r\nContent-Length: 0\r\n\r\n"), []fetch.ErrorKind{fetch.ErrTooLarge}},
		"endless 1xx":            {endless("", "HTTP/1.1 100 Continue\r\n\r\n"), []fetch.ErrorKind{fetch.ErrTooLarge}},
		"negative chunk":         {says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n0\r\n\r\n"), []fetch.ErrorKind{fetch.ErrProtocol}},
		"huge chunk":             {says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nx" + cut), []fetch.ErrorKind{fetch.ErrTruncated}},
		"overflowing chunk":      {says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000001\r\nx" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"chunk of words":         {says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nx\r\n0\r\n\r\n"), []fetch.ErrorKind{fetch.ErrProtocol}},
		"cut chunk":              {says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc" + cut), []fetch.ErrorKind{fetch.ErrTruncated}},
		"no last chunk":          {says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n" + cut), []fetch.ErrorKind{fetch.ErrTruncated}},
		"cut length":             {says("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc" + cut), []fetch.ErrorKind{fetch.ErrTruncated}},
		"negative length":        {says("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"two lengths":            {says("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"two lengths in a list":  {says("HTTP/1.1 200 OK\r\nContent-Length: 3, 4\r\n\r\nabc" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"empty length in a list": {says("HTTP/1.1 200 OK\r\nContent-Length: 3,\r\n\r\nabc" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"list with a zero":       {says("HTTP/1.1 200 OK\r\nContent-Length: 0, 00, 3\r\n\r\nabc" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"negative list":          {says("HTTP/1.1 200 OK\r\nContent-Length: -3, -3\r\n\r\nabc" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"chunked, gzip":          {says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"gzip, chunked":          {says("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, identity, chunked\r\n\r\n0\r\n\r\n" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"chunks of HTTP/1.0":     {says("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"other transfer coding":  {says("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"not HTTP":               {says("220 ftp.example FTP server ready\r\n\r\n" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"no status":              {says("HTTP/1.1 \r\n\r\n" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"status of four digits":  {says("HTTP/1.1 2000 OK\r\n\r\n" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"length without a colon": {says("HTTP/1.1 200 OK\r\nContent-Length 3\r\n\r\nabc" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"another status line":    {says("HTTP/1.1 200 OK\r\nHTTP/1.1 404 Not Found\r\n\r\n" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"NUL in a field":         {says("HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 0\r\n\r\n"), []fetch.ErrorKind{fetch.ErrProtocol}},
		"nothing":                {says(cut), []fetch.ErrorKind{fetch.ErrConnectionFailed}},
		"half a head":            {says("HTTP/1.1 200 OK\r\nConte" + cut), []fetch.ErrorKind{fetch.ErrConnectionFailed}},
		"switching protocols":    {says("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nabc" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"101 without an upgrade": {says("HTTP/1.1 101 Switching Protocols\r\n\r\nabc" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
	} {
		w := newNetwork(t, map[string]server{"a.example:80": tc.s})
		for _, opt := range []*Options{nil, {AnyStatus: true}} {
			body, _, err := get(t, w.fetcher(), "http://a.example/", opt)
			if err == nil || !slices.Contains(tc.kinds, fetch.KindOf(err)) {
				t.Errorf("%s: %.100q, %v (%v)", name, body, err, fetch.KindOf(err))
			}
			if err != nil && len(err.Error()) > 600 {
				t.Errorf("%s: the error message has %d bytes", name, len(err.Error()))
			}
		}
	}
	w := newNetwork(t, map[string]server{"a.example:80": says(interim(1000) + document("x"))})
	if body, res, err := get(t, w.fetcher(), "http://a.example/", nil); err != nil || body != "x" || !strings.HasPrefix(string(res.Info.(*Info).Head), "HTTP/1.1 200 OK") {
		t.Errorf("a thousand 1xx: %.100q, %v", body, err)
	}
}

// TestPlainFraming has heads that net/http refuses, but that have one meaning only, in one piece and
// byte by byte. The head that callers see is not changed, and the connection is not used again.
func TestPlainFraming(t *testing.T) {
	const five, chunks = "hello", "5\r\nhello\r\n0\r\nX: y\r\n\r\n"
	long := "X: " + strings.Repeat("x", 15<<10) + "\r\n"
	for name, tc := range map[string]struct {
		fields, body string
		reused       bool
	}{
		"usual":                     {"Content-Length: 5\r\n", five, true},
		"usual chunks":              {"Transfer-Encoding: Chunked\r\n", chunks, true},
		"long head":                 {long + long + "Content-Length: 5\r\n" + long, five, true},
		"list of lengths":           {"Content-Length: 5, 5\r\n", five, false},
		"list of three":             {"content-length:5 ,5,\t5\r\nConnection: keep-alive\r\n", five, false},
		"list with zeros":           {"Content-Length: 5,05,5\r\nContent-Length: 5,    5\r\n", five, false},
		"list and field":            {"Content-Length: 5\r\nX: y\r\nContent-Length: 5,5\r\n", five, false},
		"folded list":               {"Content-Length: 5,\r\n 5\r\nX: y\r\n", five, false},
		"long head, list":           {long + "Content-Length: 5, 5\r\n" + long, five, false},
		"equal fields":              {"Content-Length: 5\r\nContent-Length: 5\r\n", five, false},
		"bare LF":                   {"X: y\nContent-Length: 5, 5\nY: z\n", five, false},
		"identity":                  {"Transfer-Encoding: identity\r\nContent-Length: 5\r\n", five, false},
		"identity, until the end":   {"Transfer-Encoding: Identity\r\n", five + cut, false},
		"no coding":                 {"Transfer-Encoding:\r\nContent-Length: 5\r\n", five, false},
		"identity, chunked":         {"Transfer-Encoding: identity, chunked\r\n", chunks, false},
		"chunked and identity":      {"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", chunks, false},
		"chunked twice":             {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", chunks, false},
		"chunked twice in a field":  {"Transfer-Encoding: chunked, CHUNKED\r\n", chunks, false},
		"chunked twice, and length": {"Transfer-Encoding: chunked, chunked\r\nContent-Length: 9, 9\r\n", chunks, false},
	} {
		for _, piece := range []int{1 << 20, 1} {
			w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
				early := "HTTP/1.1 103 Early Hints\r\n" + tc.fields + "\r\n"
				all := early + "HTTP/1.1 200 OK\r\n" + tc.fields + "\r\n" + tc.body
				for ; len(all) > len(tc.body) && len(all) > piece; all = all[piece:] {
					io.WriteString(v.out, all[:piece])
				}
				return all
			}})
			f := w.fetcher()
			for range 2 {
				body, res, err := get(t, f, "http://a.example/", nil)
				if err != nil || body != five {
					t.Fatalf("%s, pieces of %d: %q, %v", name, piece, body, err)
				}
				if head := string(res.Info.(*Info).Head); head != "HTTP/1.1 200 OK\r\n"+tc.fields+"\r\n" {
					t.Errorf("%s, pieces of %d: the head is %q", name, piece, head)
				}
			}
			if reused := len(w.dials) == 1; reused != tc.reused {
				t.Errorf("%s, pieces of %d: %d connections for 2 requests", name, piece, len(w.dials))
			}
		}
	}
}

// TestExtraOctets checks that data after the end of an answer is not taken for the next answer.
func TestExtraOctets(t *testing.T) {
	poison := document("poison")
	for name, answer := range map[string]string{
		"counted":    document("good") + poison,
		"empty":      document("") + poison,
		"no content": "HTTP/1.1 204 No Content\r\n\r\n" + poison,
		"chunked":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n0\r\n\r\n" + poison,
		"trailer":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n0\r\nX: y\r\n\r\n" + poison,
		"one octet":  document("good") + "\n",
	} {
		w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
			if strings.Contains(v.head, "/bad") {
				return answer
			}
			return document("next")
		}})
		f := w.fetcher()
		for range 20 {
			if body, _, err := get(t, f, "http://a.example/bad", nil); err != nil || body != "good" && body != "" {
				t.Fatalf("%s: %.100q, %v", name, body, err)
			}
			if body, _, err := get(t, f, "http://a.example/", nil); err != nil || body != "next" {
				t.Fatalf("%s: then %.100q, %v", name, body, err)
			}
		}
	}
}
