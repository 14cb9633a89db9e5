package locator_test

import (
	"testing"

	"github.com/fetch1738/fetch1738/locator"
)

// TestWithHostPort tests that all else stays, and that the Locator itself is not changed.
func TestWithHostPort(t *testing.T) {
	parser := locator.Parser{Tolerate: locator.HTTPLogin}
	for text, want := range map[string]string{
		"ftp://u:p@h:1/a;type=i": "ftp://u:p@new:7/a;type=i",
		"http://u:p@h/a?b":       "http://u:p@new:7/a?b",
		"gopher://h/0a":          "gopher://new:7/0a",
		"nntp://h:1/g/1":         "nntp://new:7/g/1",
		"snews://h/g":            "snews://new:7/g",
		"telnet://u@h/":          "telnet://u@new:7/",
		"wais://h:1/db":          "wais://new:7/db",
		"prospero://h/a;n=v":     "prospero://new:7/a;n=v",
		"mailto:a@h":             "mailto:a@h",
		"file://h/a":             "file://h/a",
		"z39.50s://h/a":          "z39.50s://h/a",
	} {
		ref, err := parser.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		moved := locator.WithHostPort(ref.Locator, locator.HostPort{Host: "new", Port: 7})
		if got := moved.String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if got := ref.Locator.String(); got != text {
			t.Errorf("%s was changed to %s", text, got)
		}
	}
}

// TestHostPortString tests that the text is that of a URL.
func TestHostPortString(t *testing.T) {
	for want, at := range map[string]locator.HostPort{
		"h": {Host: "h"}, "h:70": {Host: "h", Port: 70}, "[::1]": {Host: "::1"}, "[fe80::1%25eth0]:21": {Host: "fe80::1%eth0", Port: 21}, "": {},
	} {
		if got := at.String(); got != want {
			t.Errorf("%+v: %s, want %s", at.Host, got, want)
		}
	}
}
