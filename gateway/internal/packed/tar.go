package packed

import (
	"archive/tar"
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/fetch1738/fetch1738/internal/text/charset"
)

// A tarArchive is a tar archive, which has no directory: it is read from its beginning.
type tarArchive struct {
	limits  Limits
	from    *meter
	format  Format
	members int
	leftOut int
}

// OpenTar reads a tar archive, which may be compressed.
func OpenTar(r io.Reader, format Format, limits Limits) Archive {
	return &tarArchive{limits: limits, from: &meter{r: r, most: limits.Packed}, format: format}
}

// LeftOut implements Archive.
func (a *tarArchive) LeftOut() int { return a.leftOut }

// reader begins to read the archive.
func (a *tarArchive) reader() (*tar.Reader, error) {
	out := &bounded{r: a.from, limits: a.limits}
	switch a.format {
	case TarGzip:
		unpacked, err := gzip.NewReader(a.from)
		if err != nil {
			return nil, a.failure(err)
		}
		out.r, out.packed = unpacked, func() int64 { return a.from.n }
	case TarBzip2:
		out.r, out.packed = bzip2.NewReader(bufio.NewReader(a.from)), func() int64 { return a.from.n }
	}
	return tar.NewReader(out), nil
}

// headers are the headers of the members, with their Members.
func (a *tarArchive) headers(r *tar.Reader) iter.Seq2[Member, error] {
	return func(yield func(Member, error) bool) {
		for {
			h, err := r.Next()
			if err == io.EOF {
				return
			}
			if err != nil && !errors.Is(err, tar.ErrInsecurePath) { // no path is used as one
				yield(Member{}, a.failure(err))
				return
			}
			if a.members++; a.members > a.limits.Members {
				yield(Member{}, exceeds("it has more than %d members", a.limits.Members))
				return
			}
			m, ok := a.member(h)
			if !ok {
				a.leftOut++
			}
			if ok && m.Path != "" && !yield(m, nil) {
				return
			}
		}
	}
}

// failure is the error of reading the archive: that of the access, a limit, or that it is damaged.
func (a *tarArchive) failure(err error) error {
	if a.from.err != nil {
		return a.from.err
	}
	if _, ok := errors.AsType[*LimitError](err); ok {
		return err
	}
	return &DamagedError{err}
}

// member is a header as a Member.
func (a *tarArchive) member(h *tar.Header) (m Member, ok bool) {
	m = Member{Size: h.Size}
	if h.ModTime.Unix() != 0 { // 0 is what a program writes that knows no time
		m.ModTime = h.ModTime
	}
	m.Path, ok = a.limits.path(h.Name, charset.Charset{}, false)
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
	case tar.TypeDir:
		m.Kind, m.Size = Folder, -1
	case tar.TypeSymlink, tar.TypeLink:
		m.Kind, m.Size = Link, -1
		m.Target = strings.ToValidUTF8(h.Linkname[:min(len(h.Linkname), a.limits.Name)], "\ufffd")
	case tar.TypeXGlobalHeader:
		return Member{}, true
	default:
		m.Kind, m.Size = Special, -1
	}
	return m, ok
}

// Members implements Archive.
func (a *tarArchive) Members() iter.Seq2[Member, error] {
	return func(yield func(Member, error) bool) {
		r, err := a.reader()
		if err != nil {
			yield(Member{}, err)
			return
		}
		a.headers(r)(yield)
	}
}

// Open implements Archive.
func (a *tarArchive) Open(path string) (Member, io.Reader, error) {
	r, err := a.reader()
	if err != nil {
		return Member{}, nil, err
	}
	for m, err := range a.headers(r) {
		switch {
		case err != nil:
			return m, nil, err
		case m.Path != path || m.Kind == Folder:
			continue
		case m.Kind != File:
			return m, nil, ErrNotFile
		case m.Size > a.limits.Unpacked: // also that of a sparse file, which takes little room
			return m, nil, exceeds("it is larger than %d MiB", a.limits.Unpacked>>20)
		}
		return m, &unpacking{a, r}, nil
	}
	return Member{}, nil, ErrNotFound
}

// unpacking is a file of a tar archive.
type unpacking struct {
	a *tarArchive
	r io.Reader
}

func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && err != io.EOF {
		err = u.a.failure(err)
	}
	return n, err
}
