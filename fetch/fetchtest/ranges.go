package fetchtest

import (
	"fmt"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
)

// ranges tests that a range has the right bytes, or is refused.
func (k *kit) ranges(t *testing.T) {
	if k.site.Locate(octets) == nil {
		return
	}
	k.test(t, "parts", func(r *rig) {
		want := k.want(octets)
		size := int64(len(want))
		for _, offset := range []int64{0, 1, 100, size - 1, -1, -100, -size} {
			for _, length := range []int64{0, 1, 100, size, size + 1} {
				start := offset
				if start < 0 {
					start += size
				}
				end := size
				if length > 0 {
					end = min(end, start+length)
				}
				r.part(offset, length, want[start:end])
			}
		}
	})
	k.test(t, "beyond the end", func(r *rig) {
		size := int64(len(k.want(octets)))
		for _, offset := range []int64{size, size + 1, 1 << 40} {
			a := r.do(r.ctx(), &fetch.Request{Locator: r.site.Locate(octets), Offset: offset})
			if a.err == nil && offset == size && len(a.octets) == 0 {
				continue // nothing is left
			}
			r.checkKind(fmt.Sprintf("offset %d of %d", offset, size), a, k.noRange()...)
		}
	})
	if k.Ranges && !k.Local && k.site.Locate(large) != nil {
		k.test(t, "sent", func(r *rig) {
			want := k.want(large)
			a := r.do(r.ctx(), &fetch.Request{Locator: r.site.Locate(large), Offset: int64(len(want) - 100)})
			r.checkOctets("the last 100 bytes", a, want[len(want)-100:])
			for _, w := range r.net.since(0) {
				if received, _ := w.lengths(); received > 64<<10 {
					r.Errorf("for the last 100 bytes the server sent %d; the Fetcher must request the range from the server", received)
				}
			}
		})
	}
}

// part fetches a range of the document that has every byte.
func (r *rig) part(offset, length int64, want []byte) {
	r.Helper()
	what := fmt.Sprintf("offset %d, length %d", offset, length)
	lead := min(max(offset, 0), 10)
	a := r.do(r.ctx(), &fetch.Request{Locator: r.site.Locate(octets), Offset: offset, Length: length, Lead: lead})
	if a.err != nil && !r.kit.Ranges {
		r.checkKind(what, a, fetch.ErrUnsupported)
		return
	}
	r.checkOctets(what, a, want)
	if a.res != nil {
		if before := r.kit.want(octets)[max(offset, 0)-lead : max(offset, 0)]; len(a.res.Lead) > 0 && string(a.res.Lead) != string(before) {
			r.Errorf("%s: the %d bytes before it are %q, want %q", what, lead, a.res.Lead, before)
		}
		r.checkSize(what+", size of the whole document", a.res.Size, r.kit.want(octets))
	}
}

// noRange returns the kinds of error for a range beyond the end.
func (k *kit) noRange() []fetch.ErrorKind {
	if k.Ranges {
		return []fetch.ErrorKind{fetch.ErrBadRange}
	}
	return []fetch.ErrorKind{fetch.ErrBadRange, fetch.ErrUnsupported}
}
