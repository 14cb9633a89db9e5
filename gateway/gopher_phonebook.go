package gateway

import (
	"errors"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/locator"
)

// A phonePage is the data of the page of a phone book.
type phonePage struct {
	v     gopherPages
	items iter.Seq2[fetch.Item, error]

	Form   *searchForm
	Fields []gopher.PhoneField // of a form without an answer
	Text   string              // a remark, such as that there are no matches
	All    place.Link          // the form with every field; empty if it is this page
	found  int
}

// A phoneEntry is an entry of a phone book.
type phoneEntry struct {
	Name   string
	Fields []phoneValue
}

// A phoneValue is a field of an entry, whose value may have several lines.
type phoneValue struct {
	Name  string
	Lines []string
}

// fieldPrefix begins the names of the inputs for fields of a phone book.
const fieldPrefix = "field."

// phoneBook shows the entries of a CSO phone book.
func (v gopherPages) phoneBook(res *fetch.Resource) error {
	return v.phones(http.StatusOK, &phonePage{items: res.Items})
}

// phones shows a page of a phone book.
func (v gopherPages) phones(status int, p *phonePage) error {
	p.v, p.Form = v, searchAt(v.req, v.req.loc)
	if p.Fields == nil {
		p.All = p.Form.Action
	}
	heading := ""
	if p.Form.Words != "" {
		heading = "Results for " + p.Form.Words
	}
	p.Form.Placeholder = "name"
	return v.out.render(v.req, "phonebook", status, &page{Heading: heading, Main: p, Actions: v.actions()})
}

// phoneForm shows the fields that can be searched for. The phone book is asked for them.
func (v gopherPages) phoneForm() error {
	p := &phonePage{}
	if found, err := v.up.attributes(v.up.bare(v.req.loc)); err != nil {
		switch fetch.KindOf(err) {
		case fetch.ErrRefused, fetch.ErrUnresolved, fetch.ErrUnreachable, fetch.ErrTimeout:
			return err
		}
		p.Text = "The phone book does not list its fields."
	} else {
		p.Fields = slices.DeleteFunc(gopher.PhoneFieldsOf(found.Header), func(f gopher.PhoneField) bool { return !f.Lookup })
	}
	return v.phones(http.StatusOK, p)
}

// phoneReply shows the error with which a phone book replied to a query, above the form. Any
// other error is returned.
func (v gopherPages) phoneReply(err error) error {
	l, ok := v.req.loc.(*locator.Gopher)
	var e *fetch.Error
	if !ok || l.Type != '2' || !errors.As(err, &e) || e.Op != "query" || e.Code < 400 {
		return err
	}
	v.out.err = err
	return v.phones(failureOf(err).Status, &phonePage{Text: "The phone book replied: " + visible.Name(e.Reply)})
}

// phoneQuery is the query for the fields that are filled in; empty without any. Quotes are
// left out, because they would end a value.
func phoneQuery(query url.Values) string {
	var terms []string
	for name, values := range query {
		name, ok := strings.CutPrefix(name, fieldPrefix)
		if !ok || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == '=' || r == '"' || r == 0x7f }) {
			continue
		}
		value := strings.TrimSpace(place.OneLine(strings.ReplaceAll(values[0], `"`, "")))
		if strings.Contains(value, " ") {
			value = `"` + value + `"`
		}
		if value != "" {
			terms = append(terms, name+"="+value)
		}
	}
	slices.Sort(terms)
	if words := query.Get("q"); words != "" {
		terms = append([]string{words}, terms...)
	}
	if len(terms) > 0 && query.Has("all") {
		terms = append(terms, "return all")
	}
	return strings.Join(terms, " ")
}

// fillsFields reports whether the query is that of a phone book's form.
func (v gopherPages) fillsFields() bool {
	l, ok := v.req.loc.(*locator.Gopher)
	return ok && l.Type == '2' && v.req.wants("fields")
}

// takeFields redirects from the fields of a phone book's form to the page of the query, which is
// the same for every way to ask it.
func (v gopherPages) takeFields() error {
	form := searchAt(v.req, v.req.loc)
	query := url.Values{}
	for _, f := range form.Hidden {
		query.Set(f.Name, f.Value)
	}
	if words := phoneQuery(v.req.query); words != "" {
		query.Set("q", words)
	}
	to := strings.TrimPrefix(form.Action.Path, v.req.prefix)
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	v.out.redirect(v.req, to)
	return nil
}

// Entries are the entries that were found.
func (p *phonePage) Entries() iter.Seq[*phoneEntry] {
	return func(yield func(*phoneEntry) bool) {
		if p.items == nil {
			return
		}
		for item, err := range p.items {
			if err != nil {
				p.v.out.err = err
				return
			}
			p.found++
			e := &phoneEntry{Name: visible.Name(item.Name)}
			for _, f := range item.Header {
				e.Fields = append(e.Fields, phoneValue{visible.Name(f.Name), strings.Split(visible.Text(f.Value), "\n")})
			}
			if !yield(e) {
				return
			}
			if p.found == 1 {
				p.v.out.flush()
			}
		}
	}
}

// None reports whether an answer has no entry.
func (p *phonePage) None() bool { return p.items != nil && p.found == 0 && p.v.out.err == nil }

// Cut says why the answer ended early; empty if it did not.
func (p *phonePage) Cut() string {
	if p.items == nil {
		return ""
	}
	return p.v.out.cut()
}
