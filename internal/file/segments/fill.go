package segments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/internal/file/disk"
	"github.com/fetch1738/fetch1738/internal/file/resume"
)

const (
	// Most is how many connections there may be.
	Most = 32
	// Least is the default of Job.Least.
	Least = 1 << 20

	saveEvery = 5 * time.Second
	patience  = time.Second // see follow
	headway   = 64 << 10    // what the first of the connections that break off may cost: see fetch
	copySize  = 128 << 10   // bytes of a buffer
)

// ErrChanged means that the document on the server is not the one that was started.
var ErrChanged = errors.New("the document has changed on the server")

// A Job has the settings of Fill. Connections, Request and Fetcher are required.
type Job struct {
	// Connections is the maximum number of connections, 1 to Most.
	Connections int
	// Least is the smallest number of bytes for a connection. 0 means the constant.
	Least int64
	// SaveEvery is the interval at which the footer in the file is saved. 0 means five
	// seconds. A killed run loses what was received since the last save.
	SaveEvery time.Duration
	// Request is for the whole document. FTP options must ask for the time of
	// modification.
	Request *fetch.Request
	// Fetcher performs requests for segments, several at once.
	Fetcher Fetcher
	// Incoming, if not nil, is called for each body and returns the reader to use in its
	// place.
	Incoming func(body io.Reader) io.Reader
	// Missing, if not nil, is called before Fill starts, with the number of bytes to fetch.
	Missing func(n int64)
	// Warn, if not nil, is called with a message why there is only one connection, or what
	// happens to the file of an earlier run.
	Warn func(format string, args ...any)
	// Remark, if not nil, is called with a message when there are fewer connections than
	// requested. Calls may be concurrent.
	Remark func(text string)
}

// A Fetcher has the methods of a Resolver that a Job needs.
type Fetcher interface {
	driver.Fetcher
	FindAttributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error)
}

// Worth reports whether res is the response for a document that is large enough for
// several connections, and whose version can be identified. If only the second condition
// fails, it calls Warn.
func (j *Job) Worth(res *fetch.Resource) bool {
	if j.Connections < 2 || j.Request.Offset != 0 || j.Request.Length != 0 || res.Kind != fetch.KindDocument || res.Size < 2*cmp.Or(j.Least, Least) {
		return false
	}
	switch info := res.Info.(type) {
	case *ftp.Info:
		options, ok := j.Request.Options.(*ftp.Options)
		if !ok || options == nil || len(options.Quote)+len(options.PreTransfer)+len(options.PostQuote) > 0 {
			return false // the caller's commands must be sent once only
		}
	case *fetchhttp.Info:
		options, ok := j.Request.Options.(*fetchhttp.Options)
		if !ok || options == nil || options.Proxied != nil || info.StatusCode != http.StatusOK || info.Method != http.MethodGet {
			return false
		}
		if !strings.Contains(info.Header.Get("Accept-Ranges"), "bytes") {
			j.warn("using one connection: the server does not send parts of a document")
			return false
		}
	default:
		return false
	}
	if !resume.Of(res).Known() {
		j.warn("using one connection: the server sends nothing that identifies the version of the document")
		return false
	}
	return true
}

func (j *Job) warn(format string, args ...any) {
	if j.Warn != nil {
		j.Warn(format, args...)
	}
}

// Fill fetches what is missing. first is the response to Job.Request, of which nothing has
// been read; Fill closes it. It may be nil if the file has a part already. If Fill fails,
// what was received is kept, and the footer in the file says so. Only after ErrChanged the
// file is empty.
//
// If a connection cannot be opened, the others fetch its segment. A broken connection is
// resumed. An error is therefore that of the last connection, except ErrChanged and those
// of the file or of ctx.
func (p *Part) Fill(ctx context.Context, j Job, first *fetch.Resource) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := &filling{Part: p, Job: j, cancel: cancel}
	if j.Missing != nil {
		j.Missing(p.Missing())
	}
	f.free.L = &f.mu
	f.divide()
	f.workers = min(f.Connections, len(f.segments))
	var taken []*segment // before any connection starts, so that the first one does not take them all
	for range f.workers {
		taken = append(taken, f.take())
	}
	if first != nil && (len(taken) == 0 || taken[0].at.Load() > 0) {
		_ = first.Close() // the beginning is in the file already
		first = nil
	}
	if f.workers > 1 {
		f.readHead(first)
	}
	var workers sync.WaitGroup
	for _, s := range taken {
		answer := first
		first = nil
		workers.Go(func() { f.work(ctx, s, answer) })
	}
	done := make(chan struct{})
	go func() {
		workers.Wait()
		close(done)
	}()
	f.saveUntil(done)
	f.note()
	if p.Missing() == 0 && !f.fatal {
		f.err = cmp.Or(f.checkSeams(), f.checkModTime(ctx))
	}
	switch {
	case f.err == nil:
		return nil
	case errors.Is(f.err, ErrChanged), resume.Refused(f.err):
		return cmp.Or(p.Reset(), f.err)
	}
	return cmp.Or(p.save(), f.err)
}

