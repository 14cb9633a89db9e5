package pool

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"

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
