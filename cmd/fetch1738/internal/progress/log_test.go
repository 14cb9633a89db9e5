package progress

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A log has a line after ten seconds and then every minute, but none without a text.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		start := time.Now()
		l := NewLog(&out, func() string {
			if time.Since(start) > 131*time.Second {
				return ""
			}
			return fmt.Sprint("at ", time.Since(start))
		})
		time.Sleep(time.Hour)
		l.Close()
		if got, want := out.String(), "fetch1738: at 10s\nfetch1738: at 1m10s\nfetch1738: at 2m10s\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// Bytes that were there before do not count for the rate.
func TestRateOfRest(t *testing.T) {
	now := time.Now()
	r := RateFrom(now, 1<<40)
	r.Sample(now.Add(2*time.Second), 1<<40+2000)
	if r.PerSecond() != 1000 || r.Remaining(60_000) != "01:00" {
		t.Error(r.PerSecond(), r.Remaining(60_000))
	}
}

// The lines are erased from the first column, where the terminal may have echoed a key.
func TestErasedFromFirstColumn(t *testing.T) {
	d := &Display{picture: []string{"one", "all"}}
	if got := d.erasing(); got != "\r\x1b[2A\x1b[J" {
		t.Errorf("%q", got)
	}
}
