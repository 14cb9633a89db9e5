package mirror

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/file/resume"
	"github.com/fetch1738/fetch1738/internal/sync/pool"
	"github.com/fetch1738/fetch1738/internal/sync/site"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/mirror/internal/naming"
)

// resumable is the minimum size in bytes of a file that is resumed. For such a file the exact
// modification time is requested.
const resumable = 64 << 10

// fetchAll fetches the files. A dry run reports them in order.
func (r *run) fetchAll(ctx context.Context, s *survey) {
	files := func(yield func(*entry) bool) {
		for m, e := range s.wanted(r.tree) {
			if *m&isToFetch == 0 {
				continue
			}
			if e.file = r.fileOf(e); !yield(e) {
				return
			}
		}
	}
	if r.DryRun {
		for e := range files {
			r.report(Event{Action: r.expected(e), URL: e.url, File: e.file, Size: e.size})
			if r.box == nil {
				r.reportChanged(e.path, e.url, r.manifest.isDone(e.url))
			}
		}
		return
	}
	pool.Each(ctx, r.pool, files, func(e *entry, more func() bool) error { e.more = more; return r.fetchFile(ctx, e) },
		func(e *entry, err error) { r.fail(ctx, e.url, e.file, err) })
}

// fetchFile fetches one file.
func (r *run) fetchFile(ctx context.Context, e *entry) error {
	known := r.manifest.lookup(e.url)
	done := known.done
	r.report(Event{Action: Started, URL: e.url, File: e.file, Size: e.size})
	var p *part
	var err error
	e.exact = r.exactOf(e, known)
	if p = r.menuPart(e); p == nil {
		err = r.try(ctx, func() (err error) {
			p, err = r.download(ctx, e)
			again := func() (string, error) {
				return r.digestOf(ctx, &fetch.Request{Locator: e.loc, From: e.from, Options: r.optionsFor(e)})
			}
			switch {
			case err != nil:
			case p.end == unmarked:
				err = r.confirm(e.loc, done, p.size, p.digest, again)
			case p.unstated && e.size >= 0 && p.size != e.size:
				err = confirmSize(e, p, again)
			}
			if err != nil && p != nil {
				p.close()
			}
			return err
		})
	} else if err = p.reopen(r.inner); err == nil {
		if err = r.manifest.add(e.begun(&fetch.Resource{Attributes: fetch.Attributes{Size: p.size}})); err != nil {
			p.close()
		}
	}
	if err != nil {
		return err
	}
	if p.same {
		if err := cmp.Or(r.setListed(e, done), p.close()); err != nil {
			return err
		}
		r.report(Event{Action: Unchanged, URL: e.url, File: e.file, Size: e.size})
		return nil
	}
	return cmp.Or(r.finish(ctx, e, done, p), p.close())
}

// exactOf returns the exact time of the copy of a file, or the zero time if it is not known, or does
// not decide whether the file is fetched.
func (r *run) exactOf(e *entry, known known) time.Time {
	exact := known.done.Exact
	if known.done.SHA256 == "" || known.begun.URL != "" || !e.local || e.size != known.done.Size || !site.IsInUTC(e.modified, exact) {
		return time.Time{}
	}
	if info, err := r.stat(e.file); err != nil || info == nil || !isUnmodified(known.done, info) {
		return time.Time{}
	}
	return exact
}

// expected returns the action that a dry run reports for a file.
func (r *run) expected(e *entry) Action {
	switch info, err := r.stat(e.file); {
	case err == nil && info == nil:
		return Added
	case e.modified.IsZero() && e.id == "", !r.exactOf(e, r.manifest.lookup(e.url)).IsZero():
		return Checked
	}
	return Replaced
}

// A part is an incomplete file.
type part struct {
	name     string
	size     int64
	sum      hash.Hash // of the bytes written
	file     disk.File
	digest   string // the final sum in hexadecimal
	end      ending
	unstated bool // the server did not state the size of a file in a directory when it sent it
	same     bool // the file has the exact time of its copy, so nothing was fetched
	closed   bool
	failed   error // of Write

	mu    sync.Mutex                 // protects size and sum while keep is set
	moved *pool.Part                 // reports the size; nil for a menu
	keep  func(r ManifestLine) error // writes a line about an incomplete file; nil if it is not resumed
	begun ManifestLine               // that line
	later *time.Timer                // until keep is called, or nil
}

