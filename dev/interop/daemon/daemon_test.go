package daemon

import (
	"net"
	"os/exec"
	"sync"
	"testing"
)

// TestFreeAddr listens on free addresses while other processes are started. Its IP address is not that
// of the servers of other tests, which run at the same time.
func TestFreeAddr(t *testing.T) {
	var starting sync.WaitGroup
	defer starting.Wait()
	done := make(chan struct{})
	defer close(done)
	for range 4 {
		starting.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := exec.Command("true").Run(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 2000 {
		l, err := net.Listen("tcp", freeAddr(t, "127.17.38.1"))
		if err != nil {
			t.Error(err)
			continue
		}
		l.Close()
	}
}
