package report

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/client"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/transfer"
	"github.com/fetch1738/fetch1738/fetch"
)

// silenceTime is how long a server may be silent until a user at a terminal is told what the program
// waits for.
const silenceTime = 5 * time.Second

// A silence tells the user of a server that does not answer: the server of another protocol may wait
// for the client to begin, for as long as the client waits. It is told once for connecting and once
// for an answer. Its methods may be called concurrently.
type silence struct {
	limits plan.Limits
	dial   time.Duration     // limit of the time to connect; 0 means the default
	idle   time.Duration     // limit of the wait for an answer; negative means none
	ctx    context.Context   // of what waits
	say    func(text string) // is not called after stop, or after the end of ctx

	mu      sync.Mutex
	timer   *time.Timer // nil unless something is awaited
	waits   int         // that have ended
	asked   bool        // something has been sent; before that, a greeting is awaited, or TLS
	dialing bool
	told    map[bool]bool // by dialing
	server  string
	stopped bool
}

// silence returns the silence of a transfer until stop or the end of ctx, or nil if there is nobody to
// tell. In a telnet session the user sees what the server sends, and there is no time limit.
func (r *Reporter) silence(ctx context.Context, t *transfer.Result) *silence {
	if t.Op.Silent || !term.IsTerminal(r.Err) || t.Locator.Scheme() == "telnet" {
		return nil
	}
	return &silence{ctx: ctx, limits: t.Op.Limits, dial: t.Op.Connect.Timeout, idle: client.IdleTime(&t.Op.Connect), told: make(map[bool]bool), say: func(text string) {
		if _, told := r.silent.LoadOrStore(text, true); !told { // by another transfer of -Z
			fmt.Fprintf(r.Err, "fetch1738: %s\n", stdio.Line(text))
		}
	}}
}

// trace returns the hooks that notice what is awaited.
func (s *silence) trace() *fetch.Trace {
	if s == nil {
		return nil
	}
	return &fetch.Trace{
		DialStart: func(_, address string) { s.await(true, address) },
		Connected: func(c fetch.Connection) {
			s.heard()
			s.await(false, peerOf(c))
		},
		Reused: func(c fetch.Connection) { s.at(peerOf(c)) },
		Sent: func([]byte) {
			s.ask()
			s.await(false, "")
		},
		Received: func([]byte) { s.heard() },
		Body:     func(int64) { s.heard() },
		Retry:    func(fetch.Retry) { s.heard() },
	}
}

// peerOf returns the name of a server. A connection through a proxy has no address.
func peerOf(c fetch.Connection) string {
	if !c.Remote.IsValid() {
		return c.Host
	}
	return fmt.Sprintf("%s port %d", c.Host, c.Remote.Port())
}

// at sets the name of the server; "" means the same as before.
func (s *silence) at(server string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server = cmp.Or(server, s.server)
}

// await begins to wait, unless something is awaited already.
func (s *silence) await(dialing bool, server string) {
	s.at(server)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil || s.stopped || s.told[dialing] {
		return
	}
	s.dialing = dialing
	this := s.waits
	s.timer = time.AfterFunc(silenceTime, func() { s.tell(this) })
}

// ask notes that something has been sent.
func (s *silence) ask() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = true
}

// heard ends the wait.
func (s *silence) heard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
		s.waits++
	}
}

// stop ends the last wait.
func (s *silence) stop() {
	if s == nil {
		return
	}
	s.heard()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
}

// tell tells the user about a wait, unless it has ended meanwhile.
func (s *silence) tell(wait int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wait != s.waits || s.stopped || s.ctx.Err() != nil {
		return
	}
	s.told[s.dialing] = true
	if s.dialing {
		s.say(fmt.Sprintf("no connection to %s after %v seconds; %s", s.server, silenceTime.Seconds(), s.limit(cmp.Or(s.dial, fetch.Limits{}.WithDefaults().Connect), "--connect-timeout SECONDS changes that")))
		return
	}
	limit, option := s.idle, "--idle-timeout SECONDS changes that"
	if limit < 0 {
		limit = math.MaxInt64
	}
	if !s.asked && s.dial > 0 && s.dial < limit {
		limit, option = s.dial, "--connect-timeout"
	}
	s.say(fmt.Sprintf("connected, but %s has sent nothing for %v seconds; %s", s.server, silenceTime.Seconds(), s.limit(limit, option)))
}

// limit says when a wait ends, and the option that changes it: that of the wait, -y or -m, whichever
// comes first. The limit math.MaxInt64 means none.
func (s *silence) limit(wait time.Duration, option string) string {
	if l := s.limits; l.Speed > 0 || l.SpeedTime > 0 {
		if slow := time.Duration(cmp.Or(l.SpeedTime, 30)) * time.Second; !s.dialing && slow < wait {
			wait, option = slow, "-y"
		}
	}
	if all := s.limits.Time; all > 0 && all < wait {
		wait, option = all, "-m"
	}
	if wait == math.MaxInt64 {
		return "waits without a limit"
	}
	return "gives up after " + strconv.FormatFloat(wait.Seconds(), 'f', -1, 64) + " seconds (" + option + ")"
}
