package pool

import (
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// A file that no one has expected, such as the state of an upload, may be tried and refused, too.
func TestRefusalsUnexpected(t *testing.T) {
	var r Refusals
	r.Try(5)
	for code, want := range map[int]Mark{552: Doubt, 550: Doubt, 426: Own} {
		e := &fetch.Error{Code: code}
		if code == 550 {
			e.Kind = fetch.ErrPermission
		}
		if got := r.Refused(e, Spot{}, 5); got != want {
			t.Errorf("%d: %v, want %v", code, got, want)
		}
	}
	if r.AreNone() {
		t.Error("none were refused")
	}
}

// Several refusals for want of room end a run once no smaller file waits, and larger ones are not tried.
func TestRefusalsOfRoom(t *testing.T) {
	var r Refusals
	at := Spot{".", true}
	sizes := []int64{900, 800, 950, 100, 100}
	for _, size := range sizes {
		r.Expect(at, size)
	}
	for i, want := range []Mark{Doubt, Doubt, Doubt, Ends} {
		r.Try(sizes[i])
		if got := r.Refused(&fetch.Error{Code: 552}, at, sizes[i]); got != want {
			t.Errorf("%d bytes: %v, want %v", sizes[i], got, want)
		}
		if i == 2 && (!r.IsHopeless(at, 800) || r.IsHopeless(at, 799)) {
			t.Error("what is tried does not depend on the smallest size that was refused")
		}
	}
	r.Stored()
	if r.IsHopeless(at, 800) || !r.AreNone() {
		t.Error("a file that was stored does not end the row")
	}
}
