package download

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"sync"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/file/resume"
	"github.com/fetch1738/fetch1738/locator"
)

// A Document is a remote document that is read at any place: see [ReaderAt]. It implements
// [io.ReaderAt] and [io.Closer], and is safe for concurrent use.
//
// The document is fetched in blocks of 64 KiB, and the last ones are kept (4 MiB). Reads of
// neighboring places share a request; reads in sequence fetch ahead, up to 1 MiB. Concurrent reads
// of different places use several sessions, which the Resolver keeps for the reads that follow.
type Document struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	r       *fetch1738.Resolver
	own     bool // r is of this Document alone
	req     *fetch.Request
	size    int64
	edition resume.Edition

	mu     sync.Mutex
	blocks map[int64]*block
	order  []int64 // of blocks, the one used last at the end
	next   int64   // block behind the last request
	ahead  int64   // blocks that the next request in sequence fetches
	err    error   // of all further reads: the document has changed
	fills  sync.WaitGroup
	// released is closed when the last request that has received everything has released its
	// session. The next one waits for that, which takes less time than another login.
	released chan struct{}
}

var errAgain = errors.New("the document has changed on the server")

const (
	blockSize  = 64 << 10
	keepBlocks = 64
	mostAhead  = 16 // blocks
)

// A block is a piece of a document.
type block struct {
	done chan struct{} // closed when what follows is set
	data []byte
	err  error
}

