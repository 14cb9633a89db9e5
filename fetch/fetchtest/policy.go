package fetchtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/check"
	"github.com/fetch1738/fetch1738/locator"
)

var errDenied = errors.New("denied by the test")

// testPolicy tests that Env.Allow is called before anything is done, and for every address.
func testPolicy(t *testing.T, s *subject) {
	subtest(t, s, "refuse", func(fx *fixture) {
		deny(fx, func(fetch.Target) bool { return true })
		for _, op := range fx.operations() {
			checkDenied(fx, op(fx.ctx(), fx.site.any()))
		}
		checkNoDial(fx, fx.net)
	})
	subtest(t, s, "targets", testTargets)
	subtest(t, s, "provenance", func(fx *fixture) {
		// A link may not fetch everything that the user may, even over an existing connection.
		deny(fx, func(t fetch.Target) bool { return t.From.Kind == fetch.OriginRemote })
		testReuse(fx)
	})
	subtest(t, s, "octets", testBadOctets)
	if s.Local {
		return
	}
	subtest(t, s, "refuse address", func(fx *fixture) {
		deny(fx, func(t fetch.Target) bool { return t.Addr.IsValid() })
		checkDenied(fx, fx.get(fx.ctx(), fx.site.any()))
		for _, c := range fx.net.Since(0) {
			if sent := c.Sent(); len(sent) > 0 {
				fx.Errorf("%q was sent to an address that Env.Allow refused; nothing must be sent", sent)
			}
		}
	})
	subtest(t, s, "provenance of address", func(fx *fixture) {
		deny(fx, func(t fetch.Target) bool { return t.From.Kind == fetch.OriginRemote && t.Addr.IsValid() })
		testReuse(fx)
	})
	subtest(t, s, "refuse data connections", func(fx *fixture) {
		var asked bool
		deny(fx, func(t fetch.Target) bool {
			asked = asked || t.Purpose == fetch.PurposeData
			return t.Purpose == fetch.PurposeData
		})
		if a := fx.get(fx.ctx(), fx.site.any()); asked {
			checkDenied(fx, a)
		} else if n := fx.net.Streams(); n > 1 {
			fx.Errorf("%d connections were opened, but Env.Allow was never called with PurposeData", n)
		}
	})
}

// deny sets an Env.Allow that refuses the targets for which denied reports true.
func deny(fx *fixture, denied func(fetch.Target) bool) {
	fx.env.Allow = func(_ context.Context, t fetch.Target) error {
		if denied(t) {
			return errDenied
		}
		return nil
	}
}

// checkDenied checks that the error is the one that Allow returned.
func checkDenied(t testing.TB, a check.Answer) {
	t.Helper()
	check.Kind(t, "a refused fetch", a, fetch.ErrRefused)
	if a.Err != nil && !errors.Is(a.Err, errDenied) {
		t.Errorf("the error does not wrap the error of Env.Allow: %v", a.Err)
	}
}

// testReuse fetches for the user and then from a link.
func testReuse(fx *fixture) {
	l := fx.site.any()
	if a := fx.get(fx.ctx(), l); a.Err != nil {
		fx.Fatal(a.Err)
	}
	link := fetch.Provenance{Kind: fetch.OriginRemote, By: &locator.HTTP{Server: locator.Server{HostPort: locator.HostPort{Host: "example.com"}}}}
	checkDenied(fx, fx.do(fx.ctx(), &fetch.Request{Locator: l, From: link}))
}

// testTargets checks the Targets that Allow is called with.
func testTargets(fx *fixture) {
	var mu sync.Mutex
	var asked []fetch.Target
	names := 0
	fx.env.Allow = func(_ context.Context, t fetch.Target) error {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, t)
		if !t.Addr.IsValid() && t.Purpose == fetch.PurposeControl {
			names++
		}
		if !t.Addr.IsValid() && fx.net.Count() >= names && t.Purpose == fetch.PurposeControl {
			fx.Errorf("a connection was dialled before Env.Allow was called for %s:%d", t.Host, t.Port)
		}
		return nil
	}
	l := fx.site.any()
	from := fetch.Provenance{Kind: fetch.OriginConfig}
	if a := fx.do(fx.ctx(), &fetch.Request{Locator: l, From: from}); a.Err != nil {
		fx.Fatal(a.Err)
	}
	if len(asked) == 0 {
		fx.Fatal("Env.Allow was not called")
	}
	server, _ := locator.ServerOf(l)
	var address bool
	for _, t := range asked {
		if t.Locator != l || t.From != from {
			fx.Errorf("Env.Allow was called with Locator %v and From %v; the request has %v and %v", t.Locator, t.From, l, from)
		}
		if t.Purpose == fetch.PurposeControl && !fx.subject.Local && (t.Host != server.Host || server.Port != 0 && t.Port != server.Port) {
			fx.Errorf("Env.Allow was called with the server %s:%d; the locator's is %s:%d", t.Host, t.Port, server.Host, server.Port)
		}
		if (t.Network == "") != fx.subject.Local {
			fx.Errorf("Env.Allow was called with Network %q; it must be set, except for a local Fetcher", t.Network)
		}
		address = address || t.Addr.IsValid()
	}
	if asked[0].Addr.IsValid() || address == fx.subject.Local {
		fx.Errorf("Env.Allow must be called first with the name, then with the address; it was called with %+v", asked)
	}
}

// testBadOctets tests that locators with bytes that their protocol cannot carry are refused before
// anything else happens.
func testBadOctets(fx *fixture) {
	fx.env.Allow = func(_ context.Context, t fetch.Target) error {
		fx.Errorf("Env.Allow was called with %v; CheckOctets must refuse the locator before that", t.Locator)
		return nil
	}
	for _, octet := range []byte{0, '\r', '\n', '\t', ' ', '/', '<', '*', 0xFF} {
		for _, l := range withText(fx.site.any(), "x"+string([]byte{octet})+"DELE y") {
			_, opaque := l.(*locator.Opaque) // its Fetcher decodes it, see driver.Decode
			if driver.CheckOctets(l) == nil && !(opaque && strings.IndexByte("\r\n\x00", octet) >= 0) {
				continue
			}
			for name, op := range fx.operations() {
				check.Kind(fx, fmt.Sprintf("%s with the byte %02X in %s", name, octet, l.Redacted()), op(fx.ctx(), l), fetch.ErrBadURL)
			}
			if e, ok := fx.open().(driver.Explainer); ok {
				if _, err := e.Explain(&fetch.Request{Locator: l}); err == nil {
					fx.Errorf("Explain accepts the byte %02X in %s; want an error of kind BadURL", octet, l.Redacted())
				}
			}
		}
	}
	checkNoDial(fx, fx.net)
}

// withText returns variants of l that have the text somewhere in the path or login.
func withText(l locator.Locator, text string) (list []locator.Locator) {
	for _, login := range []locator.Login{{User: text}, {User: "u", Password: check.Password + text, HasPassword: true}} {
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
