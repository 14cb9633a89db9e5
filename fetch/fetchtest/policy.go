package fetchtest

import (
	"context"
	stderrors "errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

var errDenied = stderrors.New("denied by the test")

// policy: Env.Allow is asked before anything is done, and about every address.
func (k *kit) policy(t *testing.T) {
	k.test(t, "refuse", func(r *rig) {
		r.env.Allow = func(context.Context, fetch.Target) error { return errDenied }
		for _, op := range r.operations() {
			r.checkDenied(op(r.ctx(), r.site.any()))
		}
		r.checkNoDial()
	})
	k.test(t, "targets", (*rig).targets)
	k.test(t, "provenance", func(r *rig) {
		// What the user may fetch, a link may not: even if the connection is there.
		r.env.Allow = func(_ context.Context, t fetch.Target) error {
			if t.From.Kind == fetch.OriginRemote {
				return errDenied
			}
			return nil
		}
		r.reuseDenied()
	})
	k.test(t, "octets", (*rig).badOctets)
	if k.Local {
		return
	}
	k.test(t, "refuse address", func(r *rig) {
		r.env.Allow = func(_ context.Context, t fetch.Target) error {
			if t.Addr.IsValid() {
				return errDenied
			}
			return nil
		}
		r.checkDenied(r.get(r.ctx(), r.site.any()))
		for _, w := range r.net.since(0) {
			if sent := w.sent(); len(sent) > 0 {
				r.Errorf("%q was sent to a forbidden address", sent)
			}
		}
	})
	k.test(t, "provenance of address", func(r *rig) {
		r.env.Allow = func(_ context.Context, t fetch.Target) error {
			if t.From.Kind == fetch.OriginRemote && t.Addr.IsValid() {
				return errDenied
			}
			return nil
		}
		r.reuseDenied()
	})
	k.test(t, "refuse data connections", func(r *rig) {
		var asked bool
		r.env.Allow = func(_ context.Context, t fetch.Target) error {
			if t.Purpose == fetch.PurposeData {
				asked = true
				return errDenied
			}
			return nil
		}
		if a := r.get(r.ctx(), r.site.any()); asked {
			r.checkDenied(a)
		} else if n := r.net.streams(); n > 1 {
			r.Errorf("%d connections were made, none for Data", n)
		}
	})
}

// checkDenied wants the refusal of Allow.
func (r *rig) checkDenied(a answer) {
	r.Helper()
	r.checkKind("a refused fetch", a, fetch.ErrRefused)
	if a.err != nil && !stderrors.Is(a.err, errDenied) {
		r.Errorf("%v does not wrap what Allow said", a.err)
	}
}

// reuseDenied fetches for the user and then by a link.
func (r *rig) reuseDenied() {
	l := r.site.any()
	if a := r.get(r.ctx(), l); a.err != nil {
		r.Fatal(a.err)
	}
	link := fetch.Provenance{Kind: fetch.OriginRemote, By: &locator.HTTP{Server: locator.Server{HostPort: locator.HostPort{Host: "example.com"}}}}
	r.checkDenied(r.do(r.ctx(), &fetch.Request{Locator: l, From: link}))
}

// targets are what Allow is asked about.
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
			r.Errorf("something was dialled before Allow was asked about %s:%d", t.Host, t.Port)
		}
		return nil
	}
	l := r.site.any()
	from := fetch.Provenance{Kind: fetch.OriginConfig}
	if a := r.do(r.ctx(), &fetch.Request{Locator: l, From: from}); a.err != nil {
		r.Fatal(a.err)
	}
	if len(asked) == 0 {
		r.Fatal("Allow was not asked")
	}
	server, _ := locator.ServerOf(l)
	var address bool
	for _, t := range asked {
		if t.Locator != l || t.From != from {
			r.Errorf("Allow was asked about %v from %v, fetched was %v from %v", t.Locator, t.From, l, from)
		}
		if t.Purpose == fetch.PurposeControl && !r.kit.Local && (t.Host != server.Host || server.Port != 0 && t.Port != server.Port) {
			r.Errorf("Allow was asked about %s:%d, the server is %s:%d", t.Host, t.Port, server.Host, server.Port)
		}
		if (t.Network == "") != r.kit.Local {
			r.Errorf("Allow was asked about the network %q", t.Network)
		}
		address = address || t.Addr.IsValid()
	}
	if asked[0].Addr.IsValid() || address == r.kit.Local {
		r.Errorf("Allow must first be asked about the name, then about the address: %+v", asked)
	}
}

// badOctets: locators with octets that their protocol cannot carry are refused
// before anything else happens.
func (r *rig) badOctets() {
	r.env.Allow = func(_ context.Context, t fetch.Target) error {
		r.Errorf("Allow was asked about %v", t.Locator)
		return nil
	}
	for _, octet := range []byte{0, '\r', '\n', '\t', ' ', '/', '<', '*', 0xFF} {
		for _, l := range infect(r.site.any(), "x"+string([]byte{octet})+"DELE y") {
			if fetch.CheckOctets(l) == nil {
				continue
			}
			for name, op := range r.operations() {
				r.checkKind(fmt.Sprintf("%s with the octet %02X in %s", name, octet, l.Redacted()), op(r.ctx(), l), fetch.ErrBadURL)
			}
			if e, ok := r.open().(fetch.Explainer); ok {
				if _, err := e.Explain(&fetch.Request{Locator: l}); err == nil {
					r.Errorf("Explain accepts the octet %02X in %s", octet, l.Redacted())
				}
			}
		}
	}
	r.checkNoDial()
}

// infect gives variants of l with the text somewhere in its path or login.
func infect(l locator.Locator, text string) (list []locator.Locator) {
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
		if with, err := locator.Parse(v); err == nil {
			list = append(list, with)
		}
	}
	return list
}
