package mirror

import (
	"iter"
	"strings"
)

// A survey is the result of listing the tree. The URLs of files are in the manifest, marked as
// seen.
type survey struct {
	tree    tree
	flat    bool // paths do not reflect the structure, as on a gopher site
	start   mark
	batches []*batch
	// unseen is the number of folders that were not listed completely. In a flat tree each of them
	// may have any file. In other trees it may have the files below it.
	unseen   int
	hidden   map[string]bool // by the keys of their paths
	dotless  map[string]bool // folders in whose listings names that begin with a dot may be missing, by the same keys
	unmarked int             // menus among them that were read but have no end mark
	outside  int             // links that are not followed, but have been in an earlier run, with Parent or another of the Aliases
}

func newSurvey(t tree) *survey {
	_, flat := t.(*gopherTree)
	return &survey{tree: t, flat: flat, hidden: make(map[string]bool), dotless: make(map[string]bool)}
}

// hide records that a folder was not listed, or not completely.
func (s *survey) hide(f folder) {
	s.unseen++
	if !s.flat {
		s.hidden[keyOf(f.path)] = true
	}
}

// wanted yields the files that belong in the copy.
func (s *survey) wanted() iter.Seq2[*mark, *entry] {
	return func(yield func(*mark, *entry) bool) {
		for _, b := range s.batches {
			for m, e := range b.entries(s.tree) {
				if *m&isWanted != 0 && !yield(m, e) {
					return
				}
			}
		}
	}
}

// listed yields the folders that were listed without an error.
func (s *survey) listed() iter.Seq[folder] {
	return func(yield func(folder) bool) {
		if s.start&isListed != 0 && !yield(s.tree.start()) {
			return
		}
		for _, b := range s.batches {
			for m, f := range b.folders(s.tree) {
				if *m&isListed != 0 && !yield(f) {
					return
				}
			}
		}
	}
}

// hides reports whether a file of the manifest is not known to be gone: it is below a folder that was
// not listed, or it, or a folder above it, is left out of a listing because its name begins with a
// dot. The path on the server decides: files keep the names here that earlier runs have given them.
func (s *survey) hides(url string) bool {
	dir, name, known := folderOf(s.tree, url)
	for n := len(dir); known && n >= 0; n-- {
		if n < len(dir) {
			name = dir[n]
		}
		if key := keyOf(dir[:n]); s.hidden[key] || s.dotless[key] && strings.HasPrefix(name, ".") {
			return true
		}
	}
	return !known
}
