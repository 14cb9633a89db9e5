package gateway

import (
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
)

// A page is what the template page.html shows: the frame around the content of a kind of page.
type page struct {
	Title  string // of the window; Heading if empty
	Crumbs []crumb
	// Above is a page between the last two crumbs that the URL does not name: the group of an article.
	Above *crumb
	// Heading is the h1: the name, or what the menu said that led here.
	Heading string
	URL     string // the original URL as text, without a password
	// Actions are what a user can do with the page. If nil, render sets those of a document.
	Actions []crumb
	// Original is the link to the original URL.
	Original place.Link
	// Keep means that the browser may keep the page in its list of recent places.
	Keep bool
	// Feed is the Atom feed of the page, or empty.
	Feed place.Link
	// Notes are remarks about what is shown, such as the charset.
	Notes []string
	// Capture is the capture that the page shows, from an archive; nil without one.
	Capture *captureBar
	// Main is what the template of the kind of page shows. It is nil for a request by HEAD.
	Main any

	Prefix string
	Files  string // what the paths of style.css and script.js begin with
	Native bool   // no style: the paths of the gateway are not those of the client
	Bar    bool   // for a person: the bar with the address, and the script
	Script string // the digest of script.js
	// Early means that a browser draws the page when it has all of it, and the script has changed it:
	// what comes later would move the rest.
	Early bool
}

// A crumb is a link with its text.
type crumb struct {
	Text     string
	Link     place.Link
	NoFollow bool // a program that copies pages must not follow it
}

// linkTo is the link to a Locator, which may be nil. Only the schemes of the gateway, http, https
// and mailto are links at all.
func (v *visit) linkTo(l locator.Locator) place.Link {
	switch l.(type) {
	case nil, *locator.File, *locator.Opaque:
		return place.Link{}
	case *locator.HTTP:
		if v.h.Archive != nil { // it would lead to the server of today
			return place.Link{}
		}
		return place.URL(l)
	}
	if v.native {
		return place.URL(l)
	}
	return place.At(v.h.Prefix + place.Of(l))
}

// here is the link to the page of a visit: that of its Locator, or of what is in that archive.
func here(v *visit) place.Link { return within(v, v.linkTo(v.loc)) }

// within is a link to v.loc as the link to what the page shows of that archive.
func within(v *visit, to place.Link) place.Link {
	if v.wants("in") {
		to = to.With("in=" + url.QueryEscape(v.query.Get("in")))
	}
	return to
}

// origin is the gateway as the client calls it.
func (v *visit) origin() string {
	if v.r.TLS != nil {
		return "https://" + v.r.Host
	}
	return "http://" + v.r.Host
}

