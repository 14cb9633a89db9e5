package fetchtest

import (
	"context"
	stderrors "errors"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// errors tests that failures have the right kind.
func (k *kit) errors(t *testing.T) {
	k.test(t, "missing", func(r *rig) {
		if l := r.site.Locate(missing); l != nil && !k.NoErrors {
			a := r.get(r.ctx(), l)
			r.checkKind("what is missing", a, fetch.ErrNotFound)
			if a.err != nil && !stderrors.Is(a.err, fs.ErrNotExist) {
				r.Errorf("errors.Is(err, fs.ErrNotExist) must be true for %v", a.err)
			}
		}
	})
	k.test(t, "forbidden", func(r *rig) {
		if l := r.site.Locate(forbidden); l != nil && !k.NoErrors {
			kind := k.Forbidden
			if kind == fetch.ErrOther {
				kind = fetch.ErrPermission
			}
			r.checkKind("what is forbidden", r.get(r.ctx(), l), kind)
		}
	})
	k.test(t, "other scheme", func(r *rig) {
		a := r.get(r.ctx(), &locator.Opaque{Name: "x-other", Rest: "//127.0.0.1/x"})
		r.checkKind("a locator of another scheme", a, fetch.ErrUnsupported, fetch.ErrBadURL)
		r.checkNoDial()
	})
	k.test(t, "other options", func(r *rig) {
		a := r.do(r.ctx(), &fetch.Request{Locator: r.site.any(), Options: struct{ Unknown int }{}})
		r.checkKind("options of another Fetcher", a, fetch.ErrUnsupported, fetch.ErrBadURL)
		r.checkNoDial()
	})
	if k.Local {
		k.test(t, "local", func(r *rig) {
			r.get(r.ctx(), r.site.any())
			r.checkNoDial()
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
		"dialler":    {stderrors.New("no connections today"), fetch.ErrUnreachable},
	} {
		dial := func(context.Context, string, string) (net.Conn, error) { return nil, c.err }
		k.testAlone(t, name, dial, func(r *rig) {
			for name, op := range r.operations() {
				a := op(r.ctx(), r.site.any())
				r.checkKind(name+" when the dial fails", a, c.kind)
				if a.err != nil && !stderrors.Is(a.err, c.err) {
					r.Errorf("%s: the error does not wrap the error of Env.Dial: %v", name, a.err)
				}
			}
		})
	}
}

// checkNoDial fails the test if anything was dialled.
func (r *rig) checkNoDial() {
	r.Helper()
	if n := r.net.count(); n != 0 {
		r.Errorf("%d connections were dialled; the operation must fail before it dials", n)
	}
}
