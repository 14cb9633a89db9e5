package ftpservers_test

import (
	"bufio"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/dev/interop/ftpservers"
)

// TestGreetings tests that each server starts and shows its usual greeting, which the client goes
// by.
func TestGreetings(t *testing.T) {
	for _, kind := range ftpservers.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			if err := os.WriteFile(filepath.Join(root, "x.txt"), []byte("top\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			srv := kind.Start(t, &ftpservers.Server{Root: root})
			conn, err := net.Dial("tcp", srv.Addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			line, err := bufio.NewReader(conn).ReadString('\n')
			if err != nil || !strings.Contains(line, kind.Greeting) {
				t.Errorf("the greeting is %q, want %q in it: %v", line, kind.Greeting, err)
			}
		})
	}
}
