package wais

import (
	"errors"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/internal/z3950"
	"github.com/fetch1738/fetch1738/locator"
)

var errNoID = errors.New("no document-id")

// parsePath reads a wpath. WAIS browsers write it "length/tag=value;tag=value;",
// where the document-id is a list of tags and values that are encoded once more;
// a length of 0, or none, is unknown. What does not begin so is the document-id
// itself, as RFC 1738 has it.
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

// isTagged reports whether a text begins as "tag=value;" does.
func isTagged(text string) bool {
	tag, _, ok := strings.Cut(text, "=")
	return ok && isNumber(tag)
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// path writes a document-id, so that parsePath reads the same. It reports false
// for one that cannot be written.
func path(id []byte, length z3950.Number) (wpath string, ok bool) {
	if text, ok := z3950.DocIDText(id); ok {
		return strconv.FormatUint(uint64(length.Value), 10) + "/" + text, true
	}
	doc, err := parsePath(string(id))
	return string(id), err == nil && string(doc.id) == string(id)
}

// URL is l as WAIS browsers write it, with the reserved characters of a
// document-id as they are: "wais://host/db/TEXT/162/1=…;2=…;". RFC 1738 wants
// them encoded, as l.String has them; [locator.ReservedOctets] reads both.
func URL(l *locator.WAIS) string {
	doc, err := parsePath(l.WPath)
	if l.Form != locator.WAISDocument || err != nil || string(doc.id) == l.WPath || strings.Trim(l.WPath, browserOctets) != "" {
		return l.String()
	}
	bare := *l
	bare.WPath = ""
	return bare.String() + l.WPath
}

// browserOctets are those that browsers write a wpath with.
const browserOctets = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./-_$%=;"
