package nntp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

// operation is an operation of the Fetcher with the stages (commands) of its conversation.
type operation struct {
	name   string
	stages []string
	blocks []string // stages whose replies have a block
	// forgiven are the stages at which "502" makes the client try another command.
	forgiven []string
	do       func(*harness) error
	old      bool // the server has no overview
}

func operations() []operation {
	read := func(url string, o *Options) func(*harness) error {
		return func(w *harness) error {
			_, err := w.getAs(w.req(url, o))
			return err
		}
	}
	list := func(url string) func(*harness) error {
		return func(w *harness) error {
			_, err := w.items(url)
			return err
		}
	}
	find := func(url string) func(*harness) error {
		return func(w *harness) error {
			_, err := w.FindAttributes(w.Context(), w.req(url, nil))
			return err
		}
	}
	each := func(w *harness) error {
		res, err := w.Fetch(w.Context(), w.req("/local.test", articles("1-")))
		if err != nil {
			return err
		}
		defer res.Close()
		for article, err := range res.Info.(*Info).Articles {
			if err != nil {
				return err
			}
			if _, err := io.Copy(io.Discard, article.Body); err != nil {
				return err
			}
		}
		return nil
	}
	post := func(w *harness) error {
		_, err := w.post("news:local.test", letter+strings.Repeat("text\r\n", 1000))
		return err
	}
	return []operation{
		{"article", []string{"GROUP", "ARTICLE"}, []string{"ARTICLE"}, nil, read("/local.test/1", nil), false},
		{"article by id", []string{"ARTICLE"}, []string{"ARTICLE"}, nil, read("news:a1@lab.example", nil), false},
		{"overview", []string{"GROUP", "OVER"}, []string{"OVER"}, []string{"OVER"}, read("/local.test", nil), false},
		{"items", []string{"GROUP", "OVER"}, []string{"OVER"}, []string{"OVER"}, list("news:local.test"), false},
		{"overview by HEAD", []string{"GROUP", "LISTGROUP", "HEAD 1", "HEAD 4"}, []string{"LISTGROUP", "HEAD 1", "HEAD 4"}, []string{"LISTGROUP"}, list("/local.test"), true},
		{"matches", []string{"GROUP", "XPAT", "OVER 1", "OVER 2"}, []string{"XPAT", "OVER 1", "OVER 2"}, []string{"XPAT", "OVER 1"}, read("/local.test", &Options{Match: []Match{{"Subject", "*"}}}), false},
		{"groups", []string{"LIST ACTIVE"}, []string{"LIST ACTIVE"}, []string{"LIST ACTIVE"}, list("news:*"), false},
		{"mbox", []string{"GROUP", "ARTICLE 1", "ARTICLE 4"}, []string{"ARTICLE 1", "ARTICLE 4"}, nil, read("/local.test", articles("1-")), false},
		{"articles", []string{"GROUP", "ARTICLE 1", "ARTICLE 2"}, []string{"ARTICLE 1", "ARTICLE 2"}, nil, each, false},
		{"header", []string{"GROUP", "HEAD"}, []string{"HEAD"}, []string{"HEAD"}, find("/local.test/1"), false},
		{"group's numbers", []string{"GROUP"}, nil, nil, find("/local.test"), false},
		{"post", []string{"POST", "END"}, nil, nil, post, false},
	}
}

