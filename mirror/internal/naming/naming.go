// Package naming gives the files of a copy their names: by rules that the copy keeps.
package naming

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/file/filename"
)

// A Naming gives files their names.
type Naming struct {
	filename.Naming
	earlier bool // the copy is one of an earlier version: all names are made safe
}

// words are the words for namings in the manifest.
var words = [...]string{filename.KeepSafe: "safe", filename.KeepUsual: "usual", filename.KeepAll: "all"}

// portable follows the word of a Portable naming.
const portable = " portable"

// Word returns what the manifest says about a naming.
func (n Naming) Word() string {
	switch {
	case n.earlier:
		return ""
	case n.Portable:
		return words[n.Keep] + portable
	}
	return words[n.Keep]
}

// Name returns the name of a file for a name of the server.
func (n Naming) Name(name string) string {
	if n.earlier {
		return filename.Component(name)
	}
	return n.Naming.Name(name)
}

// Path returns p as a slash-separated path of local names.
func (n Naming) Path(p []string) string {
	names := make([]string, len(p))
	for i, name := range p {
		names[i] = n.Name(name)
	}
	return strings.Join(names, "/")
}

// A Place is where a copy is.
type Place struct {
	Disk   disk.Disk
	Root   disk.Folder // of the copy; nil if it does not exist yet
	Inner  disk.Folder // the folder of the manifest; nil in a dry run
	Folder string      // its name
	IsCopy bool        // the manifest says that the folder is a copy
	Word   string      // what the manifest says; empty if nothing
}

// Choose returns the naming of a copy. If wish is nil, an existing copy keeps its naming, and a new
// one keeps the names of the server where that is safe.
func (p *Place) Choose(wish *filename.Keep) Naming {
	var n Naming
	word, isPortable := strings.CutSuffix(p.Word, portable)
	known := slices.Index(words[:], word)
	switch {
	case wish != nil:
		n.Keep = *wish
	case p.IsCopy && known < 0:
		n.earlier = true
	case p.isHome():
		n.Keep = filename.KeepSafe
	case p.IsCopy:
		n.Keep = filename.Keep(known)
	case p.hasOthers():
		n.Keep = filename.KeepSafe
	default:
		n.Keep = filename.KeepUsual
	}
	n.Portable = isPortable || known < 0 && p.Inner != nil && !p.takesAnyName()
	return n
}

// isHome reports whether the folder is the home directory.
func (p *Place) isHome() bool {
	home, err := os.UserHomeDir()
	if err != nil || p.Root == nil {
		return false
	}
	at, err := p.Disk.Stat(home)
	here, hereErr := p.Root.Stat(".")
	return err == nil && hereErr == nil && disk.SameFile(at, here)
}

// hasOthers reports whether the folder has anything but that of the manifest.
func (p *Place) hasOthers() bool {
	if p.Root == nil {
		return false
	}
	dir, err := p.Root.OpenFile(".", os.O_RDONLY, 0)
	if err != nil {
		return true
	}
	defer dir.Close()
	names, err := dir.Readdirnames(2)
	return err != nil && err != io.EOF || slices.ContainsFunc(names, func(name string) bool { return name != p.Folder })
}

// takesAnyName reports whether the file system can have names that Windows cannot have.
func (p *Place) takesAnyName() bool {
	const name = "\"*:<>?|\xff.part"
	file, err := p.Inner.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err == nil {
		err = errors.Join(file.Close(), p.Inner.Remove(name))
	}
	return err == nil
}
