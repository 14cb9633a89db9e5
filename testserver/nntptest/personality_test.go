package nntptest_test

import (
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/conversation"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// personalityNews is what the conversations in testdata/personalities are about. The tests of
// interop feed the same to the real servers.
func personalityNews(s *nntptest.Server) {
	s.Groups = map[string][]string{
		"local.empty": nil,
		"local.test":  {article("one"), article("two")},
	}
	s.Descriptions = map[string]string{"local.test": "Tests, gr\u00fcn"}
	s.Users, s.Protected = map[string]testserver.User{"lab": {Password: "secret"}}, []string{"local.private"}
	s.InMemory = true
}

func article(name string) string {
	return "Path: not-for-mail\r\nFrom: a@example.test\r\nNewsgroups: local.test\r\nSubject: " + name +
		"\r\nDate: Sat, 04 Mar 1995 05:06:07 GMT\r\nMessage-ID: <" + name + "@example.test>\r\n\r\nhello\r\n.dot\r\n"
}

// TestPersonalitiesAsPinned plays what was recorded with real servers.
func TestPersonalitiesAsPinned(t *testing.T) {
	testclient.Pinned(t, nntptest.Personalities(), func(t *testing.T, p testserver.Personality[*nntptest.Server], text string) (string, error) {
		srv := nntptest.New(t, p.Configure, personalityNews)
		player := &conversation.Client{Addr: srv.Addr, Dial: srv.Dial, Clean: conversation.CleanNews}
		return player.News(t.Context(), text)
	})
}

func TestPersonalitiesAsDescribed(t *testing.T) {
	testclient.InBubble(t, "slow-news", func(t *testing.T) {
		srv := nntptest.New(t, nntptest.SlowNews, personalityNews)
		player := &conversation.Client{Addr: srv.Addr, Dial: srv.Dial}
		start := time.Now()
		const text = "S: 200 testserver ready, posting allowed\nC: GROUP local.test\nS: 211 2 1 2 local.test\nC: BODY\nS: 222 1 <one@example.test>\nD: hello\nD: ..dot\nD: .\n"
		got, err := player.News(t.Context(), text)
		if d := conversation.Compare(got, text); d != "" || err != nil || time.Since(start) != 9*time.Second {
			t.Errorf("%s, %v, after %v", d, err, time.Since(start))
		}
	})
	testclient.InBubble(t, "rfc977", func(t *testing.T) {
		srv := nntptest.New(t, nntptest.Old, personalityNews)
		player := &conversation.Client{Addr: srv.Addr, Dial: srv.Dial}
		const text = "S: 200 testserver ready, posting allowed\nC: CAPABILITIES\nS: 500 What?\nC: MODE READER\nS: 501 Syntax error.\nC: OVER 1\nS: 500 What?\n" +
			"C: GROUP local.test\nS: 211 2 1 2 local.test\n"
		got, err := player.News(t.Context(), text)
		if d := conversation.Compare(got, text); d != "" || err != nil {
			t.Errorf("%s, %v", d, err)
		}
	})
}