// TestFaults injects each fault at each stage of each operation. The operation must end in time and
// with the right kind of error, and the Fetcher must work afterwards.
func TestFaults(t *testing.T) {
	type kinds = []fetch.ErrorKind
	cut := kinds{fetch.ErrConnectionFailed, fetch.ErrTruncated}
	none := kinds{fetch.ErrOther} // no error
	long := strings.Repeat("x", 100_000)
	for _, f := range []struct {
		fault   nntptest.Fault
		reply   kinds // the expected kinds for a fault in a reply
		block   kinds // the same for a reply with a block; nil means as in reply
		anyhow  kinds // the same for CAPABILITIES, which is optional; nil means as in block or reply
		special string
	}{
		{testserver.Close(), cut, nil, nil, ""},
		{testserver.Truncate(0), cut, nil, nil, ""},
		{testserver.Truncate(2), cut, nil, nil, ""},
		{testserver.Truncate(5), cut, nil, nil, ""},
		{testserver.Reset(5), cut, nil, nil, ""},
		{testserver.Truncate(60), none, cut, kinds{fetch.ErrConnectionFailed}, "long"},
		{testserver.Reset(60), none, cut, cut, "long"},
		{testserver.Silence(), kinds{fetch.ErrTimeout}, nil, nil, ""},
		{testserver.Delay(time.Hour), kinds{fetch.ErrTimeout}, nil, nil, ""},
		{testserver.Delay(time.Second), none, nil, nil, ""},
		{testserver.Drip(1, time.Hour), kinds{fetch.ErrTimeout}, nil, nil, ""},
		{testserver.Split(1), none, nil, nil, ""},
		{testserver.EndlessLine(), kinds{fetch.ErrProtocol}, nil, nil, ""},
		{testserver.Garbage(1000, 1), kinds{fetch.ErrProtocol}, nil, nil, ""},
		{testserver.Garble(0, "\x00"), kinds{fetch.ErrProtocol}, nil, nil, ""},
		{testserver.Garble(3, "\x00"), kinds{fetch.ErrProtocol}, nil, nil, ""},
		{testserver.Reply(""), kinds{fetch.ErrProtocol}, nil, nil, ""},
		{testserver.Reply("999 x"), kinds{fetch.ErrProtocol}, nil, nil, ""},
		{testserver.Reply("299 x"), kinds{fetch.ErrProtocol}, nil, nil, ""},
		{testserver.Reply("400 x"), kinds{fetch.ErrBusy}, nil, none, ""},
		{testserver.Reply("502 x"), kinds{fetch.ErrPermission}, nil, none, "forgiven"},
		{testserver.Reply("480 x"), kinds{fetch.ErrUnauthenticated}, nil, none, ""},
		{testserver.NoDot(), none, cut, kinds{fetch.ErrConnectionFailed}, ""},
		{testserver.BareLF(), none, kinds{fetch.ErrTimeout}, none, "lines"},
		{testserver.Data(""), none, kinds{fetch.ErrTimeout}, nil, ""},
		{testserver.Data(long), none, kinds{fetch.ErrTooLarge}, kinds{fetch.ErrProtocol}, ""},
		{testserver.Data(strings.Repeat("x: y\r\n", 20_000)), none, none, kinds{fetch.ErrProtocol}, "endless"},
	} {
		for _, op := range operations() {
			stages := slices.Concat([]string{"GREETING", "CAPABILITIES"}, op.stages)
			for _, stage := range stages {
				want := f.reply
				block := slices.Contains(op.blocks, stage) || stage == "CAPABILITIES"
				switch f.fault.(type) {
				case testserver.Text, testserver.Document:
					if !block {
						continue
					}
				}
				switch {
				case stage == "CAPABILITIES" && f.anyhow != nil:
					want = f.anyhow
				case f.special == "forgiven" && slices.Contains(op.forgiven, stage):
					want = none
				case f.special == "endless" && block:
					want = nil // any result
				case block && f.block != nil:
					want = f.block
				}
				if f.special == "lines" && !slices.Contains([]string{"ARTICLE", "HEAD"}, strings.Fields(stage)[0]) && stage != "OVER 2" {
					want = none // the lines of a listing may end in LF, unless it is pipelined
				}
				if (stage == "LISTGROUP" || stage == "XPAT") && f.special == "long" {
					want = none // the list is shorter
				}
				t.Run(fmt.Sprintf("%s/%s/%v", op.name, stage, f.fault), func(t *testing.T) { tryFault(t, op, stage, f.fault, want) })
			}
		}
	}
}

func tryFault(t *testing.T, op operation, stage string, fault nntptest.Fault, want []fetch.ErrorKind) {
	withServer(t, func(s *nntptest.Server) {
		if op.old {
			s.Hide = []string{"OVER", "XOVER"}
		}
	}, func(w *harness) {
		w.env.Limits = fetch.Limits{Connect: 5 * time.Second, Reply: 10 * time.Second, Idle: 10 * time.Second, Line: 8 << 10, Header: 64 << 10}
		w.srv.On(stage, 1, fault)
		start := time.Now()
		err := op.do(w)
		if took := time.Since(start); took > 25*time.Second {
			w.Errorf("took %v, want at most 25s", took)
		}
		kind := fetch.KindOf(err)
		if err == nil {
			kind = fetch.ErrOther
		}
		if want != nil && !slices.Contains(want, kind) {
			w.Errorf("%v, of kind %q; want %v\n%s", err, kind, want, w.srv.Transcript())
		}
		var e *fetch.Error
		if err != nil && (!errors.As(err, &e) || e.Op == "" || e.URL == "" || e.Kind == fetch.ErrOther) {
			w.Errorf("%#v", err)
		}
		w.srv.ResetFaults()
		if err := op.do(w); err != nil {
			w.Errorf("the same operation after the fault: %v\n%s", err, w.srv.Transcript())
		}
		w.want("/local.test/1", testArticles()["local.test"][0])
	})
}

