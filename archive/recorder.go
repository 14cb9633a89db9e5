package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive/warc"
	"github.com/fetch1738/fetch1738/fetch"
)

// A Recorder writes what servers send to WARC files. Set its method Record as the Recorder of a
// fetch1738.Resolver:
//
//	w, err := warc.CreateFile("site.warc.gz", warc.Options{Software: "example/1.0"})
//	if err != nil {
//		return err
//	}
//	defer w.Close()
//	resolver := &fetch1738.Resolver{Recorder: (&archive.Recorder{Writer: w}).Record}
//
// It takes the octets as they are received, so nothing is fetched twice. An access is complete, and
// its records are in the file, when its Body or its Items have ended, or the Resource is closed. The
// fields must not be changed after the first call. The methods are safe for concurrent use.
//
// An access has these records, all with the time at which it began:
//
//   - of http and https: the response and the request, also of redirects that were followed. Those
//     of HTTP/2 have the form of HTTP/1.1. The Fetcher must accept the Options of package fetch/http,
//     and call Exchanged
//   - of other schemes: a resource, whose block is the Body of the Resource: a document, or the
//     listing or the menu as the server has sent it. The URL of a directory ends in "/".
//   - in place of these a revisit, if the Recorder knows the same content of the same URL
//   - metadata: the conversation with the server as text, with secrets masked
//   - metadata, of type application/warc-fields: why an access has failed, who has linked to the
//     URL, and the fields of the [Recording]
//
// The target URI of metadata is "metadata:" and the URL. No URL has a login in it.
//
// A Body that fails or is closed before its end is a record with WARC-Truncated. A part of a
// document (Request.Offset and Length), a chosen view of it and some articles of a group are not
// what the URL stands for, so they have metadata only.
type Recorder struct {
	// Writer writes the files. It must be set. The Recorder does not close it.
	Writer *warc.Writer
	// NoRevisits keeps every content, and remembers no earlier one. It is for a caller that accesses
	// each URL once.
	NoRevisits bool
	// Skip, if not nil, is called with the error of an access that has failed before there was a
	// Resource. If it reports true, the access is not recorded. Calls may be concurrent.
	Skip func(err error) bool

	known known
}

// ErrNotRecorded is in the error of an access whose records cannot be written.
var ErrNotRecorded = errors.New("not recorded")

// Record performs an access by next and records it. Its error is that of next, or an *[fetch.Error]
// of kind [fetch.ErrLocalIO] and Op [fetch.OpWrite] that wraps [ErrNotRecorded], if a record cannot
// be written. Reading the Body and the Items of the Resource fails in the same way.
func (r *Recorder) Record(ctx context.Context, req *fetch.Request, next fetch1738.FetchFunc) (*fetch.Resource, error) {
	e := newEvent(ctx, r, req)
	res, err := next(fetch.WithTrace(ctx, e.trace()), e.request())
	if err != nil {
		cause := err
		if r.Skip != nil && r.Skip(err) {
			cause = nil
		}
		return nil, cmp.Or(e.end(cause), err)
	}
	e.fetched(res)
	switch res.Kind {
	case fetch.KindQuery, fetch.KindInteractive, fetch.KindAdvice:
		if err := e.end(io.EOF); err != nil {
			return nil, errors.Join(err, res.Close())
		}
		return res, nil
	}
	if res.Items != nil {
		res.Items = e.items(res.Items, res.Body)
	}
	res.Body = recordedBody{res.Body, e}
	return res, nil
}

// A Recording is what the caller of an access adds to its recording: see [WithRecording]. The zero
// value adds nothing.
type Recording struct {
	// Fields are further fields of the metadata, such as hopsFromSeed.
	Fields []warc.Field
	// Writing, if not nil, is called just before the records are written. An access without records
	// does not call it.
	Writing func()
}

type recordingKey struct{}

// WithRecording returns a copy of ctx for accesses that are recorded with r. It replaces the Recording
// of ctx.
func WithRecording(ctx context.Context, r Recording) context.Context {
	return context.WithValue(ctx, recordingKey{}, r)
}

// errClosed is the end of a Body that its reader does not read any further.
var errClosed = errors.New("closed before the end")

// recordedBody is a Body whose end is the end of an event.
type recordedBody struct {
	io.ReadCloser
	event *event
}

func (b recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == nil {
		return n, b.event.failure()
	}
	return n, cmp.Or(b.event.end(err), err)
}

func (b recordedBody) Close() error {
	err := b.ReadCloser.Close()
	return cmp.Or(b.event.end(errClosed), err)
}

// items yields items. After the last one the rest of the body is read: what is left of a listing.
func (e *event) items(items iter.Seq2[fetch.Item, error], body io.Reader) iter.Seq2[fetch.Item, error] {
	return func(yield func(fetch.Item, error) bool) {
		for item, err := range items {
			if err != nil {
				yield(item, cmp.Or(e.end(err), err))
				return
			}
			if err := e.failure(); err != nil {
				yield(fetch.Item{}, err)
				return
			}
			if !yield(item, nil) {
				return
			}
		}
		_, err := io.Copy(io.Discard, body)
		if err := cmp.Or(e.end(cmp.Or(err, io.EOF)), err); err != nil {
			yield(fetch.Item{}, err)
		}
	}
}

// An event is an access while it is observed. Its hooks and its end may be called by two goroutines,
// because a Body may be closed during a Read.
type event struct {
	Recording
	recorder *Recorder
	req      *fetch.Request
	began    time.Time

	mu           sync.Mutex
	peer         connection
	exchanges    []exchange // of HTTP; the body is that of the last one
	body         *warc.Block
	conversation *warc.Block
	cut          bool            // the conversation is not complete
	res          *fetch.Resource // nil until the access returns
	err          error           // an octet could not be kept, or a record could not be written
	ended        bool
}

func newEvent(ctx context.Context, r *Recorder, req *fetch.Request) *event {
	asked, _ := ctx.Value(recordingKey{}).(Recording)
	return &event{Recording: asked, recorder: r, req: req, began: time.Now()}
}

// fetched sets the Resource.
func (e *event) fetched(res *fetch.Resource) {
	e.mu.Lock()
	defer e.mu.Unlock()
	copied := *res
	copied.Body, copied.Items = nil, nil
	e.res = &copied
	if addr := res.Peer.Addr(); addr.IsValid() && e.proxied() == nil {
		e.peer.addr = addr
	}
}

// failure returns why the event cannot be recorded, or nil.
func (e *event) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// fail sets the failure. The caller must hold mu.
func (e *event) fail(err error) {
	if err != nil && e.err == nil {
		url := e.req.Locator.Redacted()
		e.err = &fetch.Error{Op: fetch.OpWrite, URL: url, Kind: fetch.ErrLocalIO, Err: fmt.Errorf("%w: %w", ErrNotRecorded, err)}
	}
}

// end writes the records. cause is how the access has ended: io.EOF after all of it; nil if it is not
// recorded. Further calls write nothing. The error is the failure.
func (e *event) end(cause error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return e.err
	}
	e.ended = true
	if e.err == nil && cause != nil {
		e.fail(e.write(cause))
	}
	for _, block := range []*warc.Block{e.body, e.conversation} {
		if block != nil {
			e.fail(block.Close())
		}
	}
	e.body, e.conversation, e.exchanges = nil, nil, nil
	return e.err
}
