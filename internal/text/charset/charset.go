// Package charset decodes texts of any charset for display. golang.org/x/text has the decoders and
// the labels, those of browsers and those of IANA: it is the library of the authors of Go, and others
// are built on it. All its tables are linked, 0.8 MB, so the root package must not import this one.
package charset

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf8"

	// x/text/encoding decodes the charsets of old texts, by the tables of the Encoding Standard. It is
	// kept by the authors of Go; the standard library has none of them.
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	// x/text/transform joins the decoders to readers, with what they keep between two calls.
	// The decoders above have its interface, so nothing else fits.
	"golang.org/x/text/transform"
)

// A Charset decodes text for display. The zero value detects the charset. Octets that are not valid
// become U+FFFD, except in UTF-8, where they are not changed.
type Charset struct {
	encoding encoding.Encoding
}

// The encodings of UTF-16, as the index of browsers has them.
var (
	littleEndian = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	bigEndian    = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
)

// transformer returns a decoder of a text.
func (c Charset) transformer() transform.Transformer {
	switch c.encoding {
	case nil:
		return &detector{}
	case unicode.UTF8:
		return transform.Nop
	case littleEndian, bigEndian:
		return unicode.BOMOverride(c.encoding.NewDecoder())
	}
	return c.encoding.NewDecoder()
}

// Decode returns text as UTF-8.
func (c Charset) Decode(text string) string {
	if c.encoding == nil {
		c = Guess([]byte(text))
	}
	if c.encoding == unicode.UTF8 {
		return text
	}
	decoded, _, err := transform.String(c.transformer(), text)
	if err != nil {
		return text
	}
	return decoded
}

// Reader returns a reader of the text in r as UTF-8. Errors of r are returned unchanged. To detect the
// charset, it reads the beginning of r at once.
func (c Charset) Reader(r io.Reader) io.Reader {
	if c.encoding == nil { // not by the detector: if r breaks off, what it holds would be lost
		buffered := bufio.NewReaderSize(r, guessed)
		begins, err := buffered.Peek(guessed)
		if err == nil {
			begins = Whole(begins)
		}
		c, r = Guess(begins), buffered
	}
	if c.encoding == unicode.UTF8 {
		return r
	}
	return transform.NewReader(r, c.transformer())
}

// Writer returns a writer of a text, which is written to w as UTF-8. Close writes what is held to
// detect the charset, or as the beginning of a character. It does not close w.
func (c Charset) Writer(w io.Writer) io.WriteCloser {
	return transform.NewWriter(w, c.transformer())
}

// guessed is how many bytes of a text are examined. A transform.Writer can hold no more.
const guessed = 4 << 10

// Guess detects the charset of a text by its beginning: UTF-16 if it says so, UTF-8 if it is valid
// UTF-8, CP437 if most of its 8-bit bytes are box-drawing characters there, otherwise windows-1252,
// which includes Latin-1.
func Guess(text []byte) Charset {
	if utf8.Valid(text) {
		return Charset{unicode.UTF8}
	}
	// Two such characters can begin a text of another charset, but that has no NUL.
	if bytes.IndexByte(text, 0) >= 0 {
		switch {
		case bytes.HasPrefix(text, []byte("\xff\xfe")):
			return Charset{littleEndian}
		case bytes.HasPrefix(text, []byte("\xfe\xff")):
			return Charset{bigEndian}
		}
	}
	drawn, other := 0, 0
	for _, b := range text {
		switch {
		case 0xB0 <= b && b <= 0xDF:
			drawn++
		case b >= 0x80:
			other++
		}
	}
	// The accented letters of Latin-1 overlap with box-drawing characters, but are mostly above
	// them.
	if drawn > 3 && drawn > 3*other {
		return Charset{charmap.CodePage437}
	}
	return Charset{charmap.Windows1252}
}

// GuessDOS is Guess for a text that was probably made on a PC, as the names of some files say, such as
// those that end in ".nfo". Such a text is in CP437 unless it has more of the octets that are letters in
// Latin-1, but Greek and mathematics in CP437.
func GuessDOS(text []byte) Charset {
	c := Guess(text)
	if c.encoding != charmap.Windows1252 {
		return c
	}
	dos, latin := 0, 0
	for _, b := range text {
		switch {
		case b >= 0xE0:
			latin++
		case b >= 0x80:
			dos++
		}
	}
	if latin > dos {
		return c
	}
	return Charset{charmap.CodePage437}
}

// A detector becomes the transformer of the charset that the beginning of a text is in.
type detector struct {
	transform.Transformer // nil until that is known
}

// Transform implements transform.Transformer.
func (d *detector) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	if d.Transformer == nil {
		begins := src[:min(len(src), guessed)]
		switch {
		case len(begins) == guessed:
			begins = Whole(begins)
		case !atEOF:
			return 0, 0, transform.ErrShortSrc
		}
		d.Transformer = Guess(begins).transformer()
	}
	return d.Transformer.Transform(dst, src, atEOF)
}

// Reset implements transform.Transformer.
func (d *detector) Reset() { d.Transformer = nil }

// Whole returns text without an incomplete character of UTF-8 at its end, where it was cut.
func Whole(text []byte) []byte {
	for i := len(text) - 1; i >= 0 && i > len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return text[:i]
			}
			break
		}
	}
	return text
}
