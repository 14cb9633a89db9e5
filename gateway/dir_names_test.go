package gateway

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// TestLongNames tests that a server cannot fill the memory with long names: what is held of a listing is
// limited by its size, too, and a listing beyond that is not sorted.
func TestLongNames(t *testing.T) {
	const size = 24 << 10 // of a link to a name of 8 KiB
	made := 0
	long := func(n int) iter.Seq2[dirEntry, error] {
		return func(yield func(dirEntry, error) bool) {
			for made = 0; made < n; made++ {
				if !yield(dirEntry{name: fmt.Sprint(n - made), href: strings.Repeat("x", size), size: -1, time: noTime}, nil) {
					return
				}
			}
		}
	}
	const most = heldNames / size
	for _, n := range []int{most / 2, 2 * most} {
		for _, order := range []string{"", "name"} {
			d := &listing{out: new(response), Choice: choice{Order: order}}
			stop, err := d.gather(&locator.FTP{}, long(n))
			if made > most+1 {
				t.Errorf("%d entries, %q: %d are held", n, order, made)
			}
			switch fits := n < most; {
			case fits != d.Known, err != nil != (!fits && order != ""), err != nil && fetch.KindOf(err) != fetch.ErrTooLarge:
				t.Errorf("%d entries, %q: known: %v, %v", n, order, d.Known, err)
			case err == nil:
				shown := 0
				for range d.entries {
					shown++
				}
				if shown != n {
					t.Errorf("%d of %d entries", shown, n)
				}
			}
			stop()
		}
	}
}