// TestCutListings truncates a listing after each byte. It must never look complete.
func TestCutListings(t *testing.T) {
	for _, tt := range overviews {
		for _, url := range []string{"/local.test", "news:*"} {
			t.Run(tt.name+" "+url, func(t *testing.T) {
				withServer(t, tt.configure, func(w *harness) {
					whole := ""
					get := func() (err error) {
						whole, err = w.get(url)
						return err
					}
					body, list := w.record(get), w.record(func() error { _, err := w.items(url); return err })
					want := whole
					for _, tape := range []*tape{body, list} {
						if err := tape.cut(tape.octets, get); err != nil || whole != want {
							w.Fatalf("the whole tape: %q, %v", whole, err)
						}
					}
					for after := range body.octets {
						err := body.cut(after, get)
						if err == nil || !strings.HasPrefix(want, whole) {
							w.Fatalf("after %d of %d bytes %q, %v", after, body.octets, whole, err)
						}
						w.fails(fmt.Sprintf("cut after %d octets", after), err, fetch.ErrTruncated, fetch.ErrConnectionFailed)
						var items []fetch.Item
						err = list.cut(after, func() (err error) {
							items, err = w.items(url)
							return err
						})
						if err == nil || len(items) > strings.Count(want, "\n") {
							w.Fatalf("after %d of %d bytes %d items, %v", after, body.octets, len(items), err)
						}
					}
				})
			})
		}
	}
}

// TestCutArticles does the same for ranges of articles.
func TestCutArticles(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		whole := ""
		get := func() (err error) {
			whole, err = w.getAs(w.req("/local.test", articles("1-")))
			return err
		}
		body := w.record(get)
		want := whole
		if err := body.cut(body.octets, get); err != nil || whole != want {
			w.Fatalf("the whole tape: %q, %v", whole, err)
		}
		for after := range body.octets {
			err := body.cut(after, get)
			if err == nil || !strings.HasPrefix(want, whole) {
				w.Fatalf("after %d of %d bytes %q, %v", after, body.octets, whole, err)
			}
			w.fails(fmt.Sprintf("cut after %d octets", after), err, fetch.ErrTruncated, fetch.ErrConnectionFailed)
		}
	})
}

// tape is a recording of the server's output during an access. It can be replayed thousands of times
// without the server.
type tape struct {
	w      *harness
	said   [][][]byte // by connection, and then by the number of writes of the client
	octets int        // total size
	left   int        // bytes left to replay, for all connections together
	played int        // number of connections replayed
}

// record performs an access with the server and records it.
func (w *harness) record(access func() error) *tape {
	w.Helper()
	t := &tape{w: w}
	t.with(func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := w.srv.Dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		t.said = append(t.said, [][]byte{nil})
		return &recorded{Conn: c, tape: t, at: len(t.said) - 1}, nil
	}, func() {
		if err := access(); err != nil {
			w.Fatal(err)
		}
	})
	return t
}

// cut performs the access with the tape, which ends after the given number of bytes.
func (t *tape) cut(after int, access func() error) (err error) {
	t.left, t.played = after, 0
	t.with(func(context.Context, string, string) (net.Conn, error) {
		if t.played == len(t.said) {
			return nil, errors.New("no more connections on the tape")
		}
		t.played++
		return &replayed{monologue: monologue{Reader: bytes.NewReader(nil)}, tape: t, said: t.said[t.played-1]}, nil
	}, func() { err = access() })
	return err
}

func (t *tape) with(dial func(ctx context.Context, network, address string) (net.Conn, error), do func()) {
	defer func(old fetch.Env) { t.w.env = old }(t.w.env)
	t.w.env.Dial = dial
	do()
	t.w.Close() // no session is left for the next access
}

type recorded struct {
	net.Conn
	tape  *tape
	at    int
	ended bool // QUIT was sent; its reply is not part of the access
}

func (c *recorded) Write(p []byte) (int, error) {
	c.ended = string(p) == "QUIT\r\n"
	c.tape.said[c.at] = append(c.tape.said[c.at], nil)
	return c.Conn.Write(p)
}

func (c *recorded) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.ended {
		return n, err
	}
	said := c.tape.said[c.at]
	said[len(said)-1] = append(said[len(said)-1], p[:n]...)
	c.tape.octets += n
	return n, err
}

type replayed struct {
	monologue
	tape *tape
	said [][]byte
	at   int // number of bytes of said[0] that were read
}

func (c *replayed) Write(p []byte) (int, error) {
	if len(c.said) > 0 {
		c.said, c.at = c.said[1:], 0
	}
	return len(p), nil
}

func (c *replayed) Read(p []byte) (int, error) {
	if len(c.said) == 0 || c.at == len(c.said[0]) || c.tape.left == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.said[0][c.at:min(len(c.said[0]), c.at+c.tape.left)])
	c.at += n
	c.tape.left -= n
	return n, nil
}

// TestFoldedHeader checks that a header that is folded a hundred thousand times does not take
// quadratic time (CVE-2001-0441).
func TestFoldedHeader(t *testing.T) {
	lines := append([]string{"Subject: x"}, slices.Repeat([]string{" y"}, 100_000)...)
	next := func() ([]byte, error) {
		if len(lines) == 0 {
			return nil, io.EOF
		}
		line := lines[0]
		lines = lines[1:]
		return []byte(line + "\r\n"), nil
	}
	h, err := readHeader(next, 0)
	if err != io.EOF || len(h.fields) != 1 || len(h.fields[0].Value) != 200_001 {
		t.Errorf("%d fields, %v", len(h.fields), err)
	}
}
