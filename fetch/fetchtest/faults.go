package fetchtest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// truncation: connections fail after every single octet of a small fetch. Part
// of a document must never pass for the whole, and the Fetcher must be as good
// as new after it.
func (k *kit) truncation(t *testing.T) {
	if k.Local {
		return
	}
	damages := []damage{cut, reset}
	if k.memory {
		damages = append(damages, stall, garble)
	}
	for _, name := range []string{small, directory} {
		for _, do := range damages {
			if k.site.Locate(name) != nil {
				k.test(t, fmt.Sprint(name, " ", do), func(r *rig) { r.sweep(name, do) })
			}
		}
	}
}

// sweep does the damage after each octet of each connection that a clean fetch
// makes.
func (r *rig) sweep(name string, do damage) {
	if do == stall || do == garble {
		r.env.Limits = fetch.Limits{Reply: moment, Idle: moment, Connect: moment}
	}
	l := r.site.Locate(name)
	clean := r.get(r.ctx(), l)
	if clean.err != nil {
		r.Fatal(clean.err)
	}
	wires := r.net.since(0)
	if len(wires) == 0 {
		r.Fatal("nothing was dialled by Env.Dial")
	}
	r.close()
	var all []string
	if clean.res.Items != nil && do != garble {
		all, _ = r.list(r.ctx(), l)
		r.close()
	}
	for k, w := range wires {
		length, _ := w.lengths()
		if w.datagrams && (do == cut || do == reset) {
			continue // they know no end
		}
		for after := range length {
			what := fmt.Sprintf("%s after %d of %d octets on connection %d of %d", do, after, length, k+1, len(wires))
			// A listing has no length. When it comes on a connection of its own,
			// and the other tells of success, its end is where it ends.
			blind := do == cut && (r.kit.EndsWithClose || name == directory && k > 0)
			ctx, cancel := context.WithCancel(r.ctx())
			r.net.spoil(k, fault{do, after, cancel})
			r.checkDamage(what, do, blind, r.get(ctx, l), clean)
			r.net.mend()
			cancel()
			if do != garble { // which may go unnoticed
				r.checkOctets("a clean fetch after a "+what, r.get(r.ctx(), l), clean.octets)
			}
			r.close()
			if all != nil && !blind {
				ctx, cancel := context.WithCancel(r.ctx())
				r.net.spoil(k, fault{do, after, cancel})
				r.checkList(ctx, what, l, all)
				r.net.mend()
				cancel()
				r.close()
			}
			if r.Failed() {
				return
			}
		}
	}
}

// list fetches a directory and ranges over its entries.
func (r *rig) list(ctx context.Context, l locator.Locator) (names []string, fail *fetch.Error) {
	r.Helper()
	res, fail, _ := r.fetch(ctx, &fetch.Request{Locator: l})
	if fail != nil {
		return nil, fail
	}
	defer res.Close()
	items, fail := r.items(res)
	for _, item := range items {
		if item.Locator != nil {
			names = append(names, item.Name)
		}
	}
	return names, fail
}

// checkList wants the entries of a damaged listing to be true ones, and an
// error after them if some are missing.
func (r *rig) checkList(ctx context.Context, what string, l locator.Locator, all []string) {
	r.Helper()
	names, fail := r.list(ctx, l)
	if len(names) > len(all) || !slices.Equal(names, all[:len(names)]) {
		r.Errorf("%s: the entries are %q, want of %q", what, names, all)
	} else if fail == nil && len(names) < len(all) {
		r.Errorf("%s: the entries are %q, without an error", what, names)
	}
}

