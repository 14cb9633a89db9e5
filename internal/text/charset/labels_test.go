package charset

import (
	"strings"
	"testing"
)

// TestLabels has labels as mail, news and web servers write them, and the charset that is meant.
func TestLabels(t *testing.T) {
	for name, labels := range map[string]string{
		"": "us-ascii ascii US-ASCII csASCII ansi_x3.4-1968 iso646-us unknown-8bit",

		"UTF-8":    "utf-8 UTF8 utf8mb4 unicode-1-1-utf-8 x-unicode20utf8 csUTF8",
		"UTF-16LE": "utf-16 utf-16le unicode csUnicode ucs-2",
		"UTF-16BE": "utf-16be unicodefffe",

		"windows-1252":   "iso-8859-1 latin1 latin-1 l1 cp819 iso_8859-1:1987 cp1252 x-cp1252",
		"windows-1254":   "iso-8859-9 latin5 cp1254",
		"windows-874":    "iso-8859-11 tis-620 windows-874",
		"ISO-8859-2":     "iso-8859-2 latin2 iso_8859-2 l2",
		"ISO-8859-8":     "iso-8859-8 hebrew visual",
		"ISO-8859-8-I":   "iso-8859-8-i logical",
		"ISO-8859-15":    "iso-8859-15 csisolatin9",
		"ISO-8859-16":    "iso-8859-16",
		"KOI8-R":         "koi8-r koi8 cskoi8r",
		"KOI8-U":         "koi8-u koi8-ru",
		"macintosh":      "macintosh x-mac-roman mac",
		"x-mac-cyrillic": "x-mac-cyrillic",
		"CP437":          "cp437 ibm437 437",
		"IBM850":         "cp850 ibm850",
		"IBM866":         "cp866 ibm866 866",
		"GBK":            "gb2312 GB_2312-80 gbk x-gbk cp936 ms936 euc-cn chinese",
		"GB18030":        "gb18030",
		"HZ-GB-2312":     "hz-gb-2312",
		"Big5":           "big5 big5-hkscs cn-big5 cp950",
		"EUC-JP":         "euc-jp x-euc-jp eucjp",
		"Shift_JIS":      "shift_jis shift-jis x-sjis sjis ms_kanji windows-31j cp932",
		"ISO-2022-JP":    "iso-2022-jp csiso2022jp iso-2022-jp-1",
		"EUC-KR":         "euc-kr ks_c_5601-1987 ksc5601 windows-949 cp949 ms949",
	} {
		for label := range strings.FieldsSeq(labels) {
			for _, label := range []string{label, strings.ToUpper(label), ` "` + label + `" `} {
				if c, known := Lookup(label); c.Name() != name || !known {
					t.Errorf("%s: %q, %v; want %q", label, c.Name(), known, name)
				}
			}
		}
		if again := Declared(name); again.Name() != name {
			t.Errorf("%s: %q", name, again.Name())
		}
	}
	for label := range strings.FieldsSeq("utf-7 iso-2022-kr iso-2022-cn replacement x-user-defined x-unknown ? *") {
		if c, known := Lookup(label); known || c != (Charset{}) {
			t.Errorf("%s: %q, %v; want none", label, c.Name(), known)
		}
	}
}

// TestAliases tests that each alias is necessary, and leads to a label that is known.
func TestAliases(t *testing.T) {
	for alias, label := range aliases {
		if _, known := Lookup(label); !known || aliases[label] != "" {
			t.Errorf("%s is an alias of %s, which is not known", alias, label)
		}
		if iana(alias) != nil {
			t.Errorf("%s is known without an alias", alias)
		}
	}
}

// TestNamed has the charsets that a person chooses.
func TestNamed(t *testing.T) {
	for label, want := range map[string]string{
		"": "", "auto": "", "AUTO": "", "us-ascii": "", "utf8": "UTF-8", "Latin1": "ISO-8859-1", "ISO-8859-1": "ISO-8859-1",
		"cp437": "CP437", "shift_jis": "Shift_JIS", "UTF-16": "UTF-16LE",
	} {
		if c, err := Named(label); err != nil || c.Name() != want {
			t.Errorf("%s: %q, %v; want %q", label, c.Name(), err, want)
		}
	}
	if _, err := Named("ebcdic"); err == nil || !strings.Contains(err.Error(), `unknown charset "ebcdic"`) {
		t.Error(err)
	}
	for _, name := range Names() {
		if c, err := Named(strings.ToLower(name)); err != nil || c.Name() != name {
			t.Errorf("%s: %q, %v", name, c.Name(), err)
		}
	}
}
