package ftplist

import (
	"slices"
	"strings"
	"time"
)

// A date is the date of a line of ls.
type date struct {
	when   time.Time // zero if the date is not certain
	fields int       // that it takes; 0 if there is no date
	pad    bool      // ls writes a space after it, so that it is as wide as one with a clock
	left   bool      // it ends in a year after one space, so that ls of AIX writes a space after it
}

// dateAt parses the date at the begin of fields. ls writes these, with a clock in place of the year
// or the other way round, and with the months of its language:
//
//	Jan 29 03:26         Jan 29 03:26:07 1997
//	29 Jan 1997          29. Jan 1997 and a space
//	7月 29 1997          7月29日 03:26
//	7월 29일 03:26       2026年 7月29日
//	29. Jan., 03:26      29.1. 03:26
//	29. 1. 1997
//	1997-01-29 03:26     1997-01-29 03:26:07 +0100
//	01-29 03:26          1997-01-29 and a space
//	--- -- --:--         no date
func dateAt(fields []field, now time.Time) date {
	if len(fields) < 2 {
		return date{}
	}
	switch first := fields[0].text[0]; {
	case first == '-' && len(fields) > 3 && isHyphens(fields[:2]) && strings.Trim(fields[2].text, "-") == ":":
		return date{fields: 3}
	case first >= '0' && first <= '9':
		for _, form := range []func([]field, time.Time) date{isoDate, dayFirst, yearFirst, dotted} {
			if d := form(fields, now); d.fields > 0 {
				return d
			}
		}
	}
	m, day, n := monthDay(fields)
	return withDay(m, day, fields, n, now)
}

// isHyphens reports whether there is nothing else in fields.
func isHyphens(fields []field) bool {
	return !slices.ContainsFunc(fields, func(f field) bool { return strings.Trim(f.text, "-") != "" })
}

// withDay completes a date of n fields with a month and a day; n is 0 if there is no date. A clock
// after it means the latest such date that is not after now.
func withDay(m time.Month, day int, fields []field, n int, now time.Time) date {
	if n == 0 || n == len(fields) {
		return date{}
	}
	d := date{fields: n + 1}
	year, isYear := number(fields[n].text, 1900, 9999)
	at, isClock := lsClock(fields[n].text)
	if isClock && len(fields) > n+2 && strings.Count(fields[n].text, ":") == 2 { // ls -lT of BSD
		if year, isYear = number(fields[n+1].text, 1900, 9999); isYear {
			d.fields++
		}
	}
	last := fields[n]
	d.left = isYear && !isClock && last.end-len(last.text) == fields[n-1].end+1
	switch {
	case !isYear && !isClock:
		return date{}
	case m == 0: // not certain which one
	case !isYear:
		d.when = recent(m, day, at, now)
	default:
		d.when = time.Date(year, m, day, 0, 0, 0, 0, time.UTC)
		if isClock {
			d.when = d.when.Add(at)
		}
	}
	return d
}

// monthDay parses "Jan 29", "7月 29日" and "7月29日". It returns the number of fields, or 0.
func monthDay(fields []field) (m time.Month, day, n int) {
	n = 2
	for _, mark := range []string{"月", "월"} {
		if name, rest, ok := strings.Cut(fields[0].text, mark); ok && rest != "" {
			fields, n = []field{{text: name + mark}, {text: rest}}, 1
		}
	}
	if len(fields) < 2 {
		return 0, 0, 0
	}
	text := strings.TrimSuffix(strings.TrimSuffix(fields[1].text, "日"), "일")
	day, isDay := number(text, 1, 31)
	if !isDay {
		return 0, 0, 0
	}
	m, isMonth := month(fields[0].text)
	if !isMonth {
		return 0, 0, 0
	}
	return m, day, n
}

// dayFirst parses "29 Jan 1997" and "29. Jan 1997", which German ls pads. Czech ls writes a
// no-break space between the first two words.
func dayFirst(fields []field, now time.Time) date {
	text, name, isOne := strings.Cut(fields[0].text, "\u00a0")
	n := 1
	if !isOne {
		name, n = fields[1].text, 2
	}
	text, dot := strings.CutSuffix(text, ".")
	day, isDay := number(text, 1, 31)
	if !isDay || len(fields) == n {
		return date{}
	}
	m, isMonth := month(strings.TrimSuffix(name, ",")) // HP-UX
	if !isMonth {
		return date{}
	}
	d, last := withDay(m, day, fields, n, now), fields[n]
	d.left = d.left && !dot
	d.pad = dot && !strings.ContainsAny(last.text, ":.") && last.end-len(last.text) == fields[n-1].end+1
	return d
}

// yearFirst parses "2026年 7月29日" and "2026년  7월 29일".
func yearFirst(fields []field, _ time.Time) date {
	text := strings.TrimSuffix(strings.TrimSuffix(fields[0].text, "年"), "년")
	if text == fields[0].text {
		return date{}
	}
	year, isYear := number(text, 1900, 9999)
	m, day, n := monthDay(fields[1:])
	if !isYear || n == 0 {
		return date{}
	}
	return date{when: time.Date(year, m, day, 0, 0, 0, 0, time.UTC), fields: 1 + n}
}

