package files

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/curl"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

const mvHelp = `Usage: fetch1738 mv [option]... URL NEWURL
       fetch1738 mv [option]... URL... DIRECTORYURL/

Renames a file or directory on a server, or moves it into another directory there. If
NEWURL is a directory, URL moves into it. Both must be on the same server: ftp, ftps or
file, or http and https, where the server is sent MOVE (WebDAV).

  $ fetch1738 mv ftp://user@ftp.example.org/a ftp://user@ftp.example.org/old/

A file that exists is not replaced unless -f is given. To find out, mv lists the
directory of NEWURL, or sends "Overwrite: F". If the server does not list it, -f is
required, too.

The options for connecting (-u, -n, -x, --proto and so on) work as without a verb. The
following options are for mv:
`

func mvVerb() verb {
	return verb{
		name: "mv", summary: "rename and move files and directories on a server", help: mvHelp, does: "renames files", least: 2, do: mv,
		familiar: mvFamiliar,
		options: func(s *settings) []curl.Option {
			return []curl.Option{
				own("", "dry-run", "Show what would be moved; move nothing", &s.dryRun),
				own("f", "force", "Replace files that exist", &s.force),
				own("", "json", "Print what was moved and failures as JSON Lines", &s.json),
				verbose("Print the URLs of each moved file"),
			}
		},
	}
}

// A mover moves an operand, or finds out what its new URL is.
type mover struct{ *operand }

// mv moves all operands but the last one.
func mv(ctx context.Context, r *run) error {
	last := len(r.op.URLs) - 1
	to, err := r.destination(last)
	if err != nil {
		r.fail(to.t, err)
		return nil
	}
	if l, ok := to.t.Locator.(*locator.HTTP); ok {
		return ended(ctx, (webdav{to}).mvAll(ctx, l, last))
	}
	var m *move
	for o := range r.operands(last) {
		if err := o.fits(to); err != nil {
			o.fail(o.t, err)
			continue
		}
		if m == nil {
			if m, err = (mover{to}).target(ctx, r.op.Count() > 2 || o.pattern != nil); err != nil {
				r.fail(to.t, err)
				return nil
			}
		}
		if err := (mover{o}).mv(ctx, m); err != nil {
			return ended(ctx, err)
		}
	}
	return nil
}

// destination returns the operand of the last URL, which must be one.
func (r *run) destination(last int) (*operand, error) {
	globs, _, malformed := r.op.Globs(last)
	o := new(operand)
	for url := range globs.All() {
		if o.t != nil {
			return o, localerr.Errorf(localerr.BadURL, "the new URL must be one; -g turns { } and [ ] in URLs off")
		}
		var err error
		if o, err = r.operand(url, malformed); err != nil {
			return o, err
		}
	}
	switch {
	case o.pattern != nil:
		return o, localerr.Errorf(localerr.BadURL, "the new URL cannot have a wildcard; write %%2A for * and %%3F for ?")
	default:
		return o, o.changes()
	}
}

// fits fails unless an operand is on the server of the new URL, with the same login.
func (o *operand) fits(to *operand) error {
	a, _ := locator.ServerOf(o.t.Locator)
	b, _ := locator.ServerOf(to.t.Locator)
	same := a.Login == b.Login || a.Login != nil && b.Login != nil && *a.Login == *b.Login
	switch {
	case !locator.SameServer(o.t.Locator, to.t.Locator):
		return localerr.Errorf(localerr.BadURL, "%s and %s are on different servers; mv works on one: fetch the file, then upload it with -T", o.t.Locator.Redacted(), to.t.Locator.Redacted())
	case !same:
		return localerr.Errorf(localerr.BadURL, "%s and %s have different logins; mv works with one", o.t.Locator.Redacted(), to.t.Locator.Redacted())
	}
	return nil
}

// A move is where operands move to.
type move struct {
	dir  locator.Locator
	name string     // the new name; "" for that of each operand
	here *directory // what dir has; nil if it cannot be known
	why  error      // then
	made []string   // the names that this run has moved something to
}

// target finds out what the new URL is. If several operands move, it must be a directory.
func (o mover) target(ctx context.Context, several bool) (*move, error) {
	ctx, end := o.context(ctx)
	defer end()
	s, err := spotOf(o.t.Locator)
	if err != nil {
		return nil, err
	}
	if !s.slash && !s.isRoot() {
		d, err := o.sure(ctx, s.dir)
		switch {
		case err != nil && (ctx.Err() != nil || !o.force || lacksDirectory(err) || isFatal(err)):
			return nil, o.unknown(s.dir, err)
		case err != nil && !several:
			return &move{dir: s.dir, name: s.name, why: err}, nil
		case err == nil && !several && !o.isInto(ctx, s, d.find(s.name)):
			return &move{dir: s.dir, name: s.name, here: d}, nil
		case err == nil && d.find(s.name) == nil:
			return nil, failure(s.as(true), fetch.ErrNotFound, "no such directory; several files move into one")
		case err == nil && kindOf(d.find(s.name)) == isFile:
			return nil, failure(s.as(true), fetch.ErrOther, "is not a directory; several files move into one")
		}
	}
	d, err := o.sure(ctx, s.as(true))
	if err != nil && (ctx.Err() != nil || !o.force || isFatal(err) || lacksDirectory(err)) {
		return nil, o.unknown(s.as(true), err)
	}
	return &move{dir: s.as(true), here: d, why: err}, nil
}

