package http

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/fetch1738/fetch1738/internal/urls/idn"
)

// Names are converted as idna.Lookup converts them, whose tables are not linked.
func FuzzHost(f *testing.F) {
	for _, host := range []string{
		"bücher", "BÜCHER.example", "℀.example", "ä/x", "ä_b", "ß.de", "a\u200db", "日本。jp", "ä.", "ä b", "ä:1", "[ä]", "ä:80", "\u00ad", "．", "xn--a.ä", "ä%", "ä@b", "\xff",
	} {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if idn.IsASCII(host) || len(host) > maxHost {
			return
		}
		want, err := idna.Lookup.ToASCII(host)
		bad := err != nil || want == "" || !utf8.ValidString(host) || strings.ContainsAny(host, "\x00\r\n\t /\\?#@:%[]<>\"")
		got, err := asciiHost(host)
		if bad && err == nil || !bad && (got != want || err != nil) {
			t.Errorf("%q: %q, %v; want %q (bad: %v)", host, got, err, want, bad)
		}
	})
}
