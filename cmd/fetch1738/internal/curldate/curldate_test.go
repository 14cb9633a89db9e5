package curldate

import (
	"net/http"
	"testing"
	"time"
)

// dates has the results of curl 7.88.1, taken from its If-Modified-Since; "" means that the text is
// not a date.
var dates = map[string]string{
	"Sun, 06 Nov 1994 08:49:37 GMT":  "Sun, 06 Nov 1994 08:49:37 GMT",
	"Sunday, 06-Nov-94 08:49:37 GMT": "Sun, 06 Nov 1994 08:49:37 GMT",
	"Sun Nov  6 08:49:37 1994":       "Sun, 06 Nov 1994 08:49:37 GMT",
	"08:49:37 06-Nov-94 Sunday":      "Sun, 06 Nov 1994 08:49:37 GMT",
	"1994.Nov.6":                     "Sun, 06 Nov 1994 00:00:00 GMT",
	"Sun/Nov/6/94/GMT":               "Sun, 06 Nov 1994 00:00:00 GMT",
	"94 6 Nov":                       "Sun, 06 Nov 1994 00:00:00 GMT",
	"06 Nov 1994 08:49:37 EST":       "Sun, 06 Nov 1994 13:49:37 GMT",
	"06 Nov 1994 08:49:37 CEST":      "Sun, 06 Nov 1994 06:49:37 GMT",
	"12 Nov 2005 09:55:55 -0330":     "Sat, 12 Nov 2005 13:25:55 GMT",
	"20040911 +0200":                 "Fri, 10 Sep 2004 22:00:00 GMT",
	"20040914":                       "Tue, 14 Sep 2004 00:00:00 GMT",
	"10 Nov 2010 10:10 A":            "Wed, 10 Nov 2010 11:10:00 GMT",
	"10 Nov 2010 10:10 N":            "Wed, 10 Nov 2010 09:10:00 GMT",
	"10 Nov 2010 10:10 Y":            "Tue, 09 Nov 2010 22:10:00 GMT",
	"1 Jan 71":                       "Fri, 01 Jan 1971 00:00:00 GMT",
	"1 Jan 20 1:2:3":                 "Wed, 01 Jan 2020 01:02:03 GMT",
	"31 Feb 2020":                    "Mon, 02 Mar 2020 00:00:00 GMT",
	"yesterday":                      "",
	"now":                            "",
	"2020-01-05":                     "",
	"1 January 2020":                 "",
	"Nov 6":                          "",
	"12:00":                          "",
	"1 Jan 1500":                     "",
	"1 Jan 2020 1:60":                "",
	"":                               "",
}

func TestParse(t *testing.T) {
	for text, want := range dates {
		got := ""
		if when, ok := Parse(text); ok {
			got = when.Format(http.TimeFormat)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// FuzzParse checks that a parsed date is in UTC and in whole seconds, and that parsing its HTTP form
// returns the same date.
func FuzzParse(f *testing.F) {
	for text := range dates {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		when, ok := Parse(text)
		if !ok {
			return
		}
		if when.Location() != time.UTC || when.Nanosecond() != 0 {
			t.Fatalf("%q is %v", text, when)
		}
		if year := when.Year(); year < 1583 || year > 9999 {
			return // by its zone only
		}
		again, ok := Parse(when.Format(http.TimeFormat))
		if !ok || !again.Equal(when) {
			t.Errorf("%q is %v, which is parsed as %v, %v", text, when, again, ok)
		}
	})
}
