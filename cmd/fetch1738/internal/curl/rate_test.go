package curl

import (
	"testing"
	"time"
)

func TestParseRate(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"2/s": time.Second / 2, "1/m": time.Minute, "3/5m": 100 * time.Second, "10": 6 * time.Minute, "4/d": 6 * time.Hour,
		"": 0, "x": 0, "0/s": 0, "-1/s": 0, "1/": 0, "1/w": 0, "1/0s": 0, "1/99999999999s": 0, "1/2147483647d": 0,
	} {
		if got, err := parseRate(value); got != want || (err == nil) != (want != 0) {
			t.Errorf("--rate %q: %v, %v, want %v", value, got, err, want)
		}
	}
}
