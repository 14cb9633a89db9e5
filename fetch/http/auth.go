package http

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

// askLogin asks Env.Credentials for the login that a 401 requires. It returns nil if a login would
// not help or nobody can supply one: then the 401 is the final response.
func (c *call) askLogin(resp *http.Response) (*locator.Login, error) {
	if c.env.Credentials == nil || !hasBasic(resp) || c.opt.Header.Get("Authorization") != "" && !c.leftOrigin {
		return nil, nil
	}
	question := fetch.Challenge{Locator: c.locator, Text: realm(resp)}
	if c.locator.Login != nil {
		question.User = c.locator.Login.User
	}
	login, err := c.env.Login(c.ctx, question)
	if err == nil && strings.ContainsAny(login.User+login.Password, "\x00\r\n") {
		err = fetch.Fail(fetch.OpLogin, c.locator, fetch.ErrUnauthenticated, errors.New("the user name or password contains a line break or NUL"))
	}
	switch {
	case err == nil:
		return &login, nil
	case c.opt.AnyStatus && errors.Is(err, fetch.ErrUnauthenticated):
		return nil, nil
	}
	resp.Body.Close()
	return nil, c.fail(err)
}

// basic returns the value of the Authorization field (RFC 7617).
func basic(l *locator.Login) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(l.User+":"+l.Password))
}

// hasBasic reports whether a 401 offers Basic authentication.
func hasBasic(resp *http.Response) bool {
	_, ok := basicChallenge(resp)
	return ok
}

// realm returns the realm of a Basic challenge.
func realm(resp *http.Response) string {
	parameters, _ := basicChallenge(resp)
	for p := range strings.SplitSeq(parameters, ",") {
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "realm") {
			return strings.Trim(value, ` "`)
		}
	}
	return ""
}

// basicChallenge finds the parameters of a Basic challenge. Those of other challenges may follow
// them. A field may hold several challenges (RFC 9110 §11.6.1).
func basicChallenge(resp *http.Response) (string, bool) {
	for _, field := range resp.Header.Values("WWW-Authenticate") {
		for rest := field; rest != ""; {
			challenge := strings.TrimLeft(rest, " \t")
			if len(challenge) >= 5 && strings.EqualFold(challenge[:5], "Basic") && (len(challenge) == 5 || strings.ContainsRune(" \t,", rune(challenge[5]))) {
				return challenge[5:], true
			}
			_, rest, _ = strings.Cut(rest, ",")
		}
	}
	return "", false
}
