package wais

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/codec/z3950"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

// TestSearchAndFetch searches for every document of every database and fetches it.
func TestSearchAndFetch(t *testing.T) {
	srv := library(t)
	f := through(srv)
	fetched := make(map[string]bool)
	for path, want := range map[string]int{
		"/stories?the+or+a+or+notes+or+salt+or+stars": 20, "/pictures?dot": 2, "/pages?page1+page2": 2, "/multi?anchor": 2, "/docs?heron": 1,
	} {
		items, info := list(t, f, &fetch.Request{Locator: at(t, srv, path)})
		if len(items) < want-1 || info.Hits == 0 {
			t.Errorf("%s: %d items, %d hits", path, len(items), info.Hits)
		}
		for _, item := range items {
			res, got, err := get(t, f, &fetch.Request{Locator: item.Locator})
			if err != nil {
				t.Errorf("%s: %v", item.Name, err)
				continue
			}
			id, _ := parsePath(item.Locator.(*locator.WAIS).WPath)
			parts, _ := z3950.ParseDocID(id.id)
			name := parts.OriginalID[strings.Index(parts.OriginalID, "/wais/docs/")+len("/wais/docs/"):]
			typ := item.Locator.(*locator.WAIS).WType
			if typ == "PS" {
				name = "words.PS"
			} else if res.Size != int64(len(got)) {
				t.Errorf("%s: size %d, %d bytes", item.Name, res.Size, len(got))
			}
			if want := read(t, name); got != want {
				t.Errorf("%s: %d bytes, want %d", name, len(got), len(want))
			}
			fetched[name] = true
			if again := parse(t, URL(item.Locator.(*locator.WAIS))); !locator.Equal(again, item.Locator) {
				t.Errorf("%s is read as %v, not %v", URL(item.Locator.(*locator.WAIS)), again, item.Locator)
			}
			if ref, err := (locator.Parser{}).Parse(item.Locator.String()); err != nil || !locator.Equal(ref.Locator, item.Locator) {
				t.Errorf("%v is read as %v, %v", item.Locator, ref.Locator, err)
			}
		}
	}
	if len(fetched) < 24 || !fetched["almanac.txt"] || !fetched["words.PS"] || !fetched["harbour-dot.gif"] {
		t.Errorf("only these documents were fetched: %v", fetched)
	}
}

// TestMenuText checks the Body of a menu.
func TestMenuText(t *testing.T) {
	srv := library(t)
	res, text, err := get(t, through(srv), &fetch.Request{Locator: at(t, srv, "/multi?anchor")})
	if err != nil {
		t.Fatal(err)
	}
	wanted := []string{"  1. Words about an anchor  (score 1000, 3 lines, TEXT, 62 bytes", "\n     wais://127.0.0.1:210/multi/TEXT/62/1=", "\n  2. Words about an anchor  (score 1000, PS", "/multi/PS/0/1="}
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("the menu does not contain %q:\n%s", want, text)
		}
	}
	if res.MediaType != "text/plain" || res.Size != -1 {
		t.Errorf("%+v", res.Attributes)
	}
	_, text, err = get(t, &Fetcher{Env: &fetch.Env{Dial: srv.Dial, Limits: fetch.Limits{Items: 1}}}, &fetch.Request{Locator: at(t, srv, "/stories?the")})
	if err != nil || !strings.Contains(text, "(more than 1 documents)\n") {
		t.Errorf("%q, %v", text, err)
	}
}

