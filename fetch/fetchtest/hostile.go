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

// hostile: peers that do not keep to the protocol. There is no server in these
// tests, only peers that say one thing to whoever connects.
func (k *kit) hostile(t *testing.T) {
	if k.Local {
		return
	}
	k.testAlone(t, "no connection", deaf, func(r *rig) {
		r.env.Limits = fetch.Limits{Connect: moment}
		r.silence()
	})
	k.testAlone(t, "silence", peer(mute), func(r *rig) {
		r.env.Limits = fetch.Limits{Reply: moment}
		if k.secure {
			r.env.Limits.Connect = moment // which has to do until TLS stands
		}
		r.silence()
	})
	k.testAlone(t, "reset", peer(mute), func(r *rig) {
		r.net.spoil(every, fault{do: reset})
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
		k.testAlone(t, name, peer(sayOn(text, &said)), func(r *rig) { r.endless(&said) })
	}
}

// silence wants every operation to fail at the very moment that is the limit.
func (r *rig) silence() {
	for name, op := range r.operations() {
		a := op(r.ctx(), r.site.any())
		r.checkKind(name, a, fetch.ErrTimeout)
		if a.took != moment {
			r.Errorf("%s failed after %v, the limit is %v", name, a.took, moment)
		}
	}
}

// nonsense wants every operation to fail, unless nonsense is what it asked for:
// where a document ends with its connection, anything is one.
func (r *rig) nonsense() {
	for name, op := range r.operations() {
		a := op(r.ctx(), r.site.any())
		if a.err != nil || a.res == nil || !r.kit.EndsWithClose {
			r.checkKind(name, a, fetch.ErrProtocol, fetch.ErrConnectionFailed, fetch.ErrTruncated)
		}
	}
}

// endless wants that a peer cannot make an operation read, and keep, ever more.
// As a body what it says may be honest; then the caller can end it.
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
			r.Errorf("%s has read %d octets; the limit is 4 KiB a line, 32 KiB in all", name, n)
		}
		if a.err != nil || a.res == nil || !r.kit.EndsWithClose {
			// An upload that is cut off may say so.
			r.checkKind(name, a, fetch.ErrProtocol, fetch.ErrTooLarge, fetch.ErrConnectionFailed)
		}
	}
}

// A script is what a hostile peer does to a connection.
type script func(c net.Conn)

// peer is a dial that leads to a script. The octets it gets are lost.
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

// mute says nothing.
func mute(net.Conn) {}

// say says a text and closes.
func say(text string) script {
	return func(c net.Conn) {
		if text != "" { // a pipe would wait for a reader of nothing
			c.Write([]byte(text))
		}
		c.Close()
	}
}

// enough is when a peer that says something for ever gives up.
const enough = 4 << 20

// sayOn says a text for ever, and counts.
func sayOn(text string, said *atomic.Int64) script {
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
