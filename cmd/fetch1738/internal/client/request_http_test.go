package client

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// The lines of -H replace what other options say, and keep their spelling.
func TestReplaceHeaders(t *testing.T) {
	o := plan.New(new(plan.Global))
	o.HTTP.Headers = []string{"user-agent: me", "X-A: 1", "x-a: 2", "Accept:", "Empty;", "X-B:  spaces  "}
	h := http.Header{"User-Agent": {"other"}, "Referer": {"kept"}}
	if err := replaceHeaders(o, h); err != nil {
		t.Fatal(err)
	}
	want := http.Header{"user-agent": {"me"}, "X-A": {"1", "2"}, "Accept": {}, "Empty": {""}, "X-B": {"spaces"}, "Referer": {"kept"}}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Error(diff)
	}
}
