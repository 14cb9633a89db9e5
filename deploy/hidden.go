package deploy

import (
	"context"
	"maps"
	"path"
	"slices"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/sync/site"
)

// hidden asks for the files that listings do not show.
type hidden struct {
	*listing
	contents *contents
	files    []*file
	sent     []string // the files of the state that are not excluded
}

// ask adds the names to the listing that the server has. It asks for their sizes.
func (h *hidden) ask(ctx context.Context) {
	byDir := make(map[string][]string)
	ask := func(name string) {
		if _, listed := h.entry(name); !listed && h.hides(name) && h.dirs[path.Dir(name)].Entries != nil {
			byDir[path.Dir(name)] = append(byDir[path.Dir(name)], path.Base(name))
		}
	}
	for _, f := range h.files {
		ask(f.path)
	}
	for _, name := range h.sent {
		ask(name)
	}
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		names := byDir[dir]
		slices.Sort(names)
		edits := make([]fetch.Edit, 0, len(names))
		for _, name := range slices.Compact(names) {
			edits = append(edits, fetch.Edit{Kind: fetch.EditSize, Name: name})
		}
		if err := h.edit(ctx, dir, edits); err != nil {
			h.fail(ctx, dir, true, err)
			continue
		}
		for _, e := range edits {
			if e.Err == nil {
				h.add(path.Join(dir, e.Name), site.Entry{Size: e.Size})
			}
		}
	}
	for _, f := range h.files {
		// Some servers refuse SIZE for all files, by the same reply as for one that they do not have.
		if _, found := h.entry(f.path); !found && f.placed && f.link == "" && slices.Contains(byDir[f.dir()], path.Base(f.path)) {
			if err := h.try(ctx, func() error { return h.contents.check(ctx, f, path.Base(f.path)) }); err == nil {
				h.add(f.path, site.Entry{Size: f.size})
			}
		}
	}
}
