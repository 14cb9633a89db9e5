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

	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// A Mark is where the records of a Writer for a folder end.
type Mark struct {
	// File is the base name of its last file, without OpenSuffix.
	File string `json:"file"`
	// Size is the length of the records in the file in octets; 0 if there is only a warcinfo
	// record.
	Size int64 `json:"size"`
}

// Sync writes the records to the disk, so that they are there even after the system has crashed, and
// returns where they end. After the end of the process they are there without it. In a folder it
// begins the first file, which Close removes if it gets no record.
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
	if w.file != nil {
		if err := w.file.Sync(); err != nil {
			return m, err
		}
	}
	if w.named != w.name { // the sync of a file need not keep its name
		disk.SyncNames(w.o.disk, filepath.Dir(w.name))
		w.named = w.name
	}
	return m, nil
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
	if slices.Contains(names, m.File) {
		err = errors.Join(err, w.shorten(m.File, m.Size))
		for _, name := range after(m.File, names) {
			err = errors.Join(err, w.shorten(name, 0))
		}
	}
	return errors.Join(err, folder.Close())
}

// numbered matches the name of a file in a folder: prefix, serial, and the number of its Writer.
var numbered = regexp.MustCompile(`^(.+)-\d{14}-(\d{5,})-(\d+)\.warc(?:\.gz)?$`)

// after returns the files that the Writer of a file has begun after it.
func after(file string, names []string) (list []string) {
	of := numbered.FindStringSubmatch(file)
	if of == nil {
		return nil
	}
	last, _ := strconv.Atoi(of[2])
	for _, name := range names {
		at := numbered.FindStringSubmatch(name)
		if at == nil || at[1] != of[1] || at[3] != of[3] {
			continue
		}
		if serial, err := strconv.Atoi(at[2]); err == nil && serial > last {
			list = append(list, name)
		}
	}
	return list
}

// vacantNumber returns a number that no file with a prefix has: that of this process, or one above
// it. In a container each process may have the same number as the one before it.
func vacantNumber(prefix string, names []string) int {
	taken := make(map[string]bool)
	for _, name := range names {
		if at := numbered.FindStringSubmatch(strings.TrimSuffix(name, OpenSuffix)); at != nil && at[1] == prefix {
			taken[at[3]] = true
		}
	}
	number := os.Getpid()
	for taken[strconv.Itoa(number)] {
		number++
	}
	return number
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
		if _, damaged := errors.AsType[*Defect](err); damaged {
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
