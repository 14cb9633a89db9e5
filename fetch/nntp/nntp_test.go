package nntp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/memnet"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// posting returns an article.
func posting(id, subject, body string) string {
	return "Path: here!not-for-mail\r\nFrom: Lab <lab@lab.example>\r\nNewsgroups: local.test\r\nSubject: " + subject +
		"\r\nDate: Tue, 20 Dec 1994 17:38:00 +0000\r\nMessage-ID: <" + id + "@lab.example>\r\n\r\n" + body
}

// testArticles returns the articles by group. Number 3 has expired.
func testArticles() map[string][]string {
	return map[string][]string{
		"local.test": {
			posting("a1", "one", "first\r\n"),
			posting("a2", "dots", ".\r\n..\r\n.x\r\n"),
			"",
			posting("a4", "8-bit \xfc", "From here\r\n>From there\r\n\xff\x80\r\n"),
		},
		"local.empty": nil,
		"local.more":  {posting("b1", "elsewhere", "x\r\n")},
	}
}

// harness is a server in memory and a Fetcher for it.
type harness struct {
	*testing.T
	srv *nntptest.Server
	env fetch.Env
	Fetcher
}

// withServer runs f with a clock of its own.
func withServer(t *testing.T, configure func(*nntptest.Server), f func(*harness)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &harness{T: t}
		w.srv = nntptest.New(t, func(s *nntptest.Server) {
			s.InMemory, s.Groups = true, testArticles()
			if configure != nil {
				configure(s)
			}
		})
		w.env = fetch.Env{Dial: w.srv.Dial, NewsServer: w.srv.Addr}
		w.Fetcher.Env = &w.env
		defer w.Close()
		f(w)
	})
}

// url parses a URL. A path is relative to the server.
func (w *harness) url(path string) locator.Locator {
	w.Helper()
	if strings.HasPrefix(path, "/") {
		path = w.srv.URL + path
	}
	return parse(w, path)
}

func (w *harness) req(url string, o *Options) *fetch.Request {
	r := &fetch.Request{Locator: w.url(url)}
	if o != nil {
		r.Options = o
	}
	return r
}

// get fetches the whole body of a URL.
func (w *harness) get(url string) (string, error) { return w.getAs(w.req(url, nil)) }

func (w *harness) getAs(req *fetch.Request) (string, error) {
	res, err := w.Fetch(w.Context(), req)
	if err != nil {
		return "", err
	}
	defer res.Close()
	data, err := io.ReadAll(res.Body)
	return string(data), err
}

// want fetches a URL and checks its body.
func (w *harness) want(url, octets string) {
	w.Helper()
	if got, err := w.get(url); got != octets || err != nil {
		w.Errorf("%s: got  %q, %v\nwant %q", url, got, err, octets)
	}
}

// fails checks that err is of one of the given kinds.
func (w *harness) fails(what string, err error, kinds ...fetch.ErrorKind) {
	w.Helper()
	if !slices.Contains(kinds, fetch.KindOf(err)) || err == nil {
		w.Errorf("%s: %v, of kind %q; want %v", what, err, fetch.KindOf(err), kinds)
	}
}

// sent checks the commands that the client has sent since the last call, except CAPABILITIES.
func (w *harness) sent(want ...string) {
	w.Helper()
	got := w.srv.Transcript().From(testserver.FromClient)
	got = slices.DeleteFunc(got, func(line string) bool { return line == "CAPABILITIES" })
	if !slices.Equal(got, want) {
		w.Errorf("sent %q\nwant %q", got, want)
	}
	w.srv.ResetTranscript()
}

// connections returns the number of connections so far.
func (w *harness) connections() (n int) {
	for _, line := range w.srv.Transcript() {
		n = max(n, line.Conn)
	}
	return n
}

// items returns the Items of a listing.
func (w *harness) items(url string) (items []fetch.Item, err error) {
	w.Helper()
	res, err := w.Fetch(w.Context(), w.req(url, nil))
	if err != nil {
		return nil, err
	}
	defer res.Close()
	if res.Kind != fetch.KindDirectory {
		w.Errorf("%s is a %v", url, res.Kind)
	}
	for item, err := range res.Items {
		if err != nil {
			return items, err
		}
		items = append(items, item)
	}
	return items, nil
}

