package charset

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestCharset(t *testing.T) {
	for _, tc := range []struct{ name, octets, want string }{
		{"auto", "gr\u00fcn", "gr\u00fcn"},
		{"auto", "gr\xfcn, na\xefve", "gr\u00fcn, na\u00efve"},
		{"", "\xc9\xcd\xcd\xcd\xbb\n\xba x \xba", "\u2554\u2550\u2550\u2550\u2557\n\u2551 x \u2551"},
		{"auto", "\x93quoted\x94", "\u201cquoted\u201d"},
		{"Latin1", "\x93caf\xe9", "\u0093caf\u00e9"},
		{"cp437", "\x81", "\u00fc"},
		{"UTF-8", "\xff", "\xff"},
		{"auto", "plain", "plain"},
		{"auto", "caf\xe9", "caf\u00e9"},
		{"gb2312", "\xd6\xd0\xce\xc4\xa3\xac\xbc\xf2\xcc\xe5", "中文，简体"},
		{"gbk", "\xe6g\xbb\xf9", "鎔基"},
		{"gb18030", "\xd6\xd0\x952\x826\xa8\xa6", "中𠀀é"},
		{"hz-gb-2312", "~{VPND~} a", "中文 a"},
		{"big5", "\xc1c\xc5\xe9\xa4\xa4\xa4\xe5", "繁體中文"},
		{"euc-jp", "\xc6\xfc\xcb\xdc\xb8\xec\xa1\xa2\x8e\xb1", "日本語、ｱ"},
		{"shift_jis", "\x93\xfa\x96{\x8c\xea\x81A\xb1\x95\x5c", "日本語、ｱ表"},
		{"iso-2022-jp", "\x1b$BF|K\x5c8l\x1b(B a", "日本語 a"},
		{"euc-kr", "\xc7\xd1\xb1\xb9\xbe\xee", "한국어"},
		{"cp949", "\x8cc\xb9\xe6", "똠방"},
		{"koi8-u", "\xeb\xc9\xa7\xd7", "Київ"},
		{"cp850", "g\x81n \xb0", "gün ░"},
		{"iso-8859-7", "\xc5\xeb\xeb\xdc\xe4\xe1", "Ελλάδα"},
		{"tis-620", "\xe4\xb7\xc2", "ไทย"},
		{"utf-16le", "n\x00\xe9\x00 \x00-N4\xd8\x1e\xdd", "né 中𝄞"},
		{"utf-16be", "\x00n\x00\xe9\x00 N-\xd84\xdd\x1e", "né 中𝄞"},
		{"utf-16", "n\x00\xe9\x00 \x00-N4\xd8\x1e\xdd", "né 中𝄞"},
		{"utf-16", "\xfe\xff\x00n\x00\xe9", "né"},
		{"utf-16be", "\xff\xfen\x00\xe9\x00", "né"},
		{"auto", "\xff\xfen\x00\xe9\x00", "né"},
		{"auto", "\xfe\xff\x00n\x00\xe9", "né"},
		{"auto", "\xff\xfe ne", "ÿþ ne"}, // no UTF-16 without a NUL
		{"gbk", "a\x81\x20\xd6", "a\uFFFD \uFFFD"},
		{"shift_jis", "a\x81", "a\uFFFD"},
		{"euc-jp", "\xa4 a", "\uFFFD a"},
		{"iso-2022-jp", "\x1b$BF|\na\xe9", "日\na\uFFFD"},
		{"hz-gb-2312", "a~{VP~", "a中\uFFFD"},
		{"utf-16le", "a\x00\x00\xd8b\x00c", "a\uFFFDb\uFFFD"},
	} {
		c, err := Named(tc.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Decode(tc.octets); got != tc.want {
			t.Errorf("%s: %q is %q, want %q", tc.name, tc.octets, got, tc.want)
		}
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(tc.octets), "in parts": iotest.OneByteReader(strings.NewReader(tc.octets))} {
			if got, err := io.ReadAll(c.Reader(r)); string(got) != tc.want || err != nil {
				t.Errorf("%s: %q is read %s as %q, %v; want %q", tc.name, tc.octets, name, got, err, tc.want)
			}
		}
		var b bytes.Buffer
		w := c.Writer(&b)
		for i := range len(tc.octets) {
			if n, err := w.Write([]byte(tc.octets[i : i+1])); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		if err := w.Close(); err != nil || b.String() != tc.want {
			t.Errorf("%s: %q is written as %q, %v; want %q", tc.name, tc.octets, b.String(), err, tc.want)
		}
	}
	long := bytes.Repeat([]byte("\xe9x\n"), 3000)
	var b bytes.Buffer
	w := Charset{}.Writer(&b)
	w.Write(long)
	w.Write(long)
	if err := w.Close(); err != nil || b.Len() != 2*3000*4 {
		t.Errorf("%d octets, %v", b.Len(), err)
	}
}

// TestDeclared has names as servers send them, and what they mean.
func TestDeclared(t *testing.T) {
	for name, want := range map[string]string{
		"UTF-8": "UTF-8", "utf8": "UTF-8", "KOI8-R": "KOI8-R", "iso-8859-15": "ISO-8859-15", "cp1252": "windows-1252",
		"iso-8859-1": "windows-1252", "ISO-8859-1": "windows-1252", "latin1": "windows-1252",
		"us-ascii": "", "ASCII": "", "": "", "x-unknown": "",
	} {
		if got := Declared(name).Name(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestReader has texts that are longer than what is examined, and one that breaks off.
func TestReader(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("\xe9x\n", 3000):                                   strings.Repeat("éx\n", 3000),
		strings.Repeat("é", 3000):                                         strings.Repeat("é", 3000),
		"x" + strings.Repeat("é", 3000):                                   "x" + strings.Repeat("é", 3000), // cut within a character
		strings.Repeat("x", guessed) + "\xe9":                             strings.Repeat("x", guessed) + "\xe9",
		strings.Repeat("\xcd", guessed) + strings.Repeat("\xe9", guessed): strings.Repeat("═", guessed) + strings.Repeat("Θ", guessed),
	} {
		if got, err := io.ReadAll(Charset{}.Reader(strings.NewReader(text))); string(got) != want || err != nil {
			t.Errorf("%.20q: %.20q, %d bytes, %v", text, got, len(got), err)
		}
	}
	broken := errors.New("broken")
	got, err := io.ReadAll(Charset{}.Reader(io.MultiReader(strings.NewReader("caf\xe9"), iotest.ErrReader(broken))))
	if string(got) != "café" || err != broken {
		t.Errorf("%q, %v", got, err)
	}
}

// A character of UTF-8 that the examined part cuts does not change the guess.
func TestCutCharacter(t *testing.T) {
	text := append(bytes.Repeat([]byte("x"), guessed-1), "\u00e9\n"...)
	var b bytes.Buffer
	w := Charset{}.Writer(&b)
	for _, part := range [][]byte{text[:guessed], text[guessed:]} {
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil || !bytes.Equal(b.Bytes(), text) {
		t.Errorf("the text ends in %q, %v", b.Bytes()[guessed-2:], err)
	}
}

// TestGuessDOS tests texts whose names say that they come from a PC.
func TestGuessDOS(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                          "UTF-8",
		"grün":                           "UTF-8",
		"\xff\xfea\x00b\x00":             "UTF-16LE",
		"gr\x81n, na\x8bve caf\x82":      "CP437",
		"\xb3 a \xb3":                    "CP437",
		"\xdb\xdb\xdf\xdc \xfe \xb0":     "CP437",
		"gr\xfcn, na\xefve caf\xe9":      "windows-1252",
		"\xc4hnlich, \xfcber und \xf6de": "windows-1252",
	} {
		if got := GuessDOS([]byte(text)).Name(); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}
