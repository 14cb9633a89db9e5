package gopher

import (
	"errors"
	"strings"

	"github.com/fetch1738/fetch1738/locator"
)

var (
	errPlus = errors.New(`a Gopher+ string must begin with "+", "!" or "$", or be "?"`)
	errForm = errors.New(`only a Gopher+ string that begins with "+" can contain a form`)
)

// encodeRequest returns the request for an item (RFC 1738 §3.4.1 to §3.4.9). It is one line, unless
// plus, the Gopher+ string, is a filled form.
//
// If the search is empty, §3.4.3 requires two TABs before a Gopher+ string. The example in §3.4.9
// has one TAB, and servers expect one. Two are sent only with Exact, or to a search (type 7), whose
// request always has that field. For a search, the TAB is also sent before empty words if the URL
// has them.
func (f *Fetcher) encodeRequest(l *locator.Gopher, selector, words, plus string) []byte {
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
			return b // it includes its own line ends
		}
	}
	return append(b, '\r', '\n')
}

// plusString returns a Gopher+ string as it is sent. "?" is never sent: it means that the item has
// a form, which is among its attributes. Attribute names begin with "+"; servers do not accept
// spaces between them.
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
