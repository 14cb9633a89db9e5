package fetchtest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/fetchtest/internal/check"
	"github.com/fetch1738/fetch1738/locator"
)

// testExplain tests that a Fetcher does what its Explain method says.
func testExplain(t *testing.T, s *subject) {
	subtest(t, s, "documents", func(fx *fixture) {
		if f, ok := fx.open().(driver.Explainer); ok {
			for _, l := range fx.site.each(append(names(), directory)...) {
				checkExplanation(fx, f, l)
			}
		}
	})
}

// checkExplanation compares an Explanation with what is sent.
func checkExplanation(fx *fixture, f driver.Explainer, l locator.Locator) {
	before := fx.net.Count()
	e, err := f.Explain(&fetch.Request{Locator: l})
	if err != nil {
		fx.Error(check.Error(fx, err, l))
		return
	}
	if fx.net.Count() != before {
		fx.Errorf("%s: Explain opened a connection; it must not", l.Redacted())
	}
	if (e.Network == "") != fx.subject.Local {
		fx.Errorf("%s: Explanation.Network is %q; it must be set, except for a local Fetcher", l.Redacted(), e.Network)
	}
	if secret, ok := locator.WithLogin(l, &check.Login); ok {
		if e, err := f.Explain(&fetch.Request{Locator: secret}); err == nil {
			check.Secrets(fx, "an explanation", fmt.Sprintf("%+v", e))
		}
	}
	if fx.subject.Local {
		return
	}
	if server, _ := locator.ServerOf(l); e.Host != server.Host || e.Port != server.Port {
		fx.Errorf("%s: the Explanation connects to %s:%d, not to the locator's server", l.Redacted(), e.Host, e.Port)
	}
	k := fx.net.Established()
	if a := fx.get(fx.ctx(), l); a.Err != nil {
		fx.Error(a.Err)
	}
	fx.close()
	sent := fx.net.Since(k)[0].Sent()
	for _, step := range e.Steps {
		if fx.subject.secure || fx.subject.Encoded || step.When != "" || strings.Contains(step.Send, "****") {
			continue
		}
		_, rest, found := bytes.Cut(sent, []byte(step.Send))
		if !found {
			fx.Errorf("%s: the Explanation says that %q is sent next, but the Fetcher sent %q", l.Redacted(), step.Send, sent)
			return
		}
		sent = rest
	}
}
