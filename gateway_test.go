package fetch1738

import (
	"errors"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// TestGatewayIsNotToldLogins: a URL with a login is not sent to a gateway, whatever its scheme and
// spelling.
func TestGatewayIsNotToldLogins(t *testing.T) {
	direct, web := &fake{answer: text("direct")}, &fake{answer: text("by gateway")}
	fetchers := map[string]driver.Fetcher{"http": web}
	plain, asProxy := make(map[string]string), make(map[string]string)
	for _, scheme := range []string{"ftp", "ftps", "telnet", "gophers", "nntps", "x-foo", "https"} {
		fetchers[scheme] = direct
		plain[scheme], asProxy[strings.ToUpper(scheme)] = "http://gw/?url={url}", "http://gw"
	}
	for _, gateways := range []map[string]string{plain, asProxy} {
		r := Resolver{Schemes: fakes(fetchers), Gateways: gateways, Parser: &locator.Parser{Tolerate: locator.TolerateAll}}
		for _, url := range []string{
			"ftp://u:SECRET@h/x", "ftp:u:SECRET@h", "FTP:/u:SECRET@h", "ftps://u:SECRET@h/x", "ftps:u:SECRET@h/x", "FTPS:/u:SECRET@h", "telnet:u:SECRET@h",
			"https://u:SECRET@h/", "x-foo:u:SECRET@h", "x-foo://u:SECRET@h", "x-foo:u:SEC/RET@h",
			"ftp://u@h/x", "ftps://u@h/x", "telnet://u@h", "x-foo://u@h", "ftp://@h/x",
		} {
			err := closed(r.Get(t.Context(), url))
			if !errors.Is(err, fetch.ErrRefused) {
				t.Errorf("%s: %v", url, err)
			}
			if err != nil && strings.Contains(err.Error(), "SECRET") {
				t.Errorf("the error shows the password: %v", err)
			}
		}
		for _, url := range []string{"ftps://h:990/x", "gophers://h/0x"} {
			if err := closed(r.Get(t.Context(), url)); err != nil {
				t.Errorf("%s: %v", url, err)
			}
		}
	}
	for _, req := range web.requests {
		if o, _ := req.Options.(*http.Options); strings.Contains(req.Locator.String(), "SECRET") || o != nil && strings.Contains(o.Proxied.String(), "SECRET") {
			t.Errorf("the gateway received the request %+v", req)
		}
	}
	if len(web.requests) != 4 || len(direct.requests) != 0 {
		t.Errorf("%d requests to the gateways, %d past them", len(web.requests), len(direct.requests))
	}
}

// GatewayLogins permits it.
func TestGatewayLogins(t *testing.T) {
	web := &fake{answer: text("by gateway")}
	r := Resolver{
		Schemes: fakes(map[string]driver.Fetcher{"http": web}), GatewayLogins: true,
		Gateways: map[string]string{"ftp": "http://gw/{url}", "telnet": "http://gw"},
	}
	for _, url := range []string{"ftp://u:p@h/x", "telnet://u:p@h"} {
		if err := closed(r.Get(t.Context(), url)); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	if got := web.requests[0].Locator.String(); got != "http://gw/ftp%3A%2F%2Fu%3Ap%40h%2Fx" {
		t.Errorf("the gateway received the request %s", got)
	}
	if o := web.requests[1].Options.(*http.Options); o.Proxied.String() != "telnet://u:p@h" || !o.ProxiedPassword {
		t.Errorf("the options are %+v", o)
	}
}

// TestGatewayOnlyFetches: no operation bypasses a gateway.
func TestGatewayOnlyFetches(t *testing.T) {
	direct, web := &fake{answer: text("direct")}, &fake{answer: text("by gateway")}
	r := Resolver{
		Schemes:  fakes(map[string]driver.Fetcher{"http": web, "ftp": direct, "ftps": direct}),
		Gateways: map[string]string{"ftp": "http://gw/?url={url}", "FTPS": "http://gw", "http": "http://gw/{url}"},
	}
	for _, url := range []string{"ftp://h/x", "ftps://h/x", "http://h/x"} {
		_, err1 := attributesAt(t.Context(), &r, url)
		_, err2 := r.Put(t.Context(), url, strings.NewReader("x"))
		_, err3 := r.Post(t.Context(), url, strings.NewReader("x"))
		for _, err := range []error{err1, err2, err3} {
			if !errors.Is(err, fetch.ErrUnsupported) || !strings.Contains(err.Error(), "gateway") {
				t.Errorf("%s: %v", url, err)
			}
		}
	}
	for _, options := range []*http.Options{{Method: "PUT"}, {Method: "HEAD"}, {Body: strings.NewReader("x")}, {Verb: "DELETE"}} {
		if err := closed(r.Fetch(t.Context(), &fetch.Request{Locator: mustParse(t, "http://h/x"), Options: options})); !errors.Is(err, fetch.ErrUnsupported) {
			t.Errorf("%+v: %v", options, err)
		}
	}
	if n := len(web.requests) + len(direct.requests); n != 0 {
		t.Errorf("%d requests", n)
	}
	if err := closed(r.Fetch(t.Context(), &fetch.Request{Locator: mustParse(t, "http://h/x"), Options: &http.Options{Method: "GET"}})); err != nil {
		t.Error(err)
	}
}
