package interop

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/dev/interop/ftpservers"
)

// TestStoredNames stores files under names that some servers change. A server that has no file of
// the name then is not believed, and one that has it is.
func TestStoredNames(t *testing.T) {
	t.Parallel()
	for _, kind := range ftpservers.Kinds() {
		if kind.Name == "testserver" {
			continue
		}
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			d := ofDaemon(t, kind.Name)
			options := []string{"-sS", "--ftp-create-dirs", "-T", "-"}
			if kind.Name == "nodeftpd" {
				options = append(options, "--no-pipelining") // each command would find that out in two seconds
			}
			for _, name := range append(slices.Clone(unholdable), "ordinary", "d trail /again", "new/sub/x") {
				if strings.Contains(name, "\n") {
					continue // no command can have it
				}
				path := strings.ReplaceAll(url.PathEscape(name), "%2F", "/")
				cmd := exec.CommandContext(patience(t), buildCommand(t), append(options, d.url+path)...)
				cmd.Stdin = strings.NewReader("stored as " + name)
				said, err := cmd.CombinedOutput()
				data, missing := os.ReadFile(filepath.Join(string(d.server.(diskSite)), name))
				if stored := missing == nil && string(data) == "stored as "+name; stored != (err == nil) {
					t.Errorf("%q: stored %v, %v\n%s", name, stored, err, said)
				}
			}
		})
	}
}
