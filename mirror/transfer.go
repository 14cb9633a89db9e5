package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/file/resume"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/internal/sync/site"
	"github.com/fetch1738/fetch1738/mirror/internal/local"
	"github.com/fetch1738/fetch1738/mirror/internal/naming"
	"github.com/fetch1738/fetch1738/mirror/internal/request"
)

// resumable is the minimum size in bytes of a file that is resumed. For such a file the exact
// modification time is requested.
const resumable = 64 << 10

// A copier fetches files and puts them into their places in the directory.
type copier struct {
	requests *request.Sender
	dir      *local.Dir
	manifest *manifest
	names    *namer
	out      *reporter
	whole    bool // Mirror.Whole
}

// A transfer is the fetching of one file.
type transfer struct {
	*entry
	done  ManifestLine // of the copy; SHA256 is empty if there is no copy
	exact time.Time    // of the copy, if that decides whether the file is fetched
	more  func() bool  // reports whether another file follows on the same worker
}

// fetchAll fetches the files of a survey that are marked. A dry run reports them in order.
func (c *copier) fetchAll(ctx context.Context, s *survey) {
	files := func(yield func(*entry) bool) {
		for m, e := range s.wanted() {
			if *m&isToFetch == 0 {
				continue
			}
			if e.file = c.names.fileOf(e); !yield(e) {
				return
			}
		}
	}
	if c.dir.DryRun {
		for e := range files {
			c.out.report(Event{Action: c.expected(e), URL: e.url, File: e.file, Size: e.size})
			c.names.reportChanged(e.path, e.url, c.manifest.isDone(e.url))
		}
		return
	}
	pool.Each(ctx, c.requests.Pool, files, func(e *entry, more func() bool) error {
		known := c.manifest.lookup(e.url)
		c.out.report(Event{Action: Started, URL: e.url, File: e.file, Size: e.size})
		return c.fetchFile(ctx, &transfer{e, known.done, c.exactOf(e, known), more})
	}, func(e *entry, err error) { c.out.fail(ctx, e.url, e.file, err) })
}

// fetchFile fetches one file.
func (c *copier) fetchFile(ctx context.Context, t *transfer) error {
	p, err := c.receive(ctx, t)
	if err != nil {
		return err
	}
	if p.same {
		if err := cmp.Or(setListed(c.dir, c.manifest, t.entry, t.done), p.close()); err != nil {
			return err
		}
		c.out.report(Event{Action: Unchanged, URL: t.url, File: t.file, Size: t.size})
		return nil
	}
	return cmp.Or(c.finish(t, p), p.close())
}

// receive returns the complete part of a file. A menu was received with its listing.
func (c *copier) receive(ctx context.Context, t *transfer) (p *part, err error) {
	if t.kept {
		p = &part{name: partName(t.url), size: t.size, digest: t.sum, end: t.end}
		if err = p.reopen(c.dir.Inner); err == nil {
			if err = c.manifest.add(t.lineOf(&fetch.Resource{Attributes: fetch.Attributes{Size: p.size}})); err != nil {
				p.close()
			}
		}
		return p, err
	}
	again := func() (string, error) {
		return c.requests.Digest(ctx, &fetch.Request{Locator: t.loc, From: t.from, Options: c.optionsFor(t)})
	}
	err = c.requests.Try(ctx, func() (err error) {
		p, err = c.download(ctx, t)
		switch {
		case err != nil:
		case p.end == unmarked:
			err = confirm(c.dir, t.loc, t.done, p.size, p.digest, again)
		case p.unstated && t.size >= 0 && p.size != t.size:
			err = confirmSize(t.entry, p, again)
		}
		if err != nil && p != nil {
			p.close()
		}
		return err
	})
	return p, err
}

// confirmSize decides whether a file may have another size than the listing says, if only that says it: the
// transfer may have been cut, the file changed since, or the listing counts differently. It may if a second
// request, made by again, returns the same bytes.
func confirmSize(e *entry, p *part, again func() (string, error)) error {
	second, err := again()
	if err != nil || second == p.digest {
		return err
	}
	return driver.Fail(fetch.OpRead, e.loc, fetch.ErrTruncated, fmt.Errorf("the listing says %d bytes, two requests returned different documents, and the first one had %d bytes", e.size, p.size))
}

