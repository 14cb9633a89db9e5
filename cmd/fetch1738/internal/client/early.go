package client

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
)

// An Early is a document that is requested before the turn of its call. It is read into memory, so that
// no server waits for a reader, and nothing is taken from the flow control of the connection. Until its
// turn nothing is shown of it, and no password is asked for. What fails is dropped, also if the server
// says that it is busy, and what is too large: it is requested again.
type Early struct {
	ahead *Ahead
	later later
	done  chan struct{} // closed when the goroutine ends

	mu      sync.Mutex // protects the next two
	turn    bool       // it has come
	dropped bool

	// Valid after done:
	res  *fetch.Resource
	read []byte // of its body
	err  error  // of Fetch, or after read; io.EOF at the end of the body
}

// errEarly is the error of what must wait for its turn.
var errEarly = errors.New("not before the turn of the transfer")

// Early requests the document of c, whose Locator must not change until its turn has come. It returns
// nil if that is not possible.
func (a *Ahead) Early(c *Call) *Early {
	req, err := Request(c.Op, c.Locator)
	if err != nil {
		return nil
	}
	e := &Early{ahead: a, done: make(chan struct{})}
	frames := c.Op.Trace.Form > plan.TraceLines
	ctx := fetch.WithTrace(caller{c, e}.in(a.ctx), e.later.trace(frames))
	from := c.ResolverFor(req.Locator)
	a.users.Go(func() {
		defer close(e.done)
		e.res, e.err = from.Fetch(ctx, req)
		refused := e.err == nil && (e.isDropped() || isBusy(e.res))
		large := e.err == nil && !refused && e.receive()
		failed := refused || e.err != nil && e.err != io.EOF
		if (large || failed) && e.drop() {
			if failed {
				a.failed.Store(true)
			}
			e.discard()
		}
	})
	return e
}

// isBusy reports whether a server may have refused a request because of the others.
func isBusy(res *fetch.Resource) bool {
	info, ok := res.Info.(*fetchhttp.Info)
	return ok && TransientStatus(info.StatusCode)
}

// receive reads the body until its turn comes. It reports whether the document is too large to wait.
func (e *Early) receive() (large bool) {
	size := e.res.Size
	for e.err == nil && !e.begun() {
		if max(size, int64(len(e.read))) > mostEarlyEach || e.ahead.taken.Load() > mostEarlyBytes {
			return true
		}
		if len(e.read) == cap(e.read) {
			e.read = slices.Grow(e.read, int(min(max(size, 4<<10), 32<<10))+1)
		}
		var n int
		n, e.err = e.res.Body.Read(e.read[len(e.read):cap(e.read)])
		e.read = e.read[:len(e.read)+n]
		e.ahead.taken.Add(int64(n))
	}
	return false
}

// discard frees what was received.
func (e *Early) discard() {
	e.ahead.taken.Add(-int64(len(e.read)))
	e.read = nil
	if e.res != nil {
		_ = e.res.Close()
	}
}

// begun reports whether the turn has come.
func (e *Early) begun() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.turn
}

// isDropped reports whether drop has reported true.
func (e *Early) isDropped() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.dropped
}

// drop reports whether the document is requested again, because its turn has not come. It is safe to
// call for a nil Early, whose request is made in its turn.
func (e *Early) drop() bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dropped = e.dropped || !e.turn
	return e.dropped
}

// take says that the turn has come. It reports true once, and only if the document was not dropped.
func (e *Early) take() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.turn || e.dropped {
		return false
	}
	e.turn = true
	return true
}

// Take returns the response, or the error of Fetch, and tells t what has happened, as if the request
// were made now. It returns neither if the request must be made, as in a second call.
func (e *Early) Take(t *fetch.Trace) (*fetch.Resource, error) {
	if e == nil || !e.take() {
		return nil, nil
	}
	e.later.tell(t)
	<-e.done
	if e.res == nil {
		return nil, e.err
	}
	e.ahead.taken.Add(-int64(len(e.read)))
	body := e.res.Body
	rest := io.Reader(body)
	if e.err != nil {
		rest = broken{e.err}
	}
	e.res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(e.read), rest), body}
	return e.res, nil
}

// broken is a reader that has failed.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
