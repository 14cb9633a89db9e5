package nntp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

func articles(spec string) *Options { return &Options{Articles: spec} }

func TestParseSpans(t *testing.T) {
	for _, tt := range []struct {
		spec string
		want []span
	}{
		{"1-500", []span{{1, 500}}}, {"7", []span{{7, 7}}}, {"480-", []span{{480, last}}},
		{"1-10,12, 20-", []span{{1, 10}, {12, 12}, {20, last}}}, {"3,1,3", []span{{3, 3}, {1, 1}, {3, 3}}},
		{"0", nil}, {"-5", nil}, {"5-3", nil}, {"x", nil}, {"1-x", nil}, {"1,,2", nil}, {" ", nil}, {"1-2-3", nil}, {"+1", nil},
		{"99999999999999999", nil}, {strings.Repeat("1,", maxAsked) + "1", nil}, {"1\r\nQUIT", nil},
	} {
		got, err := parseSpans(tt.spec)
		if !slices.Equal(got, tt.want) && tt.want != nil || (err != nil) != (tt.want == nil) {
			t.Errorf("%.30q: %v, %v; want %v", tt.spec, got, err, tt.want)
		}
	}
}

func TestClamp(t *testing.T) {
	got := clamp([]span{{1, 500}, {3, 3}, {90, 95}, {8, last}}, groupInfo{count: 3, low: 5, high: 10})
	if want := []span{{5, 10}, {8, 10}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := clamp([]span{{1, last}}, groupInfo{low: 5, high: 4}); got != nil {
		t.Errorf("clamp for an empty group is %v, want nil", got)
	}
}

// TestMbox checks the mbox of several articles.
func TestMbox(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		var want strings.Builder
		for _, n := range []int{1, 2, 4} {
			text := strings.ReplaceAll(testArticles()["local.test"][n-1], "\r\n", "\n")
			text = strings.NewReplacer("\nFrom ", "\n>From ", "\n>From ", "\n>>From ").Replace(text)
			fmt.Fprintf(&want, "From lab@lab.example Tue Dec 20 17:38:00 1994\n%s\n", text)
		}
		for range 2 {
			got, err := w.getAs(w.req("/local.test", articles("1-")))
			if got != want.String() || err != nil {
				w.Errorf("got  %q, %v\nwant %q", got, err, want.String())
			}
			w.sent("GROUP local.test", "ARTICLE 1", "ARTICLE 2", "ARTICLE 3", "ARTICLE 4")
		}
		if n := w.connections(); n > 1 {
			w.Errorf("%d connections, want at most 1", n)
		}
	})
}

// TestMboxOdd checks that the mbox of unusual articles can be split again.
func TestMboxOdd(t *testing.T) {
	withServer(t, func(s *nntptest.Server) {
		s.Groups["local.odd"] = []string{
			"From: \"a b\"@c\r\nSubject: folded\r\n\tFrom far\r\n\r\nFrom x\r\n\r\n",
			"no header at all\r\n",
			"Date: Tue, 20 Dec 1994 17:38:00 +0100\r\nFrom: =?x?q?y?= <a@b>\r\n", "From: c@d.example (Name)\r\nDate: then\r\n\r\n",
		}
	}, func(w *harness) {
		got, err := w.getAs(w.req("/local.odd", articles("1-4")))
		want := "From MAILER-DAEMON Thu Jan  1 00:00:00 1970\nFrom: \"a b\"@c\nSubject: folded\n\tFrom far\n\n>From x\n\n\n" +
			"From MAILER-DAEMON Thu Jan  1 00:00:00 1970\nno header at all\n\n" +
			"From a@b Tue Dec 20 16:38:00 1994\nDate: Tue, 20 Dec 1994 17:38:00 +0100\nFrom: =?x?q?y?= <a@b>\n\n" +
			"From c@d.example Thu Jan  1 00:00:00 1970\nFrom: c@d.example (Name)\nDate: then\n\n\n"
		if got != want || err != nil {
			w.Errorf("got  %q, %v\nwant %q", got, err, want)
		}
	})
}

// TestArticles checks the sequence of articles, also if some are not read.
func TestArticles(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		for _, skip := range []int64{0, 1, 2, 4} {
			res, err := w.Fetch(w.Context(), w.req("news:local.test", articles("1-2,4,1,900-")))
			if err != nil {
				w.Fatal(err)
			}
			var got []string
			for article, err := range res.Info.(*Info).Articles {
				if err != nil {
					w.Fatal(err)
				}
				if article.Number == skip {
					continue
				}
				data, err := io.ReadAll(article.Body)
				if err != nil || string(data) != testArticles()["local.test"][article.Number-1] {
					w.Errorf("%d: %q, %v", article.Number, data, err)
				}
				got = append(got, fmt.Sprint(article.Number, article.MessageID))
			}
			want := slices.DeleteFunc([]string{"1<a1@lab.example>", "2<a2@lab.example>", "4<a4@lab.example>", "1<a1@lab.example>"},
				func(s string) bool { return strings.HasPrefix(s, fmt.Sprint(skip)) })
			if !slices.Equal(got, want) {
				w.Errorf("%q, want %q", got, want)
			}
			if err := res.Close(); err != nil {
				w.Error(err)
			}
		}
		if n := w.connections(); n != 1 {
			w.Errorf("%d connections, want 1", n)
		}
	})
}

