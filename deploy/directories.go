package deploy

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/deploy/internal/state"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/sync/site"
)

// A maker creates directories on the server.
type maker struct {
	*listing
	*written
}

// makeDirs creates the directories of the tree that the server does not have, from the top, and
// returns them.
func (m *maker) makeDirs(ctx context.Context, t *tree) (all []string) {
	if m.Web {
		return nil
	}
	levels := make(map[int]map[string][]string) // by depth and the directory above
	for dir := range t.dirs {
		if _, ok := m.dirs[dir]; ok || dir == "." || m.unlisted[dir] {
			continue
		}
		depth := strings.Count(dir, "/")
		if levels[depth] == nil {
			levels[depth] = make(map[string][]string)
		}
		levels[depth][path.Dir(dir)] = append(levels[depth][path.Dir(dir)], dir)
	}
	for _, depth := range slices.Sorted(maps.Keys(levels)) {
		var aboves []string
		for above := range levels[depth] {
			if _, ok := m.dirs[above]; ok { // else it has failed
				aboves = append(aboves, above)
			}
		}
		slices.Sort(aboves)
		made, found := make([][]string, len(aboves)), make([]map[string]site.Directory, len(aboves))
		m.each(ctx, len(aboves), func(i int, _ func() bool) (err error) {
			made[i], found[i], err = m.makeDirsIn(ctx, aboves[i], levels[depth][aboves[i]])
			return err
		}, func(i int, err error) { m.fail(ctx, aboves[i], true, err) })
		all = append(all, slices.Concat(made...)...)
		for _, dir := range slices.Concat(made...) {
			m.dirs[dir] = site.Directory{Entries: map[string]site.Entry{}, Exact: m.dirs["."].Exact}
		}
		for _, dirs := range found {
			maps.Copy(m.dirs, dirs)
		}
	}
	return all
}

// makeDirsIn creates directories in one directory. It returns those that were created, and the
// listings of those that exist although the server has refused to create them.
func (m *maker) makeDirsIn(ctx context.Context, above string, dirs []string) (made []string, found map[string]site.Directory, err error) {
	slices.Sort(dirs)
	edits := make([]fetch.Edit, len(dirs))
	for i, dir := range dirs {
		edits[i] = fetch.Edit{Kind: fetch.EditMakeDir, Name: path.Base(dir)}
	}
	if err := m.edit(ctx, above, edits); err != nil {
		return nil, nil, err
	}
	found = make(map[string]site.Directory)
	for i, dir := range dirs {
		if err := edits[i].Err; err != nil {
			if d, ok := m.find(ctx, dir); ok {
				found[dir] = d
			} else {
				m.fail(ctx, dir, true, err)
			}
			continue
		}
		m.record(state.Line{URL: m.URL(components(dir), true), File: dir, Size: -1, Dir: true})
		made = append(made, dir)
	}
	return made, found, nil
}

// find lists a directory that the server has refused to create: another client may have created it,
// or its name begins with a dot and is not listed.
func (m *maker) find(ctx context.Context, dir string) (d site.Directory, ok bool) {
	if above, err := m.list(ctx, path.Dir(dir)); err != nil || !above.Entries[path.Base(dir)].Dir && !m.hides(dir) {
		return d, false
	}
	d, err := m.list(ctx, dir)
	return d, err == nil
}
