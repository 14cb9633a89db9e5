package site

import (
	"testing"
	"time"
)

func at(s string) time.Time {
	t, err := time.Parse(time.DateTime, s)
	if err != nil {
		panic(err)
	}
	return t
}

// A Shift is one only if it is that of most files, and no file has the time of before.
func TestShift(t *testing.T) {
	type file struct{ before, listed string }
	later, earlier := file{"2026-10-20 14:14:00", "2026-10-20 15:14:00"}, file{"2026-10-20 14:14:00", "2026-10-20 13:14:00"}
	kept := file{"2026-10-20 14:14:00", "2026-10-20 14:14:00"}
	for name, tc := range map[string]struct {
		files []file
		want  time.Duration
	}{
		"none":           {nil, 0},
		"one":            {[]file{later}, time.Hour},
		"earlier":        {[]file{earlier, earlier}, -time.Hour},
		"half an hour":   {[]file{{"2026-10-20 14:14:00", "2026-10-20 13:44:00"}}, -30 * time.Minute},
		"two hours":      {[]file{{"2026-10-20 14:14:00", "2026-10-20 16:14:00"}}, 0},
		"almost an hour": {[]file{{"2026-10-20 14:14:00", "2026-10-20 15:15:00"}}, 0},
		"over midnight":  {[]file{{"2026-10-20 23:14:00", "2026-10-21 00:14:00"}}, time.Hour},
		"kept":           {[]file{later, later, later, kept}, 0},
		"days":           {[]file{later, {"2026-01-02 00:00:00", "2026-01-02 00:00:00"}, {"2026-02-03 14:15:00", "2026-02-03 00:00:00"}}, time.Hour},
		"changed":        {[]file{later, later, {"2026-10-20 14:14:00", "2026-10-30 10:00:00"}}, time.Hour},
		"most":           {[]file{later, later, earlier}, time.Hour},
		"no most":        {[]file{later, earlier}, 0},
	} {
		var s Shift
		for _, f := range tc.files {
			s.Add(at(f.before), at(f.listed))
		}
		s.Add(time.Time{}, at("2026-10-20 14:14:00"))
		s.Add(at("2026-10-20 14:14:00"), time.Time{})
		if got := s.By(); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestIsInUTC(t *testing.T) {
	for listed, want := range map[string]bool{
		"2026-10-20 14:14:00": true, "2026-10-20 14:14:37": true, "2026-10-20 15:14:00": true, "2026-10-20 19:59:00": true,
		"2026-10-20 02:14:00": true, "2026-10-21 04:14:00": true, "2026-10-21 05:14:00": false, "2026-10-20 00:00:00": false,
		"2026-10-20 14:16:00": false, "2025-10-20 14:14:00": false,
	} {
		if got := IsInUTC(at(listed), at("2026-10-20 14:14:37")); got != want {
			t.Errorf("%s: %v", listed, got)
		}
	}
}
