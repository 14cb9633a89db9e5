package archive

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/archive/cdx"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// A part is WARC files with one index.
type part struct {
	files map[string]place // by the names in the index
	index *cdx.Index
	temp  *os.File  // of an index that was made
	file  io.Closer // of an index that was there; or nil
}

// A place is where a WARC file is: a file, or a member of a WACZ file.
type place struct {
	name         string
	offset, size int64 // size is -1 for a whole file
}

// open opens the file of a place.
func (p place) open() (*os.File, *io.SectionReader, error) {
	file, err := os.Open(p.name)
	if errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(p.name, warc.OpenSuffix) {
		file, err = os.Open(strings.TrimSuffix(p.name, warc.OpenSuffix)) // its writer has closed it
	}
	if err != nil {
		return nil, nil, err
	}
	size := p.size
	if size < 0 {
		info, err := file.Stat()
		if err != nil {
			return nil, nil, errors.Join(err, file.Close())
		}
		size = info.Size()
	}
	return file, io.NewSectionReader(file, p.offset, size), nil
}

// Open opens an Archive of files, by their names: WARC files (.warc, .warc.gz), WACZ files (.wacz),
// and folders of these. An index NAME.cdxj beside a file, or index.cdxj in a folder, is used if it
// is of the files as they are. Without one, the files are read once and an index is made in a
// temporary file. A file that is still being written (.warc.gz.open) is read up to its last whole
// record. A file with defects is read around them: see [Archive.Damage]. If ctx ends before the Archive
// is open, Open ends with its error.
func Open(ctx context.Context, names ...string) (*Archive, error) {
	a := new(Archive)
	o := &opener{ctx: ctx, Archive: a, loose: &part{files: make(map[string]place)}}
	err := o.open(names)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// An opener opens what names stand for.
type opener struct {
	ctx context.Context
	*Archive
	loose *part // the files without an index, by their names
}

func (o *opener) open(names []string) error {
	for _, name := range names {
		if err := o.add(name); err != nil {
			return err
		}
	}
	if len(o.loose.files) > 0 {
		o.parts = append(o.parts, o.loose)
		if err := o.loose.makeIndex(o.ctx, &o.damage); err != nil {
			return err
		}
	}
	if o.damage.Count > 0 && o.damage.records == 0 && len(o.parts) == 1 {
		return &o.damage // nothing can be read
	}
	o.nameFiles()
	return nil
}

// A File is a WARC file of an Archive.
type File struct {
	// Name is the base name of the file. If several have the same, a number is put before it.
	Name string

	place place
}

// Open opens the file.
func (f File) Open() (io.ReadCloser, error) {
	if strings.HasSuffix(f.place.name, warc.OpenSuffix) {
		return nil, fmt.Errorf("%s is still being written", f.place.name)
	}
	file, content, err := f.place.open()
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{content, file}, nil
}

// Files returns the WARC files, also those in WACZ files.
func (a *Archive) Files() []File { return slices.Clone(a.files) }

// nameFiles gives each file a name of its own.
func (o *opener) nameFiles() {
	o.names = make(map[place]string)
	used := make(map[string]bool)
	for _, p := range o.parts {
		for _, key := range slices.Sorted(maps.Keys(p.files)) {
			base := filepath.Base(key)
			name := base
			for n := 2; used[name]; n++ {
				name = fmt.Sprintf("%d-%s", n, base)
			}
			used[name] = true
			o.names[p.files[key]] = name
			o.files = append(o.files, File{name, p.files[key]})
		}
	}
}

// add opens what a name stands for.
func (o *opener) add(name string) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return o.addFolder(name)
	case isWACZ(name):
		return o.addWACZ(name)
	case isWARC(name):
		p := &part{files: map[string]place{filepath.Base(name): {name, 0, -1}}}
		return o.addIndexed(p, name+".cdxj")
	}
	return fmt.Errorf("%s: not a WARC file (.warc, .warc.gz), a WACZ file (.wacz) or a folder", name)
}

// isWARC reports whether a name is that of a WARC file, also of one that is being written.
func isWARC(name string) bool {
	name = strings.ToLower(strings.TrimSuffix(name, warc.OpenSuffix))
	return strings.HasSuffix(name, ".warc") || strings.HasSuffix(name, ".warc.gz")
}

func isWACZ(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".wacz") }

