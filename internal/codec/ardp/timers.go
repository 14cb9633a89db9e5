package ardp

import "time"

// The client's timers. A request is repeated after 4 s, and then after 8 s and 16 s more. After
// another 32 s the client gives up. Once the answer has begun, the client repeats its
// acknowledgement instead, which requests the rest: after 1 s, and then after 2 s, 4 s, 8 s and 16
// s more. Servers react to an acknowledgement at most once a second.
const (
	firstRetry = 4 * time.Second
	maxRetries = 3
	firstAck   = time.Second
	maxAcks    = 5
	giveUp     = 60 * time.Second
)

// Limits for the waits that servers ask for.
const (
	maxWait    = 120 * time.Second // the longest wait granted to a server at a time
	maxWaiting = 15 * time.Minute  // the longest total of waits between two packets of the answer
)

// timers say when a client repeats what it has sent, and when it gives up. The limit that their
// methods get is that of the server's silence, and begun whether the answer has begun.
type timers struct {
	interval time.Duration // between the next repetition and the one after it
	tries    int           // number of repetitions left
	next     time.Time     // time of the next repetition
	end      time.Time     // when to give up
	latest   time.Time     // the upper limit of end, even if the server asks for longer waits
	waiting  bool          // the server has asked for a wait
}

// startTimers returns the timers for the next packet of the answer.
func startTimers(limit time.Duration, begun bool) timers {
	t := timers{latest: time.Now().Add(maxWaiting + limit)}
	t.restart(0, limit, begun)
	return t
}

// restart restarts the timers. silence is the wait that the server has asked for, or 0.
func (t *timers) restart(silence, limit time.Duration, begun bool) {
	now := time.Now()
	t.interval, t.tries, t.waiting = firstRetry, maxRetries, silence > 0
	if begun {
		t.interval, t.tries = firstAck, maxAcks
	}
	t.next = now.Add(max(silence, t.interval))
	if t.end = now.Add(silence + limit); t.end.After(t.latest) {
		t.end = t.latest
	}
}

// extend extends the timers by the wait that the server asks for, within limits. 0 ends a wait.
func (t *timers) extend(asked, limit time.Duration, begun bool) {
	if asked > 0 || t.waiting {
		t.restart(min(asked, maxWait), limit, begun)
	}
}

// over reports whether to give up.
func (t *timers) over(now time.Time) bool { return !now.Before(t.end) }

// due reports whether to repeat now. The next repetition is then due after twice the time.
func (t *timers) due(now time.Time) bool {
	if now.Before(t.next) || t.tries == 0 {
		return false
	}
	t.tries--
	t.interval *= 2
	t.next = now.Add(t.interval)
	return true
}

// until returns when something is to be done, if nothing arrives.
func (t *timers) until() time.Time {
	if t.tries > 0 && t.next.Before(t.end) {
		return t.next
	}
	return t.end
}
