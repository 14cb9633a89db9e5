// Package fetch defines the types that all schemes share. A [Fetcher] receives a [Request] and
// returns a [Resource] or an [Error]. It connects as its [Env] allows. A [Trace] in the context
// observes it, for example to show progress.
//
// The package implements no protocol. Each package below it (fetch/ftp, fetch/gopher, …) implements
// Fetcher for the schemes of one protocol. The Resolver of the root package selects the Fetcher by
// the scheme of a URL.
package fetch

import (
	"context"
	"fmt"
	"io"

	"github.com/fetch1738/fetch1738/locator"
)

// A Fetcher performs the access that RFC 1738 describes for a scheme.
//
// Fetch must be safe for concurrent use. It returns either a nil error and a Resource whose Body the
// caller must close, or a nil Resource and an *[Error]. It returns when the first bytes can be read,
// before the transfer is complete. ctx applies to the Body too: once ctx is done, reading the Body
// fails.
//
// A truncated Body ends in an *Error of kind [ErrTruncated], never in io.EOF, if the protocol marks
// the end of a document.
//
// Fetch must not modify the Request, prompt, or connect other than through its Env. It must not
// follow a referral to another Locator; it returns an error with a *[Referral] instead.
type Fetcher interface {
	Fetch(ctx context.Context, req *Request) (*Resource, error)
}

// A Fetcher may implement further operations of RFC 1738 §2: "update", "replace", "find
// attributes". They follow the contract of Fetch. They read the reader to its end or to the first
// error, and do not close it.

// An AttributeFinder returns the attributes of a resource without its body.
type AttributeFinder interface {
	FindAttributes(ctx context.Context, req *Request) (*Attributes, error)
}

// An Updater adds to a resource: FTP appends, HTTP posts.
type Updater interface {
	Update(ctx context.Context, req *Request, body io.Reader) (*Attributes, error)
}

// A Replacer creates or overwrites a resource: FTP stores, HTTP puts. If Request.Offset is set, the
// first Offset bytes of the existing resource are kept and body follows them.
type Replacer interface {
	Replace(ctx context.Context, req *Request, body io.Reader) (*Attributes, error)
}

// An Explainer returns what Fetch would do, without a connection.
type Explainer interface {
	Explain(req *Request) (*Plan, error)
}

// A Request is for one resource, or for part of one. Most callers set the Locator only.
type Request struct {
	// Locator is the URL. It must not be nil.
	Locator locator.Locator
	// From says who wrote the Locator; the policy depends on it. The zero value means the user.
	From Provenance
	// Offset is the position of the first byte to fetch; 0 is the beginning. A negative Offset
	// requests the last -Offset bytes. In an FTP transfer with ";type=a" it counts bytes as the
	// server does.
	Offset int64
	// Length is the maximum number of bytes to fetch; 0 means to the end.
	Length int64
	// Lead is how many bytes before Offset, at most Offset, to fetch into [Resource.Lead]. A caller
	// that has these bytes can compare them: if they differ, the document has changed, or the
	// server sends another part than the one requested. FTP (type I) and HTTP have it; other
	// Fetchers ignore it.
	Lead int64
	// Query holds the search words for a searchable resource ([KindQuery]) whose Locator has none.
	Query string
	// Interact requests a session if the Locator names a service (telnet).
	Interact bool
	// Stream yields the Items of a listing as they arrive, without the reading ahead that
	// [Resource.Items] describes. The connection is then in use until the loop ends.
	Stream bool
	// Options are the options of the scheme, such as *ftp.Options. A type that the Fetcher does not
	// accept is an error of kind [ErrUnsupported].
	Options any
}

// OptionsOf returns the options of req for a Fetcher that accepts an *O. If req.Options is nil or a
// nil *O, it returns the zero O. If it has another type, the error is an *[Error] of kind
// [ErrUnsupported], which a Fetcher can return as it is.
func OptionsOf[O any](req *Request) (options O, err error) {
	switch given := req.Options.(type) {
	case nil:
	case *O:
		if given != nil {
			options = *given
		}
	default:
		err = Fail(OpCheck, req.Locator, ErrUnsupported, fmt.Errorf("options of type %T", given))
	}
	return options, err
}

// Kind is the kind of a Resource.
type Kind uint8

// The kinds of Resource.
const (
	// KindDocument is a file, a page or an article. Body has its bytes.
	KindDocument Kind = iota
	// KindDirectory is a directory. Body is the listing as the server sent it, Items are the entries.
	KindDirectory
	// KindMenu is a list of links that may lead anywhere, such as a gopher menu.
	KindMenu
	// KindQuery is a search without words: fetch it again with Request.Query. It has no body.
	KindQuery
	// KindInteractive is a session: Conn is set. It has no body.
	KindInteractive
	// KindAdvice is a service or an address for a person. Advice says what to do. It has no body.
	KindAdvice
)

var kindNames = [...]string{"document", "directory", "menu", "query", "interactive", "advice"}

// String returns the name of the kind in lower case: "document", "directory", ….
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}
