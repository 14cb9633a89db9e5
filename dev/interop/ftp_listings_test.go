package interop

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/fetch1738/fetch1738/dev/interop/ftpservers"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/mirror"
)

// TestHiddenFiles mirrors a tree with files whose names begin with a dot from each server, some of
// which list them only by LIST -a, and one that has a file "-a".
func TestHiddenFiles(t *testing.T) {
	t.Parallel()
	for _, kind := range ftpservers.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			for _, first := range []string{"z", "-a"} {
				if first == "-a" && kind.Name == "goftp" {
					continue // it refuses RETR -a
				}
				root := filepath.Join(serverDir(t), "root")
				for _, dir := range []string{"", ".well-known", "sub/deep", "empty"} {
					makeDir(t, filepath.Join(root, dir), 0o755)
				}
				want := make(map[string]string)
				for _, name := range []string{first, ".htaccess", ".well-known/a", "sub/.hidden", "sub/deep/.only"} {
					writeFile(t, filepath.Join(root, name), name)
					want[name] = name
				}
				srv := kind.Start(t, &ftpservers.Server{Root: root})
				c := newCopier(t, "ftp://"+ftpservers.User+":"+ftpservers.Password+"@"+srv.Addr+"/")
				ftpservers.Own(t, root)
				c.Connections, c.Delete = 1, true
				for range 2 {
					got, err := c.Run(t.Context())
					if err != nil || got.New+got.Unchanged != len(want) || got.Gone != 0 {
						t.Errorf("%s: %+v %v", first, got, err)
					}
				}
				for name := range want {
					if b, err := os.ReadFile(filepath.Join(c.Dir, name)); string(b) != name || err != nil {
						t.Errorf("%q %v", b, err)
					}
				}
			}
		})
	}
}

// TestUnreadableDirectory mirrors a tree with a directory that the servers can enter, but not read.
// vsftpd says so only in the text of its last reply.
func TestUnreadableDirectory(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can create a directory that the servers cannot read")
	}
	for _, name := range []string{"vsftpd", "pure-ftpd"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(serverDir(t), "root")
			makeDir(t, filepath.Join(root, "secret"), 0o755)
			writeFile(t, filepath.Join(root, "open"), "open\n")
			writeFile(t, filepath.Join(root, "secret/g"), "secret\n")
			srv := ftpservers.Named(t, name).Start(t, &ftpservers.Server{Root: root})
			c := newCopier(t, "ftp://"+srv.Addr+"/")
			c.run(t, mirror.Summary{New: 2}, "RETR", 2)
			if err := os.Chmod(filepath.Join(root, "secret"), 0o711); err != nil {
				t.Fatal(err)
			}
			c.Delete = true
			got, err := c.Run(t.Context())
			if got.Failed != 1 || got.Gone != 0 || got.Unchanged != 1 || !errors.Is(err, fetch.ErrPermission) && name == "vsftpd" || err == nil {
				t.Errorf("%+v %v", got, err)
			}
			sameFolder(t, root, c.Dir, asItIs)
		})
	}
}
