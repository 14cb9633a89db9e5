package deploy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/deploy/internal/state"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/sync/removal"
)

// Reasons of Skipped and Failed events.
var (
	errLink     = errors.New("symbolic link; see Upload.Links")
	errSpecial  = errors.New("not a regular file or directory")
	errLoop     = errors.New("symbolic link to a folder above it")
	errTooDeep  = errors.New("folders are nested too deeply; Upload.Depth sets the limit")
	errManyHere = errors.New("more entries than the limit; Upload.MaxEntries sets it")
)

// A tree is what Dir has, by the paths on the server. The path of Dir itself is ".".
type tree struct {
	files   []*file         // in the order of paths
	dirs    map[string]int  // how many files each has
	skipped map[string]bool // what is not sent
	moved   map[string]bool // the paths in Dir of what has another path on the server
}

// contents returns what a folder of the tree has.
func (t *tree) contents() func(dir string) removal.Contents {
	above := make(map[string]bool)
	for dir := range t.dirs {
		if dir != "." {
			above[path.Dir(dir)] = true
		}
	}
	return func(dir string) removal.Contents {
		switch files, ok := t.dirs[dir]; {
		case !ok:
			return removal.Unknown
		case files > 0:
			return removal.Files
		case above[dir]:
			return removal.OnlyFolders
		}
		return removal.Nothing
	}
}

// A walker goes through the folders of Dir.
type walker struct {
	*Upload
	*journal
	selection
	root     folder
	isAside  func(fs.FileInfo) bool // whether it is the state
	maxDepth int

	tree    tree
	above   []fs.FileInfo // the folders that lead to the current one
	entries int
}

// walk finds the files of Dir.
func (w *walker) walk(ctx context.Context) (*tree, error) {
	w.tree = tree{dirs: make(map[string]int), skipped: make(map[string]bool), moved: make(map[string]bool)}
	info, err := w.root.Stat(".")
	if err != nil {
		return nil, err
	}
	w.above = []fs.FileInfo{info}
	if err := w.folder(ctx, ".", "."); err != nil {
		return nil, err
	}
	files := w.tree.files
	slices.SortFunc(files, func(a, b *file) int { return strings.Compare(a.path, b.path) })
	for i, f := range files {
		_, twice := w.tree.dirs[f.path]
		for _, other := range files[max(0, i-1):min(i+2, len(files))] {
			twice = twice || other != f && other.path == f.path
		}
		if twice {
			w.failFile(ctx, f, fmt.Errorf("%s: another file or folder here has the same name on the server, %q; rename one of them", f.local, f.path))
		}
	}
	return &w.tree, ctx.Err()
}

// folder goes through one folder, which is local in Dir. Its error ends the walk.
func (w *walker) folder(ctx context.Context, local, dir string) error {
	w.tree.dirs[dir] += 0 // two folders may be one on the server
	d, err := w.root.OpenFile(local, os.O_RDONLY, 0)
	var names []string
	if err == nil {
		names, err = d.Readdirnames(-1)
		err = errors.Join(err, d.Close())
	}
	if err != nil {
		w.fail(ctx, dir, true, err)
		delete(w.tree.dirs, dir) // nothing is known about it
		return nil
	}
	if w.entries += len(names); w.entries > w.MaxEntries {
		return errManyHere
	}
	slices.Sort(names)
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		local := path.Join(local, name)
		if local == state.Folder || local == IgnoreFile {
			continue
		}
		if err := w.entry(ctx, local, w.serverPath(local, dir)); err != nil {
			return err
		}
	}
	return nil
}

// serverName returns the name on the server of an entry of Dir; see Upload.ServerName.
func (w *walker) serverName(local string) (name string, refused error) {
	if w.ServerName == nil {
		return "", nil
	}
	return w.ServerName(local)
}

// serverPath returns the path on the server of an entry of the folder dir.
func (w *walker) serverPath(local, dir string) string {
	base := path.Base(local)
	if name, refused := w.serverName(local); name != "" && refused == nil {
		base = name
	}
	on := path.Join(dir, base)
	if on != local {
		w.renamed[on], w.tree.moved[local] = local, true
	}
	return on
}

// reportName reports the name on the server of an entry that has another one there.
func (w *walker) reportName(local, on string) {
	switch name, refused := w.serverName(local); {
	case name != "" && refused != nil:
		w.note("%s: it is sent under this name, not as %q: %v", local, name, refused)
	case name != "":
		e := w.at(Renamed, on, false)
		e.Name = name
		w.Tell(e)
	}
}

// entry adds an entry of a folder: local in Dir, and name on the server.
func (w *walker) entry(ctx context.Context, local, name string) error {
	info, err := w.root.Lstat(local)
	if err != nil {
		w.fail(ctx, name, false, err)
		return nil
	}
	if name == w.RemoteState && !w.excludes(name, info.IsDir()) {
		return driver.Fail(fetch.OpMirror, w.site.At(components(name), false), fetch.ErrExists,
			errors.New("the tree has a file of this name, which Upload.RemoteState would replace; choose another name there, or use Upload.Exclude"))
	}
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if w.excludes(name, false) {
			return nil
		}
		switch w.Links {
		case SkipLinks:
			w.skip(name, errLink)
			return nil
		case CopyLinks:
			link, err = w.root.Readlink(local)
		default:
			info, err = w.root.Stat(local)
		}
		if err != nil {
			w.fail(ctx, name, false, err)
			return nil
		}
	}
	switch {
	case w.excludes(name, info.IsDir()), w.isAside(info):
	case info.IsDir():
		w.reportName(local, name)
		return w.enter(ctx, local, name, info)
	case link != "" || info.Mode().IsRegular():
		w.reportName(local, name)
		w.tree.dirs[path.Dir(name)]++
		w.tree.files = append(w.tree.files, &file{path: name, local: local, size: info.Size(), modified: info.ModTime(), mode: info.Mode(), link: link})
	default:
		w.skip(name, errSpecial)
	}
	return nil
}

// enter goes through a folder below the current one.
func (w *walker) enter(ctx context.Context, local, name string, info fs.FileInfo) error {
	switch {
	case slices.ContainsFunc(w.above, func(up fs.FileInfo) bool { return disk.SameFile(up, info) }):
		w.skip(name, errLoop)
		return nil
	case len(w.above) >= w.maxDepth && w.Depth == 0:
		w.fail(ctx, name, true, errTooDeep)
		return nil
	case len(w.above) >= w.maxDepth:
		return nil
	}
	w.above = append(w.above, info)
	err := w.folder(ctx, local, name)
	w.above = w.above[:len(w.above)-1]
	return err
}

// skip reports an entry of Dir that is not sent.
func (w *walker) skip(name string, reason error) {
	w.tree.skipped[name] = true
	e := w.at(Skipped, name, false)
	e.Err = reason
	w.Tell(e)
}
