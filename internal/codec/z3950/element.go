package z3950

import (
	"fmt"
	"iter"
)

// A SyntaxError describes a malformed PDU.
type SyntaxError struct {
	Offset int // from the start of the PDU
	Msg    string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("malformed WAIS message: %s at byte %d", e.Msg, e.Offset)
}

// An element is a tag, a length, and a value of that length. The value of a Diagnostic does not
// include its last octet.
type element struct {
	tag   Tag
	value []byte
	at    int // where value begins in the PDU
}

// text returns the value as a string.
func (e element) text() string { return string(e.value) }

// uint returns the value as a big-endian integer. checkValue has checked that it fits.
func (e element) uint() uint32 {
	var n uint32
	for _, c := range e.value {
		n = n<<8 | uint32(c)
	}
	return n
}

// A Number is an optional number. The zero value means that it is absent.
type Number struct {
	Value uint32
	Known bool
}

// Num returns a Number that is present.
func Num(v uint32) Number { return Number{v, true} }

// A cursor reads octets in order.
type cursor struct {
	b  []byte
	at int // of b's start in the PDU
}

// fail returns a SyntaxError at the cursor.
func (c *cursor) fail(format string, args ...any) error {
	return &SyntaxError{c.at, fmt.Sprintf(format, args...)}
}

// skip returns the next n octets, which must exist, and moves the cursor behind them.
func (c *cursor) skip(n int) []byte {
	head := c.b[:n:n]
	c.b, c.at = c.b[n:], c.at+n
	return head
}

// maxDigits is the maximum number of octets in a compressed integer, leading zeros ("80") included.
const maxDigits = 4

// integer reads a compressed integer. It has seven bits per octet, most significant first. All octets
// but the last have the top bit set.
func (c *cursor) integer() (uint32, error) {
	var n uint32
	for i, o := range c.b {
		if i == maxDigits {
			return 0, c.fail("an integer of more than %d bytes", maxDigits)
		}
		n = n<<7 | uint32(o&0x7f)
		if o < 0x80 {
			c.skip(i + 1)
			return n, nil
		}
	}
	return 0, c.fail("a truncated integer")
}

// fixed reads a big-endian integer of n octets.
func (c *cursor) fixed(n int) (uint32, error) {
	if len(c.b) < n {
		return 0, c.fail("a truncated integer")
	}
	return element{value: c.skip(n)}.uint(), nil
}

// element reads the next element.
func (c *cursor) element() (e element, err error) {
	tag, err := c.integer()
	if err != nil {
		return e, err
	}
	e.tag = Tag(tag)
	if e.tag == TagDiagnostic {
		e.at = c.at + 2
		e.value, err = c.diagnostic()
		return e, err
	}
	n, err := c.integer()
	if err != nil {
		return e, err
	}
	if int(n) > len(c.b) {
		return e, c.fail("element %v has %d bytes, but only %d are left", e.tag, n, len(c.b))
	}
	e.at = c.at
	e.value = c.skip(int(n))
	return e, nil
}

// maxDepth is the maximum nesting depth of elements. WAIS uses three levels.
const maxDepth = 16

// check validates elements and the elements inside them, so that later code need not. It does not
// allocate.
func check(b []byte, at, depth int) error {
	c := cursor{b, at}
	if depth > maxDepth {
		return c.fail("elements nested more than %d deep", maxDepth)
	}
	for types := 0; len(c.b) > 0; {
		e, err := c.element()
		if err != nil {
			return err
		}
		if err := checkValue(e, depth); err != nil {
			return err
		}
		if e.tag == TagType {
			types++
		}
		if types > maxTypes {
			return c.fail("a document with more than %d types", maxTypes)
		}
	}
	return nil
}

// checkValue validates the value of an element.
func checkValue(e element, depth int) error {
	switch infoOf(e.tag).form {
	case group:
		return check(e.value, e.at, depth+1)
	case number:
		if n := len(e.value); n < 1 || n > 4 {
			return &SyntaxError{e.at, fmt.Sprintf("element %v is a number of %d bytes", e.tag, n)}
		}
	}
	return nil
}

// elements yields the elements in b, which must have been validated by check.
func elements(b []byte) iter.Seq[element] {
	return func(yield func(element) bool) {
		for c := (cursor{b: b}); len(c.b) > 0; {
			e, err := c.element()
			if err != nil || !yield(e) {
				return
			}
		}
	}
}

// Appending.

// appendInteger appends a compressed integer (see cursor.integer).
func appendInteger(b []byte, n uint32) []byte {
	for shift := 21; shift > 0; shift -= 7 {
		if n>>shift > 0 {
			b = append(b, byte(n>>shift)|0x80)
		}
	}
	return append(b, byte(n&0x7f))
}

// appendFixed appends n as a big-endian integer of size octets.
func appendFixed(b []byte, n uint32, size int) []byte {
	for shift := 8 * (size - 1); shift >= 0; shift -= 8 {
		b = append(b, byte(n>>shift))
	}
	return b
}

func appendElement[T string | []byte](b []byte, t Tag, value T) []byte {
	b = appendInteger(b, uint32(t))
	b = appendInteger(b, uint32(len(value)))
	return append(b, value...)
}

// appendText appends an element, unless its value is empty.
func appendText[T string | []byte](b []byte, t Tag, value T) []byte {
	if len(value) == 0 {
		return b
	}
	return appendElement(b, t, value)
}

// appendNumber appends a number in as few octets as possible, unless it is absent.
func appendNumber(b []byte, t Tag, n Number) []byte {
	if !n.Known {
		return b
	}
	size := 1
	for size < 4 && n.Value>>(8*size) > 0 {
		size++
	}
	b = append(appendInteger(b, uint32(t)), byte(size))
	return appendFixed(b, n.Value, size)
}
