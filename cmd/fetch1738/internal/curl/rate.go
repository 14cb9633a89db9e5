package curl

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// setRate is --rate: the interval between the starts of transfers.
func setRate(c *CommandLine, value string) error {
	interval, err := parseRate(value)
	c.Global.Interval = interval
	return err
}

// parseRate parses "N", "N/UNIT" or "N/COUNTUNIT", such as 2/s, 3/5m and 10, which means 10/h. It
// returns the interval between the starts of two transfers.
func parseRate(value string) (time.Duration, error) {
	text, unit, given := strings.Cut(value, "/")
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0, ErrNotNumeric
	}
	if !given {
		unit = "h"
	}
	units := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
	digits := len(unit) - len(strings.TrimLeft(unit, "0123456789"))
	count := int64(1)
	if digits > 0 {
		count, err = strconv.ParseInt(unit[:digits], 10, 32)
	}
	length, known := units[unit[digits:]]
	switch {
	case n == 0 || count == 0 || !known:
		return 0, errors.New("expected transfers per time, such as 2/s, 3/5m or 10/h")
	case err != nil || count > math.MaxInt64/int64(length):
		return 0, errors.New("number too large")
	}
	return length * time.Duration(count) / time.Duration(n), nil
}
