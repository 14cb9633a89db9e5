package gateway

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/gateway/internal/groups"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// TestHomeNews tests the groups of the news server on the first page: a dozen, of a list of any
// length, asked for once.
func TestHomeNews(t *testing.T) {
	lists := map[string][]string{"hostile.<b>\u202e": nil}
	for i := range 30 {
		lists[fmt.Sprintf("local.g%d", i)] = make([]string, i)
	}
	news, err := nntptest.Start(t.Context(), "127.0.0.1:0", func(s *nntptest.Server) { s.Groups = lists })
	if err != nil {
		t.Fatal(err)
	}
	var h *Handler
	s := start(t, func(made *Handler) { h = made; h.Prefix = "/net"; h.Resolver.Env.NewsServer = news.Addr })
	for len(h.groups.Get(t.Context(), h.Resolver)) == 0 { // on a slow computer
	}
	for range 2 {
		_, body := get(t, s, "/net/")
		if n := strings.Count(body, `href="/net/news/local.`); n != groups.Shown || !strings.Contains(body, `href="/net/news/local.g29"`) || !strings.Contains(body, `href="/net/news/*">All groups of 127.0.0.1`) {
			t.Errorf("%d groups\n%s", n, body)
		}
		if strings.Index(body, "local.g18") > strings.Index(body, "local.g29") || strings.Contains(body, "<b>\u202e") {
			t.Errorf("the order of groups:\n%s", body)
		}
	}
	if n := strings.Count(strings.Join(news.Transcript().From(testserver.FromClient), "\n"), "LIST ACTIVE"); n > 1 {
		t.Errorf("the list was asked for %d times", n)
	}
	// A link of another site asks nothing.
	before := len(news.Transcript().From(testserver.FromClient))
	other := start(t, func(h *Handler) { h.Resolver.Env.NewsServer = news.Addr })
	res, body, err := ask(t, other, http.MethodGet, "/", "Accept", "text/html", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(body, "All groups of") || len(news.Transcript().From(testserver.FromClient)) > before {
		t.Errorf("a link of another site: %v %v\n%s", res, err, body)
	}
}

// TestHomeExamples tests that the first page has nothing that fails as the gateway is configured.
func TestHomeExamples(t *testing.T) {
	s := start(t, nil)
	if _, body := get(t, s, "/"); strings.Contains(body, `href="/news/c`) || strings.Contains(body, "All groups") {
		t.Errorf("there is no news server:\n%s", body)
	}
}
