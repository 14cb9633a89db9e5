package driver_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// A resource without a body cannot be mistaken for an empty document.
func TestWithoutOctets(t *testing.T) {
	ref, _ := locator.Parser{}.Parse("telnet://user:secret@h/")
	for kind, what := range map[fetch.Kind]string{
		fetch.KindQuery: "Request.Query", fetch.KindInteractive: "Resource.Conn", fetch.KindAdvice: "Resource.Advice",
	} {
		res := fetch.Resource{Locator: ref.Locator, Kind: kind, Body: driver.WithoutOctets(ref.Locator, kind)}
		for range 2 {
			n, err := io.Copy(io.Discard, res.Body)
			var e *fetch.Error
			if n != 0 || !errors.As(err, &e) || e.Kind != fetch.ErrNoOctets || e.Op != "read" {
				t.Errorf("%v: copied %d, %v", kind, n, err)
			} else if text := e.Error(); !strings.Contains(text, what) || strings.Contains(text, "secret") {
				t.Errorf("%v: %s", kind, text)
			}
		}
		if err := res.Close(); err != nil {
			t.Error(err)
		}
	}
}
