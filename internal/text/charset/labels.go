package charset

import (
	"cmp"
	"fmt"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
)

// aliases are the labels that people and mail use, but neither index has, and what they mean there.
var aliases = map[string]string{
	"ascii": "us-ascii", "unknown-8bit": "us-ascii", // RFC 1428
	"latin-1": "latin1", "utf8mb4": "utf-8",
	"cp932": "shift_jis", "eucjp": "euc-jp", "iso-2022-jp-1": "iso-2022-jp", "cp949": "euc-kr", "ms949": "euc-kr", "euckr": "euc-kr",
	"cp950": "big5", "big5hkscs": "big5", "euc-cn": "gbk",
}

// Lookup returns the charset with a label. Labels mean what they mean to browsers, because mail
// programs also take ISO-8859-1 for windows-1252 and GB2312 for GBK. Browsers do not decode HZ and the
// charsets of DOS: these are looked up as IANA has them. known reports whether there is a decoder.
// US-ASCII is the zero Charset, not windows-1252, because articles that declare it may be in UTF-8.
func Lookup(label string) (c Charset, known bool) {
	label = strings.ToLower(strings.Trim(label, " \t\"'"))
	label = cmp.Or(aliases[label], label)
	registered := iana(label)
	browsers, err := htmlindex.Get(label)
	switch {
	case registered != nil && registered == iana("us-ascii"):
		return Charset{}, true
	case err != nil, browsers == encoding.Replacement: // which is one U+FFFD for all of the text
		return Charset{registered}, registered != nil
	case browsers == charmap.XUserDefined: // it has no characters
		return Charset{}, false
	}
	return Charset{browsers}, true
}

// iana returns the encoding with a label that IANA has registered, or nil.
func iana(label string) encoding.Encoding {
	e, _ := ianaindex.IANA.Encoding(label)
	return e
}

// Declared returns the charset that a text declares. A label that is not known says nothing: the zero
// Charset.
func Declared(label string) Charset {
	c, _ := Lookup(label)
	return c
}

// Named returns the charset that a person chooses; "auto" and "" detect it. ISO-8859-1 is not
// windows-1252 here.
func Named(label string) (Charset, error) {
	c, known := Lookup(label)
	switch strict := iana(label); {
	case label == "", strings.EqualFold(label, "auto"):
		return Charset{}, nil
	case strict == charmap.ISO8859_1:
		return Charset{strict}, nil
	case !known:
		return c, fmt.Errorf("unknown charset %q; expected a name of the IANA registry, such as utf-8, windows-1252, cp437, koi8-r, shift_jis, gb18030 or euc-kr", label)
	}
	return c, nil
}

// Names returns the names of charsets of old texts, in the order of a list to choose from.
func Names() []string {
	return []string{"UTF-8", "ISO-8859-1", "ISO-8859-15", "windows-1252", "CP437", "macintosh", "KOI8-R"}
}

// Name returns the usual name of c, which is a label of it; "" if c detects the charset.
func (c Charset) Name() string {
	switch c.encoding {
	case nil:
		return ""
	case charmap.CodePage437:
		return "CP437" // which is IBM437 at IANA
	}
	name, err := ianaindex.MIME.Name(c.encoding)
	if err != nil {
		name, _ = htmlindex.Name(c.encoding)
	}
	return name
}