// render sends a page of a kind. The status is 200 unless another one has
// been sent. The error is that of the connection, or of an iterator in the data (see rows). A page
// about an error returns nil.
func (v *visit) render(kind string, status int, p *page) error {
	v.page = kind
	if v.loc != nil {
		if p.URL == "" {
			p.URL = visible(place.WithoutLogin(v.loc).Redacted())
		}
		if p.Heading == "" {
			p.Heading = heading(v.loc)
			if v.wants("in") {
				p.Heading = packedPages{v}.heading()
			} else if isA[*locator.FTP](v) || isA[*locator.Prospero](v) { // the crumbs have the rest of the path
				p.Title, p.Heading = p.Heading, lastPart(v.loc)
			}
		}
		if !v.native {
			if p.Actions == nil && status == http.StatusOK {
				p.Actions = usualActions(v)
			} else if p.Actions == nil {
				p.Actions = rawAndHow(here(v))
			}
			p.Original = place.URL(place.WithoutLogin(v.loc))
			p.Keep = status == http.StatusOK && v.user == nil && v.r.Method == http.MethodGet && !unkept[kind]
		}
	}
	if v.loc != nil || kind != "home" && kind != "archive" && !v.native && (guard{v}).ownHost() { // else "/" is not the gateway
		p.Crumbs = v.crumbs(p.Heading)
		if n := len(p.Crumbs); p.Above != nil && n > 0 {
			p.Crumbs = slices.Insert(p.Crumbs, n-1, *p.Above)
		}
		if v.wants("in") {
			p.Crumbs = packedPages{v}.way(p.Crumbs)
		}
	}
	if !v.accepts("text/html") { // a program that copies pages would follow them
		p.Actions, p.Original = nil, place.Link{}
	}
	if p.Title == "" {
		p.Title = p.Heading
	}
	t := v.h.templates()
	p.Bar = !v.native && v.accepts("text/html")
	p.Prefix, p.Native, p.Script = v.h.Prefix, v.native, t.digest
	p.Files, p.Capture = archivePages{v}.root().Prefix, archivePages{v}.bar()
	p.Early = p.Early || v.h.Archive != nil                           // nobody waits for the disk
	if c := p.Capture; c != nil && c.AsOf != "" && !c.Time.IsZero() { // to tell bookmarks apart
		p.Title += ", " + c.Time.Format(time.DateOnly)
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.secure()
	return t.kinds[kind].send(v, status, p)
}

// unkept are the kinds of pages of a URL that are not its content.
var unkept = map[string]bool{"explain": true, "confirm": true, "form": true, "interstitial": true}

// usualActions are the actions that the page of a URL has unless it says otherwise.
func usualActions(v *visit) []crumb {
	if !isDocument(v.loc) {
		return rawAndHow(here(v))
	}
	return append([]crumb{{"Download", here(v).With("raw&download"), true}}, rawAndHow(here(v))...)
}

// rawAndHow are the actions that the page of each URL has.
func rawAndHow(here place.Link) []crumb {
	return []crumb{{"Raw", here.With("raw"), true}, {"How it was fetched", here.With("explain"), true}}
}

// A row is an entry of a listing, for a template.
type row struct {
	*fetch.Item        // valid until the next row
	Text        string // the name, safe to show
	Link        place.Link
}

// rows are the entries of a listing for a template. What has been shown goes to the client after
// the first row, before the server has sent the rest. If the listing fails, the rows end, cut
// tells the template the error, and the response is broken off.
func (v *visit) rows(items iter.Seq2[fetch.Item, error]) iter.Seq[*row] {
	return func(yield func(*row) bool) {
		first := true
		for item, err := range items {
			if err != nil {
				v.err = err
				return
			}
			if !yield(&row{Item: &item, Text: visible(item.Name), Link: v.linkTo(item.Locator)}) {
				return
			}
			if first && v.flush != nil {
				v.flush()
			}
			first = false
		}
	}
}

// cut says, after the rows, why there are no more; empty if all were shown.
func (v *visit) cut() string {
	if v.err == nil {
		return ""
	}
	return v.err.Error()
}

// secure sets the header fields that protect the gateway's own pages.
func (v *visit) secure() {
	header := v.w.Header()
	header.Set("Content-Security-Policy", pageSecurity)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	if v.page == "form" || v.page == "confirm" {
		header.Set("Referrer-Policy", "same-origin") // without it, a browser sends the form with "Origin: null"
	}
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cache-Control", "private, no-cache")
	if v.user != nil || v.r.Method == http.MethodPost {
		header.Set("Cache-Control", "no-store") // it is private, or contains the answers to a form
	}
	header.Set("Vary", "Accept, Authorization, Sec-Fetch-Dest, Sec-Fetch-Mode, Sec-Fetch-Site")
	archivePages{v}.setHeaders()
}

// redirectTo sends the client to another URL.
func (v *visit) redirectTo(l locator.Locator) {
	if !v.native {
		v.redirect(place.Of(l))
		return
	}
	v.seeOther(place.WithoutLogin(l).String())
}

// redirect sends the client to another path of the gateway.
func (v *visit) redirect(path string) {
	v.seeOther(v.h.Prefix + path)
}

// seeOther redirects to a URL by 303, after which a browser sends GET.
func (v *visit) seeOther(url string) {
	v.page = "redirect"
	v.secure()
	v.w.Header().Set("Location", url)
	v.w.WriteHeader(http.StatusSeeOther)
}

// static sends a file that all pages share.
func (v *visit) static(kind, mediaType string, content []byte) {
	v.page = kind
	v.secure()
	v.w.Header().Set("Content-Type", mediaType)
	v.w.Header().Set("Cache-Control", "private, max-age=3600")
	v.w.WriteHeader(http.StatusOK)
	if v.r.Method != http.MethodHead {
		_, _ = v.w.Write(content)
	}
}

// robots tells programs that copy pages which ones not to fetch.
func (v *visit) robots() {
	v.page = "robots"
	v.secure()
	v.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	v.w.WriteHeader(http.StatusOK)
	if v.r.Method != http.MethodHead {
		_, _ = io.WriteString(v.w, "User-agent: *\nDisallow: "+v.h.Prefix+"/open\nDisallow: "+v.h.Prefix+"/url\n")
	}
}

// heading is the decoded path of a URL, or its server if it has no path.
func heading(l locator.Locator) string {
	switch l := l.(type) {
	case *locator.FTP:
		return visible(server(l) + "/" + strings.Join(append(l.CWD[:len(l.CWD):len(l.CWD)], l.Name), "/"))
	case *locator.Gopher:
		return visible(strings.TrimSpace(server(l) + " " + l.Selector))
	case *locator.News:
		switch {
		case l.All:
			return "Newsgroups"
		case l.MessageID != "":
			return visible("<" + l.MessageID + ">")
		}
		return visible(l.Group)
	case *locator.NNTP:
		return visible(l.Group + " " + l.Article)
	case *locator.WAIS:
		if l.Database == "" {
			return "Databases of " + visible(server(l))
		}
		return visible(l.Database)
	case *locator.Prospero:
		return visible(l.HSOName)
	}
	return visible(place.WithoutLogin(l).Redacted())
}

// server is the host of a URL, with its port if that is not the usual one.
func server(l locator.Locator) string {
	s, ok := locator.ServerOf(l)
	if !ok {
		return ""
	}
	host := s.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if s.Port != locator.DefaultPort(l.Scheme()) {
		host += ":" + strconv.Itoa(int(s.Port))
	}
	return host
}

// crumbs are the way from the gateway's start to a page with a heading, text. For gopher they are a
// guess, because its selectors need not be paths.
func (v *visit) crumbs(text string) []crumb {
	var way []crumb
	if !v.native {
		way = append(way, crumb{Text: "gateway", Link: place.At(v.h.Prefix + "/")})
	}
	add := func(text string, to locator.Locator) {
		way = append(way, crumb{Text: visible(text), Link: v.linkTo(to)})
	}
	switch l := v.loc.(type) {
	case *locator.FTP:
		at := *l
		at.CWD, at.Name, at.Type, at.HasPath = nil, "", 0, true
		add(server(l), &at)
		for i, dir := range l.CWD {
			at.CWD = l.CWD[:i+1]
			add(dir, &at)
		}
		if l.Name != "" {
			add(l.Name, nil)
		}
	case *locator.Gopher:
		way = append(way, v.gopherWay(l)...)
	case *locator.NNTP:
		group := *l
		group.Article = ""
		add(server(l), nil)
		add(l.Group, &group)
		if l.Article != "" {
			add(l.Article, nil)
		}
	case *locator.News:
		add("news", &locator.News{All: true, HostPort: l.HostPort, Secure: l.Secure})
		add(heading(l), nil)
	case *locator.WAIS:
		database := *l
		database.Form, database.Search, database.WType, database.WPath = locator.WAISDatabase, "", "", ""
		database.Database = ""
		add(server(l), &database)
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
		add(server(l), nil)
		add(l.HSOName, nil)
	case nil: // a page of the gateway's own
	default:
		add(text, nil)
	}
	if n := len(way); n > 0 && v.loc != nil { // the page itself is not a link
		way[n-1].Link = place.Link{}
	}
	return way
}

// gopherWay is the way from a server's first menu to an item.
func (v *visit) gopherWay(l *locator.Gopher) []crumb {
	var way []crumb
	for i, at := range place.Menus(l) {
		text := server(l)
		if i > 0 {
			text = at.Selector[strings.LastIndexByte(at.Selector, '/')+1:]
		}
		way = append(way, crumb{Text: visible(text), Link: v.linkTo(at)})
	}
	return way
}
