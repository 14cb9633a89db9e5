package warc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Options are what a Writer writes. The zero value is WARC/1.1 with a gzip member for each record.
type Options struct {
	// Version is "1.1" or "1.0"; "" means "1.1".
	Version string
	// Plain means no gzip. CreateFile sets it by the suffix of the name.
	Plain bool
	// MaxSize is the size in octets after which a folder gets another file; 0 means 1 GB. A record
	// is never cut, so files may be larger.
	MaxSize int64
	// Prefix is what the names of files in a folder begin with; "" means "fetch1738".
	Prefix string
	// Software and Fields are for the warcinfo record: the program with its version, and further
	// lines, such as operator.
	Software string
	Fields   Header
	// Now returns the time for records without a date; nil means time.Now.
	Now func() time.Time
}

// OpenSuffix ends the name of a file that is being written. Close removes it.
const OpenSuffix = ".open"

// A Writer writes records to a file or to the files of a folder. Its methods are safe for
// concurrent use. The caller must close it.
type Writer struct {
	Options
	dir string // "" for a single file

	mu     sync.Mutex
	enc    encoder
	file   *os.File // nil between files
	name   string   // of file, without OpenSuffix
	size   int64
	serial int
	infoID string
	broken error // a record could be neither written nor removed
}

// Create returns a Writer for a folder, which is created if it does not exist. Its files are named
// PREFIX-TIME-SERIAL-PROCESS.warc.gz. What an earlier Writer has left open is repaired first: see
// [Repair].
func Create(dir string, o Options) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.warc*"+OpenSuffix))
	for _, name := range left {
		err = errors.Join(err, Repair(name))
	}
	if err != nil {
		return nil, err
	}
	return newWriter(dir, o), nil
}

// CreateFile returns a Writer for one file. If it exists, records are added at its end, after what
// an interrupted Writer may have left is repaired. The name ends in ".warc.gz" or ".warc".
func CreateFile(name string, o Options) (*Writer, error) {
	o.Plain = !strings.HasSuffix(name, ".gz")
	w := newWriter("", o)
	w.name = name
	switch err := os.Rename(name, name+OpenSuffix); {
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, err
	}
	return w, w.open()
}

func newWriter(dir string, o Options) *Writer {
	if o.Version == "" {
		o.Version = "1.1"
	}
	if o.MaxSize == 0 {
		o.MaxSize = 1_000_000_000
	}
	if o.Prefix == "" {
		o.Prefix = "fetch1738"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Writer{Options: o, dir: dir, enc: encoder{version: o.Version, plain: o.Plain}}
}

// Write writes records that belong together, to one file, in order. After an error none of them is
// in the file.
func (w *Writer) Write(drafts ...Draft) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dir != "" && (w.file == nil || w.size >= w.MaxSize) {
		if err := w.next(); err != nil {
			return err
		}
	}
	return w.append(drafts)
}

func (w *Writer) append(drafts []Draft) error {
	if w.broken != nil {
		return w.broken
	}
	counter := &counter{w: w.file}
	var err error
	for _, d := range drafts {
		h := d.complete(w.Version, w.infoID, w.Now())
		if err = h.check(); err == nil {
			err = w.enc.encode(counter, h, d.Block)
		}
		if err != nil {
			break
		}
	}
	if err == nil {
		w.size += counter.n
		return nil
	}
	cut := w.file.Truncate(w.size)
	if _, seek := w.file.Seek(w.size, io.SeekStart); cut != nil || seek != nil {
		w.broken = fmt.Errorf("%s ends in a half record: %w", w.file.Name(), errors.Join(cut, seek))
	}
	return errors.Join(err, w.broken)
}

// next begins another file of the folder.
func (w *Writer) next() error {
	if err := w.finish(); err != nil {
		return err
	}
	w.serial++
	suffix := ".warc.gz"
	if w.Plain {
		suffix = ".warc"
	}
	name := fmt.Sprintf("%s-%s-%05d-%d%s", w.Prefix, w.Now().UTC().Format("20060102150405"), w.serial, os.Getpid(), suffix)
	w.name = filepath.Join(w.dir, name)
	return w.open()
}

// open opens the file w.name, repairs it, and writes a warcinfo record at its end.
func (w *Writer) open() (err error) {
	if w.file, err = os.OpenFile(w.name+OpenSuffix, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
		return err
	}
	if w.size, err = repair(w.file); err != nil {
		return errors.Join(err, w.file.Close())
	}
	w.infoID = NewID()
	return w.append([]Draft{w.info()})
}

// info returns the warcinfo record.
func (w *Writer) info() Draft {
	block := NewBlock()
	standard := "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-" + w.Version + "/"
	lines := Header{{"software", w.Software}, {"format", "WARC File Format " + w.Version}, {"conformsTo", standard}}
	for _, f := range append(lines, w.Fields...) {
		if f.Value != "" {
			fmt.Fprintf(block, "%s: %s\r\n", f.Name, f.Value)
		}
	}
	return Draft{Block: block, Header: Header{
		{FieldType, string(Info)}, {FieldRecordID, w.infoID}, {FieldContentType, FieldsType}, {FieldFilename, filepath.Base(w.name)},
	}}
}

// finish closes the file, and gives it its name.
func (w *Writer) finish() error {
	if w.file == nil {
		return nil
	}
	err := errors.Join(w.file.Sync(), w.file.Close())
	w.file = nil
	if err == nil {
		err = os.Rename(w.name+OpenSuffix, w.name)
	}
	return err
}

// Close ends the last file. Without a record there is no file in a folder.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.finish()
}

// Repair cuts what follows the last whole record of a file that an interrupted Writer has left, and
// removes OpenSuffix from its name.
func Repair(name string) error {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, err = repair(file)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(name, strings.TrimSuffix(name, OpenSuffix))
	}
	return err
}

// repair cuts what follows the last whole record, moves to that place and returns it.
func repair(file *os.File) (int64, error) {
	r := NewReader(file)
	for {
		if _, err := r.Next(); err != nil {
			break
		}
	}
	end := r.Whole()
	if err := file.Truncate(end); err != nil {
		return 0, err
	}
	return file.Seek(end, io.SeekStart)
}

// counter counts what is written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
