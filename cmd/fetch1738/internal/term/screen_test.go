package term

import (
	"strings"
	"testing"
)

func screen(text string, step int) string {
	var b strings.Builder
	s := NewScreen(&b)
	for len(text) > 0 {
		n := min(step, len(text))
		_, _ = s.Write([]byte(text[:n]))
		text = text[n:]
	}
	return b.String()
}

// TestScreen: what draws passes; what makes a terminal type or reaches beyond the
// screen does not (the family of CVE-2003-0063).
func TestScreen(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"text", "hello\r\n\tworld\b\a", "hello\r\n\tworld\b\a"},
		{"UTF-8", "caf\u00e9 \u65e5\u672c \U0001F600", "caf\u00e9 \u65e5\u672c \U0001F600"},
		{"Latin-1", "caf\xe9! \xe9\xe9t\xe9\x1b[m", "caf\u00e9! \u00e9\u00e9t\u00e9\x1b[m"},
		{"colours", "\x1b[1;31mred\x1b[0m\x1b[38;2;1;2;3m", "\x1b[1;31mred\x1b[0m\x1b[38;2;1;2;3m"},
		{"cursor", "\x1b[2J\x1b[10;20H\x1b[A\x1b[K\x1b7\x1b8\x1b[5d\x1b[2 q", "\x1b[2J\x1b[10;20H\x1b[A\x1b[K\x1b7\x1b8\x1b[5d\x1b[2 q"},
		{"modes", "\x1b[?25l\x1b[?1049h\x1b[?1000h\x1b[4h", "\x1b[?25l\x1b[?1049h\x1b[?1000h\x1b[4h"},
		{"character sets", "\x1b(0lqk\x1b(B\x0e\x0f", "\x1b(0lqk\x1b(B\x0e\x0f"},
		{"title", "a\x1b]0;pwned\ab", "ab"},
		{"title, ST", "a\x1b]2;pwned\x1b\\b", "ab"},
		{"screen's title", "a\x1bkpwned\x1b\\b", "ab"},
		{"clipboard", "\x1b]52;c;cm0gLXJm\a", ""},
		{"an unfinished string", "a\x1b]0;pwned", "a"},
		{"DCS", "\x1bP$qm\x1b\\x", "x"},
		{"APC, PM, SOS", "\x1b_a\x1b\\\x1b^b\x1b\\\x1bXc\x1b\\d", "d"},
		{"status reports", "\x1b[5n\x1b[6n\x1b[?6n", ""},
		{"device attributes", "\x1b[c\x1b[0c\x1b[>c\x1b[=c\x1bZ", ""},
		{"title report", "\x1b[21t\x1b[8;1;1t", ""},
		{"parameters", "\x1b[x\x1b[?1$p\x1b[1$y\x1b[>q\x1b[?u\x1b[?4m", ""},
		{"printer", "\x1b[5i\x1b[?5i", ""},
		{"answerback", "a\x05b", "ab"},
		{"reset", "\x1bc\x1b[!p", ""},
		{"other controls", "a\x00\x01\x04\x7f\x11b", "ab"},
		{"C1 of one octet", "\x9b6n\x90x\x9c\x9d0;t\x9c", "6nx0;t"},
		{"C1 of two", "\u009b6n\u009d0;t\a", "6n0;t\a"},
		{"cancelled", "\x1b[3\x18m\x1b]0;x\x1ay", "my"},
		{"escape in a sequence", "\x1b[3\x1b[1mx", "\x1b[1mx"},
		{"control in a sequence", "\x1b[1\n;31\x05m", "\n\x1b[1;31m"},
		{"too long", "\x1b[" + strings.Repeat("1;", 100) + "mx", "x"},
		{"8-bit in a sequence", "\x1b[1\xe9mx", "mx"},
	} {
		for _, step := range []int{1, 2, 3, 1000} {
			if got := screen(tt.in, step); got != tt.want {
				t.Errorf("%s by %d: %q, want %q", tt.name, step, got, tt.want)
			}
		}
	}
}

func TestScreenReset(t *testing.T) {
	var b strings.Builder
	s := NewScreen(&b)
	_, _ = s.Write([]byte("plain\x1b]0;t"))
	if err := s.Reset(); err != nil || b.String() != "plain" {
		t.Errorf("%q, %v", b.String(), err)
	}
	_, _ = s.Write([]byte("x\x1b[?25l"))
	b.Reset()
	if err := s.Reset(); err != nil || !strings.Contains(b.String(), "\x1b[?25h") || strings.Contains(b.String(), "\x1bc") {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// FuzzScreen: however it is cut, the same comes out; and nothing that a terminal
// answers.
func FuzzScreen(f *testing.F) {
	f.Add("\x1b[6n\x1b]0;t\x1b\\\x9bc\x1bZ\x05\u009b6n", 1)
	f.Add("\x1b[\x1b[6n\x1b(\x1b[c", 2)
	f.Fuzz(func(t *testing.T, text string, step int) {
		if step < 1 || len(text) > 1<<16 {
			return
		}
		got := screen(text, len(text)+1)
		if cut := screen(text, step); cut != got {
			t.Errorf("%q by %d: %q, want %q", text, step, cut, got)
		}
		if again := screen(got, len(got)+1); again != got {
			t.Errorf("%q: %q, and then %q", text, got, again)
		}
		for _, bad := range []string{"\x05", "\x1bZ", "\x1b]", "\x1bP", "\x1b[c", "\x1b[6n", "\x1bc"} {
			if strings.Contains(got, bad) {
				t.Errorf("%q: %q is in %q", text, bad, got)
			}
		}
	})
}
