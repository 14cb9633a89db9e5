package gopher

import (
	"context"
	"errors"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/codec/menu"
	"github.com/fetch1738/fetch1738/locator"
)

// FindAttributes implements [driver.AttributeFinder]. It requests the item's Gopher+ attributes
// ("!"), or only those that the URL names. Header has their lines; the name of each field is that
// of the block, with the "+" before it. [AttributesOf] parses them. Size is set only if it is
// certain to be that of the Body, because most servers round sizes and change the line ends of
// texts.
//
// If the server does not support Gopher+, the error is of kind ErrProtocol.
//
// Of a phone book (type 2) it requests the fields of its entries ("fields"): see [PhoneFieldsOf].
func (f *Fetcher) FindAttributes(ctx context.Context, req *fetch.Request) (*fetch.Attributes, error) {
	if l, ok := req.Locator.(*locator.Gopher); ok && l.Type == '2' {
		return f.phoneFields(ctx, req)
	}
	a, err := f.attributes(ctx, req)
	if err != nil {
		return nil, err
	}
	found := &fetch.Attributes{Size: -1, Header: a.header}
	a.apply(found)
	if len(a.Views) > 0 && (!a.Views[0].Exact || strings.HasPrefix(found.MediaType, "text/")) {
		found.Size = -1
	}
	return found, nil
}

var (
	errNoAttributes   = errors.New("the response has no attributes: the server does not support Gopher+")
	errHasNoAttribute = errors.New("only items on a gopher server have attributes")
)

// attributes fetches the attributes of an item.
func (f *Fetcher) attributes(ctx context.Context, req *fetch.Request) (*Attributes, error) {
	l, err := itemOf(req.Locator)
	if err != nil {
		return nil, err
	}
	if _, err := checkRequest(req); err != nil {
		return nil, err
	}
	if l.Type == '8' || l.Type == 'T' || l.Type == 'h' && menu.SelectorURL([]byte(l.Selector)) != nil {
		return nil, driver.Fail(fetch.OpAttributes, req.Locator, fetch.ErrUnsupported, errHasNoAttribute)
	}
	item := *l
	requests := []string{"!"}
	if len(l.Plus) > 1 && l.Plus[0] == '!' {
		requests = []string{l.Plus, "!"} // pygopherd does not support the names
	}
	for _, item.Plus = range requests {
		item.Fields = 2
		if a, err := f.list(ctx, req, &item); err != nil || a != nil {
			return a, rename(err, req.Locator)
		}
	}
	return nil, driver.Fail(fetch.OpAttributes, req.Locator, fetch.ErrProtocol, errNoAttributes)
}

// list fetches the attributes of an item; nil if the response is something else.
func (f *Fetcher) list(ctx context.Context, req *fetch.Request, item *locator.Gopher) (*Attributes, error) {
	res, err := f.fetch(ctx, &fetch.Request{Locator: item, From: req.From})
	if err != nil {
		return nil, err
	}
	defer res.Close()
	return res.Info.(*Info).Attributes, nil
}

// rename makes err an error about l, the requested item.
func rename(err error, l locator.Locator) error {
	if err == nil {
		return nil
	}
	e := driver.Fail("", l, fetch.ErrOther, err)
	e.URL = l.Redacted()
	return e
}
