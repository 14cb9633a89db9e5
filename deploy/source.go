package deploy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/deploy/internal/state"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// A file is a file of Dir, or a link that is copied. Its path on the server is that in Dir, unless
// Dir is a copy that has other names.
type file struct {
	path     string // on the server
	local    string // in Dir
	size     int64
	modified time.Time
	mode     fs.FileMode
	link     string // the target, if a link is copied
	data     []byte // the content of a file that is not in Dir: the remote state
	sum      string // SHA256 in hexadecimal; empty until it is known
	isNew    bool   // the server does not have it
	tried    bool
	part     string // the name under which it is complete on the server, until it is renamed
	direct   bool   // it is stored under its name, because the server has not renamed its part
	placed   bool   // it has its name there
	timed    bool   // the server has set its time
	failed   bool
}

func (f *file) dir() string { return path.Dir(f.path) }

// A tree holds the directories of Dir by their paths on the server, with the number of files that
// each has. The path of Dir itself is ".".
type tree map[string]int

// Reasons of Skipped events.
var (
	errLink     = errors.New("symbolic link; see Upload.Links")
	errSpecial  = errors.New("not a regular file or directory")
	errLoop     = errors.New("symbolic link to a folder above it")
	errTooDeep  = errors.New("folders are nested too deeply; Mirror.Depth sets the limit")
	errManyHere = errors.New("more entries than the limit; Mirror.MaxEntries sets it")
)

// excludes reports whether a path, whose folder is not excluded, is not part of the tree.
func (r *run) excludes(name string, dir bool) bool {
	switch parts := components(name); {
	case name == state.Folder, name == IgnoreFile:
		return true
	case dir && !r.Filter.Dir(parts), !dir && !r.Filter.File(parts):
		return true
	}
	return r.ignored(name, dir)
}

// isExcluded reports whether a path at the server is excluded, or below a folder that is.
func (r *run) isExcluded(name string, dir bool) bool {
	for i, c := range name {
		if c == '/' && r.excludes(name[:i], true) {
			return true
		}
	}
	return name == r.RemoteState || r.excludes(name, dir)
}

// walk finds the files of Dir.
func (r *run) walk(ctx context.Context) error {
	r.local = make(tree)
	info, err := r.root.Stat(".")
	if err != nil {
		return err
	}
	w := &walker{run: r, above: []fs.FileInfo{info}}
	if err := w.folder(ctx, ".", "."); err != nil {
		return err
	}
	slices.SortFunc(r.files, func(a, b *file) int { return strings.Compare(a.path, b.path) })
	for i, f := range r.files {
		_, twice := r.local[f.path]
		for _, other := range r.files[max(0, i-1):min(i+2, len(r.files))] {
			twice = twice || other != f && other.path == f.path
		}
		if twice {
			r.failFile(ctx, f, fmt.Errorf("%s: another file or folder here has the same name on the server, %q; rename one of them", f.local, f.path))
		}
	}
	return ctx.Err()
}

// A walker goes through the folders of Dir.
type walker struct {
	*run
	above   []fs.FileInfo // the folders that lead to the current one
	entries int
}

// folder goes through one folder, which is local in Dir. Its error ends the walk.
func (w *walker) folder(ctx context.Context, local, dir string) error {
	w.local[dir] += 0 // two folders may be one on the server
	d, err := w.root.OpenFile(local, os.O_RDONLY, 0)
	var names []string
	if err == nil {
		names, err = d.Readdirnames(-1)
		err = errors.Join(err, d.Close())
	}
	if err != nil {
		w.fail(ctx, dir, true, err)
		delete(w.local, dir) // nothing is known about it
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

// serverPath returns the path on the server of an entry of the folder dir.
func (w *walker) serverPath(local, dir string) string {
	base := path.Base(local)
	if name, isOther := w.Names[local]; isOther && name.Refused == nil {
		base = name.Server
	}
	on := path.Join(dir, base)
	if on != local {
		w.renamed[on], w.left[local] = local, true
	}
	return on
}

// reportName reports the name on the server of an entry that has another one there in the copy.
func (w *walker) reportName(local, name string) {
	switch of, isOther := w.Names[local]; {
	case isOther && of.Refused != nil:
		w.note("%s: it is sent under this name, not as %q: %v", local, of.Server, of.Refused)
	case isOther:
		w.report(Event{What: Renamed, File: name, URL: w.site.URL(components(name), false), Size: -1, Name: of.Server})
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
			errors.New("the tree has a file of this name, which Upload.RemoteState would replace; choose another name there, or use Mirror.Exclude"))
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
	case w.excludes(name, info.IsDir()), w.state.IsAside(info):
	case info.IsDir():
		w.reportName(local, name)
		return w.enter(ctx, local, name, info)
	case link != "" || info.Mode().IsRegular():
		w.reportName(local, name)
		w.local[path.Dir(name)]++
		w.files = append(w.files, &file{path: name, local: local, size: info.Size(), modified: info.ModTime(), mode: info.Mode(), link: link})
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
	case len(w.above) >= w.Depth && w.AnyDepth:
		w.fail(ctx, name, true, errTooDeep)
		return nil
	case len(w.above) >= w.Depth:
		return nil
	}
	w.above = append(w.above, info)
	err := w.folder(ctx, local, name)
	w.above = w.above[:len(w.above)-1]
	return err
}

// skip reports an entry of Dir that is not sent.
func (r *run) skip(name string, reason error) {
	r.skipped[name] = true
	r.report(Event{What: Skipped, File: name, URL: r.site.URL(components(name), false), Size: -1, Err: reason})
}

// open opens a file for reading. It fails if the file is no longer what walk has found.
func (r *run) open(f *file) (disk.File, error) {
	src, err := r.root.OpenFile(f.local, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	if err := f.unchanged(src); err != nil {
		src.Close()
		return nil, err
	}
	return src, nil
}

// unchanged fails if an open file has another size or time than the walk has found.
func (f *file) unchanged(src disk.File) error {
	info, err := src.Stat()
	if err == nil && (info.Size() != f.size || !info.ModTime().Equal(f.modified)) {
		err = errors.New("the file has changed during the run")
	}
	return err
}

// sumOf sets f.sum.
func (r *run) sumOf(f *file) error {
	if f.sum != "" {
		return nil
	}
	src, err := r.open(f)
	if err != nil {
		return err
	}
	defer src.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, src); err != nil {
		return err
	}
	if err := f.unchanged(src); err != nil {
		return err
	}
	f.sum = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// components returns the parts of a path below Dir. "." has none.
func components(name string) []string {
	if name == "." || name == "" {
		return nil
	}
	return strings.Split(name, "/")
}
