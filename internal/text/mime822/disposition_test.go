package mime822

import (
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/internal/file/filename"
)

func TestFileName(t *testing.T) {
	for field, want := range map[string]string{
		`attachment; filename="a b.txt"`:                  "a b.txt",
		`attachment; filename=a b.txt ; x=y`:              "a b.txt",
		`attachment; FileName='a;b'`:                      "a;b",
		`attachment;filename=a%20b`:                       "a%20b",
		`attachment; x=y; filename=z`:                     "z",
		`attachment; filename="say \"hi\".txt"; x`:        `say "hi".txt`,
		`attachment; filename="a\\"`:                      `a\`,
		`attachment; filename="C:\dir\a.txt"`:             `C:\dir\a.txt`,
		`attachment; filename="a\`:                        `a\`,
		`attachment; x="; filename=b"; filename=a`:        "a",
		`attachment; x='; filename=a`:                     "a",
		`attachment; xfilename=a`:                         "",
		`attachment; filename="open`:                      "open",
		`attachment; filename=`:                           "",
		`attachment; filename=""`:                         "",
		`filename=a`:                                      "a",
		`filename="x"`:                                    "x",
		` filename='x;y'; filename=z`:                     "x;y",
		`;filename=a`:                                     "a",
		`attachment filename=a`:                           "",
		``:                                                "",
		`attachment; filename = a`:                        "",
		`attachment; filename="=?UTF-8?B?Y2Fmw6kudHh0?="`: "café.txt",
		`attachment; filename="=?utf-8?Q?caf=C3?= =?utf-8?Q?=A9.txt?="`:    "café.txt",
		`attachment; filename==?iso-8859-1?Q?caf=E9.txt?=; x`:              "café.txt",
		`attachment; filename="=?x-unknown?Q?a?= caf` + "\xe9" + `"`:       "=?x-unknown?Q?a?= caf\xe9",
		`attachment; filename="=?utf-8?Q?..=2F..=2Fx=0D=0A=00?="`:          "../../x \x00",
		`attachment; filename="=?utf-8?Q?a?="; filename*=UTF-8''caf%C3%A9`: "café",
		`attachment; filename="../../etc/passwd"; name`:                    "../../etc/passwd",
	} {
		if got := FileName(field); got != want {
			t.Errorf("%s: %q", field, got)
		}
	}
}

// TestExtended has names that are encoded in the parameter "filename*".
func TestExtended(t *testing.T) {
	for field, want := range map[string]string{
		`attachment; filename*=UTF-8''linux%20m%C3%A9.zip`:     "linux mé.zip",
		`attachment; filename*=UTF-8''b; filename=a`:           "b",
		`attachment; filename=a; FileName*=utf-8'de'b%3B;`:     "b;",
		`attachment; filename*="UTF-8''b%20c"; filename=a`:     "b c",
		`attachment; filename*=ISO-8859-1''caf%E9`:             "café",
		`attachment; filename*=UTF-8''; filename=a`:            "a",
		`attachment; filename*=UTF-8''caf%E9; filename=a`:      "a",
		`attachment; filename*=UTF-8''100%; filename=a`:        "a",
		`attachment; filename*=UTF-8''a%00b; filename=a`:       "a",
		`attachment; filename*=koi8-r''%C1; filename=a`:        "a",
		`attachment; filename*=b; filename=a`:                  "a",
		`attachment; filename*=UTF-8'b; filename=a`:            "a",
		`attachment; filename*=UTF-8''..%2F..%2Fx; filename=a`: "../../x",
	} {
		if got := FileName(field); got != want {
			t.Errorf("%s: %q", field, got)
		}
	}
}

// FuzzFileName checks that any name from a server becomes one of a file in the directory.
func FuzzFileName(f *testing.F) {
	for _, field := range []string{`attachment; filename="a b.txt"`, `a; filename='x;y'; z`, `;filename=..`, `; filename="C:\\con"`, ";filename=\x00\xff", `;filename="\`, ";filename*=utf-8''%2F%C3%A9", `;filename="=?utf-8?q?=2E=2Fa=00=0A?="`} {
		f.Add(field)
	}
	f.Fuzz(func(t *testing.T, field string) {
		name, err := filename.Safe(FileName(field))
		if err == nil && (name == "" || name[0] == '.' || name[0] == '-' || strings.ContainsAny(name, "/\\\x00\r\n")) {
			t.Errorf("%q makes %q", field, name)
		}
	})
}