// dotted parses "29.1. 03:26" and "29. 1. 1997": with dots, the day is first.
func dotted(fields []field, now time.Time) date {
	text, n := fields[0].text, 1
	if strings.Count(text, ".") == 1 {
		text, n = text+fields[1].text, 2
	}
	parts := strings.Split(text, ".")
	if len(parts) != 3 || parts[2] != "" {
		return date{}
	}
	day, isDay := number(parts[0], 1, 31)
	m, isMonth := number(parts[1], 1, 12)
	if !isDay || !isMonth {
		return date{}
	}
	d := withDay(time.Month(m), day, fields, n, now)
	d.left = false
	return d
}

// isoDate parses the dates of ls --time-style=full-iso, long-iso and iso, and "1997-01-29" alone.
func isoDate(fields []field, now time.Time) date {
	at, isClock := lsClock(fields[1].text)
	layout := time.DateOnly
	if isShort := len(fields[0].text) == len("01-02"); isShort && isClock {
		layout = "01-02"
	}
	if len(fields[0].text) != len(layout) { // spares the errors of Parse
		return date{}
	}
	day, err := time.Parse(layout, fields[0].text)
	switch {
	case err != nil:
		return date{}
	case layout != time.DateOnly:
		return date{when: recent(day.Month(), day.Day(), at, now), fields: 2}
	case !isClock:
		return date{when: day, fields: 1, pad: true}
	}
	d := date{when: day.Add(at), fields: 2}
	if len(fields) > 2 {
		if zone, err := time.Parse("-0700", fields[2].text); err == nil {
			_, offset := zone.Zone()
			d = date{when: d.when.Add(-time.Duration(offset) * time.Second), fields: 3}
		}
	}
	return d
}

// lsClock parses a clock, also in the form "03.26" of some languages.
func lsClock(s string) (time.Duration, bool) {
	if len(s) == len("03.26") && s[2] == '.' {
		s = s[:2] + ":" + s[3:]
	}
	return clock(s)
}

// A numericDate is a date of three numbers, in the orders in which it is one; the others are zero.
type numericDate struct {
	monthFirst, dayFirst, yearFirst time.Time
	hyphens                         bool
}

// numericDateOf parses "01-29-97", "29.01.1997", "1997/01/29" and the like. With dots, the day or
// the year is first, and a number of four digits is the year.
func numericDateOf(s string) (d numericDate, ok bool) {
	separator := strings.Trim(s, "0123456789")
	if len(s) < len("1.2.06") || len(s) > len("01.02.2006") || separator == "" {
		return d, false
	}
	sep := separator[:1]
	parts := strings.Split(s, sep)
	if len(parts) != 3 || !strings.Contains("-/.", sep) {
		return d, false
	}
	in := func(year, month, day string) time.Time {
		if len(year) != 2 && len(year) != 4 || len(month) > 2 || len(day) > 2 {
			return time.Time{}
		}
		for _, layout := range []string{"2006-1-2", "06-1-2"} {
			if t, err := time.Parse(layout, year+"-"+month+"-"+day); err == nil {
				return t
			}
		}
		return time.Time{}
	}
	if d.dayFirst = in(parts[2], parts[1], parts[0]); sep != "." {
		d.monthFirst = in(parts[2], parts[0], parts[1])
	}
	d.yearFirst = in(parts[0], parts[1], parts[2])
	ok = d != numericDate{}
	d.hyphens = sep == "-"
	return d, ok
}

// A dateOrder says what the first number of the dates of a listing is.
type dateOrder uint8

const (
	anyOrder dateOrder = iota // not known
	monthIsFirst
	dayIsFirst
)

// order returns the order of the numbers, if the date shows it.
func (d numericDate) order() dateOrder {
	switch {
	case d.monthFirst.IsZero() && !d.dayFirst.IsZero():
		return dayIsFirst
	case d.dayFirst.IsZero() && !d.monthFirst.IsZero():
		return monthIsFirst
	}
	return anyOrder
}

// dependsOnOrder reports whether another line is needed to know the date.
func (d numericDate) dependsOnOrder() bool {
	return !d.monthFirst.IsZero() && !d.dayFirst.IsZero() && !d.monthFirst.Equal(d.dayFirst)
}

// in returns the date in a listing of MS-DOS with that order. It is zero if it can be two dates,
// unless it is in the form of IIS: with hyphens, the month is first.
func (d numericDate) in(order dateOrder) time.Time {
	switch {
	case d.dependsOnOrder() && order == anyOrder && !d.hyphens:
		return time.Time{}
	case !d.dayFirst.IsZero() && (order == dayIsFirst || d.monthFirst.IsZero()):
		return d.dayFirst
	case !d.monthFirst.IsZero():
		return d.monthFirst
	}
	return d.yearFirst
}

// certain returns the date, or the zero time if several orders are possible.
func (d numericDate) certain() (only time.Time) {
	for _, t := range []time.Time{d.monthFirst, d.dayFirst, d.yearFirst} {
		switch {
		case t.IsZero() || t.Equal(only):
		case !only.IsZero():
			return time.Time{}
		default:
			only = t
		}
	}
	return only
}