// shown returns an Item as one line.
func shown(item fetch.Item) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v %v %d", item.Name, item.Kind, item.Locator, item.Size)
	for _, f := range item.Header {
		fmt.Fprintf(&b, " %s=%s", f.Name, f.Value)
	}
	return b.String()
}

func TestArticle(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		w.want("/local.test/2", testArticles()["local.test"][1])
		w.sent("GROUP local.test", "ARTICLE 2")
		w.want("/local.test/4", testArticles()["local.test"][3])
		w.sent("ARTICLE 4") // the group is selected still
		w.want("/local.more/1", testArticles()["local.more"][0])
		w.sent("GROUP local.more", "ARTICLE 1")
		w.want("news:a1@lab.example", testArticles()["local.test"][0])
		w.sent("ARTICLE <a1@lab.example>")
		w.Close()
		w.sent("QUIT")
	})
}

func TestArticleInfo(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		res, err := w.Fetch(w.Context(), w.req("news:a2@lab.example", nil))
		if err != nil {
			w.Fatal(err)
		}
		defer res.Close()
		info := res.Info.(*Info)
		if info.MessageID != "<a2@lab.example>" || info.Greeting != "testserver ready, posting allowed" || info.Articles != nil {
			w.Errorf("Info %+v", info)
		}
		if res.MediaType != "message/rfc822" || res.Kind != fetch.KindDocument || res.Size != -1 || res.Items != nil {
			w.Errorf("%+v", res)
		}
	})
}

// TestReplyKinds checks the kind of error for each reply of RFC 3977.
func TestReplyKinds(t *testing.T) {
	for reply, kind := range map[string]fetch.ErrorKind{
		"400 leaving": fetch.ErrBusy, "403 broken": fetch.ErrBusy, "411 no group": fetch.ErrNotFound, "412 none selected": fetch.ErrProtocol,
		"420 no current": fetch.ErrNotFound, "423 no such number": fetch.ErrNotFound, "430 no such id": fetch.ErrNotFound, "436 later": fetch.ErrBusy,
		"480 who are you": fetch.ErrUnauthenticated, "483 only secretly": fetch.ErrPermission, "500 what": fetch.ErrUnsupported,
		"501 syntax": fetch.ErrUnsupported, "502 not you": fetch.ErrPermission, "503 no": fetch.ErrUnsupported, "599 no": fetch.ErrPermission,
		"499 no": fetch.ErrBusy, "200 fine": fetch.ErrProtocol, "999 what": fetch.ErrProtocol, "22": fetch.ErrProtocol, "": fetch.ErrProtocol,
		"220 2 <x@y>": fetch.ErrProtocol, "220 1 <x@y>\n.": fetch.ErrOther,
	} {
		t.Run(reply, func(t *testing.T) {
			withServer(t, nil, func(w *harness) {
				w.srv.On("ARTICLE", 1, testserver.Reply(reply))
				if strings.HasPrefix(reply, "2") {
					w.srv.On("ARTICLE", 1, testserver.Data(".\r\n"))
				}
				_, err := w.get("/local.test/1")
				if kind == fetch.ErrOther {
					if err != nil {
						w.Error(err)
					}
					return
				}
				w.fails(reply, err, kind)
				var e *fetch.Error
				if code, _, _ := strings.Cut(reply, " "); errors.As(err, &e) && kind != fetch.ErrProtocol && fmt.Sprint(e.Code) != code {
					w.Errorf("code %d", e.Code)
				}
				w.want("/local.test/2", testArticles()["local.test"][1]) // the Fetcher still works
			})
		})
	}
}

func TestGreetings(t *testing.T) {
	for greeting, kind := range map[string]fetch.ErrorKind{
		"400 full": fetch.ErrBusy, "502 not you": fetch.ErrPermission, "220 mail": fetch.ErrProtocol, "SSH-2.0-x": fetch.ErrProtocol,
		"480 login": fetch.ErrUnauthenticated, "500 what": fetch.ErrUnsupported,
	} {
		t.Run(greeting, func(t *testing.T) {
			withServer(t, func(s *nntptest.Server) { s.Greeting = greeting }, func(w *harness) {
				_, err := w.get("/local.test/1")
				w.fails(greeting, err, kind)
			})
		})
	}
}

