package z3950

import (
	"fmt"
)

// Type is the type of a PDU.
type Type uint8

// The types in use. Present, Delete and the PDUs of access and resource control (24 to 31) have no
// constants.
const (
	TypeInit           Type = 20
	TypeInitResponse   Type = 21
	TypeSearch         Type = 22
	TypeSearchResponse Type = 23
)

var typeNames = map[Type]string{
	TypeInit: "Init", TypeInitResponse: "InitResponse", TypeSearch: "Search", TypeSearchResponse: "SearchResponse",
	24: "Present", 25: "PresentResponse", 26: "Delete", 27: "DeleteResponse",
}

// String returns the name of the type, such as "Search".
func (t Type) String() string {
	if name := typeNames[t]; name != "" {
		return name
	}
	return fmt.Sprintf("PDU of type %d", uint8(t))
}

// A PDU is an *[Init], *[InitResponse], *[Search], *[SearchResponse] or *[Other].
type PDU interface {
	// Type returns the type of the PDU.
	Type() Type
	// appendHeader appends the fields after the type, and appendInfo the user information.
	appendHeader(b []byte) []byte
	appendInfo(b []byte) []byte
}

// maxHeader is the maximum length of a PDU without its user information.
const maxHeader = 0xFFFF

// AppendPDU appends the encoded p to b. It fails if p is too long to be encoded.
func AppendPDU(b []byte, p PDU) ([]byte, error) {
	start := len(b)
	b = append(b, 0, 0, byte(p.Type()))
	b = p.appendHeader(b)
	n := len(b) - start - 2
	if n > maxHeader {
		return b[:start], fmt.Errorf("%w: %v has %d bytes; the limit is %d", ErrTooLong, p.Type(), n, maxHeader)
	}
	b[start], b[start+1] = byte(n>>8), byte(n)
	b = p.appendInfo(b)
	if n := len(b) - start; n >= 1<<28 {
		return b[:start], fmt.Errorf("%w: %v has %d bytes", ErrTooLong, p.Type(), n)
	}
	return b, nil
}

// Decode decodes the PDU in b. The result refers to the memory of b. A PDU that WAIS does not use is
// decoded as *[Other]. Errors are *[SyntaxError]s.
func Decode(b []byte) (PDU, error) {
	c := cursor{b: b}
	n, err := c.fixed(2)
	if err != nil {
		return nil, err
	}
	switch {
	case n < 1:
		return nil, c.fail("a PDU without a type")
	case int(n) > len(c.b):
		return nil, c.fail("a PDU of %d bytes, but only %d are left", n, len(c.b))
	}
	head := cursor{c.skip(int(n)), 2}
	typ := Type(head.skip(1)[0])
	switch typ {
	case TypeInit:
		return decodeInit(head, c)
	case TypeInitResponse:
		return decodeInitResponse(head, c)
	case TypeSearch:
		return decodeSearch(head, c)
	case TypeSearchResponse:
		return decodeSearchResponse(head, c)
	}
	return &Other{Number: typ, Header: head.b, Info: c.b}, nil
}

// Other is a PDU that WAIS does not use, such as Present. Its content is not decoded.
type Other struct {
	Number Type
	Header []byte
	Info   []byte
}

// Type implements [PDU].
func (p *Other) Type() Type { return p.Number }

func (p *Other) appendHeader(b []byte) []byte { return append(b, p.Header...) }
func (p *Other) appendInfo(b []byte) []byte   { return append(b, p.Info...) }

// Terms are the parameters that Init proposes and InitResponse accepts.
type Terms struct {
	Version               byte   // bits; 0x80 means version 1
	Options               byte   // bits; 0x80 means searching, the only one in use
	PreferredMessageSize  uint32 // in octets, without the header
	MaximumRecordSize     uint32
	IDAuthentication      string // the strings and ReferenceID are absent when empty
	ImplementationID      string
	ImplementationName    string
	ImplementationVersion string
	ReferenceID           []byte
}

