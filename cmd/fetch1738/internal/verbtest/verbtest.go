// Package verbtest runs a verb in its test.
package verbtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/cli"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// An Output is what a verb printed, and its exit code.
type Output struct {
	Code     int
	Out, Err string
}

// Run runs a verb to its end.
func Run(t testing.TB, c cli.Command, stdin string, args ...string) Output {
	t.Helper()
	var out, err bytes.Buffer
	code := c.Run(t.Context(), args, stdio.Streams{In: strings.NewReader(stdin), Out: &out, Err: &err})
	return Output{code, out.String(), err.String()}
}

// Running is a verb that runs until it is interrupted.
type Running struct {
	Lines []string   // the first lines of its standard output
	Log   Buffer     // its standard error
	Ended func() int // waits for its end, and returns its exit code
	Stop  func() int // interrupts it first
}

// Start runs a verb until the test ends, and waits for the first lines of its standard output, or for its
// end.
func Start(t testing.TB, c cli.Command, in io.Reader, lines int, args ...string) *Running {
	t.Helper()
	r := new(Running)
	ctx, interrupt := context.WithCancel(t.Context())
	shown, out := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- c.Run(ctx, args, stdio.Streams{In: in, Out: out, Err: &r.Log})
		out.Close()
	}()
	r.Ended = sync.OnceValue(func() int { return <-code })
	r.Stop = func() int { interrupt(); return r.Ended() }
	t.Cleanup(func() { r.Stop() })
	for text := bufio.NewScanner(shown); len(r.Lines) < lines && text.Scan(); {
		r.Lines = append(r.Lines, text.Text())
	}
	return r
}

// A Buffer keeps what several goroutines write.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns what has been written so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// A Counter counts the bytes that are written to it.
type Counter struct{ N int }

// Write implements io.Writer.
func (c *Counter) Write(p []byte) (int, error) {
	c.N += len(p)
	return len(p), nil
}

// HeapGrowth returns how much memory f makes the program take from the system.
func HeapGrowth(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.HeapSys) - int64(before.HeapSys)
}

// OneLine checks that text is one line of printable ASCII of at most 600 bytes.
func OneLine(t testing.TB, text string) {
	t.Helper()
	line, rest, ended := strings.Cut(text, "\n")
	if !ended || rest != "" || line == "" || len(line) > 600 || !Printable(line) {
		t.Errorf("not one readable line: %.700q", text)
	}
}

// OneJSONLine checks that text is JSON on one line of printable ASCII.
func OneJSONLine(t testing.TB, text string) {
	t.Helper()
	line, rest, ended := strings.Cut(text, "\n")
	if !ended || rest != "" || !Printable(line) || !json.Valid([]byte(line)) {
		t.Errorf("not one line of JSON: %.500q", text)
	}
}

// Printable reports whether s is ASCII without control characters.
func Printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// FreePort returns a port on which no program listens. It is below those that the system assigns by
// itself, so that no connection takes it.
func FreePort(t testing.TB) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(9000 + rand.IntN(1000))
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

// Converse sends text to the server of a URL and returns what the server sends until it closes the
// connection.
func Converse(t testing.TB, serverURL, text string) string {
	t.Helper()
	u, err := url.Parse(serverURL)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}
