package main

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestSetRate(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"2/s": time.Second / 2, "1/m": time.Minute, "3/5m": 100 * time.Second, "10": 6 * time.Minute, "4/d": 6 * time.Hour,
		"": 0, "x": 0, "0/s": 0, "-1/s": 0, "1/": 0, "1/w": 0, "1/0s": 0, "1/99999999999s": 0, "1/2147483647d": 0,
	} {
		c := newCommandLine(streams{strings.NewReader(""), io.Discard, io.Discard})
		err := setRate(c, value)
		if got := c.global.rate.every; got != want || (err == nil) != (want != 0) {
			t.Errorf("--rate %q: %v, %v, want %v", value, got, err, want)
		}
	}
}

// Transfers start as far apart as --rate says, however long they take, and none
// waits for one that took longer than that.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startRate{every: 10 * time.Second}
		start := time.Now()
		for i, c := range []struct{ startsAt, lasts time.Duration }{{0, 1}, {10, 25}, {35, 3}, {45, 0}, {55, 0}} {
			r.wait(t.Context())
			if got := time.Since(start); got != c.startsAt*time.Second {
				t.Errorf("transfer %d starts after %v, want %d s", i, got, c.startsAt)
			}
			time.Sleep(c.lasts * time.Second)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		before := time.Now()
		if r.wait(ctx); time.Since(before) != 0 {
			t.Error("waits in spite of its context's end")
		}
	})
}
