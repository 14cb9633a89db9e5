package report

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/fetch"
)

// TestSilence tests what a user is told of a server that does not answer, and when.
func TestSilence(t *testing.T) {
	server := fetch.Connection{Host: "h.example", Remote: netip.MustParseAddrPort("192.0.2.1:80")}
	const dialed = "no connection to h.example:80 after 5 seconds; gives up after 30 seconds (--connect-timeout SECONDS changes that)"
	const connected = "connected, but h.example port 80 has sent nothing for 5 seconds; gives up after 120 seconds (--idle-timeout SECONDS changes that)"
	for _, tc := range []struct {
		name   string
		limits plan.Limits
		dial   time.Duration
		idle   time.Duration
		play   func(w *fetch.Trace)
		want   string
	}{
		{"a silent server", plan.Limits{}, 0, 2 * time.Minute, func(w *fetch.Trace) { w.Connected(server); time.Sleep(time.Minute) }, "5s " + connected},
		{"no connection", plan.Limits{}, 0, 2 * time.Minute, func(w *fetch.Trace) { w.DialStart("tcp", "h.example:80"); time.Sleep(30 * time.Second) }, "5s " + dialed},
		{"neither in time", plan.Limits{}, 0, 2 * time.Minute, func(w *fetch.Trace) {
			w.DialStart("tcp", "h.example:80")
			time.Sleep(7 * time.Second)
			w.Connected(server)
			time.Sleep(time.Minute)
		}, "5s " + dialed + " 12s " + connected},
		{"a prompt greeting, a late answer", plan.Limits{}, 0, 2 * time.Minute, func(w *fetch.Trace) {
			w.Connected(server)
			time.Sleep(4 * time.Second)
			w.Received(nil)
			time.Sleep(time.Minute) // the user types a password
			w.Sent(nil)
			time.Sleep(3 * time.Second)
			w.Sent(nil) // does not begin the wait again
			time.Sleep(3 * time.Second)
			w.Received(nil)
			w.Sent(nil) // told already
			time.Sleep(time.Minute)
		}, "1m9s " + connected},
		{"a session that is reused", plan.Limits{}, 0, 2 * time.Minute, func(w *fetch.Trace) {
			w.Reused(server)
			time.Sleep(time.Minute)
			w.Sent(nil)
			time.Sleep(time.Minute)
		}, "1m5s " + connected},
		{"answers in time", plan.Limits{}, 0, 2 * time.Minute, func(w *fetch.Trace) {
			w.DialStart("tcp", "h.example:80")
			w.Connected(server)
			for range 20 {
				w.Sent(nil)
				time.Sleep(4 * time.Second)
				w.Received(nil)
			}
			w.Sent(nil)
			w.Body(1)
			time.Sleep(time.Minute)
		}, ""},
		{"-m", plan.Limits{Time: 8500 * time.Millisecond, SpeedTime: 9}, 0, 2 * time.Minute, func(w *fetch.Trace) { w.Connected(server); time.Sleep(8 * time.Second) },
			"5s connected, but h.example port 80 has sent nothing for 5 seconds; gives up after 8.5 seconds (-m)"},
		{"-Y", plan.Limits{Speed: 1}, 0, 2 * time.Minute, func(w *fetch.Trace) { w.Connected(server); time.Sleep(8 * time.Second) },
			"5s connected, but h.example port 80 has sent nothing for 5 seconds; gives up after 30 seconds (-y)"},
		{"--connect-timeout", plan.Limits{Time: time.Hour}, 45 * time.Second, 2 * time.Minute, func(w *fetch.Trace) { w.DialStart("tcp", "h:1"); time.Sleep(8 * time.Second) },
			"5s no connection to h:1 after 5 seconds; gives up after 45 seconds (--connect-timeout SECONDS changes that)"},
		{"--connect-timeout, no greeting", plan.Limits{Time: time.Hour}, 45 * time.Second, 2 * time.Minute, func(w *fetch.Trace) { w.Connected(server); time.Sleep(8 * time.Second) },
			"5s connected, but h.example port 80 has sent nothing for 5 seconds; gives up after 45 seconds (--connect-timeout)"},
		{"--connect-timeout, no answer", plan.Limits{}, 45 * time.Second, 2 * time.Minute, func(w *fetch.Trace) {
			w.Connected(server)
			w.Sent(nil)
			time.Sleep(8 * time.Second)
		}, "5s " + connected},
		{"--idle-timeout 0", plan.Limits{}, 0, -1, func(w *fetch.Trace) { w.Connected(server); time.Sleep(8 * time.Second) },
			"5s connected, but h.example port 80 has sent nothing for 5 seconds; waits without a limit"},
		{"--idle-timeout 0, -m", plan.Limits{Time: time.Hour}, 0, -1, func(w *fetch.Trace) { w.Connected(server); time.Sleep(8 * time.Second) },
			"5s connected, but h.example port 80 has sent nothing for 5 seconds; gives up after 3600 seconds (-m)"},
		{"--connect-timeout above the limit of a reply", plan.Limits{}, time.Hour, 2 * time.Minute, func(w *fetch.Trace) { w.Connected(server); time.Sleep(8 * time.Second) }, "5s " + connected},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var said []string
				s := &silence{ctx: t.Context(), limits: tc.limits, dial: tc.dial, idle: tc.idle, told: make(map[bool]bool), say: func(text string) {
					said = append(said, time.Since(start).String(), text)
				}}
				tc.play(s.trace())
				s.stop()
				s.trace().Sent(nil)
				time.Sleep(time.Minute)
				if got := strings.Join(said, " "); got != tc.want {
					t.Errorf("said %q, want %q", got, tc.want)
				}
			})
		})
	}
}

// TestSilenceEnds tests that nothing is told after the context has ended, as by Control-C in browse.
func TestSilenceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := &silence{ctx: ctx, told: make(map[bool]bool), say: func(text string) { t.Error(text) }}
		s.trace().Connected(fetch.Connection{Host: "h.example"})
		time.Sleep(4 * time.Second)
		cancel()
		time.Sleep(time.Minute)
	})
}
