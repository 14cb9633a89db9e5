package deploy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/fetch1738/fetch1738/deploy/internal/state"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/file/resume"
	"github.com/fetch1738/fetch1738/internal/pace"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
)

// resumable is the size in bytes from which on the part of a file is resumed.
const resumable = 64 << 10

// A sender stores the content of single files on the server.
type sender struct {
	*server
	*journal
	*written
	contents *contents
	refusals *pool.Refusals
	pace     *pace.Pace
	dir      string // Upload.Dir
	way      limitations

	mu    sync.Mutex
	parts []state.Line // temporary files of the server that are of no use any more
}

// sendFile stores a file on the server, under a temporary name if it can be renamed.
func (s *sender) sendFile(ctx context.Context, f *file, more func() bool) error {
	if f.link != "" {
		return s.sendLink(ctx, f)
	}
	src, body, err := s.contents.root.content(f)
	if err != nil {
		return err
	}
	defer src.Close()
	name, begun := path.Base(f.path), false
	if !s.Web && !f.direct && !s.way.direct() {
		name = state.PartName(f.sum, path.Base(f.path))
		if begun = s.Begun(f.path, name); !begun {
			rec := s.begin(f)
			rec.Modified, rec.SHA256, rec.Part = f.modified, f.sum, name
			s.record(rec)
		}
	} else if f.data == nil { // without a checksum: if this is the last line about it, it is not complete
		s.record(s.begin(f))
	}
	first := true
	err = s.try(ctx, func() error {
		at, err := s.resumeAt(ctx, f, name, body, begun || !first)
		if first = false; err != nil || at == f.size && at > 0 {
			return err
		}
		return s.put(ctx, f, name, body, at, more)
	})
	f.part = name
	if file, ok := src.(disk.File); ok {
		if changed := f.unchanged(file); changed != nil {
			s.discardPart(f) // it may have other content than its name says
			err = cmp.Or(err, changed)
		}
	}
	if err != nil {
		f.part = ""
		return err
	}
	if name != path.Base(f.path) {
		return nil
	}
	f.part = ""
	if s.contents.checksums {
		if err := s.try(ctx, func() error { return s.contents.check(ctx, f, name) }); err != nil {
			return err
		}
	}
	s.done(f)
	return nil
}

// sendLink creates a link, in place of one that is there.
func (s *sender) sendLink(ctx context.Context, f *file) error {
	if s.Web {
		return driver.Fail(fetch.OpMirror, s.At(components(f.path), false), fetch.ErrUnsupported, errors.New("a web server has no links; see Upload.Links"))
	}
	edits := []fetch.Edit{{Kind: fetch.EditLink, Name: path.Base(f.path), To: f.link}}
	if err := s.edit(ctx, f.dir(), edits); err != nil || edits[0].Err != nil {
		return errors.Join(err, edits[0].Err)
	}
	f.sum = strings.Repeat("0", 64)
	s.done(f)
	return nil
}

// put stores what a file has from an offset on under a name. If the server does not continue files, all of it
// is sent. If a web server has no directory for it, that is created (MKCOL), and the file is sent again.
func (s *sender) put(ctx context.Context, f *file, name string, body content, at int64, more func() bool) error {
	send := func() error {
		if _, err := body.Seek(at, io.SeekStart); err != nil {
			return err
		}
		ctx, part := s.watch(ctx, f, at)
		defer part.End()
		return s.Put(ctx, append(components(f.dir()), name), s.pace.Reader(ctx, body), at, more)
	}
	err := send()
	e, _ := errors.AsType[*fetch.Error](err)
	if at > 0 && e != nil && refusesRest(e) {
		s.way.noRest.Store(true)
		at = 0
		return send()
	}
	missing := e != nil && (e.Code == http.StatusNotFound || e.Code == http.StatusConflict)
	if !s.Web || !missing || f.dir() == "." || s.way.noDirs.Load() {
		return err
	}
	if !s.MakeDirs(ctx, components(f.dir())) {
		s.way.noDirs.Store(true)
		return err
	}
	return send()
}

// refusesRest reports whether the error of an upload from an offset on may mean that the server continues no
// files. ProFTPD does not, unless AllowStoreRestart is on, and says 451.
func refusesRest(e *fetch.Error) bool {
	return (e.Op == "APPE" || e.Op == "REST" || e.Op == "STOR") && (e.Code == 451 || e.Code >= 500) && e.Kind != fetch.ErrTooLarge
}

// refusesPart reports whether err may mean that the server does not accept the name of a part, such as
// one that accepts only certain extensions. The same reply may mean that there is no room, and then an
// old file must stay: that is replaced only if the reply is about the name. New files are sent first, so
// one of them may show that names are what the server refuses.
func (s *sender) refusesPart(f *file, err error) bool {
	e, _ := errors.AsType[*fetch.Error](err)
	if e == nil || e.Op != "STOR" || e.Kind != fetch.ErrPermission || e.Code < 500 || s.Web || f.direct || s.way.direct() {
		return false
	}
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(strings.ToLower(e.Reply), word) })
	}
	noRoom := says("quota", "space", "full", "room", "limit", "exceed", "storage", "disk", "alloc")
	return !noRoom && (f.isNew || says("name", "extension", "prohibited", "character", "invalid", "illegal", "type"))
}