// checkDamage judges a fetch whose connection was damaged. With blind a part of
// the octets may pass for the whole.
func (r *rig) checkDamage(what string, do damage, blind bool, a, clean answer) {
	r.Helper()
	part := bytes.HasPrefix(clean.octets, a.octets)
	if n := len(a.octets); blind && n > 0 { // half a line end may become a whole one
		part = bytes.HasPrefix(clean.octets, a.octets[:n-1])
	}
	whole := len(a.octets) == len(clean.octets)
	switch {
	case do == garble:
		if a.took > 4*moment {
			r.Errorf("%s: it took %v", what, a.took)
		}
	case !part:
		r.Errorf("%s: %s", what, difference(a.octets, clean.octets))
	case a.err == nil && !whole && !blind:
		r.Errorf("%s: %d of %d octets came without an error", what, len(a.octets), len(clean.octets))
	case a.err == nil:
	case do == cancel:
		r.checkKind(what, a, fetch.Canceled)
		if r.virtual && a.took > 0 {
			r.Errorf("%s: it took %v to fail", what, a.took)
		}
	case do == stall:
		r.checkKind(what, a, fetch.Timeout)
		if a.took != moment {
			r.Errorf("%s: it failed after %v, the limit is %v: %v", what, a.took, moment, a.err)
		}
	case do == cut && a.res != nil && !whole:
		r.checkKind(what, a, fetch.Truncated)
	default:
		r.checkKind(what, a, fetch.Truncated, fetch.ConnectionFailed, fetch.Protocol)
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

// hostile: peers that do not keep to the protocol. There is no server in these
// tests, only peers that say one thing to whoever connects.
func (k *kit) hostile(t *testing.T) {
	if k.Local {
		return
	}
	l := k.site.any()
	k.testAlone(t, "no connection", deaf, func(r *rig) {
		r.env.Limits = fetch.Limits{Connect: moment}
		r.checkTimeout()
	})
	k.testAlone(t, "silence", peer(mute), func(r *rig) {
		r.env.Limits = fetch.Limits{Reply: moment}
		r.checkTimeout()
	})
	k.testAlone(t, "reset", peer(mute), func(r *rig) {
		r.net.spoil(every, fault{do: reset})
		r.checkKind("a reset", r.get(r.ctx(), l), fetch.ConnectionFailed, fetch.Truncated)
	})
	noise := make([]byte, 4096)
	rand.NewChaCha8([32]byte{}).Read(noise)
	for name, text := range map[string]string{
		"close": "", "garbage": string(noise), "empty line": "\r\n", "null": "\x00",
		"escapes": "\x1b]0;x\x07\x9b31m\r\n", "numbers": "99999999999999999999 -1 -1\r\n",
		"control octets": "220 \x00\x1b[2J\r\r\n", "8-bit": strings.Repeat("\xff", 100) + "\r\n",
	} {
		k.testAlone(t, name, peer(say(text)), func(r *rig) {
			if a := r.get(r.ctx(), l); a.err != nil || !k.EndsWithClose {
				r.checkKind(name, a, fetch.Protocol, fetch.ConnectionFailed, fetch.Truncated)
			}
		})
	}
	for name, text := range map[string]string{
		"endless line": "x", "endless lines": "220-x\r\n", "endless line ends": "\r\n", "endless line feeds": "\n",
		"endless zeros": "\x00", "endless digits": "1", "endless spaces": " ", "endless fields": "X: y\r\n",
	} {
		var said atomic.Int64
		k.testAlone(t, name, peer(sayOn(text, &said)), func(r *rig) { r.endless(l, &said) })
	}
}

// checkTimeout wants every operation to fail at the very moment that is the
// limit.
func (r *rig) checkTimeout() {
	r.Helper()
	for name, op := range r.operations() {
		a := op(r.ctx(), r.site.any())
		r.checkKind(name+" of silence", a, fetch.Timeout)
		if a.took != moment {
			r.Errorf("%s failed after %v, the limit is %v", name, a.took, moment)
		}
	}
}

// endless wants that a peer cannot make Fetch read, and keep, ever more. As a
// body what it says may be honest; then the caller can end it.
func (r *rig) endless(l locator.Locator, said *atomic.Int64) {
	r.env.Limits = fetch.Limits{Line: 4 << 10, Header: 32 << 10, Reply: time.Minute, Idle: time.Minute}
	res, fail, _ := r.fetch(r.Context(), &fetch.Request{Locator: l})
	if n := said.Load(); n > 1<<20 {
		r.Errorf("Fetch has read %d octets; the limit is 4 KiB a line, 32 KiB in all", n)
	}
	if fail != nil {
		r.checkKind("an endless answer", answer{err: fail}, fetch.Protocol, fetch.TooLarge)
		return
	}
	res.Close()
	if !r.kit.EndsWithClose {
		r.Errorf("what never ends was accepted as a %v", res.Kind)
	}
}

// refusedDial is a dial that fails at once.
func refusedDial(context.Context, string, string) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}
