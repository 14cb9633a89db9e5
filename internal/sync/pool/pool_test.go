package pool

import (
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

func TestCrowded(t *testing.T) {
	dial := func(cause syscall.Errno) error {
		return &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", cause)}
	}
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("other"), false},
		{&fetch.Error{Kind: fetch.ErrBusy, Code: 421}, true},
		{&fetch.Error{Kind: fetch.ErrBusy, Code: 450, Op: "RETR"}, false},
		{&fetch.Error{Kind: fetch.ErrBusy, Op: "RETR"}, false},
		{&fetch.Error{Kind: fetch.ErrBusy, Op: fetch.OpConnect}, true}, // no greeting beside other sessions
		{&fetch.Error{Kind: fetch.ErrTimeout, Op: fetch.OpConnect}, false},
		{&fetch.Error{Kind: fetch.ErrConnectionFailed, Op: fetch.OpConnect}, true},
		{&fetch.Error{Kind: fetch.ErrConnectionFailed, Op: "RETR"}, false},
		{&fetch.Error{Kind: fetch.ErrUnreachable, Op: fetch.OpConnect, Err: dial(syscall.ECONNRESET)}, true},
		{&fetch.Error{Kind: fetch.ErrUnreachable, Op: fetch.OpConnect, Err: dial(syscall.ECONNREFUSED)}, false},
		{&fetch.Error{Kind: fetch.ErrUnauthenticated, Code: 530, Reply: "Maximum number of clients reached."}, true},
	} {
		if got := New(2, 0).Crowded(tt.err); got != tt.want {
			t.Errorf("%v: %t", tt.err, got)
		}
	}
}

// TestCrowdedLogin tests a login that is refused: it says nothing about the number of connections, unless
// the same one has worked, and there may be fewer.
func TestCrowdedLogin(t *testing.T) {
	refused := &fetch.Error{Kind: fetch.ErrUnauthenticated, Code: 530, Reply: "Login incorrect."}
	for width, want := range map[int]bool{1: false, 2: true} {
		p := New(width, 0)
		if p.Crowded(refused) {
			t.Errorf("%d connections, before a request has succeeded: crowded", width)
		}
		if p.Worked(); p.Crowded(refused) != want {
			t.Errorf("%d connections: %t", width, !want)
		}
	}
}

// TestAgain tests which request is made again at once: one whose session has ended, if another has
// succeeded since the last time.
func TestAgain(t *testing.T) {
	over := &fetch.Error{Kind: fetch.ErrBusy, Op: fetch.OpAccess, Code: 421}
	p := New(1, 0)
	if p.Again(over) {
		t.Error("before any request has succeeded")
	}
	for range 2 {
		p.Worked()
		if !p.Again(over) || p.Again(over) {
			t.Error("not once after a success")
		}
	}
	p.Worked()
	for _, other := range []error{
		errors.New("other"), &fetch.Error{Kind: fetch.ErrBusy, Op: fetch.OpConnect, Code: 421}, &fetch.Error{Kind: fetch.ErrBusy, Op: fetch.OpLogin, Code: 421},
		&fetch.Error{Kind: fetch.ErrBusy, Op: fetch.OpAccess, Code: 450}, &fetch.Error{Kind: fetch.ErrBadURL, Op: fetch.OpAccess, Code: 400},
	} {
		if p.Again(other) {
			t.Errorf("%v", other)
		}
	}
	if !p.Again(&fetch.Error{Kind: fetch.ErrBusy, Op: fetch.OpAccess, Code: 400}) {
		t.Error("NNTP")
	}
}

// TestCrowdedTwice tests that a thing whose session ends while there are two workers is done again
// although the other one has left.
func TestCrowdedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(2, 0)
		p.Worked()
		done := make(map[string]int)
		var mu sync.Mutex
		Each(t.Context(), p, slices.Values([]string{"over", "refused"}), func(thing string, _ func() bool) error {
			mu.Lock()
			done[thing]++
			n := done[thing]
			mu.Unlock()
			switch {
			case n > 1:
				return nil
			case thing == "over":
				time.Sleep(time.Second)
				return &fetch.Error{Kind: fetch.ErrBusy, Op: fetch.OpAccess, Code: 421}
			}
			return &fetch.Error{Kind: fetch.ErrBusy, Op: fetch.OpConnect, Code: 421}
		}, func(thing string, err error) { t.Errorf("%s: %v", thing, err) })
		if done["over"] != 2 || done["refused"] != 2 {
			t.Error(done)
		}
	})
}
