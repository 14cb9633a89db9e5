package ansi

import (
	"fmt"
	"strings"
	"testing"
)

// markup is the text of runs, with the classes of each in braces.
func markup(runs []Run) string {
	var b strings.Builder
	for _, r := range runs {
		if class := r.Style.Class(); class != "" {
			fmt.Fprintf(&b, "{%s}%s{}", class, r.Text)
			continue
		}
		b.WriteString(r.Text)
	}
	return b.String()
}

// TestRead tests which sequences change the style, and that all others are removed.
func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"plain ü":                        "plain ü",
		"a\x1b[31mb\x1b[0mc":             "a{c1}b{}c",
		"\x1b[31mb\x1b[mc":               "{c1}b{}c",
		"\x1b[1;33mb\x1b[22mc":           "{c11}b{}{c3}c{}",
		"\x1b[1mb\x1b[97mc":              "{bold}b{}{c15 bold}c{}",
		"\x1b[3;4;9mb\x1b[23;24;29mc":    "{italic underlined struck}b{}c",
		"\x1b[4:3mb\x1b[4:0mc":           "{underlined}b{}c",
		"\x1b[30;47mb\x1b[39;49mc":       "{c0 k7}b{}c",
		"\x1b[100;91mb":                  "{c9 k8}b{}",
		"\x1b[7mb\x1b[27mc":              "{inverse}b{}c",
		"\x1b[7;31mb":                    "{k1}b{}",
		"\x1b[7;41mb":                    "{c1 k7}b{}",
		"\x1b[38;5;9mb\x1b[38;5;196mc":   "{c9}b{}{c1}c{}",
		"\x1b[38;5;21mb\x1b[48;5;255mc":  "{c4}b{}{c4 k15}c{}",
		"\x1b[38;2;250;250;90;4mb":       "{c11 underlined}b{}",
		"\x1b[38:2::250:250:90;4mb":      "{c11 underlined}b{}",
		"\x1b[38:2:250:250:90mb":         "{c11}b{}",
		"\x1b[48:5:2;1mb":                "{k2 bold}b{}",
		"\x1b[58;5;1;32mb":               "{c2}b{}",
		"\x1b[38;5;300mb\x1b[38;2;1;1mc": "bc",
		"\x1b[38;2;999;0;0mb\x1b[38mc":   "bc",
		"\x1b[8mhidden\x1b[5mblink":      "hiddenblink",
		"\x1b[?25l\x1b[>4;1ma":           "a", // private sequences
		"\x1b[2J\x1b[10;5Ha\x1b[Kb":      "ab",
		"\x1b]0;title\abc":               "bc",
		"\x1b]8;;javascript:x\x1b\\bc":   "bc",
		"\x1bPstring\x1b\\b\x1b_x\x1b\\": "b",
		"\x1b]0;title\x1b[31mb":          "{c1}b{}",
		"\x1b(0a\x1b#8b\x1bcd\x1b7e":     "abde",
		"a\x1b":                          "a",
		"a\x1b[3\nb":                     "a\nb",
		"a\x1b[31\x18b\x1b[3\x1b[32mc":   "ab{c2}c{}",
		"a\x1b[31üb":                     "aüb",
		"a\x1bü":                         "aü",
		"\x1b[31m\x1b[31ma\x1b[31mb":     "{c1}ab{}",
		"\x1b[99999999999999999999;31ma": "{c1}a{}",
		"a\x1ab\x00":                     "a\x1ab\x00", // not a picture of DOS
	} {
		if got := markup(new(Reader).Read(text)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
		// A sequence may be in several parts.
		var r Reader
		var plain, whole strings.Builder
		for i := range len(text) {
			for _, run := range r.Read(text[i : i+1]) {
				plain.WriteString(run.Text)
			}
		}
		for _, run := range new(Reader).Read(text) {
			whole.WriteString(run.Text)
		}
		if plain.String() != whole.String() || Plain(text) != whole.String() {
			t.Errorf("%q is %q in single bytes, %q at once, %q plain", text, plain.String(), whole.String(), Plain(text))
		}
	}
}

// TestLimits tests that no sequence hides more than a little of the text behind it.
func TestLimits(t *testing.T) {
	for name, text := range map[string]string{
		"a string without an end":          "\x1b]0;" + strings.Repeat("x", 5*maxString) + "END",
		"a string that the line ends":      "\x1b]0;title\nEND",
		"a sequence of too many numbers":   "\x1b[" + strings.Repeat("1;", maxParams) + "END",
		"a sequence without an end":        "\x1b[" + strings.Repeat("1", 10_000) + "mEND",
		"many beginnings without a middle": strings.Repeat("\x1b[", 10_000) + "0mEND",
	} {
		if got := Plain(text); !strings.HasSuffix(got, "END") {
			t.Errorf("%s: the text is %.100q", name, got)
		}
	}
}

// TestScreen tests pictures that were made for a screen of a certain width.
func TestScreen(t *testing.T) {
	for text, want := range map[string]string{
		"12345678":             "1234\n5678",
		"1234\r\n5":            "1234\r\n5",
		"ä\x1b[2Cb\nc":         "ä  b\nc",
		"\x1b[Cb\x1b[99Ccd":    " b c\nd",
		"\x1b[0Cb":             " b",
		"1234\x1b[Cb":          "1234\n b",
		"ab\x1a\x00SAUCE00tit": "ab",
	} {
		r := Reader{Columns: 4, DOS: true}
		if got := markup(append(r.Read(text), r.Read("")...)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	r := Reader{Columns: 80}
	total := 0
	for range 100 {
		for _, run := range r.Read(strings.Repeat("\n\x1b[79C", 10_000)) {
			total += len(run.Text)
		}
	}
	if total > maxSpaces+2_000_000 {
		t.Errorf("%d bytes", total)
	}
	if got := markup(new(Reader).Read("a\x1b[5Cb")); got != "ab" {
		t.Errorf("without a width: %q", got)
	}
}

func TestHas(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "\x1b[": false, "\x1b[2J": false, "[31m": false, "\x1b[31;": false,
		"\x1b[m": true, "x\x1b[2J\x1b[38:5:1;1my": true,
	} {
		if Has(text) != want {
			t.Errorf("%q: %t, want %t", text, !want, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("a\x1b[1;31mb\x1b]0;x\x1b\\c", 80)
	f.Add("a\x1b[7m\x1b[27mb", 80)
	f.Fuzz(func(t *testing.T, text string, columns int) {
		r := Reader{Columns: max(0, columns) % 200}
		var last Style
		for i, run := range r.Read(text) {
			if run.Text == "" || i > 0 && run.Style == last || strings.IndexByte(run.Text, esc) >= 0 {
				t.Errorf("%q: run %d is %+v", text, i, run)
			}
			for class := range strings.FieldsSeq(run.Style.Class()) {
				if strings.Trim(class, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
					t.Errorf("class %q", class)
				}
			}
			last = run.Style
		}
	})
}
