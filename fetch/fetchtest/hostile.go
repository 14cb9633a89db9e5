package fetchtest

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/check"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/unreliable"
	"github.com/fetch1738/fetch1738/locator"
)

// testHostile tests peers that violate the protocol. These tests have no server; the peer sends the
// same to every connection.
func testHostile(t *testing.T, s *subject) {
	if s.Local {
		return
	}
	subtestAlone(t, s, "no connection", unreliable.NoAnswer, func(fx *fixture) {
		fx.env.Limits = fetch.Limits{Connect: timeLimit}
		testSilence(fx)
	})
	subtestAlone(t, s, "silence", unreliable.Peer(unreliable.SayNothing), func(fx *fixture) {
		fx.env.Limits = fetch.Limits{Reply: timeLimit}
		if s.secure {
			fx.env.Limits.Connect = timeLimit // also limits the TLS handshake
		}
		testSilence(fx)
	})
	subtestAlone(t, s, "reset", unreliable.Peer(unreliable.SayNothing), func(fx *fixture) {
		fx.net.Arm(unreliable.Every, unreliable.Failure{Do: unreliable.Reset})
		for name, op := range fx.operations() {
			check.Kind(fx, name, op(fx.ctx(), fx.site.any()), fetch.ErrConnectionFailed, fetch.ErrTruncated)
		}
	})
	noise := make([]byte, 4096)
	rand.NewChaCha8([32]byte{}).Read(noise)
	for name, text := range map[string]string{
		"close": "", "garbage": string(noise), "empty line": "\r\n", "null": "\x00",
		"escapes": "\x1b]0;x\x07\x9b31m\r\n", "numbers": "99999999999999999999 -1 -1\r\n",
		"control octets": "220 \x00\x1b[2J\r\r\n", "8-bit": strings.Repeat("\xff", 100) + "\r\n",
	} {
		subtestAlone(t, s, name, unreliable.Peer(unreliable.Say(text)), testNonsense)
	}
	for name, text := range map[string]string{
		"endless line": "x", "endless lines": "220-x\r\n", "endless line ends": "\r\n", "endless line feeds": "\n",
		"endless zeros": "\x00", "endless digits": "1", "endless spaces": " ", "endless fields": "X: y\r\n",
	} {
		var said atomic.Int64
		subtestAlone(t, s, name, unreliable.Peer(unreliable.SayForever(text, &said)), func(fx *fixture) { testEndless(fx, &said) })
	}
}

// testSilence tests that every operation fails exactly when the limit is reached.
func testSilence(fx *fixture) {
	for name, op := range fx.operations() {
		a := op(fx.ctx(), fx.site.any())
		check.Kind(fx, name, a, fetch.ErrTimeout)
		if a.Took != timeLimit {
			fx.Errorf("%s failed after %v; the limit in Env.Limits is %v", name, a.Took, timeLimit)
		}
	}
}

// testNonsense tests that every operation fails. The exception is a protocol whose documents end
// with the connection: there any bytes are a document.
func testNonsense(fx *fixture) {
	for name, op := range fx.operations() {
		a := op(fx.ctx(), fx.site.any())
		if a.Err != nil || a.Resource == nil || !fx.subject.EndsWithClose {
			check.Kind(fx, name, a, fetch.ErrProtocol, fetch.ErrConnectionFailed, fetch.ErrTruncated)
		}
	}
}

// testEndless tests that a peer cannot make an operation read, and keep, an unlimited number of
// bytes. A body without end may be legitimate; then the caller can close it.
func testEndless(fx *fixture, said *atomic.Int64) {
	fx.env.Limits = fetch.Limits{Line: 4 << 10, Header: 32 << 10, Reply: time.Minute, Idle: time.Minute}
	operations := fx.operations()
	operations["Fetch"] = func(ctx context.Context, l locator.Locator) (a check.Answer) {
		a.Resource, a.Err, a.Hooks = fx.fetch(ctx, &fetch.Request{Locator: l})
		if a.Resource != nil {
			a.Resource.Close()
		}
		return a
	}
	for name, op := range operations {
		said.Store(0)
		a := op(fx.ctx(), fx.site.any())
		if n := said.Load(); n > 1<<20 {
			fx.Errorf("%s has read %d bytes without an error; Env.Limits allows 4 KiB for a line and 32 KiB for all lines", name, n)
		}
		if a.Err != nil || a.Resource == nil || !fx.subject.EndsWithClose {
			// An upload may fail because its connection broke.
			check.Kind(fx, name, a, fetch.ErrProtocol, fetch.ErrTooLarge, fetch.ErrConnectionFailed)
		}
	}
}
