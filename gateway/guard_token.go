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
func (v guard) checkToken() *failure {
	if v.h.Token == "" || v.knowsToken() {
		return nil
	}
	f := &failure{Status: http.StatusUnauthorized, Text: "This gateway requires its token.", Do: "Open the URL that the gateway printed when it started."}
	if v.native {
		f.Status = http.StatusProxyAuthRequired
		f.Do = "Set it as the password of the proxy: http://token:TOKEN@HOST:PORT."
		v.w.Header().Set("Proxy-Authenticate", `Basic realm="fetch1738 gateway"`)
		return f
	}
	v.w.Header().Set("WWW-Authenticate", `Bearer realm="fetch1738 gateway"`)
	if v.r.Method == http.MethodGet && v.headerValue("Sec-Fetch-Site") != "same-origin" && !v.r.URL.Query().Has("token") {
		// A browser sends the cookie to no request that another site has caused. After a click on a
		// link of this page it does.
		f.Do = "If this browser has opened the gateway before, try again. Otherwise open the URL that the gateway printed when it started."
		f.Retry = v.requestLink()
	}
	return f
}

// knowsToken reports whether the request has the token: in the query, as Bearer, in a cookie, or, to
// a proxy, as the password.
func (v guard) knowsToken() bool {
	if v.native {
		if _, password, ok := basic(v.r.Header.Values("Proxy-Authorization")); ok {
			return v.isToken(password)
		}
		return false
	}
	if v.atHome() && v.isToken(v.r.URL.Query().Get("token")) {
		return true
	}
	if scheme, value, _ := strings.Cut(v.headerValue("Authorization"), " "); strings.EqualFold(scheme, "Bearer") && v.isToken(strings.TrimSpace(value)) {
		return true
	}
	for _, c := range v.r.CookiesNamed(tokenCookie) {
		if same(c.Value, v.h.cookieValue()) {
			return true
		}
	}
	return false
}

// isToken reports whether a text is the token. It reports false for an empty text.
func (v guard) isToken(s string) bool { return v.h.Token != "" && same(s, v.h.Token) }

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
func (v guard) atHome() bool { return v.r.URL.EscapedPath() == v.h.Prefix+"/" }

// enter stores the cookie of a browser that has opened the URL with the token, and leads it to the
// same URL without the token. It reports whether the request has been answered.
func (v guard) enter() bool {
	if !v.r.URL.Query().Has("token") {
		return false
	}
	if v.isToken(v.r.URL.Query().Get("token")) {
		http.SetCookie(v.w, &http.Cookie{
			Name: tokenCookie, Value: v.h.cookieValue(), Path: v.h.Prefix + "/",
			HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: v.r.TLS != nil,
		})
	}
	v.redirect("/")
	return true
}
