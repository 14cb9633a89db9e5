// Package charset decodes texts of the charsets that were in use before UTF-8, for display.
package charset

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// A Charset decodes text for display. The zero value detects the charset.
type Charset struct {
	name    string
	charmap *charmap.Charmap // nil for UTF-8 and for detection
}

// charsets are the charsets of old texts, by name.
var charsets = map[string]Charset{
	"auto": {}, "": {},
	"utf-8": {name: "UTF-8"}, "utf8": {name: "UTF-8"}, "ascii": {name: "UTF-8"}, "us-ascii": {name: "UTF-8"},
	"iso-8859-1": {"ISO-8859-1", charmap.ISO8859_1}, "latin1": {"ISO-8859-1", charmap.ISO8859_1}, "latin-1": {"ISO-8859-1", charmap.ISO8859_1},
	"windows-1252": {"windows-1252", charmap.Windows1252}, "cp1252": {"windows-1252", charmap.Windows1252},
	"cp437": {"CP437", charmap.CodePage437}, "ibm437": {"CP437", charmap.CodePage437},
	"macintosh": {"macintosh", charmap.Macintosh}, "koi8-r": {"KOI8-R", charmap.KOI8R}, "iso-8859-15": {"ISO-8859-15", charmap.ISO8859_15},
}

// Names returns the name of each charset, in the order of a list to choose from.
func Names() []string {
	return []string{"UTF-8", "ISO-8859-1", "ISO-8859-15", "windows-1252", "CP437", "macintosh", "KOI8-R"}
}

// Named returns a charset by its name, in upper or lower case; "auto" and "" detect it.
func Named(name string) (Charset, error) {
	c, ok := charsets[strings.ToLower(name)]
	if !ok {
		return c, fmt.Errorf("unknown charset %q; supported are utf-8, iso-8859-1, iso-8859-15, windows-1252, cp437, macintosh and koi8-r", name)
	}
	return c, nil
}

// Declared returns the charset that a server declares, as browsers understand its name: ISO-8859-1 is
// windows-1252. US-ASCII and a name that is not known say nothing about 8-bit bytes: the zero Charset.
func Declared(name string) Charset {
	switch name = strings.ToLower(name); name {
	case "iso-8859-1", "latin1":
		name = "windows-1252"
	case "ascii", "us-ascii":
		name = ""
	}
	return charsets[name]
}

// Name returns the name of c as in [Names]; "" if c detects the charset.
func (c Charset) Name() string { return c.name }

// Decode returns text as UTF-8.
func (c Charset) Decode(text string) string {
	if c.name == "" {
		c = Guess([]byte(text))
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

// Reader returns a reader of the text in r as UTF-8. Errors of r are returned unchanged. To detect the
// charset, it reads the beginning of r at once.
func (c Charset) Reader(r io.Reader) io.Reader {
	if c.name == "" {
		buffered := bufio.NewReaderSize(r, guessed)
		begins, err := buffered.Peek(guessed)
		if err == nil {
			begins = begins[:complete(begins)]
		}
		c, r = Guess(begins), buffered
	}
	if c.charmap == nil {
		return r
	}
	return c.charmap.NewDecoder().Reader(r)
}

// Guess detects the charset of a text by its beginning: UTF-8 if it is valid UTF-8, CP437 if most of
// its 8-bit bytes are box-drawing characters there, otherwise windows-1252, which includes Latin-1.
func Guess(text []byte) Charset {
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
	// The accented letters of Latin-1 overlap with box-drawing characters, but are mostly above
	// them.
	if drawn > 3 && drawn > 3*other {
		return charsets["cp437"]
	}
	return charsets["windows-1252"]
}

// guessed is how many bytes of a text are examined.
const guessed = 4 << 10

// A Decoder writes text to w as UTF-8. Flush writes what it has buffered for detection.
type Decoder struct {
	w       io.Writer
	charset Charset
	held    []byte
	to      io.Writer // w, or a decoder to it; nil until the charset is known
}

// NewDecoder returns a Decoder for c.
func NewDecoder(w io.Writer, c Charset) *Decoder {
	d := &Decoder{w: w, charset: c}
	if c.name != "" {
		d.begin()
	}
	return d
}

// begin chooses the writer for d.charset.
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
	d.charset = Guess(d.held[:complete(d.held)])
	d.begin()
	return len(p), d.Flush()
}

// complete returns the length of text without an incomplete character of UTF-8 at its end.
func complete(text []byte) int {
	for i := len(text) - 1; i >= 0 && i > len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

// Flush writes what is buffered.
func (d *Decoder) Flush() error {
	if d.to == nil {
		d.charset = Guess(d.held)
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

// charmapWriter decodes charsets with one byte per character.
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
