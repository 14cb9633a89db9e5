package check

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// An Answer is the result of a fetch whose body, if any, was read to its end and closed.
type Answer struct {
	Resource *fetch.Resource // nil if Fetch failed
	Octets   []byte
	Err      *fetch.Error // of Fetch or of the Body
	Took     time.Duration
	Hooks    *Hooks
}

// Octets compares the result of a fetch with the bytes it should have delivered.
func Octets(t testing.TB, what string, a Answer, want []byte) {
	t.Helper()
	if a.Err != nil {
		t.Errorf("%s: %v", what, a.Err)
	} else if !bytes.Equal(a.Octets, want) {
		t.Errorf("%s: %s", what, Difference(a.Octets, want))
	}
}

// Kind fails the test unless a failed with an error of one of the kinds.
func Kind(t testing.TB, what string, a Answer, kinds ...fetch.ErrorKind) {
	t.Helper()
	if a.Err == nil {
		t.Errorf("%s: no error, and %d bytes; want an error of kind %s", what, len(a.Octets), anyOf(kinds))
	} else if !slices.Contains(kinds, a.Err.Kind) {
		t.Errorf("%s: the error's kind is %q, want %s: %v", what, a.Err.Kind, anyOf(kinds), a.Err)
	}
}

// anyOf lists kinds for a message.
func anyOf(kinds []fetch.ErrorKind) string {
	var list []string
	for _, kind := range kinds {
		list = append(list, fmt.Sprintf("%q", kind))
	}
	return strings.Join(list, " or ")
}
