package ftplist

import (
	"strconv"
	"strings"
	"time"
)

// maxFields is more than any format has before the name.
const maxFields = 16

// A field is a word of a line, with the offset of its end.
type field struct {
	text string
	end  int
}

// split returns the first maxFields words of a line.
func split(line string) []field {
	fields := make([]field, 0, maxFields)
	for i := 0; i < len(line) && len(fields) < maxFields; {
		for i < len(line) && line[i] == ' ' {
			i++
		}
		start := i
		for i < len(line) && line[i] != ' ' {
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

// number parses a decimal number from least to most.
func number(s string, least, most int) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && s[0] != '+' && s[0] != '-' && n >= least && n <= most
}

const months = "janfebmaraprmayjunjulaugsepoctnovdec"

// month parses the first three letters of an English month.
func month(s string) (time.Month, bool) {
	if len(s) != 3 {
		return 0, false
	}
	i := strings.Index(months, strings.ToLower(s))
	return time.Month(i/3 + 1), i >= 0 && i%3 == 0
}

// clock parses "15:04" or "15:04:05", with an optional fraction.
func clock(s string) (time.Duration, bool) {
	s, _, _ = strings.Cut(s, ".")
	h, rest, ok := strings.Cut(s, ":")
	m, sec, _ := strings.Cut(rest, ":")
	if sec == "" {
		sec = "0"
	}
	hours, ok1 := number(h, 0, 23)
	minutes, ok2 := number(m, 0, 59)
	seconds, ok3 := number(sec, 0, 60)
	d := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second
	return d, ok && ok1 && ok2 && ok3
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
