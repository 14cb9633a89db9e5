package play

import (
	"errors"
	"slices"
	"sync"
	"time"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/archive/replay"
)

// Resolvers has Resolvers for the times of an archive that are asked for: one for each time, of which
// those that were used last are kept. It is safe for concurrent use. The caller must close it, before
// the Replay.
type Resolvers struct {
	past      *replay.Replay
	max       int
	configure func(*fetch1738.Resolver)

	mu   sync.Mutex
	kept []*keptResolver // the last used one is the last
}

// A keptResolver is a Resolver with the Replay that it reads.
type keptResolver struct {
	at       time.Time
	past     *replay.Replay
	resolver *fetch1738.Resolver
	users    int
}

// NewResolvers returns Resolvers of an archive. It keeps at most max that nobody uses. It calls
// configure for each Resolver before that is used.
func NewResolvers(past *replay.Replay, max int, configure func(*fetch1738.Resolver)) *Resolvers {
	return &Resolvers{past: past, max: max, configure: configure}
}

// At returns the Resolver for a time. The caller must call done once, after its last access.
func (s *Resolvers) At(at time.Time) (resolver *fetch1738.Resolver, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.kept, func(k *keptResolver) bool { return k.at.Equal(at) })
	if i < 0 {
		past := s.past.At(at)
		k := &keptResolver{at: at, past: past, resolver: past.Resolver()}
		s.configure(k.resolver)
		i = len(s.kept)
		s.kept = append(s.kept, k)
	}
	k := s.kept[i]
	s.kept = append(slices.Delete(s.kept, i, i+1), k)
	k.users++
	return k.resolver, func() { s.done(k) }
}

// done ends one use of a Resolver, and closes those that are too many.
func (s *Resolvers) done(k *keptResolver) {
	s.mu.Lock()
	k.users--
	var ended []*keptResolver
	for len(s.kept) > s.max {
		i := slices.IndexFunc(s.kept, func(k *keptResolver) bool { return k.users == 0 })
		if i < 0 {
			break
		}
		ended = append(ended, s.kept[i])
		s.kept = slices.Delete(s.kept, i, i+1)
	}
	s.mu.Unlock()
	for _, k := range ended {
		_ = k.close()
	}
}

func (k *keptResolver) close() error { return errors.Join(k.resolver.Close(), k.past.Close()) }

// Close closes all Resolvers. None may be in use.
func (s *Resolvers) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, k := range s.kept {
		err = errors.Join(err, k.close())
	}
	s.kept = nil
	return err
}
