package http

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// TestHostileAnswers is cases 156, 158, 159 and similar ones: invalid answers.
func TestHostileAnswers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	endless := func(start, line string) server {
		return func(v *visit) string {
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
		"endless 1xx":            {endless("", "HTTP/1.1 100 Continue\r\n\r\n"), []fetch.ErrorKind{fetch.ErrProtocol}},
		"six 1xx":                {says(interim(6) + document("x")), []fetch.ErrorKind{fetch.ErrProtocol}},
		"negative chunk":         {says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n0\r\n\r\n"), []fetch.ErrorKind{fetch.ErrProtocol}},
		"huge chunk":             {says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nx" + cut), []fetch.ErrorKind{fetch.ErrTruncated}},
		"overflowing chunk":      {says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000001\r\nx" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"chunk of words":         {says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nx\r\n0\r\n\r\n"), []fetch.ErrorKind{fetch.ErrProtocol}},
		"cut chunk":              {says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc" + cut), []fetch.ErrorKind{fetch.ErrTruncated}},
		"no last chunk":          {says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n" + cut), []fetch.ErrorKind{fetch.ErrTruncated}},
		"cut length":             {says("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc" + cut), []fetch.ErrorKind{fetch.ErrTruncated}},
		"negative length":        {says("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"two lengths":            {says("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"other transfer coding":  {says("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"not HTTP":               {says("220 ftp.example FTP server ready\r\n\r\n" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"no status":              {says("HTTP/1.1 \r\n\r\n" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"status of four digits":  {says("HTTP/1.1 2000 OK\r\n\r\n" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
		"field without a colon":  {says("HTTP/1.1 200 OK\r\nabc\r\n\r\n" + cut), []fetch.ErrorKind{fetch.ErrProtocol}},
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
	w := newNetwork(t, map[string]server{"a.example:80": says(interim(5) + document("x"))})
	if body, res, err := get(t, w.fetcher(), "http://a.example/", nil); err != nil || body != "x" || !strings.HasPrefix(string(res.Info.(*Info).Head), "HTTP/1.1 200 OK") {
		t.Errorf("five 1xx: %.100q, %v", body, err)
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
		w := newNetwork(t, map[string]server{"a.example:80": func(v *visit) string {
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

// FuzzFraming checks that framing finds the same end of an answer as net/http: not earlier, and
// without a byte of what follows.
func FuzzFraming(f *testing.F) {
	for _, s := range []string{
		document("abc") + "more",
		"HTTP/1.1 200 OK\nContent-Length: 1\n\nab",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\n\r\nmore",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n00000000000000003\r\nabc\r\n0\r\nA: b\r\n\r\nmore",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", "HTTP/1.0 200 OK\r\n\r\nabc", "HTTP/1.1 204 No\r\n\r\nabc", "HTTP/1.1 304 No\r\nContent-Length: 5\r\n\r\nabc",
		"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1 \r\na\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\na\nb\n0\nA: b\n\nmore",
	} {
		f.Add([]byte(s), uint8(1))
		f.Add([]byte(s), uint8(200))
	}
	f.Fuzz(func(t *testing.T, octets []byte, step uint8) {
		limits := fetch.Limits{}.WithDefaults()
		var fr framing
		n, ended, err := fr.head(octets, &limits)
		if err != nil || !ended {
			return
		}
		if again, _, _ := new(framing).head(octets[:n], &limits); again != n {
			t.Fatalf("%d bytes, then %d", n, again)
		}
		src := bytes.NewReader(octets)
		resp, err := http.ReadResponse(bufio.NewReader(src), &http.Request{Method: "GET"})
		if err != nil {
			return
		}
		resp.Body.Close()
		// net/http, which reads the output of framing in pieces, sees the whole answer.
		body := bodyOf(resp)
		rest := octets[n:]
		let := append([]byte{}, octets[:n]...)
		for len(rest) > 0 {
			piece := rest[:min(len(rest), int(step)+1)]
			k := body.take(piece)
			let = append(let, piece[:k]...)
			rest = rest[k:]
			if k < len(piece) {
				break
			}
		}
		want, wantErr := readWhole(octets)
		got, gotErr := readWhole(let)
		if gotErr != nil && bytes.Count(octets[n:], []byte("\n")) != bytes.Count(octets[n:], []byte("\r\n")) {
			return // for an invalid line end (RFC 9112 §7.1), the two may find different ends of a trailer
		}
		if !bytes.Equal(got, want) || (gotErr == nil) != (wantErr == nil) {
			t.Errorf("of %q let through %q: %q, %v; want %q, %v", octets, let, got, gotErr, want, wantErr)
		}
		// And nothing after it: a second answer is held back.
		if wantErr != nil || resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 {
			return
		}
		br := bufio.NewReader(bytes.NewReader(let))
		resp, _ = http.ReadResponse(br, &http.Request{Method: "GET"})
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if left, _ := io.ReadAll(br); len(left) > 0 {
			t.Errorf("of %q let through %q, with %q behind the end", octets, let, left)
		}
	})
}

func readWhole(octets []byte) ([]byte, error) {
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(octets)), &http.Request{Method: "GET"})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return fmt.Appendf(nil, "%d %s", resp.StatusCode, body), err
}