// keepEvery is the interval at which the manifest says how far an incomplete file is.
const keepEvery = time.Second

// partName returns the name of the part of a file, in Folder. It depends only on the URL, so a
// later run finds the part.
func partName(url string) string { return idOf(url).partName() }

func (i id) partName() string { return hex.EncodeToString(i[:]) + ".part" }

// newPart opens a part. If begun is not nil and the part begins with what that record says, it
// continues there. Otherwise it is empty.
func (r *run) newPart(e *entry, begun *ManifestLine) (*part, error) {
	p := &part{name: partName(e.url), sum: sha256.New(), moved: pool.NewPart(func(octets int64) {
		r.report(Event{Action: Progress, URL: e.url, File: e.file, Size: e.size, Octets: octets})
	})}
	flags := os.O_RDWR | os.O_CREATE
	if begun == nil {
		flags |= os.O_TRUNC
	}
	var err error
	if p.file, err = r.inner.OpenFile(p.name, flags, 0o666); err != nil || begun == nil {
		return p, err
	}
	n, err := io.CopyN(p.sum, p.file, begun.Came)
	if p.size = n; err == io.EOF || err == nil && hex.EncodeToString(p.sum.Sum(nil)) != begun.Begins {
		err = p.restart()
	} else if err == nil {
		err = p.file.Truncate(n)
	}
	if err != nil {
		p.file.Close()
		return nil, err
	}
	return p, nil
}

// Write implements io.Writer.
func (p *part) Write(b []byte) (int, error) {
	n, err := p.file.Write(b)
	p.failed = err
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sum.Write(b[:n])
	p.size += int64(n)
	p.moved.Set(p.size)
	if p.keep != nil && p.later == nil {
		p.later = time.AfterFunc(keepEvery, p.keepNow)
	}
	return n, err
}

// keepNow writes how far the file is.
func (p *part) keepNow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.later = nil; p.keep != nil {
		p.begun.Came, p.begun.Begins, p.begun.Time = p.size, hex.EncodeToString(p.sum.Sum(nil)), now()
		_ = p.keep(p.begun) // the next line fails too, or this one is not needed
	}
}

// stop ends the calls of keep. After a failure the last one is made now.
func (p *part) stop(failed bool) {
	if failed {
		p.keepNow()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.keep = nil; p.later != nil {
		p.later.Stop()
	}
}

// tail returns the last bytes of a part.
func (p *part) tail() ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(p.file, max(0, p.size-resume.Overlap), resume.Overlap))
}

// restart discards the content of a part.
func (p *part) restart() error {
	p.sum.Reset()
	p.size = 0
	if err := p.file.Truncate(0); err != nil {
		return err
	}
	_, err := p.file.Seek(0, io.SeekStart)
	return err
}

// menuPart returns the part of a menu that was received with the listing, or nil for other entries.
func (r *run) menuPart(e *entry) *part {
	if !e.kept {
		return nil
	}
	return &part{name: partName(e.url), size: e.size, digest: e.sum, end: e.end}
}

// download fetches a file into its part. It resumes the part if the file has not changed on the
// server.
func (r *run) download(ctx context.Context, e *entry) (*part, error) {
	begun := r.manifest.lookup(e.url).begun
	from := &begun
	if r.Whole || begun.URL == "" || begun.Exact.IsZero() || begun.Size < 0 || e.size >= 0 && e.size != begun.Size || !sameListing(e, begun) {
		from = nil
	}
	p, err := r.newPart(e, from)
	if err != nil {
		return nil, partError(ctx, r, e, err)
	}
	if p.size > 0 {
		err := errOther
		if p.size <= begun.Size {
			err = r.fill(ctx, e, p, &begun)
		}
		if !errors.Is(err, errOther) && !resume.Refused(err) {
			return p.finishDigest(err)
		}
		if err := p.restart(); err != nil {
			return p.finishDigest(err)
		}
	}
	return p.finishDigest(r.fill(ctx, e, p, nil))
}

// finishDigest sets the digest of p, which gets no more bytes. It returns err.
func (p *part) finishDigest(err error) (*part, error) {
	p.moved.End()
	p.digest = hex.EncodeToString(p.sum.Sum(nil))
	return p, err
}