// TestRefusedCapabilities has servers that say 400 of CAPABILITIES. Some do not know the command, and
// stay; others go.
func TestRefusedCapabilities(t *testing.T) {
	for name, tt := range map[string]struct {
		faults []nntptest.Fault
		kind   fetch.ErrorKind // ErrOther means success
	}{
		"stays": {[]nntptest.Fault{testserver.Reply("400 what")}, fetch.ErrOther},
		"goes":  {[]nntptest.Fault{testserver.Reply("400 full"), testserver.Hangup()}, fetch.ErrBusy},
	} {
		t.Run(name, func(t *testing.T) {
			withServer(t, nil, func(w *harness) {
				w.srv.On("CAPABILITIES", 1, tt.faults...)
				if tt.kind == fetch.ErrOther {
					w.want("/local.test/1", testArticles()["local.test"][0])
					return
				}
				_, err := w.get("/local.test/1")
				w.fails(name, err, tt.kind)
			})
		})
	}
}

// TestOpening checks the commands at the start of a session for servers that require MODE READER, do
// not support CAPABILITIES, or support only RFC 977.
func TestOpening(t *testing.T) {
	for _, tt := range []struct {
		name      string
		configure func(*nntptest.Server)
		want      []string
	}{
		{"reader", nil, []string{"CAPABILITIES", "GROUP local.test", "ARTICLE 1"}},
		{"transit", func(s *nntptest.Server) { s.Reader = true }, []string{"CAPABILITIES", "MODE READER", "CAPABILITIES", "GROUP local.test", "ARTICLE 1"}},
		{"no capabilities", func(s *nntptest.Server) { s.Hide = []string{"CAPABILITIES"} }, []string{"CAPABILITIES", "MODE READER", "GROUP local.test", "ARTICLE 1"}},
		{"RFC 977", func(s *nntptest.Server) { s.RFC977 = true }, []string{"CAPABILITIES", "MODE READER", "GROUP local.test", "ARTICLE 1"}},
		{"no posting", func(s *nntptest.Server) { s.ReadOnly = true }, []string{"CAPABILITIES", "GROUP local.test", "ARTICLE 1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withServer(t, tt.configure, func(w *harness) {
				w.want("/local.test/1", testArticles()["local.test"][0])
				if got := w.srv.Transcript().From(testserver.FromClient); !slices.Equal(got, tt.want) {
					w.Errorf("sent %q\nwant %q", got, tt.want)
				}
			})
		})
	}
}

// TestReuse checks that a session that died while idle is replaced, and that a command that got a
// reply is not repeated.
func TestReuse(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		w.want("/local.test/1", testArticles()["local.test"][0])
		for _, fault := range []nntptest.Fault{testserver.Close(), testserver.Reset(0), testserver.Reply("400 idle"), testserver.Truncate(2)} {
			w.srv.On("ARTICLE", 1, fault)
			w.want("/local.test/2", testArticles()["local.test"][1])
		}
		w.srv.ResetTranscript()
		_, err := w.get("/local.test/99")
		w.fails("a missing article", err, fetch.ErrNotFound)
		w.sent("ARTICLE 99")
		w.want("/local.test/1", testArticles()["local.test"][0])
		w.sent("ARTICLE 1")
	})
}

// TestUnasked checks that an unrequested reply is not taken as the reply to a command.
func TestUnasked(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		w.srv.On("GROUP", 1, testserver.ExtraReply("220 2 <a2@lab.example>\nforged\n."))
		_, err := w.get("/local.test/2")
		w.fails("a reply too many", err, fetch.ErrProtocol)
		w.want("/local.test/2", testArticles()["local.test"][1])
		// An extra reply in the same packet as the end of an article.
		text := testArticles()["local.more"][0]
		w.srv.On("ARTICLE", 1, testserver.Reply("220 1 <b1@lab.example>\n"+strings.ReplaceAll(text, "\r\n", "\n")+".\n220 1 <b1@lab.example>\nforged\n."), testserver.Data(""))
		w.want("/local.more/1", text)
		w.want("/local.more/1", text)
	})
}

