package session

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// served is a session that records its use.
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

// TestBegin tests Begin with a kept session.
func TestBegin(t *testing.T) {
	failed := errors.New("failed")
	for name, tt := range map[string]struct {
		kept   served
		fails  bool // start fails with the kept session
		terms  Terms
		calls  []string // of the kept session
		opened bool
		retry  error // passed to onRetry
		err    error
	}{
		"usable":                  {calls: []string{"rest", "resume me"}},
		"unsolicited data":        {kept: served{waiting: true}, calls: []string{"rest", "drop"}, opened: true},
		"stale":                   {kept: served{stale: true}, fails: true, calls: []string{"rest", "resume me", "rest"}, opened: true, retry: failed},
		"start fails":             {fails: true, calls: []string{"rest", "resume me", "rest"}, err: failed},
		"forbidden by the policy": {kept: served{refuse: failed}, calls: []string{"rest"}, err: failed},
		"not reusable":            {kept: served{broken: true}, calls: []string{"end"}, opened: true},
		"reuse disabled":          {terms: Terms{Limit: -1}, calls: []string{"end"}, opened: true},
	} {
		t.Run(name, func(t *testing.T) {
			var k Keeper[server, string, *served]
			defer k.Close()
			kept, fresh := &tt.kept, &served{}
			k.Release("key", kept, tt.terms)
			opened, retried := false, error(nil)
			got, err := k.Begin(t.Context(), "key", "me", tt.terms,
				func(Opening) (*served, error) { opened = true; return fresh, nil },
				func(s *served) error {
					if s == kept && tt.fails {
						return failed
					}
					return nil
				},
				func(err error) { retried = err })
			if err != tt.err || opened != tt.opened || retried != tt.retry || !slices.Equal(kept.notes, tt.calls) {
				t.Errorf("error %v, opened %t, retried after %v, calls %q", err, opened, retried, kept.notes)
			}
			if want := map[bool]*served{true: fresh, false: kept}[opened]; err == nil && got != want {
				t.Errorf("Begin returned the wrong session")
			}
		})
	}
}
