package fetchtest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// explain tests that a Fetcher does what its Explain method says.
func (k *kit) explain(t *testing.T) {
	k.test(t, "documents", func(r *rig) {
		if f, ok := r.open().(driver.Explainer); ok {
			for _, name := range append(names(), directory) {
				if l := r.site.Locate(name); l != nil {
					r.checkPlan(f, l)
				}
			}
		}
	})
}

// checkPlan compares the Explanation with what is sent.
func (r *rig) checkPlan(f driver.Explainer, l locator.Locator) {
	before := r.net.count()
	plan, err := f.Explain(&fetch.Request{Locator: l})
	if err != nil {
		r.Error(r.checkError(err, l))
		return
	}
	if r.net.count() != before {
		r.Errorf("%s: Explain opened a connection; it must not", l.Redacted())
	}
	if (plan.Network == "") != r.kit.Local {
		r.Errorf("%s: Explanation.Network is %q; it must be set, except for a local Fetcher", l.Redacted(), plan.Network)
	}
	if secret, ok := locator.WithLogin(l, &login); ok {
		if plan, err := f.Explain(&fetch.Request{Locator: secret}); err == nil {
			r.checkSecrets("a plan", fmt.Sprintf("%+v", plan))
		}
	}
	if r.kit.Local {
		return
	}
	if server, _ := locator.ServerOf(l); plan.Host != server.Host || plan.Port != server.Port {
		r.Errorf("%s: the Explanation connects to %s:%d, not to the locator's server", l.Redacted(), plan.Host, plan.Port)
	}
	k := r.net.established()
	if a := r.get(r.ctx(), l); a.err != nil {
		r.Error(a.err)
	}
	r.close()
	sent := r.net.since(k)[0].sent()
	for _, step := range plan.Steps {
		if r.kit.secure || r.kit.Encoded || step.When != "" || strings.Contains(step.Send, "****") {
			continue
		}
		_, rest, found := bytes.Cut(sent, []byte(step.Send))
		if !found {
			r.Errorf("%s: the plan says that %q is sent next, but the Fetcher sent %q", l.Redacted(), step.Send, sent)
			return
		}
		sent = rest
	}
}
