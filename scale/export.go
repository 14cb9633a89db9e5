package scale

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fetch1738/fetch1738/archive/cdx"
)

// IndexFile is the name of the index that Export writes.
const IndexFile = "index.cdxj"

// Exported counts what Export has written.
type Exported struct {
	Files  int   `json:"files"`  // WARC files in the folder
	Copied int   `json:"copied"` // those that were not there before
	Octets int64 `json:"octets"` // of all files
	Lines  int   `json:"lines"`  // of the index
}

// Export copies the WARC files of all slices that were committed into a folder, with an index of all
// of them. Files that the folder has already are not copied again. The units may be being crawled.
func Export(ctx context.Context, e Engine, s Store, dir string) (Exported, error) {
	x := &export{ctx: ctx, store: s, dir: dir}
	defer x.index.Close()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return x.done, err
	}
	for unit, err := range e.Units(ctx) {
		if err != nil {
			return x.done, err
		}
		for _, slice := range unit.State.Slices {
			for i := range slice.Files {
				if err := x.file(fileName(unit.Name, slice.Fence, i)); err != nil {
					return x.done, err
				}
			}
		}
	}
	name := filepath.Join(dir, IndexFile)
	err := replaceFile(name, func(w io.Writer) error {
		_, err := x.index.WriteTo(w)
		return err
	})
	return x.done, err
}

type export struct {
	ctx   context.Context
	store Store
	dir   string
	index cdx.Sorter
	done  Exported
}

// file copies a WARC file, and adds its index.
func (x *export) file(name string) error {
	path := filepath.Join(x.dir, name+warcSuffix)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		x.done.Copied++
		if err = x.copy("warc/"+name+warcSuffix, path); err == nil {
			info, err = os.Stat(path)
		}
	}
	if err != nil {
		return err
	}
	x.done.Files++
	x.done.Octets += info.Size()
	r, err := x.store.Get(x.ctx, "warc/"+name+indexSuffix)
	if err != nil {
		return err
	}
	defer r.Close()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := x.index.Add(lines.Bytes()); err != nil {
			return err
		}
		x.done.Lines++
	}
	return lines.Err()
}

func (x *export) copy(name, path string) error {
	r, err := x.store.Get(x.ctx, name)
	if err != nil {
		return err
	}
	defer r.Close()
	return replaceFile(path, func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	})
}

// replaceFile writes a file at once: under its name it is whole.
func replaceFile(name string, write func(io.Writer) error) error {
	file, err := os.Create(name + ".new")
	if err != nil {
		return err
	}
	err = write(file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(name+".new"))
	}
	return os.Rename(name+".new", name)
}
