package warc

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/internal/disk"
)

// A Mark is where the records of a Writer for a folder end.
type Mark struct {
	// File is the base name of its last file, without OpenSuffix.
	File string `json:"file"`
	// Size is the length of the records in the file in octets; 0 if there is only a warcinfo
	// record.
	Size int64 `json:"size"`
}

// Sync writes the records of the file that is open to the disk, so that they are there even after
// the system has crashed, and returns where they end. After the end of the process they are there
// without it. In a folder it begins the first file, which Close removes if it gets no record.
func (w *Writer) Sync() (Mark, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.name == "" {
		if err := w.next(); err != nil {
			return Mark{}, err
		}
	}
	m := Mark{File: filepath.Base(w.name), Size: w.size}
	if w.size == w.bare {
		m.Size = 0
	}
	if w.file == nil {
		return m, nil
	}
	return m, w.file.Sync()
}

// Rewind removes the records that another Writer for the folder, whose process has ended, has
// written after a Mark. A file in which a third Writer has written since then is left as it is. It
// is an error if a process is writing to the file now.
func (w *Writer) Rewind(m Mark) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	folder, err := w.o.disk.OpenFile(w.dir, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	names, err := folder.Readdirnames(-1)
	for i, name := range names {
		names[i] = strings.TrimSuffix(name, OpenSuffix)
	}
	slices.Sort(names)
	if slices.Contains(names, m.File) {
		err = errors.Join(err, w.shorten(m.File, m.Size))
		for _, name := range after(m.File, names) {
			err = errors.Join(err, w.shorten(name, 0))
		}
	}
	return errors.Join(err, folder.Close())
}

var numbered = regexp.MustCompile(`^(.+)-\d{14}-(\d{5,})-(\d+\.warc(?:\.gz)?)$`)

// after returns the files that the Writer of a file has begun after it. The names are sorted.
// Another process with the same number has begun with the serial 1.
func after(file string, names []string) (list []string) {
	before := numbered.FindStringSubmatch(file)
	for _, name := range names {
		at := numbered.FindStringSubmatch(name)
		if before == nil || at == nil || name <= file || at[1] != before[1] || at[3] != before[3] {
			continue
		}
		serial, errA := strconv.Atoi(at[2])
		last, errB := strconv.Atoi(before[2])
		if errA != nil || errB != nil || serial != last+1 {
			break
		}
		list, before = append(list, name), at
	}
	return list
}

// shorten cuts a file to a size.
func (w *Writer) shorten(base string, size int64) error {
	name := filepath.Join(w.dir, base)
	file, err := lock(w.o.disk, name, true)
	if err != nil {
		return err
	}
	mine, err := written(file, size)
	if mine {
		err = file.Truncate(size)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	return release(w.o.disk, file, name)
}

// written reports whether whole records follow an offset, all of them by one Writer, which begins
// with a warcinfo record.
func written(file *disk.Locked, offset int64) (bool, error) {
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return false, err
	}
	r := NewReader(file)
	for n := 0; ; n++ {
		rec, err := r.Next()
		if _, damaged := errors.AsType[*Fault](err); damaged {
			return false, nil
		}
		switch {
		case err == io.EOF:
			return n > 0, nil
		case err != nil:
			return false, err
		case rec.Type() == Info && (n > 0 || offset > 0):
			return false, nil
		}
	}
}