// reopen opens the part of a menu, which the survey has written, and checks whether it still is
// that.
func (p *part) reopen(inner disk.Folder) (err error) {
	if p.file, err = inner.OpenFile(p.name, os.O_RDWR, 0); err != nil {
		return err
	}
	if sum, err := sumOf(p.file); err != nil || sum != p.digest {
		p.close()
		return cmp.Or(err, fmt.Errorf("%s: another program has changed it", p.name))
	}
	return nil
}

// close closes the file, if it is open.
func (p *part) close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	return p.file.Close()
}

// sameListing reports whether the listing of a file has the same id and time as when its transfer
// began.
func sameListing(e *entry, begun ManifestLine) bool {
	return e.id == begun.ID && e.modified.Equal(begun.Modified)
}

var errOther = errors.New("the file has changed since its transfer began")

// fill fetches the missing bytes of a part. If begun is not nil, fill fails with errOther if the
// file on the server is not the one that begun describes.
func (r *run) fill(ctx context.Context, e *entry, p *part, begun *ManifestLine) error {
	ctx, cancel := r.counting(ctx, 0)
	defer cancel(nil)
	res, err := resume.Fetch(ctx, r.Fetcher, &fetch.Request{Locator: e.loc, From: e.from, Offset: p.size, Options: r.optionsFor(e)}, p.tail)
	if err != nil {
		return err
	}
	defer res.Close()
	if info, ok := res.Info.(*ftp.Info); ok && info.Unwanted && !e.exact.IsZero() {
		p.same = true
		return nil
	}
	switch {
	case res.Kind != fetch.KindDocument && e.sum == "":
		return driver.Fail(fetch.OpFetch, e.loc, fetch.ErrUnsupported, fmt.Errorf("not a document but a %v", res.Kind))
	case begun != nil && !resume.Edition{Size: begun.Size, ModTime: begun.Exact}.Continues(res):
		return errOther
	case begun == nil:
		err = r.manifest.add(e.begun(res))
	}
	if err != nil {
		return err
	}
	if p.begun = e.begun(res); !res.ModTime.IsZero() && res.Size >= resumable {
		p.keep = r.manifest.add
	}
	if _, err = io.Copy(p, r.pace.Reader(ctx, res.Body)); p.failed != nil {
		err = partError(ctx, r, e, p.failed)
	}
	p.stop(err != nil)
	p.end = endOf(res)
	info, ok := res.Info.(*ftp.Info)
	p.unstated = ok && info.Type == 'I' && res.Size < 0
	return err
}

// begun returns the record of a file that is not complete. It also says that this mirror creates
// the file, if the program ends before the next record is written.
func (e *entry) begun(res *fetch.Resource) ManifestLine {
	return ManifestLine{URL: e.url, File: e.file, Size: res.Size, Modified: e.modified, Exact: res.ModTime, ID: e.id, Time: now()}
}

// optionsFor returns the options of a request for a file. For a large FTP file they request the
// exact modification time. After a small one, another request follows soon if more reports that.
func (r *run) optionsFor(e *entry) any {
	return r.optionsOf(e.loc, func(o *ftp.Options) {
		if small := e.size >= 0 && e.size < resumable; small {
			o.More = e.more
		} else {
			o.ModTime = true
			if !e.exact.IsZero() {
				o.Wanted = func(a fetch.Attributes) bool { return !a.ModTime.Equal(e.exact) }
			}
		}
	})
}

// optionsOf returns the Options for a request. For FTP it returns a modified copy.
func (r *run) optionsOf(l locator.Locator, change func(*ftp.Options)) any {
	if _, ok := l.(*locator.FTP); !ok {
		return r.Options
	}
	var o ftp.Options
	if given, ok := r.Options.(*ftp.Options); ok && given != nil {
		o = *given
	}
	change(&o)
	return &o
}

