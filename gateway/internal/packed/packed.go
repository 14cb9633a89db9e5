// Package packed reads zip and tar archives from servers: what is in them, and single files of them.
// Nothing is written to disk, and nothing of an archive is trusted: its names are only texts, its
// links are not followed, and every size has a limit.
package packed

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/internal/text/charset"
)

// A Format is how an archive is made.
type Format uint8

const (
	None Format = iota // not an archive that this package reads
	Zip
	Tar
	TarGzip
	TarBzip2
)

// FormatOf is the format of an archive by the suffix of its name.
func FormatOf(name string) Format {
	name = strings.ToLower(name)
	for _, f := range []struct {
		suffix string
		format Format
	}{
		{".tar.gz", TarGzip}, {".tgz", TarGzip}, {".tar.bz2", TarBzip2}, {".tbz2", TarBzip2}, {".tbz", TarBzip2}, {".tar", Tar},
		{".zip", Zip}, {".jar", Zip}, {".war", Zip}, {".epub", Zip}, {".odt", Zip}, {".ods", Zip}, {".odp", Zip},
		{".docx", Zip}, {".xlsx", Zip}, {".pptx", Zip}, {".cbz", Zip}, {".apk", Zip}, {".xpi", Zip}, {".whl", Zip}, {".pk3", Zip},
	} {
		if strings.HasSuffix(name, f.suffix) {
			return f.format
		}
	}
	return None
}

// Limits bound what reading an archive costs.
type Limits struct {
	Members   int   // of an archive
	Name      int   // bytes of a name; a longer one is left out
	Depth     int   // folders in a name; a deeper one is left out
	Directory int64 // bytes of the directory of a zip archive
	Packed    int64 // bytes of a tar archive that are received
	Unpacked  int64 // bytes of a tar archive that are read, and of a member that is sent
	Ratio     int64 // how many times its packed size something may be, beyond the first MiB
}

// Usual are the limits of the gateway.
func Usual() Limits {
	return Limits{Members: 50_000, Name: 1024, Depth: 64, Directory: 8 << 20, Packed: 256 << 20, Unpacked: 1 << 30, Ratio: 200}
}

// A LimitError says which limit an archive exceeds.
type LimitError struct{ Text string }

func (e *LimitError) Error() string { return e.Text }

// exceeds returns a LimitError.
func exceeds(format string, args ...any) error { return &LimitError{fmt.Sprintf(format, args...)} }

// Errors of Open and Folder.
var (
	ErrNotFound  = errors.New("the archive has no such member")
	ErrEncrypted = errors.New("the file is encrypted")
	ErrMethod    = errors.New("the file is compressed by a method that is not supported")
	ErrNotFile   = errors.New("the member is not a file")
)

// A DamagedError says what is wrong with an archive.
type DamagedError struct{ Err error }

func (e *DamagedError) Error() string { return "the archive is damaged: " + e.Err.Error() }
func (e *DamagedError) Unwrap() error { return e.Err }

// A Kind is what a member is.
type Kind uint8

const (
	File Kind = iota
	Folder
	Link // symbolic or hard
	Special
	Encrypted
)

// A Member is a member of an archive.
type Member struct {
	// Path is made of names that are separated by "/". None is empty, "." or "..", whatever the
	// archive says. It is valid UTF-8, but may contain control characters.
	Path    string
	Kind    Kind
	Size    int64 // -1 if it is not known
	ModTime time.Time
	Target  string // of a Link, if it is known
}

// An Archive is an archive that is being read. It can be used once.
type Archive interface {
	// Members are the members in the order of the archive. An error is the last pair.
	Members() iter.Seq2[Member, error]
	// Open opens the first file of a path.
	Open(path string) (Member, io.Reader, error)
	// LeftOut is how many members Members left out so far, because of their names.
	LeftOut() int
}

// namesHeld is how many bytes of names In holds.
const namesHeld = 8 << 20

// In are the members that are directly in a folder of an archive, which is a path without a slash at
// its end, or empty for the top. Folders need no members of their own. Only the first of several
// members with one name is there, which is the one that Open opens.
func In(a Archive, folder string) iter.Seq2[Member, error] {
	prefix := ""
	if folder != "" {
		prefix = folder + "/"
	}
	return func(yield func(Member, error) bool) {
		type entry struct {
			name   string
			folder bool
		}
		seen := make(map[entry]struct{})
		held := 0
		found := folder == ""
		for m, err := range a.Members() {
			if err != nil {
				yield(Member{}, err)
				return
			}
			found = found || m.Path == folder && m.Kind == Folder
			name, below := strings.CutPrefix(m.Path, prefix)
			if !below || name == "" {
				continue
			}
			found = true
			if top, _, deeper := strings.Cut(name, "/"); deeper {
				m = Member{Path: prefix + top, Kind: Folder, Size: -1}
			}
			e := entry{m.Path, m.Kind == Folder}
			if _, again := seen[e]; again {
				continue
			}
			seen[e] = struct{}{}
			if held += len(m.Path); held > namesHeld {
				yield(Member{}, exceeds("the names in it are longer than %d MiB together", namesHeld>>20))
				return
			}
			if !yield(m, nil) {
				return
			}
		}
		if !found {
			yield(Member{}, ErrNotFound)
		}
	}
}

// path is the path of a member as this package writes it. legacy is the charset of a name that is not
// UTF-8. The path is empty for the top, and for what is to
// be left out. Names of tar archives can contain a backslash; in those of zip archives it is a mistake
// for "/".
func (l Limits) path(name string, legacy charset.Charset, backslash bool) (path string, ok bool) {
	if len(name) > l.Name {
		return "", false
	}
	if !utf8.ValidString(name) {
		name = legacy.Decode(name)
	}
	if backslash {
		name = strings.ReplaceAll(name, `\`, "/")
	}
	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "", ".":
			continue
		case "..":
			part = "_.."
		}
		parts = append(parts, strings.ToValidUTF8(part, "\ufffd"))
	}
	return strings.Join(parts, "/"), len(parts) <= l.Depth
}

// A bounded is what is unpacked, up to the limits.
type bounded struct {
	r      io.Reader
	limits Limits
	packed func() int64 // how much was received for it; nil if it is not packed
	n      int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.n += int64(n)
	switch {
	case b.n > b.limits.Unpacked:
		return 0, exceeds("it is larger than %d MiB", b.limits.Unpacked>>20)
	case b.packed != nil && b.n > 1<<20 && b.n > b.limits.Ratio*b.packed():
		return 0, exceeds("it is more than %d times as large as its packed form", b.limits.Ratio)
	}
	return n, err
}

// A meter counts what is received, up to a limit.
type meter struct {
	r    io.Reader
	n    int64
	most int64
	err  error // of the access
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if m.n += int64(n); m.n > m.most {
		m.err = exceeds("more than %d MiB of it would have to be received", m.most>>20)
		return 0, m.err
	}
	if err != nil && err != io.EOF {
		m.err = err
	}
	return n, err
}
