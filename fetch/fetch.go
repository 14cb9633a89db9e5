// Package fetch defines what all schemes share, for programs that fetch: a [Request], the
// [Resource] that answers it, or an [Error]. The settings are an [Env]; a [Trace] in the context
// observes an operation, for example to show progress.
//
// The package implements no protocol. Each package below it (fetch/ftp, fetch/gopher, …) has the
// Fetcher for the schemes of one protocol. The Resolver of the root package selects it by the
// scheme of a URL. Package driver is for authors of Fetchers.
package fetch

import "github.com/fetch1738/fetch1738/locator"

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

// Kind is the kind of a Resource.
type Kind uint8

// The kinds of Resource.
const (
	// KindDocument is a file, a page or an article. Body has its bytes.
	KindDocument Kind = iota
	// KindDirectory is a directory. Body is the listing as the server sent it, Items are the
	// entries.
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
