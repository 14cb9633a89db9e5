package fetch

import (
	"crypto/tls"
	"io"
	"iter"
	"mime"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/locator"
)

// A Resource is the result of a Fetch. The caller must close it, or its Body.
type Resource struct {
	Attributes
	// Locator is the URL that was fetched. After an HTTP redirect it differs from that of the
	// Request.
	Locator locator.Locator
	Kind    Kind
	// Body has the bytes of the resource, without the framing of the protocol. It is never nil. It
	// implements io.WriterTo if the bytes can go to a file without passing through the program. If
	// the Kind has no body, reading it fails: see driver.WithoutOctets.
	Body io.ReadCloser
	// Lead has the bytes that [Request.Lead] asked for. They are neither in Body nor in the count
	// of a Trace. It is nil if none were received, also because nothing follows Request.Offset.
	Lead []byte
	// Items are the entries of a directory or menu; nil for other kinds. Ranging over Items reads
	// Body, so it can be done once. If it yields an error, that is the last pair.
	//
	// Up to 1 MiB of the Body is read before the first Item is yielded, unless [Request.Stream] is
	// set. A listing that ends there
	// has released its connection by then, so a walk that fetches Items while it ranges over them
	// needs no connection for each level. A longer listing is read during the loop. It keeps its
	// connection until the end or until the Resource is closed.
	Items iter.Seq2[Item, error]
	// Conn is the session of a KindInteractive resource.
	Conn io.ReadWriteCloser
	// Advice says what a person should do with a KindAdvice resource.
	Advice string
	// Info has details of the scheme, such as an *http.Info; nil if there are no details.
	Info any
	// Peer is the address of the server. It is invalid for local files and through a proxy.
	Peer netip.AddrPort
	// TLS describes the encryption of the connection; nil for a connection without TLS. That of FTP is
	// the control connection.
	TLS *tls.ConnectionState
}

// Origin returns the provenance of the Locators in r, for [Request.From].
func (r *Resource) Origin() Provenance {
	return Provenance{Kind: OriginRemote, By: r.Locator, Peer: r.Peer.Addr()}
}

// Close closes Body.
func (r *Resource) Close() error { return r.Body.Close() }

// Attributes describe a resource.
type Attributes struct {
	// Size is the length of the whole resource in bytes; -1 if it is not known.
	Size int64
	// ModTime is the time of the last modification; zero if it is not known.
	ModTime time.Time
	// MediaType and Charset are as in MIME; empty if they are not known.
	MediaType, Charset string
	// Guessed is set if MediaType was derived from the name, because the server sent none.
	Guessed bool
	// Header has the other information from the server, in order.
	Header []Field
}

// ETag is an entity tag for HTTP, made of the size and the time as web servers make it for files. It
// tells a resource from earlier and later ones at the same place. It is empty if the size or the
// time is not known.
func (a *Attributes) ETag() string {
	if a.Size < 0 || a.ModTime.IsZero() {
		return ""
	}
	tag := append(make([]byte, 0, 32), '"')
	tag = strconv.AppendInt(tag, a.ModTime.UnixNano(), 36)
	tag = append(tag, '-')
	tag = strconv.AppendInt(tag, a.Size, 36)
	return string(append(tag, '"'))
}

// Get returns the value of the first field of Header with that name, without regard to case, or ""
// if there is no such field. It is as the server sent it: see Subject and Author for those of articles.
func (a *Attributes) Get(name string) string {
	for _, f := range a.Header {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Subject returns the subject of a news article as text, or "" for other resources. Encoded words in
// UTF-8, ISO-8859-1 and US-ASCII are decoded (RFC 2047); those in other charsets stay as they are,
// because decoding them requires tables that not every program should link. Bytes that are not UTF-8
// are read as ISO-8859-1. The text may contain control characters: escape them before you show it.
func (a *Attributes) Subject() string { return text(a.Get("Subject")) }

// Author returns the author of a news article, with the address, as text: see Subject. The date of
// the article is ModTime.
func (a *Attributes) Author() string { return text(a.Get("From")) }

// text returns the value of a field of an article in UTF-8.
func text(value string) string {
	if !utf8.ValidString(value) {
		latin1 := make([]rune, len(value))
		for i := range len(value) {
			latin1[i] = rune(value[i])
		}
		value = string(latin1)
	}
	decoded, err := new(mime.WordDecoder).DecodeHeader(value)
	if err != nil { // a word in another charset
		return value
	}
	return decoded
}

// A Field is one named value of a resource, such as a header field.
type Field struct{ Name, Value string }

// An Item is one entry of a directory or menu.
type Item struct {
	// Name is the name of the entry, byte for byte. It may contain control characters: escape them
	// before you show it.
	Name string
	// Locator is the URL of the entry; nil for an entry that is only text, such as an info line.
	Locator locator.Locator
	Kind    Kind
	Attributes
}
