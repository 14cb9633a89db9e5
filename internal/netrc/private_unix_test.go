//go:build unix

package netrc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of another user is refused, even for root. Only root can create one.
func TestReadRefusesAnothersFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "netrc")
	if err := os.WriteFile(path, []byte("machine h login u password secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	me := os.Geteuid()
	if !ownedBy(info, me) || ownedBy(info, me+1) {
		t.Error("the owner is not distinguished from other users")
	}
	if me != 0 {
		t.Skip("only root can give a file to another user")
	}
	if err := os.Chown(path, 65534, -1); err != nil {
		t.Skip("a container may have no other user:", err)
	}
	file, _, err := Read(path)
	if err == nil || !strings.Contains(err.Error(), "belongs to another user") || file != nil {
		t.Errorf("%v, %v", file, err)
	}
}
