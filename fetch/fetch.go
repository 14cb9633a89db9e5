// Package fetch is the vocabulary of retrieval: what a [Fetcher] is asked
// ([Request]), what it gives back ([Resource]), what it may use ([Env]), how it
// fails ([Error]) and what can be watched ([Trace]).
//
// It holds no protocol. The packages below it (fetch/ftp, fetch/gopher, …) each
// implement Fetcher for the scheme of their name; the root package's Resolver
// puts it all together.
package fetch

import (
	"context"
	"fmt"
	"io"

	"github.com/fetch1738/fetch1738/locator"
)

// A Fetcher performs the access that RFC 1738 describes for a scheme.
//
// Fetch must be safe for concurrent use. It returns either a nil error and a
// Resource whose Body the caller must close, or a nil Resource and an *[Error].
// It returns when the first octets can be read, not when the last have come.
// ctx governs the Body too: once ctx is done, reading the Body fails.
//
// A Body that is cut short ends in an *Error of kind [ErrTruncated], never in a
// plain io.EOF, wherever the protocol lets the end be told from a cut.
//
// Fetch must not modify the Request, follow a referral to another Locator (it
// returns a *[Referral] inside its error instead), prompt, or connect other
// than by its Env.
type Fetcher interface {
	Fetch(ctx context.Context, req *Request) (*Resource, error)
}

// The optional operations, in the words of RFC 1738 §2: "access", "update",
// "replace", "find attributes". They follow the contract of Fetch; the reader
// is read to its end or to the first error and is not closed.

// An AttributeFinder finds a resource's attributes without its body.
type AttributeFinder interface {
	FindAttributes(ctx context.Context, req *Request) (*Attributes, error)
}

// An Updater adds to a resource: FTP appends, HTTP posts.
type Updater interface {
	Update(ctx context.Context, req *Request, body io.Reader) (*Attributes, error)
}

// A Replacer stores a resource in place of what is there, if anything: FTP
// stores, HTTP puts. With a Request.Offset the first Offset octets of what is
// there stay and body follows them.
type Replacer interface {
	Replace(ctx context.Context, req *Request, body io.Reader) (*Attributes, error)
}

// An Explainer tells what Fetch would do, without a connection.
type Explainer interface {
	Explain(req *Request) (*Plan, error)
}

// A Request asks for one resource, or a part of one. The zero value of every
// field but Locator is what most callers want.
type Request struct {
	// Locator says what and where.
	Locator locator.Locator
	// From says who wrote the Locator. The zero value is the user.
	From Provenance
	// Offset is the first octet wanted. A negative one counts from the end: the
	// last -Offset octets. In a FTP ";type=a" transfer it counts octets as the
	// server does.
	Offset int64
	// Length is how many octets are wanted at most; 0 is all there are.
	Length int64
	// Query holds search words for a resource that answers to some ([KindQuery])
	// and whose Locator carries none.
	Query string
	// Interact asks for a session where the Locator names a service (telnet).
	Interact bool
	// Options are the scheme's own, such as *ftp.Options; a type that the Fetcher
	// does not know is an error.
	Options any
}

// OptionsOf returns what req.Options points to, for a Fetcher whose options are an
// O; without options, or where the pointer is nil, the zero O. Options of another
// type are an *[Error] of kind [ErrUnsupported].
func OptionsOf[O any](req *Request) (options O, err error) {
	switch given := req.Options.(type) {
	case nil:
	case *O:
		if given != nil {
			options = *given
		}
	default:
		err = &Error{Kind: ErrUnsupported, Err: fmt.Errorf("options of type %T", given)}
	}
	return options, err
}

// Kind says what a Resource is.
type Kind uint8

// The kinds of Resource.
const (
	// KindDocument is a file, a page, an article: Body is its octets.
	KindDocument Kind = iota
	// KindDirectory lists names: Body is the listing as the protocol sent it,
	// Items are its entries.
	KindDirectory
	// KindMenu lists links that may lead anywhere, such as a gopher menu.
	KindMenu
	// KindQuery wants words: fetch again with Request.Query. There are no octets.
	KindQuery
	// KindInteractive is a session: Conn is set. There are no other octets.
	KindInteractive
	// KindAdvice is something for a person to do: Advice says what. There are no
	// octets.
	KindAdvice
)

var kindNames = [...]string{"document", "directory", "menu", "query", "interactive", "advice"}

// String gives the kind's name in lower case: "document", "directory", ….
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}
