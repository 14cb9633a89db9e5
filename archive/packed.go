package archive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/fetch1738/fetch1738/archive/cdx"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// maxRatio limits how much longer the index of a WACZ file may be than the whole file. That of a
// hostile one expands to any size.
const maxRatio = 100

// addWACZ opens a WACZ file: a ZIP file with WARC files and their index. The records are read in
// place, so the WARC files must be stored without compression.
func (o *opener) addWACZ(name string) (err error) {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	p := &part{files: make(map[string]place)}
	defer func() {
		if p.file == nil || err != nil {
			err = errors.Join(err, file.Close())
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(file, info.Size())
	if err != nil {
		return err
	}
	var indexes []*zip.File
	for _, f := range z.File {
		folder, base := path.Split(f.Name)
		switch {
		case folder == "archive/" && isWARC(base):
			if p.files[base], err = inPlace(f, name, info.Size()); err != nil {
				return err
			}
		case folder == "indexes/" && isIndex(base):
			indexes = append(indexes, f)
		}
	}
	if len(p.files) == 0 {
		return errors.New("the WACZ file has no WARC files in the folder archive")
	}
	if err := o.openIndexes(p, indexes, file, info.Size()); err != nil {
		return errors.Join(err, p.close())
	}
	o.parts = append(o.parts, p)
	return nil
}

// isIndex reports whether a name is that of a file with CDXJ lines. An .idx file has only every
// 3,000th line of one that is compressed.
func isIndex(name string) bool {
	name = strings.TrimSuffix(name, ".gz")
	return strings.HasSuffix(name, ".cdx") || strings.HasSuffix(name, ".cdxj")
}

// inPlace returns where the content of a member is.
func inPlace(f *zip.File, name string, size int64) (place, error) {
	if f.Method != zip.Store {
		return place{}, fmt.Errorf("%s is compressed by ZIP; store it without compression (zip -0)", f.Name)
	}
	if f.Flags&1 != 0 {
		return place{}, fmt.Errorf("%s is encrypted", f.Name)
	}
	offset, err := f.DataOffset()
	if err != nil {
		return place{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	n := int64(f.UncompressedSize64)
	if f.CompressedSize64 != f.UncompressedSize64 || n < 0 || n > size-offset {
		return place{}, fmt.Errorf("%s: its size %d is not that of its content", f.Name, f.UncompressedSize64)
	}
	return place{name, offset, n}, nil
}

// openIndexes opens the index. One of this module is searched in place. Others are sorted by our keys
// in a temporary file, also if they are compressed. Without an index, one is made.
func (o *opener) openIndexes(p *part, indexes []*zip.File, file *os.File, size int64) error {
	if len(indexes) == 0 {
		return p.makeIndex(o.ctx, &o.damage)
	}
	if f := indexes[0]; len(indexes) == 1 && f.Method == zip.Store && !strings.HasSuffix(f.Name, ".gz") {
		at, err := inPlace(f, "", size)
		if err != nil {
			return err
		}
		own := cdx.NewIndex(io.NewSectionReader(file, at.offset, at.size), at.size)
		for line, err := range own.From("") {
			if err == nil && bytes.Contains(line, []byte(ownField)) {
				p.index, p.file = own, file
				return nil
			}
			break
		}
	}
	var s cdx.Sorter
	left := maxRatio * size
	for _, f := range indexes {
		if err := copyIndex(o.ctx, f, &s, &left); err != nil {
			return fmt.Errorf("%s: %w", f.Name, errors.Join(err, s.Close()))
		}
	}
	return p.sortIndex(o.ctx, &s)
}

// ownField is in all lines that this module writes.
const ownField = `"type":"`

// copyIndex adds the lines of an index, with our keys: the Python package surt lower-cases all
// keys.
func copyIndex(ctx context.Context, f *zip.File, s *cdx.Sorter, left *int64) error {
	text, err := f.Open()
	if err != nil {
		return err
	}
	defer text.Close()
	var r io.Reader = text
	if strings.HasSuffix(f.Name, ".gz") {
		if r, err = gzip.NewReader(bufio.NewReader(text)); err != nil {
			return err
		}
	}
	limited := &io.LimitedReader{R: wire.ContextReader{Context: ctx, Reader: r}, N: *left}
	err = addLines(limited, s)
	if *left = limited.N; *left == 0 {
		return errors.New("the index is too long for this file")
	}
	return err
}

// addLines adds the lines of other programs.
func addLines(r io.Reader, s *cdx.Sorter) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, cdx.MaxLine)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		l, err := cdx.Parse(lines.Bytes())
		if err != nil {
			return err
		}
		l.Key, l.Filename = cdx.Key(l.URL), path.Base(l.Filename)
		sorted, err := l.Text()
		if err == nil {
			err = s.Add(sorted)
		}
		if err != nil {
			return err
		}
	}
	return lines.Err()
}
