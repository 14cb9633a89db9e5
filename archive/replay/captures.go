package replay

import (
	"iter"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/locator"
)

// captures yields a capture of each URL of a site that begins with that of url and suffix: the one
// that find returns.
func (s *site) captures(url func(locator.HostPort) locator.Locator, suffix string) iter.Seq2[*archive.Capture, error] {
	return func(yield func(*archive.Capture, error) bool) {
		for _, at := range s.spellings {
			for c, err := range s.replay.each(url(at).String() + suffix) {
				if !yield(c, err) || err != nil {
					return
				}
			}
		}
	}
}

// each yields a capture of each URL that begins with prefix, that of the time of the Replay.
func (r *Replay) each(prefix string) iter.Seq2[*archive.Capture, error] {
	return func(yield func(*archive.Capture, error) bool) {
		var best *archive.Capture
		for c, err := range r.archive.Captures(prefix) {
			switch {
			case err != nil:
				yield(nil, err)
				return
			case best == nil || c.URL == best.URL && (r.at.IsZero() || !c.Time.After(r.at)):
				best = c
			case c.URL != best.URL:
				if !yield(best, nil) {
					return
				}
				best = c
			}
		}
		if best != nil {
			yield(best, nil)
		}
	}
}