// checkModTime checks the modification time again, for FTP: each segment was read from the file
// as it was at that time.
func (f *filling) checkModTime(ctx context.Context) error {
	if f.footer.Edition.ModTime.IsZero() {
		return nil
	}
	now, err := f.Fetcher.FindAttributes(ctx, f.Request)
	if err == nil && !isOf(f.footer.Edition, 0, &fetch.Resource{Attributes: *now}) {
		err = f.changed()
	}
	return err
}

// isOf reports whether an answer from an offset on is of a version. An FTP server that refuses SIZE
// may state the size, or what is left of it, in its reply to the transfer.
func isOf(e resume.Edition, offset int64, res *fetch.Resource) bool {
	known := fetch.Resource{Attributes: res.Attributes, Info: res.Info}
	if info, ok := res.Info.(*ftp.Info); ok && known.Size < 0 && info.Announced >= 0 && info.Announced != e.Size-offset {
		known.Size = info.Announced
	} else if known.Size < 0 {
		known.Size = e.Size
	}
	return e.Continues(&known)
}

// changed returns the error of a document that has changed.
func (f *filling) changed() error {
	return driver.Fail(fetch.OpTransfer, f.Request.Locator, fetch.ErrTruncated, ErrChanged)
}

// A segment is a piece of the document that one connection fetches.
type segment struct {
	at       atomic.Int64            // the first byte that is not in the file
	end      int64                   // after its last byte
	answered bool                    // the server has responded to the request for it
	asked    time.Time               // when that was sent; zero before
	cancel   context.CancelCauseFunc // ends it
}

// reach records that the bytes before pos are in the file.
func (s *segment) reach(pos int64) { s.at.Store(max(s.at.Load(), pos)) }

// A filling is a call of Fill.
type filling struct {
	*Part
	Job
	cancel   context.CancelFunc
	segments []*segment // all, in order
	head     []byte     // the first bytes of the document, if they are known

	mu      sync.Mutex
	free    sync.Cond  // for changes of the following fields
	waiting []*segment // without a connection
	seams   []seam
	busy    int   // number of segments with a connection
	workers int   // connections that have not failed
	err     error // the last failure
	fatal   bool  // err ends all connections
}

// divide splits what is missing into segments, about one for each connection.
func (f *filling) divide() {
	least := cmp.Or(f.Least, Least)
	size := max(least, f.Part.Missing()/int64(f.Connections))
	room := Most - len(f.footer.Missing)
	for _, m := range f.footer.Missing {
		pieces := min(max(1, (m[1]-m[0])/size), int64(max(0, room))+1)
		room -= int(pieces) - 1
		for i := range pieces {
			s := &segment{end: m[0] + (m[1]-m[0])*(i+1)/pieces}
			s.at.Store(m[0] + (m[1]-m[0])*i/pieces)
			f.segments = append(f.segments, s)
		}
	}
	f.waiting = slices.Clone(f.segments)
}

// note updates what is missing in the footer.
func (f *filling) note() {
	f.footer.Missing = nil
	for _, s := range f.segments {
		at := s.at.Load()
		switch last := len(f.footer.Missing) - 1; {
		case at == s.end:
		case last >= 0 && f.footer.Missing[last][1] == at:
			f.footer.Missing[last][1] = s.end
		default:
			f.footer.Missing = append(f.footer.Missing, [2]int64{at, s.end})
		}
	}
}

// take waits for a segment without a connection and returns it, or nil if there will be
// none.
func (f *filling) take() *segment {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.waiting) == 0 && f.busy > 0 && !f.fatal {
		f.free.Wait() // one of the others may fail
	}
	if len(f.waiting) == 0 || f.fatal {
		return nil
	}
	return f.start(0)
}

// start takes the i-th waiting segment.
func (f *filling) start(i int) *segment {
	s := f.waiting[i]
	f.waiting = slices.Delete(f.waiting, i, i+1)
	f.busy++
	return s
}

// errSilent means that a connection has been given up, because another one had reached its segment.
var errSilent = errors.New("no response, while another connection received the document")

