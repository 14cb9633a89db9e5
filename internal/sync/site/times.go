package site

import "time"

// SameTime reports whether two times of listings are the same. FTP listings give only the day for
// older files.
func SameTime(listed, before time.Time) bool {
	listed, before = listed.UTC(), before.UTC()
	return listed.Equal(before) || isDay(listed) && listed.Equal(before.Truncate(24*time.Hour))
}

// isDay reports whether a time of a listing may be that of a whole day.
func isDay(t time.Time) bool { return t.Truncate(24 * time.Hour).Equal(t) }

// A Shift finds out whether a server lists all times later or earlier than before. Many servers
// list local times, and some of them by the offset from UTC of the moment: after a change of
// daylight saving time they list other times for all files. The zero value knows no file.
type Shift struct {
	kept bool // a file has the time of before
	by   map[time.Duration]int
}

// Add adds a file that has the size of before, with its time in an earlier listing and in that of
// now. Neither may be one of MLSD, which are in UTC.
func (s *Shift) Add(before, listed time.Time) {
	switch d := listed.Sub(before); {
	case before.IsZero() || listed.IsZero():
	case SameTime(listed, before):
		s.kept = s.kept || !isDay(listed)
	case isDaylight(d):
		if s.by == nil {
			s.by = make(map[time.Duration]int)
		}
		s.by[d]++
	}
}

// isDaylight reports whether a change of daylight saving time can be the reason of a difference. It
// is an hour, or on Lord Howe Island half an hour. A server that moves to another time zone has
// other differences, but that happens once, and the more are permitted, the more files can have one
// by chance.
func isDaylight(d time.Duration) bool { return d.Abs() == time.Hour || d.Abs() == 30*time.Minute }

// By returns by how much the times are shifted; 0 if they are not. A single file with the time of
// before shows that the server has not shifted its times. Files whose times differ by something else
// have changed.
func (s *Shift) By() time.Duration {
	all := 0
	for _, n := range s.by {
		all += n
	}
	for d, n := range s.by {
		if !s.kept && 2*n > all {
			return d
		}
	}
	return 0
}

// IsBefore reports whether a file with this time in a listing was modified before t, in whatever
// time zone the listing is, and if the clocks differ by some hours.
func IsBefore(listed, t time.Time) bool { return listed.Add(24 * time.Hour).Before(t) }

// IsInUTC reports whether an exact time, as that of MDTM, and the time of the same file in a listing
// differ as UTC and a time zone do. Some servers state the same exact time for all files.
func IsInUTC(listed, exact time.Time) bool {
	d := listed.Sub(exact)
	return d.Abs() <= 14*time.Hour+time.Minute && (d-d.Round(15*time.Minute)).Abs() < time.Minute
}
