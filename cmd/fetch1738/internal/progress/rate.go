package progress

import (
	"fmt"
	"time"
)

// A Rate estimates how many bytes pass in a second, with more weight on recent samples. See [RateFrom].
type Rate struct {
	start time.Time
	from  int64

	// Of the latest sample:
	at        time.Time
	got       int64
	perSecond float64
}

// RateFrom returns the Rate of a transfer that begins at a time with a number of bytes.
func RateFrom(start time.Time, got int64) Rate { return Rate{start: start, from: got} }

// Sample records the number of bytes at a time.
func (r *Rate) Sample(now time.Time, got int64) {
	switch passed := now.Sub(r.at); {
	case r.at.IsZero() || got < r.got:
		r.perSecond = float64(perSecond(max(0, got-r.from), now.Sub(r.start)))
	case passed > 0:
		weight := min(1, passed.Seconds()/3)
		r.perSecond += weight * (float64(perSecond(got-r.got, passed)) - r.perSecond)
	}
	r.at, r.got = now, got
}

// PerSecond returns the rate in bytes per second.
func (r *Rate) PerSecond() int64 { return int64(r.perSecond) }

// Remaining returns the time that a number of bytes takes at the current rate, as minutes and seconds.
func (r *Rate) Remaining(left int64) string {
	if left > 0 && (r.perSecond < 1 || float64(left)/r.perSecond >= 100*3600) {
		return "--:--"
	}
	seconds := 0
	if left > 0 {
		seconds = int(float64(left)/r.perSecond + 0.5)
	}
	if seconds < 3600 {
		return fmt.Sprintf("%02d:%02d", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
}
