package session

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// served is a session that notes what is done with it.
type served struct {
	notes                  []string
	waiting, stale, broken bool
	refuse                 error
}

func (s *served) note(what string)                     { s.notes = append(s.notes, what) }
func (s *served) Close() error                         { s.note("close"); return nil }
func (s *served) End()                                 { s.note("end") }
func (s *served) Drop()                                { s.note("drop") }
func (s *served) Waiting() bool                        { return s.waiting }
func (s *served) Permit(context.Context, string) error { return s.refuse }
func (s *served) Resume(_ context.Context, a string)   { s.note("resume " + a) }
func (s *served) Rest()                                { s.note("rest") }
func (s *served) Reusable() bool                       { return !s.broken }
func (s *served) Stale() bool                          { return s.stale }

// TestBegin begins an access where a session is kept.
func TestBegin(t *testing.T) {
	sorry := errors.New("sorry")
	for name, tt := range map[string]struct {
		kept   served
		fails  bool // what is done with the kept one
		terms  Terms
		kepts  []string
		opened bool
		again  error
		err    error
	}{
		"a good one":            {kepts: []string{"rest", "resume me"}},
		"one that is talkative": {kept: served{waiting: true}, kepts: []string{"rest", "drop"}, opened: true},
		"a stale one":           {kept: served{stale: true}, fails: true, kepts: []string{"rest", "resume me", "rest"}, opened: true, again: sorry},
		"an error":              {fails: true, kepts: []string{"rest", "resume me", "rest"}, err: sorry},
		"one that is forbidden": {kept: served{refuse: sorry}, kepts: []string{"rest"}, err: sorry},
		"one that is broken":    {kept: served{broken: true}, kepts: []string{"end"}, opened: true},
		"keeping none":          {terms: Terms{Limit: -1}, kepts: []string{"end"}, opened: true},
	} {
		t.Run(name, func(t *testing.T) {
			var k Keeper[string, string, *served]
			defer k.Close()
			kept, fresh := &tt.kept, &served{}
			k.Release("key", kept, tt.terms)
			opened, again := false, error(nil)
			got, err := k.Begin(t.Context(), "key", "me", tt.terms,
				func() (*served, error) { opened = true; return fresh, nil },
				func(s *served) error {
					if s == kept && tt.fails {
						return sorry
					}
					return nil
				},
				func(err error) { again = err })
			if err != tt.err || opened != tt.opened || again != tt.again || !slices.Equal(kept.notes, tt.kepts) {
				t.Errorf("%v, opened %t, again for %v, %q", err, opened, again, kept.notes)
			}
			if want := map[bool]*served{true: fresh, false: kept}[opened]; err == nil && got != want {
				t.Errorf("the other session")
			}
		})
	}
}
