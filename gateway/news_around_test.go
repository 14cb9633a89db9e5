package gateway

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// threaded is a group with a thread of three articles and others, which a server numbers from 1. The
// articles have the field Xref if it is set.
func threaded(xref bool) []string {
	var articles []string
	for i, references := range []string{"", "", "<1@h>", "", "<1@h> <3@h>", ""} {
		header := fmt.Sprintf("From: Author %d <a%d@h>\nNewsgroups: local.thread\nSubject: number %d\nMessage-ID: <%d@h>\nDate: Tue, 20 Dec 1994 17:3%d:00 GMT\n", i+1, i+1, i+1, i+1, i)
		if references != "" {
			header += "References: " + references + "\n"
		}
		if xref {
			header += fmt.Sprintf("Xref: news.h local.thread:%d\n", i+1)
		}
		articles = append(articles, letter(header, "x\n"))
	}
	return articles
}

// TestArticlePlace shows the articles around one, by a few commands.
func TestArticlePlace(t *testing.T) {
	for _, xref := range []bool{true, false} {
		news, s := startNews(t, func(n *nntptest.Server) { n.Groups["local.thread"] = threaded(xref) })
		over := "OVER 1-6"
		for path, sent := range map[string][]string{
			"/nntp/" + news.Addr + "/local.thread/3": {"GROUP local.thread", "ARTICLE 3", "GROUP local.thread", over},
			"/news/3@h":                              {"ARTICLE <3@h>", "GROUP local.thread", over},
		} {
			get(t, s, path) // so that a connection is open
			news.ResetTranscript()
			res, body := get(t, s, path)
			if got := news.Transcript().From(testserver.FromClient); !slices.Equal(got, sent) && !slices.Equal(append([]string{"GROUP local.thread"}, got...), sent) {
				t.Errorf("%s: sent %q, want %q", path, got, sent)
			}
			to := func(n int) string {
				if strings.HasPrefix(path, "/news/") {
					return fmt.Sprintf("/news/%d@h", n)
				}
				return fmt.Sprintf("/nntp/%s/local.thread/%d", news.Addr, n)
			}
			group := strings.TrimSuffix(to(3), "/3")
			if strings.HasPrefix(path, "/news/") {
				group = "/news/local.thread"
			}
			for _, want := range []string{
				`<li><a href="` + group + `">local.thread</a></li>` + "\n<li><span", `<a href="` + to(2) + `" rel="prev">Previous article</a>`, `<a href="` + to(4) + `" rel="next">Next article</a>`,
				`<a href="` + to(1) + `">Previous in thread</a>`, `<a href="` + to(5) + `">Next in thread</a>`,
				`In reply to <a href="` + to(1) + `">number 1 (Author 1)</a>`, `<strong aria-current="true">number 3</strong>`, `<a href="#thread">1 reply</a>`,
				`<a href="` + to(5) + `">number 5</a>`, "3 articles</span>",
			} {
				if res.StatusCode != 200 || !strings.Contains(body, want) {
					t.Errorf("%s has no %s:\n%s", path, want, body)
				}
			}
		}
	}
}

