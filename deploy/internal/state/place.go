package state

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// A Place is where the state of a tree is.
type Place struct {
	File string // its name; if empty, it has another place
	Dir  string // a directory for the states of several trees; if it is empty too, the state is in Folder in the tree
	Tree string // the path of the tree
}

// Folder is the directory in the tree that holds the state if there is no other place for it. It is
// not part of the tree.
const Folder = ".fetch1738"

// nameFor returns the name of the state for a URL in Folder. Each server has its own.
func nameFor(url string) string { return "to-" + shortSum(url) + ".jsonl" }

// nameOf returns the name of the state of a tree for a URL, where there are those of other trees.
func nameOf(url, tree string) string { return prefixOf(url) + shortSum(tree) + ".jsonl" }

// prefixOf returns how the names of the states of all trees for a URL begin.
func prefixOf(url string) string { return "to-" + shortSum(url) + "-" }

func shortSum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Open opens, locks and reads the state of the tree in root for a URL. With readOnly it is only
// read, and need not exist.
//
// A state that the tree has in Folder remains in use, although p.Dir is set: nothing is moved, so
// that an interruption cannot lose it, and that programs which know only that place use the same
// one.
func Open(d disk.Disk, root disk.Folder, p Place, url string, readOnly bool) (s *State, err error) {
	s = New(p.File, url)
	s.disk, s.mode = disk.Folder(d), 0o666
	if p.File == "" {
		s.advice = "; Upload.State keeps it elsewhere"
		err = s.find(d, root, p, readOnly)
	}
	if err == nil && readOnly {
		err = s.openReadOnly()
	} else if err == nil {
		err = s.open()
	}
	if err == nil && p.Dir != "" {
		err = s.look(d, p)
	}
	if err != nil && s.file != nil {
		s.locked.Close()
	}
	if err != nil && s.inner != nil {
		s.inner.Close()
	}
	return s, err
}

// unplaced returns the error of a state that cannot be opened.
func (s *State) unplaced(err error) error {
	if err == nil || s.advice == "" {
		return err
	}
	return fmt.Errorf("open the state: %w%s", err, s.advice)
}

// find chooses the place of a state that has no name of its own.
func (s *State) find(d disk.Disk, root disk.Folder, p Place, readOnly bool) error {
	if p.Dir == "" {
		return s.placeInTree(root, readOnly)
	}
	tree, err := filepath.Abs(p.Tree)
	if err == nil {
		tree, err = d.EvalSymlinks(tree)
	}
	if err != nil {
		return s.unplaced(err)
	}
	name := filepath.Join(p.Dir, nameOf(s.url, tree))
	if _, err := root.Stat(path.Join(Folder, nameFor(s.url))); err == nil {
		if _, err := d.Stat(name); err == nil {
			s.Note = fmt.Sprintf("%s is the state of this upload; there is another one, %s, which is not used: delete one of them",
				filepath.Join(p.Tree, Folder, nameFor(s.url)), name)
		}
		return s.placeInTree(root, readOnly)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return s.unplaced(err)
	}
	s.name, s.mode, s.tree = name, 0o600, tree
	if readOnly {
		return nil
	}
	return s.unplaced(d.MkdirAll(p.Dir, 0o700))
}

// placeInTree chooses Folder in the tree.
func (s *State) placeInTree(root disk.Folder, readOnly bool) (err error) {
	s.name = nameFor(s.url)
	if !readOnly {
		if err := root.Mkdir(Folder, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return s.unplaced(err)
		}
	}
	inner, err := root.OpenRoot(Folder)
	if readOnly && errors.Is(err, fs.ErrNotExist) {
		s.disk = nil
		return nil
	}
	if err != nil {
		return s.unplaced(err)
	}
	s.disk, s.inner = inner, inner
	return nil
}

// look looks at the directory of states: it is not part of the tree. If nothing is known yet, there
// may be a state for the URL of a tree that has been moved.
func (s *State) look(d disk.Disk, p Place) error {
	info, err := d.Stat(p.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return s.unplaced(err)
	}
	s.aside = append(s.aside, info)
	if p.File == "" && s.inner == nil && len(s.files)+len(s.parts) == 0 {
		s.findMoved(d, p.Dir)
	}
	return nil
}

// findMoved notes the latest state for the URL whose tree is not where it was.
func (s *State) findMoved(d disk.Disk, dir string) {
	list, err := d.OpenFile(dir, os.O_RDONLY, 0)
	if err != nil {
		return // nothing depends on it
	}
	names, _ := list.Readdirnames(-1)
	list.Close()
	var latest time.Time
	for _, name := range names {
		name = filepath.Join(dir, name)
		if !strings.HasPrefix(filepath.Base(name), prefixOf(s.url)) || filepath.Ext(name) != ".jsonl" || name == s.name {
			continue
		}
		tree, written := treeOf(d, name)
		if tree == "" || !written.After(latest) {
			continue
		}
		if _, err := d.Stat(tree); errors.Is(err, fs.ErrNotExist) {
			latest = written
			s.Note = fmt.Sprintf("this folder has no state yet; %s is that of %s, which no longer exists: if it was this folder, rename that file to %s", name, tree, s.name)
		}
	}
}

// treeOf returns the path of the tree in the first line of a state, and when the state was written.
// The path is empty if it is not known.
func treeOf(d disk.Disk, name string) (tree string, written time.Time) {
	f, err := d.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return "", written
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", written
	}
	line, _ := bufio.NewReaderSize(f, maxLine).ReadSlice('\n')
	var rec Line
	if json.Unmarshal(line, &rec) != nil || !rec.Start || strings.ContainsRune(rec.Folder, utf8.RuneError) {
		return "", written
	}
	return rec.Folder, info.ModTime()
}

// IsAside reports whether a file or directory below the tree is that of the state, which is not part
// of the tree.
func (s *State) IsAside(info fs.FileInfo) bool {
	return slices.ContainsFunc(s.aside, func(aside fs.FileInfo) bool { return disk.SameFile(info, aside) })
}
