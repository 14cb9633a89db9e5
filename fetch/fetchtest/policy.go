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
			if t.From.Kind == fetch.Remote {
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
			if t.From.Kind == fetch.Remote && t.Addr.IsValid() {
				return errDenied
			}
			return nil
		}
		r.reuseDenied()
	})
	k.test(t, "refuse data connections", func(r *rig) {
		var asked bool
		r.env.Allow = func(_ context.Context, t fetch.Target) error {
			if t.Purpose == fetch.Data {
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
	r.checkKind("a refused fetch", a, fetch.Refused)
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
	link := fetch.Provenance{Kind: fetch.Remote, By: &locator.HTTP{Server: locator.Server{HostPort: locator.HostPort{Host: "example.com"}}}}
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
		if !t.Addr.IsValid() && t.Purpose == fetch.Control {
			names++
		}
		if !t.Addr.IsValid() && r.net.count() >= names && t.Purpose == fetch.Control {
			r.Errorf("something was dialled before Allow was asked about %s:%d", t.Host, t.Port)
		}
		return nil
	}
	l := r.site.any()
	from := fetch.Provenance{Kind: fetch.Config}
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
		if t.Purpose == fetch.Control && !r.kit.Local && (t.Host != server.Host || server.Port != 0 && t.Port != server.Port) {
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
		for where, l := range infect(r.site.any(), "x"+string([]byte{octet})+"DELE y") {
			if fetch.CheckOctets(l) == nil {
				continue
			}
			for name, op := range r.operations() {
				r.checkKind(fmt.Sprintf("%s with the octet %02X in the %s", name, octet, where), op(r.ctx(), l), fetch.BadURL)
			}
			if e, ok := r.open().(fetch.Explainer); ok {
				if _, err := e.Explain(&fetch.Request{Locator: l}); err == nil {
					r.Errorf("Explain accepts the octet %02X in the %s", octet, where)
				}
			}
		}
	}
	r.checkNoDial()
}

// infect gives copies of l, each with the text in one of its components.
func infect(l locator.Locator, text string) map[string]locator.Locator {
	list := make(map[string]locator.Locator)
	text = strings.Clone(text)
	switch l := l.(type) {
	case *locator.FTP:
		for where, f := range map[string]func(*locator.FTP){
			"name": func(l *locator.FTP) { l.Name, l.HasPath = text, true },
			"CWD":  func(l *locator.FTP) { l.CWD, l.HasPath = []string{text}, true },
			"user": func(l *locator.FTP) { l.Login = &locator.Login{User: text} },
			"password": func(l *locator.FTP) {
				l.Login = &locator.Login{User: "u", Password: password + text, HasPassword: true}
			},
		} {
			c := *l
			f(&c)
			list[where] = &c
		}
	case *locator.HTTP:
		c := *l
		c.Login = &locator.Login{User: "u", Password: password + text, HasPassword: true}
		list["password"] = &c
	case *locator.Gopher:
		for where, f := range map[string]func(*locator.Gopher){
			"type":     func(l *locator.Gopher) { l.Type, l.HasPath = text[1], true },
			"selector": func(l *locator.Gopher) { l.Selector, l.HasPath = text, true },
			"search":   func(l *locator.Gopher) { l.Search, l.Fields, l.HasPath = text, 1, true },
			"plus":     func(l *locator.Gopher) { l.Plus, l.Fields, l.HasPath = text, 2, true },
		} {
			c := *l
			f(&c)
			list[where] = &c
		}
	case *locator.News:
		list["group"] = &locator.News{Group: text}
		list["message-id"] = &locator.News{MessageID: text + "@host"}
	case *locator.NNTP:
		list["group"] = &locator.NNTP{HostPort: l.HostPort, Group: text}
		list["article"] = &locator.NNTP{HostPort: l.HostPort, Group: "g", Article: text}
	case *locator.Telnet:
		c := *l
		c.Login = &locator.Login{User: text, Password: password, HasPassword: true}
		list["user"] = &c
	case *locator.WAIS:
		c := *l
		c.Database = text
		list["database"] = &c
	case *locator.Prospero:
		list["name"] = &locator.Prospero{HostPort: l.HostPort, HSOName: text}
		list["field"] = &locator.Prospero{HostPort: l.HostPort, HSOName: "x", Fields: []locator.Field{{Name: "f", Value: text}}}
	case *locator.File:
		list["path"] = &locator.File{Host: l.Host, Segments: []string{text}}
	case *locator.Mailto:
		list["address"] = &locator.Mailto{Address: text}
	}
	return list
}
