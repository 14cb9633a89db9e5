package wais

import (
	"errors"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/internal/codec/z3950"
	"github.com/fetch1738/fetch1738/locator"
)

var errNoID = errors.New("the URL has no document-id")

// parsePath parses a wpath. WAIS browsers write it as "length/tag=value;tag=value;". There the
// document-id is a list of tags and values with an encoding of its own. A length of 0, or no length,
// means that it is unknown. Any other wpath is the document-id itself, as in RFC 1738.
func parsePath(wpath string) (document, error) {
	digits, rest, ok := strings.Cut(wpath, "/")
	length, err := strconv.ParseInt(digits, 10, 62)
	ok = ok && err == nil && isNumber(digits)
	switch {
	case wpath == "":
		return document{}, errNoID
	case ok && isTagged(rest):
		wpath = rest
	case isTagged(wpath):
		length = 0
	default:
		return document{id: []byte(wpath), length: -1}, nil
	}
	if length == 0 {
		length = -1
	}
	id, err := z3950.ParseDocIDText(wpath)
	return document{id: id, length: length}, err
}

// isTagged reports whether a text begins with "number=".
func isTagged(text string) bool {
	tag, _, ok := strings.Cut(text, "=")
	return ok && isNumber(tag)
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// path returns the wpath from which parsePath reads a document-id. It reports false if there is no
// such wpath.
func path(id []byte, length z3950.Number) (wpath string, ok bool) {
	if text, ok := z3950.DocIDText(id); ok {
		return strconv.FormatUint(uint64(length.Value), 10) + "/" + text, true
	}
	doc, err := parsePath(string(id))
	return string(id), err == nil && string(doc.id) == string(id)
}

// DocumentID returns the document-id in the URL of a document, which is sent to the server, and the
// length of the document; -1 if the URL does not have it.
func DocumentID(l *locator.WAIS) (id []byte, length int64, err error) {
	doc, err := parsePath(l.WPath)
	return doc.id, doc.length, err
}

// URL returns l in the form that WAIS browsers write: "wais://host/db/TEXT/162/1=…;2=…;". The
// reserved characters of the document-id are not encoded. RFC 1738 requires the encoding, and
// l.String does it. A [locator.Parser] that tolerates [locator.ReservedOctets] reads both forms.
func URL(l *locator.WAIS) string {
	doc, err := parsePath(l.WPath)
	if l.Form != locator.WAISDocument || err != nil || string(doc.id) == l.WPath || strings.Trim(l.WPath, browserOctets) != "" {
		return l.String()
	}
	bare := *l
	bare.WPath = ""
	return bare.String() + l.WPath
}

// browserOctets are the octets in a wpath written by browsers.
const browserOctets = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./-_$%=;"
