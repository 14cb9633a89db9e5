package exit

import "testing"

// Every exit code that a rule gives has a meaning, and they are in order.
func TestExitMeanings(t *testing.T) {
	known := make(map[int]bool)
	last := -1
	for _, m := range Meanings() {
		if m.Code <= last {
			t.Errorf("code %d is behind %d", m.Code, last)
		}
		known[m.Code], last = true, m.Code
	}
	for _, r := range exitRules {
		if !known[r.code] {
			t.Errorf("code %d has no meaning", r.code)
		}
	}
}
