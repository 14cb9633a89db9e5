package gopher

import (
	"errors"
	"strings"

	"github.com/fetch1738/fetch1738/locator"
)

var (
	errPlus = errors.New("a Gopher+ string starts with + ! $ or is ?")
	errForm = errors.New("only a Gopher+ string that starts with + carries a form")
)

// octets is the request for an item (RFC 1738 §3.4.1 to §3.4.9). It is one line
// unless the Gopher+ string is a form that has been filled in.
//
// Where the search is empty, §3.4.3 wants two TABs before a Gopher+ string, and
// its own example in §3.4.9 one, as all servers do: two are sent only with
// Exact, or to a search (type 7), which has that field.
func (f *Fetcher) octets(l *locator.Gopher, selector, words string) ([]byte, error) {
	b := make([]byte, 0, len(selector)+len(words)+len(l.Plus)+4)
	b = append(b, selector...)
	hasPlus := l.Plus != ""
	if words != "" || hasPlus && l.Type == '7' || f.Exact && (hasPlus || l.Fields > 0) {
		b = append(b, '\t')
		b = append(b, words...)
	}
	if hasPlus {
		plus, form, err := f.plus(l.Plus)
		if err != nil {
			return nil, err
		}
		b = append(b, '\t')
		b = append(b, plus...)
		if form {
			return b, nil // it brings its own line ends
		}
	}
	return append(b, '\r', '\n'), nil
}

// plus is a Gopher+ string as it is sent, and whether it is a form. "?" says
// that the item has a form, which is among its attributes; it is never sent.
// Between attribute names, which begin with "+", servers want no spaces.
func (f *Fetcher) plus(s string) (plus string, form bool, err error) {
	form = strings.Contains(s, "\r\n")
	switch {
	case s == "?":
		return "!", false, nil
	case s[0] == '+':
		return s, form, nil
	case s[0] != '!' && s[0] != '$':
		return "", false, errPlus
	case form:
		return "", false, errForm
	case f.Exact:
		return s, false, nil
	}
	return strings.ReplaceAll(s, " ", ""), false, nil
}
