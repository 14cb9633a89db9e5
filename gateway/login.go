package gateway

import (
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
)

// A login reaches the gateway with each request that is to use it, as basic authentication (RFC
// 7617), and is kept nowhere. A browser keeps it in memory, for the paths below that of the page
// which asked for it. So a server's paths are the space where its login is valid, and the path
// "/url", below which all servers are, never asks for a login and never takes one.
//
// A browser is asked for a login only if the user has clicked on a link that says which server gets
// it: the dialog of a browser need not show the realm. A link of another site never leads to that
// question.

// findLogin returns the login that the client sent for the Locator, or nil. It is called before the
// Locator is accessed.
func findLogin(q *request) *locator.Login {
	if user, password, ok := basic(q.r.Header.Values("Authorization")); ok && q.user == nil && takesLogin(q) {
		return &locator.Login{User: user, Password: password, HasPassword: true}
	}
	return q.user
}

// basic reads a field of basic authentication.
func basic(values []string) (user, password string, ok bool) {
	if len(values) != 1 {
		return "", "", false
	}
	r := http.Request{Header: http.Header{"Authorization": values}}
	return r.BasicAuth()
}

// takesLogin reports whether a login can be sent for the Locator, and nobody on a network can read
// the request.
func takesLogin(q *request) bool {
	if path, _ := strings.CutPrefix(q.r.URL.EscapedPath(), q.prefix); !q.native && path == "/url" {
		return false
	}
	return place.Realm(q.loc) != "" && localAddr(q.r).Addr().IsLoopback()
}

// challenge is the error of a request with the query "login" that has no login yet.
func challenge(q *request) error {
	if !q.wants("login") || q.user != nil || place.Realm(q.loc) == "" {
		return nil
	}
	return driver.Fail(fetch.OpLogin, q.loc, fetch.ErrUnauthenticated, nil)
}

// offerLogin completes the failure of an access that lacks a login, or the right one.
func offerLogin(q *request, f *failure, header http.Header) {
	where := place.Realm(q.loc)
	if where == "" || f.Status != http.StatusUnauthorized && (f.Status != http.StatusForbidden || q.user != nil || fetch.KindOf(f.err) != fetch.ErrPermission) {
		return
	}
	f.Again = ""
	if f.Status == http.StatusUnauthorized && q.user != nil {
		f.Typed, f.Text = true, "The server refused the login."
	}
	plainly := ""
	if s, _ := locator.SchemeOf(q.loc.Scheme()); !s.Secure {
		plainly = " The connection to the server is not encrypted."
	}
	navigation := q.headerValue("Sec-Fetch-Dest") == "document" && q.headerValue("Sec-Fetch-Mode") == "navigate"
	if f.Login, f.Retry = place.At(q.prefix+place.Of(q.loc)).With("login"), (place.Link{}); q.native {
		f.Login = place.Link{}
	}
	switch {
	case !takesLogin(q):
		if f.Status == http.StatusUnauthorized {
			f.Status = http.StatusForbidden
		}
		f.Do, f.Login = "The gateway takes logins only at its loopback address, and for URLs that have a path of their own.", place.Link{}
	case f.Status == http.StatusUnauthorized && !q.crossSite && (q.headerValue("Sec-Fetch-Site") == "" || navigation && q.wants("login")):
		header.Set("WWW-Authenticate", `Basic realm="`+strings.Map(printable, where)+`", charset="UTF-8"`)
		f.Do = "The user name and the password go to " + where + " and to no other server." + plainly
	default:
		f.Status = http.StatusForbidden
		f.Do = "A login for " + where + " may help: the browser asks for it, and it goes to no other server." + plainly
	}
}

// printable keeps a character that a quoted string can have (RFC 9110 §5.6.4).
func printable(r rune) rune {
	if r < ' ' || r > '~' || r == '"' || r == '\\' {
		return '_'
	}
	return r
}
