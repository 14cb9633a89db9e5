// Package date822 reads the dates of articles and mail, also of those that follow no standard.
package date822

import (
	"strconv"
	"strings"
	"time"
)

// usualDate is the form of most dates, which package time reads faster. An mbox has one date for each
// article.
const usualDate = "Mon, 2 Jan 2006 15:04:05 -0700"

// Parse returns the time of a Date field, or the zero time if it cannot be read. It reads the
// forms of RFC 5322 §3.3 and §4.3 and others that old articles have, such as "Thu Dec  1 12:00:00
// 1994", "Thursday, 01-Dec-94 12:00:00 GMT" and "1994-12-01T12:00:00Z". A time without a zone, or in
// one of unknown name, is in UTC. Package net/mail takes more time, fails for more of them, and reads
// most names of zones as UTC, also EST and PST.
func Parse(value string) time.Time {
	if t, err := time.Parse(usualDate, value); err == nil {
		return t
	}
	var d date
	separates := func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\n' || r == ',' }
	for field := range strings.FieldsFuncSeq(withoutComments(value), separates) {
		if !d.field(field) {
			return time.Time{}
		}
	}
	midnight := time.Date(d.year, d.month, d.day, 0, 0, 0, 0, time.UTC)
	if d.month == 0 || d.day == 0 || !d.dated || !d.timed || midnight.Day() != d.day {
		return time.Time{}
	}
	zone := time.UTC
	if d.east != 0 {
		zone = time.FixedZone("", d.east)
	}
	return midnight.Add(d.clock - time.Duration(d.east)*time.Second).In(zone)
}

// withoutComments returns text without comments (RFC 5322 §3.2.2), which may nest.
func withoutComments(text string) string {
	if strings.IndexByte(text, '(') < 0 {
		return text
	}
	var out []byte
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(':
			depth++
			out = append(out, ' ')
		case depth > 0 && c == ')':
			depth--
		case depth > 0 && c == '\\':
			i++
		case depth == 0:
			out = append(out, c)
		}
	}
	return string(out)
}

// A date is what is known of a time.
type date struct {
	year  int
	month time.Month
	day   int
	clock time.Duration // since midnight
	east  int           // seconds east of UTC

	dated, timed, zoned, summer bool // the year, the clock, the zone and its hour in summer are known
}

// field adds a field between white space. It returns false if it does not know what that is.
func (d *date) field(text string) bool {
	isDigit := '0' <= text[0] && text[0] <= '9'
	day, clock, isISO := strings.Cut(text, "T")
	switch {
	case isDigit && isISO && len(day) == len("1994-12-01") && clock != "":
		return d.field(day) && d.field(clock)
	case isDigit && strings.Contains(text, ":"):
		return d.setClock(text)
	case isDigit:
		for part := range strings.SplitSeq(text, "-") {
			if !d.number(part) && !d.name(part) {
				return false
			}
		}
		return true
	case d.timed && !d.name(text):
		return d.setZone(text)
	}
	return d.timed || d.name(text)
}

// setClock reads "12:00", "12:00:00" or "12:00:00.5", with or without a zone after it.
func (d *date) setClock(text string) bool {
	zone := ""
	if i := strings.IndexFunc(text, func(r rune) bool { return r != ':' && r != '.' && (r < '0' || '9' < r) }); i >= 0 {
		text, zone = text[:i], text[i:]
	}
	text, _, _ = strings.Cut(text, ".")
	limits := [...]time.Duration{23, 59, 60}
	units := [...]time.Duration{time.Hour, time.Minute, time.Second}
	parts := strings.Split(text, ":")
	if d.timed || len(parts) > len(limits) {
		return false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil || len(part) > 2 || time.Duration(n) > limits[i] {
			return false
		}
		d.clock += time.Duration(n) * units[i]
	}
	d.timed = true
	return zone == "" || d.setZone(zone)
}

// number reads a year, a day, or a month after the year.
func (d *date) number(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	number := int(n)
	switch {
	case err != nil:
		return false
	case len(text) <= 2 && d.day == 0 && (d.month != 0 || !d.dated):
		d.day = number
		return 0 < number && number <= 31
	case len(text) <= 2 && d.month == 0 && d.dated:
		d.month = time.Month(number)
		return 0 < number && number <= 12
	case d.dated || number > 9999:
		return false
	case len(text) <= 2 && number < 50: // RFC 5322 §4.3, also for the next case
		number += 2000
	case len(text) <= 3:
		number += 1900
	}
	d.year, d.dated = number, true
	return true
}

// name reads the name of a month or of a day of the week, of three letters or more.
func (d *date) name(text string) bool {
	text = strings.TrimSuffix(text, ".")
	begins := func(name string) bool {
		return 3 <= len(text) && len(text) <= len(name) && strings.EqualFold(name[:len(text)], text)
	}
	for month := time.January; month <= time.December; month++ {
		if begins(month.String()) {
			known := d.month != 0
			d.month = month
			return !known
		}
	}
	for day := time.Sunday; day <= time.Saturday; day++ {
		if begins(day.String()) {
			return true
		}
	}
	return false
}

// zones are the names of zones, in hours east of UTC: those of RFC 5322 §4.3, and those of places from
// where many articles came.
var zones = map[string]int{
	"edt": -4, "est": -5, "cdt": -5, "cst": -6, "mdt": -6, "mst": -7, "pdt": -7, "pst": -8,
	"bst": 1, "west": 1, "cet": 1, "met": 1, "mez": 1, "cest": 2, "mest": 2, "mesz": 2,
	"eet": 2, "eest": 3, "msk": 3, "msd": 4, "jst": 9, "kst": 9, "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13,
}

// setZone reads a zone: "+0100", "+01:00", a name, or "GMT+0100". Only the first one counts, as many
// articles have the name of their zone after the number.
func (d *date) setZone(text string) bool {
	text = strings.ToLower(text)
	if d.zoned {
		if text == "dst" && !d.summer { // as in "MET DST"
			d.east, d.summer = d.east+3600, true
		}
		return true
	}
	d.zoned = true
	i := strings.IndexAny(text, "+-")
	if i < 0 {
		d.east = zones[text] * 3600
		return text != "am" && text != "pm"
	}
	digits := strings.Replace(text[i+1:], ":", "", 1)
	if len(digits) <= 2 {
		digits += "00"
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || len(digits) > 4 || n/100 > 24 || n%100 > 59 {
		return false
	}
	d.east = int(n/100*3600 + n%100*60)
	if text[i] == '-' {
		d.east = -d.east
	}
	return true
}
