package gateway

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// TestGroupSearch finds articles by words and by author, the newest first, whatever the server can do.
func TestGroupSearch(t *testing.T) {
	for name, set := range map[string]func(*nntptest.Server){
		"XPAT": nil, "no XPAT": func(n *nntptest.Server) { n.Hide = []string{"XPAT"} },
	} {
		news, s := startNews(t, set)
		group := "/nntp/" + news.Addr + "/local.test"
		for query, want := range map[string][]string{
			"q=urls":                        {"3", "1"},
			"q=URLS+ann":                    {"3", "1"},
			"q=gr%C3%BC%C3%9Fe":             {"4"},
			"q=none":                        nil,
			"author=ann%40lab.example":      {"6", "5", "3", "1"},
			"author=Ann++Example&q=flowed":  {"5"},
			"author=j%C3%B6rg":              {"4"},
			"author=urls":                   nil,
			"q=zzz&author=":                 nil,
			"q=%00%1b&author=%E2%80%AE%22>": nil,
		} {
			_, body := get(t, s, group+"?"+query)
			var got []string
			for _, m := range regexp.MustCompile(`<tr role="row"><td role="cell">(\d+)</td>`).FindAllStringSubmatch(body, -1) {
				got = append(got, m[1])
			}
			if !slices.Equal(got, want) || !strings.Contains(body, ` match`) {
				t.Errorf("%s, %s: %q, want %q\n%s", name, query, got, want, body)
			}
			if all := strings.Index(body, `<a href="`+group+`">All articles</a>`); all < 0 || all > strings.Index(body, "<h1>") {
				t.Errorf("%s, %s: no way back to the group:\n%s", name, query, body)
			}
			checkMarkup(t, query, withoutBar(body))
		}
		_, body := get(t, s, group+"?q=%22urls%22+%3Cb%3E&author=%22A")
		if !strings.Contains(body, `name="q" value="&#34;urls&#34; &lt;b&gt;"`) || !strings.Contains(body, `name="author" value="&#34;A"`) {
			t.Errorf("the form does not keep what was typed:\n%s", body)
		}
	}
}

// TestGroupSearchCommands has the server find the candidates among the newest articles.
func TestGroupSearchCommands(t *testing.T) {
	news, s := startNews(t, nil)
	group := "/nntp/" + news.Addr + "/local.test"
	get(t, s, group+"?author=nobody")
	if sent := news.Transcript().From(testserver.FromClient); !slices.Contains(sent, "XPAT From 1-7 *[nN][oO][bB][oO][dD][yY]*") || strings.Contains(strings.Join(sent, "\n"), "OVER 1") {
		t.Errorf("sent %q", sent)
	}
	_, body, err := ask(t, s, http.MethodGet, group+"?q=urls", "Accept", "application/json")
	if err != nil || strings.Count(body, "\n") != 2 {
		t.Errorf("%v\n%s", err, body)
	}
	news.On("GROUP", 0, testserver.Reply("211 50000 1 50000 local.test"))
	news.ResetTranscript()
	for page, want := range map[int]string{1: "XPAT From 30001-50000 ", 2: "XPAT From 10001-30000 ", 3: "XPAT From 1-10000 "} {
		_, body := get(t, s, fmt.Sprintf("%s?author=nobody&page=%d", group, page))
		if sent := strings.Join(news.Transcript().From(testserver.FromClient), "\n"); !strings.Contains(sent, want) {
			t.Errorf("page %d: sent %q", page, sent)
		}
		if more := strings.Contains(body, fmt.Sprintf("?author=nobody&amp;page=%d", page+1)); more != (page < 3) {
			t.Errorf("page %d: a link to older articles: %v\n%s", page, more, body)
		}
	}
}

// TestGroupsSearch finds groups by name and description.
func TestGroupsSearch(t *testing.T) {
	_, s := startNews(t, nil)
	for query, want := range map[string]string{"q=EMPTY": "local.empty", "q=tests": "local.test", "q=local+more": "local.more"} {
		_, body := get(t, s, "/news/*?"+query)
		if rows := strings.Count(body, `<tr role="row"><td`); rows != 1 || !strings.Contains(body, `<a href="/news/`+want+`">`) {
			t.Errorf("%s: %d rows\n%s", query, rows, body)
		}
	}
}

// TestSearchOfAnotherSite does not search for a link of another site before the user agrees.
func TestSearchOfAnotherSite(t *testing.T) {
	news, s := startNews(t, nil)
	for _, query := range []string{"?q=urls", "?author=ann", "?q=&author=ann", "?threads&author=a"} {
		for _, path := range []string{"/nntp/" + news.Addr + "/local.test", "/news/local.test", "/news/*"} {
			news.ResetTranscript()
			_, body, err := ask(t, s, http.MethodGet, path+query, "Accept", browserAccepts, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
			if sent := news.Transcript().From(testserver.FromClient); err != nil || len(sent) > 0 || !strings.Contains(body, "send this search") {
				t.Errorf("%s%s: sent %q, %v\n%s", path, query, sent, err, body)
			}
		}
	}
}
