//go:build unix

package ftptest_test

import (
	"io"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/traffic"
)

// TestUrgentABOR sends ABOR as Python's ftplib does, with an urgent line end, and as the clients of
// BSD do, with an urgent byte among the Telnet commands before it.
func TestUrgentABOR(t *testing.T) {
	for name, parts := range map[string][2]string{
		"ftplib": {"ABOR\r\n", ""},
		"BSD":    {"\xff\xf4\xff", "\xf2ABOR\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c := testclient.LoginFTP(t, ftptest.New(t, func(s *ftptest.Server) { s.Recorder = traffic.NewRecorder(io.Discard) }))
			raw, err := c.Conn.(*net.TCPConn).SyscallConn()
			if err != nil {
				t.Fatal(err)
			}
			var sent error
			err = raw.Write(func(fd uintptr) bool {
				_, sent = syscall.SendmsgN(int(fd), []byte(parts[0]), nil, nil, syscall.MSG_OOB)
				return true
			})
			if err != nil || sent != nil {
				t.Fatal(err, sent)
			}
			if _, err := c.Write([]byte(parts[1])); err != nil {
				t.Fatal(err)
			}
			if got := c.Reply(); !strings.HasPrefix(got, "226") {
				t.Errorf("ABOR: %q", got)
			}
		})
	}
}
