package z3950

import (
	"errors"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/internal/urls/percent"
)

// DocID is a document-id in the form of freeWAIS and nearly all servers. It names the origin and the
// distributor of the document. For clients it is opaque.
type DocID struct {
	OriginalServer, OriginalDatabase, OriginalID          string // absent when empty
	DistributorServer, DistributorDatabase, DistributorID string
	Copyright                                             byte // 0 means free to copy
}

// AppendDocID appends the encoded id to b.
func AppendDocID(b []byte, id DocID) []byte {
	for i, s := range []string{
		id.OriginalServer, id.OriginalDatabase, id.OriginalID,
		id.DistributorServer, id.DistributorDatabase, id.DistributorID,
	} {
		b = appendText(b, Tag(i+1), s)
	}
	return appendElement(b, 7, []byte{id.Copyright})
}

// ParseDocID decodes a document-id. It reports whether the id has the form of DocID.
func ParseDocID(b []byte) (id DocID, ok bool) {
	if len(b) == 0 {
		return id, false
	}
	for c := (cursor{b: b}); len(c.b) > 0; {
		e, err := c.element()
		if err != nil || e.tag < 1 || e.tag > 7 || e.tag == 7 && len(e.value) > 1 {
			return id, false
		}
		switch e.tag {
		case 7:
			id.Copyright = firstOctet(e)
		default:
			*id.field(e.tag) = e.text()
		}
	}
	return id, true
}

// field returns the field with the tag t, which must be from 1 to 6.
func (id *DocID) field(t Tag) *string {
	return [...]*string{
		&id.OriginalServer, &id.OriginalDatabase, &id.OriginalID,
		&id.DistributorServer, &id.DistributorDatabase, &id.DistributorID,
	}[t-1]
}

// DocIDText returns a document-id in the form that WAIS browsers write in URLs:
// "1=host%3A210;2=/db;…;7=%00;". It reports false for an id that cannot be written in this form.
func DocIDText(id []byte) (text string, ok bool) {
	var b []byte
	for c := (cursor{b: id}); len(c.b) > 0; {
		e, err := c.element()
		if err != nil || e.tag == TagDiagnostic {
			return "", false
		}
		b = strconv.AppendUint(b, uint64(e.tag), 10)
		b = append(b, '=')
		b = append(b, percent.Encode(string(e.value), notPlain)...)
		b = append(b, ';')
	}
	// A tag or length with leading zeros would not be read back unchanged.
	back, err := ParseDocIDText(string(b))
	return string(b), err == nil && string(back) == string(id)
}

// notPlain reports whether an octet is written as "%XX": all but letters, digits and . / - _ $.
func notPlain(c byte) bool {
	return (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte("./-_$", c) < 0
}

var errDocIDText = errors.New(`the document-id does not have the form "tag=value;tag=value;"`)

// ParseDocIDText is the inverse of DocIDText. Characters that are not part of a "%XX" mean themselves.
func ParseDocIDText(text string) ([]byte, error) {
	if text == "" {
		return nil, errDocIDText
	}
	var id []byte
	for text != "" {
		part, rest, ended := strings.Cut(text, ";")
		number, value, assigned := strings.Cut(part, "=")
		tag, err := strconv.ParseUint(number, 10, 28)
		if !ended || !assigned || err != nil || tag == uint64(TagDiagnostic) {
			return nil, errDocIDText
		}
		id = appendElement(id, Tag(tag), []byte(percent.Decode(value)))
		text = rest
	}
	return id, nil
}
