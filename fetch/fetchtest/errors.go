package fetchtest

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/check"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/unreliable"
	"github.com/fetch1738/fetch1738/locator"
)

// testErrors tests that failures have the right kind.
func testErrors(t *testing.T, s *subject) {
	subtest(t, s, "missing", func(fx *fixture) {
		if l := fx.site.Locate(missing); l != nil && !s.NoErrors {
			a := fx.get(fx.ctx(), l)
			check.Kind(fx, "what is missing", a, fetch.ErrNotFound)
			if a.Err != nil && !errors.Is(a.Err, fs.ErrNotExist) {
				fx.Errorf("errors.Is(err, fs.ErrNotExist) must be true for %v", a.Err)
			}
		}
	})
	subtest(t, s, "forbidden", func(fx *fixture) {
		if l := fx.site.Locate(forbidden); l != nil && !s.NoErrors {
			kind := s.Forbidden
			if kind == fetch.ErrOther {
				kind = fetch.ErrPermission
			}
			check.Kind(fx, "what is forbidden", fx.get(fx.ctx(), l), kind)
		}
	})
	subtest(t, s, "other scheme", func(fx *fixture) {
		a := fx.get(fx.ctx(), &locator.Opaque{Name: "x-other", Rest: "//127.0.0.1/x"})
		check.Kind(fx, "a locator of another scheme", a, fetch.ErrUnsupported, fetch.ErrBadURL)
		checkNoDial(fx, fx.net)
	})
	subtest(t, s, "other options", func(fx *fixture) {
		a := fx.do(fx.ctx(), &fetch.Request{Locator: fx.site.any(), Options: struct{ Unknown int }{}})
		check.Kind(fx, "options of another Fetcher", a, fetch.ErrUnsupported, fetch.ErrBadURL)
		checkNoDial(fx, fx.net)
	})
	if s.Local {
		subtest(t, s, "local", func(fx *fixture) {
			fx.get(fx.ctx(), fx.site.any())
			checkNoDial(fx, fx.net)
		})
		return
	}
	for name, c := range map[string]struct {
		err  error
		kind fetch.ErrorKind
	}{
		"refused":    {&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, fetch.ErrUnreachable},
		"no route":   {&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.EINVAL)}, fetch.ErrUnreachable},
		"unresolved": {&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}}, fetch.ErrUnresolved},
		"dialler":    {errors.New("no connections today"), fetch.ErrUnreachable},
	} {
		dial := func(context.Context, string, string) (net.Conn, error) { return nil, c.err }
		subtestAlone(t, s, name, dial, func(fx *fixture) {
			for name, op := range fx.operations() {
				a := op(fx.ctx(), fx.site.any())
				check.Kind(fx, name+" when the dial fails", a, c.kind)
				if a.Err != nil && !errors.Is(a.Err, c.err) {
					fx.Errorf("%s: the error does not wrap the error of Env.Dial: %v", name, a.Err)
				}
			}
		})
	}
}

// checkNoDial fails the test if anything was dialled.
func checkNoDial(t testing.TB, net *unreliable.Network) {
	t.Helper()
	if n := net.Count(); n != 0 {
		t.Errorf("%d connections were dialled; the operation must fail before it dials", n)
	}
}
