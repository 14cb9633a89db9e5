package gopher

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/codec/menu"
	"github.com/fetch1738/fetch1738/locator"
)

var (
	errNotGopher = errors.New("not a gopher URL")
	errFromEnd   = errors.New("gopher does not support offsets from the end")
	errLength    = errors.New("negative length")
	errNoWords   = errors.New("only a search (type 7) or a phone book (type 2) takes search words")
	errTwice     = errors.New("the URL already has search words")
	errNoView    = errors.New("a view cannot be chosen for attributes or for a filled form")
	errFormTwice = errors.New("the URL already contains a filled form")
	errFormWords = errors.New("a phone book does not support Gopher+")
)

// Options is the type of [fetch.Request.Options] for gopher.
type Options struct {
	// View and Language choose one of an item's views (Gopher+): a media type such as "text/plain",
	// and a language such as "de" or "De_DE". Either may be empty. The item's attributes are
	// fetched first, because the request must name the view exactly as the server does. If there is
	// no such view, the error is of kind ErrNotFound and lists the available views.
	View, Language string
	// Form is the item's form, filled in.
	Form *Filled
	// Mirrors are tried in turn if the server cannot be reached. In a menu, they are the items of
	// type "+" below this one.
	Mirrors []locator.Locator
}

// access is a checked request: what to send, and how to read the response.
type access struct {
	itemType
	loc   *locator.Gopher
	kind  fetch.Kind
	named bool // the server named the media type; it is not guessed from the item type
	host  string
	port  uint16
	note  string

	words    string // the search words
	plus     string // the Gopher+ string that is sent; empty for a plain request
	form     *Filled
	request  []byte // set for all kinds except Query and Advice
	whole    bool   // no Offset or Length was requested
	choose   *Options
	stream   bool            // Items are yielded as they arrive
	referral locator.Locator // the URL that the item links to
	advice   string
}

// prepare checks a request and returns the access for it. What is sent is decided here and nowhere
// else.
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
	a.whole, a.stream = req.Offset == 0 && req.Length == 0, req.Stream
	if l.Type == '8' || l.Type == 'T' {
		a.kind, a.advice = fetch.KindAdvice, sessionAdvice(a)
		return a, nil
	}
	if url := menu.SelectorURL([]byte(l.Selector)); l.Type == 'h' && url != nil && l.Plus == "" {
		a.referral, err = parseLink(string(url))
		if err != nil {
			return nil, driver.Fail(fetch.OpFetch, a.loc, fetch.ErrBadURL, err)
		}
		return a, nil
	}
	if err := f.prepareRequest(req, options, a); err != nil {
		return nil, driver.Fail(fetch.OpFetch, a.loc, fetch.ErrBadURL, err)
	}
	return a, nil
}

// checkRequest refuses what gopher does not support.
func checkRequest(req *fetch.Request) (*Options, error) {
	options, err := driver.OptionsOf[Options](req)
	switch {
	case err != nil:
		return nil, err
	case req.Offset < 0:
		return nil, driver.Fail(fetch.OpFetch, req.Locator, fetch.ErrUnsupported, errFromEnd)
	case req.Length < 0:
		return nil, driver.Fail(fetch.OpFetch, req.Locator, fetch.ErrBadRange, errLength)
	}
	return &options, nil
}

// prepareRequest sets what is sent, and how the response is read.
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
		// A part of a menu is a document: its first line may be incomplete.
		a.kind = fetch.KindMenu
	}
	a.request = f.encodeRequest(l, selector, words, a.plus)
	return nil
}

// lacksWords reports whether an item requires search words and has none. A "%09" at the end of a
// search's URL means empty words, which are enough. Behind a selector with a "?", it only means
// that what follows the "?" is not search words.
func lacksWords(l *locator.Gopher, words, plus string) bool {
	switch {
	case words != "" || plus != "" && plus[0] != '+':
		return false
	case l.Type == '7':
		return plus != "" || l.Fields == 0 || strings.Contains(l.Selector, "?")
	}
	return l.Type == '2'
}

// setOptions sets the Gopher+ string and checks it against the options.
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
		a.note = `the form ("?") is requested as "!", since it is among the item's attributes`
	}
	return nil
}

// expect sets how the response to a Gopher+ request is read.
func (a *access) expect() {
	if a.plus[0] == '$' {
		a.kind, a.itemType = menuIf(a.whole), itemType{framing: menuLines, media: plusMenuType}
		a.named = true
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
	a.named = true
}

// menuIf returns the kind of a menu; a part of one is a document.
func menuIf(whole bool) fetch.Kind {
	if whole {
		return fetch.KindMenu
	}
	return fetch.KindDocument
}

// plain returns the same access without Gopher+.
func (f *Fetcher) plain(a *access) *access {
	p := *a
	p.plus, p.itemType, p.named, p.kind = "", types[a.loc.Type], false, fetch.KindDocument
	if p.framing == menuLines {
		p.kind = menuIf(a.whole)
	}
	p.request = f.encodeRequest(p.loc, p.loc.Selector, p.words, "")
	return &p
}

// split returns the selector and the search words of a request.
func (f *Fetcher) split(l *locator.Gopher, query string) (selector, words string, err error) {
	selector, words, ok := l.SearchWords()
	switch {
	case query == "" && ok && !f.Exact:
		return selector, words, nil
	case query == "":
		return l.Selector, l.Search, nil
	case l.Type != '7' && l.Type != '2':
		return "", "", errNoWords
	case l.Search != "":
		return "", "", errTwice
	}
	if i := strings.IndexAny(query, "\x00\t\r\n"); i >= 0 {
		return "", "", fmt.Errorf("the search words contain byte %02X", query[i])
	}
	return l.Selector, query, nil
}