// addFolder opens all files below a folder. Its index has their paths from there.
func (o *opener) addFolder(folder string) error {
	p := &part{files: make(map[string]place)}
	before := len(o.parts)
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || entry.IsDir():
		case isWACZ(name):
			return o.addWACZ(name)
		case isWARC(name):
			p.add(folder, name)
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case len(p.files) > 0:
		return o.addIndexed(p, filepath.Join(folder, "index.cdxj"))
	case len(o.parts) == before:
		return fmt.Errorf("%s: there are no WARC or WACZ files in the folder", folder)
	}
	return nil
}

// add adds a file by its path from a folder.
func (p *part) add(folder, name string) {
	rel, err := filepath.Rel(folder, name)
	if err != nil {
		rel = name
	}
	p.files[filepath.ToSlash(rel)] = place{name, 0, -1}
}

// addIndexed adds a part if it has an index; else its files are added to loose.
func (o *opener) addIndexed(p *part, index string) error {
	switch fits, err := p.openIndex(index); {
	case err != nil:
		return err
	case fits:
		o.parts = append(o.parts, p)
	default:
		for _, place := range p.files {
			o.loose.files[place.name] = place
		}
	}
	return nil
}

// openIndex opens the index of a name. It fits if it says of each file that it was indexed, and what
// its size was.
func (p *part) openIndex(name string) (fits bool, err error) {
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	info, err := file.Stat()
	if err == nil {
		p.index, p.file = cdx.NewIndex(file, info.Size()), file
		fits, err = p.fits()
	}
	if !fits || err != nil {
		_ = file.Close()
		p.index, p.file = nil, nil
	}
	return fits, err
}

func (p *part) fits() (bool, error) {
	for name, place := range p.files {
		info, err := os.Stat(place.name)
		if err != nil {
			return false, err
		}
		found := false
		for l, err := range p.index.Lookup(cdx.Key(fileKey + name)) {
			if err != nil {
				return false, nil // it is made anew
			}
			found = l.Size != nil && int64(*l.Size) == info.Size()
		}
		if !found {
			return false, nil
		}
	}
	return true, nil
}

// makeIndex makes the index of the files in a temporary file.
func (p *part) makeIndex(ctx context.Context, damage *DamageError) error {
	var s cdx.Sorter
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		if err := indexFile(ctx, p.files[name], name, &s, damage); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	return p.sortIndex(ctx, &s)
}

// sortIndex writes the lines of s to a temporary file.
func (p *part) sortIndex(ctx context.Context, s *cdx.Sorter) (err error) {
	if p.temp, err = disk.TempFile(); err != nil {
		return errors.Join(err, s.Close())
	}
	size, err := s.WriteTo(untilWriter{ctx, p.temp})
	p.index = cdx.NewIndex(p.temp, size)
	return err
}

func (p *part) close() error {
	var err error
	if p.temp != nil {
		err = disk.RemoveTemp(p.temp)
	}
	if p.file != nil {
		err = errors.Join(err, p.file.Close())
	}
	return err
}

// lines yields the lines of the index with a prefix that do not sort before from.
func (p *part) lines(from, prefix string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		for text, err := range p.index.From(from) {
			var l *cdx.Line
			if err == nil {
				switch {
				case !bytes.HasPrefix(text, []byte(prefix)):
					return
				case bytes.HasPrefix(text, []byte(fileKey)), bytes.HasPrefix(text, []byte("metadata:")): // of other programs
					continue
				}
				l, err = cdx.Parse(text)
			}
			if !yield(line{l, p}, err) || err != nil {
				return
			}
		}
	}
}

// An untilWriter fails when ctx has ended.
type untilWriter struct {
	ctx context.Context
	w   io.Writer
}

func (u untilWriter) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.w.Write(p)
}

// merged yields the lines of several parts with a prefix that do not sort before from, in order.
func merged(parts []*part, from, prefix string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		type source struct {
			next func() (line, error, bool)
			line line
		}
		var sources []*source
		for _, p := range parts {
			next, stop := iter.Pull2(p.lines(from, prefix))
			defer stop()
			sources = append(sources, &source{next: next})
		}
		last := slices.Clone(sources) // those that need a line
		for {
			for _, s := range last {
				l, err, ok := s.next()
				if err != nil {
					yield(line{}, err)
					return
				}
				if s.line = l; !ok {
					sources = slices.DeleteFunc(sources, func(x *source) bool { return x == s })
				}
			}
			if len(sources) == 0 {
				return
			}
			first := slices.MinFunc(sources, func(a, b *source) int { return compare(a.line, b.line) })
			if !yield(first.line, nil) {
				return
			}
			last = []*source{first}
		}
	}
}

// compare compares lines by key and time.
func compare(a, b line) int {
	return cmp.Or(strings.Compare(a.Key, b.Key), a.Time.Compare(b.Time))
}
