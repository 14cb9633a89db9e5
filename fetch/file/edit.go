package file

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
)

// Edit implements [fetch.Editor] by system calls. There are no checksums. EditRename replaces an
// existing file, and EditRemove does not remove directories.
func (f *Fetcher) Edit(ctx context.Context, req *fetch.Request, edits []fetch.Edit) error {
	a, err := f.access(ctx, req)
	if err != nil {
		return err
	}
	for i := range edits {
		edit := &edits[i]
		if ctx.Err() != nil {
			return a.fail(fetch.OpWrite, ctx.Err())
		}
		if err := f.edit(ctx, a, edit); err != nil {
			edit.Err = a.fail(fetch.OpWrite, err)
		}
		edit.Done = true
	}
	return nil
}

// edit performs one edit.
func (f *Fetcher) edit(ctx context.Context, a *access, e *fetch.Edit) error {
	path, err := a.entry(e.Name)
	if err != nil {
		return err
	}
	info, err := a.disk.Lstat(path)
	if err != nil && e.Kind != fetch.EditMakeDir && e.Kind != fetch.EditLink {
		return err
	}
	switch e.Kind {
	case fetch.EditSize:
		e.Size = info.Size()
		return nil
	case fetch.EditRename:
		dir := a
		if e.ToDir != nil {
			if dir, err = f.access(ctx, &fetch.Request{Locator: e.ToDir, From: a.req.From}); err != nil {
				return err
			}
		}
		to, err := dir.entry(e.To)
		if err != nil {
			return err
		}
		return a.disk.Rename(path, to)
	case fetch.EditRemove, fetch.EditRemoveDir:
		if info.IsDir() != (e.Kind == fetch.EditRemoveDir) {
			return fmt.Errorf("is a %s", describe(info.Mode()))
		}
		return a.disk.Remove(path)
	case fetch.EditMakeDir:
		return a.disk.Mkdir(path, 0o777)
	case fetch.EditTime:
		return a.disk.Chtimes(path, e.Time, e.Time)
	case fetch.EditLink:
		return a.disk.Symlink(e.To, path)
	case fetch.EditMode:
		file, err := a.disk.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
		if err != nil {
			return err
		}
		return errors.Join(file.Chmod(e.Mode.Perm()), file.Close())
	}
	return &fetch.Error{Kind: fetch.ErrUnsupported, Err: errors.New("the system has no such call")}
}

// entry returns the path of an entry of the directory.
func (a *access) entry(name string) (string, error) {
	bad := `/` + "\x00"
	if runtime.GOOS == "windows" {
		bad += `\:`
	}
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, bad) {
		return "", &fetch.Error{Kind: fetch.ErrBadURL, Err: fmt.Errorf("%q is not the name of a file in a directory", name)}
	}
	return filepath.Join(a.path, name), nil
}
