package gateway

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

// A crumb is a link with its text.
type crumb struct {
	Text     string
	Link     place.Link
	NoFollow bool // a program that copies pages must not follow it
}

// crumbs are the way from the gateway's start to a page with a heading, text. For gopher they are a
// guess, because its selectors need not be paths.
func crumbs(q *request, text string) []crumb {
	var way []crumb
	if !q.native {
		way = append(way, crumb{Text: "gateway", Link: q.ownPage("/")})
	}
	add := func(text string, to locator.Locator) {
		way = append(way, crumb{Text: visible.Name(text), Link: q.linkTo(to)})
	}
	switch l := q.loc.(type) {
	case *locator.FTP:
		at := *l
		at.CWD, at.Name, at.Type, at.HasPath = nil, "", 0, true
		add(place.Server(l), &at)
		for i, dir := range l.CWD {
			at.CWD = l.CWD[:i+1]
			add(dir, &at)
		}
		if l.Name != "" {
			add(l.Name, nil)
		}
	case *locator.Gopher:
		way = append(way, gopherWay(q, l)...)
	case *locator.NNTP:
		at := locator.NNTP{HostPort: l.HostPort, Secure: l.Secure}
		add(place.Server(l), &at)
		if at.Group = l.Group; l.Group != "" {
			add(l.Group, &at)
		}
		if l.Article != "" {
			add(l.Article, nil)
		}
	case *locator.News:
		add("news", &locator.News{All: true, HostPort: l.HostPort, Secure: l.Secure})
		add(place.Heading(l), nil)
	case *locator.WAIS:
		database := *l
		database.Form, database.Search, database.WType, database.WPath = locator.WAISDatabase, "", "", ""
		database.Database = ""
		add(place.Server(l), &database)
		if database.Database = l.Database; l.Database != "" {
			add(l.Database, &database)
		}
		switch {
		case l.Search != "":
			add(l.Search, nil)
		case l.Form == locator.WAISDocument:
			add("document", nil)
		}
	case *locator.Prospero:
		add(place.Server(l), nil)
		add(l.HSOName, nil)
	case nil: // a page of the gateway's own
	default:
		add(text, nil)
	}
	if n := len(way); n > 0 && q.loc != nil { // the page itself is not a link
		way[n-1].Link = place.Link{}
	}
	return way
}

// gopherWay is the way from a server's first menu to an item.
func gopherWay(q *request, l *locator.Gopher) []crumb {
	var way []crumb
	for i, at := range place.Menus(l) {
		text := place.Server(l)
		if i > 0 {
			text = at.Selector[strings.LastIndexByte(at.Selector, '/')+1:]
		}
		way = append(way, crumb{Text: visible.Name(text), Link: q.linkTo(at)})
	}
	return way
}

// usualActions are the actions that the page of a URL has unless it says otherwise.
func usualActions(q *request) []crumb {
	if !place.IsDocument(q.loc) {
		return rawAndHow(q.here())
	}
	return append([]crumb{{"Download", q.here().With("raw&download"), true}}, rawAndHow(q.here())...)
}

// rawAndHow are the actions that the page of each URL has.
func rawAndHow(here place.Link) []crumb {
	return []crumb{{"Raw", here.With("raw"), true}, {"How it was fetched", here.With("explain"), true}}
}

// packedWay is the way to a page about an archive and on to what is in it.
func packedWay(q *request, way []crumb) []crumb {
	within := q.query.Get("in")
	if len(way) == 0 || within == "" {
		return way
	}
	way[len(way)-1].Link = q.linkTo(q.loc).With("in=")
	parts := strings.SplitAfter(strings.TrimSuffix(within, "/"), "/")
	at := ""
	for i, part := range parts {
		at += part
		c := crumb{Text: visible.Name(strings.TrimSuffix(part, "/"))}
		if i < len(parts)-1 {
			c.Link = q.linkTo(q.loc).With("in=" + url.QueryEscape(at))
		}
		way = append(way, c)
	}
	return way
}

// packedHeading is the name of what is in the archive, or of the archive itself.
func packedHeading(q *request) string {
	if within := strings.Trim(q.query.Get("in"), "/"); within != "" {
		return visible.Name(path.Base(within))
	}
	return visible.Name(place.LastPart(q.loc))
}

// above are the links to the folder or menu above the page's own and to the start of its server, as
// far as there are any.
func above(q *request) []crumb {
	way := slices.DeleteFunc(crumbs(q, ""), func(c crumb) bool { return c.Link.Empty() || !q.native && c.Link == q.ownPage("/") })
	if len(way) == 0 {
		return nil
	}
	links := []crumb{{"Up to " + way[len(way)-1].Text, way[len(way)-1].Link, true}}
	if len(way) > 1 {
		links = append(links, crumb{"Start of " + way[0].Text, way[0].Link, true})
	}
	return links
}

// administrator is a link to the mail address in "Name <address>", as Gopher+ writes it.
func administrator(q *request, text string) crumb {
	c := crumb{Text: visible.Name(text)}
	if _, address, ok := strings.Cut(text, "<"); ok {
		address, _, _ = strings.Cut(address, ">")
		if l, err := place.Parse("mailto:" + address); err == nil && strings.Contains(address, "@") {
			if mail, ok := l.(*locator.Mailto); ok && len(mail.Headers) == 0 {
				c.Link = q.linkTo(l)
			}
		}
	}
	return c
}

// charsets are the links to the text in other charsets; that of the current one has no link.
func charsets(q *request, current charset.Charset) []crumb {
	var choices []crumb
	for _, name := range charset.Names() {
		choice := crumb{Text: name, NoFollow: true}
		if name != current.Name() {
			choice.Link = q.here().With("charset=" + url.QueryEscape(strings.ToLower(name)))
			if q.query.Has("wrap") {
				choice.Link = choice.Link.With("wrap=" + url.QueryEscape(q.query.Get("wrap")))
			}
		}
		choices = append(choices, choice)
	}
	return choices
}

// packedParent is the link to the folder that has this one: in the archive, or that of the archive.
func packedParent(q *request) place.Link {
	within := strings.TrimSuffix(q.query.Get("in"), "/")
	if within != "" {
		dir, _ := path.Split(within)
		return q.linkTo(q.loc).With("in=" + url.QueryEscape(dir))
	}
	l, ok := q.loc.(*locator.FTP)
	if !ok {
		return place.Link{}
	}
	folder := *l
	folder.Name, folder.Type = "", 0
	return q.linkTo(&folder)
}
