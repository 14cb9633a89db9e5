package naming

import (
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/file/filename"
)

// A strictFolder is a folder of a file system that cannot have every name.
type strictFolder struct{ disk.Folder }

func (f strictFolder) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	if strings.ContainsAny(name, "\":*?") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EINVAL}
	}
	return f.Folder.OpenFile(name, flag, perm)
}

// A file system that cannot have every name gets those that it can have. The manifest says so, and
// it stays so.
func TestPortable(t *testing.T) {
	root, err := disk.System().OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, wish := range []*filename.Keep{nil, new(filename.KeepAll)} {
		p := Place{Disk: disk.System(), Root: root, Inner: strictFolder{root}, Folder: ".f"}
		for range 2 {
			n := p.Choose(wish)
			if got := n.Path([]string{".htaccess", "a:b", "gr\xfcn"}); got != ".htaccess/a%3Ab/gr%FCn" {
				t.Errorf("%+v: %q", n, got)
			}
			p.Inner, p.Word, p.IsCopy = root, n.Word(), true
		}
	}
}

// The words of the manifest stand for the namings.
func TestWords(t *testing.T) {
	for _, word := range []string{"", "safe", "usual", "all", "safe portable", "usual portable"} {
		p := Place{Disk: disk.System(), IsCopy: true, Word: word}
		if got := p.Choose(nil).Word(); got != word {
			t.Errorf("%q is read as %q", word, got)
		}
	}
}
