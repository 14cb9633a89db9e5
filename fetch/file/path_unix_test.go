//go:build unix

package file

import (
	"testing"

	"github.com/fetch1738/fetch1738/locator"
)

func TestSystemPath(t *testing.T) {
	for url, want := range map[string]string{
		"file:///":               "/",
		"file:///etc/motd":       "/etc/motd",
		"file://localhost/a%20b": "/a b",
		"file:///a/":             "/a",
		"file:////a":             "//a",
		"file:///a//b":           "/a//b",
		"file:///a/../b":         "/a/../b",
		"file:///caf%E9":         "/caf\xe9",
		"file:///a%253Fb":        "/a%3Fb",
		"file:///C:/x%5Cy":       `/C:/x\y`,
	} {
		ref, err := locator.Parser{}.Parse(url)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := systemPath(ref.Locator.(*locator.File)); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", url, got, err, want)
		}
	}
}
