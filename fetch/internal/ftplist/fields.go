package ftplist

import (
	"strconv"
	"strings"
	"time"
)

// maxFields is more than any format has before the name.
const maxFields = 16

// A field is a word of a line, after spaces or tabs, with the offset of its end.
type field struct {
	text string
	end  int
}

// split returns the first maxFields words of a line.
func split(line string) []field {
	fields := make([]field, 0, maxFields)
	for i := 0; i < len(line) && len(fields) < maxFields; {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		start := i
		for i < len(line) && line[i] != ' ' && line[i] != '\t' {
			i++
		}
		if i > start {
			fields = append(fields, field{line[start:i], i})
		}
	}
	return fields
}

// size parses a number of bytes. It returns -1 if s is not one.
func size(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || s[0] == '+' {
		return -1
	}
	return n
}

// groupedSize is size, also for groups of digits, as in "5,012" or "5.012".
func groupedSize(s string) int64 {
	if n := size(s); n >= 0 {
		return n
	}
	for _, separator := range []string{",", ".", "'", "\u00a0", "\u202f", "\xa0"} {
		if groups := strings.Split(s, separator); len(groups) > 1 && areThousands(groups) {
			return size(strings.Join(groups, ""))
		}
	}
	return -1
}

// areThousands reports whether all groups of digits but the first have three of them.
func areThousands(groups []string) bool {
	for i, group := range groups {
		if len(group) != 3 && (i > 0 || len(group) == 0 || len(group) > 3) {
			return false
		}
	}
	return true
}

// number parses a decimal number from least to most.
func number(s string, least, most int) (int, bool) {
	if s == "" || s[0] < '0' || s[0] > '9' { // spares the error of Atoi
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n >= least && n <= most
}

// clock parses "15:04" or "15:04:05", with an optional fraction.
func clock(s string) (time.Duration, bool) {
	h, rest, ok := strings.Cut(s, ":")
	if !ok {
		return 0, false
	}
	rest, _, _ = strings.Cut(rest, ".")
	m, sec, _ := strings.Cut(rest, ":")
	if sec == "" {
		sec = "0"
	}
	hours, ok1 := number(h, 0, 23)
	minutes, ok2 := number(m, 0, 59)
	seconds, ok3 := number(sec, 0, 60)
	d := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second
	return d, ok1 && ok2 && ok3
}

// recent returns the latest time with that month, day and clock that is not after now.
// A server's clock may be up to a day ahead.
func recent(m time.Month, day int, clock time.Duration, now time.Time) time.Time {
	limit := now.UTC().AddDate(0, 0, 1)
	for year := limit.Year(); ; year-- {
		t := time.Date(year, m, day, 0, 0, 0, 0, time.UTC).Add(clock)
		// February 29 exists only in leap years.
		if !t.After(limit) && (t.Month() == m || year < limit.Year()-8) {
			return t
		}
	}
}

// stamp parses "20060102150405" with an optional fraction (RFC 3659 §2.3).
func stamp(s string) time.Time {
	s, _, _ = strings.Cut(s, ".")
	t, err := time.Parse("20060102150405", s)
	if err != nil {
		return time.Time{}
	}
	return t
}
