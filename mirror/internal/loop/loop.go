// Package loop finds directories of FTP servers that lead back to one above them.
//
// Some servers list a symbolic link to a directory as a directory. If it leads to a directory above
// it, the tree has no end. Then the link lists the same as that directory, and so does the directory to
// which the same way leads from there. A real directory may list the same as the one that it is in, too.
// So the way is repeated: only if the directory at its end lists the same as well, the first one is
// taken for a link, unless the way comes to one that lists something else.
package loop

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/fetch1738/fetch1738/fetch"
)

// Repeats is how often the way is repeated. POSIX systems follow at least 8 links in one path: that to
// the directory, these, and that in the listing.
const Repeats = 6

// linkLimit is more links in one path than systems follow.
const linkLimit = 41

// A Digest is a hash of the entries of a listing, in any order. The zero value is that of an empty one.
type Digest struct {
	high, low uint64
	N         int // entries
}

// Add adds an entry, with what the listing says about it.
func (d *Digest) Add(item fetch.Item) {
	kind := "file"
	switch {
	case item.Kind == fetch.KindDirectory:
		kind = "directory"
	case has(item, fetch.HeaderLink):
		kind = "link"
	case has(item, fetch.HeaderSpecial):
		kind = "special"
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %s", kind, item.Size, item.ModTime.UnixNano(), item.Name))
	d.high += binary.BigEndian.Uint64(sum[:8])
	d.low += binary.BigEndian.Uint64(sum[8:])
	d.N++
}

func has(item fetch.Item, header string) bool {
	return slices.ContainsFunc(item.Header, func(f fetch.Field) bool { return f.Name == header })
}

// A Listed is a directory that was listed. Above is the one that it is in, nil at the top of the tree.
type Listed struct {
	Digest
	Above *Listed
	Real  bool // the way to it from one above that lists the same has an end; so it is for those below
}

// Loop returns the names that lead to the directory from one above it that has the same listing: the
// end of its path. It returns nil if no such directory is known, or the listing is empty.
func (d *Listed) Loop(path []string) (way []string) {
	if d == nil || d.N == 0 {
		return nil
	}
	levels := 1
	for above := d.Above; above != nil && levels <= len(path); above = above.Above {
		if above.Digest == d.Digest {
			if d.Real = above.Real; d.Real {
				return nil
			}
			return path[len(path)-levels:]
		}
		levels++
	}
	return nil
}

// A Lister lists a directory below the one that may be a link, up to the first entry after most, without the
// entry of a name.
type Lister func(below []string, most int, without string) (Digest, error)

// Repeats reports whether the directory at the end of a way, repeated, lists the same.
func (d *Listed) Repeats(way []string, list Lister) bool {
	again, err := list(slices.Repeat(way, Repeats), d.N, "")
	return err == nil && again == d.Digest
}

// Ends reports whether the way, repeated, comes to a directory that lists something else: real directories
// may list the same at many levels, but not at all. Where the links in a path are too many, a server may leave out
// the next one, or list it as something else; that is no other directory.
func (d *Listed) Ends(way []string, list Lister) bool {
	last, beyond := Repeats, linkLimit+1 // the last one that lists the same, and one that nobody lists
	for beyond-last > 1 {
		middle := (last + beyond) / 2
		switch listed, err := list(slices.Repeat(way, middle), d.N, ""); {
		case err != nil:
			beyond = middle
		case listed == d.Digest:
			last = middle
		default:
			end, err := list(slices.Repeat(way, middle), d.N, way[0])
			usual, failed := list(slices.Repeat(way, last), d.N, way[0])
			return err == nil && failed == nil && end != usual
		}
	}
	return false
}

// HasLinks reports whether the server says that a way has symbolic links: it refuses a path with more of
// them than its system follows.
func HasLinks(way []string, list Lister) bool {
	_, err := list(slices.Repeat(way, linkLimit), 0, "")
	failed, ok := errors.AsType[*fetch.Error](err)
	return ok && tooManyLinks.MatchString(failed.Reply)
}

// tooManyLinks matches the texts of the error ELOOP of systems and languages.
var tooManyLinks = regexp.MustCompile(`(?i)too many (levels of )?symbolic links|symbolic link loop`)