// resumeAt returns how many bytes of a file the server has already, and has right: those before the
// last 4 KiB are believed, because the name is that of the content, and those are fetched and
// compared.
func (s *sender) resumeAt(ctx context.Context, f *file, name string, src content, begun bool) (int64, error) {
	if !begun || s.Web || s.way.noRest.Load() || f.size < resumable || name == path.Base(f.path) {
		return 0, nil
	}
	edits := []fetch.Edit{{Kind: fetch.EditSize, Name: name}}
	if err := s.Edit(ctx, components(f.dir()), edits, nil); err != nil {
		return 0, err
	}
	n := edits[0].Size
	if edits[0].Err != nil || n < resume.Overlap || n > f.size {
		return 0, nil
	}
	res, err := s.Content(ctx, append(components(f.dir()), name), n-resume.Overlap, resume.Overlap)
	if err != nil {
		if ctx.Err() != nil || !errors.Is(err, fs.ErrNotExist) && !resume.Refused(err) {
			return 0, err
		}
		return 0, nil
	}
	defer res.Close()
	theirs, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, nil
	}
	ours := make([]byte, resume.Overlap)
	if _, err := src.ReadAt(ours, n-resume.Overlap); err != nil && err != io.EOF {
		return 0, err
	}
	if !bytes.Equal(ours, theirs) {
		return 0, nil
	}
	return n, nil
}

// refused records that the server has not stored a file. It marks the error if that ends the run, or may.
func (s *sender) refused(ctx context.Context, f *file, err error) error {
	e, ok := errors.AsType[*fetch.Error](err)
	switch mark, _ := pool.Unmark(err); {
	case mark != pool.Own:
		return err
	case disk.IsFull(err): // that of a file URL
		return pool.Over(err)
	case !ok:
		return s.gone(ctx, err)
	}
	switch s.refusals.Refused(e, f.spot(), f.size) {
	case pool.Ends:
		return pool.Over(err)
	case pool.Doubt:
		return pool.InDoubt(err)
	}
	return err
}

// gone returns the error of reading a local file. If the folder does not exist any more, that ends
// the run.
func (s *sender) gone(ctx context.Context, err error) error {
	if _, failed := disk.Of(ctx).Stat(s.dir); err == nil || !errors.Is(failed, fs.ErrNotExist) {
		return err
	}
	return pool.Over(fmt.Errorf("read %s: the folder was removed or renamed while the mirror ran: %w", s.dir, fs.ErrNotExist))
}

// isHopeless reports whether a file is not tried. It is missing at the end.
func (s *sender) isHopeless(f *file) bool {
	if f.data != nil || !s.refusals.IsHopeless(f.spot(), f.size) {
		return false
	}
	if s.refusals.LackRoom() {
		s.note("the server has no room for several files in a row (452, 552, 507): from here on, only smaller ones are sent")
	}
	return true
}

// storeDirect stores a file under its name, on a server that has not renamed its part, or not taken
// it. If that succeeds, it is done with all that follow, unless the server renames others. The part is
// removed with those that are of no use. The user is told first, because half a file may remain.
func (s *sender) storeDirect(ctx context.Context, f *file) {
	if f.part == "" {
		s.note("the server has refused to store a file under a temporary name (STOR): such files are stored under their names, so they are incomplete until they have been sent")
	} else {
		s.note("the server has refused to rename a file (RNFR, RNTO): files that it does not rename are stored under their names, so they are incomplete until they have been sent")
	}
	f.part, f.timed, f.direct = "", false, true
	if err := s.sendFile(ctx, f, nil); err != nil {
		s.failFile(ctx, f, s.refused(ctx, f, err))
		return
	}
	s.refusals.Stored()
	s.way.refused.Store(true)
}

// discardPart has the temporary file deleted at the end, so that the next run sends the file from
// its start.
func (s *sender) discardPart(f *file) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts = append(s.parts, state.Line{URL: s.URL(components(f.path), false), File: f.path, Part: f.part})
}

// done records that a file has its name on the server.
func (s *sender) done(f *file) {
	again := f.placed // it was not renamed, whatever the server said
	f.placed = true
	if f.part != "" && s.Begun(f.path, f.part) {
		s.drop(state.Line{URL: s.URL(components(f.path), false), File: f.path, Part: f.part})
	}
	if f.data != nil {
		return
	}
	rec := s.begin(f)
	rec.Modified, rec.SHA256 = f.modified, f.sum
	s.record(rec)
	switch {
	case again:
	case f.isNew:
		s.Worked(s.of(Added, f))
	default:
		s.Worked(s.of(Replaced, f))
	}
}
