package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

func TestReadLine(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for _, in := range []string{"", "a", "a\n", "a\r\nb", "\n\n", long + "\n" + long, "a\x00b\r\r\n"} {
		for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in))} {
			lr := NewLineReader(r, 5001)
			var got []string
			for {
				line, err := lr.ReadLine()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatalf("%.20q: %v", in, err)
				}
				got = append(got, string(line))
			}
			if strings.Join(got, "") != in {
				t.Errorf("%.20q: got %.40q", in, got)
			}
			for i, line := range got {
				if n := strings.Count(line, "\n"); n != 1 && i < len(got)-1 {
					t.Errorf("%.20q: line %d holds %d line ends", in, i, n)
				}
			}
		}
	}
}

func TestReadLineBound(t *testing.T) {
	for _, tc := range []struct {
		length, max int
		want        error
	}{{9, 10, nil}, {10, 10, nil}, {11, 10, ErrLineTooLong}, {10000, 4096, ErrLineTooLong}, {1 << 20, 0, nil}} {
		lr := NewLineReader(strings.NewReader(strings.Repeat("x", tc.length-1)+"\nnext\n"), tc.max)
		line, err := lr.ReadLine()
		if err != tc.want || (err == nil && len(line) != tc.length) {
			t.Errorf("%d bytes, limit %d: %d bytes, %v", tc.length, tc.max, len(line), err)
		}
		if tc.want != nil {
			if _, err := lr.ReadLine(); err != tc.want {
				t.Errorf("a line after a refused one was read: %v", err)
			}
		}
	}
}

func TestTrimEOL(t *testing.T) {
	for in, want := range map[string]string{"a\r\n": "a", "a\n": "a", "a": "a", "a\r": "a\r", "\r\n": "", "a\r\r\n": "a\r"} {
		if got := string(TrimEOL([]byte(in))); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestConnTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer b.Close()
		c := NewConn(t.Context(), a, time.Minute)
		defer c.Close()
		start := time.Now()
		_, err := c.Read(make([]byte, 1))
		if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("read: %v after %v", err, time.Since(start))
		}
		c.SetTimeout(time.Second)
		if _, err := c.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Minute+time.Second {
			t.Errorf("write: %v after %v", err, time.Since(start))
		}
	})
}

func TestConnContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer b.Close()
		ctx, cancel := context.WithCancel(t.Context())
		c := NewConn(ctx, a, time.Minute)
		defer c.Close()
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		if _, err := c.Read(make([]byte, 1)); err != context.Canceled || time.Since(start) != time.Second {
			t.Errorf("read: %v after %v", err, time.Since(start))
		}
		if _, err := c.Write([]byte("x")); err != context.Canceled {
			t.Errorf("write after cancel: %v", err)
		}
		c.SetContext(t.Context())
		go b.Write([]byte("x"))
		if n, err := c.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("read under a new context: %d, %v", n, err)
		}
	})
}

// TestReadable tests Readable with a socket, also after one byte was read.
func TestReadable(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("on Windows Readable cannot examine a socket and returns false")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if Readable(c) {
		t.Error("readable before anything was sent")
	}
	if _, err := server.Write([]byte("ab")); err != nil {
		t.Fatal(err)
	}
	one := make([]byte, 1)
	for _, left := range []bool{true, false} {
		if _, err := io.ReadFull(c, one); err != nil || Readable(c) != left {
			t.Errorf("after %q: readable %t, %v", one, !left, err)
		}
	}
}
