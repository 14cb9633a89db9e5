package main

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

// An account is what happened in one transfer, as -w and the progress meter
// tell it.
type account struct {
	moved     atomic.Int64 // octets of the body so far, in either direction
	uploading bool

	mu         sync.Mutex
	start      time.Time
	lookedUp   time.Time // the zero Time where it did not come to that
	connected  time.Time
	secured    time.Time
	asked      time.Time
	firstOctet time.Time
	end        time.Time
	connects   int
	dialling   bool
	local      netip.AddrPort
	remote     netip.AddrPort
	sent       int64 // octets of the conversation
	heard      int64
	answered   bool   // something came since octets were sent last
	reply      int    // the last FTP reply code
	greeting   []byte // the first octets that the server said

	certificates []*x509.Certificate // the server's, its own first
}

// watch is ctx with the account's hooks in it.
func (a *account) watch(ctx context.Context, timing bool) context.Context {
	if timing {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
			DNSDone: func(httptrace.DNSDoneInfo) { a.note(func() { mark(&a.lookedUp) }) },
			TLSHandshakeDone: func(s tls.ConnectionState, _ error) {
				a.note(func() { mark(&a.secured); a.certificates = s.PeerCertificates })
			},
		})
	}
	return fetch.WithTrace(ctx, &fetch.Trace{
		DialStart: func(string, string) { a.note(func() { a.dialling = true }) },
		Connected: func(c fetch.Connection) { a.note(func() { a.dialling = false; a.connection(c) }) },
		Reused:    func(c fetch.Connection) { a.note(func() { a.peer(c) }) },
		Sent: func(octets []byte) {
			a.note(func() { mark(&a.asked); a.sent += int64(len(octets)); a.answered = false })
		},
		Received: func(octets []byte) {
			a.note(func() { a.heard += int64(len(octets)); a.answered = true; a.code(octets); a.greeted(octets) })
		},
		Body: func(n int64) {
			if a.uploading || a.moved.Add(n) == n { // the source counts itself
				a.note(func() { mark(&a.firstOctet) })
			}
		},
	})
}

// stuck reports whether it has come to one connection, but not to the next.
func (a *account) stuck() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.dialling && !a.connected.IsZero()
}

// mute reports whether there is a connection over which nothing has come.
func (a *account) mute() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.dialling && !a.connected.IsZero() && a.heard == 0
}

// said is the beginning of what the server said.
func (a *account) said() []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.greeting
}

// octets is how many have been sent and received, of the conversation too.
func (a *account) octets() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.moved.Load() + a.sent + a.heard
}

func (a *account) note(f func()) {
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
func (a *account) connection(c fetch.Connection) {
	if c.Remote.IsValid() {
		a.connects++
	}
	a.peer(c)
}

func (a *account) peer(c fetch.Connection) {
	mark(&a.connected)
	if c.Purpose == fetch.PurposeData {
		return
	}
	a.greeting = nil // what came before is the proxy's
	if c.Remote.IsValid() {
		a.local, a.remote = c.Local, c.Remote
	}
}

// greeted keeps the beginning of what the server says.
func (a *account) greeted(octets []byte) {
	a.greeting = append(a.greeting, octets[:min(len(octets), maxGreeting-len(a.greeting))]...)
}

// maxGreeting is how many octets tell one protocol from another.
const maxGreeting = 64

// code notes the code of an FTP reply: three digits and a space.
func (a *account) code(line []byte) {
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
	a.reply = code
}

// since is how many seconds after the start something happened, 0 if it did not.
func (a *account) since(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return t.Sub(a.start).Seconds()
}
