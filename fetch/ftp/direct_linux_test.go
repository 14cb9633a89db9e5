package ftp

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/testserver"
)

// standardPipe returns a pipe in blocking mode, like one at standard output.
func standardPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	r, w = os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// TestDirect tests moves in the kernel to a pipe and to /dev/null. All bytes must be
// counted, and a truncated transfer must fail.
func TestDirect(t *testing.T) {
	srv := start(t)
	big := strings.Repeat("0123456789abcdef", 9<<16)
	if err := srv.Put("big", []byte(big)); err != nil {
		t.Fatal(err)
	}
	f := &Fetcher{}
	defer f.Close()
	for _, cut := range []bool{false, true} {
		for name, to := range map[string]func() (w io.Writer, got func() string){
			"discard": func() (io.Writer, func() string) { return io.Discard, nil },
			"null": func() (io.Writer, func() string) {
				null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { null.Close() })
				return null, nil
			},
			"pipe": func() (io.Writer, func() string) {
				r, w := standardPipe(t)
				all := make(chan string)
				go func() {
					got, _ := io.ReadAll(r)
					all <- string(got)
				}()
				return w, func() string { w.Close(); return <-all }
			},
		} {
			for _, part := range []struct{ offset, length int64 }{{0, 0}, {1 << 20, 0}, {0, 5 << 20}} {
				if cut {
					srv.On("DATA", 1, testserver.Truncate(3<<20))
				}
				var reported int64
				ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Body: func(n int64) { reported += n }})
				res, err := f.Fetch(ctx, &fetch.Request{Locator: parse(t, srv.URL+"/big"), Offset: part.offset, Length: part.length})
				if err != nil {
					t.Fatal(err)
				}
				w, got := to()
				if wire.DirectMove(res.Body.(*body).data.raw, w) == nil {
					t.Errorf("%s: DirectMove returns nil", name)
				}
				n, err := io.Copy(w, res.Body)
				res.Close()
				end := int64(len(big))
				if part.length > 0 {
					end = part.offset + part.length
				}
				if cut {
					if !errors.Is(err, fetch.ErrTruncated) || n > 3<<20 {
						t.Errorf("%s, truncated: %d bytes, %v", name, n, err)
					}
					end = part.offset + n
				} else if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if n != end-part.offset || reported != n {
					t.Errorf("%s, %d+%d: %d bytes, %d reported", name, part.offset, part.length, n, reported)
				}
				if got != nil && got() != big[part.offset:end] {
					t.Errorf("%s, %d+%d: wrong data", name, part.offset, part.length)
				}
			}
		}
	}
}

// TestBrokenPipe tests that a closed pipe is not reported as an error of the server.
func TestBrokenPipe(t *testing.T) {
	srv := start(t)
	if err := srv.Put("big", make([]byte, 8<<20)); err != nil {
		t.Fatal(err)
	}
	f := &Fetcher{}
	defer f.Close()
	res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/big")})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	r, w := standardPipe(t)
	r.Close()
	var known *fetch.Error
	if _, err := io.Copy(w, res.Body); !errors.Is(err, syscall.EPIPE) || errors.As(err, &known) {
		t.Errorf("%v", err)
	}
}
