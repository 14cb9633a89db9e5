package pool

import (
	"errors"

	"github.com/fetch1738/fetch1738/fetch"
)

// patience is the number of requests in a row that may fail for a reason that is not theirs.
const patience = 3

// A Mark says what an error means for the run.
type Mark uint8

// The marks.
const (
	Own   Mark = iota // it is about one file
	Doubt             // it may end the run, if the next requests fail too
	Ends              // it ends the run: no other file can be transferred either
)

// A markedError is an error with a mark.
type markedError struct {
	error
	mark Mark
}

func (e markedError) Unwrap() error { return e.error }

// Over marks err as one that ends the run, whatever its mark was. It returns nil for nil.
func Over(err error) error {
	if err == nil {
		return nil
	}
	_, err = Unmark(err) // an error with two marks would keep one of them
	return markedError{err, Ends}
}

// InDoubt marks err as one that ends the run if the next requests fail too.
func InDoubt(err error) error { return markedError{err, Doubt} }

// Unmark returns the mark of an error, and the error without it.
func Unmark(err error) (Mark, error) {
	marked, ok := errors.AsType[markedError](err)
	if ok && error(marked) == err {
		return marked.mark, marked.error
	}
	return marked.mark, err
}

// Failed records that a request has failed for good. It marks the error if the reason may be that there
// is no connection to the server, or no login: that ends the run if it happens several times in a row.
func (p *Pool) Failed(err error) error {
	e, ok := errors.AsType[*fetch.Error](err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !ok || !isAboutServer(e) && (e.Kind != fetch.ErrUnauthenticated || p.worked) {
		return err
	}
	if p.lost++; p.lost < patience {
		return InDoubt(err)
	}
	return Over(err)
}

// IsCalm reports whether a request has succeeded since [Pool.Failed] was in doubt.
func (p *Pool) IsCalm() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost == 0
}

// SameReason reports whether two failures have the same reason, so that one of them says all.
func SameReason(a, b error) bool {
	first, _ := errors.AsType[*fetch.Error](a)
	second, _ := errors.AsType[*fetch.Error](b)
	if first == nil || second == nil {
		return first == second && a.Error() == b.Error()
	}
	return first.Kind == second.Kind || isAboutServer(first) && isAboutServer(second)
}

// isAboutServer reports whether an error is about the server and not about one of its files.
func isAboutServer(e *fetch.Error) bool {
	switch e.Op {
	case fetch.OpResolve, fetch.OpConnect, fetch.OpProxyConnect, fetch.OpTLS, fetch.OpLogin, "USER", "PASS", "ACCT", "AUTH":
		return true
	}
	return e.Kind == fetch.ErrUnresolved || e.Kind == fetch.ErrUnreachable
}