// many returns a group of n articles, of which every tenth has expired.
func many(n int) (group []string, left int) {
	for i := range n {
		text := ""
		if i%10 != 3 {
			text = posting(fmt.Sprint("m", i), fmt.Sprint("number ", i+1), strings.Repeat("a line of text\r\n", i%50))
			left++
		}
		group = append(group, text)
	}
	return group, left
}

// TestPipeline checks that commands are pipelined, up to the window.
func TestPipeline(t *testing.T) {
	const n = 500
	group, left := many(n)
	withServer(t, func(s *nntptest.Server) { s.Groups["local.many"] = group }, func(w *harness) {
		dial := w.env.Dial
		rounds := 0
		w.env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dial(ctx, network, address)
			return counted{c, &rounds}, err
		}
		res, err := w.Fetch(w.Context(), w.req("/local.many", articles("1-")))
		if err != nil {
			w.Fatal(err)
		}
		defer res.Close()
		count := 0
		for article, err := range res.Info.(*Info).Articles {
			if err != nil {
				w.Fatal(err)
			}
			data, err := io.ReadAll(article.Body)
			if string(data) != group[article.Number-1] || err != nil {
				w.Errorf("%d: %q, %v", article.Number, data, err)
			}
			count++
		}
		if count != left {
			w.Errorf("%d articles, want %d", count, left)
		}
		if rounds < n/window || rounds > 2*n/window+8 {
			w.Errorf("%d articles were requested in %d writes, want %d to %d", n, rounds, n/window, 2*n/window+8)
		}
	})
}

// counted counts what is written.
type counted struct {
	net.Conn
	writes *int
}

func (c counted) Write(p []byte) (int, error) {
	*c.writes++
	return c.Conn.Write(p)
}

// TestNoArticles checks ranges without articles, invalid ranges, and ranges of URLs that do not name
// a group.
func TestNoArticles(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		for _, tt := range []struct {
			url, spec string
			kind      fetch.ErrorKind
		}{
			{"/local.test", "900-1000", fetch.ErrNotFound}, {"/local.test", "3", fetch.ErrNotFound}, {"/local.empty", "1-", fetch.ErrNotFound},
			{"/local.none", "1-", fetch.ErrNotFound}, {"/local.test", "5-1", fetch.ErrBadRange}, {"/local.test/1", "1-", fetch.ErrBadURL},
			{"news:*", "1-", fetch.ErrBadURL}, {"/", "1-", fetch.ErrBadURL}, {"news:a1@lab.example", "1-", fetch.ErrBadURL},
		} {
			_, err := w.getAs(w.req(tt.url, articles(tt.spec)))
			w.fails(tt.url+" "+tt.spec, err, tt.kind)
		}
		if got, err := w.getAs(w.req("/local.test", articles("1-3"))); strings.Count(got, "\nFrom: ") != 2 || err != nil { // 3 is missing
			w.Errorf("1-3: %q, %v", got, err)
		}
		w.want("/local.test/1", testArticles()["local.test"][0])
		if n := w.connections(); n != 1 {
			w.Errorf("%d connections, want 1", n)
		}
	})
}

// TestArticlesAbandoned checks that Close does not wait for the rest of a range.
func TestArticlesAbandoned(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		for read := range 4 {
			res, err := w.Fetch(w.Context(), w.req("/local.test", articles("1-")))
			if err != nil {
				w.Fatal(err)
			}
			each := res.Info.(*Info).Articles
			for range each {
				if read--; read < 0 {
					break
				}
			}
			start := time.Now()
			res.Close()
			if took := time.Since(start); took > 0 {
				w.Errorf("Close took %v, want 0s", took)
			}
			for article, err := range each {
				if article != nil || err == nil || read < 0 && !errors.Is(err, os.ErrClosed) {
					w.Errorf("after Close: %v, %v", article, err)
				}
			}
			if n, err := res.Body.Read(make([]byte, 10)); n > 0 || err == nil {
				w.Errorf("Read after Close: %d bytes, %v; want an error", n, err)
			}
			w.want("/local.more/1", testArticles()["local.more"][0])
		}
	})
}

// TestArticlesLogin checks that a server may require the login at GROUP or at the first article.
func TestArticlesLogin(t *testing.T) {
	withServer(t, func(s *nntptest.Server) {
		s.Users, s.Protected = map[string]testserver.User{"lab": {Password: "s3cret"}}, []string{"local.test"}
	}, func(w *harness) {
		w.env.Credentials = knows("lab", "s3cret")
		if got, err := w.getAs(w.req("/local.test", articles("1-"))); strings.Count(got, "\nFrom: ") != 3 || err != nil {
			w.Errorf("%q, %v", got, err)
		}
		w.Close()
		w.srv.On("ARTICLE", 1, testserver.Reply("480 who"))
		if got, err := w.getAs(w.req("/local.more", articles("1-"))); strings.Count(got, "\nFrom: ") != 1 || err != nil {
			w.Errorf("%q, %v", got, err)
		}
	})
}
