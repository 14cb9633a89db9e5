package naming

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode"
)

// Claims holds the names in use so far, case-folded.
type Claims struct {
	folder string            // folded
	dirs   map[string]string // by folded name, as written
	files  map[shortID]struct{}
}

// NewClaims returns Claims in which folder, a name in the directory of the copy, is in use.
func NewClaims(folder string) *Claims {
	return &Claims{folder: Fold(folder), dirs: make(map[string]string), files: make(map[shortID]struct{})}
}

// A shortID is a hash of a name. If two names ever have the same shortID, the second file fails with
// an error.
type shortID [8]byte

func shortIDOf(folded string) shortID {
	sum := sha256.Sum256([]byte(folded))
	return shortID(sum[:])
}

// hasFile reports whether a file has this name.
func (c *Claims) hasFile(folded string) bool {
	_, taken := c.files[shortIDOf(folded)]
	return taken
}

// maxPath is the maximum length in bytes of a local path. Systems do not open much longer ones.
const maxPath = 1024

// ErrPath is the error of a path that is too long.
var ErrPath = fmt.Errorf("path is longer than %d bytes", maxPath)

// An existsError is an fs.ErrExist with a text of its own.
type existsError struct{ text string }

// Existsf returns an fs.ErrExist with a text of its own.
func Existsf(format string, args ...any) error { return existsError{fmt.Sprintf(format, args...)} }

func (e existsError) Error() string { return e.text }

// Is makes the error match fs.ErrExist.
func (e existsError) Is(target error) bool { return target == fs.ErrExist }

// File reserves the name of a file, and those of the directories above it.
func (c *Claims) File(file string) error {
	if len(file) > maxPath {
		return ErrPath
	}
	folded := Fold(file)
	if _, isDir := c.dirs[folded]; isDir || c.hasFile(folded) || c.folder == First(folded) {
		return Existsf("%s: another file or directory has this name here, ignoring case", file)
	}
	if err := c.Dir(path.Dir(file)); err != nil {
		return err
	}
	c.files[shortIDOf(folded)] = struct{}{}
	return nil
}

// Dir reserves the name of a directory, and those of the directories above it.
func (c *Claims) Dir(dir string) error {
	if len(dir) > maxPath {
		return ErrPath
	}
	for ; dir != "." && dir != ""; dir = path.Dir(dir) {
		folded := Fold(dir)
		written, taken := c.dirs[folded]
		if c.hasFile(folded) || taken && written != dir {
			return Existsf("%s: another file or directory has this name here, ignoring case", dir)
		}
		if taken {
			break
		}
		c.dirs[folded] = dir
	}
	return nil
}

// First returns the first component of a path.
func First(p string) string {
	first, _, _ := strings.Cut(p, "/")
	return first
}

// Fold returns s with its letters case-folded.
func Fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}
