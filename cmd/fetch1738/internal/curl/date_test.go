package curl

import (
	"net/http"
	"testing"
)

// TestParseDate: the dates of curl's tests and of its page, with what curl makes of them, and the
// forms of HTTP, mail and RFC 3339. "" means that the text is not a date: -z then ignores it with a
// warning, so no date may be taken for another.
func TestParseDate(t *testing.T) {
	for text, want := range map[string]string{
		"dec 12 12:00:00 1999 GMT":       "Sun, 12 Dec 1999 12:00:00 GMT",
		"1 jan 1989":                     "Sun, 01 Jan 1989 00:00:00 GMT",
		"apr 1 2025 08:00:00":            "Tue, 01 Apr 2025 08:00:00 GMT",
		"2004 jan 1 12:12:12 UTC":        "Thu, 01 Jan 2004 12:12:12 GMT",
		"Wed 01 Sep 2021 12:18:00":       "Wed, 01 Sep 2021 12:18:00 GMT",
		"20040914":                       "Tue, 14 Sep 2004 00:00:00 GMT",
		"2004-09-14":                     "Tue, 14 Sep 2004 00:00:00 GMT",
		"2004-09-14T12:00:00+02:00":      "Tue, 14 Sep 2004 10:00:00 GMT",
		"14 Sep 2004 12:00":              "Tue, 14 Sep 2004 12:00:00 GMT",
		"Sun, 06 Nov 1994 08:49:37 GMT":  "Sun, 06 Nov 1994 08:49:37 GMT",
		"Sunday, 06-Nov-94 08:49:37 GMT": "Sun, 06 Nov 1994 08:49:37 GMT",
		"Sun Nov  6 08:49:37 1994":       "Sun, 06 Nov 1994 08:49:37 GMT",
		"Sun Nov  6 08:49:37 UTC 1994":   "Sun, 06 Nov 1994 08:49:37 GMT",
		"Sun Nov  6 08:49:37 QST 1994":   "",
		" 14 Sep 2004 12:00:00 ":         "Tue, 14 Sep 2004 12:00:00 GMT",
		"12 Nov 2005 09:55:55 -0330":     "Sat, 12 Nov 2005 13:25:55 GMT",
		"06 Nov 1994 08:49:37 QST":       "",
		"06 Nov 1994 08:49:37 GMT+3":     "",
		"Sunday, 06-Nov-94 08:49:37 QST": "",
		"dec 12 12:00:00 1999 QST":       "",
		"31 Feb 2020":                    "",
		"yesterday":                      "",
		"12:00":                          "",
		"":                               "",
	} {
		got := ""
		if when, ok := parseDate(text); ok {
			got = when.Format(http.TimeFormat)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
