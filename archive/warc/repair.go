package warc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// repair repairs a file with OpenSuffix that a killed process has left: it cuts what follows the last
// whole record, and removes the suffix. It fails if another process is writing to the file, or if it
// is damaged before its end; then its content does not change.
func repair(d disk.Disk, open string) error {
	name := strings.TrimSuffix(open, OpenSuffix)
	file, err := lock(d, name, false)
	if err != nil {
		return err
	}
	if _, err := cut(file, name); err != nil {
		return errors.Join(err, file.Close())
	}
	return release(d, file, name)
}

// lock opens and locks the file that becomes name when it is closed. If it does not exist, a file
// with that name becomes it.
func lock(d disk.Disk, name string, create bool) (*disk.Locked, error) {
	open := name + OpenSuffix
	flag := os.O_RDWR | os.O_APPEND
	if create {
		flag |= os.O_CREATE
	}
	file, err := disk.Lock(func() (disk.File, error) {
		if _, err := d.Lstat(open); create && errors.Is(err, fs.ErrNotExist) {
			if err := d.Rename(name, open); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
		return d.OpenFile(open, flag, 0o666)
	}, func() (fs.FileInfo, error) { return d.Lstat(open) })
	if err != nil {
		return nil, err
	}
	if err := vacant(d, name); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// vacant fails if a file has a name that another one is to get.
func vacant(d disk.Disk, name string) error {
	switch _, err := d.Lstat(name); {
	case err == nil:
		return fmt.Errorf("both %s and %s%s exist; rename one of them", name, name, OpenSuffix)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

// release closes a file, and gives it its name. It removes an empty one.
func release(d disk.Disk, file *disk.Locked, name string) error {
	info, err := file.Stat()
	if err = errors.Join(err, file.Sync(), file.Verify(), vacant(d, name)); err == nil {
		err = file.Flush()
	}
	switch {
	case err != nil:
	case info.Size() == 0:
		err = d.Remove(name + OpenSuffix)
	default:
		err = disk.Rename(d, name+OpenSuffix, name, info)
	}
	return errors.Join(err, file.Close())
}

// cut cuts what follows the last whole record, and returns where that ends. It fails if records can
// be read behind that, or if the file is not a WARC file.
func cut(file *disk.Locked, name string) (int64, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	r := NewReader(file)
	var err error
	for err == nil {
		_, err = r.Next()
	}
	end := r.Whole()
	bad, ok := errors.AsType[*Defect](err)
	switch {
	case end > 0 && (r.zip != nil) != strings.HasSuffix(name, ".gz"):
		return 0, fmt.Errorf("%s was not changed: only a file with gzip has a name that ends in .gz", name)
	case err == io.EOF:
		return end, file.Truncate(end)
	case !ok:
		return 0, err
	}
	damaged := end == 0 && !errors.Is(bad, io.ErrUnexpectedEOF)
	for err = nil; err == nil && !damaged; {
		if _, err = r.resync(); err == nil {
			_, none := r.Next()
			damaged = none == nil
		}
	}
	switch {
	case damaged:
		return 0, fmt.Errorf("%s is damaged, or is not a WARC file, and was not changed: %w", file.Name(), bad)
	case err != io.EOF:
		return 0, err
	}
	return end, file.Truncate(end)
}