// finish moves a complete part to its place and records it.
func (r *run) finish(ctx context.Context, e *entry, done ManifestLine, p *part) error {
	line := ManifestLine{
		URL: e.url, File: e.file, Size: p.size, Modified: e.modified, ID: e.id,
		SHA256: p.digest, Time: now(), Marked: p.end == marked,
	}
	if e.local && site.IsInUTC(e.modified, p.begun.Exact) {
		line.Exact = p.begun.Exact
	}
	if r.box != nil {
		return placeError(ctx, r, r.deliver(e, line, p))
	}
	info, err := r.stat(e.file)
	if err != nil {
		return err
	}
	action := Replaced
	switch {
	case info == nil:
		action = Added
	case done.SHA256 == line.SHA256 && r.isAsRecorded(done, info):
		action = Unchanged
	}
	switch {
	case action == Unchanged:
		line.Modified, line.Marked = done.Modified, line.Marked || done.Marked
		if err := cmp.Or(p.close(), r.inner.Remove(p.name)); err != nil {
			return err
		}
		if err := setTime(r.root, e.file, e.modified); err != nil {
			return placeError(ctx, r, err)
		}
		if !e.modified.IsZero() {
			line.Modified = e.modified
		}
	case info != nil && !info.Mode().IsRegular():
		return naming.Existsf("%s: exists, and is not overwritten because it is not a regular file", e.file)
	default:
		if err := r.place(e, p); err != nil {
			return placeError(ctx, r, err)
		}
		// A response that replaces a copy was received twice.
		line.Unsure = p.end == unmarked && e.sum == "" && (info == nil || done.SHA256 == "") && done.SHA256 != line.SHA256
		line.Marked = line.Marked || done.Marked && done.SHA256 == line.SHA256
	}
	if err := r.manifest.add(line); err != nil {
		return err
	}
	r.report(Event{Action: action, URL: e.url, File: e.file, Size: p.size})
	r.reportChanged(e.path, e.url, done.SHA256 != "")
	if line.Unsure {
		r.report(Event{Action: Unsure, URL: e.url, File: e.file, Size: p.size, Err: errUnmarked})
	}
	return nil
}

// isAsRecorded reports whether a file is still what its record says: the user may have changed it,
// or the power failed before it had its name. Without a time, only its bytes show that.
func (r *run) isAsRecorded(done ManifestLine, info fs.FileInfo) bool {
	if !isUnmodified(done, info) {
		return false
	}
	if !done.Modified.IsZero() {
		return true
	}
	sum, err := r.sumOf(done.File)
	return err == nil && sum == done.SHA256
}

// place moves a part to its final path, where nothing would show that it is not complete. So a loss
// of power must not change it any more. place fails if another file has the name of the part by
// then.
func (r *run) place(e *entry, p *part) error {
	if err := disk.Verify(p.file, r.inner, p.name); err != nil {
		return err
	}
	info, err := p.file.Stat()
	if err = cmp.Or(err, setTime(r.inner, p.name, e.modified), p.file.Sync(), p.close()); err != nil {
		return err
	}
	err = disk.Rename(r.root, Folder+"/"+p.name, e.file, info)
	if dir := path.Dir(e.file); dir != "." && errors.Is(err, fs.ErrNotExist) {
		err = cmp.Or(r.root.MkdirAll(dir, 0o777), disk.Rename(r.root, Folder+"/"+p.name, e.file, info))
	}
	return err
}

// removeParts removes the parts that no later run would resume.
func (r *run) removeParts() error {
	wanted := make(map[string]bool)
	for url := range r.manifest.begun {
		wanted[url.partName()] = true
	}
	dir, err := r.inner.OpenFile(".", os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		if strings.HasSuffix(name, ".part") && !wanted[name] {
			err = errors.Join(err, r.inner.Remove(name))
		}
	}
	return err
}

// setTime sets the modification time of a file, unless it is unknown.
func setTime(dir disk.Folder, name string, modified time.Time) error {
	if modified.IsZero() {
		return nil
	}
	return dir.Chtimes(name, modified, modified)
}

// sumOf returns the checksum of an existing file.
func (r *run) sumOf(name string) (string, error) {
	file, err := r.root.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return sumOf(file)
}

// sumOf returns the SHA-256 of a file, in hexadecimal.
func sumOf(file io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// unlink removes a file, and the directories that become empty.
func (r *run) unlink(name string) error {
	if r.DryRun {
		return nil
	}
	if err := r.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if r.root.Remove(dir) != nil {
			break // not empty
		}
	}
	return nil
}