// TestArticleAlone shows an article also if its group cannot be listed.
func TestArticleAlone(t *testing.T) {
	for name, set := range map[string]func(*nntptest.Server){
		"no overview": func(n *nntptest.Server) { n.Hide = []string{"OVER", "XOVER"} },
		"old server":  func(n *nntptest.Server) { n.RFC977 = true },
	} {
		news, s := startNews(t, set)
		res, body := get(t, s, "/nntp/"+news.Addr+"/local.test/1")
		if sent := strings.Join(news.Transcript().From(testserver.FromClient), "\n"); res.StatusCode != 200 || !strings.Contains(body, "Tabs\tstay.") || strings.Contains(sent, "HEAD") || !strings.Contains(body, "The other articles of the group are not shown: ") {
			t.Errorf("%s: %s, sent %q\n%s", name, res.Status, sent, body)
		}
	}
	// Each has a server of its own, because a client remembers what is refused. The faults act each time,
	// because a command is sent again if a kept connection is lost.
	for name, faults := range map[string]map[string]nntptest.Fault{
		"an overview that is cut off": {"OVER": testserver.NoDot()},
		"an overview that is refused": {"OVER": testserver.Reply("503 broken"), "XOVER": testserver.Reply("503 broken")},
		"lost connections":            {"OVER": testserver.Close(), "XOVER": testserver.Close()},
	} {
		news, s := startNews(t, nil)
		for stage, fault := range faults {
			news.On(stage, 0, fault)
		}
		if res, body, err := ask(t, s, http.MethodGet, "/nntp/"+news.Addr+"/local.test/3", "Accept", browserAccepts); err != nil || res.StatusCode != 200 || !strings.Contains(body, "I saw.") || !strings.Contains(body, "The other articles of the group are not shown: ") {
			t.Errorf("%s: %v %v\n%s", name, res, err, body)
		}
	}
	news, s := startNews(t, nil)
	path := "/nntp/" + news.Addr + "/local.test/3"
	// Other lines than those that were asked for.
	for name, lines := range map[string]string{
		"no lines": "", "of another group": "77\tx\ty\tz\t<77@b>\t\t\t\r\n", "the number of another article": "3\tx\ty\tz\t<77@b>\t\t\t\r\n",
		"many lines": strings.Repeat("3\tx\ty\tz\t<77@b>\t<77@b> <reply@lab.example>\t\t\r\n", 20_000),
		"a loop":     "1\tx\ty\tz\t<first@lab.example>\t<reply@lab.example>\t\t\r\n3\tx\ty\tz\t<reply@lab.example>\t<first@lab.example>\t\t\r\n",
	} {
		news.On("OVER", 1, testserver.Data(lines+".\r\n"))
		if _, body, err := ask(t, s, http.MethodGet, path, "Accept", browserAccepts); err != nil || !strings.Contains(body, "I saw.") || len(body) > 100_000 {
			t.Errorf("%s: %v, %d bytes\n%.3000s", name, err, len(body), body)
		}
	}
}

// TestHostileArticle shows articles that are made to be slow or large, within the limits.
func TestHostileArticle(t *testing.T) {
	ids := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, " <%d@h>\n", i)
		}
		return b.String()
	}
	news, s := startNews(t, func(n *nntptest.Server) {
		const head = "From: a@b\nNewsgroups: local.hard\nDate: Tue, 20 Dec 1994 17:38:00 GMT\n"
		n.Groups["local.hard"] = []string{
			letter(head+"Subject: references\nMessage-ID: <1@b>\nReferences:"+ids(100_000), "x\n"),
			letter(head+"Message-ID: <2@b>\nSubject: "+strings.Repeat("long ", 1_000)+"\n"+strings.Repeat("X-Field: value\n", 100_000), "x\n"),
			letter(head+"Subject: itself\nMessage-ID: <3@b>\nReferences: <3@b>\n", "x\n"),
			letter(head+"Subject: \u202eevil\x1b[1m\nMessage-ID: <4@b>\nReferences: <3@b>\nXref: h local.hard:999999 \u202e:1 x:y\n", "x\n"),
			letter(head+"Subject: files\nMessage-ID: <5@b>\n", strings.Repeat("begin 644 \u202e../x.html\n#,#$R\n`\nend\n", 2_000)),
		}
	})
	for i := range 5 {
		for _, path := range []string{fmt.Sprintf("/nntp/%s/local.hard/%d", news.Addr, i+1), fmt.Sprintf("/news/%d@b", i+1)} {
			res, body, err := ask(t, s, http.MethodGet, path, "Accept", browserAccepts)
			if err != nil || res.StatusCode != 200 || len(body) > 200_000 {
				t.Errorf("%s: %v, %v, %d bytes", path, res, err, len(body))
				continue
			}
			checkMarkup(t, path, withoutBar(body))
		}
	}
}

// TestSlowOverview shows an article without the others if the server does not list the group in time.
func TestSlowOverview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		news := nntptest.New(t, func(s *nntptest.Server) { s.InMemory, s.Groups = true, newsgroups() })
		news.On("OVER", 0, testserver.Silence())
		client, begin := inMemory(t, &news.Server, nil), time.Now()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost:8738"+pathOf(t, news.URL+"/local.test/3"), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", browserAccepts)
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if took := time.Since(begin); err != nil || res.StatusCode != 200 || took > aroundTime || !strings.Contains(string(body), "I saw.") || !strings.Contains(string(body), "are not shown: ") {
			t.Errorf("after %v: %s, %v\n%s", took, res.Status, err, body)
		}
	})
}
