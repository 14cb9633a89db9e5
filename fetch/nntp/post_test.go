package nntp

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

const letter = "From: Lab <lab@lab.example>\r\nNewsgroups: local.test\r\nSubject: hello\r\n\r\n"

func (w *harness) post(url, article string) (*fetch.Attributes, error) {
	return w.Update(w.Context(), w.req(url, nil), strings.NewReader(article))
}

// TestPost checks that a posted article arrives unchanged and can be fetched.
func TestPost(t *testing.T) {
	for name, body := range map[string]string{
		"text": "hello\r\nworld\r\n", "empty": "", "dots": ".\r\n..\r\n...\r\n.x\r\n\r\n.\r\n", "8-bit": "\xff\xfe gr\xc3\xbcn \x80\r\n",
		"long line": strings.Repeat("a", 5000) + "\r\n", "2 MB": strings.Repeat(strings.Repeat("x", 70)+"\r\n.\r\n", 28_000),
		"commands": ".\r\nQUIT\r\nPOST\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			withServer(t, nil, func(w *harness) {
				attr, err := w.post("news:local.test", letter+body)
				if err != nil {
					w.Fatal(err)
				}
				if len(attr.Header) != 1 || attr.Header[0] != (fetch.Field{Name: "Message-ID", Value: "<posted.1@testserver.test>"}) {
					w.Errorf("%+v", attr)
				}
				if got := w.srv.Posted(); len(got) != 1 || got[0] != letter+body {
					w.Errorf("%d articles, %.200q", len(got), got)
				}
				got, err := w.get("/local.test/5")
				if err != nil || !strings.HasSuffix(got, letter+body) {
					w.Errorf("%.200q, %v", got, err)
				}
				if n := w.connections(); n != 1 {
					w.Errorf("%d connections, want 1", n)
				}
			})
		})
	}
}

// textLines returns the lines of a text, without their ends.
func textLines(text string) []string {
	return strings.Split(strings.TrimSuffix(text, "\r\n"), "\r\n")
}

// TestPostLines checks that LF is sent as CR LF.
func TestPostLines(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		local := strings.ReplaceAll(letter, "\r\n", "\n") + "one\n.\ntwo\r\nlast"
		if _, err := w.post("/local.test", local); err != nil {
			w.Fatal(err)
		}
		if got, want := w.srv.Posted()[0], letter+"one\r\n.\r\ntwo\r\nlast\r\n"; got != want {
			w.Errorf("got  %q\nwant %q", got, want)
		}
		w.sent(append([]string{"POST"}, textLines(letter+"one\r\n..\r\ntwo\r\nlast\r\n.\r\n")...)...)
	})
}

// TestPostHeader checks that an article with an invalid header is rejected before connecting.
func TestPostHeader(t *testing.T) {
	for name, tt := range map[string]struct{ article, want string }{
		"empty":            {"", "ends inside its header"},
		"no empty line":    {"From: a@b\nNewsgroups: local.test\nSubject: x\n", "ends inside its header"},
		"no From":          {"Newsgroups: local.test\nSubject: x\n\n", "no From"},
		"no Subject":       {"From: a@b\nNewsgroups: local.test\n\n", "no Subject"},
		"empty Subject":    {"From: a@b\nNewsgroups: local.test\nSubject:  \n\n", "no Subject"},
		"no Newsgroups":    {"From: a@b\nSubject: x\n\n", "no Newsgroups"},
		"other group":      {"From: a@b\nNewsgroups: local.tests,xlocal.test\nSubject: x\n\n", "does not include local.test"},
		"twice":            {"From: a@b\nNewsgroups: local.test\nSubject: x\nsubject: y\n\n", "2 Subject fields"},
		"mbox":             {"From a@b Tue Dec 20\nFrom: a@b\nNewsgroups: local.test\nSubject: x\n\n", "line 1"},
		"body only":        {"hello\nworld\n", "line 1"},
		"no field":         {"From: a@b\nNewsgroups: local.test\nhello\nSubject: x\n\n", "line 3"},
		"begins folded":    {" From: a@b\nNewsgroups: local.test\nSubject: x\n\n", "line 1"},
		"space in name":    {"From : a@b\nNewsgroups: local.test\nSubject: x\n\n", "line 1"},
		"NUL":              {"From: a@b\nNewsgroups: local.test\nSubject: x\x00y\n\n", "line 3 of the article contains the byte 00"},
		"CR":               {"From: a@b\nNewsgroups: local.test\nSubject: x\rControl: cancel\n\n", "line 3 of the article contains the byte 0D"},
		"endless":          {"X: " + strings.Repeat("y", 300<<10) + "\n", "is longer than"},
		"without an end":   {"X: " + strings.Repeat("y", 3<<20), "line too long"},
		"a field too many": {strings.Repeat("X: y\n", 100_000), "is longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			withServer(t, nil, func(w *harness) {
				_, err := w.post("news:local.test", tt.article)
				if kind := fetch.KindOf(err); kind != fetch.ErrLocalIO && kind != fetch.ErrTooLarge || !strings.Contains(err.Error(), tt.want) {
					w.Errorf("%v, of kind %q; want %q", err, kind, tt.want)
				}
				w.sent()
			})
		})
	}
}

