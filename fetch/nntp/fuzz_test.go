package nntp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
	"github.com/fetch1738/fetch1738/internal/text/mbox"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// FuzzReply checks that numbers and message-ids parsed from a reply are valid.
func FuzzReply(f *testing.F) {
	for _, seed := range []string{"ready", "3 1 4 x", "1 <a@b>", "", "0", "1 <", "99999999999999999999 -1 1", "\xff"} {
		f.Add(220, seed)
	}
	f.Fuzz(func(t *testing.T, code int, text string) {
		if g, err := parseGroup(text); err == nil && (g.count < 0 || g.low < 0 || g.high < 0 || g.high > last) {
			t.Errorf("%q: %+v", text, g)
		}
		if n, id := parseArticle(text); n < 0 || n > last || id != "" && (id[0] != '<' || id[len(id)-1] != '>' || strings.ContainsAny(id, " ")) {
			t.Errorf("%q: %d, %q", text, n, id)
		}
		_ = kindOf("ARTICLE", talk.Reply{Code: code, Text: text})
	})
}

// FuzzOverview checks that the Items of any listing have locators that can be sent, and that the
// overview line of any header is a single line that can be parsed again.
func FuzzOverview(f *testing.F) {
	for _, seed := range []string{
		"1\tsubject\tfrom\tTue, 20 Dec 1994 17:38:00 +0000\t<a@b>\t\t100\t2", "x", "1", "1\t\t\t\t<>\t\t-1", "1\ta\tb\tc\t<a b@c>\t\t99999999999999999999",
		"local.test 1 2 y", "a\xff 1 2 y", "* 1 2", "a,b 1 2 y", "Subject: a\r\n\tb\r\nDate: (((((((\r\n\r\n", ":\r\n \r\n",
	} {
		f.Add([]byte(seed))
	}
	server := locator.HostPort{Host: "h"}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, l := range []locator.Locator{&locator.NNTP{HostPort: server, Group: "g"}, &locator.News{Group: "g"}, &locator.NNTP{HostPort: server, Group: "g", Secure: true}, &locator.News{HostPort: server, Group: "g", Secure: true}} {
			fetcher := &Fetcher{Env: &fetch.Env{NewsServer: "h"}}
			a, err := fetcher.access(t.Context(), &fetch.Request{Locator: l})
			if err != nil {
				t.Fatal(err)
			}
			for _, parse := range []func(string) (fetch.Item, bool){
				a.overviewItem,
				func(line string) (fetch.Item, bool) { return a.groupItem(line, func(string) string { return "" }) },
			} {
				for item, err := range a.items(t.Context(), bytes.NewReader(text), parse) {
					if err != nil {
						break // a line too long
					}
					if item.Name == "" || item.Size < -1 {
						t.Errorf("%q: %+v", text, item)
					}
					if item.Locator == nil {
						continue
					}
					if _, err := fetcher.access(t.Context(), &fetch.Request{Locator: item.Locator}); err != nil {
						t.Errorf("%q leads to %v: %v", text, item.Locator, err)
					}
				}
			}
		}
		lines := wire.NewLineReader(bytes.NewReader(text), 0)
		h, _ := readHeader(lines.ReadLine, 0)
		line := h.overviewLine("7")
		if strings.Count(line, "\n") != 1 || strings.Count(line, "\t") != 7 || !strings.HasPrefix(line, "7\t") {
			t.Errorf("%q: %q", text, line)
		}
		if s := mbox.Separator(h.get("From"), h.date()); strings.Contains(s, "\n") || len(strings.Fields(s)) != 7 {
			t.Errorf("%q: %q", text, s)
		}
	})
}

// FuzzSession checks that every operation ends for any output of a server. It must return a Resource
// or a *fetch.Error and leave no connection open.
func FuzzSession(f *testing.F) {
	const opening = "200 ready\r\n101 list\r\nREADER\r\nOVER\r\n.\r\n"
	for _, seed := range []string{
		opening + "211 2 1 2 g\r\n220 1 <a@b>\r\nFrom: x\r\n\r\nx\r\n.\r\n",
		opening + "211 2 1 2 g\r\n224 list\r\n1\ta\tb\tc\td\te\t1\t1\r\n.\r\n",
		opening + "211 2 1 2 g\r\n500\r\n500\r\n211 2 1 2 g\r\n1\r\n2\r\n.\r\n221 1 <a@b>\r\nSubject: x\r\n.\r\n221 2 <a@c>\r\n.\r\n",
		opening + "215 list\r\ng 1 2 y\r\n.\r\n", opening + "340 go\r\n240 ok <a@b>\r\n", "200\r\n500\r\n500\r\n480 who\r\n381\r\n281\r\n211 1 1 1 g\r\n",
		"201 \r\n101 \r\n.\r\n211 9 1 9 g\r\n220 1 \r\n.\r\n423 \r\n220 3\r\n\r\n.\r\n",
	} {
		for op := range uint8(7) {
			f.Add([]byte(seed), op)
		}
	}
	f.Fuzz(func(t *testing.T, said []byte, op uint8) {
		open := 0
		env := &fetch.Env{
			NewsServer: "h",
			Dial: func(context.Context, string, string) (net.Conn, error) {
				open++
				return &monologue{Reader: bytes.NewReader(said), closed: func() { open-- }}, nil
			},
			Credentials: knows("u", "p"), Limits: fetch.Limits{Line: 1 << 10, Header: 4 << 10},
		}
		fetcher := &Fetcher{Env: env}
		defer func() {
			fetcher.Close()
			if open != 0 {
				t.Errorf("%d connections are still open", open)
			}
		}()
		check := func(err error) {
			var e *fetch.Error
			if err != nil && (!errors.As(err, &e) || e.Kind == fetch.ErrOther || e.Op == "" || e.URL == "") {
				t.Errorf("%#v", err)
			}
		}
		url := []string{"nntp://h/g/1", "news:a@b", "nntp://h/g", "news:*", "nntp://h/g"}[op%5]
		req := &fetch.Request{Locator: parse(t, url)}
		switch op % 7 {
		case 4:
			req.Options = articles("1-9")
		case 5:
			_, err := fetcher.FindAttributes(t.Context(), req)
			check(err)
			return
		case 6:
			_, err := fetcher.Update(t.Context(), &fetch.Request{Locator: parse(t, "news:local.test")}, strings.NewReader(letter))
			check(err)
			return
		}
		res, err := fetcher.Fetch(t.Context(), req)
		check(err)
		if err != nil {
			return
		}
		defer res.Close()
		if res.Items != nil && op%2 == 0 {
			for _, err := range res.Items {
				check(err)
			}
			return
		}
		n, err := io.Copy(io.Discard, res.Body)
		check(err)
		if n > int64(4*len(said)+1000) {
			t.Errorf("the body has %d bytes, made from %d bytes of input", n, len(said))
		}
	})
}

// monologue is a connection whose whole input is known beforehand.
type monologue struct {
	*bytes.Reader
	closed func()
}

func (c *monologue) Write(p []byte) (int, error) { return len(p), nil }

func (c *monologue) Close() error {
	if c.closed != nil {
		c.closed()
		c.closed = nil
	}
	return nil
}
func (*monologue) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*monologue) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (*monologue) SetDeadline(time.Time) error      { return nil }
func (*monologue) SetReadDeadline(time.Time) error  { return nil }
func (*monologue) SetWriteDeadline(time.Time) error { return nil }
