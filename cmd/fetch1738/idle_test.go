package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/exit"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// silent is a network whose servers send a text, of FTP at once and else after a request, and then
// nothing.
func silent(text string) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			if !strings.HasPrefix(text, "220 ") {
				_, _ = server.Read(make([]byte, 1))
			}
			go io.Copy(io.Discard, server)
			if text != "" {
				_, _ = io.WriteString(server, text)
			}
		}()
		return client, nil
	}
}

// --idle-timeout is the limit of every silence of a server, and the message names it.
func TestIdleTimeout(t *testing.T) {
	const (
		idle    = " (--idle-timeout SECONDS changes that)"
		connect = " (--connect-timeout SECONDS changes that)"
	)
	for _, tc := range []struct {
		said string
		args string
		took time.Duration
		want string
	}{
		{"", "http://127.0.0.1/x", 2 * time.Minute, "GET http://127.0.0.1/x: timed out after 120s: no response" + idle},
		{"", "--idle-timeout 7 http://127.0.0.1/x", 7 * time.Second, "GET http://127.0.0.1/x: timed out after 7s: no response" + idle},
		{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", "--idle-timeout 7 http://127.0.0.1/x", 7 * time.Second, "GET http://127.0.0.1/x: timed out after 7s: no data" + idle},
		{"hello", "--idle-timeout .5 gopher://127.0.0.1/0x", time.Second / 2, "read gopher://127.0.0.1/0x: timed out after 0.5s: no data" + idle},
		{"", "--idle-timeout 7 ftp://127.0.0.1/x", 7 * time.Second, "connect ftp://127.0.0.1/x: timed out after 7s: no greeting" + idle},
		{"", "--idle-timeout 7 --connect-timeout 5 ftp://127.0.0.1/x", 5 * time.Second, "connect ftp://127.0.0.1/x: timed out after 5s: no greeting" + connect},
		{"220 ready\r\n", "--idle-timeout 30 ftp://127.0.0.1/x", 30 * time.Second, "USER ftp://127.0.0.1/x: timed out after 30s: no reply" + idle},
		{"", "--idle-timeout 0 -m 1000 http://127.0.0.1/x", 1000 * time.Second, "GET http://127.0.0.1/x: timed out after 1000s (--max-time)"},
		{"", "ls --idle-timeout 7 ftp://127.0.0.1/", 7 * time.Second, "connect ftp://127.0.0.1/: timed out after 7s: no greeting" + idle},
		{"", "mirror --idle-timeout 7 --dry-run ftp://127.0.0.1/ copy", 7 * time.Second, "connect ftp://127.0.0.1/: timed out after 7s: no greeting" + idle},
		{"", "search --idle-timeout 7 gopher://127.0.0.1/7/x word", 7 * time.Second, "read gopher://127.0.0.1/7/x: timed out after 7s: no data" + idle},
	} {
		t.Run(tc.args, func(t *testing.T) {
			t.Chdir(t.TempDir())
			synctest.Test(t, func(t *testing.T) {
				args, start := strings.Fields(tc.args), time.Now()
				if verbNamed(args) == nil {
					args = append([]string{"-q"}, args...)
				}
				var out, errs bytes.Buffer
				code := run(t.Context(), args, stdio.Streams{In: strings.NewReader(""), Out: &out, Err: &errs, Dial: silent(tc.said)})
				if took := time.Since(start); code != exit.Timeout || took != tc.took {
					t.Errorf("code %d after %v, want %d after %v", code, took, exit.Timeout, tc.took)
				}
				if line, _, _ := strings.Cut(errs.String(), "\n"); line != "fetch1738: (28) "+tc.want {
					t.Errorf("%q, want %q", line, tc.want)
				}
			})
		})
	}
}
