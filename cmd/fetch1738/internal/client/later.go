package client

import (
	"bytes"
	"sync"

	"github.com/fetch1738/fetch1738/fetch"
)

// later keeps the events of a request that is made before the turn of its transfer. The zero value
// is ready to use.
type later struct {
	mu   sync.Mutex
	kept []func(*fetch.Trace)
	to   *fetch.Trace // nil before the turn
}

// tell calls the hooks of t for the events so far, and, as they happen, for further ones. Those of t
// must be callable, as those of [driver.ContextTrace] are.
func (l *later) tell(t *fetch.Trace) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, event := range l.kept {
		event(t)
	}
	l.kept, l.to = nil, t
}

// trace returns hooks that keep events, those of frames only if frames is set.
func (l *later) trace(frames bool) *fetch.Trace {
	t := &fetch.Trace{
		DialStart: func(network, address string) { l.note(func(t *fetch.Trace) { t.DialStart(network, address) }) },
		Connected: func(c fetch.Connection) { l.note(func(t *fetch.Trace) { t.Connected(c) }) },
		Reused:    func(c fetch.Connection) { l.note(func(t *fetch.Trace) { t.Reused(c) }) },
		Sent:      func(octets []byte) { l.noteOctets(octets, func(t *fetch.Trace, o []byte) { t.Sent(o) }) },
		Received:  func(octets []byte) { l.noteOctets(octets, func(t *fetch.Trace, o []byte) { t.Received(o) }) },
		Body:      func(n int64) { l.note(func(t *fetch.Trace) { t.Body(n) }) },
		Retry:     func(r fetch.Retry) { l.note(func(t *fetch.Trace) { t.Retry(r) }) },
		Note:      func(text string) { l.note(func(t *fetch.Trace) { t.Note(text) }) },
	}
	if frames {
		t.Frame = func(sent bool, text string) { l.note(func(t *fetch.Trace) { t.Frame(sent, text) }) }
	}
	return t
}

// note keeps an event, or tells it.
func (l *later) note(event func(*fetch.Trace)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.to != nil {
		event(l.to)
		return
	}
	l.kept = append(l.kept, event)
}

// noteOctets is note for an event with bytes that its hook must not keep.
func (l *later) noteOctets(octets []byte, event func(*fetch.Trace, []byte)) {
	octets = bytes.Clone(octets)
	l.note(func(t *fetch.Trace) { event(t, octets) })
}
