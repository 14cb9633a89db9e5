package http

import (
	"bytes"
	"context"
	"errors"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// Explain implements [fetch.Explainer].
func (f *Fetcher) Explain(req *fetch.Request) (*fetch.Plan, error) {
	c, err := f.newCall(context.Background(), req, "", nil)
	if err != nil {
		return nil, err
	}
	defer c.end(nil)
	ex := &exchange{call: c, hop: c.hop, proxy: c.proxy()}
	r, err := c.request(ex, nil)
	if err != nil {
		return nil, err
	}
	if c.upload != nil && c.upload.size != 0 {
		r.Body = unreadBody{}
	}
	server, _ := locator.ServerOf(c.locator)
	plan := &fetch.Plan{Network: "tcp", Host: server.Host, Port: server.Port}
	if ex.proxy != nil {
		at := ex.proxy.Address()
		plan.Host, plan.Port = at.Host, at.Port
		plan.Notes = append(plan.Notes, "through the proxy "+ex.proxy.String())
	}
	if c.locator.Secure {
		plan.Steps = append(plan.Steps, fetch.Step{Do: "TLS handshake with " + server.Host})
	}
	var head bytes.Buffer
	write := r.Write
	if ex.forwarded() {
		write = r.WriteProxy
	}
	err = write(&head)
	first, _, complete := bytes.Cut(head.Bytes(), []byte("\r\n\r\n"))
	if !complete { // else the error is that of the unread body
		return nil, c.fail(err)
	}
	plan.Steps = append(plan.Steps, fetch.Step{Send: string(masked(c.versioned(append(first, "\r\n\r\n"...))))})
	if c.upload != nil {
		plan.Steps = append(plan.Steps, fetch.Step{Do: "send the body"})
	}
	if limit := c.env.Limits.Hops; limit > 0 {
		plan.Notes = append(plan.Notes, "redirects within http and https are followed")
	}
	return plan, nil
}

// unreadBody is a body that is not read.
type unreadBody struct{}

func (unreadBody) Read([]byte) (int, error) { return 0, errors.New("not to be sent") }
func (unreadBody) Close() error             { return nil }
