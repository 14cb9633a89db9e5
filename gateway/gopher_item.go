package gateway

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/gateway/internal/ansi"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/codec/menu"
	"github.com/fetch1738/fetch1738/locator"
)

// An itemPage is the data of the page about an item.
type itemPage struct {
	Facts    []itemFact
	Abstract string
	Views    []itemView
	Blocks   []itemBlock
	Item     place.Link // the item itself
	Form     place.Link // the form that must be filled in to get it; else empty
	Folded   bool       // Facts and Blocks are there for those who look for them
}

// An itemFact is something that a server says about an item, in a few words.
type itemFact struct {
	Name, Text string
	Link       place.Link
	Time       string // for a machine; empty if the value is no time
}

// An itemView is one of several representations of an item.
type itemView struct {
	Type, Language, Size string
	Link                 place.Link
}

// An itemBlock is an attribute that the gateway has no better form for.
type itemBlock struct{ Name, Text string }

// info shows what a server says about an item: its Gopher+ attributes, or those of a file.
func (v gopherPages) info() error {
	req := v.up.request(v.req.loc)
	found, err := v.up.attributes(req)
	switch {
	case err != nil && v.req.loc.Scheme() == "gopher" && fetch.KindOf(err) == fetch.ErrProtocol:
		return &failure{
			Status: http.StatusNotFound, Text: "The server has no information about this item.", Detail: err.Error(), Retry: v.req.linkTo(v.req.loc),
			Do: "The item itself may be there.", err: err,
		}
	case err != nil:
		return err
	case gopher.AttributesOf(found.Header) != nil:
		return v.item(gopher.AttributesOf(found.Header))
	}
	return v.fileInfo(found)
}

// fileInfo shows the attributes of a file, or the fields of a phone book.
func (v gopherPages) fileInfo(found *fetch.Attributes) error {
	p := &itemPage{Item: v.req.linkTo(v.req.loc)}
	if found.Size >= 0 {
		p.Facts = append(p.Facts, itemFact{Name: "Size", Text: strconv.FormatInt(found.Size, 10) + " bytes"})
	}
	p.addTime("Modified", found)
	if found.MediaType != "" {
		p.Facts = append(p.Facts, itemFact{Name: "Type", Text: visible.Name(found.MediaType)})
	}
	for _, f := range found.Header {
		p.Facts = append(p.Facts, itemFact{Name: visible.Name(f.Name), Text: visible.Name(f.Value)})
	}
	return v.out.render(v.req, "item", http.StatusOK, &page{Main: p, Actions: v.actions()})
}

// addTime adds the time of the last modification, if it is known.
func (p *itemPage) addTime(name string, a *fetch.Attributes) {
	if t := a.ModTime; !t.IsZero() {
		p.Facts = append(p.Facts, itemFact{Name: name, Text: t.UTC().Format("2006-01-02 15:04:05 UTC"), Time: t.UTC().Format("2006-01-02T15:04:05Z")})
	}
}

// item shows the Gopher+ attributes of the Locator.
func (v gopherPages) item(a *gopher.Attributes) error {
	l, ok := v.req.loc.(*locator.Gopher)
	if !ok {
		return &failure{Status: http.StatusBadGateway, Text: "The server sent attributes of gopher."}
	}
	plain := *l
	plain.Plus, plain.Search, plain.Fields = "", "", 0
	p := &itemPage{Item: v.req.linkTo(&plain), Abstract: visible.Text(a.Abstract), Folded: true}
	line := menu.Parse([]byte(a.Descriptor))
	name := visible.Name(ansi.Plain(string(line.Display)))
	if a.Admin != "" {
		p.Facts = append(p.Facts, itemFact{Name: "Administrator", Text: visible.Name(a.Admin), Link: v.mailTo(a.Admin)})
	}
	p.addTime("Modified", &fetch.Attributes{ModTime: a.ModTime})
	for _, f := range a.Details {
		p.Facts = append(p.Facts, itemFact{Name: visible.Name(f.Name), Text: visible.Name(f.Value)})
	}
	for _, view := range a.Views {
		p.Views = append(p.Views, itemView{
			Type: visible.Name(view.Type), Language: visible.Name(view.Language), Size: visible.Size(view.Size),
			Link: v.req.linkTo(place.WithPlus(&plain, "+"+view.Label)),
		})
	}
	if a.Ask != nil {
		p.Form = v.req.linkTo(place.WithPlus(&plain, "?"))
	}
	for _, b := range a.Other {
		p.Blocks = append(p.Blocks, itemBlock{visible.Name(b.Name), visible.Text(strings.Join(b.Lines, "\n"))})
	}
	return v.out.render(v.req, "item", http.StatusOK, &page{Heading: name, Main: p, Actions: v.actions()})
}

// mailTo is a link to the address in "Name <address>"; else empty.
func (v gopherPages) mailTo(admin string) place.Link {
	if i := strings.LastIndexByte(admin, '<'); i >= 0 {
		admin = strings.TrimSuffix(strings.TrimSpace(admin[i+1:]), ">")
	}
	name, host, ok := strings.Cut(admin, "@")
	if !ok || name == "" || host == "" || strings.ContainsFunc(admin, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`<>?&"`, r) }) {
		return place.Link{}
	}
	return v.req.linkTo(&locator.Mailto{Address: admin})
}

// document shows the response to a request for attributes, or a document.
func (v gopherPages) document(res *fetch.Resource) error {
	if info, ok := res.Info.(*gopher.Info); ok && info.Attributes != nil && v.req.accepts("text/html") {
		return v.item(info.Attributes)
	}
	return documentPages(v).document(res)
}
