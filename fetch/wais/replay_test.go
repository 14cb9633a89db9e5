package wais

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/codec/z3950"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver/memnet"
)

const whale = "/stories/TEXT/162/1=localhost%3A210;2=/wais/db/stories;3=0%20162%20/wais/docs/whale.txt;4=localhost%3A210;5=/wais/db/stories;6=0%20162%20/wais/docs/whale.txt;7=%00;"

// messages returns the messages of one side of a recorded conversation.
func messages(t testing.TB, name string) (list [][]byte) {
	t.Helper()
	octets, err := os.ReadFile(recordings + "/traces/" + name + ".bin")
	if err != nil {
		t.Fatal(err)
	}
	for r := bytes.NewReader(octets); r.Len() > 0; {
		_, m, err := z3950.ReadMessage(r, nil, 100000)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

// answering returns an Env whose connections lead to a server that sends the given answers, one for
// each request, and then closes. If requests is not nil, the server appends the requests to it.
func answering(answers [][]byte, requests *[][]byte) *fetch.Env {
	return serving(func(c net.Conn) {
		for _, answer := range answers {
			_, m, err := z3950.ReadMessage(c, nil, 100000)
			if err != nil {
				return
			}
			if requests != nil {
				*requests = append(*requests, m)
			}
			if _, err := c.Write(answer); err != nil {
				return
			}
		}
		z3950.ReadMessage(c, nil, 100000) // to close in the place of an answer
	})
}

// serving returns an Env whose connections are handled by serve and then closed.
func serving(serve func(c net.Conn)) *fetch.Env {
	network := new(memnet.Network)
	return &fetch.Env{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		l, err := network.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		go func() {
			defer l.Close()
			if c, err := l.Accept(); err == nil {
				defer c.Close()
				serve(c)
			}
		}()
		return network.Dial(ctx, "tcp", l.Addr().String())
	}}
}

// TestLynx checks that the client sends exactly what lynx sent to the real server, and reads the
// recorded answers.
func TestLynx(t *testing.T) {
	var requests [][]byte
	f := &Fetcher{NoInit: true, Env: answering(messages(t, "lynx-search.s2c"), &requests)}
	items, info := list(t, f, &fetch.Request{Locator: parse(t, "wais://localhost/stories?lighthouse")})
	if want := messages(t, "lynx-search.c2s"); !bytes.Equal(bytes.Join(requests, nil), bytes.Join(want, nil)) {
		t.Errorf("sent was %q, by lynx %q", requests, want)
	}
	if len(items) != 3 || info.Hits != 3 || info.Catalogue != nil {
		t.Fatalf("%d items, %+v", len(items), info)
	}
	first := items[0]
	wanted := []fetch.Field{{Name: HeaderScore, Value: "398"}, {Name: HeaderLines, Value: "4"}, {Name: HeaderMatch, Value: "0"}, {Name: HeaderType, Value: "TEXT"}}
	if first.Name != "A Whale off the Point" || first.Size != 162 || first.MediaType != "text/plain" || !slices.Equal(first.Header, wanted) {
		t.Errorf("the first is %+v", first)
	}
	if url := URL(first.Locator.(*locator.WAIS)); url != "wais://localhost"+whale {
		t.Errorf("its URL is %s", url)
	}

	requests = nil
	f.Env = answering(messages(t, "lynx-document.s2c"), &requests)
	_, got, err := get(t, f, &fetch.Request{Locator: first.Locator})
	if want := messages(t, "lynx-document.c2s"); !bytes.Equal(bytes.Join(requests, nil), bytes.Join(want, nil)) {
		t.Errorf("sent was %q, by lynx %q", requests, want)
	}
	if got != document162(t) || err != nil {
		t.Errorf("the document is %q, %v", got, err)
	}
}

func document162(t testing.TB) string { return read(t, "whale.txt") }

// read returns a document of the recordings.
func read(t testing.TB, name string) string {
	t.Helper()
	octets, err := os.ReadFile(recordings + "/docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(octets)
}

// TestRecordedDocuments retrieves the documents that the real server sent to waissearch, from the
// recorded hits and texts.
func TestRecordedDocuments(t *testing.T) {
	heron := strings.Repeat("abcdefghij", 6) + "/" + strings.Repeat("klmnopqrst", 6) + "/heron.txt"
	for name, file := range map[string]string{
		"retrieve-small": "whale.txt", "retrieve-gif": "harbour-dot.gif", "retrieve-chunked": "almanac.txt", "search-html": "page1.html",
		"search-latin1": "accents.txt", "search-multitype": "words.TEXT", "search-long-docid": heron,
	} {
		t.Run(name, func(t *testing.T) {
			answers := messages(t, name+".s2c")
			var requests [][]byte
			items, _ := list(t, &Fetcher{Env: answering(answers[:2], nil)}, &fetch.Request{Locator: parse(t, "wais://h/d?x")})
			l := *items[0].Locator.(*locator.WAIS)
			recorded := messages(t, name+".c2s")
			p, err := z3950.Decode(recorded[1][z3950.HeaderSize:])
			if err != nil {
				t.Fatal(err)
			}
			l.Database = p.(*z3950.Search).DatabaseNames
			_, got, err := get(t, &Fetcher{Env: answering(slices.Concat(answers[:1], answers[2:]), &requests)}, &fetch.Request{Locator: &l})
			if want := read(t, file); got != want || err != nil {
				t.Errorf("%d bytes, want %d, %v", len(got), len(want), err)
			}
			if !bytes.Equal(bytes.Join(requests[1:], nil), bytes.Join(recorded[2:], nil)) {
				t.Errorf("sent was %q, by waissearch %q", requests[1:], recorded[2:])
			}
		})
	}
}

// TestRecordedTrouble checks the errors for recorded failures of the real server.
func TestRecordedTrouble(t *testing.T) {
	for _, tc := range []struct {
		name, path string
		kind       fetch.ErrorKind
		text       string
	}{
		{"search-unknown-db", "/nosuchdb?lighthouse", fetch.ErrNotFound, "S1 permanent system error: The following database is not available: /wais/db/nosuchdb"},
		{"retrieve-unknown-docid", whale, fetch.ErrNotFound, "SF present request out of range: Missing DocID in request"},
		{"x-retrieve-garbage-docid", whale, fetch.ErrNotFound, "Missing DocID in request"},
		{"x-retrieve-notype", whale, fetch.ErrConnectionFailed, "closed the connection without an answer"},
		{"x-retrieve-unknown-db", whale, fetch.ErrConnectionFailed, "closed the connection without an answer"},
		{"x-search-relevance-doc", "/stories?x", fetch.ErrConnectionFailed, "closed the connection without an answer"},
		{"x-retrieve-small-buffer", whale, fetch.ErrProtocol, "empty reply"},
		{"x-present-apdu", "/stories?x", fetch.ErrProtocol, "empty reply"},
		{"x-retrieve-whole-nochunk", whale, fetch.ErrTruncated, "the document ended after 0 of 162 bytes"},
		{"x-retrieve-start-past-end", strings.Replace(whale, "/162/", "/0/", 1), fetch.ErrNotFound, "SF present request out of range: Request out of range"},
		{"x-retrieve-start-past-end", whale, fetch.ErrNotFound, "SF present request out of range: Request out of range"},
		{"x-search-relevance-doc", "/stories?x", fetch.ErrConnectionFailed, "closed the connection without an answer; freeWAIS crashes on searches for similar documents"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req := &fetch.Request{Locator: parse(t, "wais://localhost"+tc.path)}
			if strings.Contains(tc.text, "similar documents") {
				req.Options = &Options{Like: []locator.Locator{parse(t, "wais://localhost"+whale)}}
			}
			_, _, err := get(t, &Fetcher{Env: answering(messages(t, tc.name+".s2c"), nil)}, req)
			if !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("%v, want %v: %s", err, tc.kind, tc.text)
			}
			var d *Diagnostic
			if strings.HasPrefix(tc.text, "S1") && (!errors.As(err, &d) || d.Code != "S1") {
				t.Errorf("no Diagnostic in %#v", err)
			}
		})
	}
}

