package file

import (
	"io"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// TestMadeUp reads a file that the system generates when it is read, and whose size it reports as
// 0.
func TestMadeUp(t *testing.T) {
	res, err := new(Fetcher).Fetch(t.Context(), &fetch.Request{Locator: locate("/proc/self/status")})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	if got, err := io.ReadAll(res.Body); !strings.HasPrefix(string(got), "Name:") || err != nil || res.Size != -1 {
		t.Errorf("%.20q, %v, size %d", got, err, res.Size)
	}
}
