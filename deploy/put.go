package deploy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/file/resume"
)

// How the content of a file gets to the server, and what is done if that refuses a part of it.

// put stores what a file has from an offset on under a name. If the server does not continue files, all of it
// is sent. If a web server has no directory for it, that is created (MKCOL), and the file is sent again.
func put(ctx context.Context, r *run, f *file, name string, body content, at int64, more func() bool) error {
	send := func() error {
		if _, err := body.Seek(at, io.SeekStart); err != nil {
			return err
		}
		ctx, part := watch(ctx, r, f, at)
		defer part.End()
		return r.site.Put(ctx, append(components(f.dir()), name), r.Pace.Reader(ctx, body), at, more)
	}
	err := send()
	e, _ := errors.AsType[*fetch.Error](err)
	if at > 0 && e != nil && refusesRest(e) {
		r.way.noRest.Store(true)
		at = 0
		return send()
	}
	missing := e != nil && (e.Code == http.StatusNotFound || e.Code == http.StatusConflict)
	if !r.site.Web || !missing || f.dir() == "." || r.way.noDirs.Load() {
		return err
	}
	if !r.site.MakeDirs(ctx, components(f.dir())) {
		r.way.noDirs.Store(true)
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
func refusesPart(r *run, f *file, err error) bool {
	e, _ := errors.AsType[*fetch.Error](err)
	if e == nil || e.Op != "STOR" || e.Kind != fetch.ErrPermission || e.Code < 500 || r.site.Web || f.direct || r.way.direct() {
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
func (r *run) resumeAt(ctx context.Context, f *file, name string, src content, begun bool) (int64, error) {
	if !begun || r.site.Web || r.way.noRest.Load() || f.size < resumable || name == path.Base(f.path) {
		return 0, nil
	}
	edits := []fetch.Edit{{Kind: fetch.EditSize, Name: name}}
	if err := r.site.Edit(ctx, components(f.dir()), edits, nil); err != nil {
		return 0, err
	}
	n := edits[0].Size
	if edits[0].Err != nil || n < resume.Overlap || n > f.size {
		return 0, nil
	}
	res, err := r.site.Content(ctx, append(components(f.dir()), name), n-resume.Overlap, resume.Overlap)
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
