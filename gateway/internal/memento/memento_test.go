package memento

import (
	"errors"
	"iter"
	"strings"
	"testing"
	"time"
)

func at(text string) time.Time {
	t, err := time.Parse(time.DateTime, text)
	if err != nil {
		panic(err)
	}
	return t
}

// TestParseTime tests that a part of a date stands for its end.
func TestParseTime(t *testing.T) {
	for text, want := range map[string]string{
		"1994": "1994-12-31 23:59:59", "199402": "1994-02-28 23:59:59", "19941201": "1994-12-01 23:59:59", "1994120112": "1994-12-01 12:59:59",
		"199412011230": "1994-12-01 12:30:59", "19941201123015": "1994-12-01 12:30:15", "1994-12-01": "1994-12-01 23:59:59", "1994-12": "1994-12-31 23:59:59",
		"1994-12-01T12:30": "1994-12-01 12:30:59", "1994-12-01T12:30:15Z": "1994-12-01 12:30:15", "1994-12-01 12:30:15": "1994-12-01 12:30:15",
		"99991231235959": "9999-12-31 23:59:59", "0001": "0001-12-31 23:59:59",
	} {
		got, ok := ParseTime(text)
		if !ok || got.Format(time.DateTime) != want || !got.Add(time.Nanosecond).Equal(got.Truncate(time.Second).Add(time.Second)) {
			t.Errorf("%s: %v, %t, want the end of %s", text, got, ok, want)
		}
		if again, ok := ParseTime(Stamp(got)); !ok || !again.Equal(got) {
			t.Errorf("the stamp %s of %s is %v", Stamp(got), text, again)
		}
	}
	for _, text := range []string{"", "94", "199", "19941", "19941301", "19940230", "19941201250000", "199412011230150", "+994", "1994x", "abcd", "-", strings.Repeat("1", 1000), strings.Repeat("-", 1000) + "1994", "１９９４"} {
		if got, ok := ParseTime(text); ok {
			t.Errorf("%.40q: %v", text, got)
		}
	}
}

func seq(times ...time.Time) iter.Seq2[time.Time, error] {
	return func(yield func(time.Time, error) bool) {
		for _, t := range times {
			if !yield(t, nil) {
				return
			}
		}
	}
}

// TestCollect tests that the captures of one second are one, that an error is returned, and that the
// last captures are kept of those that are too many.
func TestCollect(t *testing.T) {
	first := at("1994-12-01 10:00:00")
	got, err := Collect(seq(first, first.Add(500*time.Millisecond), first.Add(time.Second)))
	if err != nil || len(got) != 2 || !got[0].Equal(first) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Collect(func(yield func(time.Time, error) bool) { yield(time.Time{}, errors.New("broken")) }); err == nil {
		t.Error("no error")
	}
	const n = 2*maxCaptures + 5
	got, err = Collect(func(yield func(time.Time, error) bool) {
		for i := range n {
			if !yield(first.Add(time.Duration(i)*time.Second), nil) {
				return
			}
		}
	})
	if err != nil || len(got) != maxCaptures || !got[maxCaptures-1].Equal(first.Add((n-1)*time.Second)) {
		t.Errorf("%d captures, %v", len(got), err)
	}
}

