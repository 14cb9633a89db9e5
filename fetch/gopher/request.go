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
// unless plus, the Gopher+ string, is a form that has been filled in.
//
// Where the search is empty, §3.4.3 wants two TABs before a Gopher+ string, and
// its own example in §3.4.9 one, as all servers do: two are sent only with
// Exact, or to a search (type 7), which has that field. Its TAB is sent before
// empty words too, where the URL has them.
func (f *Fetcher) octets(l *locator.Gopher, selector, words, plus string) []byte {
	b := make([]byte, 0, len(selector)+len(words)+len(plus)+4)
	b = append(b, selector...)
	if words != "" || l.Type == '7' && (plus != "" || l.Fields > 0) || f.Exact && (plus != "" || l.Fields > 0) {
		b = append(b, '\t')
		b = append(b, words...)
	}
	if plus != "" {
		b = append(b, '\t')
		b = append(b, plus...)
		if isForm(plus) {
			return b // it brings its own line ends
		}
	}
	return append(b, '\r', '\n')
}

// plusString is a Gopher+ string as it is sent. "?" says that the item has a
// form, which is among its attributes; it is never sent. Between attribute
// names, which begin with "+", servers want no spaces.
func (f *Fetcher) plusString(s string) (string, error) {
	switch {
	case s == "?":
		return "!", nil
	case s[0] == '+':
		return s, nil
	case s[0] != '!' && s[0] != '$':
		return "", errPlus
	case isForm(s):
		return "", errForm
	case f.Exact:
		return s, nil
	}
	return strings.ReplaceAll(s, " ", ""), nil
}
