package fetch1738

import (
	"errors"
	"net/url"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// gateway is the template of a scheme's gateway; ok is false if it has none.
func (r *Resolver) gateway(scheme string) (template string, ok bool) {
	for name, template := range r.Gateways {
		if strings.EqualFold(name, scheme) {
			return template, true
		}
	}
	return "", false
}

var errGatewayOnlyFetches = errors.New("a gateway retrieves documents and does nothing else")

// throughGateway is req asked of the gateway that template names (RFC 1738 §4).
func throughGateway(req *fetch.Request, template string) (*fetch.Request, error) {
	// The gateway is a third party: it gets the URL as it is or not at all.
	if locator.HasPassword(req.Locator) {
		return nil, fetch.Fail(fetch.OpGateway, req.Locator, fetch.Refused, errors.New("a URL with a password is not sent to a gateway"))
	}
	if o, ok := req.Options.(*http.Options); ok && o != nil && (o.Method != "" && o.Method != "GET" || o.Verb != "" || o.Body != nil) {
		return nil, fetch.Fail(fetch.OpGateway, req.Locator, fetch.Unsupported, errGatewayOnlyFetches)
	}
	// Everything but unreserved characters is encoded: the URL is one component of
	// the gateway's, in its path or in its search part.
	encoded := strings.ReplaceAll(url.QueryEscape(req.Locator.String()), "+", "%20")
	gateway, err := locator.Parse(strings.ReplaceAll(template, "{url}", encoded))
	if err != nil {
		return nil, &fetch.Error{Op: fetch.OpGateway, Kind: fetch.BadURL, Err: err}
	}
	if _, ok := gateway.(*locator.HTTP); !ok {
		return nil, fetch.Fail(fetch.OpGateway, gateway, fetch.BadURL, errors.New("a gateway is an http URL"))
	}
	next := *req
	next.Locator, next.From, next.Options = gateway, fetch.Provenance{Kind: fetch.Config, By: req.Locator}, nil
	if !strings.Contains(template, "{url}") {
		next.Options = &http.Options{Proxied: req.Locator}
	}
	return &next, nil
}