// ReaderAt opens the document at url for reading at any place, such as by [archive/zip.NewReader].
// If r is nil, it is a new Resolver with every default. ctx governs all reads.
//
// The scheme is ftp or ftps (REST), http or https (Range), file or wais. The error has the kind
// [fetch.ErrUnsupported] if the server does not send a document from the middle, if it does not say
// how long it is, or if nothing tells the document from a later one in its place: by HTTP that is a
// strong ETag or a Last-Modified, by FTP the size and time (SIZE and MDTM).
//
// A document that changes while it is read is an error, which stays: bytes of two documents are not
// mixed. By FTP, size and time are asked for before each request and after it. A part that does not
// fit to the bytes before it, if those are kept, is an error too. The caller must close the Document.
func ReaderAt(ctx context.Context, r *fetch1738.Resolver, url string) (*Document, error) {
	own := r == nil
	if own {
		r = new(fetch1738.Resolver)
	}
	req, err := r.Request(ctx, url)
	if err != nil {
		return nil, err
	}
	d := &Document{r: r, own: own, req: req, blocks: make(map[int64]*block)}
	d.ctx, d.cancel = context.WithCancelCause(ctx)
	if err := d.open(); err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

// open finds the size and edition of the document.
func (d *Document) open() error {
	refuse := func(why string) error {
		return driver.Fail(fetch.OpAccess, d.req.Locator, fetch.ErrUnsupported, errors.New(why))
	}
	switch d.req.Locator.(type) {
	case *locator.FTP:
		d.req.Options = &ftp.Options{ModTime: true}
	case *locator.HTTP:
		d.req.Options = &fetchhttp.Options{Header: http.Header{}}
	case *locator.File, *locator.WAIS:
	default:
		return refuse(d.req.Locator.Scheme() + " has no requests for a part of a document")
	}
	// One byte tells more than the attributes: whether the server sends parts, and by HTTP the
	// validator of what it sends. By FTP it is the last one, which shows whether the server obeys
	// REST.
	one := *d.req
	one.Offset, one.Length = 1, 1
	if _, isFTP := d.req.Locator.(*locator.FTP); isFTP {
		one.Offset = -1
	}
	res, err := d.r.Fetch(d.ctx, &one)
	if fetch.KindOf(err) == fetch.ErrBadRange { // the document is shorter, or has no known size
		one.Offset, one.Length = 0, 0
		res, err = d.r.Fetch(d.ctx, &one)
	}
	if err != nil {
		return err
	}
	defer res.Close()
	d.size, d.edition = res.Size, resume.Of(res)
	info, _ := res.Info.(*fetchhttp.Info)
	switch {
	case res.Kind != fetch.KindDocument:
		return refuse("a " + res.Kind.String() + ", not a document")
	case res.Size < 0:
		return refuse("the server does not say how long the document is")
	case info != nil && info.StatusCode != http.StatusPartialContent && res.Size > 1:
		return refuse("the server does not send parts of the document (Range)")
	case !d.edition.Known() && d.checked():
		return refuse("the server does not tell one version of the document from another")
	}
	if one.Length > 0 {
		_, err = io.Copy(io.Discard, res.Body) // by FTP the session is kept then
	}
	if errors.Is(err, fetch.ErrBadRange) {
		return refuse("the server sends another part of the document than requested")
	}
	return err
}

// checked reports whether each answer can be compared with the first one. A WAIS document-id names
// one version, and a file's time may be unknown.
func (d *Document) checked() bool {
	_, isWAIS := d.req.Locator.(*locator.WAIS)
	return !isWAIS
}

// Size returns the length of the document in bytes.
func (d *Document) Size() int64 { return d.size }

// Close ends what is being fetched, and waits for that. Reads then fail with an error that matches
// [fs.ErrClosed]. Sessions stay with the Resolver that ReaderAt was called with; those of its own
// are closed.
func (d *Document) Close() error {
	d.mu.Lock()
	d.cancel(fs.ErrClosed) // block starts no fill from now on
	d.mu.Unlock()
	d.fills.Wait()
	if d.own {
		return d.r.Close()
	}
	return nil
}

// ended is the error of a read after Close, or after the end of the context.
func (d *Document) ended() error {
	return driver.Fail(fetch.OpRead, d.req.Locator, fetch.ErrOther, context.Cause(d.ctx))
}

// ReadAt implements [io.ReaderAt].
func (d *Document) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, driver.Fail(fetch.OpSeek, d.req.Locator, fetch.ErrBadRange, errors.New("negative offset"))
	}
	if d.ctx.Err() != nil {
		return 0, d.ended()
	}
	for n < len(p) && off < d.size {
		b := d.block(off/blockSize, (min(off+int64(len(p)-n), d.size)+blockSize-1)/blockSize)
		select {
		case <-b.done:
		case <-d.ctx.Done():
			return n, d.ended()
		}
		if b.err != nil {
			if d.ctx.Err() != nil {
				return n, d.ended()
			}
			return n, b.err
		}
		m := copy(p[n:], b.data[off%blockSize:])
		n, off = n+m, off+int64(m)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// block returns the i-th block, which a request for it and others up to end begins to fill if it is
// not there.
func (d *Document) block(i, end int64) *block {
	d.mu.Lock()
	defer d.mu.Unlock()
	if b := d.blocks[i]; b != nil {
		d.use(i)
		return b
	}
	if d.err != nil || d.ctx.Err() != nil {
		failed := &block{done: make(chan struct{}), err: d.err}
		if d.err == nil {
			failed.err = d.ended()
		}
		close(failed.done)
		return failed
	}
	d.ahead = min(mostAhead, d.ahead*2)
	if i != d.next {
		d.ahead = 1
	}
	end = min(max(end, i+max(d.ahead, 1)), i+mostAhead, (d.size+blockSize-1)/blockSize)
	d.next, d.ahead = i, max(d.ahead, 1)
	var run []*block
	for ; d.next < end && d.blocks[d.next] == nil; d.next++ {
		b := &block{done: make(chan struct{})}
		d.blocks[d.next] = b
		d.use(d.next)
		run = append(run, b)
	}
	d.fills.Go(func() { d.fill(i, run) })
	return run[0]
}

// use notes that a block was used, and drops the one that was used least recently.
func (d *Document) use(i int64) {
	for at, other := range d.order {
		if other == i {
			d.order = append(append(d.order[:at:at], d.order[at+1:]...), i)
			return
		}
	}
	d.order = append(d.order, i)
	if len(d.order) > keepBlocks {
		delete(d.blocks, d.order[0])
		d.order = d.order[1:]
	}
}

// fill fetches blocks that follow one another. A block that fails is forgotten, for a later read to
// try again.
func (d *Document) fill(i int64, run []*block) {
	from := i * blockSize
	done := 0
	err := d.fetch(from, min(int64(len(run))*blockSize, d.size-from), func(data []byte) {
		run[done].data = data
		close(run[done].done)
		done++
	})
	if done == len(run) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if errors.Is(err, errAgain) {
		d.err = err
	}
	for k, b := range run[done:] {
		if at := i + int64(done+k); d.blocks[at] == b {
			delete(d.blocks, at)
			for j, other := range d.order {
				if other == at {
					d.order = append(d.order[:j:j], d.order[j+1:]...)
					break
				}
			}
		}
		b.err = err
		close(b.done)
	}
}

// fetch fetches n bytes from an offset on, and passes them on block by block.
func (d *Document) fetch(from, n int64, got func(data []byte)) error {
	req := *d.req
	req.Offset, req.Length = from, n
	if d.edition.Known() {
		rest, _ := d.edition.Rest(d.req, from)
		rest.Length = n
		req = *rest
	}
	d.mu.Lock()
	previous := d.released
	d.mu.Unlock()
	if previous != nil {
		select {
		case <-previous:
		case <-d.ctx.Done():
		}
	}
	res, err := resume.Fetch(d.ctx, d.r, &req, func() ([]byte, error) { return d.before(from), nil })
	if err != nil {
		if resume.Refused(err) {
			err = d.changed() // it has no such part any more
		}
		return err
	}
	var released chan struct{}
	defer func() {
		_ = res.Close()
		if released != nil {
			close(released)
		}
	}()
	if d.edition.Known() && !d.edition.Continues(res) {
		return d.changed()
	}
	received := func() {
		released = make(chan struct{})
		d.mu.Lock()
		d.released = released
		d.mu.Unlock()
	}
	if _, isFTP := d.req.Locator.(*locator.FTP); !isFTP {
		return d.receive(res, n, got, received)
	}
	var held [][]byte // until it is known that the document is still the same
	if err := d.receive(res, n, func(data []byte) { held = append(held, data) }, received); err != nil {
		return err
	}
	_ = res.Close() // the session is used again
	now, err := d.r.FindAttributes(d.ctx, d.req)
	if err != nil {
		return err
	}
	if !d.edition.Continues(&fetch.Resource{Attributes: *now}) {
		return d.changed()
	}
	for _, data := range held {
		got(data)
	}
	return nil
}

// receive reads n bytes and calls got with each block. It calls last before the last one.
func (d *Document) receive(res *fetch.Resource, n int64, got func(data []byte), last func()) error {
	for n > 0 {
		data := make([]byte, min(n, blockSize))
		if m, err := io.ReadFull(res.Body, data); err != nil {
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				err = fmt.Errorf("%d bytes of the document are missing", n-int64(m))
			}
			return driver.Fail(fetch.OpRead, d.req.Locator, fetch.ErrTruncated, err)
		}
		if n -= int64(len(data)); n == 0 {
			if _, err := io.ReadFull(res.Body, make([]byte, 1)); err == nil || errors.Is(err, fetch.ErrBadRange) {
				return d.changed()
			} else if err != io.EOF {
				return err
			}
			last()
		}
		got(data)
	}
	return nil
}

// before returns the bytes before an offset, if the block that ends there is in memory.
func (d *Document) before(offset int64) []byte {
	d.mu.Lock()
	b := d.blocks[offset/blockSize-1]
	d.mu.Unlock()
	if b == nil {
		return nil
	}
	select {
	case <-b.done:
		return b.data
	default:
		return nil
	}
}

// changed returns the error of a document that has changed since it was opened.
func (d *Document) changed() error {
	return driver.Fail(fetch.OpRead, d.req.Locator, fetch.ErrTruncated, errAgain)
}