// TestPostGoodHeader checks that folding and crossposting are accepted.
func TestPostGoodHeader(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		for _, article := range []string{
			"from: a@b\nNEWSGROUPS: local.more, local.test\nSubject: a\n long\n\tone\nX-Empty:\nBcc: x\n\nbody\n",
			"From: a@b\nNewsgroups:\n local.more,local.test\nSubject: \xfcber\n\n",
		} {
			if _, err := w.post("news:local.test", article); err != nil {
				w.Error(err)
			}
		}
		w.want("/local.more/2", "Path: testserver!not-for-mail\r\nMessage-ID: <posted.1@testserver.test>\r\nDate: Sat, 01 Jan 2000 00:00:00 +0000\r\n"+
			"from: a@b\r\nNEWSGROUPS: local.more, local.test\r\nSubject: a\r\n long\r\n\tone\r\nX-Empty:\r\nBcc: x\r\n\r\nbody\r\n")
	})
}

// TestPostUnreadable checks that an article that turns out invalid while it is sent is not ended, so
// that the server does not accept part of it.
func TestPostUnreadable(t *testing.T) {
	sorry := errors.New("the disk is gone")
	for name, body := range map[string]io.Reader{
		"NUL": strings.NewReader(strings.Repeat("text\n", 50_000) + "\x00\n"), "CR": strings.NewReader("a\rb\n"),
		"CR at the end": strings.NewReader("a\r"), "error": iotest.ErrReader(sorry), "endless": endless{},
	} {
		t.Run(name, func(t *testing.T) {
			withServer(t, nil, func(w *harness) {
				_, err := w.Update(w.Context(), w.req("news:local.test", nil), io.MultiReader(strings.NewReader(letter), body))
				w.fails(name, err, fetch.ErrLocalIO)
				if name == "error" && !errors.Is(err, sorry) {
					w.Errorf("%v does not wrap the reader's error", err)
				}
				if n := len(w.srv.Posted()); n > 0 {
					w.Errorf("the server accepted %d articles, want 0", n)
				}
				if _, err := w.post("news:local.test", letter); err != nil {
					w.Error(err)
				}
			})
		})
	}
}

// endless reads a line without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestPostRefused(t *testing.T) {
	for _, tt := range []struct {
		stage, reply string
		kind         fetch.ErrorKind
	}{
		{"POST", "440 no", fetch.ErrPermission}, {"POST", "480 who", fetch.ErrUnauthenticated}, {"POST", "502 no", fetch.ErrPermission},
		{"POST", "500 what", fetch.ErrUnsupported}, {"POST", "400 leaving", fetch.ErrBusy}, {"POST", "240 early", fetch.ErrProtocol},
		{"END", "441 no", fetch.ErrPermission}, {"END", "441 435 Duplicate", fetch.ErrExists}, {"END", "436 later", fetch.ErrBusy},
		{"END", "400 leaving", fetch.ErrBusy}, {"END", "437 never", fetch.ErrPermission}, {"END", "340 go on", fetch.ErrProtocol},
		{"END", "what", fetch.ErrProtocol},
	} {
		t.Run(tt.stage+" "+tt.reply, func(t *testing.T) {
			withServer(t, nil, func(w *harness) {
				w.srv.On(tt.stage, 1, testserver.Reply(tt.reply))
				_, err := w.post("news:local.test", letter)
				w.fails(tt.reply, err, tt.kind)
				if _, err := w.post("news:local.test", letter); err != nil {
					w.Errorf("posting after the failure: %v", err)
				}
			})
		})
	}
}

func TestPostTwice(t *testing.T) {
	withServer(t, func(s *nntptest.Server) { s.ReadOnly = true }, func(w *harness) {
		_, err := w.post("news:local.test", letter)
		w.fails("a server that takes none", err, fetch.ErrPermission)
	})
	withServer(t, nil, func(w *harness) {
		_, err := w.post("news:local.test", "Message-ID: <a1@lab.example>\r\n"+letter)
		w.fails("what is there already", err, fetch.ErrExists)
	})
}

// TestPostLogin checks that the login is sent before the article.
func TestPostLogin(t *testing.T) {
	withServer(t, protected(), func(w *harness) {
		w.env.Credentials = knows("lab", "s3cret")
		if _, err := w.post("news:local.test", letter); err != nil {
			w.Fatal(err)
		}
		w.sent(append([]string{"POST", "AUTHINFO USER lab", "AUTHINFO PASS s3cret", "POST"}, textLines(letter+".\r\n")...)...)
	})
}

// TestPostRetry checks that a dead session is replaced before the article is sent, and never after.
func TestPostRetry(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		w.want("/local.test/1", testArticles()["local.test"][0])
		w.srv.On("POST", 1, testserver.Close())
		if _, err := w.post("news:local.test", letter); err != nil {
			w.Error(err)
		}
		w.srv.On("END", 1, testserver.Close())
		_, err := w.post("news:local.test", letter)
		w.fails("no answer to an article", err, fetch.ErrConnectionFailed)
		if n := len(w.srv.Posted()); n != 1 {
			w.Errorf("the server accepted %d articles, want 1", n)
		}
	})
}

func TestPostWhere(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		for _, url := range []string{"news:*", "/", "news:a1@lab.example", "/local.test/1"} {
			_, err := w.post(url, letter)
			w.fails(url, err, fetch.ErrBadURL)
		}
		w.sent()
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		_, err := w.Update(ctx, w.req("news:local.test", nil), strings.NewReader(letter))
		w.fails("cancelled", err, fetch.ErrCanceled)
	})
}