// follow exchanges a complete segment for the next one, if that has no connection. It
// waits if the request for the next one has no response yet, as that may be a refusal. If it has
// none after a second, it is canceled: some servers send nothing before this connection ends.
func (f *filling) follow(s *segment) *segment {
	f.mu.Lock()
	defer f.mu.Unlock()
	behind := func(next *segment) bool { return next.at.Load() == s.end && next.end > s.end }
	for !f.fatal {
		if i := slices.IndexFunc(f.waiting, behind); i >= 0 {
			f.busy--
			return f.start(i)
		}
		i := slices.IndexFunc(f.segments, behind)
		if i < 0 || f.segments[i].answered {
			return nil
		}
		if next, asked := f.segments[i], f.segments[i].asked; !asked.IsZero() {
			left := patience - time.Since(asked)
			defer time.AfterFunc(left, func() {
				f.mu.Lock()
				defer f.mu.Unlock()
				if next.asked == asked && !next.answered {
					next.cancel(errSilent)
				}
			}).Stop()
		}
		f.free.Wait()
	}
	return nil
}

// answer records that the server has responded to the request for a segment. It fails if the
// request has been canceled.
func (f *filling) answer(ctx context.Context, s *segment) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	s.answered = true
	f.free.Broadcast()
	return nil
}

// release releases a segment. If it is incomplete, another connection fetches the rest.
func (f *filling) release(s *segment) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.busy--
	if s.cancel != nil {
		s.cancel(nil)
	}
	if s.answered, s.asked = false, (time.Time{}); s.at.Load() < s.end {
		f.waiting = slices.Insert(f.waiting, 0, s)
	}
	f.free.Broadcast()
}

// work fetches segments over one connection, until none is left or it fails. It starts
// with s, whose response answer goes to the end of the document; both may be nil.
func (f *filling) work(ctx context.Context, s *segment, answer *fetch.Resource) {
	for {
		if s == nil {
			if s = f.take(); s == nil {
				return
			}
		}
		var err error
		s, err = f.fetch(ctx, s, answer)
		answer = nil
		if err != nil {
			f.connectionFailed(err) // before others take the segment
		}
		f.release(s)
		if err != nil {
			return
		}
		s = nil
	}
}

// connectionFailed records that a connection has failed permanently.
func (f *filling) connectionFailed(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.workers--
	switch {
	case f.fatal:
		return
	case isFatal(err):
		f.fatal = true
		f.cancel()
		f.free.Broadcast()
	case f.workers > 0 && f.Remark != nil && fetch.KindOf(err) != fetch.ErrCanceled:
		f.Remark(fmt.Sprintf("%v; continuing with fewer connections (%d)", err, f.workers))
	}
	f.err = err
}

// isFatal reports whether a failure ends all connections: the document has changed, or
// writing the file failed.
func isFatal(err error) bool {
	_, remote := errors.AsType[*fetch.Error](err)
	return !remote || errors.Is(err, ErrChanged)
}

// fetch fetches a segment, and resumes it if the connection breaks. It returns the segment
// at which it ended.
//
// A connection that has brought nothing new is the last one. On average each must bring more than
// the bytes that are fetched again to compare: each costs that many of credit, so that a server
// that sends a byte at a time gets 16 connections, and one that sends 20 kB as many as it takes.
func (f *filling) fetch(ctx context.Context, s *segment, answer *fetch.Resource) (_ *segment, err error) {
	for credit := int64(headway); s.at.Load() < s.end; {
		begun := s
		from := s.at.Load()
		if answer != nil {
			s, err = f.stream(s, answer)
		} else if answer, err = f.ask(ctx, s); err == nil {
			err = f.copy(s, answer)
		}
		answer = nil
		if errors.Is(err, ftp.ErrReplaced) {
			err = f.changed()
		}
		moved := s.at.Load() - from
		if s != begun {
			moved = headway
		}
		credit = min(credit+moved, headway) - resume.Overlap
		if err != nil && (isFatal(err) || ctx.Err() != nil || moved == 0 || credit <= 0 || errors.Is(err, fetch.ErrTooLarge)) {
			return s, err
		}
	}
	return s, nil
}

// silence returns err, or, if follow has canceled the request, the error that says so.
func silence(ctx context.Context, req *fetch.Request, err error) error {
	if context.Cause(ctx) == errSilent {
		return driver.Fail(fetch.OpFetch, req.Locator, fetch.ErrBusy, errSilent)
	}
	return err
}

// ask requests the rest of a segment.
func (f *filling) ask(ctx context.Context, s *segment) (*fetch.Resource, error) {
	from := s.at.Load()
	req, _ := f.footer.Edition.Rest(f.Request, from)
	req.Length, req.Lead = s.end-from, resume.LeadOf(req)
	f.mu.Lock()
	ctx, cancel := context.WithCancelCause(ctx)
	s.asked, s.cancel = time.Now(), cancel
	f.free.Broadcast()
	f.mu.Unlock()
	// The bytes of this call of the hook may not be in the file yet; those of the calls
	// before it are.
	told := from
	res, err := f.Fetcher.Fetch(fetch.WithTrace(ctx, &fetch.Trace{Body: func(n int64) {
		s.reach(told)
		told += n
	}}), req)
	if err != nil {
		return nil, silence(ctx, req, err)
	}
	if info, ok := res.Info.(*fetchhttp.Info); ok && info.StatusCode/100 != 2 {
		err = &fetch.Error{Op: fetch.Op(info.Method), URL: res.Locator.Redacted(), Kind: fetch.ErrBusy, Code: info.StatusCode, Err: errors.New(info.Status)}
	} else if !isOf(f.footer.Edition, req.Offset-req.Lead, res) {
		err = f.changed()
	} else {
		err = f.checkLead(req, res)
	}
	if err == nil {
		err = f.answer(ctx, s)
	}
	if err != nil {
		_ = res.Close()
		return nil, silence(ctx, req, err)
	}
	return res, nil
}

