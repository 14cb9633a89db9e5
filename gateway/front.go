package gateway

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/visible"
	"github.com/fetch1738/fetch1738/internal/urls/typed"
	"github.com/fetch1738/fetch1738/locator"
)

// The front are the pages of the gateway itself: its start, /open and /setup, and the page that
// asks before something is done for a link of another site.
type front pages

// open redirects to the page of the URL in the query. It is the address that browsers and desktops
// open for a link, and that of the form on the page "/".
func (v front) open() error {
	text := strings.Trim(v.req.r.URL.Query().Get("url"), " \t\r\n<>")
	text = strings.TrimPrefix(text, "URL:") // as in the appendix of RFC 1738
	text = strings.TrimPrefix(text, "web+") // as browsers let a page register other schemes
	if form, ok := place.FormOf(v.req.r.URL.Query().Get("scheme")); ok && text != "" && !typed.HasKnownScheme(text) {
		text = form.Before + strings.TrimPrefix(text, "//")
	}
	if text == "" {
		return &failure{Status: http.StatusBadRequest, Text: "No URL was given.", Do: "Enter one that begins with ftp: gopher: news: nntp: wais: or prospero:.", Ways: v.ways()}
	}
	l, err := place.Parse(text)
	if scheme := typed.GuessScheme(text); err != nil && !typed.HasScheme(text) && scheme != "" && scheme != "http" {
		l, err = place.Parse(scheme + "://" + text)
	}
	if err == nil {
		// A desktop that opens a link of any program or site sends its browser here, and that sends
		// "none".
		if q := v.req.of(l); q.headerValue("Sec-Fetch-Site") == "none" && !mayShowAtOnce(q) {
			return front(pages(v).with(q)).interstitial()
		}
		v.out.redirect(v.req, place.Of(l))
		return nil
	}
	f := v.noPage(text, err)
	f.Ways = v.ways()
	return f
}

// ways are the links for a person who has come to no page.
func (v front) ways() []crumb {
	return []crumb{{"First page", v.req.ownPage("/"), true}, {"Help", v.req.ownPage("/help"), true}}
}

// noPage is the failure for a text that is not a URL with a page here, as err says.
func (v front) noPage(text string, err error) *failure {
	f := failureOf(err)
	ref, parseErr := place.Parser.Parse(text)
	if _, ok := ref.Locator.(*locator.HTTP); ok && parseErr == nil && v.req.h.Archive == nil {
		f.Text, f.Do, f.Links = "Browsers show this URL themselves.", "Open it without the gateway:", v.urls(text)
		return f
	}
	switch {
	case !typed.HasScheme(text):
		f.Do = "Correct the URL. It must begin with its scheme, such as ftp: or gopher:."
	case parseErr == nil:
		f.Do = "Only URLs of ftp, gopher, news, nntp, wais and prospero have pages here."
	}
	if f.Links = v.meant(text); f.Links != nil {
		f.Do = "Did you mean this URL?"
	}
	if len(f.Links) > 1 {
		f.Do = "Did you mean one of these URLs? Browsers show those of http themselves."
	}
	if f.Do != "" { // which says what to do about it
		f.Detail, f.Reply = "", cmp.Or(f.Reply, f.Detail)
	}
	return f
}

// meant are the URLs that a user may have meant by a text without a scheme, or with a misspelt one.
func (v front) meant(text string) []crumb {
	scheme, rest, _ := strings.Cut(text, ":")
	server, path, _ := strings.Cut(text, "//")
	_, lacksColon := locator.SchemeOf(strings.ToLower(server))
	switch guess := typed.GuessScheme(text); {
	case typed.HasScheme(text):
		return v.urls(typed.NearestScheme(strings.ToLower(scheme), fetch1738.Schemes()) + ":" + rest)
	case lacksColon:
		return v.urls(server + "://" + path)
	case guess == "http" && strings.Contains(text[:strings.IndexAny(text+"/", "/:?#")], "."):
		return v.urls("ftp://"+text, "gopher://"+text, "http://"+text)
	case guess != "http" && guess != "":
		return v.urls(guess + "://" + text)
	}
	return nil
}

