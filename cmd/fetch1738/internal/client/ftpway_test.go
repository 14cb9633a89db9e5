package client

import (
	"testing"

	"github.com/fetch1738/fetch1738/locator"
)

func TestRewritten(t *testing.T) {
	change := func(l *locator.FTP) { l.Name = "b" }
	for url, want := range map[string]string{
		"ftp://h/a;type=a": "ftp://h/b;type=a", "ftps://u:x@h:991/a": "ftps://u:x@h:991/b", "telnet://h/": "telnet://h/",
		"gopher://h/0a": "gopher://h/0a", "nntps://h/g": "nntps://h/g",
	} {
		ref, err := locator.Parser{}.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		if got := Rewritten(ref.Locator, change).String(); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
		if ref.Locator.String() != url {
			t.Errorf("%s has become %s", url, ref.Locator)
		}
	}
}
