package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/disk"
)

// Edit implements [driver.Editor] by system calls. There are no checksums. EditRename replaces an
// existing file, and EditRemove does not remove directories.
func (f *Fetcher) Edit(ctx context.Context, req *fetch.Request, edits []fetch.Edit) error {
	a, err := f.access(ctx, req)
	if err != nil {
		return err
	}
	in, dir := disk.Folder(a.disk), a.path
	if a.opt.NoFollow > 0 {
		if in, err = a.descend(); err != nil {
			return a.fail(fetch.OpWrite, err)
		}
		defer in.Close()
		dir = ""
	}
	for i := range edits {
		edit := &edits[i]
		if ctx.Err() != nil {
			return a.fail(fetch.OpWrite, ctx.Err())
		}
		if err := f.edit(ctx, a, in, dir, edit); err != nil {
			edit.Err = a.fail(fetch.OpWrite, err)
		}
		edit.Done = true
	}
	return nil
}

// edit performs one edit. Names lead from the directory dir of the folder in.
func (f *Fetcher) edit(ctx context.Context, a *access, in disk.Folder, dir string, e *fetch.Edit) error {
	path, err := entry(dir, e.Name)
	if err != nil {
		return err
	}
	info, err := in.Lstat(path)
	if err != nil && e.Kind != fetch.EditMakeDir && e.Kind != fetch.EditLink {
		return err
	}
	switch e.Kind {
	case fetch.EditSize:
		e.Size = info.Size()
		return nil
	case fetch.EditRename:
		if e.ToDir != nil {
			if a.opt.NoFollow > 0 {
				return &fetch.Error{Kind: fetch.ErrUnsupported, Err: errors.New("NoFollow and ToDir exclude each other")}
			}
			other, err := f.access(ctx, &fetch.Request{Locator: e.ToDir, From: a.req.From})
			if err != nil {
				return err
			}
			dir = other.path
		}
		to, err := entry(dir, e.To)
		if err != nil {
			return err
		}
		return in.Rename(path, to)
	case fetch.EditRemove, fetch.EditRemoveDir:
		if info.IsDir() != (e.Kind == fetch.EditRemoveDir) {
			return fmt.Errorf("is %s", describe(info.Mode()))
		}
		return in.Remove(path)
	case fetch.EditMakeDir:
		return in.Mkdir(path, cmp.Or(e.Mode.Perm(), 0o777))
	case fetch.EditTime:
		return in.Chtimes(path, e.Time, e.Time)
	case fetch.EditLink:
		return in.Symlink(e.To, path)
	case fetch.EditMode:
		file, err := in.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
		if err != nil {
			return err
		}
		return errors.Join(file.Chmod(e.Mode.Perm()), file.Close())
	}
	return &fetch.Error{Kind: fetch.ErrUnsupported, Err: errors.New("the system has no such call")}
}

const separator = string(os.PathSeparator)

// entry returns the path of an entry of a directory. A ".." in dir is the system's to resolve, after links.
func entry(dir, name string) (string, error) {
	bad := `/` + "\x00"
	if runtime.GOOS == "windows" {
		bad += `\:`
	}
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, bad) {
		return "", &fetch.Error{Kind: fetch.ErrBadURL, Err: fmt.Errorf("%q is not the name of a file in a directory", name)}
	}
	if dir == "" {
		return name, nil
	}
	return strings.TrimSuffix(dir, separator) + separator + name, nil
}