// TestMenuLimits checks that Items ends by the limits, the caller and the context.
func TestMenuLimits(t *testing.T) {
	srv := library(t)
	ctx, cancel := context.WithCancel(t.Context())
	f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial, Limits: fetch.Limits{Items: 2}}}
	open := func(ctx context.Context) *fetch.Resource {
		res, err := f.Fetch(ctx, &fetch.Request{Locator: at(t, srv, "/stories?the")})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	count := func(res *fetch.Resource) (n int, last error) {
		for _, err := range res.Items {
			if last = err; err == nil {
				n++
			}
		}
		return n, last
	}
	if n, err := count(open(t.Context())); n != 2 || !errors.Is(err, fetch.ErrTooLarge) {
		t.Errorf("%d items, %v", n, err)
	}
	res := open(t.Context())
	for range res.Items {
		break
	}
	res.Close()
	if n, err := count(res); n != 0 || !errors.Is(err, fetch.ErrConnectionFailed) {
		t.Errorf("after Close: %d items, %v", n, err)
	}
	if _, err := res.Body.Read(make([]byte, 1)); !errors.Is(err, fetch.ErrConnectionFailed) {
		t.Errorf("after Close: %v", err)
	}
	res = open(ctx)
	cancel()
	if n, err := count(res); n != 0 || !errors.Is(err, fetch.ErrCanceled) {
		t.Errorf("cancelled: %d items, %v", n, err)
	}
}

// TestDescribe checks the descriptions of databases.
func TestDescribe(t *testing.T) {
	for name, configure := range map[string]func(*waistest.Server){
		"plain": func(*waistest.Server) {}, "freeWAIS": func(s *waistest.Server) { s.FreeWAIS = true }, "no Init": func(s *waistest.Server) { s.NoInit = true },
	} {
		t.Run(name, func(t *testing.T) {
			srv := library(t, configure)
			res, text, err := get(t, through(srv), &fetch.Request{Locator: at(t, srv, "/stories")})
			if !errors.Is(err, fetch.ErrNoOctets) {
				t.Fatal(err)
			}
			src := res.Info.(*Info).Source
			if res.Kind != fetch.KindQuery || text != "" || src == nil || src.Description != `Stories, "short" ones` || src.Database != "stories" || src.Locator().String() != "wais://127.0.0.1/stories" {
				t.Errorf("%v, %q, %+v", res.Kind, text, src)
			}
			_, _, err = get(t, through(srv), &fetch.Request{Locator: at(t, srv, "/nosuchdb")})
			if !errors.Is(err, fetch.ErrNotFound) {
				t.Errorf("a database that does not exist: %v", err)
			}
			if res, _, err := get(t, through(srv), &fetch.Request{Locator: at(t, srv, "/")}); !errors.Is(err, fetch.ErrNoOctets) || res.Kind != fetch.KindQuery || !strings.Contains(res.Advice, "To search it: ") {
				t.Errorf("the database without a name: %v", err)
			}
		})
	}
}

// TestQuery checks search words from the URL and from the Request.
func TestQuery(t *testing.T) {
	srv := library(t)
	for _, req := range []*fetch.Request{
		{Locator: at(t, srv, "/stories?river+and+bread")},
		{Locator: at(t, srv, "/stories?river%20and%20bread")},
		{Locator: at(t, srv, "/stories"), Query: "river and bread"},
		{Locator: at(t, srv, "/stories?"), Query: "river and bread"},
	} {
		srv.ResetTranscript()
		items, _ := list(t, through(srv), req)
		if len(items) != 1 || !srv.Transcript().Has(testserver.FromClient, `Search "stories" for "river and bread", at most 200`) {
			t.Errorf("%v %q: %d items\n%s", req.Locator, req.Query, len(items), srv.Transcript())
		}
	}
}

// TestPlus: only an unencoded "+" of a URL is a space.
func TestPlus(t *testing.T) {
	srv := library(t)
	for _, req := range []*fetch.Request{
		{Locator: at(t, srv, "/stories?c%2B%2B+or+a%2bb")},
		{Locator: at(t, srv, "/stories"), Query: "c++ or a+b"},
	} {
		srv.ResetTranscript()
		list(t, through(srv), req)
		if !srv.Transcript().Has(testserver.FromClient, `Search "stories" for "c++ or a+b", at most 200`) {
			t.Errorf("%v %q:\n%s", req.Locator, req.Query, srv.Transcript())
		}
	}
}

func TestMaxHits(t *testing.T) {
	srv := library(t)
	items, info := list(t, through(srv), &fetch.Request{Locator: at(t, srv, "/stories?the"), Options: &Options{MaxHits: 2}})
	if len(items) != 2 || info.Hits != 2 {
		t.Errorf("%d items", len(items))
	}
}