// TestAt tests which capture is that of a time.
func TestAt(t *testing.T) {
	line := Timeline{at("1994-01-01 00:00:00"), at("1995-01-01 00:00:00"), at("1996-01-01 00:00:00")}
	for text, want := range map[string]int{"1993-01-01 00:00:00": 0, "1994-01-01 00:00:00": 0, "1994-12-31 23:59:59": 0, "1995-01-01 00:00:00": 1, "2000-01-01 00:00:00": 2} {
		if got := line.At(at(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	if got := line.At(time.Time{}); got != 2 {
		t.Errorf("the last one is %d", got)
	}
	for _, when := range []time.Time{{}, line[0]} {
		if got := Timeline(nil).At(when); got != -1 {
			t.Errorf("of none: %d", got)
		}
	}
}

// TestYears tests the calendar.
func TestYears(t *testing.T) {
	years := Timeline{at("1994-12-01 08:00:00"), at("1994-12-01 09:00:00"), at("1994-12-31 09:00:00"), at("1995-12-31 09:00:00")}.Years()
	if len(years) != 2 || years[0].Count != 3 || len(years[0].Months) != 1 || len(years[0].Months[0].Days) != 2 || len(years[0].Months[0].Days[0].Times) != 2 || years[1].Number != 1995 || years[1].Months[0].Number != time.December {
		t.Errorf("%+v", years)
	}
}

// TestMap tests the links of RFC 7089, and that a URL cannot add one.
func TestMap(t *testing.T) {
	m := Map{
		Times:    Timeline{at("1994-12-01 08:00:00"), at("1995-12-01 08:00:00"), at("1996-12-01 08:00:00")},
		Original: "gopher://h/0<a>\", \\\r\n\u00e9", TimeGate: "http://g/x", TimeMap: "http://g/x?timemap",
		Memento: func(t time.Time) string { return "http://g/at/" + Stamp(t) + "/x" },
	}
	const (
		begin = `<gopher://h/0%3Ca%3E%22,%20%5C%0D%0A%C3%A9>; rel="original", <http://g/x>; rel="timegate", <http://g/x?timemap>; rel="timemap"; type="application/link-format"; from="Thu, 01 Dec 1994 08:00:00 GMT"; until="Sun, 01 Dec 1996 08:00:00 GMT", `
		d94   = `; datetime="Thu, 01 Dec 1994 08:00:00 GMT"`
		d95   = `; datetime="Fri, 01 Dec 1995 08:00:00 GMT"`
		d96   = `; datetime="Sun, 01 Dec 1996 08:00:00 GMT"`
	)
	for i, want := range []string{
		`<http://g/at/19941201080000/x>; rel="first memento"` + d94 + `, <http://g/at/19951201080000/x>; rel="next memento"` + d95 + `, <http://g/at/19961201080000/x>; rel="last memento"` + d96,
		`<http://g/at/19941201080000/x>; rel="first prev memento"` + d94 + `, <http://g/at/19951201080000/x>; rel="memento"` + d95 + `, <http://g/at/19961201080000/x>; rel="last next memento"` + d96,
		`<http://g/at/19941201080000/x>; rel="first memento"` + d94 + `, <http://g/at/19951201080000/x>; rel="prev memento"` + d95 + `, <http://g/at/19961201080000/x>; rel="last memento"` + d96,
	} {
		if got := m.Header(i); got != begin+want {
			t.Errorf("%d: %s\nwant %s", i, got, begin+want)
		}
	}
	if got, want := m.TimeGateHeader(), begin+`<http://g/at/19941201080000/x>; rel="first memento"`+d94+`, <http://g/at/19961201080000/x>; rel="last memento"`+d96; got != want {
		t.Errorf("the TimeGate: %s\nwant %s", got, want)
	}
	m.Original = "gopher://h/"
	var b strings.Builder
	const list = `<gopher://h/>; rel="original",
<http://g/x>; rel="timegate",
<http://g/x?timemap>; rel="self"; type="application/link-format"; from="Thu, 01 Dec 1994 08:00:00 GMT"; until="Sun, 01 Dec 1996 08:00:00 GMT",
<http://g/at/19941201080000/x>; rel="first memento"` + d94 + `,
<http://g/at/19951201080000/x>; rel="memento"` + d95 + `,
<http://g/at/19961201080000/x>; rel="last memento"` + d96 + "\n"
	if n, err := m.WriteTo(&b); err != nil || n != int64(len(list)) || b.String() != list {
		t.Errorf("%d, %v: %s", n, err, &b)
	}
	if got := (Map{Original: "x:y", TimeGate: "x:y"}).Header(-1); got != `<x:y>; rel="original", <x:y>; rel="timegate"` {
		t.Errorf("without captures: %s", got)
	}
}
