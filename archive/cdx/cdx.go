// Package cdx reads and writes CDXJ files: the index of an archive, with a line for each capture,
// sorted by octets.
//
//	org,example)/ 20261124120000 {"url":"http://example.org/","mime":"text/html",...}
//	gopher://example.org/0/a.txt 20261124120000123 {"url":"gopher://example.org/0/a.txt",...}
//
// A [Sorter] sorts lines in bounded memory. An [Index] finds lines in a sorted file.
package cdx

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxLine limits the length of a line, in bytes.
const MaxLine = 4 << 20

// A Line is a capture. The fields up to Length are those of CDXJ 0.1.0; the other ones are of this
// module, and others leave them out.
type Line struct {
	// Key is what the lines are sorted by; see [Key].
	Key string `json:"-"`
	// Time is when the capture began, to the millisecond. The zero Time means that the record has
	// no valid date.
	Time time.Time `json:"-"`
	// URL is the WARC-Target-URI.
	URL string `json:"url"`
	// MIME is the media type of the payload without its parameters; "warc/revisit" for a revisit.
	MIME string `json:"mime,omitempty"`
	// Status is that of an HTTP response, else "".
	Status string `json:"status,omitempty"`
	// Digest is the WARC-Payload-Digest. Some programs leave the name of the algorithm out.
	Digest string `json:"digest,omitempty"`
	// Filename is the name of the WARC file.
	Filename string `json:"filename"`
	// Offset and Length are where the record is in the file, compressed as it is there. The zero
	// Length means that it is not known.
	Offset Number `json:"offset"`
	Length Number `json:"length"`

	// Type is the WARC-Type.
	Type string `json:"type,omitempty"`
	// Params are the parameters of the media type, such as "charset=utf-8".
	Params string `json:"params,omitempty"`
	// Size is the number of bytes of the payload; nil if it is not known.
	Size *Number `json:"size,omitempty"`
	// Modified is when the document was modified; nil if it is not known.
	Modified *time.Time `json:"modified,omitempty"`
	// Truncated is the WARC-Truncated.
	Truncated string `json:"truncated,omitempty"`
	// RefersTo and RefersToDate are the capture that a revisit refers to.
	RefersTo     string `json:"refersTo,omitempty"`
	RefersToDate string `json:"refersToDate,omitempty"`
}

// A Number is written as a string, as other programs do, and read from a string or a number.
type Number int64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatInt(int64(n), 10)), nil
}

// UnmarshalJSON implements json.Unmarshaler. An empty string means 0.
func (n *Number) UnmarshalJSON(text []byte) error {
	digits := strings.Trim(string(text), `"`)
	if digits == "" || digits == "null" {
		return nil
	}
	i, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || i < 0 {
		return fmt.Errorf("%.40s is not a size or an offset", text)
	}
	*n = Number(i)
	return nil
}

// Text returns the line without a line end. The time has 14 digits, or 17 if it has milliseconds.
func (l *Line) Text() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(l.Key)
	b.WriteByte(' ')
	b.WriteString(formatTime(l.Time))
	b.WriteByte(' ')
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(l); err != nil {
		return nil, err
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if len(text) > MaxLine {
		return nil, fmt.Errorf("the URL %.40q… is too long for an index", l.URL)
	}
	return text, nil
}

// formatTime returns a time as in a CDXJ file: YYYYMMDDhhmmss in UTC, and three digits more unless
// its milliseconds are 0.
func formatTime(t time.Time) string {
	t = t.UTC()
	text := t.Format("20060102150405")
	if ms := t.Nanosecond() / 1e6; ms != 0 {
		text += fmt.Sprintf("%03d", ms)
	}
	return text
}

var errLine = errors.New("the line is not KEY TIMESTAMP {JSON}")

// Parse parses a line.
func Parse(text []byte) (*Line, error) {
	key, rest, ok := bytes.Cut(text, []byte(" "))
	stamp, object, ok2 := bytes.Cut(rest, []byte(" "))
	if !ok || !ok2 || len(key) == 0 {
		return nil, errLine
	}
	l := &Line{Key: string(key)}
	var err error
	if l.Time, err = parseTime(string(stamp)); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(object, l); err != nil {
		return nil, fmt.Errorf("%w: %w", errLine, err)
	}
	if strings.ContainsRune(l.URL, utf8.RuneError) && !IsWeb(l.URL) {
		l.URL = l.Key // which has the octets that JSON cannot have
	}
	return l, nil
}

func parseTime(stamp string) (time.Time, error) {
	layout, text := "20060102150405", stamp
	if len(stamp) == 17 {
		layout, text = layout+".000", stamp[:14]+"."+stamp[14:]
	}
	t, err := time.Parse(layout, text)
	if err != nil || len(text) != len(layout) {
		return t, fmt.Errorf("%.40q is not a time of 14 or 17 digits", stamp)
	}
	return t, nil
}
