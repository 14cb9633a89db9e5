package ftptest_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

// TestFTPOnePortCrowd has six clients use the one port at once, at random times that are shorter
// than the server's: a connection is on its way for less than 20 ms. Then no transfer that a client
// takes for complete may be wrong, not even by an empty document. With real clients on a busy
// machine, that cannot be tested (TestFTPOnePortCrowd in interop).
func TestFTPOnePortCrowd(t *testing.T) {
	for seed := range uint64(4) {
		testclient.InBubble(t, fmt.Sprint(seed), func(t *testing.T) {
			srv := ftptest.New(t, inMemory, func(s *ftptest.Server) { s.OnePort = true })
			var wg sync.WaitGroup
			var mu sync.Mutex
			var right, failed int
			for n := range 6 {
				c := &believer{srv, rand.New(rand.NewPCG(seed, uint64(n)))}
				wg.Go(func() {
					for transfer := range 40 {
						time.Sleep(time.Duration(c.random.Int64N(int64(time.Second))))
						name := fmt.Sprintf("up%d-%d", n, transfer)
						got, err := c.transfer(name, transfer%3 == 0)
						mu.Lock()
						if transfer%3 == 0 && err == nil {
							got = string(srv.Uploads()[name])
						}
						switch {
						case err != nil:
							failed++
						case got != motd:
							t.Errorf("client %d, transfer %d: %q", n, transfer, got)
						default:
							right++
						}
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			t.Logf("%d right, %d failed", right, failed)
			if right == 0 || failed == 0 {
				t.Errorf("%d right, %d failed", right, failed)
			}
		})
	}
}

// A believer is a client that believes the last reply alone: a data connection that was reset looks
// like the end of the document, as it does behind some forwarders.
type believer struct {
	srv    *ftptest.Server
	random *rand.Rand
}

func (c *believer) dial() (net.Conn, error) {
	time.Sleep(time.Duration(c.random.Int64N(int64(20 * time.Millisecond))))
	return c.srv.Dial(context.Background(), "tcp", c.srv.Addr)
}

// transfer stores motd as a file, or retrieves motd.txt, with a session of its own.
func (c *believer) transfer(name string, upload bool) (got string, err error) {
	nc, err := c.dial()
	if err != nil {
		return "", err
	}
	control := textproto.NewConn(nc)
	defer control.Close()
	ask := func(line string, code int) {
		if err == nil && line != "" {
			err = control.PrintfLine("%s", line)
		}
		if err == nil {
			_, _, err = control.ReadResponse(code)
		}
	}
	for _, line := range strings.Split(" 220,USER ftp 331,PASS x 230,TYPE I 200,EPSV 229", ",") {
		var code int
		at := strings.LastIndex(line, " ")
		fmt.Sscan(line[at:], &code)
		ask(line[:at], code)
	}
	var data net.Conn
	open := func() {
		if err == nil && data == nil {
			data, err = c.dial()
		}
	}
	if c.random.IntN(2) == 0 {
		open()
	}
	command := "RETR motd.txt"
	if upload {
		command = "STOR " + name
	}
	ask(command, 150)
	open()
	if data != nil {
		defer data.Close()
	}
	if err != nil {
		return "", err
	}
	if upload {
		_, _ = io.WriteString(data, motd)
		_ = data.Close()
	} else {
		octets, _ := io.ReadAll(data)
		got = string(octets)
	}
	ask("", 226)
	return got, err
}
