package progress

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
)

func TestAmount(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 KiB", 1024: "1.0 KiB", 10 << 10: "10.0 KiB", 102300: "99.9 KiB", 102400: "100 KiB", 1023 << 10: "1.0 MiB",
		1 << 20: "1.0 MiB", 1 << 30: "1.0 GiB", 5 << 40: "5.0 TiB", 1<<63 - 1: "8.0 EiB",
	} {
		if got := Amount(n); got != want {
			t.Errorf("%d octets are %q, want %q", n, got, want)
		}
	}
}

func TestRemaining(t *testing.T) {
	for _, tc := range []struct {
		left int64
		rate float64
		want string
	}{
		{0, 0, "00:00"}, {-1, 1, "00:00"}, {10, 0, "--:--"}, {10, 1, "00:10"}, {3599, 1, "59:59"}, {3600, 1, "1:00:00"}, {1 << 62, 1, "--:--"},
	} {
		r := Rate{perSecond: tc.rate}
		if got := r.Remaining(tc.left); got != tc.want {
			t.Errorf("%d octets at %v a second take %q, want %q", tc.left, tc.rate, got, tc.want)
		}
	}
}

// FuzzMeterLine has lines that must fit the window, whatever the name and the
// numbers.
func FuzzMeterLine(f *testing.F) {
	f.Add("file", uint8(80), int64(1), int64(2), false)
	f.Add("漢字漢字漢字漢字.tar", uint8(40), int64(1<<40), int64(1<<41), false)
	f.Add("a\x1b[2J\n\tb", uint8(200), int64(5), int64(0), true)
	f.Add("", uint8(1), int64(0), int64(1), true)
	f.Fuzz(func(t *testing.T, name string, columns uint8, got, total int64, plain bool) {
		if columns == 0 || got < 0 || total < 0 {
			return
		}
		start := time.Now()
		m := &Meter{display: &Display{plain: plain}, name: name, start: start, moved: func() int64 { return got }}
		m.total.Store(total)
		m.rate.Sample(start.Add(time.Second), got)
		m.rate.Sample(start.Add(2*time.Second), got)
		line := m.line(int(columns))
		if term.Width(line) > int(columns) || strings.ContainsAny(line, "\r\n\t\x1b\a") {
			t.Errorf("%q in %d columns", line, columns)
		}
	})
}

// TestLines has as many lines as there is room for, and the one for all last.
func TestLines(t *testing.T) {
	now := time.Now()
	d := &Display{start: now.Add(-time.Hour), octets: 3 << 20, sum: func(all Totals) string {
		return fmt.Sprintf("%d at %d", all.Active, all.Octets>>20)
	}}
	for i := range 5 {
		start := now.Add(-time.Minute)
		if i == 0 {
			start = now.Add(1 - patience) // too short to be shown
		}
		d.add(&Meter{display: d, name: string(rune('a' + i)), number: -i, start: start, moved: func() int64 { return 1 << 20 }})
	}
	for rows, want := range map[int]string{0: "", 1: "t", 2: "et", 5: "edcbt", 6: "edcbt", 50: "edcbt"} {
		var got string
		for _, line := range d.lines(now, 60, rows) {
			got += map[bool]string{true: "t", false: line[:1]}[strings.HasPrefix(line, "5 at 8")]
		}
		if got != want {
			t.Errorf("in %d rows: %q, want %q", rows, got, want)
		}
	}
}

// TestBlockedTerminal continues without a terminal that blocks.
func TestBlockedTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		d := &Display{out: w}
		d.put("picture")
		if !d.broken {
			t.Error("the terminal is still drawn on")
		}
		r.Close()
		d.put("never") // would wait for ever
	})
}

// TestBar is as wide as it should be, and as full.
func TestBar(t *testing.T) {
	for _, tc := range []struct {
		part       float64
		bar, plain string
	}{
		{0, "[--------]", "          "},
		{0.06, "[--------]", "#         "},
		{0.5, "[===>----]", "#####     "},
		{0.95, "[========]", "##########"},
		{1, "[========]", "##########"},
	} {
		for plain, want := range map[bool]string{false: tc.bar, true: tc.plain} {
			m := &Meter{display: &Display{plain: plain}}
			if got := m.bar(10, tc.part); got != want {
				t.Errorf("%v, plain %v: %q, want %q", tc.part, plain, got, want)
			}
		}
	}
}
