package http

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
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
		err = driver.Fail(fetch.OpLogin, c.locator, fetch.ErrUnauthenticated, errors.New("the user name or password contains a line break or NUL"))
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
	for _, p := range parameters {
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "realm") {
			value = strings.TrimSpace(value)
			if text, ok := strings.CutPrefix(value, `"`); ok {
				return unquoted(strings.TrimSuffix(text, `"`))
			}
			return value
		}
	}
	return ""
}

// basicChallenge finds the parameters of a Basic challenge. Those of other challenges may follow
// them. A field may hold several challenges (RFC 9110 §11.6.1).
func basicChallenge(resp *http.Response) ([]string, bool) {
	const basic = "Basic"
	for _, field := range resp.Header.Values("WWW-Authenticate") {
		members := listMembers(field)
		for i, m := range members {
			if len(m) >= len(basic) && strings.EqualFold(m[:len(basic)], basic) && (len(m) == len(basic) || strings.ContainsRune(" \t", rune(m[len(basic)]))) {
				return append([]string{m[len(basic):]}, members[i+1:]...), true
			}
		}
	}
	return nil, false
}

// listMembers splits a field at its commas, but not at those in quoted strings.
func listMembers(field string) (all []string) {
	quoted, start := false, 0
	for i := 0; i < len(field); i++ {
		switch {
		case field[i] == '"':
			quoted = !quoted
		case field[i] == '\\' && quoted:
			i++
		case field[i] == ',' && !quoted:
			all = append(all, strings.Trim(field[start:i], " \t"))
			start = i + 1
		}
	}
	return append(all, strings.Trim(field[start:], " \t"))
}

// unquoted returns the text of a quoted string (RFC 9110 §5.6.4), without its quotation marks.
func unquoted(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
