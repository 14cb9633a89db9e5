package replay_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

// brokenPast has a text of several thousand octets at each of the URLs.
func brokenPast(t *testing.T, arm bool) (p *past, urls []string) {
	text := strings.Repeat("a line of text\r\n", 2000) + "the end of it\r\n"
	files := fstest.MapFS{"db/x.txt": {Data: []byte(text)}}
	news := nntptest.New(t, func(s *nntptest.Server) {
		s.InMemory = true
		s.Groups = map[string][]string{"local.test": {"From: a@b\r\nSubject: s\r\nMessage-ID: <1@x.org>\r\n\r\n" + text}}
	})
	wais := waistest.New(t, func(s *waistest.Server) { s.InMemory, s.Content = true, files })
	prospero := prosperotest.New(t, func(s *prosperotest.Server) { s.InMemory, s.Content = true, files })
	if arm {
		news.On("ARTICLE", 0, testserver.NoDot())
		news.On("OVER", 0, testserver.NoDot())
		wais.On("RETRIEVE", 3, testserver.Close())
		prospero.On("GET-OBJECT-INFO", 2, testserver.Reply("ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE DATA '"+text[:30000]))
	}
	p = newPast(t, map[string]*testserver.Server{"news.example.org:119": &news.Server, "h:210": &wais.Server, "h:1525": &prospero.Server})
	return p, []string{
		"nntp://news.example.org/local.test/1", "news:1@x.org", "nntp://news.example.org/local.test", "news:local.test",
		"wais://h" + wais.DocumentPath("db", "db/x.txt"), "prospero://h//db/x.txt",
	}
}

// What was recorded of a transfer that has failed is a transfer that fails, at the same octet.
func TestReplayTruncated(t *testing.T) {
	p, urls := brokenPast(t, true)
	before := make(map[string]string)
	for _, url := range urls {
		body, err := fails(t, p.live, url)
		if fetch.KindOf(err) != fetch.ErrTruncated {
			t.Fatalf("%s: %v", url, err)
		}
		before[url] = string(body)
	}
	p.begin()
	for _, url := range urls {
		body, err := fails(t, p.again, url)
		switch scheme, _, _ := strings.Cut(url, ":"); scheme {
		case "prospero": // an answer is sent as a whole
			before[url] = ""
		case "wais": // the last slice is not sent
			before[url] = before[url][:10000]
		}
		if string(body) != before[url] {
			t.Errorf("%s: %d octets instead of %d: %v", url, len(body), len(before[url]), err)
		}
	}
}

// A content that differs from its digest never comes to its end.
func TestReplayDamaged(t *testing.T) {
	p, urls := brokenPast(t, false)
	p.record(urls...)
	p.damage("the end of it", "the ENd of it")
	p.damage("<1@x.org>\t", "<1@X.org>\t")
	p.begin()
	for _, url := range urls {
		fails(t, p.again, url)
	}
}
