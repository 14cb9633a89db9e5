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
	errFromEnd   = errors.New("gopher cannot count from the end")
	errLength    = errors.New("negative length")
	errNoWords   = errors.New("only a search (type 7) and a phone book (2) take words")
	errTwice     = errors.New("the URL has search words already")
	errNoView    = errors.New("attributes and filled forms have no views to choose from")
	errFormTwice = errors.New("the URL is a filled form already")
	errFormWords = errors.New("a phone book has no Gopher+")
)

// Options are the [fetch.Request.Options] of gopher. The zero value asks for
// nothing special.
type Options struct {
	// View and Language choose one of an item's views (Gopher+): a media type
	// such as "text/plain" and a language such as "de" or "De_DE"; either may be
	// empty. The item's attributes are asked for first, as a server wants to hear
	// its own words; an error of kind ErrNotFound says which views there are.
	View, Language string
	// Form is the form that the item asks for, filled in.
	Form *Filled
	// Mirrors are tried in turn when the server cannot be reached: the items of
	// type "+" below this one in its menu.
	Mirrors []locator.Locator
}

// access is what a request comes to, before anything is dialled.
type access struct {
	itemType
	loc  *locator.Gopher
	kind fetch.Kind
	told bool // media is the server's word, not a guess by the type
	host string
	port uint16
	note string

	words    string // of a search
	plus     string // the Gopher+ string that is sent; empty for a plain request
	form     *Filled
	request  []byte // for all kinds but Query and Advice
	whole    bool   // not a part of the answer
	choose   *Options
	referral locator.Locator // where the item really is
	advice   string
}

// prepare finds out what a request comes to. Nothing else decides what is sent.
func (f *Fetcher) prepare(req *fetch.Request) (*access, error) {
	l, err := itemOf(req.Locator)
	if err != nil {
		return nil, err
	}
	options, err := checkRequest(req)
	if err != nil {
		return nil, err
	}
	server, _ := locator.ServerOf(l)
	a := &access{loc: l, host: server.Host, port: server.Port, itemType: types[l.Type]}
	a.whole = req.Offset == 0 && req.Length == 0
	if l.Type == '8' || l.Type == 'T' {
		a.kind, a.advice = fetch.KindAdvice, session(a)
		return a, nil
	}
	if url := menu.SelectorURL([]byte(l.Selector)); l.Type == 'h' && url != nil && l.Plus == "" {
		a.referral, err = linked(string(url))
		if err != nil {
			return nil, fetch.Fail(fetch.OpFetch, a.loc, fetch.ErrBadURL, err)
		}
		return a, nil
	}
	if err := f.prepareRequest(req, options, a); err != nil {
		return nil, fetch.Fail(fetch.OpFetch, a.loc, fetch.ErrBadURL, err)
	}
	return a, nil
}

// checkRequest refuses what no gopher request can have.
func checkRequest(req *fetch.Request) (*Options, error) {
	options, err := fetch.OptionsOf[Options](req)
	switch {
	case err != nil:
		return nil, fetch.Fail(fetch.OpFetch, req.Locator, fetch.ErrOther, err)
	case req.Offset < 0:
		return nil, fetch.Fail(fetch.OpFetch, req.Locator, fetch.ErrUnsupported, errFromEnd)
	case req.Length < 0:
		return nil, fetch.Fail(fetch.OpFetch, req.Locator, fetch.ErrBadRange, errLength)
	}
	return &options, nil
}

// prepareRequest fills in what is sent, and what is made of the answer.
func (f *Fetcher) prepareRequest(req *fetch.Request, options *Options, a *access) error {
	l := a.loc
	selector, words, err := f.split(l, req.Query)
	if err != nil {
		return err
	}
	a.words = words
	if err := a.setOptions(options); err != nil {
		return err
	}
	if lacksWords(l, words, a.plus) {
		a.kind = fetch.KindQuery
		return nil
	}
	if l.Type == '2' {
		return a.phoneBook()
	}
	if a.plus != "" {
		if a.plus, err = f.plusString(a.plus); err != nil {
			return err
		}
		a.expect()
	} else if a.framing == menuLines && a.whole {
		// A part of a menu is a document: its first line may be half a line.
		a.kind = fetch.KindMenu
	}
	a.request = f.octets(l, selector, words, a.plus)
	return nil
}

