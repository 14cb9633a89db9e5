package gateway

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/gateway/internal/place"
)

// TestSchemePages tests that a path with nothing but a scheme leads to a form for it, and that the
// form leads to the page of what is entered.
func TestSchemePages(t *testing.T) {
	s := start(t, func(h *Handler) { h.Prefix = "/net" })
	for scheme, entered := range map[string][2]string{
		"ftp": {"h.example/pub/", "/net/ftp/h.example/pub/"}, "ftps": {"h.example:2121/a", "/net/ftps/h.example:2121/a"},
		"gopher": {"h.example/1/x", "/net/gopher/h.example/1/x"}, "gophers": {"h.example", "/net/gophers/h.example/"},
		"news": {"comp.lang.c", "/net/news/comp.lang.c"}, "snews": {"comp.lang.c", "/net/url?u=snews%3Acomp.lang.c"},
		"nntp": {"h.example/comp.lang.c", "/net/nntp/h.example/comp.lang.c"}, "nntps": {"h.example/comp.lang.c", "/net/nntps/h.example/comp.lang.c"},
		"wais": {"h.example/db", "/net/wais/h.example/db"}, "prospero": {"h.example//pub", "/net/url?u=prospero%3A%2F%2Fh.example%2F%2Fpub"},
		"telnet": {"h.example", "/net/telnet/h.example/"}, "mailto": {"a@b.example", "/net/mailto/a@b.example"},
	} {
		for _, path := range []string{"/net/" + scheme, "/net/" + scheme + "/"} {
			res, body := get(t, s, path)
			if res.StatusCode != http.StatusOK || !strings.Contains(body, `name="scheme" value="`+scheme+`"`) || !strings.Contains(body, `action="/net/open"`) {
				t.Errorf("%s: %s\n%s", path, res.Status, body)
			}
		}
		form, _ := place.FormOf(scheme)
		for _, text := range []string{entered[0], form.Before + entered[0]} {
			query := url.Values{"scheme": {scheme}, "url": {text}}
			res, _, err := ask(t, s, http.MethodGet, "/net/open?"+query.Encode())
			if err != nil || res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != entered[1] {
				t.Errorf("%s %s: %v %v, want %s", scheme, text, res, err, entered[1])
			}
		}
	}
	for query, want := range map[string]string{
		"scheme=ftp&url=gopher://h.example/":   "/net/gopher/h.example/",
		"scheme=ftp&url=//h.example/a":         "/net/ftp/h.example/a",
		"scheme=javascript&url=alert(1)":       "",
		"scheme=ftp&url=javascript:alert(1)":   "",
		"scheme=ftp&url=":                      "",
		"url=web%2Bgopher://h.example/1/x":     "/net/gopher/h.example/1/x",
		"url=web%2Bjavascript:alert(1)":        "",
		"scheme=ftp&url=user:secret@h.example": "/net/ftp/h.example/",
	} {
		res, body, err := ask(t, s, http.MethodGet, "/net/open?"+query, "Accept", "text/html")
		if err != nil || res.Header.Get("Location") != want || (want == "") != (res.StatusCode == http.StatusBadRequest) || strings.Contains(body, `href="javascript`) {
			t.Errorf("%s: %v %v, want %s\n%s", query, res, err, want, body)
		}
	}
}

// TestSchemeExamples tests that the examples of a page work as the gateway is configured.
func TestSchemeExamples(t *testing.T) {
	without := start(t, nil)
	with := start(t, func(h *Handler) { h.Resolver.Env.NewsServer = "news.example" })
	archive := start(t, func(h *Handler) { h.Archive = new(Archive) })
	for path, want := range map[string]string{"/news/": `href="/news/comp.infosystems.gopher"`, "/gopher/": `href="/gopher/gopher.floodgap.com/"`} {
		if _, body := get(t, without, path); strings.Contains(body, want) == (path == "/news/") {
			t.Errorf("%s, without a news server:\n%s", path, body)
		}
		if _, body := get(t, with, path); !strings.Contains(body, want) {
			t.Errorf("%s, with a news server:\n%s", path, body)
		}
		if _, body := get(t, archive, path); strings.Contains(body, want) {
			t.Errorf("%s, of an archive:\n%s", path, body)
		}
	}
}

// TestHelp tests that the page of help names every query that the gateway reads in a visitor's hands,
// and every key.
func TestHelp(t *testing.T) {
	s := start(t, func(h *Handler) { h.Prefix = "/net" })
	res, body := get(t, s, "/net/help")
	for _, want := range []string{"?raw", "?explain", "?q=", "?charset=", "?sort=", "?filter=", "?grid", "?tar", "?info", "?threads", "?atom", "<kbd>/</kbd>", "<kbd>j</kbd>", "<kbd>k</kbd>", "<kbd>u</kbd>", "<kbd>?</kbd>", `href="/net/setup"`, s.URL + "/net/open?url="} {
		if res.StatusCode != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: no %s in\n%s", res.Status, want, body)
		}
	}
}
