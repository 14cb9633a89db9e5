package exchange

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/textproto"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/fetch"
)

// FuzzPlainFraming checks that a head is changed only where net/http refuses it, or where one of the
// two fields is repeated, and that it then has the same other fields.
func FuzzPlainFraming(f *testing.F) {
	for _, fields := range []string{
		"Content-Length: 5, 5\r\nX: y\r\n", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "X: y\r\n Content-Length: 5,5\r\n", "Transfer-Encoding:\r\n identity\r\nA: b\n",
		"Content-Length: 5, 6\r\n", "Content-Length : 5, 5\r\n", "abc\r\nContent-Length: 5,5\r\n", "Transfer-Encoding: gzip, chunked\r\n", "Content-Length: 1\r\rX: 2, 2\n",
	} {
		f.Add(fields)
	}
	f.Fuzz(func(t *testing.T, fields string) {
		octets := []byte("HTTP/1.1 200 OK\r\n" + fields + "\r\n\r\n")
		limits := fetch.Limits{}.WithDefaults()
		n, ended, err := (&head{limits: &limits}).take(octets)
		if err != nil || !ended {
			return
		}
		octets = octets[:n]
		plain := plainFraming(octets)
		if bytes.Equal(octets, plain) {
			return
		}
		if n, ended, _ := (&head{limits: &limits}).take(plain); n != len(plain) || !ended {
			t.Fatalf("%q becomes %q, of which %d bytes are the head", octets, plain, n)
		}
		got, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(plain)), nil)
		if err != nil {
			return
		}
		if !got.Close || len(got.TransferEncoding) > 1 || got.ContentLength > 0 && len(got.TransferEncoding) > 0 {
			t.Errorf("%q becomes %q: %+v", octets, plain, got)
		}
		// The same fields, by another parser.
		want, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(bytes.TrimPrefix(octets, []byte("HTTP/1.1 200 OK\r\n"))))).ReadMIMEHeader()
		if err != nil {
			t.Fatalf("%q becomes %q, but %v", octets, plain, err)
		}
		for _, name := range []string{"Content-Length", "Transfer-Encoding", "Connection", "Trailer"} { // net/http removes them
			delete(want, name)
			delete(got.Header, name)
		}
		if diff := cmp.Diff(http.Header(want), got.Header); diff != "" {
			t.Errorf("%q becomes %q:\n%s", octets, plain, diff)
		}
	})
}

// TestPlainLines checks which lines of a head are left out or changed, and which heads stay as they are.
func TestPlainLines(t *testing.T) {
	const status, end = "HTTP/1.1 200 OK\r\n", "Connection: close\r\n\r\n"
	for fields, want := range map[string]string{
		"A: b\r\nbad line\r\nC: d\r\n":           status + "A: b\r\nC: d\r\n" + end,
		"A: b\r\nbad line\r\n goes on\r\n":       status + "A: b\r\n" + end,
		"A: b\r\n goes on\r\n":                   "",
		"A: b\x01\r\n c: d\r\nE: f\r\n":          status + "E: f\r\n" + end,
		"  A: b\r\nC: d\r\n":                     status + "C: d\r\n" + end,
		status + "A: b\r\n":                      status + "A: b\r\n" + end,
		"A : b\r\nC\t :d\r\n":                    status + "A: b\r\nC:d\r\n" + end,
		"Content-Length : 5\r\n e\r\n":           status + "Content-Length: 5\r\n e\r\n" + end,
		"A: b\nbad line\n":                       status + "A: b\n" + end,
		"HTTP/1.1 404 Not Found\r\nA: b\r\n":     "",
		"A: b\r\nContent-Length 5\r\n":           "",
		"A: b\r\nTransfer-Encoding\r\n: x\r\n":   "",
		"A: b\x00\r\nbad line\r\n":               "",
		"":                                       "",
		"Content-Length: 1\r\n 2\x01\r\n":        "",
		"Transfer-Encoding:\r\n chunked\x01\r\n": "",
		"Content-Encoding: gzip\x01\r\n":         "",
		"Content-Encoding gzip\r\n":              "",
		"Location: /a\x01\r\n":                   "",
		" HTTP/1.1 404 Not Found\r\nA: b\r\n":    "",
		"http/1.1 404 Not Found\r\nA: b\r\n":     "",
		"A: b\rbad line\r\n":                     "",
	} {
		head := status + fields + "\r\n"
		got := string(plainLines([]byte(head)))
		if want == "" {
			want = head
		}
		if got != want {
			t.Errorf("%q becomes %q instead of %q", head, got, want)
		}
	}
}

// FuzzFraming checks that a response has the same body as for net/http, and ends at the same byte.
func FuzzFraming(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcmore",
		"HTTP/1.1 200 OK\nContent-Length: 1\n\nab",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\n\r\nmore",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n00000000000000003\r\nabc\r\n0\r\nA: b\r\n\r\nmore",
		"HTTP/1.1 210 OK\r\nTransfer-Encoding: chunked\r\n\r\n00000000000000003\r\nabc\r\n003\r\n0\r\nA: b\r\n\r\nmore",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", "HTTP/1.0 200 OK\r\n\r\nabc", "HTTP/1.1 204 No\r\n\r\nabc", "HTTP/1.1 304 No\r\nContent-Length: 5\r\n\r\nabc",
		"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1 \r\na\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\na\nb\n0\nA: b\n\nmore",
	} {
		f.Add([]byte(s), uint8(1))
		f.Add([]byte(s), uint8(200))
	}
	f.Fuzz(func(t *testing.T, octets []byte, step uint8) {
		r := &http.Request{Method: "GET"}
		theirs := bufio.NewReader(bytes.NewReader(octets))
		want, err := http.ReadResponse(theirs, r)
		if err != nil {
			return
		}
		limits, trailer := fetch.Limits{}.WithDefaults(), false
		h, ours := head{limits: &limits}, bufio.NewReader(inPieces{bytes.NewReader(octets), int(step) + 1})
		if h.read(ours) != nil || !bytes.Equal(plainLines(h.octets), h.octets) {
			return // net/http knows no length in a field whose name ends in a space
		}
		got, err := h.parse(r, false)
		if err != nil {
			return
		}
		body, _ := bodyOf(ours, got, func([]byte) { trailer = true })
		wantBody, wantErr := io.ReadAll(want.Body)
		gotBody, gotErr := io.ReadAll(body)
		lines := octets[len(h.octets):]
		if trailer || bytes.Count(lines, []byte("\n")) != bytes.Count(lines, []byte("\r\n")) {
			return // net/http refuses some trailers, and lines that end in LF alone
		}
		if !bytes.Equal(gotBody, wantBody) || (gotErr == nil) != (wantErr == nil) {
			t.Errorf("%q: %q, %v; net/http has %q, %v", octets, gotBody, gotErr, wantBody, wantErr)
		}
		if wantErr != nil {
			return
		}
		wantLeft, _ := io.ReadAll(theirs)
		gotLeft, _ := io.ReadAll(ours)
		if !bytes.Equal(gotLeft, wantLeft) {
			t.Errorf("%q: %q is left, net/http leaves %q", octets, gotLeft, wantLeft)
		}
	})
}

// inPieces reads a few bytes at a time.
type inPieces struct {
	io.Reader
	most int
}

func (r inPieces) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), r.most)]) }