// TestLike searches for documents that resemble another.
func TestLike(t *testing.T) {
	srv := library(t)
	like := at(t, srv, srv.DocumentPath("stories", "whale.txt"))
	items, _ := list(t, through(srv), &fetch.Request{Locator: at(t, srv, "/stories"), Options: &Options{Like: []locator.Locator{like}, MaxHits: 3}})
	if len(items) != 3 || items[0].Name != "A Whale off the Point" {
		t.Errorf("%+v", items)
	}
	if !srv.Transcript().Has(testserver.FromClient, `Search "stories" for "" like 1 document, at most 3`) {
		t.Errorf("\n%s", srv.Transcript())
	}
	elsewhere := *like
	elsewhere.Host = "elsewhere.test"
	for _, like := range []locator.Locator{&elsewhere, at(t, srv, "/stories?x"), &locator.News{Group: "x"}, at(t, srv, "/stories/TEXT/1%3D")} {
		srv.ResetTranscript()
		_, err := through(srv).Fetch(t.Context(), &fetch.Request{Locator: at(t, srv, "/stories?x"), Options: &Options{Like: []locator.Locator{like}}})
		if !errors.Is(err, fetch.ErrBadURL) || len(srv.Transcript()) > 0 {
			t.Errorf("like %v: %v", like, err)
		}
	}
}

