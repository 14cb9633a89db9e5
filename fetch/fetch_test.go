package fetch_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

func TestLimits(t *testing.T) {
	hidden := cmpopts.IgnoreUnexported(fetch.Limits{})
	defaults := fetch.Limits{
		Connect: 30 * time.Second, Reply: time.Minute, Idle: time.Minute,
		Line: 16 << 10, Header: 256 << 10, Hops: 10,
	}
	none := fetch.Limits{Connect: -1, Reply: -1, Idle: -1, Line: -1, Header: -1, Body: -1, Items: -1, Hops: -1}
	own := fetch.Limits{Connect: 1, Reply: 2, Idle: 3, Line: 4, Header: 5, Body: 6, Items: 7, Hops: 8}
	for _, tc := range []struct{ in, want fetch.Limits }{
		{fetch.Limits{}, defaults}, {none, fetch.Limits{}}, {own, own},
	} {
		got := tc.in.WithDefaults()
		if diff := cmp.Diff(tc.want, got, hidden); diff != "" {
			t.Errorf("%+v:\n%s", tc.in, diff)
		}
		if diff := cmp.Diff(tc.want, got.WithDefaults(), hidden); diff != "" {
			t.Errorf("%+v, filled in twice:\n%s", tc.in, diff)
		}
	}
}

// TestArticleFields: the fields of an article are found by name, and decoded.
func TestArticleFields(t *testing.T) {
	for _, c := range []struct{ sent, want string }{
		{"plain", "plain"},
		{"=?utf-8?q?Gr=C3=BC=C3=9Fe?= =?UTF-8?B?IGF1cw==?= Bonn", "Grüße aus Bonn"},
		{"=?iso-8859-1?Q?caf=E9?=", "café"},
		{"raw caf\xe9", "raw café"},
		{"raw café", "raw café"},
		{"=?koi8-r?b?8NLJ18XU?=", "=?koi8-r?b?8NLJ18XU?="},
		{"", ""},
	} {
		item := fetch.Item{Attributes: fetch.Attributes{Header: []fetch.Field{
			{Name: "subject", Value: c.sent}, {Name: "From", Value: c.sent + " <a@lab.test>"}, {Name: "SUBJECT", Value: "second"},
		}}}
		if got := item.Get("Subject"); got != c.sent {
			t.Errorf("Get of %q is %q", c.sent, got)
		}
		if got := item.Subject(); got != c.want {
			t.Errorf("subject %q is %q, want %q", c.sent, got, c.want)
		}
		if got := item.Author(); got != c.want+" <a@lab.test>" {
			t.Errorf("author %q is %q", c.sent, got)
		}
		if got := item.Get("Date"); got != "" {
			t.Errorf("Date is %q", got)
		}
	}
}

func TestContextTraceIsComplete(t *testing.T) {
	call(driver.ContextTrace(t.Context()))
	call(driver.ContextTrace(fetch.WithTrace(t.Context(), &fetch.Trace{})))
}

// call calls every hook.
func call(t *fetch.Trace) {
	t.DialStart("tcp", "h:1")
	t.Connected(fetch.Connection{Host: "h"})
	t.Reused(fetch.Connection{Host: "r"})
	t.Sent([]byte("s"))
	t.Received([]byte("g"))
	t.Body(7)
	t.Retry(fetch.Retry{Attempt: 1})
	t.Note("n")
}

// TestTraceComposes: the inner hook is called first, then the outer. Either may be nil.
func TestTraceComposes(t *testing.T) {
	var log []string
	trace := func(who string) *fetch.Trace {
		say := func(format string, args ...any) { log = append(log, who+" "+fmt.Sprintf(format, args...)) }
		return &fetch.Trace{
			DialStart: func(network, address string) { say("%s %s", network, address) },
			Connected: func(c fetch.Connection) { say("connected %s", c.Host) },
			Reused:    func(c fetch.Connection) { say("reused %s", c.Host) },
			Sent:      func(p []byte) { say("sent %s", p) },
			Received:  func(p []byte) { say("received %s", p) },
			Body:      func(n int64) { say("body %d", n) },
			Retry:     func(r fetch.Retry) { say("retry %d", r.Attempt) },
			Note:      func(text string) { say("note %s", text) },
		}
	}
	ctx := fetch.WithTrace(t.Context(), trace("outer"))
	ctx = fetch.WithTrace(ctx, &fetch.Trace{})
	inner := trace("inner")
	inner.Note = nil
	ctx = fetch.WithTrace(ctx, inner)
	call(driver.ContextTrace(ctx))
	want := []string{
		"inner tcp h:1", "outer tcp h:1", "inner connected h", "outer connected h", "inner reused r", "outer reused r",
		"inner sent s", "outer sent s", "inner received g", "outer received g", "inner body 7", "outer body 7",
		"inner retry 1", "outer retry 1", "outer note n",
	}
	if diff := cmp.Diff(want, log); diff != "" {
		t.Error(diff)
	}
	if inner.Note != nil {
		t.Error("WithTrace has changed the Trace it was given")
	}
}

func TestKindString(t *testing.T) {
	for kind, want := range []string{"document", "directory", "menu", "query", "interactive", "advice", "unknown"} {
		if got := fetch.Kind(kind).String(); got != want {
			t.Errorf("kind %d is %q, want %q", kind, got, want)
		}
	}
}

func TestProvenance(t *testing.T) {
	for want, p := range map[string]fetch.Provenance{
		"typed by the user":                         {},
		"from the configuration":                    {Kind: fetch.OriginConfig},
		"link":                                      {Kind: fetch.OriginRemote},
		"link from ftp://lab:***@example.com/x":     {Kind: fetch.OriginRemote, By: url},
		"redirect from ftp://lab:***@example.com/x": {Kind: fetch.OriginRedirect, By: url},
	} {
		if got := p.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	peer := netip.MustParseAddrPort("192.0.2.1:21")
	res := &fetch.Resource{Locator: url, Peer: peer}
	if got, want := res.Origin(), (fetch.Provenance{Kind: fetch.OriginRemote, By: url, Peer: peer.Addr()}); got != want {
		t.Errorf("the origin of a link in it is %+v, want %+v", got, want)
	}
}
