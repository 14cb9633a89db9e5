package deploy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
)

// A file is a file of Dir, or a link that is copied. Its path on the server is that in Dir, unless
// ServerName says otherwise.
type file struct {
	path     string // on the server
	local    string // in Dir
	size     int64
	modified time.Time
	mode     fs.FileMode
	link     string // the target, if a link is copied
	data     []byte // the content of a file that is not in Dir: the remote state
	sum      string // SHA256 in hexadecimal; empty until it is known
	isNew    bool   // the server does not have it
	tried    bool
	part     string // the name under which it is complete on the server, until it is renamed
	direct   bool   // it is stored under its name, because the server has not renamed its part
	placed   bool   // it has its name there
	timed    bool   // the server has set its time
	failed   bool
}

func (f *file) dir() string { return path.Dir(f.path) }

// spot returns where a file goes; see [pool.Refusals].
func (f *file) spot() pool.Spot { return pool.Spot{Dir: f.dir(), IsNew: f.isNew} }

// unchanged fails if an open file has another size or time than the walk has found.
func (f *file) unchanged(src disk.File) error {
	info, err := src.Stat()
	if err == nil && (info.Size() != f.size || !info.ModTime().Equal(f.modified)) {
		err = errors.New("the file has changed during the run")
	}
	return err
}

// components returns the parts of a path below Dir. "." has none.
func components(name string) []string {
	if name == "." || name == "" {
		return nil
	}
	return strings.Split(name, "/")
}

// A folder is Dir, from which files are read.
type folder struct{ disk.Folder }

// content is what is sent of a file.
type content interface {
	io.ReadSeeker
	io.ReaderAt
}

// small is the size in bytes up to which a file is read once, into memory.
const small = 1 << 20

// open opens a file for reading. It fails if the file is no longer what the walk has found.
func (d folder) open(f *file) (disk.File, error) {
	src, err := d.OpenFile(f.local, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	if err := f.unchanged(src); err != nil {
		src.Close()
		return nil, err
	}
	return src, nil
}

// sum sets f.sum.
func (d folder) sum(f *file) error {
	if f.sum != "" {
		return nil
	}
	src, err := d.open(f)
	if err != nil {
		return err
	}
	defer src.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, src); err != nil {
		return err
	}
	if err := f.unchanged(src); err != nil {
		return err
	}
	f.sum = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// content opens a file to send, and computes its checksum. A small file is read at once, so that
// what is sent is what the checksum is of.
func (d folder) content(f *file) (io.Closer, content, error) {
	if f.data != nil {
		return io.NopCloser(nil), bytes.NewReader(f.data), nil
	}
	src, err := d.open(f)
	if err != nil {
		return nil, nil, err
	}
	if f.size > small {
		if err = d.sum(f); err == nil {
			return src, src, nil
		}
	} else if data, failed := io.ReadAll(io.LimitReader(src, f.size+1)); failed == nil {
		if err = f.unchanged(src); err == nil {
			sum := sha256.Sum256(data)
			f.sum = hex.EncodeToString(sum[:])
			return src, bytes.NewReader(data), nil
		}
	} else {
		err = failed
	}
	src.Close()
	return nil, nil, err
}