// TestChoices checks that the types of a document are listed without connecting.
func TestChoices(t *testing.T) {
	f := &Fetcher{Env: &fetch.Env{Allow: func(context.Context, fetch.Target) error { return errors.New("asked") }}}
	items, _ := list(t, f, &fetch.Request{Locator: parse(t, "wais://h/multi/TEXT,,PS,URL/62/1=a;")})
	var got []string
	for _, item := range items {
		got = append(got, item.Name+" "+URL(item.Locator.(*locator.WAIS)))
	}
	want := []string{"TEXT wais://h/multi/TEXT/62/1=a;", "PS wais://h/multi/PS/0/1=a;", "URL wais://h/multi/URL/0/1=a;"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRefused checks that invalid requests are rejected before connecting.
func TestRefused(t *testing.T) {
	f := &Fetcher{Env: &fetch.Env{Allow: func(context.Context, fetch.Target) error { return errors.New("asked") }}}
	long := strings.Repeat("x", 1<<20)
	at := func(form locator.WAISForm, database, words, typ, id string) *locator.WAIS {
		return &locator.WAIS{HostPort: locator.HostPort{Host: "h"}, Form: form, Database: database, Search: words, WType: typ, WPath: id}
	}
	for what, tc := range map[string]struct {
		req  *fetch.Request
		kind fetch.ErrorKind
	}{
		"another scheme":     {&fetch.Request{Locator: &locator.News{Group: "x"}}, fetch.ErrUnsupported},
		"no host":            {&fetch.Request{Locator: &locator.WAIS{Database: "d"}}, fetch.ErrBadURL},
		"no id":              {&fetch.Request{Locator: &locator.WAIS{HostPort: locator.HostPort{Host: "h"}, Form: locator.WAISDocument, Database: "d", WType: "TEXT"}}, fetch.ErrBadURL},
		"bad id":             {&fetch.Request{Locator: parse(t, "wais://h/d/TEXT/5/1=x")}, fetch.ErrBadURL},
		"other options":      {&fetch.Request{Locator: parse(t, "wais://h/d?x"), Options: 1}, fetch.ErrUnsupported},
		"negative hits":      {&fetch.Request{Locator: parse(t, "wais://h/d?x"), Options: &Options{MaxHits: -1}}, fetch.ErrBadURL},
		"words twice":        {&fetch.Request{Locator: parse(t, "wais://h/d?x"), Query: "y"}, fetch.ErrBadURL},
		"words for a text":   {&fetch.Request{Locator: parse(t, "wais://h/d/T/1=x;"), Query: "y"}, fetch.ErrBadURL},
		"like for a text":    {&fetch.Request{Locator: parse(t, "wais://h/d/T/1=x;"), Options: &Options{Like: []locator.Locator{parse(t, "wais://h/d/T/1=x;")}}}, fetch.ErrUnsupported},
		"range of a search":  {&fetch.Request{Locator: parse(t, "wais://h/d?x"), Offset: 1}, fetch.ErrUnsupported},
		"negative length":    {&fetch.Request{Locator: parse(t, "wais://h/d/T/5/1=x;"), Length: -1}, fetch.ErrBadRange},
		"beyond the end":     {&fetch.Request{Locator: parse(t, "wais://h/d/T/5/1=x;"), Offset: 6}, fetch.ErrBadRange},
		"end of a length ?":  {&fetch.Request{Locator: parse(t, "wais://h/d/T/0/1=x;"), Offset: -1}, fetch.ErrUnsupported},
		"line end":           {&fetch.Request{Locator: parse(t, "wais://h/d%0d%0a?x")}, fetch.ErrBadURL},
		"long database":      {&fetch.Request{Locator: at(locator.WAISDatabase, long, "", "", "")}, fetch.ErrBadURL},
		"long words":         {&fetch.Request{Locator: at(locator.WAISSearch, "d", long, "", "")}, fetch.ErrBadURL},
		"long document":      {&fetch.Request{Locator: at(locator.WAISDocument, "d", "", "T", long)}, fetch.ErrBadURL},
		"long type":          {&fetch.Request{Locator: at(locator.WAISDocument, "d", "", long, "1=x;")}, fetch.ErrBadURL},
		"a length too large": {&fetch.Request{Locator: parse(t, "wais://h/d/T/99999999999999999999/1=x")}, fetch.ErrRefused},
	} {
		_, err := f.Fetch(t.Context(), tc.req)
		if !errors.Is(err, tc.kind) {
			t.Errorf("%s: %.200v, want %v", what, err, tc.kind)
		}
		if _, err := f.Explain(tc.req); tc.kind != fetch.ErrRefused && !errors.Is(err, tc.kind) {
			t.Errorf("%s: Explain: %.200v", what, err)
		}
	}
}

// TestUnknownLength reads a document of unknown length to its end.
func TestUnknownLength(t *testing.T) {
	srv := library(t, func(s *waistest.Server) { s.NoLength = true })
	almanac := read(t, "almanac.txt")
	items, _ := list(t, through(srv), &fetch.Request{Locator: at(t, srv, "/stories?almanac")})
	if len(items) == 0 || items[0].Size != -1 || !strings.HasPrefix(items[0].Locator.(*locator.WAIS).WPath, "0/1=") {
		t.Fatalf("%+v", items)
	}
	l := items[0].Locator
	for _, span := range [][2]int64{{0, 0}, {0, 100}, {9999, 2}, {20000, 30000}, {39024, 0}} {
		_, got, err := get(t, through(srv), &fetch.Request{Locator: l, Offset: span[0], Length: span[1]})
		want := almanac[span[0]:]
		if span[1] > 0 {
			want = want[:min(int64(len(want)), span[1])]
		}
		if got != want || err != nil {
			t.Errorf("%v: %d bytes, want %d, %v", span, len(got), len(want), err)
		}
	}
	if _, _, err := get(t, through(srv), &fetch.Request{Locator: l, Offset: 39025}); !errors.Is(err, fetch.ErrBadRange) {
		t.Errorf("beyond the end: %v", err)
	}
	if err := srv.Put("nothing.txt", nil); err != nil {
		t.Fatal(err)
	}
	if _, got, err := get(t, through(srv), &fetch.Request{Locator: at(t, srv, srv.DocumentPath("stories", "nothing.txt"))}); got != "" || err != nil {
		t.Errorf("an empty document: %q, %v", got, err)
	}
}

// TestLarge fetches documents of many slices.
func TestLarge(t *testing.T) {
	noise := make([]byte, 10<<20)
	rand.NewChaCha8([32]byte{1}).Read(noise)
	srv := waistest.New(t, func(s *waistest.Server) {
		s.InMemory, s.Content = true, fstest.MapFS{"large.bin": {Data: noise}, "page.bin": {Data: noise[:40<<10]}, "exact.bin": {Data: noise[:20000]}}
	})
	for name, size := range map[string]int{"large.bin": 10 << 20, "page.bin": 40 << 10, "exact.bin": 20000} {
		res, err := through(srv).Fetch(t.Context(), &fetch.Request{Locator: at(t, srv, srv.DocumentPath("files", name))})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		res.Close()
		if !bytes.Equal(got, noise[:size]) || err != nil {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// TestWrongLength checks URLs whose length differs from that of the document.
func TestWrongLength(t *testing.T) {
	srv := library(t)
	path := srv.DocumentPath("stories", "whale.txt")
	_, got, err := get(t, through(srv), &fetch.Request{Locator: at(t, srv, strings.Replace(path, "/162/", "/200/", 1))})
	if got != read(t, "whale.txt") || !errors.Is(err, fetch.ErrTruncated) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestURLHits checks documents of type URL, and document-ids that browsers cannot write.
func TestURLHits(t *testing.T) {
	info := z3950.AppendDocument(nil, z3950.Document{Group: z3950.TagDocumentHeader, ID: []byte("1"), Headline: "http://example.test/x", Types: []string{"URL"}})
	info = z3950.AppendDocument(info, z3950.Document{Group: z3950.TagDocumentHeader, ID: []byte("2"), Headline: "file:///etc/passwd", Types: []string{"URL"}})
	info = z3950.AppendDocument(info, z3950.Document{Group: z3950.TagDocumentHeader, ID: []byte("\x00opaque/\xff"), Headline: "\x1b(an\x1b) id\r\n", Date: "19941220", City: "Oslo", Length: z3950.Num(5)})
	info = z3950.AppendDocument(info, z3950.Document{Group: z3950.TagDocumentHeader, ID: []byte("1=a;")})
	items, _ := list(t, &Fetcher{NoInit: true, Env: answering([][]byte{answer(t, info)}, nil)}, &fetch.Request{Locator: parse(t, "wais://h/d?x")})
	var got []string
	for _, item := range items {
		got = append(got, fmt.Sprintf("%s %v", item.Name, item.Locator))
	}
	want := []string{"http://example.test/x http://example.test/x", "file:///etc/passwd <nil>", "an id wais://h/d/TEXT/%00opaque%2F%FF", " <nil>"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if y, m, d := items[2].ModTime.Date(); y != 1994 || m != 12 || d != 20 || items[2].Header[len(items[2].Header)-1].Value != "Oslo" {
		t.Errorf("%+v", items[2])
	}
	doc, err := parsePath(items[2].Locator.(*locator.WAIS).WPath)
	if string(doc.id) != "\x00opaque/\xff" || err != nil {
		t.Errorf("%q, %v", doc.id, err)
	}
}

// answer returns a message with a SearchResponse.
func answer(t testing.TB, info []byte) []byte {
	t.Helper()
	m, err := z3950.AppendMessage(nil, z3950.NewHeader(), &z3950.SearchResponse{Info: info})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSourceDocument(t *testing.T) {
	srv := library(t)
	items, _ := list(t, through(srv), &fetch.Request{Locator: at(t, srv, "/INFO?pages")})
	res, text, err := get(t, through(srv), &fetch.Request{Locator: items[0].Locator})
	if err != nil || !strings.Contains(text, ":database-name \"pages\"") || res.MediaType != "application/x-wais-source" {
		t.Errorf("%q, %v", text, err)
	}
	if src := res.Info.(*Info).Source; src == nil || src.Database != "pages" {
		t.Errorf("%+v", src)
	}
}

func TestTrace(t *testing.T) {
	srv := library(t)
	var sent, received []string
	ctx := fetch.WithTrace(t.Context(), &fetch.Trace{
		Sent:     func(octets []byte) { sent = append(sent, z3950.Summary(octets)) },
		Received: func(octets []byte) { received = append(received, z3950.Summary(octets)) },
	})
	res, err := through(srv).Fetch(ctx, &fetch.Request{Locator: at(t, srv, "/stories?whale")})
	if err != nil {
		t.Fatal(err)
	}
	res.Close()
	if want := []string{"Init 4194304", `Search "stories" for "whale", at most 200`}; !slices.Equal(sent, want) {
		t.Errorf("sent %q, want %q", sent, want)
	}
	if len(received) != 2 || received[0] != "InitResponse 100000, accepted: true" {
		t.Errorf("received %q", received)
	}
}

func TestExplain(t *testing.T) {
	f := new(Fetcher)
	for url, want := range map[string][]string{
		"wais://h/d":                    {"Init 4194304", "continue whatever the server replies", `Search "INFO" for "d", at most 40`, "retrieve the description of the database", "ask for search words"},
		"wais://h:2100/d?two+words":     {"Init 4194304", "continue whatever the server replies", `Search "d" for "two words", at most 200`, "list the documents found"},
		"wais://h/d/TEXT/20000/3=x;":    {"Init 4194304", "continue whatever the server replies", `Retrieve from "d" un re "x" wt re "TEXT" wb ro "0" wb rl "10000"`, "request the next 10000 bytes until the end of the document"},
		"wais://h/d/TEXT,PS/20000/3=x;": {"list the types TEXT,PS, each with its own URL"},
	} {
		explained, err := f.Explain(&fetch.Request{Locator: parse(t, url)})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range explained.Steps {
			text := s.Do
			if s.Send != "" {
				text = z3950.Summary([]byte(s.Send))
			}
			got = append(got, text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", url, got, want)
		}
	}
}

// BenchmarkHits ranges over the hits of a search. The time for one hit must not depend on the number
// of hits.
func BenchmarkHits(b *testing.B) {
	for _, n := range []int{50, 500, 5000} {
		var info []byte
		for i := range n {
			id := z3950.AppendDocID(nil, z3950.DocID{OriginalServer: "h:210", OriginalDatabase: "/wais/db/d", OriginalID: fmt.Sprintf("0 100 /wais/docs/%d", i)})
			info = z3950.AppendDocument(info, z3950.Document{
				Group: z3950.TagDocumentHeader, ID: id, Score: z3950.Num(500), Length: z3950.Num(100), Lines: z3950.Num(4),
				Types: []string{"TEXT"}, Source: "/wais/db/d", Date: "0", Headline: fmt.Sprint("Headline ", i),
			})
		}
		message := answer(b, info)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := &Fetcher{NoInit: true, Env: answering([][]byte{message}, nil)}
			req := &fetch.Request{Locator: parse(b, "wais://h/d?x"), Options: &Options{MaxHits: n}}
			b.ReportAllocs()
			for b.Loop() {
				if items, _ := list(b, f, req); len(items) != n {
					b.Fatal(len(items))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/hit")
		})
	}
}

// TestRefusedQuery checks queries that a server cannot parse. freeWAIS also sends its catalogue, which
// must not be taken as a result.
func TestRefusedQuery(t *testing.T) {
	for name, configure := range map[string]func(*waistest.Server){
		"plain": func(*waistest.Server) {}, "freeWAIS": func(s *waistest.Server) { s.FreeWAIS = true },
	} {
		t.Run(name, func(t *testing.T) {
			srv := library(t, configure)
			for _, words := range []string{"(river", "river and", "nosuchfield=x"} {
				_, _, err := get(t, through(srv), &fetch.Request{Locator: at(t, srv, "/stories"), Query: words})
				if d, ok := errors.AsType[*Diagnostic](err); !errors.Is(err, fetch.ErrBadURL) || !ok || d.Code != "S1" {
					t.Errorf("%q: %v", words, err)
				}
			}
			_, _, err := get(t, through(srv), &fetch.Request{Locator: at(t, srv, "/nosuchdb?river")})
			if !errors.Is(err, fetch.ErrNotFound) {
				t.Errorf("an unknown database: %v", err)
			}
		})
	}
	catalogue := z3950.AppendDocument(nil, z3950.Document{Group: z3950.TagDocumentHeader, ID: []byte("\x03\x01x"), Score: z3950.Num(0)})
	for text, want := range map[string]fetch.ErrorKind{
		"Serious error in server": fetch.ErrBadURL, "The following database is not available: /wais/db/d": fetch.ErrNotFound,
	} {
		info := z3950.AppendDiagnostic(catalogue, z3950.Diagnostic{Code: "S1", Text: text})
		_, _, err := get(t, &Fetcher{NoInit: true, Env: answering([][]byte{answer(t, info)}, nil)}, &fetch.Request{Locator: parse(t, "wais://h/d?x")})
		if !errors.Is(err, want) {
			t.Errorf("S1 %s: %v, want %v", text, err, want)
		}
	}
}

// TestLikeWithoutWords searches for similar documents without words. If the server rejects that, the
// error must say that words are required.
func TestLikeWithoutWords(t *testing.T) {
	srv := library(t)
	like := func(srv *waistest.Server) *Options {
		return &Options{Like: []locator.Locator{at(t, srv, srv.DocumentPath("stories", "whale.txt"))}}
	}
	if items, _ := list(t, through(srv), &fetch.Request{Locator: at(t, srv, "/stories"), Options: like(srv)}); len(items) == 0 {
		t.Error("no similar documents were found")
	}
	srv = library(t, func(s *waistest.Server) { s.FreeWAIS = true })
	_, _, err := get(t, through(srv), &fetch.Request{Locator: at(t, srv, "/stories"), Options: like(srv)})
	if want := "this server also requires search words, as in wais://127.0.0.1:210/stories?words: S1"; !errors.Is(err, fetch.ErrBadURL) || !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("%v, want %s", err, want)
	}
	_, _, err = get(t, through(srv), &fetch.Request{Locator: at(t, srv, "/stories?whale"), Options: like(srv)})
	if !errors.Is(err, fetch.ErrConnectionFailed) || !strings.Contains(fmt.Sprint(err), "search for words instead") {
		t.Errorf("with words: %v", err)
	}
}

// TestUnknownDatabase requests the description of a database that does not exist. freeWAIS rejects the
// query for help before it looks for the database.
func TestUnknownDatabase(t *testing.T) {
	for name, configure := range map[string]func(*waistest.Server){
		"plain": func(*waistest.Server) {}, "freeWAIS": func(s *waistest.Server) { s.FreeWAIS = true },
	} {
		t.Run(name, func(t *testing.T) {
			srv := library(t, configure)
			_, _, err := get(t, through(srv), &fetch.Request{Locator: at(t, srv, "/nosuchdb")})
			if !errors.Is(err, fetch.ErrNotFound) || !strings.Contains(fmt.Sprint(err), "not available: /wais/db/nosuchdb") {
				t.Errorf("%v", err)
			}
		})
	}
	// A database without description and catalogue is there.
	refusal := answer(t, z3950.AppendDiagnostic(nil, z3950.Diagnostic{Code: "S1", Text: "query syntax error: ?"}))
	res, _, err := get(t, &Fetcher{NoInit: true, Env: answering([][]byte{answer(t, []byte{}), refusal, answer(t, []byte{})}, nil)}, &fetch.Request{Locator: parse(t, "wais://h/d")})
	if !errors.Is(err, fetch.ErrNoOctets) || res.Kind != fetch.KindQuery {
		t.Errorf("a database without a description: %v", err)
	}
}

// TestFewerHits checks the notes for fewer documents than requested, and for an answer as long as the
// server's messages may be.
func TestFewerHits(t *testing.T) {
	notes := func(srv *waistest.Server, max int) (notes []string) {
		ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Note: func(text string) { notes = append(notes, text) }})
		res, err := through(srv).Fetch(ctx, &fetch.Request{Locator: at(t, srv, "/stories?the"), Options: &Options{MaxHits: max}})
		if err != nil {
			t.Fatal(err)
		}
		res.Close()
		return notes
	}
	srv := library(t)
	if got := notes(srv, 0); len(got) > 0 {
		t.Errorf("notes of a search without MaxHits: %q, want none", got)
	}
	if got := notes(srv, 2); len(got) > 0 {
		t.Errorf("notes when all requested documents came: %q, want none", got)
	}
	if got := notes(srv, 100); len(got) != 1 || !strings.HasSuffix(got[0], " of at most 100 documents") {
		t.Errorf("notes when fewer documents came than requested: %q", got)
	}
	srv = library(t, func(s *waistest.Server) { s.MaxMessage = 1000 })
	if got := notes(srv, 0); len(got) != 1 || !strings.Contains(got[0], "its messages of 1000 bytes") {
		t.Errorf("notes of an answer of the maximum size: %q", got)
	}
}
