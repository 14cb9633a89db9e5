// Package finger fetches finger URLs, such as finger://host/user. The client sends one line; the
// response is everything that the server sends until it closes the connection (RFC 1288).
package finger

import (
	"context"
	"errors"
	"io"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// Fetcher implements [driver.Fetcher] and [driver.Explainer]. It connects through Env.
type Fetcher struct{ Env *fetch.Env }

// Fetch implements [driver.Fetcher].
func (f *Fetcher) Fetch(ctx context.Context, req *fetch.Request) (*fetch.Resource, error) {
	server, line, err := read(req)
	if err != nil {
		return nil, err
	}
	c, err := driver.NewEnv(f.Env).Open(ctx, fetch.Target{Locator: req.Locator, From: req.From, Host: server.Host, Port: server.Port})
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(c, line); err != nil {
		return nil, err
	}
	body, err := c.Body()
	if err != nil {
		return nil, err
	}
	return &fetch.Resource{
		Attributes: fetch.Attributes{Size: -1, MediaType: "text/plain"}, Locator: req.Locator, Peer: c.Peer(), Body: body,
	}, nil
}

// Explain implements [driver.Explainer].
func (f *Fetcher) Explain(req *fetch.Request) (*fetch.Explanation, error) {
	server, line, err := read(req)
	if err != nil {
		return nil, err
	}
	return &fetch.Explanation{Network: "tcp", Host: server.Host, Port: server.Port, Steps: []fetch.Step{{Send: line}, {Do: "read until the server closes"}}}, nil
}

// read returns the server of a request and the line to send.
func read(req *fetch.Request) (server locator.Server, line string, err error) {
	l, ok := req.Locator.(*locator.Opaque)
	if ok = ok && l.Scheme() == "finger"; ok {
		server, ok = locator.ServerOf(l)
	}
	if !ok || server.Login != nil {
		return server, "", driver.Fail(fetch.OpCheck, req.Locator, fetch.ErrBadURL, errors.New("not of the form finger://host/user"))
	}
	if req.Offset != 0 || req.Length != 0 || req.Query != "" || req.Options != nil || req.Interact {
		return server, "", driver.Fail(fetch.OpCheck, l, fetch.ErrUnsupported, errors.New("finger supports no ranges, searches, options or sessions"))
	}
	user, err := driver.Decode(l, l.Path())
	return server, user + "\r\n", err
}
