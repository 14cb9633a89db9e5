// Package curldate parses dates as curl does (curl_getdate(3)).
package curldate

import (
	"strings"
	"time"
)

// Parse parses a day, a month name and a year in any order, or eight digits YYYYMMDD. A time, a zone
// and the name of a weekday are optional. This covers RFC 1123, RFC 850, asctime and most dates
// that people write, but no relative dates. The result is in UTC; ok reports whether text is a
// date.
func Parse(text string) (_ time.Time, ok bool) {
	d := parser{text: text, month: -1, day: -1, year: -1}
	for range maxParts {
		d.at += len(d.rest()) - len(strings.TrimLeftFunc(d.rest(), isSeparator))
		if d.rest() == "" {
			break
		}
		if !d.part() {
			return time.Time{}, false
		}
	}
	return d.date()
}

// maxParts is the number of words and numbers that are read; the rest is ignored.
const maxParts = 6

type parser struct {
	text string
	at   int

	weekday, zoned, timed bool
	month, day, year      int // month from 0; -1 if not known yet
	yearNext              bool
	hour, minute, second  int
	offset                int // in seconds; added to get UTC
}

func (d *parser) rest() string { return d.text[d.at:] }

func isSeparator(r rune) bool {
	letter := 'a' <= r|0x20 && r|0x20 <= 'z'
	return r >= 0x80 || !letter && (r < '0' || r > '9')
}

// part parses one word or number.
func (d *parser) part() bool {
	rest := d.rest()
	word := len(rest) - len(strings.TrimLeft(strings.ToLower(rest), "abcdefghijklmnopqrstuvwxyz"))
	if word > 0 {
		d.at += word
		return d.name(strings.ToLower(rest[:word]))
	}
	if !d.timed && d.clock(rest) {
		return true
	}
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	if digits > 9 {
		return false
	}
	sign := byte(0)
	if d.at > 0 {
		sign = d.text[d.at-1]
	}
	d.at += digits
	n := 0
	for _, c := range rest[:digits] {
		n = n*10 + int(c-'0')
	}
	return d.number(n, digits, sign)
}

var (
	weekdays = []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
	months   = []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
)

// name interprets a word: a weekday, a month or a zone.
func (d *parser) name(word string) bool {
	for _, day := range weekdays {
		if !d.weekday && (word == day || word == day[:3]) {
			d.weekday = true
			return true
		}
	}
	for n, month := range months {
		if d.month < 0 && word == month {
			d.month = n
			return true
		}
	}
	minutes, known := zoneMinutes(word)
	if d.zoned || !known {
		return false
	}
	d.zoned, d.offset = true, minutes*60
	return true
}

// zoneMinutes returns the minutes to add to a time in zone to get UTC, as in curl's table. Summer
// time is an hour less.
func zoneMinutes(zone string) (int, bool) {
	const military = "yxwvutsrqponzabcdefghiklm" // from -12 hours to +12
	if len(zone) == 1 {
		hours := strings.Index(military, zone)
		return (hours - 12) * 60, hours >= 0
	}
	minutes, known := map[string]int{
		"gmt": 0, "ut": 0, "utc": 0, "wet": 0, "bst": -60, "wat": 60, "ast": 240, "adt": 180, "est": 300, "edt": 240,
		"cst": 360, "cdt": 300, "mst": 420, "mdt": 360, "pst": 480, "pdt": 420, "yst": 540, "ydt": 480, "hst": 600,
		"hdt": 540, "cat": 600, "ahst": 600, "nt": 660, "idlw": 720, "cet": -60, "met": -60, "mewt": -60, "mest": -120,
		"cest": -120, "mesz": -120, "fwt": -60, "fst": -120, "eet": -120, "wast": -420, "wadt": -480, "cct": -480,
		"jst": -540, "east": -600, "eadt": -660, "gst": -600, "nzt": -720, "nzst": -720, "nzdt": -780, "idle": -720,
	}[zone]
	return minutes, known
}

// clock parses "15:04" or "15:04:05".
func (d *parser) clock(s string) bool {
	var n [3]int
	found := 0
	for rest := s; found < len(n); found++ {
		width := min(2, len(rest)-len(strings.TrimLeft(rest, "0123456789")))
		if width == 0 {
			break
		}
		for _, c := range rest[:width] {
			n[found] = n[found]*10 + int(c-'0')
		}
		s = rest[width:]
		after, colon := strings.CutPrefix(s, ":")
		if !colon || after == "" || after[0] < '0' || after[0] > '9' {
			found++
			break
		}
		rest = after
	}
	if found < 2 || n[0] > 23 || n[1] > 59 || n[2] > 60 {
		return false
	}
	d.timed, d.hour, d.minute, d.second = true, n[0], n[1], n[2]
	d.at = len(d.text) - len(s)
	return true
}

// number interprets a zone such as +0100, YYYYMMDD, a day or a year.
func (d *parser) number(n, digits int, sign byte) bool {
	found := false
	if !d.zoned && digits == 4 && n <= 1400 && (sign == '+' || sign == '-') {
		d.zoned, found = true, true
		d.offset = (n/100*60 + n%100) * 60
		if sign == '+' {
			d.offset = -d.offset
		}
	}
	if digits == 8 && d.year < 0 && d.month < 0 && d.day < 0 {
		d.year, d.month, d.day = n/10000, n%10000/100-1, n%100
		return true
	}
	if !found && !d.yearNext && d.day < 0 {
		if n > 0 && n < 32 {
			d.day, found = n, true
		}
		d.yearNext = true
	}
	if !found && d.yearNext && d.year < 0 {
		found = true
		switch d.year = n; {
		case n <= 70:
			d.year += 2000
		case n < 100:
			d.year += 1900
		}
		if d.day < 0 {
			d.yearNext = false
		}
	}
	return found
}

// date returns the time of the words that were parsed. It reports false if one of them is out of
// range.
func (d *parser) date() (time.Time, bool) {
	if d.day < 0 || d.day > 31 || d.month < 0 || d.month > 11 || d.year < 1583 || d.year > 9999 {
		return time.Time{}, false
	}
	t := time.Date(d.year, time.Month(d.month+1), d.day, d.hour, d.minute, d.second, 0, time.UTC)
	return t.Add(time.Duration(d.offset) * time.Second), true
}
