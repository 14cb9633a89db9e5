package z3950

import (
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// responseWith returns a SearchResponse whose user information is a group with the given elements.
func responseWith(elements string) []byte {
	info := appendElement(nil, TagUserInformation, elements)
	return append([]byte("\x00\x0b\x17\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), info...)
}

// TestNumberLimits checks that numbers have one to four octets and are unsigned. Longer numbers must be
// an error, not truncated to 32 bits.
func TestNumberLimits(t *testing.T) {
	for octets, want := range map[string]uint32{
		"\x00": 0, "\x7f": 127, "\x80": 128, "\xff": 255, "\x01\x00": 256, "\xff\xff": math.MaxUint16, "\x01\x00\x00": 1 << 16,
		"\xff\xff\xff": 1<<24 - 1, "\x01\x00\x00\x00": 1 << 24, "\x7f\xff\xff\xff": math.MaxInt32, "\x80\x00\x00\x00": 1 << 31,
		"\xff\xff\xff\xff": math.MaxUint32, "\x00\x00\x00\x07": 7,
	} {
		record := appendElement(nil, TagDocumentHeader, appendElement(nil, TagScore, octets))
		p, err := Decode(responseWith(string(record)))
		if err != nil {
			t.Errorf("%x: %v", octets, err)
			continue
		}
		records := slices.Collect(p.(*SearchResponse).Documents())
		if len(records) != 1 || records[0].Score != Num(want) {
			t.Errorf("%x is read as %+v, want %d", octets, records, want)
		}
		if written := appendNumber(nil, TagScore, Num(want)); octets[0] != 0 && string(written[2:]) != octets {
			t.Errorf("%d is written %x, want %x", want, written[2:], octets)
		}
	}
	for tag, f := range tags {
		if f.form != number {
			continue
		}
		for _, size := range []int{0, 5, 8, 9, 16, 127, 128, 256, 257, 260} {
			octets := strings.Repeat("\x00", size)
			for _, value := range []string{octets, "\x01" + strings.TrimPrefix(octets, "\x00")} {
				if size == 0 {
					value = ""
				}
				var bad *SyntaxError
				element := appendElement(nil, Tag(tag), value)
				if p, err := Decode(responseWith(string(element))); !errors.As(err, &bad) {
					t.Errorf("%v of %d bytes: %+v, %v", Tag(tag), size, p, err)
				}
				message, _ := AppendMessage(nil, NewHeader(), &SearchResponse{Info: element})
				if lines := Annotate(message); size > 4 && !strings.Contains(text(lines), `"\x0`) {
					t.Errorf("%v of %d bytes: wrong annotation:\n%s", Tag(tag), size, text(lines))
				}
			}
		}
	}
}

// TestIntegerLimits checks tags and lengths at the limits of compressed integers.
func TestIntegerLimits(t *testing.T) {
	for octets, want := range map[string]uint32{
		"\x00": 0, "\x7f": 1<<7 - 1, "\x81\x00": 1 << 7, "\xff\x7f": 1<<14 - 1, "\x81\x80\x00": 1 << 14, "\xff\xff\x7f": 1<<21 - 1,
		"\x81\x80\x80\x00": 1 << 21, "\xff\xff\xff\x7f": 1<<28 - 1, "\x80\x80\x80\x01": 1,
	} {
		c := cursor{b: []byte(octets + "x")}
		if got, err := c.integer(); got != want || err != nil || string(c.b) != "x" || c.at != len(octets) {
			t.Errorf("%x is read as %d, %v, then %q", octets, got, err, c.b)
		}
		if written := appendInteger(nil, want); octets[0] != 0x80 && string(written) != octets {
			t.Errorf("%d is written %x", want, written)
		}
	}
	for _, octets := range []string{"", "\x80", "\xff\xff\xff", "\xff\xff\xff\xff", "\x81\x80\x80\x80\x00", "\x80\x80\x80\x80\x01", "\x90\x80\x80\x80\x01", "\xff\xff\xff\xff\x7f"} {
		if got, err := (&cursor{b: []byte(octets)}).integer(); err == nil {
			t.Errorf("%x is read as %d", octets, got)
		}
	}
	// Neither a tag nor a length may lose its upper bits.
	for name, elements := range map[string]string{
		"tag of 29 bits": "\x84\x80\x80\x80\x76\x01\x07", "tag of 35 bits": "\x81\x80\x80\x80\x76\x01\x07",
		"length of 35 bits": "\x76\x90\x80\x80\x80\x01\x07", "length one too many": "\x76\x02\x07", "length 2^28-1": "\x76\xff\xff\xff\x7f\x07",
	} {
		if p, err := Decode(responseWith(elements)); err == nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestBitLimits checks bit maps of zero, one and several octets. WAIS uses the first eight bits.
func TestBitLimits(t *testing.T) {
	for octets, want := range map[string]byte{"": 0, "\x80": 0x80, "\x01": 1, "\x80\x01": 0x80, "\x00\x80": 0, strings.Repeat("\xc0", 300): 0xc0} {
		terms := appendElement(nil, TagProtocolVersion, octets)
		terms = appendElement(terms, TagOptions, octets)
		terms = append(terms, "\x05\x01\x00\x06\x01\x00"...)
		pdu := append(appendFixed(nil, uint32(len(terms)+1), 2), byte(TypeInit))
		p, err := Decode(append(pdu, terms...))
		if err != nil {
			t.Errorf("%x: %v", octets, err)
			continue
		}
		if got := p.(*Init); got.Version != want || got.Options != want {
			t.Errorf("%x is read as %x and %x, want %x", octets, got.Version, got.Options, want)
		}
	}
}

// TestFixedLimits checks the integers of fixed sizes.
func TestFixedLimits(t *testing.T) {
	p := &SearchResponse{SearchStatus: 255, ResultCount: 1<<24 - 1, RecordsReturned: 1 << 23, NextPosition: 1, Info: []byte{}}
	octets, err := AppendPDU(nil, p)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(octets)
	if err != nil {
		t.Fatal(err)
	}
	if got := back.(*SearchResponse); got.SearchStatus != 255 || got.ResultCount != 1<<24-1 || got.RecordsReturned != 1<<23 || got.NextPosition != 1 {
		t.Errorf("%+v", got)
	}
	for cut := range 10 { // inside the status or the counters
		short := append(appendFixed(nil, uint32(1+cut), 2), octets[2:3+cut]...)
		if p, err := Decode(short); err == nil {
			t.Errorf("%d bytes of fixed integers: %+v", cut, p)
		}
	}
	for size, ok := range map[int]bool{0xFFFF - 1: true, 0xFFFF: false} { // and the type
		octets, err := AppendPDU(nil, &Other{Number: 31, Header: make([]byte, size)})
		if ok != (err == nil) {
			t.Errorf("a PDU with %d bytes: %d bytes, %v", size, len(octets), err)
		}
	}
}

// TestMessageLimits checks message lengths at the reader's limit and at the limit of the platform's
// integers.
func TestMessageLimits(t *testing.T) {
	const five = "0000000005z2wais        0hello"
	for limit, want := range map[int]error{5: nil, 4: ErrTooLong, 0: ErrTooLong, math.MaxInt: nil} {
		if _, m, err := ReadMessage(strings.NewReader(five), nil, limit); !errors.Is(err, want) || want == nil && string(m) != five {
			t.Errorf("limit %d: %q, %v", limit, m, err)
		}
	}
	for _, length := range []string{"2147483622", "2147483623", "2147483647", "2147483648", "4294967295", "4294967296", "4294967301", "9999999999"} {
		_, _, err := ReadMessage(strings.NewReader(length+"z2wais        0hello"), nil, math.MaxInt)
		if !errors.Is(err, ErrTooLong) && err != io.ErrUnexpectedEOF {
			t.Errorf("length %s: %v", length, err)
		}
	}
}

// TestDocIDLimits checks parts of document-ids. A copyright of more than one octet is not valid.
func TestDocIDLimits(t *testing.T) {
	for id, want := range map[string]bool{"\x07\x00": true, "\x07\x01\xff": true, "\x07\x02\x00\x01": false, "\x07\x05\x00\x00\x00\x00\x01": false} {
		if got, ok := ParseDocID([]byte(id)); ok != want {
			t.Errorf("%x: %+v, %t", id, got, ok)
		}
	}
	for text, want := range map[string]bool{"268435455=x;": true, "268435456=x;": false, "4294967297=x;": false, "18446744073709551617=x;": false} {
		if id, err := ParseDocIDText(text); want != (err == nil) {
			t.Errorf("%s: %x, %v", text, id, err)
		}
	}
}
