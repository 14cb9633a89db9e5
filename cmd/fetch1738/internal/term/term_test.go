package term

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSafe(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\n":                "plain\ttext\n",
		"dos\r\nlines\r\n":             "dos\nlines\n",
		"hidden\roverwritten":          "hidden␍overwritten",
		"\x1b[31mred\x1b]52;c;eA==\a":  "␛[31mred␛]52;c;eA==␇",
		"nul\x00del\x7f":               "nul␀del␡",
		"c1 \u009b31m and raw \x9b31m": `c1 <U+009B>31m and raw \x9b31m`,
		"gr\xfc\xdfe":                  "grüße",
		"grüße 日本 😀":                   "grüße 日本 😀",
		"evil\u202Egnp.exe\u2066":      "evil<U+202E>gnp.exe<U+2066>",
		"line\u2028end\u061c":          "line<U+2028>end<U+061C>",
		"cut \xe2\x82":                 `cut â\x82`,
		"\ufffd stays":                 "\ufffd stays",
		"end\r":                        "end␍",
	} {
		if got := Safe(text); got != want {
			t.Errorf("Safe(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestSafeLine(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{
		{"short", 10, "short"},
		{"exactly ten", 11, "exactly ten"},
		{"one more than ten", 10, "one more …"},
		{"two\nlines\t", 20, "two␊lines␉"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"\x1b[2J", 20, "␛[2J"},
		{"abc", 1, "…"},
		{"", 5, ""},
	} {
		if got := SafeLine(c.text, c.columns); got != c.want {
			t.Errorf("SafeLine(%q, %d) = %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

// FuzzSafe holds that nothing a terminal obeys comes through, that what is safe
// stays as it is, and that the pieces text comes in make no difference.
func FuzzSafe(f *testing.F) {
	for _, seed := range []string{"", "a\r\nb\r", "\x1b[0m", "\x9b\u009b", "\xe2\x82\xac\xe2", "\u202e\u2028", "\xc2\r\n\xc2\x85", strings.Repeat("\r", 9)} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		got := Safe(text)
		if !utf8.ValidString(got) {
			t.Errorf("not UTF-8: %q", got)
		}
		for _, r := range got {
			if r < ' ' && r != '\n' && r != '\t' || 0x7F <= r && r < 0xA0 || 0x2028 <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069 {
				t.Errorf("%U came through in %q", r, got)
			}
		}
		if again := Safe(got); again != got {
			t.Errorf("Safe(%q) = %q", got, again)
		}
		if at < 0 || at > len(text) {
			return
		}
		var b bytes.Buffer
		w := NewWriter(&b)
		for _, part := range []string{text[:at], text[at:]} {
			if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
				t.Errorf("Write: %d, %v", n, err)
			}
		}
		if err := w.Flush(); err != nil || b.String() != got {
			t.Errorf("in two pieces: %q, %v, want %q", b.String(), err, got)
		}
	})
}
