package output

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// busy is a disk on which another process appends to each file before it is opened.
type busy struct{ disk.Disk }

func (d busy) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	other, err := d.Disk.OpenFile(name, os.O_WRONLY|os.O_APPEND, perm)
	if err != nil {
		return nil, err
	}
	defer other.Close()
	if _, err := other.Write(make([]byte, 100)); err != nil {
		return nil, err
	}
	return d.Disk.OpenFile(name, flag, perm)
}

// TestExistingGrows has the bytes before the offset found that was asked for, although the file
// has grown: with others, -C would say that the document has changed, not that another process
// writes to the file.
func TestExistingGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	document := bytes.Repeat([]byte("0123456"), 1000)
	if err := os.WriteFile(path, document, 0o600); err != nil {
		t.Fatal(err)
	}
	s := &Sink{Path: path, existing: existing{append: true}, disk: busy{disk.System()}}
	if got, err := Existing(s, int64(len(document))); err != nil || len(got) == 0 || !bytes.HasSuffix(document, got) {
		t.Errorf("%d bytes, which are not the last of the document; %v", len(got), err)
	}
}
