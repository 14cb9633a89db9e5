// Package driver is for authors of Fetchers: it has the interfaces that a Fetcher implements, and
// what it does the work with. Programs that fetch need package fetch only, unless they have a Dial of
// their own ([fetch.Env]) or add a scheme.
//
// A Fetcher connects with the [Env] that [NewEnv] makes of its settings, speaks over a [Conn], and
// returns a Body of the connection, or an error by [Fail]:
//
//	server, ok := locator.ServerOf(l) // l is the *locator.Opaque of a scheme without a grammar
//	…
//	selector, err := driver.Decode(l, l.Path())
//	if err != nil {
//		return nil, err
//	}
//	target := fetch.Target{Locator: req.Locator, From: req.From, Host: server.Host, Port: server.Port}
//	c, err := driver.NewEnv(f.Env).Open(ctx, target)
//	if err != nil {
//		return nil, err
//	}
//	if _, err := io.WriteString(c, selector+"\r\n"); err != nil {
//		return nil, err
//	}
//	body, err := c.Body()
//	if err != nil {
//		return nil, err
//	}
//	return &fetch.Resource{Locator: l, Attributes: fetch.Attributes{Size: -1}, Peer: c.Peer(), Body: body}, nil
//
// Package fetchtest has the conformance tests for Fetchers. How to add a scheme is described in
// docs/architecture.md.
package driver

import (
	"context"
	"fmt"
	"io"

	"github.com/fetch1738/fetch1738/fetch"
)

// A Fetcher performs the access that RFC 1738 describes for a scheme.
//
// Fetch must be safe for concurrent use. It returns either a nil error and a Resource whose Body
// the caller must close, or a nil Resource and an *[fetch.Error]. It returns when the first bytes
// can be read, before the transfer is complete. ctx applies to the Body too: once ctx is done,
// reading the Body fails.
//
// A truncated Body ends in an *Error of kind [fetch.ErrTruncated], never in io.EOF, if the protocol
// marks the end of a document.
//
// Fetch must not modify the Request, prompt, or connect other than through its Env. It must not
// follow a referral to another Locator; it returns an error with a *[fetch.Referral] instead. What
// it does not support of a Request is an error of kind [fetch.ErrUnsupported]: a range (Offset and
// Length), a Query, Options of another type ([OptionsOf]), Interact.
type Fetcher interface {
	Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error)
}

// A Fetcher may implement further operations of RFC 1738 §2: "update", "replace", "find
// attributes". They follow the contract of Fetch. They read the reader to its end or to the first
// error, and do not close it.

// An AttributeFinder returns the attributes of a resource without its body.
type AttributeFinder interface {
	FindAttributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error)
}

// An Updater adds to a resource: FTP appends, HTTP posts.
type Updater interface {
	Update(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error)
}

// A Replacer creates or overwrites a resource: FTP stores, HTTP puts. If Request.Offset is set, the
// first Offset bytes of the existing resource are kept and body follows them.
type Replacer interface {
	Replace(ctx context.Context, req *fetch.Request, body io.Reader) (*fetch.Attributes, error)
}

// An Editor changes what a directory contains without transferring data: FTP by RNFR and RNTO,
// DELE, MKD and so on, file by system calls.
type Editor interface {
	// Edit performs edits, in order, in the directory that req designates, and sets the results of
	// each. One that is refused does not stop the others. The error is that of the whole: then the
	// edits without results may have been performed or not.
	Edit(ctx context.Context, req *fetch.Request, edits []fetch.Edit) error
}

// An Explainer returns what Fetch would do, without a connection.
type Explainer interface {
	Explain(req *fetch.Request) (*fetch.Explanation, error)
}

// OptionsOf returns the options of req for a Fetcher that accepts an *O. If req.Options is nil or a
// nil *O, it returns the zero O. If it has another type, the error is an *[fetch.Error] of kind
// [fetch.ErrUnsupported], which a Fetcher can return as it is.
func OptionsOf[O any](req *fetch.Request) (options O, err error) {
	switch given := req.Options.(type) {
	case nil:
	case *O:
		if given != nil {
			options = *given
		}
	default:
		err = Fail(fetch.OpCheck, req.Locator, fetch.ErrUnsupported, fmt.Errorf("options of type %T", given))
	}
	return options, err
}