// isInto reports whether an entry of a directory, or what it is a link to, is a directory.
func (o mover) isInto(ctx context.Context, s spot, it *fetch.Item) bool {
	if it == nil || kindOf(it) != isLink {
		return it != nil && kindOf(it) == isDir
	}
	exists, _ := o.exists(ctx, s.as(true))
	return exists
}

// sure lists a directory. A listing that is not complete is an error.
func (o mover) sure(ctx context.Context, at locator.Locator) (*directory, error) {
	d, err := o.list(ctx, at, false)
	if err == nil && d.unsure != nil {
		return nil, d.unsure
	}
	return d, err
}

// unknown returns the error of a directory that cannot be listed.
func (o mover) unknown(at locator.Locator, err error) error {
	if o.force || lacksDirectory(err) || !isRefusal(err) && !errors.Is(err, fetch.ErrProtocol) {
		return err
	}
	return failure(at, fetch.ErrOther, "cannot tell whether the new name exists; -f moves anyway: %w", err)
}

// mv moves one operand, or what it matches.
func (o mover) mv(ctx context.Context, m *move) error {
	ctx, end := o.context(ctx)
	defer end()
	s, err := spotOf(o.t.Locator)
	if err == nil && s.isRoot() && o.pattern == nil {
		err = localerr.Errorf(localerr.BadURL, "%s is the root of the server or the directory of the login, which cannot be moved", s.dir.Redacted())
	}
	if err == nil && s.slash && o.pattern == nil {
		isDir, asked := o.exists(ctx, s.as(true))
		if err = asked; err == nil && !isDir {
			err = failure(s.as(true), fetch.ErrOther, "is not a directory; without the slash at the end, mv moves the file of this name")
		}
	}
	names := []string{s.name}
	if err == nil && o.pattern != nil {
		var d *directory
		if d, err = o.sure(ctx, s.dir); err == nil {
			names = nil
			for _, it := range d.matching(o.pattern) {
				names = append(names, it.Name)
			}
			if len(names) == 0 {
				err = noMatch(d, o.pattern)
			}
		}
	}
	if err != nil {
		o.fail(o.t, err)
		return stopAfter(err)
	}
	for _, name := range names {
		if err := o.mvOne(ctx, s.dir, name, m); err != nil {
			return err
		}
	}
	return nil
}

// mvOne moves one file or directory.
func (o mover) mvOne(ctx context.Context, dir locator.Locator, name string, m *move) error {
	from, to := child(dir, name, false), child(m.dir, cmp.Or(m.name, name), false)
	exists, err := false, error(nil)
	there := m.find(cmp.Or(m.name, name))
	if there == nil && !o.force && !locator.Equal(from, to) && o.isHidden(ctx, m.dir, cmp.Or(m.name, name)) {
		there = new(fetch.Item)
	}
	switch {
	case locator.Equal(from, to):
		err = failure(from, fetch.ErrOther, "is already there")
	case there == nil && !slices.Contains(m.made, cmp.Or(m.name, name)):
	case slices.Contains(m.made, cmp.Or(m.name, name)):
		err = justMoved(to)
	case kindOf(there) == isDir:
		err = failure(to, fetch.ErrExists, "is a directory, which mv does not replace")
	case !o.force:
		err = failure(to, fetch.ErrExists, "-f replaces it")
	default:
		exists = true
	}
	if err != nil {
		o.failAt(to, err)
		return nil
	}
	if !o.dryRun {
		edits := []fetch.Edit{{Kind: fetch.EditRename, Name: name, To: cmp.Or(m.name, name), ToDir: m.dir}}
		if err = o.perform(ctx, dir, edits); err == nil {
			err = edits[0].Err
		}
		if exists && err != nil && isRefusal(err) {
			err = failure(to, fetch.ErrExists, "the server may not replace files; delete it first: %w", err)
		}
	} else if d, listErr := o.sure(ctx, dir); listErr != nil || d.find(name) == nil {
		err = cmp.Or(listErr, absent(from))
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		o.failAt(from, err)
		return stopAfter(err)
	}
	m.made = append(m.made, cmp.Or(m.name, name))
	if m.here != nil {
		m.here.add(cmp.Or(m.name, name))
	}
	o.say("moved", "", from, to)
	return nil
}

// justMoved returns the error of a new name that the run has given already: -f does not lose that file.
func justMoved(to locator.Locator) error {
	return failure(to, fetch.ErrExists, "it was moved there just now")
}

// isHidden reports whether a file exists that the listing does not have: the server does not list it,
// treats names in upper and lower case as the same, or another client has created it.
func (o mover) isHidden(ctx context.Context, dir locator.Locator, name string) bool {
	edits, err := o.edit(ctx, dir, fetch.EditSize, []string{name})
	return err == nil && edits[0].Done && edits[0].Err == nil
}

// find returns what is known to have the new name.
func (m *move) find(name string) *fetch.Item {
	if m.here == nil {
		return nil
	}
	return m.here.find(name)
}
