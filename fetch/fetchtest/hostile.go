package fetchtest

import (
	"context"
	"math/rand/v2"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// hostile tests peers that violate the protocol. These tests have no server; the peer sends the
// same to every connection.
func (k *kit) hostile(t *testing.T) {
	if k.Local {
		return
	}
	k.testAlone(t, "no connection", noAnswer, func(r *rig) {
		r.env.Limits = fetch.Limits{Connect: timeLimit}
		r.silence()
	})
	k.testAlone(t, "silence", peer(sayNothing), func(r *rig) {
		r.env.Limits = fetch.Limits{Reply: timeLimit}
		if k.secure {
			r.env.Limits.Connect = timeLimit // also limits the TLS handshake
		}
		r.silence()
	})
	k.testAlone(t, "reset", peer(sayNothing), func(r *rig) {
		r.net.arm(every, fault{do: reset})
		for name, op := range r.operations() {
			r.checkKind(name, op(r.ctx(), r.site.any()), fetch.ErrConnectionFailed, fetch.ErrTruncated)
		}
	})
	noise := make([]byte, 4096)
	rand.NewChaCha8([32]byte{}).Read(noise)
	for name, text := range map[string]string{
		"close": "", "garbage": string(noise), "empty line": "\r\n", "null": "\x00",
		"escapes": "\x1b]0;x\x07\x9b31m\r\n", "numbers": "99999999999999999999 -1 -1\r\n",
		"control octets": "220 \x00\x1b[2J\r\r\n", "8-bit": strings.Repeat("\xff", 100) + "\r\n",
	} {
		k.testAlone(t, name, peer(say(text)), (*rig).nonsense)
	}
	for name, text := range map[string]string{
		"endless line": "x", "endless lines": "220-x\r\n", "endless line ends": "\r\n", "endless line feeds": "\n",
		"endless zeros": "\x00", "endless digits": "1", "endless spaces": " ", "endless fields": "X: y\r\n",
	} {
		var said atomic.Int64
		k.testAlone(t, name, peer(sayForever(text, &said)), func(r *rig) { r.endless(&said) })
	}
}

// silence tests that every operation fails exactly when the limit is reached.
func (r *rig) silence() {
	for name, op := range r.operations() {
		a := op(r.ctx(), r.site.any())
		r.checkKind(name, a, fetch.ErrTimeout)
		if a.took != timeLimit {
			r.Errorf("%s failed after %v; the limit in Env.Limits is %v", name, a.took, timeLimit)
		}
	}
}

// nonsense tests that every operation fails. The exception is a protocol whose documents end with
// the connection: there any bytes are a document.
func (r *rig) nonsense() {
	for name, op := range r.operations() {
		a := op(r.ctx(), r.site.any())
		if a.err != nil || a.res == nil || !r.kit.EndsWithClose {
			r.checkKind(name, a, fetch.ErrProtocol, fetch.ErrConnectionFailed, fetch.ErrTruncated)
		}
	}
}

// endless tests that a peer cannot make an operation read, and keep, an unlimited number of bytes.
// A body without end may be legitimate; then the caller can close it.
func (r *rig) endless(said *atomic.Int64) {
	r.env.Limits = fetch.Limits{Line: 4 << 10, Header: 32 << 10, Reply: time.Minute, Idle: time.Minute}
	operations := r.operations()
	operations["Fetch"] = func(ctx context.Context, l locator.Locator) (a answer) {
		a.res, a.err, a.trace = r.fetch(ctx, &fetch.Request{Locator: l})
		if a.res != nil {
			a.res.Close()
		}
		return a
	}
	for name, op := range operations {
		said.Store(0)
		a := op(r.ctx(), r.site.any())
		if n := said.Load(); n > 1<<20 {
			r.Errorf("%s has read %d bytes without an error; Env.Limits allows 4 KiB for a line and 32 KiB for all lines", name, n)
		}
		if a.err != nil || a.res == nil || !r.kit.EndsWithClose {
			// An upload may fail because its connection broke.
			r.checkKind(name, a, fetch.ErrProtocol, fetch.ErrTooLarge, fetch.ErrConnectionFailed)
		}
	}
}

// A script is what a hostile peer does with a connection.
type script func(c net.Conn)

// peer returns a dial that connects to a script. What the Fetcher sends is discarded.
func peer(s script) dialFunc {
	return func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() {
			buf := make([]byte, 4096)
			for {
				if _, err := there.Read(buf); err != nil {
					return
				}
			}
		}()
		go s(there)
		return here, nil
	}
}

// sayNothing sends nothing.
func sayNothing(net.Conn) {}

// say sends a text and closes.
func say(text string) script {
	return func(c net.Conn) {
		if text != "" { // a write of nothing to a pipe waits for a reader
			c.Write([]byte(text))
		}
		c.Close()
	}
}

// enough is the number of bytes after which a peer that sends without end stops.
const enough = 4 << 20

// sayForever sends a text again and again, and counts the bytes.
func sayForever(text string, said *atomic.Int64) script {
	chunk := []byte(strings.Repeat(text, 4096/len(text)+1))
	return func(c net.Conn) {
		defer c.Close()
		for said.Load() < enough {
			n, err := c.Write(chunk)
			said.Add(int64(n))
			if err != nil {
				return
			}
		}
	}
}

// refusedDial is a dial that fails at once.
func refusedDial(context.Context, string, string) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}
