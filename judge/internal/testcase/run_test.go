package testcase

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// TestOneOfTheFaults tests a client that leaves after the first of several faults: the case has come up,
// although the server has had no opportunity for the others.
func TestOneOfTheFaults(t *testing.T) {
	for _, lines := range []int{0, 3, 4} {
		srv, err := ftptest.Start(t.Context(), "127.0.0.1:0", func(s *ftptest.Server) { s.Content = fstest.MapFS{"x": {}} })
		if err != nil {
			t.Fatal(err)
		}
		srv.On("RETR", 0, testserver.Octets("150 Now\r\n425 No\r\n"), ftptest.NoFinalReply(), testserver.Data("y"))
		run := &Run{Ctx: t.Context(), Servers: []*testserver.Server{&srv.Server}}
		conn, err := net.Dial("tcp", srv.Addr)
		if err != nil {
			t.Fatal(err)
		}
		replies := bufio.NewReader(conn)
		for _, line := range []string{"USER anonymous", "PASS x", "EPSV", "RETR x"}[:lines] {
			fmt.Fprint(conn, line+"\r\n")
		}
		for n := range lines + 1 {
			if line, err := replies.ReadString('\n'); err != nil {
				t.Errorf("reply %d: %q, %v", n, line, err)
			}
		}
		conn.Close()
		run.Settle()
		if came := run.Pending() == 0; came != (lines == 4) {
			t.Errorf("after %d commands: it has come up: %t", lines, came)
		}
		if err := srv.Close(); err == nil || !strings.Contains(err.Error(), "fault never used") {
			t.Errorf("after %d commands: %v", lines, err)
		}
	}
}