// exactOf returns the exact time of the copy of a file, or the zero time if it is not known, or does
// not decide whether the file is fetched.
func (c *copier) exactOf(e *entry, known known) time.Time {
	exact := known.done.Exact
	if known.done.SHA256 == "" || known.begun.URL != "" || !e.local || e.size != known.done.Size || !site.IsInUTC(e.modified, exact) {
		return time.Time{}
	}
	if info, err := c.dir.Stat(e.file); err != nil || info == nil || !isUnmodified(known.done, info) {
		return time.Time{}
	}
	return exact
}

// expected returns the action that a dry run reports for a file.
func (c *copier) expected(e *entry) Action {
	switch info, err := c.dir.Stat(e.file); {
	case err == nil && info == nil:
		return Added
	case e.modified.IsZero() && e.id == "", !c.exactOf(e, c.manifest.lookup(e.url)).IsZero():
		return Checked
	}
	return Replaced
}

// download fetches a file into its part. It resumes the part if the file has not changed on the
// server.
func (c *copier) download(ctx context.Context, t *transfer) (*part, error) {
	begun := c.manifest.lookup(t.url).begun // it may be that of an earlier try
	from := &begun
	if c.whole || begun.URL == "" || begun.Exact.IsZero() || begun.Size < 0 || t.size >= 0 && t.size != begun.Size || !sameListing(t.entry, begun) {
		from = nil
	}
	p, err := newPart(c.dir.Inner, t.url, from, func(octets int64) {
		c.out.report(Event{Action: Progress, URL: t.url, File: t.file, Size: t.size, Octets: octets})
	})
	if err != nil {
		return nil, c.dir.PartError(t.file, err)
	}
	if p.size > 0 {
		err := errOther
		if p.size <= begun.Size {
			err = c.fill(ctx, t, p, &begun)
		}
		if !errors.Is(err, errOther) && !resume.Refused(err) {
			return p.finishDigest(err)
		}
		if err := p.restart(); err != nil {
			return p.finishDigest(err)
		}
	}
	return p.finishDigest(c.fill(ctx, t, p, nil))
}

// sameListing reports whether the listing of a file has the same id and time as when its transfer
// began.
func sameListing(e *entry, begun ManifestLine) bool {
	return e.id == begun.ID && e.modified.Equal(begun.Modified)
}

var errOther = errors.New("the file has changed since its transfer began")

// fill fetches the missing bytes of a part. If begun is not nil, fill fails with errOther if the
// file on the server is not the one that begun describes.
func (c *copier) fill(ctx context.Context, t *transfer, p *part, begun *ManifestLine) error {
	ctx, cancel := c.requests.Counting(ctx, 0)
	defer cancel(nil)
	res, err := resume.Fetch(ctx, c.requests.Fetcher, &fetch.Request{Locator: t.loc, From: t.from, Offset: p.size, Options: c.optionsFor(t)}, p.tail)
	if err != nil {
		return err
	}
	defer res.Close()
	if info, ok := res.Info.(*ftp.Info); ok && info.Unwanted && !t.exact.IsZero() {
		p.same = true
		return nil
	}
	switch {
	case res.Kind != fetch.KindDocument && t.sum == "":
		return driver.Fail(fetch.OpFetch, t.loc, fetch.ErrUnsupported, fmt.Errorf("not a document but a %v", res.Kind))
	case begun != nil && !resume.Edition{Size: begun.Size, ModTime: begun.Exact}.Continues(res):
		return errOther
	case begun == nil:
		err = c.manifest.add(t.lineOf(res))
	}
	if err != nil {
		return err
	}
	if p.begun = t.lineOf(res); !res.ModTime.IsZero() && res.Size >= resumable {
		p.keep = c.manifest.add
	}
	if _, err = io.Copy(p, c.requests.Pace.Reader(ctx, res.Body)); p.failed != nil {
		err = c.dir.PartError(t.file, p.failed)
	}
	p.stop(err != nil)
	p.end = endOf(res)
	info, ok := res.Info.(*ftp.Info)
	p.unstated = ok && info.Type == 'I' && res.Size < 0
	return err
}

