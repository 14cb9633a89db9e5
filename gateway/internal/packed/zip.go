package packed

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"iter"
	"math"

	"github.com/fetch1738/fetch1738/internal/text/charset"
)

// A zipArchive is a zip archive. Its directory is at its end, so only that and single files of it are
// read.
type zipArchive struct {
	limits  Limits
	r       *zip.Reader
	from    *source
	old     charset.Charset // of names that are not UTF-8
	leftOut int
}

// OpenZip reads the directory of a zip archive.
func OpenZip(r io.ReaderAt, size int64, limits Limits) (Archive, error) {
	from := &source{r: r, left: limits.Directory, members: uint64(limits.Members)}
	read, err := zip.NewReader(from, size)
	switch {
	case from.announced:
		return nil, exceeds("it has more than %d members", limits.Members)
	case from.left < 0:
		return nil, exceeds("its directory is larger than %d MiB", limits.Directory>>20)
	case from.err != nil:
		return nil, from.err
	case err != nil && !errors.Is(err, zip.ErrInsecurePath): // no path is used as one
		return nil, &DamagedError{err}
	case len(read.File) > limits.Members:
		return nil, exceeds("it has more than %d members", limits.Members)
	}
	from.left, from.members = math.MaxInt64, math.MaxUint64
	old, err := charset.Named("IBM437")
	if err != nil {
		return nil, err
	}
	return &zipArchive{limits: limits, r: read, from: from, old: old}, nil
}

// A source is where the bytes of an archive come from. It bounds how much is read of them and how many
// members the end of the directory may announce, and keeps the error of the access.
type source struct {
	r         io.ReaderAt
	left      int64
	members   uint64
	announced bool // more than that
	err       error
}

func (s *source) ReadAt(p []byte, off int64) (int, error) {
	if s.left -= int64(len(p)); s.left < 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := s.r.ReadAt(p, off)
	if err != nil && err != io.EOF {
		s.err = err
	}
	// zip.NewReader makes room for as many members as the end of the directory in its 64-bit form
	// announces, if the archive is as long as they need. The server says how long it is, so the room
	// could be more than all memory.
	if n == zip64End && binary.LittleEndian.Uint32(p) == zip64EndSignature && binary.LittleEndian.Uint64(p[32:]) > s.members {
		s.announced = true
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

// The end of the directory of a zip archive in its 64-bit form (APPNOTE 4.3.14), which zip.NewReader
// reads by one call. The number of all members is at offset 32.
const (
	zip64End          = 56
	zip64EndSignature = 0x06064b50
)

// failure is the error of reading the archive: that of the access, or that it is damaged.
func (a *zipArchive) failure(err error) error {
	if a.from.err != nil {
		return a.from.err
	}
	return &DamagedError{err}
}

// member is a file of the directory as a Member.
func (a *zipArchive) member(f *zip.File) (m Member, ok bool) {
	m = Member{Kind: File, Size: -1}
	if f.Modified.Year() >= 1980 { // the first year that the format has; without a time, it is before that
		m.ModTime = f.Modified
	}
	m.Path, ok = a.limits.path(f.Name, a.old, true)
	if size := int64(f.UncompressedSize64); size >= 0 {
		m.Size = size
	}
	switch mode := f.Mode(); {
	case mode&fs.ModeSymlink != 0:
		m.Kind = Link
	case mode.IsDir():
		m.Kind, m.Size = Folder, -1
	case mode&fs.ModeType != 0:
		m.Kind = Special
	case f.Flags&1 != 0:
		m.Kind = Encrypted
	}
	return m, ok
}

// LeftOut implements Archive.
func (a *zipArchive) LeftOut() int { return a.leftOut }

// Members implements Archive.
func (a *zipArchive) Members() iter.Seq2[Member, error] {
	return func(yield func(Member, error) bool) {
		for _, f := range a.r.File {
			m, ok := a.member(f)
			if !ok {
				a.leftOut++
			}
			if ok && m.Path != "" && !yield(m, nil) {
				return
			}
		}
	}
}

// Open implements Archive.
func (a *zipArchive) Open(path string) (Member, io.Reader, error) {
	for _, f := range a.r.File {
		m, ok := a.member(f)
		if !ok || m.Path != path || m.Kind == Folder {
			continue
		}
		switch {
		case m.Kind == Encrypted:
			return m, nil, ErrEncrypted
		case m.Kind != File:
			return m, nil, ErrNotFile
		case m.Size < 0 || m.Size > a.limits.Unpacked:
			return m, nil, exceeds("it is larger than %d MiB", a.limits.Unpacked>>20)
		case m.Size > 1<<20 && uint64(m.Size) > uint64(a.limits.Ratio)*f.CompressedSize64:
			return m, nil, exceeds("it is more than %d times as large as its packed form", a.limits.Ratio)
		}
		body, err := f.Open()
		switch {
		case errors.Is(err, zip.ErrAlgorithm):
			return m, nil, ErrMethod
		case err != nil:
			return m, nil, a.failure(err)
		}
		return m, &exactly{a, body, m.Size}, nil
	}
	return Member{}, nil, ErrNotFound
}

// exactly is what a file of a zip archive unpacks to, which is as long as its directory says.
type exactly struct {
	a    *zipArchive
	r    io.Reader
	left int64
}

func (e *exactly) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if e.left -= int64(n); e.left < 0 {
		return 0, &DamagedError{errors.New("a file is longer than the directory says")}
	}
	if err != nil && err != io.EOF {
		err = e.a.failure(err)
	}
	return n, err
}