// urls are the links to those of the texts that are URLs which a user can open.
func (v front) urls(texts ...string) []crumb {
	var links []crumb
	for _, text := range texts {
		if ref, err := place.Parser.Parse(text); err == nil && driver.CheckOctets(ref.Locator) == nil {
			if to := v.req.linkTo(ref.Locator); !to.Empty() {
				links = append(links, crumb{visible.Name(place.WithoutLogin(ref.Locator).Redacted()), to, true})
			}
		}
	}
	return links
}

// nowhere is the failure for a path that no URL has, as err says.
func (v front) nowhere(path string, err error) *failure {
	text, _ := url.PathUnescape(path[1:])
	scheme, rest, ok := strings.Cut(path[1:], "/")
	switch {
	case path == "/url":
		text = v.req.r.URL.Query().Get("u")
	case ok && !strings.Contains(scheme, "."): // not a name of a server
		return v.noPage(scheme+"://"+rest, err)
	}
	f := v.noPage(text, err)
	if path != "/url" {
		f.Status, f.Text, f.Detail, f.Reply = http.StatusNotFound, "The gateway has no such page.", "", ""
		if f.Links == nil {
			f.Do, f.Ways = "Enter a URL in the address bar.", v.ways()
		}
	}
	return f
}

// unsearchable is the failure for a query that is no name of the gateway's own, where nothing can be
// searched. The question mark may be that of a name, in which it has to be encoded.
func (v front) unsearchable() *failure {
	here := v.req.loc.String()
	return &failure{
		Status: http.StatusBadRequest, Text: "Nothing can be searched here.", Detail: visible.Name("The query is ?" + v.req.r.URL.RawQuery),
		Do: "Leave the query out. A question mark in the name of a document is written %3F:", Links: v.urls(here, here+"%3F"+v.req.r.URL.RawQuery),
	}
}

// A setupPage is the data of the page that registers the gateway with the browser, by a script.
type setupPage struct {
	Prefix, Origin, Open string
	Schemes              []handled
	Examples             []crumb // links to URLs, not to paths of the gateway
}

// A handled is a scheme that browsers let a page register.
type handled struct{ Scheme, Is string }

// registered are the schemes that browsers let a page register.
var registered = []handled{
	{"ftp", "files on FTP servers"},
	{"ftps", "files on FTP servers, with encryption"},
	{"news", "newsgroups and articles"},
	{"nntp", "newsgroups on a server that the link names"},
}

// setup registers the gateway with the browser, by a script.
func (v front) setup() error {
	data := setupPage{v.req.prefix, v.req.origin(), v.req.prefix + "/open?url=%s", registered, nil}
	for _, url := range []string{"ftp://ftp.gnu.org/gnu/", "gopher://gopher.floodgap.com/", "nntp://news.gmane.io/gmane.discuss"} {
		if l, err := place.Parse(url); err == nil {
			data.Examples = append(data.Examples, crumb{Text: url, Link: place.URL(l)})
		}
	}
	return v.out.render(v.req, "setup", http.StatusOK, &page{Heading: "Open links in this gateway", Early: true, Main: data})
}

// An interstitialPage is the data of the page that asks before something is done.
type interstitialPage struct {
	Action, URL, Words string
	Link               place.Link
}

// interstitial asks before something is done that another site has linked to.
func (v front) interstitial() error {
	action := "fetch this URL"
	switch {
	case v.req.query.Has("login") || v.req.user != nil:
		action = "log in to this server"
	case v.req.query.Has("q") || v.req.query.Has("author") || v.searches():
		action = "send this search"
	case v.req.query.Has("tar"):
		action = "download this folder"
	case v.req.query.Has("in"):
		action = "open this archive"
	}
	words := strings.TrimSpace(v.req.query.Get("q") + " " + v.req.query.Get("author"))
	return v.out.render(v.req, "interstitial", http.StatusOK, &page{
		Heading: "Another site leads here",
		Main:    interstitialPage{action, visible.Name(place.WithoutLogin(v.req.loc).Redacted()), visible.Name(words), v.req.again()},
	})
}

// searches reports whether the Locator has words to search for.
func (v front) searches() bool {
	switch l := v.req.loc.(type) {
	case *locator.Gopher:
		return l.Search != ""
	case *locator.WAIS:
		return l.Form == locator.WAISSearch
	}
	return false
}
