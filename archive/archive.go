// Package archive keeps what servers have sent, as WARC files (package warc), and answers from them.
//
// A [Recorder] is set in a Resolver and writes a record for each access. An [Archive] is what such
// files hold: it finds the capture of a URL that is nearest to a time.
package archive

import (
	"errors"
	"io"
	"iter"
	"time"

	"github.com/fetch1738/fetch1738/archive/warc"
)

// An Archive is the captures of WARC and WACZ files. Its methods are safe for concurrent use. The
// caller must close it.
type Archive struct{}

// A Capture is a document that an Archive has: a record of type resource, response or revisit.
type Capture struct {
	// URL is the WARC-Target-URI, octet for octet.
	URL string
	// Time is when the capture began.
	Time time.Time
	// Type is the type of the record.
	Type warc.Type
	// MediaType has its parameters, as in Content-Type; that of an HTTP response is the one of its
	// header.
	MediaType string
	// Status is that of an HTTP response, else 0.
	Status int
	// Digest is the WARC-Payload-Digest.
	Digest string
	// Size is the number of octets of the payload, -1 if it is not known.
	Size int64
	// Modified is when the document was modified, as the server has said; or zero.
	Modified time.Time
	// Truncated is the WARC-Truncated, such as "disconnect"; "" means that the document is complete.
	Truncated string

	file   string // of the Archive
	offset int64  // of the record in file
}

// A Document is the content of a Capture. The caller must close Body.
type Document struct {
	// Header is that of the record.
	Header warc.Header
	// Head is the status line and the header fields of an HTTP response as they were received,
	// with the empty line at the end; nil for other schemes.
	Head []byte
	// Body has the payload. A payload that differs from its digest ends in an error.
	Body io.ReadCloser
}

var errTodo = errors.New("not implemented yet")

// Open opens an Archive of files, by their names: WARC files (.warc, .warc.gz), WACZ files (.wacz),
// and folders of these. An index (.cdxj) beside the files is used. Without one, the files are read
// once and an index is made in a temporary file.
func Open(names ...string) (*Archive, error) { return nil, errTodo }

// Close closes the files.
func (a *Archive) Close() error { return nil }

// Find returns the capture of a URL at a time: the last one that is not later, or the first one if
// all are later. The zero Time means the last one. If there is no capture, the error is
// fs.ErrNotExist. http and https URLs are compared as web archives compare them (SURT), all others
// octet for octet.
func (a *Archive) Find(url string, at time.Time) (*Capture, error) { return nil, errTodo }

// Captures yields the captures of all URLs that begin with prefix, sorted by URL and time. An error
// is the last pair.
func (a *Archive) Captures(prefix string) iter.Seq2[*Capture, error] { return nil }

// Open returns the content of a capture. That of a revisit is the one that it refers to.
func (a *Archive) Open(c *Capture) (*Document, error) { return nil, errTodo }

// A Site is a server of which an Archive has captures.
type Site struct {
	// Scheme is that of its URLs; "ftp" and "ftps" are two sites.
	Scheme string
	// Host and Port are those of the URLs; the Port is the default port if a URL has none. They are
	// empty for news, which names no server.
	Host string
	Port uint16
}

// Sites returns the sites, sorted.
func (a *Archive) Sites() ([]Site, error) { return nil, errTodo }
