package filename

import (
	"strings"
	"testing"
)

func TestOfDisposition(t *testing.T) {
	for field, want := range map[string]string{
		`attachment; filename="a b.txt"`:                "a b.txt",
		`attachment; filename=a b.txt ; x=y`:            "a b.txt",
		`attachment; FileName='a;b'`:                    "a;b",
		`attachment;filename=a%20b`:                     "a%20b",
		`attachment; x=y; filename=z`:                   "z",
		`attachment; filename*=UTF-8''b; filename=a`:    "a",
		`attachment; filename*=UTF-8''b`:                "",
		`attachment; xfilename=a`:                       "",
		`attachment; filename="open`:                    "open",
		`attachment; filename=`:                         "",
		`attachment; filename=""`:                       "",
		`filename=a`:                                    "a",
		`filename="x"`:                                  "x",
		` filename='x;y'; filename=z`:                   "x;y",
		`;filename=a`:                                   "a",
		`attachment filename=a`:                         "",
		``:                                              "",
		`attachment; filename = a`:                      "",
		`attachment; filename="../../etc/passwd"; name`: "../../etc/passwd",
	} {
		if got := OfDisposition(field); got != want {
			t.Errorf("%s: %q", field, got)
		}
	}
}

// FuzzOfDisposition checks that any name from a server becomes one of a file in the directory.
func FuzzOfDisposition(f *testing.F) {
	for _, field := range []string{`attachment; filename="a b.txt"`, `a; filename='x;y'; z`, `;filename=..`, `; filename="C:\\con"`, ";filename=\x00\xff"} {
		f.Add(field)
	}
	f.Fuzz(func(t *testing.T, field string) {
		given := OfDisposition(field)
		if !strings.Contains(field, given) {
			t.Fatalf("%q is not in %q", given, field)
		}
		name, err := Safe(given)
		if err == nil && (name == "" || name[0] == '.' || name[0] == '-' || strings.ContainsAny(name, "/\\\x00\r\n")) {
			t.Errorf("%q makes %q", field, name)
		}
	})
}