// copy writes the response for a segment to the file, without passing the bytes through the
// program if possible.
func (f *filling) copy(s *segment, res *fetch.Resource) error {
	defer res.Close()
	body := f.incoming(res)
	file, err := f.openAt(s.at.Load())
	if err != nil {
		return err
	}
	defer file.Close()
	if to, ok := body.(io.WriterTo); ok {
		from := s.at.Load()
		n, err := to.WriteTo(file)
		s.reach(from + n)
		return f.cutError(s, err)
	}
	if err := f.cutError(s, f.read(s, body, file)); err != nil {
		return err
	}
	if _, err = io.ReadFull(body, make([]byte, 1)); err == nil {
		return f.changed()
	}
	return f.cutError(s, err)
}

// stream writes the response for the document from a segment on, and continues with the
// next segments as long as they have no connection. So it also works with a server that
// does not support ranges. It returns the last segment.
func (f *filling) stream(s *segment, res *fetch.Resource) (*segment, error) {
	defer res.Close()
	body := f.incoming(res)
	file, err := f.openAt(s.at.Load())
	if err != nil {
		return s, err
	}
	defer file.Close()
	for {
		if err := f.cutError(s, f.read(s, body, file)); err != nil {
			return s, err
		}
		next := f.follow(s)
		if next == nil {
			return s, f.readEnd(s, res, body)
		}
		s = next
	}
}

// read copies the rest of a segment.
func (f *filling) read(s *segment, body io.Reader, file disk.File) error {
	buf := make([]byte, min(copySize, s.end-s.at.Load()))
	for at := s.at.Load(); at < s.end; s.reach(at) {
		n, err := body.Read(buf[:min(int64(len(buf)), s.end-at)])
		m, failed := file.Write(buf[:n])
		at += int64(m)
		if failed != nil {
			return failed
		}
		if err != nil {
			s.reach(at)
			return err
		}
	}
	return nil
}

// readEnd reads the end of the document, so that the server can report success. By HTTP/2, a body that
// is longer than its Content-Length ends with an error of the protocol.
func (f *filling) readEnd(s *segment, res *fetch.Resource, body io.Reader) error {
	if s.end != f.footer.Edition.Size {
		return nil
	}
	_, web := res.Info.(*fetchhttp.Info)
	if n, err := body.Read(make([]byte, 1)); n > 0 || web && fetch.KindOf(err) == fetch.ErrProtocol {
		return f.changed()
	}
	return nil
}

// cutError returns the error of a body that ended before the segment, or that was not the part that
// was requested. In the second case, which bytes in the file are right is not known.
func (f *filling) cutError(s *segment, err error) error {
	switch at := s.at.Load(); {
	case resume.Refused(err):
		return driver.Fail(fetch.OpTransfer, f.Request.Locator, fetch.ErrTruncated, fmt.Errorf("%w, or the server sent another part than requested", ErrChanged))
	case at == s.end && (err == nil || err == io.EOF):
		return nil
	case err == nil, err == io.EOF:
		return driver.Fail(fetch.OpTransfer, f.Request.Locator, fetch.ErrTruncated, fmt.Errorf("after %d bytes of %d", at, f.footer.Edition.Size))
	}
	return err
}

// incoming returns the Body, through Incoming if that is set.
func (j *Job) incoming(res *fetch.Resource) io.Reader {
	if j.Incoming == nil {
		return res.Body
	}
	return j.Incoming(res.Body)
}

// openAt opens the file once more, at a position.
func (f *filling) openAt(pos int64) (disk.File, error) {
	file, err := f.reopen()
	if err != nil {
		return nil, err
	}
	if err = f.file.Verify(); err == nil {
		_, err = file.Seek(pos, io.SeekStart)
	}
	if err != nil {
		file.Close()
	}
	return file, err
}

// saveUntil saves the footer periodically until done is closed.
func (f *filling) saveUntil(done <-chan struct{}) {
	ticks := time.NewTicker(cmp.Or(f.SaveEvery, saveEvery))
	defer ticks.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticks.C:
		}
		f.note()
		if err := f.save(); err != nil {
			f.connectionFailed(err)
		}
	}
}
