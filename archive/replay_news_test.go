package archive_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// oddArticles are articles with octets that the protocol could change.
var oddArticles = []string{
	"From: a@example.org\r\nSubject: dots\r\nMessage-ID: <1@example.org>\r\n\r\n.\r\n..\r\n.x\r\n",
	"From: b@example.org\r\nSubject: octets\r\nMessage-ID: <2/x?%@example.org>\r\n\r\na\rb\x00\xff\r\n\r\n",
	"", // it has expired
	"From: c@example.org\r\nSubject: no body\r\nMessage-ID: <4@example.org>\r\n\r\n",
	"From: d@example.org\r\nSubject: long\r\n  Subject\r\nReferences: <1@example.org>\r\n\t<4@example.org>\r\n\r\n" + strings.Repeat("line\r\n", 5000),
}

func newsPast(t testing.TB) *past {
	server := nntptest.New(t, func(s *nntptest.Server) {
		s.InMemory = true
		s.Groups = map[string][]string{"local.odd": oddArticles, "local.odd.more": oddArticles[:1], "local.none": nil}
	})
	return newPast(t, map[string]*testserver.Server{"news.example.org:119": &server.Server})
}

func TestReplayNews(t *testing.T) {
	p := newsPast(t)
	urls := []string{"news:*", "news:local.none"}
	for _, group := range []string{"local.odd", "local.odd.more"} {
		urls = append(urls, "news:"+group, "nntp://news.example.org/"+group)
		for n := range oddArticles {
			if group == "local.odd" && oddArticles[n] != "" || n == 0 {
				urls = append(urls, fmt.Sprintf("nntp://news.example.org/%s/%d", group, n+1))
			}
		}
	}
	for _, id := range []string{"1@example.org", "2/x?%@example.org", "4@example.org", "5.local.odd@testserver.test"} {
		urls = append(urls, "news:"+strings.ReplaceAll(url.PathEscape(id), "%40", "@"))
	}
	before := p.record(urls...)
	p.begin()
	p.same(before)
	for _, url := range []string{"news:local.absent", "news:absent@example.org", "nntp://news.example.org/local.odd/3", "nntp://news.example.org/local.odd/9", "nntp://other.example.org/x.y"} {
		if _, err := p.again.Get(t.Context(), url); fetch.KindOf(err) != fetch.ErrNotFound {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// Articles that were recorded by their numbers are a group, although its listing was not recorded.
func TestReplayNewsWithoutListing(t *testing.T) {
	p := newsPast(t)
	p.record("nntp://news.example.org/local.odd/1", "nntp://news.example.org/local.odd/5", "nntp://news.example.org/local.odd.more/1")
	p.begin()
	served, err := p.replay.Serve(t.Context(), nil)
	if err != nil || len(served) != 1 {
		t.Fatal(served, err)
	}
	answer := ask(t, served[0].URL, "MODE READER", "LIST", "GROUP local.odd", "XOVER 1-9", "STAT 3", "STAT <4@example.org>", "STAT <1@example.org>", "LISTGROUP", "POST", "GROUP local.x")
	for _, want := range []string{
		"\r\nlocal.odd 0000000005 0000000001 n\r\nlocal.odd.more 0000000001 0000000001 n\r\n",
		"\r\n211 2 1 5 local.odd\r\n", "\r\n1\tdots\ta@example.org\t\t<1@example.org>\t\t", "\r\n5\tlong  Subject\t",
		"\r\n423 ", "\r\n430 ", "\r\n223 0 <1@example.org>\r\n", "list follows\r\n1\r\n5\r\n.\r\n", "\r\n440 ", "\r\n411 ",
	} {
		if !strings.Contains(answer, want) {
			t.Errorf("the server has not sent %q:\n%s", want, answer)
		}
	}
}
