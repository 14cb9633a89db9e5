package mime822

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/internal/text/charset"
)

// Text returns the value of a header field in UTF-8, with its encoded words decoded (RFC 2047), as
// programs for mail and news show it. Words need not be separated from the text around them, and may
// have spaces in them, bytes that should be encoded, base64 without padding and a language (RFC 2231
// §5). The bytes of adjacent words of one charset are joined before they are decoded, because not
// every program divides a text between characters. A word that cannot be decoded is not changed.
//
// undeclared is the charset of all other bytes; the zero Charset detects it. A line end becomes a
// space, because a field is one line. Other control characters are not changed.
func Text(value string, undeclared charset.Charset) string {
	var text strings.Builder
	var joined *word // and the words before it, not written yet
	flush := func() {
		if joined != nil {
			text.WriteString(joined.text(undeclared))
			joined = nil
		}
	}
	for {
		w, start, end := nextWord(value)
		if w == nil {
			flush()
			text.WriteString(undeclared.Decode(value))
			return lineEnds.Replace(text.String())
		}
		switch between := value[:start]; {
		case joined == nil || strings.Trim(between, " \t\r\n") != "":
			flush()
			text.WriteString(undeclared.Decode(between))
		case joined.charset == w.charset: // nothing is between words but white space
			w.octets = append(joined.octets, w.octets...)
		default:
			flush()
		}
		joined, value = w, value[end:]
	}
}

// A word is an encoded word, or several of one charset, without their encoding.
type word struct {
	charset charset.Charset // the zero value for the undeclared one
	octets  [][]byte        // of each
}

// lineEnds are the characters that a field of one line does not have.
var lineEnds = strings.NewReplacer("\r\n", " ", "\r", " ", "\n", " ")

// text returns the text of a word.
func (w *word) text(undeclared charset.Charset) string {
	if w.charset == (charset.Charset{}) {
		return undeclared.Decode(string(bytes.Join(w.octets, nil)))
	}
	switch w.charset.Name() {
	case "ISO-2022-JP":
		w.endIn("\x1b(B")
	case "HZ-GB-2312":
		w.endIn("~}")
	}
	return strings.ToValidUTF8(w.charset.Decode(string(bytes.Join(w.octets, nil))), "\uFFFD")
}

// endIn inserts between words the sequence that returns to ASCII, in which each should end. It does
// nothing where the next sequence is that one, because there a text was divided into words.
func (w *word) endIn(ascii string) {
	divided := false
	for i, octets := range slices.Backward(w.octets) {
		if escape := bytes.IndexByte(octets, ascii[0]); escape >= 0 {
			divided = bytes.HasPrefix(octets[escape:], []byte(ascii[:2]))
		}
		if !divided && i > 0 {
			w.octets[i] = append([]byte(ascii), octets...)
		}
	}
}

// nextWord returns the first word of value that can be decoded, and where it starts and ends, or nil.
func nextWord(value string) (w *word, start, end int) {
	for {
		i := strings.Index(value[end:], "=?")
		if i < 0 {
			return nil, 0, 0
		}
		start = end + i
		end = start + len("=?")
		name, rest, _ := strings.Cut(value[end:], "?")
		if len(rest) < 2 || rest[1] != '?' || strings.IndexByte("bBqQ", rest[0]) < 0 {
			continue
		}
		encoding, rest := rest[0], rest[2:]
		n := strings.Index(rest, "?=")
		if n < 0 {
			return nil, 0, 0 // nor does another word end
		}
		if cut := strings.LastIndex(rest[:n], "=?"); cut >= 0 {
			end = len(value) - len(rest) + cut // another word begins; the end of this one is lost
			continue
		}
		end = len(value) - len(rest) + n + len("?=")
		if w = parseWord(name, encoding, rest[:n]); w != nil {
			return w, start, end
		}
	}
}

// parseWord returns the word of a charset with an optional language, an encoding and a text. It
// returns nil if the charset is unknown or the text is not in this encoding.
func parseWord(name string, encoding byte, text string) *word {
	name, _, _ = strings.Cut(name, "*")
	c, known := charset.Lookup(name)
	if !known {
		return nil
	}
	if encoding == 'q' || encoding == 'Q' {
		return &word{charset: c, octets: [][]byte{decodeQ(text)}}
	}
	octets, ok := decodeB(text)
	if !ok {
		return nil
	}
	return &word{charset: c, octets: [][]byte{octets}}
}

// decodeQ decodes the encoding Q (RFC 2047 §4.2). An "=" without two hexadecimal digits stays.
func decodeQ(text string) []byte {
	octets := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '_':
			c = ' '
		case c == '=' && i+2 < len(text):
			if n, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				c = byte(n)
				i += 2
			}
		}
		octets = append(octets, c)
	}
	return octets
}

// ordinary replaces the letters of base64 for URLs by the usual ones.
var ordinary = strings.NewReplacer("-", "+", "_", "/")

// decodeB decodes the encoding B (RFC 2047 §4.1). Padding may be missing, too long, or in the middle,
// where two texts were joined. White space and bits that are no byte are ignored. Some mailers use the
// alphabet of URLs (RFC 4648 §5).
func decodeB(text string) (octets []byte, ok bool) {
	text = ordinary.Replace(strings.Join(strings.Fields(text), ""))
	for part := range strings.SplitSeq(text, "=") {
		if len(part)%4 == 1 {
			part = part[:len(part)-1]
		}
		decoded, err := base64.RawStdEncoding.DecodeString(part)
		if err != nil {
			return nil, false
		}
		octets = append(octets, decoded...)
	}
	return octets, true
}
