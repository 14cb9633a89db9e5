package nntp

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
)

// matched returns the numbers of the articles in the listing of local.test, and whether the server
// has selected them.
func (w *harness) matched(o *Options) (numbers []string, byServer bool) {
	w.Helper()
	res, err := w.Fetch(w.Context(), w.req("/local.test", o))
	if err != nil {
		w.Fatal(err)
	}
	defer res.Close()
	for item, err := range res.Items {
		if err != nil {
			w.Fatal(err)
		}
		if len(item.Header) < 4 {
			w.Errorf("article %s has only the fields %v", item.Name, item.Header)
		}
		numbers = append(numbers, item.Name)
	}
	return numbers, res.Info.(*Info).Matched
}

// TestMatch lists the articles that a server has selected, on servers with each kind of overview.
func TestMatch(t *testing.T) {
	for _, tt := range overviews {
		t.Run(tt.name, func(t *testing.T) {
			withServer(t, tt.configure, func(w *harness) {
				for _, c := range []struct {
					o    Options
					want string
				}{
					{Options{Match: []Match{{"Subject", "*[oO]*"}}}, "1 2"},
					{Options{Match: []Match{{"Subject", "8*"}, {"Subject", "one"}, {"subject", "o*"}}}, "1 4"},
					{Options{Match: []Match{{"From", "*lab.example*"}}}, "1 2 4"},
					{Options{Match: []Match{{"From", "*lab.example*"}}, Newest: 2}, "4"},
					{Options{Match: []Match{{"From", "*lab.example*"}}, Articles: "2-3", List: true}, "2"},
					{Options{Match: []Match{{"Subject", "nothing"}}}, ""},
				} {
					got, byServer := w.matched(&c.o)
					want := c.want
					if tt.name == "RFC 977" { // without XPAT: all, in the range
						all, _ := w.matched(&Options{Newest: c.o.Newest, Articles: c.o.Articles, List: c.o.List})
						want = strings.Join(all, " ")
					}
					if strings.Join(got, " ") != want || byServer == (tt.name == "RFC 977") {
						t.Errorf("%+v: got %v (by the server: %v), want %s", c.o, got, byServer, want)
					}
				}
			})
		})
	}
}

func TestMatchOnTheWire(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		w.matched(&Options{Match: []Match{{"Subject", "8*"}, {"From", "x"}}})
		w.sent("GROUP local.test", "XPAT Subject 1-4 8*", "XPAT From 1-4 x", "OVER 4")
	})
	// A reply has lines about other articles, or about none; one article has expired meanwhile.
	withServer(t, nil, func(w *harness) {
		w.srv.On("XPAT", 0, testserver.Data("\r\n99 x\r\n2 b\r\n0 x\r\n3 c\r\n1 a\r\n2 again\r\n.\r\n"))
		if got, _ := w.matched(&Options{Match: []Match{{"Subject", "*"}}}); !slices.Equal(got, []string{"1", "2"}) {
			t.Errorf("got %v", got)
		}
	})
	withServer(t, nil, func(w *harness) {
		w.srv.On("XPAT", 1, testserver.Data("one x\r\n.\r\n"))
		_, err := w.getAs(w.req("/local.test", &Options{Match: []Match{{"Subject", "*"}}}))
		w.fails("a reply without a number", err, fetch.ErrProtocol)
		w.srv.On("OVER", 2, testserver.NoDot())
		_, err = w.getAs(w.req("/local.test", &Options{Match: []Match{{"Subject", "*"}}}))
		w.fails("an overview that is cut off", err, fetch.ErrTruncated)
	})
}

func TestMatchRefused(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		for _, m := range []Match{{}, {"Subject", ""}, {"", "x"}, {"Subject", "a b"}, {"Subject x", "a"}, {"Subject", "x\r\nPOST"}, {"Subject", "ü"}, {"Subject", "a,b"}} {
			_, err := w.getAs(w.req("/local.test", &Options{Match: []Match{m}}))
			w.fails("the match "+m.Header+" "+m.Pattern, err, fetch.ErrBadURL)
		}
		_, err := w.getAs(w.req("/local.test/1", &Options{Match: []Match{{"Subject", "*"}}}))
		w.fails("a match for an article", err, fetch.ErrBadURL)
		_, err = w.getAs(w.req("/local.test", &Options{Match: []Match{{"Subject", "*"}}, Articles: "1-"}))
		w.fails("a match for articles that are fetched", err, fetch.ErrBadRange)
		if n := w.connections(); n != 0 {
			t.Errorf("%d connections were made", n)
		}
	})
}

// TestMatchBareLF asks a server whose lines end in LF. The end of its listings cannot be told from what
// comes behind it: so nothing may come.
func TestMatchBareLF(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		w.srv.On("OVER", 0, testserver.BareLF())
		if got, _ := w.matched(&Options{Match: []Match{{"Subject", "*"}}}); !slices.Equal(got, []string{"1", "2", "4"}) {
			t.Errorf("got %v", got)
		}
		w.sent("GROUP local.test", "XPAT Subject 1-4 *", "OVER 1", "OVER 2", "OVER 4")
	})
	// What ends in LF later is not a listing that has ended, however late the next reply comes.
	for _, late := range []time.Duration{0, time.Second} {
		withServer(t, nil, func(w *harness) {
			w.env.Limits.Idle = 10 * time.Second
			w.srv.On("OVER 2", 1, testserver.BareLF())
			w.srv.On("OVER 4", 1, testserver.Delay(late))
			_, err := w.getAs(w.req("/local.test", &Options{Match: []Match{{"Subject", "*"}}}))
			w.fails(fmt.Sprintf("the next reply after %v", late), err, fetch.ErrTimeout)
		})
	}
}

// TestMatchClosed closes a listing before its end. The Fetcher must work afterwards.
func TestMatchClosed(t *testing.T) {
	withServer(t, nil, func(w *harness) {
		res, err := w.Fetch(w.Context(), w.req("/local.test", &Options{Match: []Match{{"Subject", "*"}}}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(res.Body, make([]byte, 3)); err != nil {
			t.Error(err)
		}
		res.Close()
		if _, err := w.items("/local.more"); err != nil {
			t.Error(err)
		}
	})
}
