package term

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// A Charset is how the octets of a text are shown. The zero value guesses.
type Charset struct {
	name    string
	charmap *charmap.Charmap // nil for UTF-8 and for a guess
}

// charsets are those that texts of the old net are in, by their names.
var charsets = map[string]Charset{
	"auto": {}, "": {},
	"utf-8": {name: "UTF-8"}, "utf8": {name: "UTF-8"}, "ascii": {name: "UTF-8"}, "us-ascii": {name: "UTF-8"},
	"iso-8859-1": {"ISO-8859-1", charmap.ISO8859_1}, "latin1": {"ISO-8859-1", charmap.ISO8859_1}, "latin-1": {"ISO-8859-1", charmap.ISO8859_1},
	"windows-1252": {"windows-1252", charmap.Windows1252}, "cp1252": {"windows-1252", charmap.Windows1252},
	"cp437": {"CP437", charmap.CodePage437}, "ibm437": {"CP437", charmap.CodePage437},
	"macintosh": {"macintosh", charmap.Macintosh}, "koi8-r": {"KOI8-R", charmap.KOI8R}, "iso-8859-15": {"ISO-8859-15", charmap.ISO8859_15},
}

// CharsetNamed finds a charset by its name; "auto" guesses.
func CharsetNamed(name string) (Charset, error) {
	c, ok := charsets[strings.ToLower(name)]
	if !ok {
		return c, fmt.Errorf("unknown charset %q; supported are utf-8, iso-8859-1, iso-8859-15, windows-1252, cp437, macintosh and koi8-r", name)
	}
	return c, nil
}

// Decode is text as UTF-8.
func (c Charset) Decode(text string) string {
	if c.name == "" {
		c = GuessCharset([]byte(text))
	}
	if c.charmap == nil {
		return text
	}
	decoded, err := c.charmap.NewDecoder().String(text)
	if err != nil {
		return text
	}
	return decoded
}

// GuessCharset guesses the charset of a text by its beginning: UTF-8 if it is
// that, CP437 if most of its 8-bit octets are what draws boxes there, otherwise
// windows-1252, of which Latin-1 is a part.
func GuessCharset(text []byte) Charset {
	if utf8.Valid(text) {
		return charsets["utf-8"]
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
	// Accented letters of Latin-1 are among those of boxes, but mostly above them.
	if drawn > 3 && drawn > 3*other {
		return charsets["cp437"]
	}
	return charsets["windows-1252"]
}

// guessed is how much of a text is looked at.
const guessed = 4 << 10

// Decoder writes a text to w in UTF-8. Flush writes what it has held back to
// guess by.
type Decoder struct {
	w       io.Writer
	charset Charset
	held    []byte
	to      io.Writer // w, or what decodes to it; nil until the charset is known
}

// NewDecoder decodes by c.
func NewDecoder(w io.Writer, c Charset) *Decoder {
	d := &Decoder{w: w, charset: c}
	if c.name != "" {
		d.begin()
	}
	return d
}

func (d *Decoder) begin() {
	d.to = d.w
	if d.charset.charmap != nil {
		d.to = charmapWriter{d.w, d.charset.charmap.NewDecoder()}
	}
}

// Write implements io.Writer.
func (d *Decoder) Write(p []byte) (int, error) {
	if d.to != nil {
		return d.to.Write(p)
	}
	d.held = append(d.held, p...)
	if len(d.held) < guessed {
		return len(p), nil
	}
	d.charset = GuessCharset(d.held[:complete(d.held)])
	d.begin()
	return len(p), d.Flush()
}

// Flush writes what was held back.
func (d *Decoder) Flush() error {
	if d.to == nil {
		d.charset = GuessCharset(d.held)
		d.begin()
	}
	held := d.held
	d.held = nil
	if len(held) == 0 {
		return nil
	}
	_, err := d.to.Write(held)
	return err
}

// charmapWriter decodes charsets of one octet a character.
type charmapWriter struct {
	w io.Writer
	d *encoding.Decoder
}

func (e charmapWriter) Write(p []byte) (int, error) {
	text, err := e.d.Bytes(p)
	if err != nil {
		return 0, err
	}
	if _, err := e.w.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}
