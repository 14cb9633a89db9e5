package curl

import (
	"net/url"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/locator"
)

// Decoding reverses the encoding, and a URL carries encoded data unchanged.
func FuzzEncodeForm(f *testing.F) {
	for _, s := range []string{"a b&c=d", "\x00\xff%20+", "é~-_.*", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		encoded, err := new(CommandLine).urlEncoded("=" + s)
		if back, failed := url.QueryUnescape(encoded); err != nil || failed != nil || back != s {
			t.Fatalf("%q is encoded as %q, which is %q, %v, %v", s, encoded, back, err, failed)
		}
		o := plan.New(new(plan.Global))
		o.HTTP.Query = []string{"q=" + encoded}
		ref, err := locator.Parser{}.Parse(client.WithQuery(o, &locator.HTTP{Server: locator.Server{HostPort: locator.HostPort{Host: "h"}}}).String())
		if err != nil {
			t.Fatal(err)
		}
		search, isQuery := strings.CutPrefix(ref.Locator.(*locator.HTTP).Search, "q=")
		if back, err := url.QueryUnescape(search); err != nil || back != s || !isQuery {
			t.Errorf("%q became %q, %v", encoded, search, err)
		}
	})
}
