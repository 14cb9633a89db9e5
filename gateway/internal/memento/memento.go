// Package memento has the times of the captures of one URL: as a calendar, and as the links of
// RFC 7089 (Memento).
package memento

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"
)

const stampLayout = "20060102150405"

// Stamp is a time in the form that web archives use: 14 digits in UTC.
func Stamp(t time.Time) string { return t.UTC().Format(stampLayout) }

// ParseTime reads a stamp or the beginning of one, such as "1994" or "19941201", or a date such as
// "1994-12-01" or "1994-12-01T12:00:00Z". It stands for the end of its year, month, day or second.
func ParseTime(text string) (time.Time, bool) {
	if len(text) > len("1994-12-01T12:00:00Z") {
		return time.Time{}, false
	}
	digits := strings.NewReplacer("-", "", "T", "", " ", "", ":", "", "Z", "").Replace(text)
	if len(digits) < 4 || len(digits) > len(stampLayout) || len(digits)%2 != 0 {
		return time.Time{}, false
	}
	begin, err := time.Parse(stampLayout[:len(digits)], digits)
	if err != nil {
		return time.Time{}, false
	}
	end := begin
	switch len(digits) {
	case 4:
		end = begin.AddDate(1, 0, 0)
	case 6:
		end = begin.AddDate(0, 1, 0)
	case 8:
		end = begin.AddDate(0, 0, 1)
	case 10:
		end = begin.Add(time.Hour)
	case 12:
		end = begin.Add(time.Minute)
	default:
		end = begin.Add(time.Second)
	}
	return end.Add(-time.Nanosecond), true
}

// A Timeline is the times of captures, sorted, to the second: those of one second are one.
type Timeline []time.Time

// maxCaptures limits the times that a Timeline has: the last ones.
const maxCaptures = 100_000

// Collect returns the times of an iterator, which are sorted.
func Collect(times iter.Seq2[time.Time, error]) (Timeline, error) {
	var all Timeline
	for t, err := range times {
		if err != nil {
			return nil, err
		}
		t = t.UTC().Truncate(time.Second)
		if n := len(all); n > 0 && all[n-1].Equal(t) {
			continue
		}
		if all = append(all, t); len(all) > 2*maxCaptures {
			all = slices.Delete(all, 0, maxCaptures)
		}
	}
	return all[max(0, len(all)-maxCaptures):], nil
}

// At returns the index of the capture that an archive shows for a time: the last one that is not
// later, or the first one if all are later. The zero Time means the last one. It is -1 if there is no
// capture.
func (t Timeline) At(at time.Time) int {
	if at.IsZero() || len(t) == 0 {
		return len(t) - 1
	}
	i, found := slices.BinarySearchFunc(t, at, time.Time.Compare)
	if !found {
		i--
	}
	return max(i, 0)
}

// A Year has the captures of a year.
type Year struct {
	Number int
	Count  int
	Months []Month
}

// A Month has the captures of a month.
type Month struct {
	Number time.Month
	Days   []Day
}

// A Day has the captures of a day.
type Day struct {
	Number int
	Times  []time.Time
}

// Years returns the captures by year, month and day.
func (t Timeline) Years() []Year {
	var years []Year
	for _, at := range t {
		y, m, d := at.Date()
		if n := len(years); n == 0 || years[n-1].Number != y {
			years = append(years, Year{Number: y})
		}
		year := &years[len(years)-1]
		year.Count++
		if n := len(year.Months); n == 0 || year.Months[n-1].Number != m {
			year.Months = append(year.Months, Month{Number: m})
		}
		month := &year.Months[len(year.Months)-1]
		if n := len(month.Days); n == 0 || month.Days[n-1].Number != d {
			month.Days = append(month.Days, Day{Number: d})
		}
		day := &month.Days[len(month.Days)-1]
		day.Times = append(day.Times, at)
	}
	return years
}

// A Map has the captures of a URL with the addresses of RFC 7089.
type Map struct {
	Times Timeline
	// Original is the URL; TimeGate and TimeMap are the addresses of its pages.
	Original, TimeGate, TimeMap string
	// Memento returns the address of a capture.
	Memento func(time.Time) string
}

// none is the index of no capture.
const none = -2

// Header is the value of the field Link of the capture of an index.
func (m Map) Header(i int) string {
	links := []string{m.link(m.Original, "original"), m.link(m.TimeGate, "timegate")}
	if len(m.Times) == 0 {
		return strings.Join(links, ", ")
	}
	links = append(links, m.timeMap("timemap"))
	last := len(m.Times) - 1
	var shown []int
	for _, at := range []int{0, i - 1, i, i + 1, last} {
		if at >= 0 && at <= last && !slices.Contains(shown, at) {
			shown = append(shown, at)
			links = append(links, m.memento(at, i))
		}
	}
	return strings.Join(links, ", ")
}

// TimeGateHeader is the value of the field Link of a redirect by the TimeGate.
func (m Map) TimeGateHeader() string { return m.Header(none) }

// WriteTo writes the TimeMap in application/link-format.
func (m Map) WriteTo(w io.Writer) (int64, error) {
	written := int64(0)
	write := func(link, end string) error {
		n, err := io.WriteString(w, link+end)
		written += int64(n)
		return err
	}
	err := cmp.Or(write(m.link(m.Original, "original"), ",\n"), write(m.link(m.TimeGate, "timegate"), ",\n"), write(m.timeMap("self"), ",\n"))
	for i := range m.Times {
		if err != nil {
			break
		}
		end := ",\n"
		if i == len(m.Times)-1 {
			end = "\n"
		}
		err = write(m.memento(i, none), end)
	}
	return written, err
}

func (m Map) link(to, rel string) string { return "<" + escaped(to) + `>; rel="` + rel + `"` }

// timeMap is the link to the TimeMap.
func (m Map) timeMap(rel string) string {
	return m.link(m.TimeMap, rel) + fmt.Sprintf(`; type="application/link-format"; from="%s"; until="%s"`, date(m.Times[0]), date(m.Times[len(m.Times)-1]))
}

// memento is the link to a capture, as seen from another one.
func (m Map) memento(at, from int) string {
	var rel []string
	for _, is := range []struct {
		is  bool
		rel string
	}{{at == 0, "first"}, {at == len(m.Times)-1, "last"}, {at == from-1, "prev"}, {at == from+1, "next"}} {
		if is.is {
			rel = append(rel, is.rel)
		}
	}
	return m.link(m.Memento(m.Times[at]), strings.Join(append(rel, "memento"), " ")) + `; datetime="` + date(m.Times[at]) + `"`
}

func date(t time.Time) string { return t.UTC().Format(http.TimeFormat) }

// escaped is a URL without the characters that would end it in a link.
func escaped(url string) string {
	var b strings.Builder
	for i := range len(url) {
		if c := url[i]; c <= ' ' || c >= 0x7F || strings.IndexByte(`<>"\`, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
