package mime822

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/fetch1738/fetch1738/internal/text/charset"
)

// FileName returns the file name in a Content-Disposition field (RFC 6266): that of the
// parameter "filename*", decoded, or else of "filename". As in curl, a type such as "attachment" may
// be missing, the value of "filename" is quoted by " or ' or ends at the next semicolon, and percent
// escapes in it stay. As in browsers, encoded words in it are decoded (RFC 2047), other bytes are not.
// It returns "" if there is no such parameter. The value is not safe: see [filename.Safe].
func FileName(field string) string {
	var plain, extended string
	for field != "" {
		field = strings.TrimLeft(field, " \t")
		name, quotes := "", `"`
		if i := strings.IndexAny(field, ";="); i >= 0 && field[i] == '=' {
			name, field = strings.ToLower(field[:i]), field[i+1:]
		}
		if name == "filename" {
			quotes = `"'`
		}
		var value string
		switch value, field = parameter(field, quotes); {
		case name == "filename" && plain == "":
			plain = value
		case name == "filename*" && extended == "":
			extended = extendedValue(value)
		}
	}
	if extended != "" {
		return extended
	}
	undeclared, _ := charset.Named("utf-8") // which keeps bytes that are not UTF-8
	return Text(plain, undeclared)
}

// parameter returns the value at the start of field, and what follows the next semicolon. In a value
// in double quotes, a backslash quotes another one or a quote; before anything else it is a part of
// a path of Windows.
func parameter(field, quotes string) (value, rest string) {
	if field == "" || strings.IndexByte(quotes, field[0]) < 0 {
		value, rest, _ = strings.Cut(field, ";")
		return strings.TrimRight(value, " \t"), rest
	}
	var b strings.Builder
	i := 1
	for ; i < len(field) && field[i] != field[0]; i++ {
		if quoted := field[i+1:]; field[0] == '"' && field[i] == '\\' && quoted != "" && (quoted[0] == '"' || quoted[0] == '\\') {
			i++
		}
		b.WriteByte(field[i])
	}
	_, rest, _ = strings.Cut(field[min(i+1, len(field)):], ";")
	return strings.TrimRight(b.String(), " \t"), rest
}

// extendedValue decodes "charset'language'value" (RFC 8187 §3.2). It returns "" if that is not
// possible. The charset is UTF-8, or ISO-8859-1, which RFC 5987 permitted.
func extendedValue(text string) string {
	charset, rest, _ := strings.Cut(text, "'")
	_, encoded, ok := strings.Cut(rest, "'")
	value, err := url.PathUnescape(encoded)
	if !ok || err != nil || strings.Contains(value, "\x00") {
		return ""
	}
	switch strings.ToLower(charset) {
	case "utf-8":
		if utf8.ValidString(value) {
			return value
		}
	case "iso-8859-1":
		latin := make([]rune, len(value))
		for i := range len(value) {
			latin[i] = rune(value[i])
		}
		return string(latin)
	}
	return ""
}
