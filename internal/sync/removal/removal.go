// Package removal has the rules of deleting on one side what the other side has no more. A listing
// that looks incomplete, or a folder that has become empty, is no reason to delete.
package removal

import (
	"errors"
	"fmt"
	"iter"
)

// ErrMaxDelete is in the chain of the error of a run that has kept files.
var ErrMaxDelete = errors.New("none of them is deleted")

// fewFiles is the number of files up to which all of them may be deleted in one run.
const fewFiles = 10

// Contents says what a folder has on the side that decides.
type Contents uint8

// The contents of a folder. The zero value means that there is no such folder, or that it was not
// listed.
const (
	Unknown Contents = iota
	Nothing
	OnlyFolders
	Files
)

// Nearest finds the folder that should have a file: its own, or if that is not known, the nearest one
// above it. at returns what the folder has whose path is the first n of depth components. isEmpty
// reports whether that is no reason to delete the file, as with a disk that is not mounted, or a
// listing without lines. If no folder is known, Nearest returns 0, false.
func Nearest(depth int, at func(n int) Contents) (n int, isEmpty bool) {
	for n = depth; n >= 0; n-- {
		if c := at(n); c != Unknown {
			return n, c == Nothing || c == OnlyFolders && n == depth
		}
	}
	return 0, false
}

// A Decision says which of the files that are gone a run does not delete. The zero value keeps none.
type Decision[K comparable] struct {
	Gone    int       // files that the run would delete
	Emptied map[K]int // how many of them are kept because their folder is empty, by folder
	Kept    int       // the sum of Emptied
	All     bool      // none is deleted, because they are too many
}

// Decide applies a limit: of MaxDelete files, of which 0 means the usual rules and a negative number
// that there is no limit. files is the number of files that runs have transferred. gone yields for
// each file that would be deleted the folder that should have it, and whether that is empty; see
// [Nearest].
func Decide[K comparable](limit, files int, gone iter.Seq2[K, bool]) Decision[K] {
	d := Decision[K]{Emptied: make(map[K]int)}
	if limit < 0 {
		return d
	}
	for folder, isEmpty := range gone {
		d.Gone++
		if isEmpty && limit == 0 {
			d.Emptied[folder]++
			d.Kept++
		}
	}
	if limit > 0 {
		d.All = d.Gone > limit
	} else {
		d.All = files > fewFiles && 2*(d.Gone-d.Kept) > files
	}
	return d
}

// KeepsSome reports whether any file is kept.
func (d Decision[K]) KeepsSome() bool { return d.All || d.Kept > 0 }

// Keeps reports whether a file is kept whose folder is empty, or is not.
func (d Decision[K]) Keeps(isEmpty bool) bool { return d.All || isEmpty && d.Kept > 0 }

// Refuse returns the error of a run that has kept files. field is the field with the limit, and
// needed the limit that would delete them.
func Refuse(field string, needed int, reason string) error {
	return fmt.Errorf("%s; %w; use %s %d or %[3]s -1 to delete them", reason, ErrMaxDelete, field, needed)
}
