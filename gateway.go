package fetch1738

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// throughGateway is req asked of the gateway that template names (RFC 1738 §4).
func throughGateway(req *fetch.Request, template string) (*fetch.Request, error) {
	if !strings.Contains(template, "{url}") {
		return nil, fetch.Fail("gateway", req.Locator, fetch.BadURL, fmt.Errorf("gateway %q has no {url} to put the URL in", template))
	}
	// Redacted would send a wrong URL and String the password to a third party.
	if s, ok := locator.ServerOf(req.Locator); ok && s.Login != nil && s.Login.HasPassword {
		return nil, fetch.Fail("gateway", req.Locator, fetch.Refused, fmt.Errorf("a URL with a password is not sent to the gateway"))
	}
	// Everything but unreserved characters is encoded: the URL is one component of
	// the gateway's, in its path or in its search part.
	encoded := strings.ReplaceAll(url.QueryEscape(req.Locator.String()), "+", "%20")
	l, err := locator.Parse(strings.ReplaceAll(template, "{url}", encoded))
	if err != nil {
		return nil, &fetch.Error{Op: "gateway", Kind: fetch.BadURL, Err: err}
	}
	if _, ok := l.(*locator.HTTP); !ok {
		return nil, fetch.Fail("gateway", l, fetch.BadURL, fmt.Errorf("a gateway is an http URL"))
	}
	next := *req
	next.Locator, next.From, next.Options = l, fetch.Provenance{Kind: fetch.Config, By: req.Locator}, nil
	return &next, nil
}
