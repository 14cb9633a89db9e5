// Package record keeps what happens in one transfer: when, how many octets, and
// what the server said.
package record

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http/httptrace"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// An Account is what happened in one transfer. It may be read while it goes on.
type Account struct {
	Moved     atomic.Int64 // octets of the body so far, in either direction
	Uploading bool         // Moved is counted by who reads the source

	mu       sync.Mutex
	facts    Facts
	dialling bool
	greeting []byte // the first octets that the server said
}

// Facts are an Account at one moment. A time is zero if it did not come to that.
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
	Sent, Heard   int64 // octets of the conversation
	Answered      bool  // something came since octets were sent last
	Reply         int   // the last FTP reply code

	Certificates []*x509.Certificate // the server's, its own first
}

// Begin notes the start.
func (a *Account) Begin() { a.note(func() { a.facts.Start = time.Now() }) }

// Finish notes the end.
func (a *Account) Finish() { a.note(func() { a.facts.End = time.Now() }) }

// Replied makes code the last FTP reply, for what several sessions have come to.
func (a *Account) Replied(code int) { a.note(func() { a.facts.Reply = code }) }

// Facts is what there is to know now.
func (a *Account) Facts() Facts {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.facts
}

// Watch is ctx with the Account's hooks in it.
func (a *Account) Watch(ctx context.Context, timing bool) context.Context {
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
		Reused:    func(c fetch.Connection) { a.note(func() { a.peer(c) }) },
		Sent: func(octets []byte) {
			a.note(func() { mark(&a.facts.Asked); a.facts.Sent += int64(len(octets)); a.facts.Answered = false })
		},
		Received: func(octets []byte) {
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

// Stuck reports whether it has come to one connection, but not to the next.
func (a *Account) Stuck() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.dialling && !a.facts.Connected.IsZero()
}

// Mute reports whether there is a connection over which nothing has come.
func (a *Account) Mute() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.dialling && !a.facts.Connected.IsZero() && a.facts.Heard == 0
}

// Said is the beginning of what the server said.
func (a *Account) Said() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.greeting
}

// Octets is how many have been sent and received, of the conversation too.
func (a *Account) Octets() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.Moved.Load() + a.facts.Sent + a.facts.Heard
}

func (a *Account) note(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}

// mark notes when something happened first.
func mark(t *time.Time) {
	if t.IsZero() {
		*t = time.Now()
	}
}

// connection notes a new one. One through a proxy is that to the proxy, which
// has been told of already and has an address.
func (a *Account) connection(c fetch.Connection) {
	if c.Remote.IsValid() {
		a.facts.Connects++
	}
	a.peer(c)
}

func (a *Account) peer(c fetch.Connection) {
	mark(&a.facts.Connected)
	if c.Purpose == fetch.PurposeData {
		return
	}
	a.greeting = nil // what came before is the proxy's
	if c.Remote.IsValid() {
		a.facts.Local, a.facts.Remote = c.Local, c.Remote
	}
}

// greeted keeps the beginning of what the server says.
func (a *Account) greeted(octets []byte) {
	a.greeting = append(a.greeting, octets[:min(len(octets), maxGreeting-len(a.greeting))]...)
}

// maxGreeting is how many octets tell one protocol from another.
const maxGreeting = 64

// code notes the code of an FTP reply: three digits and a space.
func (a *Account) code(line []byte) {
	if len(line) < 4 || line[3] != ' ' {
		return
	}
	code := 0
	for _, c := range line[:3] {
		if c < '0' || c > '9' {
			return
		}
		code = 10*code + int(c-'0')
	}
	a.facts.Reply = code
}

// Since is how many seconds after the start something happened, 0 if it did not.
func (f *Facts) Since(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return t.Sub(f.Start).Seconds()
}
