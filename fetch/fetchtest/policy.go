package fetchtest

import (
	"context"
	stderrors "errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

var errDenied = stderrors.New("denied by the test")

// policy tests that Env.Allow is called before anything is done, and for every address.
func (k *kit) policy(t *testing.T) {
	k.test(t, "refuse", func(r *rig) {
		r.deny(func(fetch.Target) bool { return true })
		for _, op := range r.operations() {
			r.checkDenied(op(r.ctx(), r.site.any()))
		}
		r.checkNoDial()
	})
	k.test(t, "targets", (*rig).targets)
	k.test(t, "provenance", func(r *rig) {
		// A link may not fetch everything that the user may, even over an existing connection.
		r.deny(func(t fetch.Target) bool { return t.From.Kind == fetch.OriginRemote })
		r.reuseDenied()
	})
	k.test(t, "octets", (*rig).badOctets)
	if k.Local {
		return
	}
	k.test(t, "refuse address", func(r *rig) {
		r.deny(func(t fetch.Target) bool { return t.Addr.IsValid() })
		r.checkDenied(r.get(r.ctx(), r.site.any()))
		for _, w := range r.net.since(0) {
			if sent := w.sent(); len(sent) > 0 {
				r.Errorf("%q was sent to an address that Env.Allow refused; nothing must be sent", sent)
			}
		}
	})
	k.test(t, "provenance of address", func(r *rig) {
		r.deny(func(t fetch.Target) bool { return t.From.Kind == fetch.OriginRemote && t.Addr.IsValid() })
		r.reuseDenied()
	})
	k.test(t, "refuse data connections", func(r *rig) {
		var asked bool
		r.deny(func(t fetch.Target) bool {
			asked = asked || t.Purpose == fetch.PurposeData
			return t.Purpose == fetch.PurposeData
		})
		if a := r.get(r.ctx(), r.site.any()); asked {
			r.checkDenied(a)
		} else if n := r.net.streams(); n > 1 {
			r.Errorf("%d connections were opened, but Env.Allow was never called with PurposeData", n)
		}
	})
}

// deny sets an Env.Allow that refuses the targets for which denied reports true.
func (r *rig) deny(denied func(fetch.Target) bool) {
	r.env.Allow = func(_ context.Context, t fetch.Target) error {
		if denied(t) {
			return errDenied
		}
		return nil
	}
}

// checkDenied checks that the error is the one that Allow returned.
func (r *rig) checkDenied(a answer) {
	r.Helper()
	r.checkKind("a refused fetch", a, fetch.ErrRefused)
	if a.err != nil && !stderrors.Is(a.err, errDenied) {
		r.Errorf("the error does not wrap the error of Env.Allow: %v", a.err)
	}
}

// reuseDenied fetches for the user and then from a link.
func (r *rig) reuseDenied() {
	l := r.site.any()
	if a := r.get(r.ctx(), l); a.err != nil {
		r.Fatal(a.err)
	}
	link := fetch.Provenance{Kind: fetch.OriginRemote, By: &locator.HTTP{Server: locator.Server{HostPort: locator.HostPort{Host: "example.com"}}}}
	r.checkDenied(r.do(r.ctx(), &fetch.Request{Locator: l, From: link}))
}

// targets checks the Targets that Allow is called with.
func (r *rig) targets() {
	var mu sync.Mutex
	var asked []fetch.Target
	names := 0
	r.env.Allow = func(_ context.Context, t fetch.Target) error {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, t)
		if !t.Addr.IsValid() && t.Purpose == fetch.PurposeControl {
			names++
		}
		if !t.Addr.IsValid() && r.net.count() >= names && t.Purpose == fetch.PurposeControl {
			r.Errorf("a connection was dialled before Env.Allow was called for %s:%d", t.Host, t.Port)
		}
		return nil
	}
	l := r.site.any()
	from := fetch.Provenance{Kind: fetch.OriginConfig}
	if a := r.do(r.ctx(), &fetch.Request{Locator: l, From: from}); a.err != nil {
		r.Fatal(a.err)
	}
	if len(asked) == 0 {
		r.Fatal("Env.Allow was not called")
	}
	server, _ := locator.ServerOf(l)
	var address bool
	for _, t := range asked {
		if t.Locator != l || t.From != from {
			r.Errorf("Env.Allow was called with Locator %v and From %v; the request has %v and %v", t.Locator, t.From, l, from)
		}
		if t.Purpose == fetch.PurposeControl && !r.kit.Local && (t.Host != server.Host || server.Port != 0 && t.Port != server.Port) {
			r.Errorf("Env.Allow was called with the server %s:%d; the locator's is %s:%d", t.Host, t.Port, server.Host, server.Port)
		}
		if (t.Network == "") != r.kit.Local {
			r.Errorf("Env.Allow was called with Network %q; it must be set, except for a local Fetcher", t.Network)
		}
		address = address || t.Addr.IsValid()
	}
	if asked[0].Addr.IsValid() || address == r.kit.Local {
		r.Errorf("Env.Allow must be called first with the name, then with the address; it was called with %+v", asked)
	}
}

// badOctets tests that locators with bytes that their protocol cannot carry are refused before
// anything else happens.
func (r *rig) badOctets() {
	r.env.Allow = func(_ context.Context, t fetch.Target) error {
		r.Errorf("Env.Allow was called with %v; CheckOctets must refuse the locator before that", t.Locator)
		return nil
	}
	for _, octet := range []byte{0, '\r', '\n', '\t', ' ', '/', '<', '*', 0xFF} {
		for _, l := range withText(r.site.any(), "x"+string([]byte{octet})+"DELE y") {
			_, opaque := l.(*locator.Opaque) // its Fetcher decodes it, see driver.Decode
			if driver.CheckOctets(l) == nil && !(opaque && strings.IndexByte("\r\n\x00", octet) >= 0) {
				continue
			}
			for name, op := range r.operations() {
				r.checkKind(fmt.Sprintf("%s with the byte %02X in %s", name, octet, l.Redacted()), op(r.ctx(), l), fetch.ErrBadURL)
			}
			if e, ok := r.open().(driver.Explainer); ok {
				if _, err := e.Explain(&fetch.Request{Locator: l}); err == nil {
					r.Errorf("Explain accepts the byte %02X in %s; want an error of kind BadURL", octet, l.Redacted())
				}
			}
		}
	}
	r.checkNoDial()
}

// withText returns variants of l that have the text somewhere in the path or login.
func withText(l locator.Locator, text string) (list []locator.Locator) {
	for _, login := range []locator.Login{{User: text}, {User: "u", Password: password + text, HasPassword: true}} {
		if with, ok := locator.WithLogin(l, &login); ok {
			list = append(list, with)
		}
	}
	encoded := ""
	for _, octet := range []byte(text) {
		encoded += fmt.Sprintf("%%%02X", octet)
	}
	url := l.String()
	variants := []string{url + "%09" + encoded, url + "%09%09" + encoded, url + ";x=" + encoded}
	for i := strings.IndexByte(url, ':') + 1; i <= len(url); i++ {
		variants = append(variants, url[:i]+encoded+url[i:])
	}
	for _, v := range variants {
		if ref, err := (locator.Parser{}).Parse(v); err == nil {
			list = append(list, ref.Locator)
		}
	}
	return list
}
