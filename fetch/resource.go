package fetch

import (
	"errors"
	"io"
	"iter"
	"net/netip"
	"time"

	"github.com/fetch1738/fetch1738/locator"
)

// A Resource is what a Fetcher found. The caller must close Body.
type Resource struct {
	Attributes
	// Locator is what was fetched; it differs from the Request's after an HTTP
	// redirect.
	Locator locator.Locator
	Kind    Kind
	// Body is the resource's octets, as the protocol carried them with its own
	// framing removed. It is never nil. It implements io.WriterTo where the octets
	// can go to a file without passing through the program. Where Kind is one
	// without octets, reading it fails: see [WithoutOctets].
	Body io.ReadCloser
	// Items is a view of the same octets: ranging over it reads Body. It is nil
	// unless Kind is KindDirectory or KindMenu. It can be ranged over once and
	// yields an error last, if at all.
	//
	// Up to 1 MiB of the Body is read before the first Item is yielded. A listing
	// that ends there has given its connection back by then, so that a walk, which
	// fetches Items while it ranges over them, holds none for each level. What is
	// longer is read as it is ranged over, and holds its connection until the end
	// or until the Resource is closed.
	Items iter.Seq2[Item, error]
	// Conn is the session of a KindInteractive resource.
	Conn io.ReadWriteCloser
	// Advice is what a person should do.
	Advice string
	// Info is the scheme's own account, such as *http.Info; nil where there is
	// nothing to tell.
	Info any
	// Peer is the address the octets come from; invalid for local ones and
	// through a proxy.
	Peer netip.AddrPort
}

// Origin is the provenance of the locators found in this resource.
func (r *Resource) Origin() Provenance {
	return Provenance{Kind: OriginRemote, By: r.Locator, Peer: r.Peer.Addr()}
}

// Close closes Body.
func (r *Resource) Close() error { return r.Body.Close() }

// Attributes are what is known about a resource besides its octets.
type Attributes struct {
	// Size is the whole resource's length in octets, -1 when it is not known.
	Size int64
	// ModTime is when it was last modified; zero when not known.
	ModTime time.Time
	// MediaType and Charset are as in MIME; empty when not known.
	MediaType, Charset string
	// Guessed is set when MediaType was inferred from a name rather than told.
	Guessed bool
	// Header holds what else the server said, in order.
	Header []Field
}

// A Field is one named value of a resource, such as a header field.
type Field struct{ Name, Value string }

// An Item is one entry of a directory or menu.
type Item struct {
	// Name is what the entry is called, as octets; for showing it to a person
	// control octets have to be made visible.
	Name string
	// Locator leads to the entry; nil for mere text, such as an info line.
	Locator locator.Locator
	Kind    Kind
	Attributes
}

// EmptyBody is a Body of no octets, as of an empty directory.
var EmptyBody io.ReadCloser = emptyBody{}

type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error)         { return 0, io.EOF }
func (emptyBody) WriteTo(io.Writer) (int64, error) { return 0, nil }
func (emptyBody) Close() error                     { return nil }

// WithoutOctets is the Body of a resource at l whose kind has no octets. Each Read
// fails with an *[Error] of kind [ErrNoOctets] that says what to do instead, so that
// nobody takes a search for an empty document.
func WithoutOctets(l locator.Locator, kind Kind) io.ReadCloser {
	return withoutOctets{l, kind}
}

// insteadOf is what to do where there is nothing to read.
var insteadOf = map[Kind]error{
	KindQuery:       errors.New("it is a search or a form: fetch it again with Request.Query or the answers"),
	KindInteractive: errors.New("it is a session: use Resource.Conn"),
	KindAdvice:      errors.New("it is for a person: show Resource.Advice; for a session set Request.Interact"),
}

type withoutOctets struct {
	l    locator.Locator
	kind Kind
}

func (b withoutOctets) Read([]byte) (int, error) {
	return 0, Fail(OpRead, b.l, ErrNoOctets, insteadOf[b.kind])
}

func (withoutOctets) Close() error { return nil }