// TestRecordedHelp checks an answer with hits and a diagnostic, and one with a catalogue instead of
// hits.
func TestRecordedHelp(t *testing.T) {
	items, info := list(t, &Fetcher{Env: answering(messages(t, "search-empty-help.s2c"), nil)}, &fetch.Request{Locator: parse(t, "wais://h/stories"), Query: "?"})
	if len(items) != 2 || len(info.Diagnostics) != 1 || info.Diagnostics[0].Code != "S1" || items[0].MediaType != "application/x-wais-source" {
		t.Errorf("%+v, %+v", items, info)
	}
	req := &fetch.Request{Locator: parse(t, "wais://h/stories?zeppelin")}
	items, info = list(t, &Fetcher{Env: answering(messages(t, "search-nohits.s2c"), nil)}, req)
	if len(items) != 0 || info.Hits != 0 || info.Catalogue == nil || info.Catalogue.Size != 1730 {
		t.Errorf("%+v, %+v", items, info)
	}
	_, text, err := get(t, &Fetcher{Env: answering(messages(t, "search-nohits.s2c"), nil)}, req)
	if !strings.HasPrefix(text, "Nothing was found in stories.\nIts catalogue:\n     wais://h/stories/TEXT/1730/2=stories;3=") || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// TestOlderServer checks an answer without types (header version 1).
func TestOlderServer(t *testing.T) {
	items, _ := list(t, &Fetcher{Env: answering(messages(t, "x-search-header-version1.s2c"), nil)}, &fetch.Request{Locator: parse(t, "wais://h/stories?whale")})
	if len(items) != 1 || items[0].Locator.(*locator.WAIS).WType != "TEXT" {
		t.Errorf("%+v", items)
	}
}
