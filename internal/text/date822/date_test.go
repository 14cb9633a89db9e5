package date822

import (
	"strings"
	"testing"
	"time"
)

// TestParse has dates in the forms of articles, and what they mean.
func TestParse(t *testing.T) {
	for value, want := range map[string]string{
		"Thu, 01 Dec 1994 12:00:00 +0000":             "1994-12-01T12:00:00Z",
		"Thu, 1 Dec 1994 12:00:00 -0530":              "1994-12-01T12:00:00-05:30",
		"1 Dec 1994 12:00 GMT":                        "1994-12-01T12:00:00Z",
		"Thu, 1 Dec 94 12:00:00 UT":                   "1994-12-01T12:00:00Z",
		"Sat, 1 Jan 00 12:00:00 UTC":                  "2000-01-01T12:00:00Z",
		"Sat, 1 Jan 49 12:00:00 Z":                    "2049-01-01T12:00:00Z",
		"Sat, 1 Jan 50 12:00:00 GMT":                  "1950-01-01T12:00:00Z",
		"Sat, 1 Jan 100 12:00:00 GMT":                 "2000-01-01T12:00:00Z",
		"Thu, 1 Dec 1994 12:00:00 -0000":              "1994-12-01T12:00:00Z",
		"Thu, 1 Dec 1994 12:00:00 EST":                "1994-12-01T12:00:00-05:00",
		"Thu, 1 Dec 1994 12:00:00 pdt":                "1994-12-01T12:00:00-07:00",
		"Thu, 1 Dec 1994 12:00:00 MET":                "1994-12-01T12:00:00+01:00",
		"Thu, 1 Dec 1994 12:00:00 MESZ":               "1994-12-01T12:00:00+02:00",
		"Thu, 1 Dec 1994 12:00:00 JST":                "1994-12-01T12:00:00+09:00",
		"Thu, 1 Dec 1994 12:00:00 MET DST":            "1994-12-01T12:00:00+02:00",
		"Thu, 1 Dec 1994 12:00:00 A":                  "1994-12-01T12:00:00Z",
		"Thu, 1 Dec 1994 12:00:00 XYZ":                "1994-12-01T12:00:00Z",
		"Thu, 1 Dec 1994 12:00:00 +0100 (MET)":        "1994-12-01T12:00:00+01:00",
		"Thu, 1 Dec 1994 12:00:00 +0100 CET":          "1994-12-01T12:00:00+01:00",
		"Thu, 1 Dec 1994 12:00:00 GMT (a (b\\) c) d)": "1994-12-01T12:00:00Z",
		"(x) Thu, (y) 1 Dec(z)1994 12:00:00 GMT":      "1994-12-01T12:00:00Z",
		"Thu, 1 Dec 1994 12:00:00 GMT (open":          "1994-12-01T12:00:00Z",
		"Thu, 1 Dec 1994 12:00:00":                    "1994-12-01T12:00:00Z",
		"Thu, 1 Dec 1994 12:00:00 +01:00":             "1994-12-01T12:00:00+01:00",
		"Thu, 1 Dec 1994 12:00:00 GMT+0100":           "1994-12-01T12:00:00+01:00",
		"Thu, 1 Dec 1994 12:00:00 GMT-5":              "1994-12-01T12:00:00-05:00",
		"Thu, 1 Dec 1994 12:00:00+0100":               "1994-12-01T12:00:00+01:00",
		"Thu,  1 Dec 1994  2:00:00 GMT":               "1994-12-01T02:00:00Z",
		"Thu,1 Dec 1994 12:00:00 GMT":                 "1994-12-01T12:00:00Z",
		"Thu 1 Dec 1994 12:00:00 GMT":                 "1994-12-01T12:00:00Z",
		"Fri, 1 Dec 1994 12:00:00 GMT":                "1994-12-01T12:00:00Z",
		"THU, 1 DEC 1994 12:00:00 gmt":                "1994-12-01T12:00:00Z",
		"Thurs, 1 Sept. 1994 12:00:00 GMT":            "1994-09-01T12:00:00Z",
		"Thu, 1 Dec\r\n\t1994 12:00:00 GMT":           "1994-12-01T12:00:00Z",
		"\tThu, 1 Dec 1994 12:00:00 GMT ":             "1994-12-01T12:00:00Z",
		"Thu, 1 Dec 1994 23:59:60 GMT":                "1994-12-02T00:00:00Z",
		"Thu Dec  1 12:00:00 1994":                    "1994-12-01T12:00:00Z",
		"Thu Dec  1 12:00:00 PST 1994":                "1994-12-01T12:00:00-08:00",
		"Thursday, 01-Dec-94 12:00:00 GMT":            "1994-12-01T12:00:00Z",
		"Thu, 01-Dec-1994 12:00:00 EST":               "1994-12-01T12:00:00-05:00",
		"1-Dec-94 12:00:00":                           "1994-12-01T12:00:00Z",
		"December 1, 1994 12:00 GMT":                  "1994-12-01T12:00:00Z",
		"1994-12-01T12:00:00Z":                        "1994-12-01T12:00:00Z",
		"1994-12-01T12:00:00.25+01:00":                "1994-12-01T12:00:00+01:00",
		"1994-12-01 12:00:00 +0100":                   "1994-12-01T12:00:00+01:00",
		"Thu, 29 Feb 1996 12:00:00 GMT":               "1996-02-29T12:00:00Z",

		"":                                        "",
		"no date":                                 "",
		"Thu, 1 Dec 1994":                         "",
		"12:00:00 GMT":                            "",
		"1 Dec 12:00:00 GMT":                      "",
		"Wed, 29 Feb 1995 12:00:00 GMT":           "",
		"Thu, 0 Dec 1994 12:00:00 GMT":            "",
		"Thu, 32 Dec 1994 12:00:00 GMT":           "",
		"Thu, 1 Dez 1994 12:00:00 GMT":            "",
		"Thu, 1 Dec Jan 1994 12:00:00 GMT":        "",
		"Thu, 1 Dec 1994 1995 12:00:00 GMT":       "",
		"Thu, 1 Dec 1994 24:00:00 GMT":            "",
		"Thu, 1 Dec 1994 12:60:00 GMT":            "",
		"Thu, 1 Dec 1994 12:00:61 GMT":            "",
		"Thu, 1 Dec 1994 12:00:00:00 GMT":         "",
		"Thu, 1 Dec 1994 12:00:00 13:00:00":       "",
		"Thu, 1 Dec 1994 12:00:00 +2500":          "",
		"Thu, 1 Dec 1994 12:00:00 +01000":         "",
		"Thu, 1 Dec 1994 12:00 PM":                "",
		"Thu, 1 Dec 99999 12:00:00 GMT":           "",
		"01-12-94 12:00:00":                       "",
		"1994-12-01T":                             "",
		"1994-13-01 12:00:00":                     "",
		"Thu, 1 Dec 1994 -0100":                   "",
		strings.Repeat("(", 1<<20):                "",
		"1 Dec 1994 12:" + strings.Repeat("0", 9): "",
	} {
		got := ""
		if date := Parse(value); !date.IsZero() {
			got = date.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%.80q: %q, want %q", value, got, want)
		}
	}
}

// FuzzParse checks that a date that is read is the same when it is written and read again.
func FuzzParse(f *testing.F) {
	for _, value := range []string{"Thu, 1 Dec 94 12:00 EST", "Thu Dec  1 12:00:00 1994", "1994-12-01T12:00:00+01:00", "1-Dec-1994 12:00:00.5 GMT+5 (x (y)"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		date := Parse(value)
		if date.IsZero() {
			return
		}
		if again := Parse(date.Format(time.RFC1123Z)); date.Year() > 0 && date.Year() < 10000 && !again.Equal(date) {
			t.Errorf("%q: %v, and then %v", value, date, again)
		}
	})
}
