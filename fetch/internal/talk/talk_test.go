package talk

import (
	"bufio"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// TestHangUp tests that the end of the server is awaited, up to a limit, also on a connection of
// which one direction cannot be closed alone.
func TestHangUp(t *testing.T) {
	for name, tc := range map[string]struct{ closes, want time.Duration }{
		"a server that closes": {time.Second, time.Second},
		"a server that hangs":  {time.Minute, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := net.Pipe()
				got := make(chan string, 1)
				go func() {
					line, _ := bufio.NewReader(server).ReadString('\n')
					got <- line
					time.Sleep(tc.closes)
					server.Close()
				}()
				start := time.Now()
				New(t.Context(), client, "FTP", 1<<10, fetch.Limits{}, driver.ContextTrace(t.Context())).HangUp(2 * time.Second)
				if took := time.Since(start); took != tc.want {
					t.Errorf("took %v, want %v", took, tc.want)
				}
				if line := <-got; line != "QUIT\r\n" {
					t.Errorf("sent %q", line)
				}
				time.Sleep(time.Until(start.Add(tc.closes)))
				synctest.Wait()
			})
		})
	}
}
