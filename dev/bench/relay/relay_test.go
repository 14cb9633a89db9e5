package relay_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/dev/bench/relay"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

const delay = 10 * time.Millisecond

// TestRelay fetches a file through relays. It must be complete, and not arrive sooner than over a
// line.
func TestRelay(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 64<<10) // 1 MiB
	srv := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"f": &fstest.MapFile{Data: content}}
	})
	for _, test := range []struct {
		name, passive string
		line          relay.Line
		least         int // round trips before 226 arrives
	}{
		{"EPSV", "EPSV", relay.Line{}, 8},
		{"PASV", "PASV", relay.Line{}, 8},
		{"linger", "EPSV", relay.Line{Linger: true}, 9},
		{"rate", "EPSV", relay.Line{Rate: 10 << 20}, 7 + 5}, // 226 arrives during the data
	} {
		t.Run(test.name, func(t *testing.T) {
			test.line.Delay, test.line.FTP = delay, true
			r, err := relay.Start(test.line, "127.0.0.1:0", srv.Addr)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			start := time.Now()
			c, lines := dial(t, r.Addr())
			ask := func(command, code string) string {
				t.Helper()
				io.WriteString(c, command)
				line, err := lines.ReadString('\n')
				if err != nil || line[:3] != code {
					t.Fatalf("%q: %q, %v", command, line, err)
				}
				return line
			}
			ask("", "220") // after 2 round trips
			ask("USER ftp\r\n", "331")
			ask("PASS a@b\r\n", "230")
			ask("TYPE I\r\n", "200")
			var port, high, low int
			if test.passive == "EPSV" {
				fmt.Sscanf(ask("EPSV\r\n", "229"), "229 Entering Extended Passive Mode (|||%d|)", &port)
			} else {
				fmt.Sscanf(ask("PASV\r\n", "227"), "227 Entering Passive Mode (127,0,0,1,%d,%d)", &high, &low)
				port = high<<8 | low
			}
			_, data := dial(t, fmt.Sprint("127.0.0.1:", port))
			ask("RETR f\r\n", "150")
			if got, err := io.ReadAll(data); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			ask("", "226")
			if took := time.Since(start) / (2 * delay); int(took) < test.least {
				t.Errorf("%d round trips, less than %d", took, test.least)
			}
		})
	}
}

func dial(t *testing.T, addr string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, bufio.NewReader(c)
}
