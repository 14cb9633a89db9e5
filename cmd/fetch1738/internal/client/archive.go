package client

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/version"
)

// An Archive is where what servers send is recorded. A nil one records nothing.
type Archive struct {
	recorder archive.Recorder
	name     string
}

// OpenArchive opens what --warc names, or returns nil. The caller must close it. What the files have
// already is not written again, but referred to.
func OpenArchive(a plan.Archive) (*Archive, error) {
	if a.Path == "" {
		return nil, nil
	}
	o := &Archive{name: a.Path}
	options := warc.Options{Version: a.Version, MaxSize: a.MaxSize, Software: "fetch1738/" + version.String()}
	create, files := warc.CreateFile, []string{a.Path, a.Path + warc.OpenSuffix}
	if a.Folder {
		create = warc.Create
		files, _ = filepath.Glob(filepath.Join(a.Path, "*.warc*")) // an error means a bad pattern
	}
	if a.Crawl {
		o.recorder.NoRevisits, files = true, nil
		options.Fields = warc.Header{{Name: "robots", Value: "obey"}}
	}
	err := o.know(files)
	if err == nil {
		o.recorder.Writer, err = create(a.Path, options)
	}
	if err != nil {
		return nil, o.failed(err)
	}
	return o, nil
}

// know reads earlier files, if they exist.
func (o *Archive) know(files []string) error {
	for _, name := range files {
		switch file, err := os.Open(name); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		default:
			o.recorder.Know(file)
			file.Close()
		}
	}
	return nil
}

// failed returns the error of the archive.
func (o *Archive) failed(err error) error {
	if err == nil {
		return nil
	}
	return localerr.Errorf(localerr.Write, "the archive %s (--warc): %w", o.name, err)
}

// Sync writes what was recorded so far to the disk, and returns where that ends.
func (o *Archive) Sync() (warc.Mark, error) {
	m, err := o.recorder.Writer.Sync()
	return m, o.failed(err)
}

// Rewind removes what another process, which has ended, has recorded after a Mark.
func (o *Archive) Rewind(m warc.Mark) error { return o.failed(o.recorder.Writer.Rewind(m)) }

// Close closes the files.
func (o *Archive) Close() error {
	if o == nil {
		return nil
	}
	return o.failed(o.recorder.Writer.Close())
}