// lineOf returns the line of a file that is not complete. It also says that this mirror creates
// the file, if the program ends before the next line is written.
func (e *entry) lineOf(res *fetch.Resource) ManifestLine {
	return ManifestLine{URL: e.url, File: e.file, Size: res.Size, Modified: e.modified, Exact: res.ModTime, ID: e.id, Time: now()}
}

// optionsFor returns the options of a request for a file. For a large FTP file they request the
// exact modification time. After a small one, another request follows soon if more reports that.
func (c *copier) optionsFor(t *transfer) any {
	return c.requests.OptionsFor(t.loc, func(o *ftp.Options) {
		if small := t.size >= 0 && t.size < resumable; small {
			o.More = t.more
		} else {
			o.ModTime = true
			if !t.exact.IsZero() {
				o.Wanted = func(a fetch.Attributes) bool { return !a.ModTime.Equal(t.exact) }
			}
		}
	})
}

// finish moves a complete part to its place and records it.
func (c *copier) finish(t *transfer, p *part) error {
	e, done := t.entry, t.done
	line := ManifestLine{
		URL: e.url, File: e.file, Size: p.size, Modified: e.modified, ID: e.id,
		SHA256: p.digest, Time: now(), Marked: p.end == marked,
	}
	if e.local && site.IsInUTC(e.modified, p.begun.Exact) {
		line.Exact = p.begun.Exact
	}
	if box := c.names.box; box != nil {
		err := c.dir.PlaceError(deliver(box, c.dir, c.manifest, line, p))
		if err == nil {
			c.out.report(Event{Action: Added, URL: e.url, File: e.file, Size: p.size})
		}
		return err
	}
	info, err := c.dir.Stat(e.file)
	if err != nil {
		return err
	}
	action := Replaced
	switch {
	case info == nil:
		action = Added
	case done.SHA256 == line.SHA256 && isAsRecorded(c.dir, done, info):
		action = Unchanged
	}
	switch {
	case action == Unchanged:
		line.Modified, line.Marked = done.Modified, line.Marked || done.Marked
		if err := cmp.Or(p.close(), c.dir.Inner.Remove(p.name)); err != nil {
			return err
		}
		if err := local.SetTime(c.dir.Root, e.file, e.modified); err != nil {
			return c.dir.PlaceError(err)
		}
		if !e.modified.IsZero() {
			line.Modified = e.modified
		}
	case info != nil && !info.Mode().IsRegular():
		return naming.Existsf("%s: exists, and is not overwritten because it is not a regular file", e.file)
	default:
		if err := c.place(e, p); err != nil {
			return c.dir.PlaceError(err)
		}
		// A response that replaces a copy was received twice.
		line.Unsure = p.end == unmarked && e.sum == "" && (info == nil || done.SHA256 == "") && done.SHA256 != line.SHA256
		line.Marked = line.Marked || done.Marked && done.SHA256 == line.SHA256
	}
	if err := c.manifest.add(line); err != nil {
		return err
	}
	c.out.report(Event{Action: action, URL: e.url, File: e.file, Size: p.size})
	c.names.reportChanged(e.path, e.url, done.SHA256 != "")
	if line.Unsure {
		c.out.report(Event{Action: Unsure, URL: e.url, File: e.file, Size: p.size, Err: errUnmarked})
	}
	return nil
}

// isAsRecorded reports whether a file is still what its line says: the user may have changed it,
// or the power failed before it had its name. Without a time, only its bytes show that.
func isAsRecorded(d *local.Dir, done ManifestLine, info fs.FileInfo) bool {
	if !isUnmodified(done, info) {
		return false
	}
	if !done.Modified.IsZero() {
		return true
	}
	sum, err := d.Sum(done.File, -1)
	return err == nil && sum == done.SHA256
}

// place moves a part to its final path, where nothing would show that it is not complete. So a loss
// of power must not change it any more. place fails if another file has the name of the part by
// then.
func (c *copier) place(e *entry, p *part) error {
	if err := disk.Verify(p.file, c.dir.Inner, p.name); err != nil {
		return err
	}
	info, err := p.file.Stat()
	if err = cmp.Or(err, local.SetTime(c.dir.Inner, p.name, e.modified), p.file.Sync(), p.close()); err != nil {
		return err
	}
	return c.dir.Move(p.name, e.file, info)
}
