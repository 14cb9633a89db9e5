package gateway

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"strings"
)

// tokenCookie is the name of the cookie of a browser that has opened the URL with the token.
const tokenCookie = "fetch1738-gateway"

// checkToken accepts a client that knows the Token, if there is one:
//   - a browser, once it has opened the path "/?token=…", by a cookie;
//   - another program by "Authorization: Bearer …";
//   - a client of the proxy by a login with the token as its password, for any user.
//
// The cookie is not the token, which may contain anything, and which the browser need not keep.
func checkToken(q *request, header http.Header) *failure {
	if q.h.Token == "" || knowsToken(q) {
		return nil
	}
	f := &failure{Status: http.StatusUnauthorized, Text: "This gateway requires its token.", Do: "Open the URL that the gateway printed when it started."}
	if q.native {
		f.Status = http.StatusProxyAuthRequired
		f.Do = "Set it as the password of the proxy: http://token:TOKEN@HOST:PORT."
		header.Set("Proxy-Authenticate", `Basic realm="fetch1738 gateway"`)
		return f
	}
	header.Set("WWW-Authenticate", `Bearer realm="fetch1738 gateway"`)
	if q.r.Method == http.MethodGet && q.headerValue("Sec-Fetch-Site") != "same-origin" && !q.r.URL.Query().Has("token") {
		// A browser sends the cookie to no request that another site has caused. After a click on a
		// link of this page it does.
		f.Do = "If this browser has opened the gateway before, try again. Otherwise open the URL that the gateway printed when it started."
		f.Retry = q.again()
	}
	return f
}

// knowsToken reports whether the request has the token: in the query, as Bearer, in a cookie, or, to
// a proxy, as the password.
func knowsToken(q *request) bool {
	if q.native {
		if _, password, ok := basic(q.r.Header.Values("Proxy-Authorization")); ok {
			return q.h.isToken(password)
		}
		return false
	}
	if atHome(q) && q.h.isToken(q.r.URL.Query().Get("token")) {
		return true
	}
	if scheme, value, _ := strings.Cut(q.headerValue("Authorization"), " "); strings.EqualFold(scheme, "Bearer") && q.h.isToken(strings.TrimSpace(value)) {
		return true
	}
	for _, c := range q.r.CookiesNamed(tokenCookie) {
		if same(c.Value, q.h.cookieValue()) {
			return true
		}
	}
	return false
}

// isToken reports whether a text is the token. It reports false for an empty text.
func (h *Handler) isToken(s string) bool { return h.Token != "" && same(s, h.Token) }

// same compares in a time that depends neither on the texts nor on their lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// cookieValue is a hash of the token, so that the cookie does not show it.
func (h *Handler) cookieValue() string {
	sum := sha256.Sum256([]byte("fetch1738 gateway cookie " + h.Token))
	return hex.EncodeToString(sum[:])
}

// atHome reports whether the request is for the path "/".
func atHome(q *request) bool { return q.r.URL.EscapedPath() == q.prefix+"/" }

// enter stores the cookie of a browser that has opened the URL with the token, and leads it to the
// same URL without the token. It reports whether the request has been answered.
func (w *response) enter(q *request) bool {
	if !q.r.URL.Query().Has("token") {
		return false
	}
	if q.h.isToken(q.r.URL.Query().Get("token")) {
		http.SetCookie(w, &http.Cookie{
			Name: tokenCookie, Value: q.h.cookieValue(), Path: q.prefix + "/",
			HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: q.r.TLS != nil,
		})
	}
	w.redirect(q, "/")
	return true
}
