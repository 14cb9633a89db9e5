package replay_test

import (
	"crypto/tls"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/archive"
	"github.com/fetch1738/fetch1738/archive/replay"
	"github.com/fetch1738/fetch1738/archive/warc"
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
	urls := []string{"news:*", "news:local.none", "nntp://news.example.org/"}
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
	answer := talkNews(t, served[0].URL, "MODE READER", "LIST", "GROUP local.odd", "XOVER 1-9", "STAT 3", "STAT <4@example.org>", "STAT <1@example.org>", "LISTGROUP", "POST", "GROUP local.x")
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

// All articles of large groups come back, by number and by message-id.
func TestReplayManyArticles(t *testing.T) {
	groups := make(map[string][]string)
	for g := range 3 {
		name := fmt.Sprintf("local.g%d", g)
		for n := range 1000 {
			groups[name] = append(groups[name], fmt.Sprintf("From: a@example.org\r\nSubject: %d\r\nMessage-ID: <%d.%d@example.org>\r\n\r\n.article %d\r\n", n, n+1, g, n))
		}
	}
	server := nntptest.New(t, func(s *nntptest.Server) { s.InMemory, s.Groups = true, groups })
	p := newPast(t, map[string]*testserver.Server{"news.example.org:119": &server.Server})
	urls := []string{"news:*"}
	for name := range groups {
		urls = append(urls, "news:"+name, "nntp://news.example.org/"+name)
		for n := 1; n <= 1000; n++ {
			urls = append(urls, fmt.Sprintf("nntp://news.example.org/%s/%d", name, n))
			if n%2 == 0 {
				urls = append(urls, fmt.Sprintf("news:%d.%s@example.org", n, name[len("local.g"):]))
			}
		}
	}
	before := p.record(urls...)
	p.begin()
	p.same(before)
}

// A group is what it was at the time, and so are its articles.
func TestReplayNewsAt(t *testing.T) {
	p := newPast(t, nil)
	put := func(day int, url, body string) {
		block := warc.NewBlock()
		defer block.Close()
		fmt.Fprint(block, body)
		err := p.writer.Write(warc.Draft{Block: block, Header: warc.Header{
			{Name: warc.FieldType, Value: string(warc.Resource)}, {Name: warc.FieldDate, Value: fmt.Sprintf("1994-12-%02dT00:00:00Z", day)},
			{Name: warc.FieldTargetURI, Value: url}, {Name: warc.FieldContentType, Value: "text/plain"},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	const group = "nntp://news.example.org:119/local.test"
	put(1, group, "1\ta\r\n")
	put(3, group, "1\ta\r\n2\tb\r\n")
	put(1, group+"/1", "Subject: a\r\n\r\nfirst\r\n")
	put(5, group+"/1", "Subject: a\r\n\r\nchanged\r\n")
	p.begin()
	a, err := archive.Open(t.Context(), p.file)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for day, want := range map[int][2]string{2: {"1\ta\r\n", "first"}, 4: {"1\ta\r\n2\tb\r\n", "first"}, 6: {"1\ta\r\n2\tb\r\n", "changed"}} {
		past, err := replay.New(a, time.Date(1994, 12, day, 0, 0, 0, 0, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		r := past.Resolver()
		listing, article := get(t, r, group), get(t, r, group+"/1")
		if string(listing.body) != want[0] || string(article.body) != "Subject: a\r\n\r\n"+want[1]+"\r\n" {
			t.Errorf("day %d: %q, %q", day, listing.body, article.body)
		}
		r.Close()
		past.Close()
	}
}

func TestReplayNewsOverTLS(t *testing.T) {
	server := nntptest.New(t, func(s *nntptest.Server) {
		s.InMemory, s.TLS, s.ImplicitTLS = true, testserver.NewTLS(), true
		s.Groups = map[string][]string{"local.odd": oddArticles}
	})
	p := newPast(t, map[string]*testserver.Server{"news.example.org:563": &server.Server, "h:5630": &server.Server})
	p.live.Env.TLS = func() (*tls.Config, error) { return &tls.Config{InsecureSkipVerify: true}, nil }
	before := p.record("snews:local.odd", "snews:1@example.org", "snews:*", "snews://h:5630/local.odd", "nntps://news.example.org/local.odd/1")
	p.begin()
	p.same(before)
}
