package gopher

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/menu"
	"github.com/fetch1738/fetch1738/locator"
)

var (
	errNotGopher = errors.New("not a gopher URL")
	errOptions   = errors.New("there are no options for gopher")
	errFromEnd   = errors.New("gopher cannot count from the end")
	errLength    = errors.New("negative length")
	errCSO       = errors.New("type 2 is a CSO phone book, which does not speak gopher")
	errNoWords   = errors.New("only a search (type 7) takes words")
	errTwice     = errors.New("the URL has search words already")
)

// access is what a request comes to, before anything is dialled.
type access struct {
	itemType
	loc  *locator.Gopher
	kind fetch.Kind
	host string
	port uint16
	note string

	request  []byte          // for all kinds but Query and Advice
	plus     bool            // the answer may be one of Gopher+
	referral locator.Locator // where the item really is
	advice   string
}

// prepare finds out what a request comes to. Nothing else decides what is sent.
func (f *Fetcher) prepare(req *fetch.Request) (*access, error) {
	l, err := locatorOf(req)
	if err != nil {
		return nil, err
	}
	if err := checkRequest(req); err != nil {
		return nil, err
	}
	server, _ := locator.ServerOf(l)
	a := &access{loc: l, host: server.Host, port: server.Port, itemType: types[l.Type]}
	switch {
	case l.Type == '2':
		return nil, fetch.Fail("fetch", l, fetch.Unsupported, errCSO)
	case l.Type == '8' || l.Type == 'T':
		a.kind, a.advice = fetch.KindAdvice, session(a)
		return a, nil
	}
	if url := menu.SelectorURL([]byte(l.Selector)); l.Type == 'h' && url != nil && l.Plus == "" {
		a.referral, err = linked(string(url))
		if err != nil {
			return nil, fetch.Fail("fetch", l, fetch.BadURL, err)
		}
		return a, nil
	}
	return a, f.prepareRequest(req, a)
}

// checkRequest refuses what no gopher request can have.
func checkRequest(req *fetch.Request) error {
	switch {
	case req.Options != nil:
		return fetch.Fail("fetch", req.Locator, fetch.Unsupported, errOptions)
	case req.Offset < 0:
		return fetch.Fail("fetch", req.Locator, fetch.Unsupported, errFromEnd)
	case req.Length < 0:
		return fetch.Fail("fetch", req.Locator, fetch.BadRange, errLength)
	}
	return nil
}

// prepareRequest fills in what is sent, and what is made of the answer.
func (f *Fetcher) prepareRequest(req *fetch.Request, a *access) error {
	l := a.loc
	selector, words, err := f.split(l, req.Query)
	if err != nil {
		return fetch.Fail("fetch", l, fetch.BadURL, err)
	}
	if l.Type == '7' && words == "" && !strings.HasPrefix(l.Plus, "!") && !strings.HasPrefix(l.Plus, "$") && l.Plus != "?" {
		a.kind = fetch.KindQuery
		return nil
	}
	a.request, err = f.octets(l, selector, words)
	if err != nil {
		return fetch.Fail("fetch", l, fetch.BadURL, err)
	}
	switch {
	case l.Plus != "":
		a.plus, a.framing, a.media = true, untilClose, ""
		a.note = "the answer to a Gopher+ request is given as it comes, with its header"
		if l.Plus == "?" {
			a.note = `a form ("?") is not filled in: its attributes ("!") are asked for; ` + a.note
		}
	case a.framing == menuLines && req.Offset == 0 && req.Length == 0:
		// A part of a menu is a document: its first line may be half a line.
		a.kind = fetch.KindMenu
	}
	return nil
}

// split finds the search words of a request. Without any "%09" what follows "?"
// in the selector of a search is words with "+" for spaces, as people write
// them; §3.4 knows no such thing.
func (f *Fetcher) split(l *locator.Gopher, query string) (selector, words string, err error) {
	switch {
	case query == "" && l.Type == '7' && l.Fields == 0 && l.Search == "" && l.Plus == "" && !f.Exact:
		selector, words, _ = strings.Cut(l.Selector, "?")
		return selector, strings.ReplaceAll(words, "+", " "), nil
	case query == "":
		return l.Selector, l.Search, nil
	case l.Type != '7':
		return "", "", errNoWords
	case l.Search != "":
		return "", "", errTwice
	}
	if i := strings.IndexAny(query, "\x00\t\r\n"); i >= 0 {
		return "", "", fmt.Errorf("octet %02X in the search words", query[i])
	}
	return l.Selector, query, nil
}
