package gateway

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"strings"
	"testing"
)

// TestToken tests every way in for a client that knows the token, and that there is no other.
func TestToken(t *testing.T) {
	const token = "s3cret; token+&="
	s := start(t, func(h *Handler) { h.Token, h.Proxy = token, true })
	addr := s.Listener.Addr().String()
	h := s.Config.Handler.(*Handler)
	basicToken := base64.StdEncoding.EncodeToString([]byte("anyone:" + token))
	for _, tc := range []struct {
		line, fields, want string
	}{
		{"GET /", "", "401"},
		{"GET /open?url=mailto%3Aa%40b", "", "401"},
		{"GET /mailto/a@b", "", "401"},
		{"GET /style.css", "", "401"},
		{"GET /favicon.ico", "", "401"},
		{"OPTIONS /", "", "401"},
		{"POST /gopher/h/0x", "", "401"},
		{"GET /?token=s3cret", "", "401"},
		{"GET /?token=", "", "401"},
		{"GET /mailto/a@b?token=s3cret%3B%20token%2B%26%3D", "", "401"}, // only at the start
		{"GET /", "Authorization: Bearer", "401"},
		{"GET /", "Authorization: Bearer s3cret", "401"},
		{"GET /", "Authorization: Basic " + basicToken, "401"},
		{"GET /", "Proxy-Authorization: Basic " + basicToken, "401"},
		{"GET /", "Cookie: " + tokenCookie + "=", "401"},
		{"GET /", "Cookie: " + tokenCookie + "=s3cret", "401"},
		{"GET /", "Cookie: other=" + h.cookieValue(), "401"},
		{"GET mailto:a@b", "", "407"},
		{"GET mailto:a@b", "Authorization: Bearer " + token, "407"},
		{"GET mailto:a@b", "Cookie: " + tokenCookie + "=" + h.cookieValue(), "407"},
		{"CONNECT 127.0.0.1:70", "", "407"},
		{"GET /?token=s3cret%3B%20token%2B%26%3D", "", "moved"},
		{"GET /mailto/a@b", "Authorization: Bearer " + token, "served"},
		{"GET /mailto/a@b", "authorization: bearer " + token, "served"},
		{"GET /mailto/a@b", "Cookie: a=b; " + tokenCookie + "=" + h.cookieValue(), "served"},
		{"GET mailto:a@b", "Proxy-Authorization: Basic " + basicToken, "served"},
		{"GET mailto:a@b", "Proxy-Authorization: Basic !", "407"},
		{"GET /mailto/a@b", "Authorization: Bearer " + token + "\r\nSec-Fetch-Site: cross-site", "403"}, // the token replaces no other check
	} {
		res, body := exchange(t, addr, tc.line, "X: y\r\n"+tc.fields)
		if tc.fields == "" {
			res, body = exchange(t, addr, tc.line)
		}
		if got := outcome(res, body); got != tc.want {
			t.Errorf("%s, %s: %s, want %s", tc.line, tc.fields, got, tc.want)
		}
		if strings.Contains(body, "s3cret") || strings.Contains(res.Header.Get("Location"), "s3cret") || strings.Contains(res.Header.Get("Set-Cookie"), "s3cret") {
			t.Errorf("%s, %s: the answer has the token: %v\n%s", tc.line, tc.fields, res.Header, body)
		}
	}
}

// TestTokenOfBrowser tests the way of a browser: the URL with the token, a page, and a link of
// another site, with which it does not send the cookie.
func TestTokenOfBrowser(t *testing.T) {
	var logged strings.Builder
	s := start(t, func(h *Handler) {
		h.Token = "s3cret"
		h.AllowClients = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		h.Log = func(a LogEntry) { logged.WriteString(a.URL + " " + a.Page + "\n") }
	})
	jar, _ := cookiejar.New(nil)
	var seen []string
	client := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		seen = append(seen, r.URL.String(), r.Header.Get("Referer"))
		r.Header.Del("Referer") // as Referrer-Policy says
		return nil
	}}
	res, err := client.Get(s.URL + "/?token=s3cret")
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if res.StatusCode != 200 || res.Request.URL.String() != s.URL+"/" || strings.Contains(string(body), "s3cret") {
		t.Errorf("%s at %s\n%s", res.Status, res.Request.URL, body)
	}
	plain := *client
	plain.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err = (&http.Client{CheckRedirect: plain.CheckRedirect}).Get(s.URL + "/?token=s3cret")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	cookie := res.Header.Get("Set-Cookie")
	if !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") || !strings.Contains(cookie, "Path=/") || res.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("%v", res.Header)
	}
	// A link of another site: without the cookie there is a page with a link, with it the page.
	req, _ := http.NewRequest("GET", s.URL+"/open?url=mailto%3Aa%40b", nil)
	req.Header.Set("Accept", "text/html")
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	req.Header.Set("Sec-Fetch-Mode", "navigate")
	req.Header.Set("Sec-Fetch-Dest", "document")
	res, err = http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, _ = io.ReadAll(res.Body)
	res.Body.Close()
	if res.StatusCode != 401 || !strings.Contains(string(body), `href="/open?url=mailto%3Aa%40b"`) {
		t.Errorf("%s\n%s", res.Status, body)
	}
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err = client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 200 || res.Request.URL.Path != "/mailto/a@b" {
		t.Errorf("%s at %s", res.Status, res.Request.URL)
	}
	if strings.Contains(logged.String(), "s3cret") {
		t.Errorf("the log has the token:\n%s", &logged)
	}
	// The link of the page never leaves the gateway.
	if _, body := exchange(t, s.Listener.Addr().String(), "GET //evil.example/", "Accept: text/html"); strings.Contains(body, `"//`) || !strings.Contains(body, `"/evil.example/"`) {
		t.Errorf("the page links to another site:\n%s", body)
	}
}
