package gateway

import (
	"net/http"
	"strings"

	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
)

// The front are the pages of the gateway itself: its start, /open and /setup, and the page that
// asks before something is done for a link of another site.
type front struct{ *visit }

// open redirects to the page of the URL in the query. It is the address that browsers and desktops
// open for a link, and that of the form on the page "/".
func (v front) open() error {
	text := strings.Trim(v.r.URL.Query().Get("url"), " \t\r\n<>")
	text = strings.TrimPrefix(text, "URL:") // as in the appendix of RFC 1738
	if text == "" {
		return &failure{Status: http.StatusBadRequest, Text: "No URL was given.", Do: "Enter one that begins with ftp: gopher: news: nntp: wais: or prospero:.", Retry: v.start()}
	}
	l, err := place.Parse(text)
	if err == nil {
		// A desktop that opens a link of any program or site sends its browser here, and that sends
		// "none".
		if v.loc = l; v.only("Sec-Fetch-Site") == "none" && !v.plain() {
			return v.interstitial()
		}
		v.loc = nil
		v.redirect(place.Of(l))
		return nil
	}
	f := failed(err)
	f.Do = "Correct the URL. It must begin with its scheme, such as ftp: or gopher:."
	f.Retry = v.start()
	if ref, parseErr := place.Parser.Parse(text); parseErr == nil {
		f.Do = "Only URLs of ftp, gopher, news, nntp, wais and prospero have pages here."
		if _, ok := ref.Locator.(*locator.HTTP); ok {
			f.Text = "Browsers show this URL themselves."
			f.Do, f.Retry = "", v.linkTo(place.WithoutLogin(ref.Locator))
		}
	}
	return f
}

// start is the link to the page "/".
func (v front) start() place.Link { return place.Link{Path: v.h.Prefix + "/"} }

// home is the page where a person enters a URL.
func (v front) home() error {
	if guard(v).enter() {
		return nil
	}
	type example struct {
		Text string
		Link place.Link
		Is   string
	}
	var examples []example
	for _, e := range [][2]string{
		{"ftp://ftp.gnu.org/gnu/", "a directory of files"},
		{"gopher://gopher.floodgap.com/", "a menu"},
		{"news:comp.infosystems.gopher", "a newsgroup, from the news server of the gateway"},
	} {
		if l, err := place.Parse(e[0]); err == nil {
			examples = append(examples, example{e[0], v.linkTo(l), e[1]})
		}
	}
	return v.render("home", http.StatusOK, &page{
		Heading: "Pages of ftp, gopher, news and wais",
		Title:   "fetch1738 gateway",
		Data: struct {
			Open, Setup place.Link
			Examples    []example
		}{place.Link{Path: v.h.Prefix + "/open"}, place.Link{Path: v.h.Prefix + "/setup"}, examples},
	})
}

// A handled is a scheme that browsers let a page register.
type handled struct{ Scheme, Is string }

// setup registers the gateway with the browser, by a script.
func (v front) setup() error {
	return v.render("setup", http.StatusOK, &page{
		Heading: "Open links in this gateway",
		Data: struct {
			Origin, Open string
			Schemes      []handled
		}{v.origin(), v.h.Prefix + "/open?url=%s", []handled{
			{"ftp", "files on FTP servers"},
			{"ftps", "files on FTP servers, with encryption"},
			{"news", "newsgroups and articles"},
			{"nntp", "newsgroups on a server that the link names"},
		}},
	})
}

// interstitial asks before something is done that another site has linked to.
func (v front) interstitial() error {
	action := "fetch this URL"
	switch {
	case v.query.Has("login") || v.user != nil:
		action = "log in to this server"
	case v.query.Has("q") || v.searches():
		action = "send this search"
	case v.query.Has("tar"):
		action = "download this folder"
	}
	words := v.query.Get("q")
	return v.render("interstitial", http.StatusOK, &page{
		Heading: "Another site leads here",
		Data: struct {
			Action, Words string
			Link          place.Link
		}{action, visible(words), v.again()},
	})
}

// searches reports whether v.loc has words to search for.
func (v front) searches() bool {
	switch l := v.loc.(type) {
	case *locator.Gopher:
		return l.Search != ""
	case *locator.WAIS:
		return l.Form == locator.WAISSearch
	}
	return false
}
