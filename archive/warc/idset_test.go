package warc

import (
	"math/rand/v2"
	"testing"
)

// TestIDSet compares an idSet with a map.
func TestIDSet(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	set, all := new(idSet), make(map[uint64]bool)
	for range 200_000 {
		key := random.Uint64N(4)<<56 | random.Uint64N(100_000)*7 // few parts, and keys that come again
		if key == 0 {
			continue
		}
		if set.has(key) != all[key] {
			t.Fatalf("has(%d) is %v", key, set.has(key))
		}
		set.add(key)
		all[key] = true
	}
	if set.n != len(all) {
		t.Errorf("%d keys, want %d", set.n, len(all))
	}
	for key := range all {
		if !set.has(key) || set.has(key+1) != all[key+1] {
			t.Fatalf("%d is missing, or %d is there", key, key+1)
		}
	}
}
