package archive

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/archive/cdx"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/internal/wire"
)

const (
	// fileKey begins the keys of lines that say which files were indexed.
	fileKey = "warcinfo:"
	// revisitType is the media type of revisits in an index.
	revisitType = "warc/revisit"
)

// WriteIndex writes the index of WARC files, which may be in folders: sorted lines of CDXJ. [Open]
// finds it if its name is that of the only file with ".cdxj" at the end, or index.cdxj in the folder
// of all files. So it also has a line for each file that says how long the file was; its time would
// not show a file that was copied into the folder. If ctx ends before that, it is the error. If a
// part of a file cannot be read, the index has all records that can, and the error is a
// *[DamageError].
func WriteIndex(ctx context.Context, w io.Writer, names ...string) error {
	p := &part{files: make(map[string]place)}
	for _, name := range names {
		folder := filepath.Dir(name)
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			folder = name
		}
		err := filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || path != name && !isWARC(path) {
				return err
			}
			n := len(p.files)
			if p.add(folder, path); len(p.files) == n {
				return fmt.Errorf("%s: there is another file with this name; an index of both must be that of a folder", path)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if len(p.files) == 0 {
		return errors.New("there are no WARC files in the folder")
	}
	var s cdx.Sorter
	var damage DamageError
	for _, base := range slices.Sorted(maps.Keys(p.files)) {
		place := p.files[base]
		err := indexFile(ctx, place, base, &s, &damage)
		if err == nil {
			err = fileLine(place.name, base, &s)
		}
		if err != nil {
			return errors.Join(err, s.Close())
		}
	}
	if _, err := s.WriteTo(untilWriter{ctx, w}); err != nil || damage.Count == 0 {
		return err
	}
	return &damage
}

// A DamageError says that parts of WARC files cannot be read. The records before and behind them are
// read anyway.
type DamageError struct {
	// Defects are the first of the defects, at most 20: each is a *[warc.Defect] with the name of its
	// file.
	Defects []*fs.PathError
	// Count is the number of all defects.
	Count int64

	records int64 // that were read
}

// Error returns the first defect, and how many there are.
func (d *DamageError) Error() string {
	if d.Count == 1 {
		return d.Defects[0].Error()
	}
	return fmt.Sprintf("%v (the first of %d faults)", d.Defects[0], d.Count)
}

// Unwrap returns the first defect.
func (d *DamageError) Unwrap() error { return d.Defects[0] }

func (d *DamageError) add(file string, defect *warc.Defect) {
	if d.Count++; d.Count <= 20 {
		d.Defects = append(d.Defects, &fs.PathError{Op: "index", Path: file, Err: defect})
	}
}

// fileLine adds the line that says how long a file is.
func fileLine(name, base string, s *cdx.Sorter) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	size := cdx.Number(info.Size())
	l := &cdx.Line{Key: cdx.Key(fileKey + base), Time: info.ModTime(), URL: fileKey + base, MIME: warc.FieldsType, Filename: base, Type: string(warc.Info), Size: &size}
	text, err := l.Text()
	if err != nil {
		return err
	}
	return s.Add(text)
}

// indexFile adds the lines of a WARC file, and what cannot be read of it to damage.
func indexFile(ctx context.Context, p place, name string, s *cdx.Sorter, damage *DamageError) error {
	file, all, err := p.open()
	if err != nil {
		return err
	}
	defer file.Close()
	r := warc.NewReader(wire.ContextReader{Context: ctx, Reader: all})
	var last *cdx.Line
	add := func() error {
		if last == nil {
			return nil
		}
		last.Length = cdx.Number(max(r.Whole()-int64(last.Offset), 0)) // 0 if the member has more records
		text, err := last.Text()
		if err != nil {
			return err
		}
		return s.Add(text)
	}
	unfinished := strings.HasSuffix(p.name, warc.OpenSuffix)
	for {
		rec, err := r.Next()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		ended := err == io.EOF || unfinished && errors.Is(err, io.ErrUnexpectedEOF)
		if err == nil || last != nil && r.Whole() > int64(last.Offset) {
			if err := add(); err != nil {
				return &os.PathError{Op: "index", Path: p.name, Err: err}
			}
		}
		if last = nil; err == nil {
			damage.records++
			last, err = lineOf(rec, name)
		}
		if defect, ok := errors.AsType[*warc.Defect](err); ok && !ended {
			damage.add(p.name, defect)
			err = r.Resume()
			ended = err == io.EOF
		}
		switch {
		case ended:
			return nil
		case err != nil:
			return &os.PathError{Op: "index", Path: p.name, Err: err}
		}
	}
}

// lineOf returns the line for a record, or nil if it is not indexed.
func lineOf(rec *warc.Record, file string) (*cdx.Line, error) {
	typ, url := rec.Type(), rec.TargetURI()
	if url == "" || typ != warc.Response && typ != warc.Resource && typ != warc.Revisit {
		return nil, nil
	}
	l := &cdx.Line{
		Key: cdx.Key(url), Time: rec.Date(), URL: url, Digest: rec.Header.PayloadDigest(),
		Filename: file, Offset: cdx.Number(rec.Offset), Type: string(typ), Truncated: rec.Header.Get(warc.FieldTruncated),
	}
	if rec.Header.Get(warc.FieldSegmentNumber) != "" && l.Truncated == "" {
		l.Truncated = "segmented"
	}
	if t, err := warc.ParseDate(rec.Header.Get(warc.FieldLastModified)); err == nil {
		l.Modified = &t
	}
	media, size := rec.Header.Get(warc.FieldContentType), rec.Length
	payload, err := rec.Payload()
	if err != nil {
		return nil, err
	}
	if head := payload.Head; head != nil {
		media = fromHead(l, head)
		if size -= int64(len(head)); isChunked(head, bufio.NewReader(payload), size, l.Truncated != "") {
			size = -1
		}
	}
	switch {
	case typ == warc.Revisit:
		l.MIME, size = revisitType, -1
		l.RefersTo, l.RefersToDate = rec.Header.Get(warc.FieldRefersToTargetURI), rec.Header.Get(warc.FieldRefersToDate)
	default:
		m, params, _ := strings.Cut(media, ";")
		l.MIME, l.Params = strings.ToLower(strings.TrimSpace(m)), params
	}
	if size >= 0 {
		n := cdx.Number(size)
		l.Size = &n
	}
	return l, nil
}
