package fetchtest

import (
	"io"
	"slices"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/check"
)

// A subject is a Harness with what inspect found out about it.
type subject struct {
	Harness
	site   *Site // a server that has ended: only its locators are used
	memory bool  // sites are in memory
	secure bool  // connections are under TLS
	logins bool  // the protocol has passwords
	stores bool  // documents can be stored
}

// inspect finds out what a harness provides.
func inspect(t *testing.T, h Harness) *subject {
	t.Helper()
	if h.New == nil || h.Serve == nil {
		t.Fatal("Harness.New and Harness.Serve must be set")
	}
	s := &subject{Harness: h}
	tb := &scope{TB: t}
	defer tb.end()
	s.site = h.Serve(tb, Content(), nil)
	if s.site == nil || s.site.Locate == nil || s.site.any() == nil {
		t.Fatal("Serve must return a Site whose Locate returns a locator for at least one document of the content")
	}
	s.memory, s.secure = s.site.Dial != nil, s.site.TLS != nil
	s.logins = h.Serve(tb, Content(), &check.Login) != nil
	f := h.New(nil)
	_, s.stores = f.(driver.Replacer)
	s.stores = s.stores && !h.ReadOnly
	if c, ok := f.(io.Closer); ok {
		c.Close()
	}
	return s
}

// A scope is a part of a test with cleanups of its own.
type scope struct {
	testing.TB
	cleanups []func()
}

func (s *scope) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

// end calls the cleanups, the last one first.
func (s *scope) end() {
	for _, f := range slices.Backward(s.cleanups) {
		f()
	}
}

// want returns what a fetch of a document must deliver.
func (s *subject) want(name string) []byte {
	data := documents()[name]
	if s.Want != nil {
		return s.Want(name, data)
	}
	return data
}

// noRange returns the kinds of error for a range beyond the end.
func (s *subject) noRange() []fetch.ErrorKind {
	if s.Ranges {
		return []fetch.ErrorKind{fetch.ErrBadRange}
	}
	return []fetch.ErrorKind{fetch.ErrBadRange, fetch.ErrUnsupported}
}
