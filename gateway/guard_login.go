package gateway

import (
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/nntp"
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

// findLogin sets v.user to the login that the client sent for v.loc. It is called before v.loc is
// accessed.
func (v guard) findLogin() {
	if user, password, ok := basic(v.r.Header.Values("Authorization")); ok && v.user == nil && v.takesLogin() {
		v.user = &locator.Login{User: user, Password: password, HasPassword: true}
	}
}

// basic reads a field of basic authentication.
func basic(values []string) (user, password string, ok bool) {
	if len(values) != 1 {
		return "", "", false
	}
	r := http.Request{Header: http.Header{"Authorization": values}}
	return r.BasicAuth()
}

// takesLogin reports whether a login can be sent for v.loc, and the way of the request is safe.
func (v guard) takesLogin() bool {
	if path, _ := strings.CutPrefix(v.r.URL.EscapedPath(), v.h.Prefix); !v.native && path == "/url" {
		return false
	}
	return realm(v.loc) != "" && v.confidential()
}

// confidential reports whether nobody on a network can read the request.
func (v guard) confidential() bool { return localAddr(v.r).Addr().IsLoopback() }

// realm is the server of a URL, as the user reads it, or "" if the scheme has no login.
func realm(l locator.Locator) string {
	switch l := l.(type) {
	case *locator.FTP, *locator.NNTP:
		return l.Scheme() + "://" + server(l)
	case *locator.News:
		if l.Host != "" {
			return l.Scheme() + "://" + server(l)
		}
		return l.Scheme()
	}
	return ""
}

// login adds the login that the client sent for v.loc to a request of a Transport.
func (v guard) login(out *http.Request) {
	if v.user != nil {
		out.SetBasicAuth(v.user.User, v.user.Password)
	}
}

// prepare adds the login and the search words of the client to a request. The login is for the
// server of v.loc only.
func (v *visit) prepare(req *fetch.Request) {
	req.Query = v.query.Get("q")
	if v.user == nil || realm(req.Locator) != realm(v.loc) {
		return
	}
	switch req.Locator.(type) {
	case *locator.News, *locator.NNTP:
		options := nntp.Options{}
		if o, ok := req.Options.(*nntp.Options); ok && o != nil {
			options = *o
		}
		options.Login = v.user
		req.Options = &options
	default:
		req.Locator, _ = locator.WithLogin(req.Locator, v.user)
	}
}

// challenge is the error of a request with the query "login" that has no login yet.
func (v guard) challenge() error {
	if !v.wants("login") || v.user != nil || realm(v.loc) == "" {
		return nil
	}
	return driver.Fail(fetch.OpLogin, v.loc, fetch.ErrUnauthenticated, nil)
}

// offerLogin completes the failure of an access that lacks a login, or the right one.
func (v guard) offerLogin(f *failure) {
	where := realm(v.loc)
	if where == "" || f.Status != http.StatusUnauthorized && (f.Status != http.StatusForbidden || v.user != nil || fetch.KindOf(f.err) != fetch.ErrPermission) {
		return
	}
	f.Again = ""
	if f.Status == http.StatusUnauthorized && v.user != nil {
		f.Typed, f.Text = true, "The server refused the login."
	}
	plainly := ""
	if s, _ := locator.SchemeOf(v.loc.Scheme()); !s.Secure {
		plainly = " The connection to the server is not encrypted."
	}
	navigation := v.headerValue("Sec-Fetch-Dest") == "document" && v.headerValue("Sec-Fetch-Mode") == "navigate"
	if f.Login, f.Retry = place.At(v.h.Prefix+place.Of(v.loc)).With("login"), (place.Link{}); v.native {
		f.Login = place.Link{}
	}
	switch {
	case !v.takesLogin():
		if f.Status == http.StatusUnauthorized {
			f.Status = http.StatusForbidden
		}
		f.Do, f.Login = "The gateway takes logins only at its loopback address, and for URLs that have a path of their own.", place.Link{}
	case f.Status == http.StatusUnauthorized && !v.crossSite && (v.headerValue("Sec-Fetch-Site") == "" || navigation && v.wants("login")):
		v.w.Header().Set("WWW-Authenticate", `Basic realm="`+strings.Map(printable, where)+`", charset="UTF-8"`)
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
