package http

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// toFile copies a body to a new file and returns the file's content.
func toFile(t *testing.T, body io.Reader) (string, error) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "copy"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = io.Copy(f, body)
	got, failed := os.ReadFile(f.Name())
	if failed != nil {
		t.Fatal(failed)
	}
	return string(got), err
}

// toMemory reads a body.
func toMemory(_ *testing.T, body io.Reader) (string, error) {
	got, err := io.ReadAll(body)
	return string(got), err
}

// big is a document whose parts all differ.
var big = func() string {
	var b strings.Builder
	for i := 0; b.Len() < 4<<20; i++ {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}()

// TestToFile copies bodies from sockets to files. What arrives, what is reported and how a transfer
// fails is the same as with Read.
func TestToFile(t *testing.T) {
	const tag = `ETag: "a"`
	half := len(big) / 2
	start := func(n int, fields ...string) string {
		return strings.TrimSuffix(document(big, fields...), big[n:])
	}
	from := half - overlap
	claims := fmt.Sprintf("Content-Range: bytes %d-%d/%d", from, len(big)-1, len(big))
	rest := status("206 Partial Content", big[from:], tag, claims)
	fromStart := status("206 Partial Content", big[:len(big)-from], tag, claims)
	unsized := func(v *received) string { // closes after the rest, and resets the connection before
		answer := regexp.MustCompile("Content-Length: [0-9]+\r\n").ReplaceAllString(ranger(big, tag)(v), "")
		if v.n == 1 {
			return answer[:half] + reset
		}
		return answer + cut
	}
	inTurn := func(answers ...string) server { return func(v *received) string { return answers[v.n-1] } }
	silent := func(n int) server {
		return func(v *received) string {
			_, _ = io.WriteString(v.out, start(n))
			_, _ = io.ReadAll(v.rest) // until the client closes the connection
			return cut
		}
	}
	for name, tc := range map[string]struct {
		server         server
		offset, length int64
		want           string
		kind           fetch.ErrorKind // if want is not all that was requested
		requests       int
	}{
		"whole":                 {server: says(document(big)), want: big},
		"small":                 {server: says(document(alphabet)), want: alphabet},
		"a part":                {server: ranger(big), offset: 5, length: int64(half), want: big[5 : 5+half]},
		"a part without ranges": {server: says(document(big)), offset: 5, length: int64(half), want: big[5 : 5+half]},
		"the end":               {server: ranger(big), offset: -int64(half), want: big[len(big)-half:]},
		"length unknown":        {server: says("HTTP/1.1 200 OK\r\n\r\n" + big + cut), want: big},
		"length unknown, reset": {server: says("HTTP/1.1 200 OK\r\n\r\n" + big[:half] + reset), want: big[:half], kind: fetch.ErrTruncated},
		"chunked":               {server: says(fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(big), big)), want: big},
		"too much":              {server: says(document(big) + document(big) + cut), want: big},
		"cut":                   {server: says(start(half) + cut), want: big[:half], kind: fetch.ErrTruncated},
		"reset":                 {server: says(start(half) + reset), want: big[:half], kind: fetch.ErrTruncated},
		"resumed":               {server: inTurn(start(half, tag)+cut, rest), want: big, requests: 2},
		"resumed, and cut":      {server: inTurn(start(half, tag)+cut, strings.TrimSuffix(rest, big[3*half/2:])+cut, cut, cut), want: big[:3*half/2], kind: fetch.ErrTruncated, requests: 3},
		"from the start":        {server: inTurn(start(half, tag)+cut, fromStart), want: big[:half], kind: fetch.ErrTruncated, requests: 2},
		"resumed, no length":    {server: unsized, want: big, requests: 2},
		"silent":                {server: silent(half), want: big[:half], kind: fetch.ErrTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			messages := make(map[bool]string)
			try := func(file bool, idle time.Duration) (inTime bool) {
				w := newNetwork(t, map[string]server{"a.example:80": tc.server})
				w.sockets = true
				f := w.fetcher(func(f *Fetcher) {
					f.Retries = 0
					if tc.kind == fetch.ErrTimeout {
						f.Env.Limits.Idle = idle
					}
				})
				var reported int
				ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Body: func(n int64) { reported += int(n) }})
				res, err := f.Fetch(ctx, &fetch.Request{Locator: parse(t, "http://a.example/"), Offset: tc.offset, Length: tc.length})
				if tc.kind == fetch.ErrTimeout && fetch.KindOf(err) == fetch.ErrTimeout {
					return false
				}
				if err != nil {
					t.Fatal(err)
				}
				defer res.Close()
				copy := toMemory
				if file {
					copy = toFile
				}
				got, err := copy(t, res.Body)
				if !strings.HasPrefix(tc.want, got) || (err == nil) != (tc.kind == fetch.ErrOther) || err == nil && len(got) != len(tc.want) || fetch.KindOf(err) != tc.kind {
					t.Errorf("file %t: %d bytes of %d, %v", file, len(got), len(tc.want), err)
				}
				if skipped := reported - len(got); skipped != 0 && skipped != int(tc.offset) {
					t.Errorf("file %t: %d bytes, %d were reported", file, len(got), reported)
				}
				if n := len(w.heads("")); n != max(1, tc.requests) {
					t.Errorf("file %t: %d requests", file, n)
				}
				messages[file] = regexp.MustCompile(`[0-9]+`).ReplaceAllString(fmt.Sprint(err), "N")
				return true
			}
			for _, file := range []bool{false, true} {
				for idle := 100 * time.Millisecond; !try(file, idle); idle *= 2 { // a slow computer needs more
				}
			}
			if messages[true] != messages[false] {
				t.Errorf("to a file:   %s\nto a buffer: %s", messages[true], messages[false])
			}
		})
	}
}

