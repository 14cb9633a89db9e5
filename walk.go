package fetch1738

import (
	"context"
	"io/fs"
	"iter"

	"github.com/fetch1738/fetch1738/fetch"
)

// Walk returns the files and directories below the directory at url, in lexical order. The Name of
// each Item is its path below the directory, with slashes. If r is nil, it is a new Resolver with
// every default.
//
// The schemes and the entries are those of [FS]: each directory is listed once, and the walk ends
// also where menus lead to one another.
//
// A directory that cannot be listed yields its Item again, with the error, and the walk continues.
// The one at url has the Name "." then. An error of the url or of ctx ends the walk.
func Walk(ctx context.Context, r *Resolver, url string) iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		fsys, err := FS(ctx, r, url)
		if err != nil {
			yield(fetch.Item{}, err)
			return
		}
		if r == nil {
			defer fsys.Close()
		}
		_ = fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
			if path == "." && err == nil {
				return nil
			}
			e, listed := d.(*entry)
			if !listed { // the directory at url, which no listing has
				e, _ = fsys.stat(path, false)
			}
			item := e.item
			item.Name, item.Locator = path, e.at.loc
			if !yield(item, err) || ctx.Err() != nil {
				return fs.SkipAll
			}
			return nil
		})
	}
}
