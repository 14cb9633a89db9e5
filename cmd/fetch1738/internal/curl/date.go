package curl

import (
	"net/http"
	"net/mail"
	"strings"
	"time"
)

// dateLayouts are the forms of dates that people write for -z, besides those of HTTP and of mail.
// Without a zone, a date is in UTC, as in curl.
var dateLayouts = []string{
	"20060102", time.DateOnly, time.RFC3339,
	"2 Jan 2006", "2 Jan 2006 15:04", "2 Jan 2006 15:04:05", "Mon 2 Jan 2006 15:04:05",
	"Jan 2 2006 15:04:05", "Jan 2 15:04:05 2006", "Jan 2 15:04:05 2006 MST", "2006 Jan 2 15:04:05 MST",
	time.UnixDate, // of date(1)
}

// parseDate parses a date, and reports whether text is one. The name of a zone is GMT, UTC or one of
// this machine's own zone: the parsers take every other name for UTC.
func parseDate(text string) (time.Time, bool) {
	text = strings.TrimSpace(text)
	for _, parse := range []func(string) (time.Time, error){http.ParseTime, mail.ParseDate, parseLayout} {
		t, err := parse(text)
		if err != nil {
			continue
		}
		zone, _ := t.Zone()
		return t.UTC(), zone == "" || zone == "GMT" || zone == "UTC" || t.Location() == time.Local
	}
	return time.Time{}, false
}

func parseLayout(text string) (t time.Time, err error) {
	for _, layout := range dateLayouts {
		if t, err = time.Parse(layout, text); err == nil {
			break
		}
	}
	return t, err
}
