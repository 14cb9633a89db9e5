package mirror

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/progress"
)

// newGauge returns a gauge without a display, and a function that moves bytes.
func newGauge(upload bool) (g *gauge, move func(int64)) {
	moved := int64(0)
	none := func(string, int, int64, func() int64) *progress.Meter { return nil }
	return &gauge{meter: none, moved: func() int64 { return moved }, upload: upload}, func(n int64) { moved += n }
}

// The line has the files and bytes of how many, the rate and the remaining time.
func TestGaugeLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, move := newGauge(false)
		want := func(line string) {
			t.Helper()
			if got := g.line(); got != line {
				t.Errorf("%q, want %q", got, line)
			}
		}
		g.count(event{action: listed, files: 3, size: -1})
		want("1 folders listed, 3 files")
		move(500) // the listing is not part of the rate
		g.count(event{action: planned, files: 3, octets: 10 << 20, size: -1})
		g.count(event{action: started, file: "a", size: 6 << 20})
		g.count(event{action: started, file: "b", size: 4 << 20})
		time.Sleep(2 * time.Second)
		move(2 << 20)
		g.count(event{action: moved, file: "a", size: 6 << 20, octets: 5 << 20}) // 3 MiB were there
		want("0 of 3 files, 5.0 MiB of 10.0 MiB, 1.0 MiB/s, 00:05 left")
		if got, want := g.log(), "0 of 3 files, 5.0 MiB of 10.0 MiB, 1.0 MiB/s, 00:05 left: a (83%)"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		time.Sleep(time.Second)
		move(1 << 20)
		g.count(event{action: added, file: "a", size: 6 << 20})
		want("1 of 3 files, 6.0 MiB of 10.0 MiB, 1.0 MiB/s, 00:04 left")
		g.count(event{action: failed, file: "b", size: -1, err: errors.New("cut")})
		want("1 of 3 files, 6.0 MiB of 10.0 MiB, 1.0 MiB/s, 00:00 left, 1 failed")
		if got := g.reached(); got != "1 of 3 files, 6.0 MiB of 10.0 MiB" {
			t.Errorf("%q", got)
		}
	})
}

// Without sizes in the listings there is no total and no remaining time.
func TestGaugeWithoutSizes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, move := newGauge(false)
		g.count(event{action: planned, files: 2, size: -1})
		g.count(event{action: started, file: "menu", size: -1})
		time.Sleep(time.Second)
		move(2048)
		g.count(event{action: moved, file: "menu", size: -1, octets: 2048})
		if got, want := g.line(), "0 of 2 files, 2.0 KiB, 2.0 KiB/s"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got, want := g.log(), "0 of 2 files, 2.0 KiB, 2.0 KiB/s: menu"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// Files that an upload compares are counted before it is known what is to be sent.
func TestGaugeOfComparison(t *testing.T) {
	g, _ := newGauge(true)
	g.count(event{action: listed, files: 2, size: -1})
	g.count(event{action: started, file: "a", size: 10})
	g.count(event{action: moved, file: "a", size: 10, octets: 5})
	g.count(event{action: checked, file: "a", size: 10})
	if got, want := g.line(), "1 folders listed, 2 files, 1 compared"; got != want || len(g.names) != 0 {
		t.Errorf("%q, want %q; %d files under way", got, want, len(g.names))
	}
	if g.reached() != "" {
		t.Errorf("%q was reached, of nothing", g.reached())
	}
}