// TestUnaskedWhileIdle checks that a session is dropped if the server sends data while it is idle.
func TestUnaskedWhileIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := new(memnet.Network)
		l, err := network.Listen(t.Context(), "tcp", "127.0.0.1:119")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		const article = "220 1 <a@b>\r\nSubject: %s\r\n\r\n.\r\n"
		var sessions atomic.Int32
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				sessions.Add(1)
				go func() {
					defer c.Close()
					io.WriteString(c, "200 ready\r\n")
					for in := bufio.NewScanner(c); in.Scan(); {
						switch verb, _, _ := strings.Cut(in.Text(), " "); verb {
						case "MODE":
							io.WriteString(c, "200 ready\r\n")
						case "GROUP":
							io.WriteString(c, "211 1 1 1 a.b\r\n")
						case "ARTICLE":
							fmt.Fprintf(c, article, "true")
							time.Sleep(time.Second)
							fmt.Fprintf(c, article, "forged")
						default:
							io.WriteString(c, "500 what\r\n")
						}
					}
				}()
			}
		}()
		w := &harness{T: t, env: fetch.Env{Dial: network.Dial}}
		w.Fetcher.Env = &w.env
		defer w.Close()
		for n := range int32(3) {
			got, err := w.get("nntp://127.0.0.1/a.b/1")
			if got != "Subject: true\r\n\r\n" || err != nil || sessions.Load() != n+1 {
				t.Errorf("got %q, %v, with session %d; want session %d", got, err, sessions.Load(), n+1)
			}
			time.Sleep(2 * time.Second)
		}
	})
}

// TestSessionsAtOnce checks that concurrent requests use separate connections, which are kept.
func TestSessionsAtOnce(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		a, err := w.Fetch(w.Context(), w.req("/local.test/1", nil))
		if err != nil {
			w.Fatal(err)
		}
		w.want("/local.test/2", testArticles()["local.test"][1])
		a.Close()
		w.want("/local.more/1", testArticles()["local.more"][0])
		if n := w.connections(); n != 2 {
			w.Errorf("%d connections, want 2", n)
		}
	})
}

// TestAbandoned checks that closing a body early keeps the connection if the whole body has arrived.
func TestAbandoned(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		for range 3 {
			res, err := w.Fetch(w.Context(), w.req("/local.test/1", nil))
			if err != nil {
				w.Fatal(err)
			}
			if _, err := res.Body.Read(make([]byte, 1)); err != nil {
				w.Error(err)
			}
			synctest.Wait()
			res.Close()
		}
		if n := w.connections(); n != 1 {
			w.Errorf("%d connections, want 1", n)
		}
	})
}

func TestIdleTime(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		w.want("/local.test/1", testArticles()["local.test"][0])
		w.srv.ResetTranscript()
		<-time.After(2 * time.Minute)
		synctest.Wait()
		w.sent("QUIT")
	})
}

