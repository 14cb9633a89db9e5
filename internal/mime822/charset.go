package mime822

import (
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	"github.com/fetch1738/fetch1738/internal/mime822/cjk"
)

// A codec is an encoding of x/text, or one of package cjk.
type codec interface {
	NewDecoder() *encoding.Decoder
}

// label returns a name as it is in the tables below.
func label(name string) string { return strings.ToLower(strings.Trim(name, " \t\"'")) }

// isUndeclared reports whether a text with 8-bit bytes has no charset, although there is a name: that
// of a charset of 7 bits, or that of RFC 1428 for a text whose charset is not known.
func isUndeclared(name string) bool {
	switch label(name) {
	case "ansi_x3.4-1968", "ascii", "csascii", "iso-ir-6", "iso646-us", "us-ascii", "unknown-8bit":
		return true
	}
	return false
}

// lookup returns the charset with a name, or nil if it is undeclared or unknown. The labels and their
// meaning are those of browsers (https://encoding.spec.whatwg.org/#names-and-labels), because mail
// programs also take ISO-8859-1 for windows-1252 and GB2312 for GBK. Package htmlindex has the same
// table, but links the languages of x/text. US-ASCII is not windows-1252 here, because articles that
// declare it may be in UTF-8. UTF-16 is missing: RFC 2781 excludes it from text/*.
func lookup(name string) codec {
	switch label(name) {
	case "unicode-1-1-utf-8", "unicode11utf8", "unicode20utf8", "utf-8", "utf8", "utf8mb4", "x-unicode20utf8":
		return encoding.Nop // bytes that are not valid are the concern of the caller
	case "866", "cp866", "csibm866", "ibm866":
		return charmap.CodePage866
	case "csisolatin2", "iso-8859-2", "iso-ir-101", "iso8859-2", "iso88592", "iso_8859-2",
		"iso_8859-2:1987", "l2", "latin2":
		return charmap.ISO8859_2
	case "csisolatin3", "iso-8859-3", "iso-ir-109", "iso8859-3", "iso88593", "iso_8859-3",
		"iso_8859-3:1988", "l3", "latin3":
		return charmap.ISO8859_3
	case "csisolatin4", "iso-8859-4", "iso-ir-110", "iso8859-4", "iso88594", "iso_8859-4",
		"iso_8859-4:1988", "l4", "latin4":
		return charmap.ISO8859_4
	case "csisolatincyrillic", "cyrillic", "iso-8859-5", "iso-ir-144", "iso8859-5", "iso88595",
		"iso_8859-5", "iso_8859-5:1988":
		return charmap.ISO8859_5
	case "arabic", "asmo-708", "csiso88596e", "csiso88596i", "csisolatinarabic", "ecma-114",
		"iso-8859-6", "iso-8859-6-e", "iso-8859-6-i", "iso-ir-127", "iso8859-6", "iso88596",
		"iso_8859-6", "iso_8859-6:1987":
		return charmap.ISO8859_6
	case "csisolatingreek", "ecma-118", "elot_928", "greek", "greek8", "iso-8859-7", "iso-ir-126",
		"iso8859-7", "iso88597", "iso_8859-7", "iso_8859-7:1987", "sun_eu_greek":
		return charmap.ISO8859_7
	case "csiso88598e", "csisolatinhebrew", "hebrew", "iso-8859-8", "iso-8859-8-e", "iso-ir-138",
		"iso8859-8", "iso88598", "iso_8859-8", "iso_8859-8:1988", "visual":
		return charmap.ISO8859_8
	case "csiso88598i", "iso-8859-8-i", "logical":
		return charmap.ISO8859_8I
	case "csisolatin6", "iso-8859-10", "iso-ir-157", "iso8859-10", "iso885910", "l6", "latin6":
		return charmap.ISO8859_10
	case "iso-8859-13", "iso8859-13", "iso885913":
		return charmap.ISO8859_13
	case "iso-8859-14", "iso8859-14", "iso885914":
		return charmap.ISO8859_14
	case "csisolatin9", "iso-8859-15", "iso8859-15", "iso885915", "iso_8859-15", "l9":
		return charmap.ISO8859_15
	case "iso-8859-16":
		return charmap.ISO8859_16
	case "cskoi8r", "koi", "koi8", "koi8-r", "koi8_r":
		return charmap.KOI8R
	case "koi8-ru", "koi8-u":
		return charmap.KOI8U
	case "csmacintosh", "mac", "macintosh", "x-mac-roman":
		return charmap.Macintosh
	case "dos-874", "iso-8859-11", "iso8859-11", "iso885911", "tis-620", "windows-874":
		return charmap.Windows874
	case "cp1250", "windows-1250", "x-cp1250":
		return charmap.Windows1250
	case "cp1251", "windows-1251", "x-cp1251":
		return charmap.Windows1251
	case "cp1252", "cp819", "csisolatin1", "ibm819", "iso-8859-1", "iso-ir-100", "iso8859-1",
		"iso88591", "iso_8859-1", "iso_8859-1:1987", "l1", "latin1", "windows-1252", "x-cp1252":
		return charmap.Windows1252
	case "cp1253", "windows-1253", "x-cp1253":
		return charmap.Windows1253
	case "cp1254", "csisolatin5", "iso-8859-9", "iso-ir-148", "iso8859-9", "iso88599",
		"iso_8859-9", "iso_8859-9:1989", "l5", "latin5", "windows-1254", "x-cp1254":
		return charmap.Windows1254
	case "cp1255", "windows-1255", "x-cp1255":
		return charmap.Windows1255
	case "cp1256", "windows-1256", "x-cp1256":
		return charmap.Windows1256
	case "cp1257", "windows-1257", "x-cp1257":
		return charmap.Windows1257
	case "cp1258", "windows-1258", "x-cp1258":
		return charmap.Windows1258
	case "x-mac-cyrillic", "x-mac-ukrainian":
		return charmap.MacintoshCyrillic
	case "chinese", "csgb2312", "csiso58gb231280", "gb2312", "gb_2312", "gb_2312-80", "gbk",
		"iso-ir-58", "x-gbk":
		return cjk.GBK
	case "gb18030":
		return cjk.GB18030
	case "big5", "big5-hkscs", "cn-big5", "csbig5", "x-x-big5":
		return cjk.Big5
	case "cseucpkdfmtjapanese", "euc-jp", "x-euc-jp":
		return cjk.EUCJP
	case "csiso2022jp", "iso-2022-jp":
		return cjk.ISO2022JP
	case "csshiftjis", "ms932", "ms_kanji", "shift-jis", "shift_jis", "sjis", "windows-31j",
		"x-sjis":
		return cjk.ShiftJIS
	case "cseuckr", "csksc56011987", "euc-kr", "iso-ir-149", "korean", "ks_c_5601-1987",
		"ks_c_5601-1989", "ksc5601", "ksc_5601", "windows-949":
		return cjk.EUCKR
	}
	return nil
}