// append appends the terms as elements.
func (t *Terms) append(b []byte) []byte {
	b = appendElement(b, TagProtocolVersion, []byte{t.Version})
	b = appendElement(b, TagOptions, []byte{t.Options})
	b = appendNumber(b, TagPreferredMessageSize, Num(t.PreferredMessageSize))
	b = appendNumber(b, TagMaximumRecordSize, Num(t.MaximumRecordSize))
	b = appendText(b, TagIDAuthentication, t.IDAuthentication)
	b = appendText(b, TagImplementationID, t.ImplementationID)
	b = appendText(b, TagImplementationName, t.ImplementationName)
	b = appendText(b, TagImplementationVersion, t.ImplementationVersion)
	return appendText(b, TagReferenceID, t.ReferenceID)
}

// decode decodes terms. The first four are required.
func (t *Terms) decode(c cursor) error {
	if err := check(c.b, c.at, 1); err != nil {
		return err
	}
	var seen [7]bool
	for e := range elements(c.b) {
		switch e.tag {
		case TagProtocolVersion:
			t.Version = firstOctet(e)
		case TagOptions:
			t.Options = firstOctet(e)
		case TagPreferredMessageSize:
			t.PreferredMessageSize = e.uint()
		case TagMaximumRecordSize:
			t.MaximumRecordSize = e.uint()
		case TagIDAuthentication:
			t.IDAuthentication = e.text()
		case TagImplementationID:
			t.ImplementationID = e.text()
		case TagImplementationName:
			t.ImplementationName = e.text()
		case TagImplementationVersion:
			t.ImplementationVersion = e.text()
		case TagReferenceID:
			t.ReferenceID = e.value
		}
		if int(e.tag) < len(seen) {
			seen[e.tag] = true
		}
	}
	for tag := TagProtocolVersion; tag <= TagMaximumRecordSize; tag++ {
		if !seen[tag] {
			return c.fail("missing element %v", tag)
		}
	}
	return nil
}

// firstOctet returns the first octet of a value, or 0 if it is empty.
func firstOctet(e element) byte {
	if len(e.value) == 0 {
		return 0
	}
	return e.value[0]
}

// Init opens a session. Clients may omit it.
type Init struct {
	Terms
	// Info is the rest of the PDU, which should be empty.
	Info []byte
}

// Type implements [PDU].
func (*Init) Type() Type { return TypeInit }

func (p *Init) appendHeader(b []byte) []byte { return p.append(b) }
func (p *Init) appendInfo(b []byte) []byte   { return append(b, p.Info...) }

func decodeInit(head, info cursor) (PDU, error) {
	p := &Init{Info: info.b}
	if err := p.decode(head); err != nil {
		return nil, err
	}
	return p, nil
}

// InitResponse is the reply to Init.
type InitResponse struct {
	Accepted bool
	Terms
	ChunkCode, ChunkIDLength Number
}

// Type implements [PDU].
func (*InitResponse) Type() Type { return TypeInitResponse }

func (p *InitResponse) appendHeader(b []byte) []byte {
	return p.append(append(b, boolOctet(p.Accepted)))
}

func (p *InitResponse) appendInfo(b []byte) []byte {
	var info []byte
	info = appendNumber(info, TagChunkCode, p.ChunkCode)
	info = appendNumber(info, TagChunkIDLength, p.ChunkIDLength)
	return appendText(b, TagUserInformation, info)
}

func decodeInitResponse(head, info cursor) (PDU, error) {
	p := new(InitResponse)
	result, err := head.fixed(1)
	if err != nil {
		return nil, err
	}
	p.Accepted = result == 1
	if err := p.decode(head); err != nil {
		return nil, err
	}
	if err := check(info.b, info.at, 1); err != nil {
		return nil, err
	}
	for e := range elements(find(info.b, TagUserInformation)) {
		switch e.tag {
		case TagChunkCode:
			p.ChunkCode = Num(e.uint())
		case TagChunkIDLength:
			p.ChunkIDLength = Num(e.uint())
		}
	}
	return p, nil
}

// find returns the value of the first element with tag t, or nil if there is no such element.
func find(b []byte, t Tag) []byte {
	for e := range elements(b) {
		if e.tag == t {
			return e.value
		}
	}
	return nil
}

// boolOctet encodes a bool.
func boolOctet(v bool) byte {
	if v {
		return 1
	}
	return 0
}