func TestAttributes(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		for _, tt := range []struct{ url, want string }{
			{"/local.test/2", "[{Path here!not-for-mail} {From Lab <lab@lab.example>} {Newsgroups local.test} {Subject dots} {Date Tue, 20 Dec 1994 17:38:00 +0000} {Message-ID <a2@lab.example>}]"},
			{"news:a2@lab.example", "[{Path here!not-for-mail} {From Lab <lab@lab.example>} {Newsgroups local.test} {Subject dots} {Date Tue, 20 Dec 1994 17:38:00 +0000} {Message-ID <a2@lab.example>}]"},
			{"news:local.test", "[{Articles 3} {First 1} {Last 4}]"},
			{"news:*", "[{Greeting testserver ready, posting allowed} {Capabilities HDR IMPLEMENTATION LIST NEWNEWS OVER POST READER VERSION XHDR XPAT}]"},
			{"/", "[{Greeting testserver ready, posting allowed} {Capabilities HDR IMPLEMENTATION LIST NEWNEWS OVER POST READER VERSION XHDR XPAT}]"},
		} {
			attr, err := w.FindAttributes(w.Context(), w.req(tt.url, nil))
			if err != nil {
				w.Fatal(err)
			}
			if got := fmt.Sprint(attr.Header); got != tt.want || attr.Size != -1 {
				w.Errorf("%s: %s\nwant %s", tt.url, got, tt.want)
			}
			if isArticle := attr.MediaType != ""; isArticle != attr.ModTime.Equal(time.Date(1994, 12, 20, 17, 38, 0, 0, time.UTC)) {
				w.Errorf("%s: %v", tt.url, attr.ModTime)
			}
		}
		w.srv.On("HEAD", 0, testserver.Reply("500 what"))
		if _, err := w.FindAttributes(w.Context(), w.req("/local.test/2", nil)); err != nil {
			w.Error(err)
		}
		_, err := w.FindAttributes(w.Context(), w.req("/local.test/3", nil))
		w.fails("STAT of what is missing", err, fetch.ErrNotFound)
	})
}

// TestSlowArticle checks that for a body the time limit applies between two reads.
func TestSlowArticle(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		w.env.Limits = fetch.Limits{Reply: 2 * time.Minute, Idle: 2 * time.Second}
		w.srv.On("ARTICLE", 1, testserver.Drip(1, time.Second))
		w.want("/local.test/1", testArticles()["local.test"][0])
		w.srv.On("ARTICLE", 1, testserver.Drip(100, 3*time.Second))
		_, err := w.get("/local.test/1")
		w.fails("too slow", err, fetch.ErrTimeout)
	})
}

// TestSlowReply checks that for a reply the time limit applies to the whole reply.
func TestSlowReply(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		w.env.Limits = fetch.Limits{Reply: 5 * time.Second}
		w.srv.On("GROUP", 1, testserver.Drip(1, time.Second))
		start := time.Now()
		_, err := w.get("/local.test/1")
		w.fails("too slow", err, fetch.ErrTimeout)
		if took := time.Since(start); took != 5*time.Second {
			w.Errorf("failed after %v, want 5s", took)
		}
	})
}

// TestNewsServerProvenance checks that the server of a news URL has the provenance of the
// configuration, even if the URL comes from a link. The URL itself is judged before, without a
// server.
func TestNewsServerProvenance(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		var kinds []fetch.Origin
		w.env.Allow = func(_ context.Context, t fetch.Target) error {
			if kinds = append(kinds, t.From.Kind); (len(kinds) == 1) != (t.Host == "") {
				w.Errorf("call %d is about the host %q", len(kinds), t.Host)
			}
			return nil
		}
		link := fetch.Provenance{Kind: fetch.OriginRemote}
		for _, url := range []string{"news:a1@lab.example", "/local.test/1"} {
			if _, err := w.getAs(&fetch.Request{Locator: w.url(url), From: link}); err != nil {
				w.Fatal(err)
			}
		}
		if want := []fetch.Origin{fetch.OriginRemote, fetch.OriginConfig, fetch.OriginConfig, fetch.OriginRemote, fetch.OriginRemote}; !slices.Equal(kinds, want) {
			w.Errorf("Allow was called with the origins %v, want %v", kinds, want)
		}
	})
}

// TestOneClient has eight goroutines that share a Fetcher, and a server that has one client at a
// time. All articles come over one session.
func TestOneClient(t *testing.T) {
	withServer(t, func(s *nntptest.Server) { s.OneClient = true }, func(w *harness) {
		began := time.Now()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 20 {
					res, err := w.Fetch(w.Context(), w.req("/local.test/1", nil))
					if err != nil {
						w.Error(err)
						return
					}
					got, err := io.ReadAll(res.Body)
					res.Close()
					if err != nil || string(got) != testArticles()["local.test"][0] {
						w.Errorf("%q, %v", got, err)
					}
				}
			})
		}
		wg.Wait()
		if took := time.Since(began); took > 2*time.Second {
			w.Errorf("it took %v", took)
		}
	})
}
