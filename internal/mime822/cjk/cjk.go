// Package cjk decodes the charsets of Chinese, Japanese and Korean that have more than one byte per
// character, as packages of golang.org/x/text do. Those also link the tables for encoding.
package cjk

import (
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// A Charset is one of the charsets below.
type Charset int

// The charsets, as in https://encoding.spec.whatwg.org. Only ISO2022JP has more: JIS X 0212, and
// katakana of half width.
const (
	Big5 Charset = iota
	GBK
	GB18030
	EUCKR
	EUCJP
	ShiftJIS
	ISO2022JP
)

// NewDecoder returns a decoder to UTF-8. It replaces invalid bytes by U+FFFD.
func (c Charset) NewDecoder() *encoding.Decoder {
	next := [...]func(*decoder, []byte) (rune, int){
		Big5: (*decoder).big5, GBK: (*decoder).gbk, GB18030: (*decoder).gb18030, EUCKR: (*decoder).eucKR,
		EUCJP: (*decoder).eucJP, ShiftJIS: (*decoder).shiftJIS, ISO2022JP: (*decoder).iso2022JP,
	}[c]
	return &encoding.Decoder{Transformer: &decoder{tables: load(), next: next}}
}

type decoder struct {
	*tables
	// next decodes the beginning of src, which is not empty. It returns the character and its number
	// of bytes. The number is negative if src is incomplete: these bytes are invalid if nothing
	// follows.
	next func(d *decoder, src []byte) (rune, int)
	set  set // of ISO2022JP
}

const (
	bad  = utf8.RuneError
	none = -1 // a sequence that is no character
)

// Transform implements transform.Transformer.
func (d *decoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	var buf [2 * utf8.UTFMax]byte
	for nSrc < len(src) {
		r, size := d.next(d, src[nSrc:])
		if size < 0 {
			if !atEOF {
				return nDst, nSrc, transform.ErrShortSrc
			}
			r, size = bad, -size
		}
		if r != none {
			text := utf8.AppendRune(buf[:0], r&(1<<secondShift-1))
			if second := r >> secondShift; second != 0 {
				text = utf8.AppendRune(text, second)
			}
			if len(text) > len(dst)-nDst {
				return nDst, nSrc, transform.ErrShortDst
			}
			nDst += copy(dst[nDst:], text)
		}
		nSrc += size
	}
	return nDst, nSrc, nil
}

// Reset implements transform.Transformer.
func (d *decoder) Reset() { d.set = ascii }

func (d *decoder) big5(src []byte) (rune, int) {
	switch c := src[0]; {
	case c < utf8.RuneSelf:
		return rune(c), 1
	case c == 0x80 || c == 0xFF:
		return bad, 1
	case len(src) < 2:
		return bad, -1
	case src[1] < 0x40:
		return bad, 1
	}
	return pair(d.tables.big5, src), 2
}

func (d *decoder) gbk(src []byte) (rune, int) {
	switch c := src[0]; {
	case c < utf8.RuneSelf:
		return rune(c), 1
	case c == 0x80:
		return '€', 1
	case c == 0xFF:
		return bad, 1
	case len(src) < 2:
		return bad, -1
	case src[1] < 0x40 || src[1] == 0x7F || src[1] == 0xFF:
		return bad, 1
	}
	return pair(d.tables.gbk, src), 2
}

func (d *decoder) gb18030(src []byte) (rune, int) {
	if src[0] <= 0x80 || src[0] == 0xFF || len(src) < 2 || src[1] < 0x30 || 0x40 <= src[1] {
		return d.gbk(src)
	}
	switch {
	case len(src) < 4:
		return bad, -1
	case src[2] < 0x81 || src[2] == 0xFF || src[3] < 0x30 || 0x3A <= src[3]:
		return bad, 1
	}
	i := four(src)
	if i < len(d.bmp) {
		return at(d.bmp, i), 4
	}
	if r := rune(i) - supplementary + 0x10000; 0x10000 <= r && r <= utf8.MaxRune {
		return r, 4
	}
	return bad, 1
}

func (d *decoder) eucKR(src []byte) (rune, int) {
	switch c := src[0]; {
	case c < utf8.RuneSelf:
		return rune(c), 1
	case c == 0x80 || c == 0xFF:
		return bad, 1
	case len(src) < 2:
		return bad, -1
	}
	r := pair(d.tables.eucKR, src)
	if r == bad && src[1] < utf8.RuneSelf {
		return bad, 1
	}
	return r, 2
}

// halfwidth is the distance of katakana of half width from their bytes above 0xA0.
const halfwidth = 0xFF61 - 0xA1

func (d *decoder) eucJP(src []byte) (rune, int) {
	in94 := func(c byte) bool { return 0xA1 <= c && c <= 0xFE }
	switch c := src[0]; {
	case c < utf8.RuneSelf:
		return rune(c), 1
	case c != 0x8E && c != 0x8F && !in94(c):
		return bad, 1
	case c == 0x8F && len(src) == 2 && in94(src[1]) && src[1] != 0xFE:
		return bad, -2
	case len(src) < 2 || c == 0x8F && len(src) < 3:
		return bad, -1
	case !in94(src[1]):
		return bad, 1
	case c == 0x8F && !in94(src[2]):
		return bad, 2
	case c == 0x8F:
		return cell(d.jis0212, src[1]-0xA1, src[2]-0xA1), 3
	case c == 0x8E && src[1] <= 0xDF:
		return rune(src[1]) + halfwidth, 2
	case c == 0x8E:
		return bad, 2
	}
	return cell(d.jis0208, src[0]-0xA1, src[1]-0xA1), 2
}

func (d *decoder) shiftJIS(src []byte) (rune, int) {
	switch c := src[0]; {
	case c <= 0x80:
		return rune(c), 1
	case 0xA1 <= c && c <= 0xDF:
		return rune(c) + halfwidth, 1
	case c == 0xA0 || c > 0xFC:
		return bad, 1
	case len(src) < 2:
		return bad, -1
	case src[1] < 0x40 || src[1] == 0x7F:
		return bad, 1
	case src[1] > 0xFC:
		return bad, 2
	}
	row, column := shiftedCell(src)
	return cell(d.jis0208, row, column), 2
}

// A set is one of the sets of characters between which ISO2022JP switches.
type set int

const (
	ascii set = iota
	katakana
	jis0208
	jis0212
)

func (d *decoder) iso2022JP(src []byte) (rune, int) {
	c := src[0]
	switch {
	case c >= utf8.RuneSelf:
		return bad, 1
	case c == 0x1B:
		return d.escape(src)
	case d.set == ascii:
		return rune(c), 1
	case d.set == katakana && (c < 0x21 || 0x60 <= c):
		return bad, 1
	case d.set == katakana:
		return rune(c) + 0x80 + halfwidth, 1
	case c == '\n': // each line begins in ASCII
		d.set = ascii
		return '\n', 1
	case len(src) < 2:
		return bad, -1
	case d.set == jis0208:
		return cell(d.jis0208, c-0x21, src[1]-0x21), 2
	}
	return cell(d.jis0212, c-0x21, src[1]-0x21), 2
}

// escape switches to another set.
func (d *decoder) escape(src []byte) (rune, int) {
	if len(src) < 3 || src[1] == '$' && src[2] == '(' && len(src) < 4 {
		return bad, -1
	}
	switch string(src[1:3]) {
	case "$@", "$B":
		d.set = jis0208
	case "(B", "(J":
		d.set = ascii
	case "(I":
		d.set = katakana
	case "$(":
		if src[3] == 'D' {
			d.set = jis0212
			return none, 4
		}
		return bad, 1
	default:
		return bad, 1
	}
	return none, 3
}
