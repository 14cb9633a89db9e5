package http

import (
	"context"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/http/internal/exchange"
	"github.com/fetch1738/fetch1738/locator"
)

// Explain implements [driver.Explainer].
func (f *Fetcher) Explain(req *fetch.Request) (*fetch.Explanation, error) {
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
	e := &fetch.Explanation{Network: "tcp", Host: server.Host, Port: server.Port}
	if ex.Proxy != nil {
		at := ex.Proxy.Address()
		e.Host, e.Port = at.Host, at.Port
		e.Notes = append(e.Notes, "through the proxy "+ex.Proxy.String())
	}
	if c.locator.Secure {
		offered := strings.NewReplacer("h2", "HTTP/2", "http", "HTTP").Replace(strings.Join(versions, " and "))
		e.Steps = append(e.Steps, fetch.Step{Do: "TLS handshake with " + server.Host + ", offering " + offered})
	}
	e.Steps = append(e.Steps, fetch.Step{Send: string(exchange.Masked(head))})
	if c.upload != nil {
		e.Steps = append(e.Steps, fetch.Step{Do: "send the body"})
	}
	if limit := c.env.Limits.Hops; limit > 0 {
		e.Notes = append(e.Notes, "redirects within http and https are followed")
	}
	return e, nil
}
