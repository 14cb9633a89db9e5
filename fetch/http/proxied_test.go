package http

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/http/internal/exchange"
	"github.com/fetch1738/fetch1738/fetch/proxy"
	"github.com/fetch1738/fetch1738/locator"
)

// TestProxied checks that an HTTP proxy receives the URL of the other scheme unchanged.
func TestProxied(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "a menu") }))
	defer srv.Close()
	f := &Fetcher{}
	defer f.Close()
	at, err := locator.Parser{}.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	for url, host := range map[string]string{
		"gopher://h:7070/1/a%20b%0D%0Ax": "h:7070",
		"wais://h/db?a+b":                "h",
		"ftp://me@h/%2Fetc/motd;type=a":  "h",
	} {
		ref, err := locator.Parser{}.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		var sent strings.Builder
		ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Sent: func(octets []byte) { sent.Write(octets) }})
		res, err := f.Fetch(ctx, &fetch.Request{Locator: at.Locator, Options: &Options{Proxied: ref.Locator}})
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if got, err := io.ReadAll(res.Body); string(got) != "a menu" || err != nil {
			t.Errorf("%s: %q, %v", url, got, err)
		}
		res.Close()
		if want := "GET " + url + " HTTP/1.1\r\nHost: " + host + "\r\n"; !strings.HasPrefix(sent.String(), want) {
			t.Errorf("%s was requested by %q", url, sent.String())
		}
	}
	secret := &locator.FTP{Server: locator.Server{Login: &locator.Login{User: "me", Password: "canary", HasPassword: true}, HostPort: locator.HostPort{Host: "h"}}}
	_, err = f.Fetch(t.Context(), &fetch.Request{Locator: at.Locator, Options: &Options{Proxied: secret}})
	if !errors.Is(err, fetch.ErrRefused) || strings.Contains(err.Error(), "canary") {
		t.Errorf("with a password: %v", err)
	}
}

// TestMaskedURLs checks that only the password of a URL in a request head is masked.
func TestMaskedURLs(t *testing.T) {
	for head, want := range map[string]string{
		"GET /a:b@c HTTP/1.1\r\nHost: h\r\n\r\n":                                  "GET /a:b@c HTTP/1.1\r\nHost: h\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\n\r\n":                                              "OPTIONS * HTTP/1.1\r\n\r\n",
		"GET ftp://u:p@h/a:b@c HTTP/1.1\r\nreferer: http:u:p@h/x?y\r\n\r\n":       "GET ftp://u:***@h/a:b@c HTTP/1.1\r\nreferer: http:u:***@h/x?y\r\n\r\n",
		"GET http://h:80/a:b@c HTTP/1.1\r\nReferer: http://h:8080/@x\r\nX: y\r\n": "GET http://h:80/a:b@c HTTP/1.1\r\nReferer: http://h:8080/@x\r\nX: y\r\n",
		"GET / HTTP/1.1\r\nReferer: \r\nCookie: c\r\nAuthorization: Basic x\r\n":  "GET / HTTP/1.1\r\nReferer: \r\nCookie: ****\r\nAuthorization: ****\r\n",
	} {
		if got := string(exchange.Masked([]byte(head))); got != want {
			t.Errorf("%q is shown as %q", head, got)
		}
	}
}

// TestProxiedPassword checks that with ProxiedPassword only the proxy receives the login, and that
// Fetcher.Proxy is not called.
func TestProxiedPassword(t *testing.T) {
	var asked, authorization string
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked, authorization = r.RequestURI, r.Header.Get("Authorization")
	}))
	defer srv.Close()
	f := &Fetcher{Proxy: func(l locator.Locator) *proxy.Proxy {
		t.Errorf("Proxy was called for %s", l)
		return nil
	}}
	defer f.Close()
	at, err := locator.Parser{}.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := locator.Parser{}.Parse("ftp://me:can%40ary@h/x")
	if err != nil {
		t.Fatal(err)
	}
	var sent strings.Builder
	ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Sent: func(octets []byte) { sent.Write(octets) }})
	res, err := f.Fetch(ctx, &fetch.Request{Locator: at.Locator, Options: &Options{Proxied: ref.Locator, ProxiedPassword: true}})
	if err != nil {
		t.Fatal(err)
	}
	res.Close()
	if asked != "ftp://me:can%40ary@h/x" || authorization != "Basic bWU6Y2FuQGFyeQ==" {
		t.Errorf("asked for %q with %q", asked, authorization)
	}
	if got := sent.String(); !strings.HasPrefix(got, "GET ftp://me:***@h/x HTTP/1.1\r\n") || strings.Contains(got, "bWU6") {
		t.Errorf("the trace shows %q", got)
	}
}
