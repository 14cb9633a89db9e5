package warc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	// klauspost/compress writes and reads the gzip members, and compresses long blocks before that. It
	// takes half the time of compress/gzip, which has the same API, and brings no further module. The
	// index of a WACZ file is written once, and by compress/gzip.
	"github.com/klauspost/compress/gzip"

	"github.com/fetch1738/fetch1738/internal/file/disk"
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

	disk disk.Disk // of tests
}

// OpenSuffix ends the name of a file that is being written. Close removes it.
const OpenSuffix = ".open"

// A Writer writes records to a file or to the files of a folder. When Write returns, the operating
// system has the records: a process that is killed loses none of them. Files are locked, so that no
// other process writes to them. Its methods are safe for concurrent use. The caller must close it.
type Writer struct {
	o    Options
	dir  string    // "" for a single file
	zips sync.Pool // of *flate.Writer, for blocks

	mu     sync.Mutex
	file   *disk.Locked // nil between files
	name   string       // of file, without OpenSuffix
	named  string       // the last name that is on the disk, with those before it
	size   int64        // of the whole records in file
	bare   int64        // that of a warcinfo record alone; 0 in a file that had records before
	serial int
	number int // in the names of files
	infoID string
	buf    *bufio.Writer
	zip    *gzip.Writer // nil before the first record
	broken error        // a record could be neither written nor removed
}

// Create returns a Writer for a folder, which is created if it does not exist. Its files are named
// PREFIX-TIME-SERIAL-NUMBER.warc.gz, where the number is that of the process, or a higher one if the
// folder has files with it: those of one number are of one Writer. Files that a killed process has
// left are closed first, and a half record at their end is cut. A file that is damaged before its end
// is an error. Other processes may write to files of the same folder.
func Create(dir string, o Options) (*Writer, error) {
	w, err := newWriter(dir, o)
	if err != nil {
		return nil, err
	}
	if err := w.o.disk.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	folder, err := w.o.disk.OpenFile(dir, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	names, err := folder.Readdirnames(-1)
	w.number = vacantNumber(w.o.Prefix, names)
	for _, name := range names {
		if !strings.HasSuffix(name, ".warc"+OpenSuffix) && !strings.HasSuffix(name, ".warc.gz"+OpenSuffix) {
			continue
		}
		if bad := repair(w.o.disk, filepath.Join(dir, name)); !errors.Is(bad, disk.ErrBusy) {
			err = errors.Join(err, bad)
		}
	}
	return w, errors.Join(err, folder.Close())
}

// CreateFile returns a Writer for one file. If it exists, records are added at its end, after a
// half record there is cut. A name that ends in ".gz" is for a file with gzip. If another Writer
// is writing to the file, the error says so.
func CreateFile(name string, o Options) (*Writer, error) {
	o.Plain = !strings.HasSuffix(name, ".gz")
	w, err := newWriter("", o)
	if err != nil {
		return nil, err
	}
	w.name = name
	if err := w.open(); err != nil {
		return nil, err
	}
	return w, nil
}

func newWriter(dir string, o Options) (*Writer, error) {
	if o.Version == "" {
		o.Version = "1.1"
	}
	if o.Version != "1.1" && o.Version != "1.0" {
		return nil, fmt.Errorf("WARC/%s cannot be written, only 1.0 and 1.1", o.Version)
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
	o.disk = disk.Or(o.disk)
	return &Writer{o: o, dir: dir, buf: bufio.NewWriterSize(nil, bufferSize)}, nil
}

// Write writes records that belong together, to one file, in order. After an error none of them is
// in the file. A record in which [Verify] would find a defect is an error.
func (w *Writer) Write(drafts ...Draft) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dir != "" && (w.file == nil || w.size >= max(w.o.MaxSize, w.bare+1)) {
		if err := w.next(); err != nil {
			return err
		}
	}
	return w.append(drafts)
}

func (w *Writer) append(drafts []Draft) error {
	switch {
	case w.broken != nil:
		return w.broken
	case w.file == nil:
		return fs.ErrClosed
	}
	counted := &counter{w: w.file}
	w.buf.Reset(counted)
	err := w.encode(drafts)
	if err == nil {
		err = w.buf.Flush()
	}
	if err == nil {
		w.size += counted.n
		return nil
	}
	if cut := w.file.Truncate(w.size); cut != nil {
		w.broken = fmt.Errorf("%s ends in a half record: %w", w.file.Name(), cut)
	}
	return errors.Join(err, w.broken)
}

func (w *Writer) encode(drafts []Draft) error {
	if w.zip == nil && !w.o.Plain {
		w.zip, _ = gzip.NewWriterLevel(w.buf, gzip.BestSpeed) // one, because a new one needs 1 MB
	}
	now := w.o.Now()
	for _, d := range drafts {
		h, err := d.complete(w.o.Version, w.infoID, now)
		switch {
		case err != nil:
		case w.o.Plain:
			err = encode(w.buf, w.o.Version, h, d.Block)
		case d.Block != nil && d.Block.zip != nil:
			err = joinMember(&w.zips, w.buf, w.o.Version, h, d.Block)
		default:
			err = encodeMember(w.zip, w.buf, w.o.Version, h, d.Block)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// next begins another file of the folder.
func (w *Writer) next() error {
	if err := w.finish(); err != nil {
		return err
	}
	w.serial++
	suffix := ".warc.gz"
	if w.o.Plain {
		suffix = ".warc"
	}
	name := fmt.Sprintf("%s-%s-%05d-%d%s", w.o.Prefix, w.o.Now().UTC().Format("20060102150405"), w.serial, w.number, suffix)
	w.name = filepath.Join(w.dir, name)
	return w.open()
}

// open opens the file w.name, cuts a half record, and writes a warcinfo record at its end.
func (w *Writer) open() error {
	file, err := lock(w.o.disk, w.name, true)
	if err != nil {
		return err
	}
	w.file, w.infoID, w.bare = file, NewID(), 0
	if w.size, err = cut(file, w.name); err == nil {
		begun := w.size > 0
		if err = w.append([]Draft{w.info()}); !begun {
			w.bare = w.size
		}
	}
	if err != nil {
		err = errors.Join(err, w.finish())
	}
	return err
}

// info returns the warcinfo record.
func (w *Writer) info() Draft {
	block := NewBlock()
	standard := "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-" + w.o.Version + "/"
	lines := Header{{"software", w.o.Software}, {"format", "WARC File Format " + w.o.Version}, {"conformsTo", standard}}
	for _, f := range append(lines, w.o.Fields...) {
		if f.Value != "" {
			fmt.Fprintf(block, "%s: %s\r\n", f.Name, f.Value)
		}
	}
	return Draft{Block: block, Header: Header{
		{FieldType, string(Info)}, {FieldRecordID, w.infoID}, {FieldContentType, FieldsType}, {FieldFilename, filepath.Base(w.name)},
	}}
}

// finish closes the file, and gives it its name, unless it ends in a half record that cannot be cut.
func (w *Writer) finish() error {
	if w.file == nil {
		return nil
	}
	file, size := w.file, w.size
	w.file = nil
	if w.dir != "" && w.bare > 0 && size == w.bare {
		size = 0
	}
	if size != w.size || w.broken != nil {
		if err := file.Truncate(size); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	return release(w.o.disk, file, w.name)
}

// Close ends the last file. Without a record there is no file in a folder. It may be called again.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.finish()
}

// Version returns the version of the format: "1.1" or "1.0".
func (w *Writer) Version() string { return w.o.Version }

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
