// Package archive keeps what servers have sent, as WARC files (package warc), and answers from them.
//
// A [Recorder] is set in a Resolver and writes a record for each access. An [Archive] is what such
// files hold: it finds the capture of a URL that is nearest to a time, by an index (package cdx).
// Packages replay and tree answer from it by the original protocols and as a file system, and package
// wacz packs it into one file.
package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/archive/cdx"
	"github.com/fetch1738/fetch1738/archive/warc"
)

// An Archive is the captures of WARC and WACZ files. Its methods are safe for concurrent use. The
// caller must close it.
type Archive struct {
	parts []*part
	files []File
	names map[place]string // of files

	damage DamageError
}

// Damage returns what could not be read when the index was made: a *[DamageError], or nil.
func (a *Archive) Damage() error {
	if a.damage.Count == 0 {
		return nil
	}
	return &a.damage
}

// A Capture is a document that an Archive has: a record of type resource, response or revisit.
type Capture struct {
	// URL is the WARC-Target-URI, octet for octet.
	URL string
	// Time is when the capture began, to the millisecond.
	Time time.Time
	// Type is the type of the record.
	Type warc.Type
	// MediaType has its parameters, as in Content-Type; that of an HTTP response is the one of its
	// header. MediaType, Size and Modified of a revisit are those of the capture that it refers to.
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
	// That of a record in segments is "segmented", because continuations are not read.
	Truncated string

	part         *part
	file         string // of the part
	offset       int64  // of the record in file
	length       int64  // of the record in file; 0 if it is not known
	refersTo     string // of a revisit
	refersToDate string
}

// Close closes the files.
func (a *Archive) Close() error {
	var err error
	for _, p := range a.parts {
		err = errors.Join(err, p.close())
	}
	return err
}

