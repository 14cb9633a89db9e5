package fetch1738

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// Progress is how far a transfer has come: see [WithProgress].
type Progress struct {
	// Locator is the URL.
	Locator locator.Locator
	// Offset is the position in the resource at which the transfer begins. It is 0 if the position
	// is not known, because a request for the end of the resource has failed, or has shown no size.
	Offset int64
	// Bytes is how many bytes of the resource were received or sent, from Offset on.
	Bytes int64
	// Total is how many bytes the transfer has, from Offset to the end of the resource or of the
	// part that was requested; -1 if it is not known.
	Total int64
	// Elapsed is the time since the transfer began, and Rate the mean number of bytes per second in
	// it.
	Elapsed time.Duration
	Rate    float64
	// Done is set in the last call, also after an error.
	Done bool
}

// String returns the progress for people, as in "512 of 2048 bytes, 1024 bytes/s". If Total is not
// known, it is "512 bytes, 1024 bytes/s".
func (p Progress) String() string {
	if p.Total < 0 {
		return fmt.Sprintf("%d bytes, %.0f bytes/s", p.Bytes, p.Rate)
	}
	return fmt.Sprintf("%d of %d bytes, %.0f bytes/s", p.Bytes, p.Total, p.Rate)
}

// WithProgress returns a copy of ctx with which a Resolver reports the progress of transfers, and
// so do the packages download, remotefs and transport. It calls report with the first bytes of each
// transfer, then at most ten times per second, and at its end. It is not called for a transfer that
// fails before the server has accepted it, such as one of a file that does not exist. The calls for
// one transfer are never concurrent; those for several may be. A report must return soon, because
// the transfer waits for it.
func WithProgress(ctx context.Context, report func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

type progressKey struct{}

const reportEvery = 100 * time.Millisecond

// A meter measures one transfer. A nil meter measures nothing.
type meter struct {
	mu     sync.Mutex
	report func(Progress)
	now    Progress
	began  time.Time
	next   time.Time // earliest time of the next report
}

// newMeter returns the meter of an operation that sends body, or nil if ctx is not from
// WithProgress.
func newMeter(ctx context.Context, op fetch.Op, req *fetch.Request, body io.Reader) *meter {
	report, _ := ctx.Value(progressKey{}).(func(Progress))
	if report == nil || op != fetch.OpAccess && op != fetch.OpReplace && op != fetch.OpUpdate {
		return nil
	}
	return &meter{report: report, now: Progress{Locator: req.Locator, Offset: max(0, req.Offset), Total: sizeOf(body)}, began: time.Now()}
}

// watch returns a copy of ctx whose Trace counts the bytes.
func (m *meter) watch(ctx context.Context) context.Context {
	if m == nil {
		return ctx
	}
	return fetch.WithTrace(ctx, &fetch.Trace{Body: m.add})
}

// expect sets the total of a fetch, and where it begins if req counts from the end.
func (m *meter) expect(req *fetch.Request, res *fetch.Resource) {
	if m == nil || res.Size < 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if req.Offset < 0 {
		m.now.Offset = max(0, res.Size+req.Offset)
	}
	m.now.Total = max(0, res.Size-m.now.Offset)
	if req.Length > 0 {
		m.now.Total = min(m.now.Total, req.Length)
	}
}

// sizeOf returns how many bytes can be read from body, or -1 if that cannot be known, or if body is
// nil.
func sizeOf(body io.Reader) int64 {
	switch body := body.(type) {
	case interface{ Len() int }:
		return int64(body.Len())
	case *os.File:
		info, err := body.Stat()
		at, errAt := body.Seek(0, io.SeekCurrent)
		if err == nil && errAt == nil && info.Mode().IsRegular() {
			return max(0, info.Size()-at)
		}
	}
	return -1
}

// add counts n bytes.
func (m *meter) add(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now.Bytes += n
	if now := time.Now(); !m.now.Done && !now.Before(m.next) {
		m.tell(now)
	}
}

// ended returns end as a function; nil for a nil meter.
func (m *meter) ended() func() {
	if m == nil {
		return nil
	}
	return m.end
}

// finish ends the meter of an operation that returns no Resource. If it has failed without a byte,
// nothing was begun that a report could be about.
func (m *meter) finish(err error) {
	if m == nil {
		return
	}
	m.mu.Lock()
	begun := m.now.Bytes > 0
	m.mu.Unlock()
	if err == nil || begun {
		m.end()
	}
}

// end makes the last report.
func (m *meter) end() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.now.Done {
		m.now.Done = true
		m.tell(time.Now())
	}
}

// tell reports the progress. The caller must hold mu.
func (m *meter) tell(now time.Time) {
	m.next = now.Add(reportEvery)
	m.now.Elapsed = now.Sub(m.began)
	if seconds := m.now.Elapsed.Seconds(); seconds > 0 {
		m.now.Rate = float64(m.now.Bytes) / seconds
	}
	m.report(m.now)
}
