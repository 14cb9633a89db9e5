package mirror

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"os"

	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/mirror/internal/local"
)

// A menuWriter stores the bytes of a menu as they arrive. Most menus are short and unchanged, so the
// first bytes are kept in memory. The bytes of a long menu are written to the part of its file.
type menuWriter struct {
	dir   *local.Dir
	url   string
	sum   hash.Hash
	size  int64
	short bytes.Buffer
	part  disk.File
}

// maxShort is the maximum number of bytes of a menu in memory.
const maxShort = 64 << 10

func newMenuWriter(dir *local.Dir, f folder) *menuWriter {
	return &menuWriter{dir: dir, url: f.loc.Redacted(), sum: sha256.New()}
}

// Write implements io.Writer.
func (m *menuWriter) Write(b []byte) (int, error) {
	m.sum.Write(b)
	m.size += int64(len(b))
	switch {
	case m.dir.DryRun:
		return len(b), nil
	case m.part != nil:
		return m.part.Write(b)
	}
	m.short.Write(b)
	if m.short.Len() > maxShort {
		if err := m.keep(); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// keep writes the bytes in memory to the part of the menu's file.
func (m *menuWriter) keep() (err error) {
	if m.part != nil {
		return nil
	}
	if m.part, err = m.dir.Inner.OpenFile(partName(m.url), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666); err == nil {
		_, err = m.short.WriteTo(m.part)
	}
	return err
}

// Close implements io.Closer.
func (m *menuWriter) Close() error {
	if m.part == nil {
		return nil
	}
	return m.part.Close()
}

// entry returns the menu as a file of the tree.
func (m *menuWriter) entry(f folder) *entry {
	return &entry{
		loc: f.loc, from: f.from, url: m.url, path: join(f.path, menuFile), size: m.size, sum: hex.EncodeToString(m.sum.Sum(nil)),
	}
}
