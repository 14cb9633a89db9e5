// Package outcome keeps the events of one transfer: times, byte counts, and the replies
// of the server.
package outcome

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http/httptrace"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// An Account has the events of one transfer. It may be read during the transfer.
type Account struct {
	Moved     atomic.Int64 // bytes of the body so far, in either direction
	Uploading bool         // Moved is counted by the reader of the source

	mu       sync.Mutex
	facts    Facts
	dialling bool
	greeting []byte // the first bytes from the server
	reused   bool   // the connection was open before
}

// Facts are a snapshot of an Account. A time is zero if the event has not happened.
type Facts struct {
	Start      time.Time
	LookedUp   time.Time
	Connected  time.Time
	Secured    time.Time
	Asked      time.Time
	FirstOctet time.Time
	End        time.Time

	Connects      int
	Local, Remote netip.AddrPort
	Sent, Heard   int64 // bytes of the conversation
	Answered      bool  // something was received since the last command
	Reply         int   // the last FTP reply code

	Certificates []*x509.Certificate // the server's chain
}

// Begin records the start.
func (a *Account) Begin() { a.note(func() { a.facts.Start = time.Now() }) }

// Finish records the end.
func (a *Account) Finish() { a.note(func() { a.facts.End = time.Now() }) }

// Replied sets the last FTP reply code, for a transfer over several sessions.
func (a *Account) Replied(code int) { a.note(func() { a.facts.Reply = code }) }

// Facts returns a snapshot.
func (a *Account) Facts() Facts {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.facts
}

// Watch returns ctx with the hooks of the Account, and of heads if it is not nil.
func (a *Account) Watch(ctx context.Context, heads *Heads, timing bool) context.Context {
	if timing {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			DNSDone: func(httptrace.DNSDoneInfo) { a.note(func() { mark(&a.facts.LookedUp) }) },
			TLSHandshakeDone: func(s tls.ConnectionState, _ error) {
				a.note(func() { mark(&a.facts.Secured); a.facts.Certificates = s.PeerCertificates })
			},
		})
	}
	return fetch.WithTrace(ctx, &fetch.Trace{
		DialStart: func(string, string) { a.note(func() { a.dialling = true }) },
		Connected: func(c fetch.Connection) { a.note(func() { a.dialling = false; a.connection(c) }) },
		Reused:    func(c fetch.Connection) { a.note(func() { a.peer(c); a.reused = true }) },
		Sent: func(octets []byte) {
			heads.sent(octets)
			a.note(func() { mark(&a.facts.Asked); a.facts.Sent += int64(len(octets)); a.facts.Answered = false })
		},
		Received: func(octets []byte) {
			heads.received(octets)
			a.note(func() {
				a.facts.Heard += int64(len(octets))
				a.facts.Answered = true
				a.code(octets)
				a.greeted(octets)
			})
		},
		Body: func(n int64) {
			if a.Uploading || a.Moved.Add(n) == n { // the source counts itself
				a.note(func() { mark(&a.facts.FirstOctet) })
			}
		},
	})
}

// Stuck reports whether a further connection is being opened after a first one.
func (a *Account) Stuck() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.dialling && !a.facts.Connected.IsZero()
}

// Mute reports whether there is a connection over which nothing was received.
func (a *Account) Mute() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.dialling && !a.facts.Connected.IsZero() && a.facts.Heard == 0
}

// Said returns the first bytes from the server, or nil if the connection was open before.
func (a *Account) Said() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.greeting
}

// Octets returns the number of bytes sent and received, including the conversation.
func (a *Account) Octets() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.Moved.Load() + a.facts.Sent + a.facts.Heard
}

// note calls f with mu held.
func (a *Account) note(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}

// mark sets t to the time of the first event.
func mark(t *time.Time) {
	if t.IsZero() {
		*t = time.Now()
	}
}

// connection records a new connection. One through a proxy has no address and is not
// counted: that to the proxy is.
func (a *Account) connection(c fetch.Connection) {
	if c.Remote.IsValid() {
		a.facts.Connects++
	}
	a.peer(c)
}

// peer records that there is a connection, and its addresses unless it is one for data.
func (a *Account) peer(c fetch.Connection) {
	mark(&a.facts.Connected)
	if c.Purpose == fetch.PurposeData {
		return
	}
	a.greeting, a.reused = nil, false // the proxy's
	if c.Remote.IsValid() {
		a.facts.Local, a.facts.Remote = c.Local, c.Remote
	}
}

// greeted keeps the first bytes from the server.
func (a *Account) greeted(octets []byte) {
	if a.reused {
		return
	}
	a.greeting = append(a.greeting, octets[:min(len(octets), maxGreeting-len(a.greeting))]...)
}

// maxGreeting is how many bytes are needed to recognize a protocol.
const maxGreeting = 64

// code records the code of an FTP reply: three digits and a space.
func (a *Account) code(line []byte) {
	if len(line) < 4 || line[3] != ' ' {
		return
	}
	if code, err := strconv.ParseUint(string(line[:3]), 10, 16); err == nil {
		a.facts.Reply = int(code)
	}
}

// Since returns the seconds from the start to t, or 0 if t is zero.
func (f *Facts) Since(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return t.Sub(f.Start).Seconds()
}
