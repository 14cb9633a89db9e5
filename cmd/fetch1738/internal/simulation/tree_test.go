package simulation

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror"
)

func copyTree(o *once) error {
	r := o.resolver()
	defer r.Close()
	ref, err := locator.Parser{}.Parse(o.w.sites[0].tree())
	if err != nil {
		return err
	}
	m := mirror.Mirror{
		Fetcher: r, Start: ref.Locator, Dir: copyDir, Delete: o.w.plan.deletes(),
		Connections: o.w.plan.connections(),
		Report: func(e mirror.Event) {
			if e.Err != nil {
				o.says(e.Err)
			}
		},
	}
	if o.w.plan.Variant/8%3 == 0 {
		m.Retry = func(ctx context.Context, n int, err error) bool {
			time.Sleep(time.Second)
			return n < 2 && ctx.Err() == nil
		}
	}
	if o.w.plan.tries() {
		if err := o.tries(m); err != nil {
			return err
		}
	}
	_, err = m.Run(o.context())
	return err
}

// tries does a dry run, which must not change anything.
func (o *once) tries(m mirror.Mirror) error {
	before := maps.Collect(o.w.disk.Files())
	m.DryRun = true
	_, err := m.Run(o.context())
	after := maps.Collect(o.w.disk.Files())
	if !o.w.plan.Twice && !maps.EqualFunc(before, after, bytes.Equal) && !o.w.meddles() {
		o.w.breaks("a dry run has changed files")
	}
	return err
}

// meddles reports whether others change files.
func (w *world) meddles() bool {
	return slices.ContainsFunc(w.plan.Events, func(e Event) bool {
		return e.Kind == "edit" || w.plan.uploads() && slices.Contains([]string{"restart", "jump"}, e.Kind) || strings.HasPrefix(e.Kind, "crash") || isOfOthers(e)
	})
}

// copyOf returns the path of a document in the copy.
func copyOf(s *site, d *document) string {
	switch s.Scheme {
	case "nntp":
		return copyDir + d.name[strings.LastIndex(d.name, "/"):]
	case "gopher":
		item := ""
		if slices.Contains(s.Habits, "gopherd") {
			item = map[bool]string{true: "/0", false: "/9"}[d.text]
		}
		return copyDir + item + "/" + d.name
	}
	return copyDir + strings.ReplaceAll(strings.TrimPrefix(d.name, "pub"), "/~", "/%7E")
}

// edited is what the user writes into a file of the copy.
var edited = []byte("edited by the user")

// foreign returns the name of a file of the user where a document would be copied to, or "".
func (w *world) foreign() string {
	s, d := w.sites[0], w.sites[0].documents[len(w.sites[0].documents)-1]
	if !w.op.tree || w.plan.uploads() || w.op.name == "FS" || w.plan.Variant/256%4 > 0 || w.folds(d) {
		return ""
	}
	return copyOf(s, d)
}

// copied checks a copy of a tree.
func copied(o *once, err error) {
	s := o.w.sites[0]
	forges := s.forges(o.w.plan.Events)
	if data, _ := o.w.disk.Get(own); !bytes.Equal(data, ownText) {
		o.w.breaks("the file of the user is changed")
	}
	o.spares(s)
	for _, d := range s.documents {
		path := copyOf(s, d)
		data, exists := o.w.disk.Get(path)
		_, existed := o.had[path]
		seen := d.during(o.began, time.Now())
		switch {
		case path == o.w.foreign():
			if !bytes.Equal(data, ownText) {
				o.w.breaks("%s of the user in the copy is changed", d.name)
			}
		case existed && !exists && o.had[path] == string(edited):
			o.w.breaks("%s was deleted, although the user has changed it", d.name)
		case bytes.Equal(data, edited):
		case exists && !d.has(data, time.Time{}, time.Now()) && !forges && !o.w.folds(d):
			o.w.breaks("%s in the copy has %d bytes that no version has: %v", d.name, len(data), err)
		case exists && s.unmarks(d) && d.has([]byte(o.had[path]), time.Time{}, time.Now()) && !d.has(data, time.Time{}, time.Now()):
			o.w.breaks("%s in the copy was complete, and has %d bytes that no version has: %v", d.name, len(data), err)
		case o.w.folds(d):
		case existed && !exists && o.crashed: // it was not there for long
		case existed && !exists && !o.w.plan.deletes():
			o.w.breaks("%s was deleted, although nothing was to be deleted", d.name)
		case existed && !exists && !wasGone(seen) && !lies(o.w.plan):
			o.w.breaks("%s was deleted, although the server has it", d.name)
		case forges, lies(o.w.plan):
		case err == nil && !exists && !wasGone(seen) && len(seen) == 1:
			o.w.breaks("%s is not in the copy, although the run succeeded", d.name)
		case err == nil && exists && len(seen) == 1 && !seen[0].gone && !bytes.Equal(data, seen[0].data) && !forges:
			o.w.breaks("%s in the copy is old, although the run succeeded", d.name)
		}
	}
}

// spares checks what must not be deleted even if a listing lies: all files of the directory,
// because it lists none, or more than half of many files.
func (o *once) spares(s *site) {
	var top, kept, files, deleted, wrongly int
	for _, d := range s.documents {
		path := copyOf(s, d)
		if _, existed := o.had[path]; !existed || path == o.w.foreign() {
			continue
		}
		files++
		_, exists := o.w.disk.Get(path)
		if strings.Count(path, "/") == strings.Count(own, "/") {
			if top++; exists {
				kept++
			}
		}
		if !exists {
			if deleted++; !wasGone(d.during(o.began, time.Now())) {
				wrongly++
			}
		}
	}
	// What the directory still lists may not be in the copy.
	listed := o.w.foreign() != "" || slices.ContainsFunc(o.w.plan.Events, func(e Event) bool { return hushes(e) && e.N%5 > 0 })
	switch {
	case wrongly == 0 || o.crashed || o.w.plan.Twice:
	case top > 0 && kept == 0 && !listed:
		o.w.breaks("all files were deleted, although the server has %d of them", wrongly)
	case s.Scheme != "gopher" && files > 10 && 2*deleted > files: // of gopher, menus are files, too
		o.w.breaks("%d of %d files were deleted, although the server has %d of them", deleted, files, wrongly)
	}
}

// lies reports whether a listing may lack lines in a way that no client can see: it ends with "226
// complete".
func lies(p *Plan) bool {
	return slices.ContainsFunc(p.Events, func(e Event) bool {
		if hushes(e) {
			return true
		}
		early := strings.HasPrefix(e.Fault, "Truncate") || e.Fault == "Close" || e.replaces()
		return early && slices.Contains([]string{"DATA", "LIST", "MLSD", "END"}, e.Name)
	})
}

func wasGone(seen []version) bool {
	for _, v := range seen {
		if v.gone {
			return true
		}
	}
	return false
}

// folds reports whether the name of another document differs in case only. A mirror refuses one of
// them.
func (w *world) folds(d *document) bool {
	for _, other := range w.sites[0].documents {
		if other != d && strings.EqualFold(other.name, d.name) {
			return true
		}
	}
	return false
}

func wantsTree(w *world) {
	s := w.sites[0]
	for _, d := range s.documents {
		data, _ := w.disk.Get(copyOf(s, d))
		// What is gone may still be there: a folder that is empty now, or a tree of which most is
		// gone, keeps its files.
		if v := d.last(); !v.gone && !bytes.Equal(data, v.data) && !w.folds(d) && copyOf(s, d) != w.foreign() {
			w.breaks("in the end %s in the copy has %d bytes, and not those of the document", d.name, len(data))
		}
	}
}
