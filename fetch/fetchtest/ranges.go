package fetchtest

import (
	"fmt"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/check"
)

// testRanges tests that a range has the right bytes, or is refused.
func testRanges(t *testing.T, s *subject) {
	if s.site.Locate(octets) == nil {
		return
	}
	subtest(t, s, "parts", func(fx *fixture) {
		want := s.want(octets)
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
				checkRange(fx, offset, length, want[start:end])
			}
		}
	})
	subtest(t, s, "beyond the end", func(fx *fixture) {
		size := int64(len(s.want(octets)))
		for _, offset := range []int64{size, size + 1, 1 << 40} {
			a := fx.do(fx.ctx(), &fetch.Request{Locator: fx.site.Locate(octets), Offset: offset})
			if a.Err == nil && offset == size && len(a.Octets) == 0 {
				continue // nothing is left
			}
			check.Kind(fx, fmt.Sprintf("offset %d of %d", offset, size), a, s.noRange()...)
		}
	})
	if s.Ranges && !s.Local && s.site.Locate(large) != nil {
		subtest(t, s, "sent", func(fx *fixture) {
			want := s.want(large)
			a := fx.do(fx.ctx(), &fetch.Request{Locator: fx.site.Locate(large), Offset: int64(len(want) - 100)})
			check.Octets(fx, "the last 100 bytes", a, want[len(want)-100:])
			for _, c := range fx.net.Since(0) {
				if received, _ := c.Lengths(); received > 64<<10 {
					fx.Errorf("for the last 100 bytes the server sent %d; the Fetcher must request the range from the server", received)
				}
			}
		})
	}
}

// checkRange fetches a range of the document that has every byte.
func checkRange(fx *fixture, offset, length int64, want []byte) {
	fx.Helper()
	what := fmt.Sprintf("offset %d, length %d", offset, length)
	lead := min(max(offset, 0), 10)
	a := fx.do(fx.ctx(), &fetch.Request{Locator: fx.site.Locate(octets), Offset: offset, Length: length, Lead: lead})
	if a.Err != nil && !fx.subject.Ranges {
		check.Kind(fx, what, a, fetch.ErrUnsupported)
		return
	}
	check.Octets(fx, what, a, want)
	if a.Resource != nil {
		if before := fx.subject.want(octets)[max(offset, 0)-lead : max(offset, 0)]; len(a.Resource.Lead) > 0 && string(a.Resource.Lead) != string(before) {
			fx.Errorf("%s: the %d bytes before it are %q, want %q", what, lead, a.Resource.Lead, before)
		}
		check.Size(fx, what+", size of the whole document", a.Resource.Size, fx.subject.want(octets))
	}
}
