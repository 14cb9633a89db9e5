package gateway

import (
	"fmt"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/gateway/internal/dated"
	"github.com/fetch1738/fetch1738/gateway/internal/gophermenu"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/entry"
	"github.com/fetch1738/fetch1738/locator"
)

// menuItems makes rows of the items of a menu.
type menuItems struct {
	req *request
	menuText
	rows  int  // of the menu
	plus  bool // an item has Gopher+ attributes
	dated int  // documents with a date in their names, up to minDated
	dates dated.Finder
}

// item is the row of an item, of an error or of a line that is not one.
func (m *menuItems) item(it *fetch.Item) *menuRow {
	typ := typeOf(it)
	r := &menuRow{Link: m.req.linkTo(it.Locator), Size: visible.Size(it.Size)}
	r.Kind, r.Icon = gophermenu.TypeOf(typ)
	r.Kind = visible.Name(r.Kind)
	m.name(r, it.Name)
	if !it.ModTime.IsZero() {
		r.Time = new(it.ModTime.UTC())
	}
	if fault := entry.Field(it, gopher.HeaderFault); fault != nil {
		if typ == "i" {
			r.Kind, r.Icon = "line", ""
		}
		r.Link, r.Why = place.Link{}, "not a link: "+visible.Name(*fault)
		return r
	}
	switch l := it.Locator.(type) {
	case nil:
		r.Kind, r.Icon, r.Error = "error", "error", true
		return r
	case *locator.Gopher:
		m.gopherItem(r, l, it)
	case *locator.Telnet:
		m.session(r, '8', l.Server)
	case *locator.Opaque:
		if server, ok := locator.ServerOf(l); ok && l.Scheme() == "tn3270" {
			m.session(r, 'T', server)
		} else {
			r.Kind, r.Icon, r.Why = entry.Word(it), "link", "the gateway has no page for "+visible.Name(l.Redacted())
		}
	default:
		switch r.Kind, r.Icon = entry.Word(it), "link"; r.Kind {
		case "web":
			r.Web = !r.Link.Empty()
		case "mail":
			r.Icon = "mail"
		}
	}
	if entry.Field(it, gopher.HeaderMirror) != nil {
		r.Kind = "mirror: " + r.Kind
	}
	return r
}

// gopherItem completes the row of an item on a gopher server.
func (m *menuItems) gopherItem(r *menuRow, l *locator.Gopher, it *fetch.Item) {
	if m.dated < minDated {
		if _, ok := datedOf(it, &m.dates); ok {
			m.dated++
		}
	}
	if l.Type == '7' {
		if r.Search = searchAt(m.req, l); r.Search != nil {
			r.Search.ID, r.Search.Label = fmt.Sprintf("q%d", m.rows), r.Text
		}
	}
	switch plus := entry.Field(it, gopher.HeaderPlus); {
	case plus == nil:
		return
	case *plus == "?":
		r.Kind, r.Icon, r.Link = "form", "form", m.req.linkTo(place.WithPlus(l, "?"))
	}
	m.plus = true
	r.About = m.req.linkTo(l).With("info")
}

// session completes the row of a session, for which the gateway only has advice.
func (m *menuItems) session(r *menuRow, typ byte, server locator.Server) {
	l := &locator.Gopher{HostPort: server.HostPort, Type: typ, HasPath: true}
	if l.Port == 0 {
		l.Port = locator.DefaultPort("telnet")
	}
	r.Why = fmt.Sprintf("%s, port %d", visible.Name(l.Host), l.Port)
	if server.Login != nil {
		l.Selector = server.Login.User
		r.Why += ", log in as " + visible.Name(l.Selector)
	}
	r.Link = m.req.linkTo(l)
}

// isInfo reports whether a line of a menu is only text.
func isInfo(it *fetch.Item) bool {
	return it.Locator == nil && typeOf(it) == "i" && entry.Field(it, gopher.HeaderFault) == nil
}

// typeOf is the gopher type of an item; empty if it is not one of gopher.
func typeOf(it *fetch.Item) string {
	if typ := entry.Field(it, gopher.HeaderType); typ != nil {
		return *typ
	}
	return ""
}
