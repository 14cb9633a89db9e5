package cause

import (
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// TestCauses tests that what is said about an error is whole.
func TestCauses(t *testing.T) {
	said := 0
	for kind := range fetch.ErrorKind(100) {
		c, ok := Of(kind)
		if !ok {
			continue
		}
		said++
		asks := kind == fetch.ErrUnauthenticated || kind == fetch.ErrBadURL // nobody would try again
		if c.Text == "" || c.Status < 400 || (c.Again == "") != asks {
			t.Errorf("%v: %+v", kind, c)
		}
	}
	if said < 15 {
		t.Errorf("only %d kinds", said)
	}
}