// lacksWords reports whether an item is to be asked for by words and has none,
// not even the empty ones that "%09" at the end of a search's URL are. Behind a
// selector with a "?", that only says that what follows "?" are no words.
func lacksWords(l *locator.Gopher, words, plus string) bool {
	switch {
	case words != "" || plus != "" && plus[0] != '+':
		return false
	case l.Type == '7':
		return plus != "" || l.Fields == 0 || strings.Contains(l.Selector, "?")
	}
	return l.Type == '2'
}

// setOptions finds the Gopher+ string.
func (a *access) setOptions(options *Options) error {
	a.plus = a.loc.Plus
	wantsView := options.View != "" || options.Language != ""
	switch {
	case wantsView && (options.Form != nil || a.plus != "" && (a.plus[0] != '+' || isForm(a.plus))):
		return errNoView
	case options.Form != nil && isForm(a.plus):
		return errFormTwice
	case a.loc.Type == '2' && (wantsView || options.Form != nil || a.plus != ""):
		return errFormWords
	case options.Form != nil:
		a.form, a.plus = options.Form, options.Form.plus
	case wantsView:
		a.choose, a.plus = options, "+"
	case a.plus == "?":
		a.note = `a form ("?") is asked for by the attributes ("!"), where it is`
	}
	return nil
}

// expect finds what a Gopher+ request will be answered with.
func (a *access) expect() {
	if a.plus[0] == '$' {
		a.kind, a.itemType = menuIf(a.whole), itemType{framing: menuLines, media: plusMenuType}
		a.told = true
		return
	}
	if a.plus[0] == '!' {
		a.kind, a.itemType = fetch.KindDocument, itemType{framing: menuLines}
		return
	}
	view, _, _ := strings.Cut(a.plus[1:], "\t")
	view, _, _ = strings.Cut(view, " ")
	switch view = strings.ToLower(view); view {
	case "":
		if a.framing == menuLines {
			a.kind = menuIf(a.whole)
		}
		return
	case menuType, plusMenuType, "directory/recursive", "directory+/recursive":
		a.kind, a.itemType = menuIf(a.whole), itemType{framing: menuLines, media: view}
	default:
		a.itemType = itemType{media: view}
		if strings.HasPrefix(view, "text/") {
			a.framing = textLines
		}
	}
	a.told = true
}

// menuIf is the kind of a menu, of which a part is a document.
func menuIf(whole bool) fetch.Kind {
	if whole {
		return fetch.KindMenu
	}
	return fetch.KindDocument
}

// plain turns the access into one that knows nothing of Gopher+.
func (f *Fetcher) plain(a *access) *access {
	p := *a
	p.plus, p.itemType, p.told, p.kind = "", types[a.loc.Type], false, fetch.KindDocument
	if p.framing == menuLines {
		p.kind = menuIf(a.whole)
	}
	p.request = f.octets(p.loc, p.loc.Selector, p.words, "")
	return &p
}

// split finds the search words of a request. Without any "%09" what follows "?"
// in the selector of a search is words with "+" for spaces, as people write
// them; §3.4 knows no such thing.
func (f *Fetcher) split(l *locator.Gopher, query string) (selector, words string, err error) {
	search := l.Type == '7' || l.Type == '2'
	switch {
	case query == "" && search && l.Fields == 0 && l.Search == "" && l.Plus == "" && !f.Exact:
		selector, words, _ = strings.Cut(l.Selector, "?")
		return selector, strings.ReplaceAll(words, "+", " "), nil
	case query == "":
		return l.Selector, l.Search, nil
	case !search:
		return "", "", errNoWords
	case l.Search != "":
		return "", "", errTwice
	}
	if i := strings.IndexAny(query, "\x00\t\r\n"); i >= 0 {
		return "", "", fmt.Errorf("octet %02X in the search words", query[i])
	}
	return l.Selector, query, nil
}
