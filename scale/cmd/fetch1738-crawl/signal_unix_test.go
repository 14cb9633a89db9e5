//go:build unix

package main

import (
	"errors"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// silent starts a server that never answers, and returns its URL. asked is closed when a client has
// connected.
func silent(t *testing.T) (url string, asked chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked = make(chan struct{})
	var accepting sync.WaitGroup
	accepting.Go(func() {
		var open []net.Conn
		for {
			conn, err := l.Accept()
			if err != nil {
				break
			}
			if open == nil {
				close(asked)
			}
			open = append(open, conn)
		}
		for _, conn := range open {
			conn.Close()
		}
	})
	t.Cleanup(func() { l.Close(); accepting.Wait() })
	return "gopher://" + l.Addr().String() + "/", asked
}

// A second signal stops a node that waits for a server.
func TestSecondSignal(t *testing.T) {
	c := newConsole(t)
	url, asked := silent(t)
	n := c.begin(fast("--dir", t.TempDir(), "--listen", "127.0.0.1:0", url)...)
	<-asked
	n.stop(errors.New("interrupt signal received"))
	n.until(func() bool { return strings.Contains(n.out.String(), "a second signal stops it at once") })
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	n.ends(exitTerminated, ": (143) node: stopped; what was not stored is fetched again")
}