// TestSmallDocument checks that a document of 4 KiB that arrives with its head is written in one
// piece.
func TestSmallDocument(t *testing.T) {
	w := newNetwork(t, map[string]server{"a.example:80": says(document(big[:4096]))})
	f := w.fetcher()
	for range 2 { // the second body comes over the same connection
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, "http://a.example/")})
		if err != nil {
			t.Fatal(err)
		}
		var pieces pieces
		if _, err := io.Copy(&pieces, res.Body); err != nil || len(pieces) != 1 || pieces[0] != big[:4096] {
			t.Errorf("%d pieces, %v", len(pieces), err)
		}
		res.Close()
	}
}

// pieces are what was written, by Write.
type pieces []string

func (p *pieces) Write(octets []byte) (int, error) {
	*p = append(*p, string(octets))
	return len(octets), nil
}

// TestMoves checks that the kernel of Linux moves the bytes to a regular file.
func TestMoves(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux moves bytes from a socket to a file")
	}
	w := newNetwork(t, map[string]server{"a.example:80": says(document(big))})
	w.sockets = true
	f := w.fetcher()
	for range 2 { // the second body comes over the same connection
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, "http://a.example/")})
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.Create(filepath.Join(t.TempDir(), "copy"))
		if err != nil {
			t.Fatal(err)
		}
		through := make([]byte, moveMax)
		n, err := res.Body.(*body).moveTo(file, through)
		if err != nil || n != int64(len(big)) || len(bytes.Trim(through, "\x00")) > 16<<10 {
			t.Errorf("copied %d bytes, %v; %d passed through the program", n, err, len(bytes.Trim(through, "\x00")))
		}
		res.Close()
		file.Close()
	}
}

// TestFileFails copies to a file that cannot be written: the error is that of the file, and the rest
// is not requested.
func TestFileFails(t *testing.T) {
	w := newNetwork(t, map[string]server{"a.example:80": says(document(big, `ETag: "a"`))})
	w.sockets = true
	res, err := w.fetcher(func(f *Fetcher) { f.Retries = 3 }).Fetch(t.Context(), &fetch.Request{Locator: parse(t, "http://a.example/")})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var ofFile *os.PathError
	var known *fetch.Error
	if _, err := io.Copy(file, res.Body); !errors.As(err, &ofFile) || errors.As(err, &known) {
		t.Errorf("%v", err)
	}
	if n := len(w.heads("")); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// TestMoveEnds ends a copy to a file, by its context and by Close, while the server is silent.
func TestMoveEnds(t *testing.T) {
	for _, byClose := range []bool{false, true} {
		w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
			_, _ = io.WriteString(v.out, strings.TrimSuffix(document(big), big[1<<20:]))
			_, _ = io.ReadAll(v.rest) // until the client closes the connection
			return cut
		}})
		w.sockets = true
		reported, waits := 0, make(chan bool)
		ctx, cancel := context.WithCancel(fetch.WithTrace(t.Context(), &fetch.Trace{Body: func(n int64) {
			if reported += int(n); reported == 1<<20 {
				close(waits)
			}
		}}))
		defer cancel()
		res, err := w.fetcher().Fetch(ctx, &fetch.Request{Locator: parse(t, "http://a.example/")})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() {
			_, err := toFile(t, res.Body)
			ended <- err
		}()
		<-waits
		if byClose {
			res.Close()
		} else {
			cancel()
		}
		if err := <-ended; err == nil || !byClose && !errors.Is(err, fetch.ErrCanceled) {
			t.Errorf("by Close %t: %v", byClose, err)
		}
		res.Close()
	}
}

// TestMoveCanceled cancels a copy to a file while bytes are moved: the error is not that of the file.
func TestMoveCanceled(t *testing.T) {
	chunk := strings.Repeat("x", 1<<20)
	w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
		_, err := fmt.Fprintf(v.out, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", int64(1)<<40)
		for err == nil {
			_, err = io.WriteString(v.out, chunk)
		}
		return cut
	}})
	w.sockets = true
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for n := range 100 {
		left := int64(n+1) << 18
		ctx, cancel := context.WithCancel(t.Context())
		ctx = fetch.WithTrace(ctx, &fetch.Trace{Body: func(n int64) {
			if left -= n; left <= 0 {
				go cancel() // while the next bytes are moved
			}
		}})
		res, err := w.fetcher().Fetch(ctx, &fetch.Request{Locator: parse(t, "http://a.example/")})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = file.Seek(0, io.SeekStart)
		if _, err := io.Copy(file, res.Body); fetch.KindOf(err) != fetch.ErrCanceled {
			t.Errorf("%d: %v", n, err)
		}
		res.Close()
		cancel()
	}
}