// Find returns the capture of a URL at a time: the last one that is not later, or the first one if
// all are later. The zero Time means the last one. If there is no capture, the error is
// fs.ErrNotExist. http and https URLs are compared as web archives compare them (SURT), but the
// captures of exactly this URL are preferred. All others are compared octet for octet.
func (a *Archive) Find(url string, at time.Time) (*Capture, error) {
	best, err := a.find(url, at, func(*cdx.Line) bool { return true })
	if err == nil && best == nil {
		err = fmt.Errorf("%s: the archive has no capture: %w", url, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	return a.resolved(best)
}

// find returns the capture as Find does, of those that are wanted; or nil.
func (a *Archive) find(url string, at time.Time, wanted func(*cdx.Line) bool) (*Capture, error) {
	return a.findKey(cdx.Key(url), url, at, wanted)
}

// findKey is find for a URL with a key.
func (a *Archive) findKey(key, url string, at time.Time, wanted func(*cdx.Line) bool) (*Capture, error) {
	var best *Capture
	for l, err := range a.lines(key + " ") {
		if err != nil {
			return nil, err
		}
		if wanted(l.Line) && (best == nil || l.better(best, url, at)) {
			best = l.capture()
		}
	}
	return best, nil
}

// better reports whether a line answers better than c, which is not later than it.
func (l line) better(c *Capture, url string, at time.Time) bool {
	if exact := l.URL == url; exact != (c.URL == url) {
		return exact
	}
	return at.IsZero() || !l.Time.After(at)
}

// Captures yields the captures of all URLs that begin with prefix, sorted by their keys in the index
// (that of other schemes than http is the URL) and time. An error is the last pair.
func (a *Archive) Captures(prefix string) iter.Seq2[*Capture, error] {
	return func(yield func(*Capture, error) bool) {
		for l, err := range a.lines(keyPrefix(prefix)) {
			var c *Capture
			if err == nil {
				if !strings.HasPrefix(l.URL, prefix) {
					continue
				}
				c, err = a.resolved(l.capture())
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// Times yields the times of the captures of exactly one URL, sorted. An error is the last pair.
func (a *Archive) Times(url string) iter.Seq2[time.Time, error] {
	return func(yield func(time.Time, error) bool) {
		for l, err := range a.lines(cdx.Key(url) + " ") {
			if err != nil {
				yield(time.Time{}, err)
				return
			}
			if l.URL == url && !yield(l.Time, nil) {
				return
			}
		}
	}
}

// keyPrefix returns what the keys of all URLs that begin with prefix begin with.
func keyPrefix(prefix string) string {
	switch {
	case !cdx.IsWeb(prefix):
		if strings.HasPrefix("https://", prefix) || strings.HasPrefix("http://", prefix) {
			return ""
		}
		return cdx.Key(prefix)
	case strings.Count(prefix, "/") < 3: // the host is not complete
		return ""
	}
	folder := prefix[:strings.LastIndexByte(prefix, '/')+1]
	if path, _, asked := strings.Cut(prefix, "?"); asked {
		folder = path[:strings.LastIndexByte(path, '/')+1]
	}
	return cdx.Key(folder)
}

// A line is a line of the index of a part.
type line struct {
	*cdx.Line
	part *part
}

// Lines yields the lines of the index of all files that do not sort before from, in order. Their
// Filename is that of [Archive.Files]. An error is the last pair.
func (a *Archive) Lines(from string) iter.Seq2[*cdx.Line, error] {
	return func(yield func(*cdx.Line, error) bool) {
		for l, err := range a.linesFrom(from, "") {
			if err == nil {
				l.Filename = a.names[l.part.files[l.Filename]]
			}
			if !yield(l.Line, err) {
				return
			}
		}
	}
}

// lines yields the lines of all parts with a prefix, in order.
func (a *Archive) lines(prefix string) iter.Seq2[line, error] { return a.linesFrom(prefix, prefix) }

// linesFrom yields those that do not sort before from.
func (a *Archive) linesFrom(from, prefix string) iter.Seq2[line, error] {
	if len(a.parts) == 1 {
		return a.parts[0].lines(from, prefix)
	}
	return merged(a.parts, from, prefix)
}

// capture returns what a line says.
func (l line) capture() *Capture {
	c := &Capture{
		URL: l.URL, Time: l.Time, Type: warc.Type(l.Type), MediaType: l.MIME, Digest: l.Digest, Size: -1, Truncated: l.Truncated,
		part: l.part, file: l.Filename, offset: int64(l.Offset), length: int64(l.Length),
		refersTo: l.RefersTo, refersToDate: l.RefersToDate,
	}
	if l.Params != "" {
		c.MediaType += ";" + l.Params
	}
	c.Status, _ = strconv.Atoi(l.Status)
	if l.Size != nil {
		c.Size = int64(*l.Size)
	}
	if l.Modified != nil {
		c.Modified = *l.Modified
	}
	if c.Type == "" { // another program has made the index
		switch {
		case l.MIME == revisitType:
			c.Type = warc.Revisit
		case c.Status != 0:
			c.Type = warc.Response
		default:
			c.Type = warc.Resource
		}
	}
	return c
}

// resolved adds to a revisit what is known of the capture that it refers to.
func (a *Archive) resolved(c *Capture) (*Capture, error) {
	if c == nil || c.Type != warc.Revisit {
		return c, nil
	}
	c.MediaType = ""
	original, err := a.original(c)
	if original != nil {
		c.MediaType, c.Size = original.MediaType, original.Size
		if c.Modified.IsZero() {
			c.Modified = original.Modified
		}
		if c.Truncated == "" {
			c.Truncated = original.Truncated
		}
	}
	return c, err
}

// original returns the capture that a revisit refers to, or nil: the one that it names, else one of
// the same URL with the same digest. Without either it is the one before the revisit.
func (a *Archive) original(c *Capture) (*Capture, error) {
	date, err := warc.ParseDate(c.refersToDate)
	if c.refersTo != "" && err == nil {
		named, err := a.find(c.refersTo, time.Time{}, func(l *cdx.Line) bool {
			return l.MIME != revisitType && l.Time.Truncate(time.Second).Equal(date.Truncate(time.Second)) && warc.SameDigest(l.Digest, c.Digest)
		})
		if named != nil || err != nil {
			return named, err
		}
	}
	switch {
	case c.Digest == "" && c.refersTo != "":
		return nil, nil
	case c.Digest == "": // the server did not send the document again
		return a.find(c.URL, c.Time, func(l *cdx.Line) bool { return l.MIME != revisitType && !l.Time.After(c.Time) })
	}
	return a.find(c.URL, c.Time, func(l *cdx.Line) bool {
		return l.MIME != revisitType && l.Digest != "" && warc.SameDigest(l.Digest, c.Digest)
	})
}

// A Document is the content of a Capture. The caller must close Body.
type Document struct {
	// Header is that of the record.
	Header warc.Header
	// Head is the status line and the header fields of an HTTP response as they were received,
	// with the empty line at the end; nil for other schemes.
	Head []byte
	// Body has the payload. The chunks that a response may be stored in are joined, although Head
	// still has its Transfer-Encoding; its Content-Encoding is not decoded. A payload that differs
	// from its digest ends in a *fetch.Error of kind ErrLocalIO, one that is truncated in one of
	// kind ErrTruncated.
	Body io.ReadCloser
}

// Record returns the record of a capture, or if that is a revisit, the record that has its content.
// The caller must close the Closer, until which the Block of the record can be read.
func (a *Archive) Record(c *Capture) (*warc.Record, io.Closer, error) {
	rec, file, err := c.openRecord()
	if err == nil && c.Type == warc.Revisit {
		var original *Capture
		original, err = a.referred(c, rec.Header)
		if err = errors.Join(err, file.Close()); err == nil {
			rec, file, err = original.openRecord()
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return rec, file, nil
}

// referred returns the capture that a revisit refers to, by the header of its record.
func (a *Archive) referred(c *Capture, h warc.Header) (*Capture, error) {
	named := *c
	named.refersTo, named.refersToDate = h.Get(warc.FieldRefersToTargetURI), h.Get(warc.FieldRefersToDate)
	original, err := a.original(&named)
	if err == nil && original == nil {
		err = fmt.Errorf("%s: the archive does not have the capture of %s that this one refers to: %w", c.URL, named.refersToDate, fs.ErrNotExist)
	}
	return original, err
}

// Open returns the content of a capture. That of a revisit is the one that it refers to.
func (a *Archive) Open(c *Capture) (*Document, error) {
	doc, err := c.open()
	if err != nil || c.Type != warc.Revisit {
		return doc, err
	}
	original, err := a.referred(c, doc.Header)
	var content *Document
	if err == nil {
		content, err = original.open()
	}
	if err = errors.Join(err, doc.Body.Close()); err != nil {
		return nil, err
	}
	doc.Body = content.Body
	if doc.Head == nil || !bytes.HasPrefix(doc.Head, []byte("HTTP/")) || bytes.Contains(doc.Head[:min(len(doc.Head), 16)], []byte(" 304")) {
		doc.Head = content.Head
	}
	return doc, nil
}
