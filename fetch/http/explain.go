package http

import (
	"context"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/http/internal/exchange"
	"github.com/fetch1738/fetch1738/locator"
)

// Explain implements [driver.Explainer].
func (f *Fetcher) Explain(req *fetch.Request) (*fetch.Plan, error) {
	c, err := f.newCall(context.Background(), req, "", nil)
	if err != nil {
		return nil, err
	}
	defer c.end(nil)
	ex := c.newExchange()
	r, err := c.request(ex, nil)
	if err != nil {
		return nil, err
	}
	head, versions, err := f.transport.Outline(ex, r)
	if err != nil {
		return nil, c.fail(err)
	}
	server, _ := locator.ServerOf(c.locator)
	plan := &fetch.Plan{Network: "tcp", Host: server.Host, Port: server.Port}
	if ex.Proxy != nil {
		at := ex.Proxy.Address()
		plan.Host, plan.Port = at.Host, at.Port
		plan.Notes = append(plan.Notes, "through the proxy "+ex.Proxy.String())
	}
	if c.locator.Secure {
		offered := strings.NewReplacer("h2", "HTTP/2", "http", "HTTP").Replace(strings.Join(versions, " and "))
		plan.Steps = append(plan.Steps, fetch.Step{Do: "TLS handshake with " + server.Host + ", offering " + offered})
	}
	plan.Steps = append(plan.Steps, fetch.Step{Send: string(exchange.Masked(head))})
	if c.upload != nil {
		plan.Steps = append(plan.Steps, fetch.Step{Do: "send the body"})
	}
	if limit := c.env.Limits.Hops; limit > 0 {
		plan.Notes = append(plan.Notes, "redirects within http and https are followed")
	}
	return plan, nil
}
