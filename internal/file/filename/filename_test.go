package filename

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSafe(t *testing.T) {
	for text, want := range map[string]string{
		"a.txt":                           "a.txt",
		"a%20b":                           "a%20b",
		"..%2F..%2Fetc":                   "_..%2F..%2Fetc",
		"dir/a":                           "a",
		`C:\dir\a`:                        "a",
		"C:x":                             "C_x",
		".bashrc":                         "_.bashrc",
		"-rf":                             "_-rf",
		"~root":                           "_~root",
		"|sh":                             "_sh",
		"a\tb\x7f":                        "a_b_",
		"gnp.\u202Eexe":                   "gnp._exe",
		"nul":                             "_nul",
		"Com1.tar.gz":                     "_Com1.tar.gz",
		"LPT²":                            "_LPT²",
		"COM10":                           "COM10",
		"COMLPT1":                         "COMLPT1",
		"end. . ":                         "end",
		"...":                             "%2E%2E%2E",
		" ":                               "%20",
		". .":                             "%2E%20%2E",
		`"`:                               "_",
		"gr\xfc\xdfe":                     "gr%FC%DFe",
		"日本":                              "日本",
		strings.Repeat("a", 300) + ".tar": strings.Repeat("a", 196) + ".tar",
		"a." + strings.Repeat("b", 300):   "a." + strings.Repeat("b", 198),
		strings.Repeat("é", 150) + ".x":   strings.Repeat("é", 99) + ".x",
		// A shortened name must not be that of a device either.
		"CON" + strings.Repeat(" ", 300) + "x":  "_CON",
		"CON" + strings.Repeat(".", 300) + "x":  "_CON" + strings.Repeat(".", 194) + ".x",
		"aux" + strings.Repeat(" ", 300) + ".x": "_aux" + strings.Repeat(" ", 194) + ".x",
	} {
		if got, err := Safe(text); err != nil || got != want {
			t.Errorf("Safe(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", "..", "dir/", `dir\`, "a/..", "a\x00b"} {
		if got, err := Safe(text); err == nil {
			t.Errorf("Safe(%q) = %q, want an error", text, got)
		}
	}
}

func TestComponent(t *testing.T) {
	for text, want := range map[string]string{
		"a.txt": "a.txt", "": "_", ".": "_", "..": "_", "/etc/passwd": "_etc_passwd", `a\b`: "a_b", "a\x00b": "a_b",
		"../x": "_.._x", "CON": "_CON", "gr\xfcn": "gr%FCn",
	} {
		if got := Component(text); got != want {
			t.Errorf("Component(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzSafe(f *testing.F) {
	for _, seed := range []string{"a", "../x", "CON", "é\xff", "a\u202e", strings.Repeat("x.", 150), " . ", "COM¹.x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		check(t, Component(text))
		name, err := Safe(text)
		if err != nil {
			return
		}
		check(t, name)
		if again, err := Safe(name); err != nil || again != name {
			t.Errorf("Safe(%q) = %q, %v", name, again, err)
		}
	})
}

// check checks that a name is safe.
func check(t *testing.T, name string) {
	t.Helper()
	switch {
	case !filepath.IsLocal(name) || filepath.Base(name) != name || name == ".":
		t.Errorf("%q is not a single local name", name)
	case !utf8.ValidString(name) || len(name) > Max:
		t.Errorf("%q is not short UTF-8", name)
	case strings.ContainsAny(name, "<>:\"/\\|?*\x00\n\x1b\u202e") || strings.HasPrefix(name, "-") || isDevice(name):
		t.Errorf("%q is not safe", name)
	}
}
