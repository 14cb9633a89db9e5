package fetch1738

import (
	"errors"
	"net/url"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// gateway returns the template of a scheme's gateway; ok is false if there is no gateway.
func (r *Resolver) gateway(scheme string) (template string, ok bool) {
	for name, template := range r.Gateways {
		if strings.EqualFold(name, scheme) {
			return template, true
		}
	}
	return "", false
}

var errGatewayOnlyFetches = errors.New("a gateway can only retrieve documents")

// throughGateway returns the request that fetches req through the gateway that template names
// (RFC 1738 §4).
func (r *Resolver) throughGateway(req *fetch.Request, template string, op fetch.Op) (*fetch.Request, error) {
	o, _ := req.Options.(*http.Options)
	switch {
	case op != fetch.OpAccess && op != fetch.OpExplain, o != nil && (o.Method != "" && o.Method != "GET" || o.Verb != "" || o.Body != nil):
		return nil, driver.Fail(fetch.OpGateway, req.Locator, fetch.ErrUnsupported, errGatewayOnlyFetches)
	case hasLogin(req.Locator) && !r.GatewayLogins:
		// The gateway is a third party. The URL cannot be sent without its login, so it is refused.
		return nil, driver.Fail(fetch.OpGateway, req.Locator, fetch.ErrRefused, errors.New("a URL with a login is not sent to a gateway"))
	}
	// All but unreserved characters is encoded: the URL is one component of the gateway's URL, in
	// its path or in its search part.
	encoded := strings.ReplaceAll(url.QueryEscape(req.Locator.String()), "+", "%20")
	ref, err := locator.Parser{}.Parse(strings.ReplaceAll(template, "{url}", encoded))
	if err != nil {
		return nil, &fetch.Error{Op: fetch.OpGateway, Kind: fetch.ErrBadURL, Err: err}
	}
	if _, ok := ref.Locator.(*locator.HTTP); !ok {
		return nil, driver.Fail(fetch.OpGateway, ref.Locator, fetch.ErrBadURL, errors.New("a gateway must be an http URL"))
	}
	next := *req
	next.Locator, next.From, next.Options = ref.Locator, fetch.Provenance{Kind: fetch.OriginConfig, By: req.Locator}, nil
	if !strings.Contains(template, "{url}") {
		next.Options = &http.Options{Proxied: req.Locator, ProxiedPassword: r.GatewayLogins}
	}
	return &next, nil
}

// hasLogin reports whether a URL contains a login. In a URL of a scheme without a grammar,
// anything that may be a login counts.
func hasLogin(l locator.Locator) bool {
	server, _ := locator.ServerOf(l)
	return server.Login != nil || locator.HasPassword(l)
}
