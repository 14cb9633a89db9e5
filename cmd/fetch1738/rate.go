package main

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A startRate keeps the starts of transfers apart, for --rate. The zero value
// does not.
type startRate struct {
	every time.Duration
	mu    sync.Mutex
	next  time.Time
}

// wait returns when the next transfer may start, or ctx ends.
func (r *startRate) wait(ctx context.Context) {
	if r.every == 0 {
		return
	}
	r.mu.Lock()
	at := time.Now()
	if at.Before(r.next) {
		at = r.next
	}
	r.next = at.Add(r.every)
	r.mu.Unlock()
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// setRate reads "N", "N/UNIT" or "N/COUNT UNIT", such as 2/s, 3/5m and 10, which
// is 10/h.
func setRate(c *commandLine, value string) error {
	text, unit, given := strings.Cut(value, "/")
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return errNotNumeric
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
		return errors.New("expected a number of transfers in a time, such as 2/s, 3/5m or 10/h")
	case err != nil || count > math.MaxInt64/int64(length):
		return errors.New("number too large")
	}
	c.global.rate.every = length * time.Duration(count) / time.Duration(n)
	return nil
}
