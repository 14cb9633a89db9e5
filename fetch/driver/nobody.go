package driver

import (
	"errors"
	"io"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// WithoutOctets returns the Body of a resource at l whose kind has no body. Each Read fails with an
// *[fetch.Error] of kind [fetch.ErrNoOctets] that says what to do instead, so that a search or a
// service is not mistaken for an empty document.
func WithoutOctets(l locator.Locator, kind fetch.Kind) io.ReadCloser {
	return withoutOctets{l, kind}
}

// insteadOf says what to do with a resource that has no body.
var insteadOf = map[fetch.Kind]error{
	fetch.KindQuery:       errors.New("it is a search or a form: fetch it again with fetch.Request.Query or the answers"),
	fetch.KindInteractive: errors.New("it is a session: use fetch.Resource.Conn"),
	fetch.KindAdvice:      errors.New("it is for a person: show fetch.Resource.Advice; for a session set fetch.Request.Interact"),
}

type withoutOctets struct {
	l    locator.Locator
	kind fetch.Kind
}

func (b withoutOctets) Read([]byte) (int, error) {
	return 0, Fail(fetch.OpRead, b.l, fetch.ErrNoOctets, insteadOf[b.kind])
}

func (withoutOctets) Close() error { return nil }
