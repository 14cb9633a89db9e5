package wais

import (
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/codec/z3950"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

// TestHostileAnswers checks wrong lengths, endless nesting and other protocols. Each must fail with a
// clear error and allocate less than 8 MiB.
func TestHostileAnswers(t *testing.T) {
	nested := strings.Repeat("\x81\x16\x87\xff\xff\x7f", 100000)
	response := func(info string) string {
		pdu := "\x00\x0b\x17\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + info
		return fmt.Sprintf("%010dz2wais        0%s", len(pdu), pdu)
	}
	for name, tc := range map[string]struct {
		answer string
		kind   fetch.ErrorKind
		text   string
	}{
		"length 9999999999":         {"9999999999z2wais        0", fetch.ErrTooLarge, "the length is 9999999999 bytes"},
		"length 0x7fffffff":         {"2147483647z2wais        0", fetch.ErrTooLarge, "the length is 2147483647 bytes"},
		"length -000000001":         {"-000000001z2wais        0", fetch.ErrProtocol, "not a WAIS server"},
		"length +1":                 {"+1        z2wais        0", fetch.ErrProtocol, "not a WAIS server"},
		"length 0x10":               {"0x10000000z2wais        0", fetch.ErrProtocol, "not a WAIS server"},
		"length that does not come": {"0004194304z2wais        0short", fetch.ErrTimeout, "timed out"},
		"group of 0x7fffffff":       {response("\x63\x87\xff\xff\xff\x7f"), fetch.ErrProtocol, "integer of more than 4 bytes"},
		"group of 0xfffffff":        {response("\x63\xff\xff\xff\x7f"), fetch.ErrProtocol, "only 0 are left"},
		"indefinite length":         {response("\x63\x80"), fetch.ErrProtocol, "a truncated integer"},
		"nesting":                   {response("\x63\x84\x80\x00" + nested[:65536]), fetch.ErrProtocol, "malformed"},
		"no PDU":                    {"0000000001z2wais        0\x00", fetch.ErrProtocol, "malformed"},
		"an Init":                   {"0000000003z2wais        0\x00\x01\x14", fetch.ErrProtocol, "malformed"},
		"a Present":                 {"0000000003z2wais        0\x00\x01\x18", fetch.ErrProtocol, "not a SearchResponse"},
		"empty":                     {"0000000000z2wais        0", fetch.ErrProtocol, "empty reply"},
		"a refusal":                 {"0000000000n2wais        0", fetch.ErrProtocol, "of type 'n'"},
		"compressed":                {"0000000003z2wais      u 0\x00\x01\x18", fetch.ErrUnsupported, "compression"},
		"version 9":                 {"0000000003z9wais        0\x00\x01\x18", fetch.ErrUnsupported, "version"},
		"text":                      {"220 mail.example.test ESMTP\r\n", fetch.ErrProtocol, "not a WAIS server"},
		"BER":                       {"\xb5\x20\x83\x02\x05\x60", fetch.ErrProtocol, "not a WAIS server"},
		"HTTP":                      {"HTTP/1.1 400 Bad Request\r\n\r\n", fetch.ErrProtocol, "not a WAIS server"},
		"more than asked for":       {response("\x63\x84\x80\x0a\x81\x19\x84\x80\x03\x7f\x84\x80\x00" + strings.Repeat("x", 65536)), fetch.ErrProtocol, "more bytes than requested"},
	} {
		inBubble(t, name, func(t *testing.T) {
			if name == "more than asked for" {
				info := z3950.AppendDocument(nil, z3950.Document{Group: z3950.TagDocumentTextGroup, Text: make([]byte, 200)})
				tc.answer = string(answer(t, info))
			}
			f := &Fetcher{NoInit: true, Env: answering([][]byte{[]byte(tc.answer)}, nil)}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := get(t, f, &fetch.Request{Locator: parse(t, "wais://localhost"+whale)})
			runtime.ReadMemStats(&after)
			if !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("%v, want %v: %s", err, tc.kind, tc.text)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
				t.Errorf("%d bytes were allocated, want at most 8 MiB", n)
			}
		})
	}
}

// inBubble runs a test with a fake clock.
func inBubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// TestManyHits ranges over the maximum number of hits in an answer.
func TestManyHits(t *testing.T) {
	info := []byte(strings.Repeat("\x81\x16\x00", maxAnswer/3-100))
	res, err := (&Fetcher{NoInit: true, Env: answering([][]byte{answer(t, info)}, nil)}).Fetch(t.Context(), &fetch.Request{Locator: parse(t, "wais://h/d?x")})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	n, most := 0, uint64(0)
	var stats runtime.MemStats
	for _, err := range res.Items {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%100000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&stats)
			most = max(most, stats.HeapAlloc)
		}
	}
	if n != maxAnswer/3-100 || most > 64<<20 {
		t.Errorf("%d hits, %d bytes of memory", n, most)
	}
}

// TestTruncatedBody breaks the connection between slices and inside them.
func TestTruncatedBody(t *testing.T) {
	almanac := read(t, "almanac.txt")
	for n, fault := range map[int]waistest.Fault{2: testserver.Close(), 3: testserver.Truncate(5000), 4: waistest.EmptyAnswer()} {
		srv := library(t)
		srv.On("RETRIEVE", n, fault)
		_, got, err := get(t, through(srv), &fetch.Request{Locator: at(t, srv, srv.DocumentPath("stories", "almanac.txt"))})
		kind := fetch.ErrTruncated
		if n == 4 {
			kind = fetch.ErrProtocol
		}
		if !errors.Is(err, kind) || got != almanac[:(n-1)*sliceSize] {
			t.Errorf("%v at slice %d: %d bytes, %v", fault, n, len(got), err)
		}
	}
	for code, kind := range map[string]fetch.ErrorKind{
		"S1": fetch.ErrNotFound, "S3": fetch.ErrBadURL, "SF": fetch.ErrNotFound, "SG": fetch.ErrBusy, "SH": fetch.ErrPermission, "SI": fetch.ErrTooLarge, "T2": fetch.ErrPermission, "ZZ": fetch.ErrProtocol,
	} {
		srv := library(t)
		path := srv.DocumentPath("stories", "almanac.txt")
		srv.On("RETRIEVE", 1, waistest.Diagnostic(code, "no"))
		srv.On("RETRIEVE", 3, waistest.Diagnostic(code, "no"))
		_, _, err := get(t, through(srv), &fetch.Request{Locator: at(t, srv, path)})
		var d *Diagnostic
		if !errors.Is(err, kind) || !errors.As(err, &d) || d.Code != code {
			t.Errorf("%s at first: %v, want %v", code, err, kind)
		}
		_, got, err := get(t, through(srv), &fetch.Request{Locator: at(t, srv, path)})
		if !errors.Is(err, fetch.ErrTruncated) || got != almanac[:sliceSize] {
			t.Errorf("%s in the middle: %d bytes, %v", code, len(got), err)
		}
	}
}

// TestBodyLimit checks that Limits.Body ends an endless document.
func TestBodyLimit(t *testing.T) {
	env := serving(func(c net.Conn) {
		for {
			_, m, err := z3950.ReadMessage(c, nil, 100000)
			if err != nil {
				return
			}
			p, err := z3950.Decode(m[z3950.HeaderSize:])
			if err != nil || p.Type() != z3950.TypeSearch {
				return
			}
			c.Write(answer(t, z3950.AppendDocument(nil, z3950.Document{Group: z3950.TagDocumentTextGroup, Text: make([]byte, 7)})))
		}
	})
	env.Limits.Body = 100
	f := &Fetcher{NoInit: true, Env: env}
	_, got, err := get(t, f, &fetch.Request{Locator: parse(t, "wais://h/d/TEXT/3=x;")})
	if !errors.Is(err, fetch.ErrTooLarge) || len(got) > 100 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// TestNoSmuggling checks that nothing is sent for a URL with an encoded line end, or for the port of
// another service (RFC 1738 §6).
func TestNoSmuggling(t *testing.T) {
	env := &fetch.Env{Allow: policy.User, Dial: library(t).Dial}
	for url, kind := range map[string]fetch.ErrorKind{"wais://127.0.0.1/d%0d%0aQUIT": fetch.ErrBadURL, "wais://127.0.0.1/%00?x": fetch.ErrBadURL, "wais://127.0.0.1:25/d?x": fetch.ErrRefused} {
		if _, err := (&Fetcher{Env: env}).Fetch(t.Context(), &fetch.Request{Locator: parse(t, url)}); !errors.Is(err, kind) {
			t.Errorf("%s: %v, want %v", url, err, kind)
		}
	}
}

// FuzzSession checks a search and a retrieval with arbitrary answers.
func FuzzSession(f *testing.F) {
	for _, name := range []string{"lynx-search", "lynx-document", "search-empty-help", "search-nohits", "search-unknown-db", "x-retrieve-whole-nochunk", "x-retrieve-start-past-end", "retrieve-gif"} {
		m := messages(f, name+".s2c")
		last := m[len(m)-1]
		f.Add(last[z3950.HeaderSize:], last[z3950.HeaderSize:])
		f.Add(m[0][z3950.HeaderSize:], last[z3950.HeaderSize:])
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		answers := [][]byte{framed(one), framed(two)}
		for _, url := range []string{"wais://h/d", "wais://h/d?x", "wais://h/d/TEXT/3=x;", "wais://localhost" + whale} {
			for _, noInit := range []bool{true, false} {
				res, got, err := get(t, &Fetcher{NoInit: noInit, Env: answering(answers, nil)}, &fetch.Request{Locator: parse(t, url)})
				var e *fetch.Error
				if err != nil && !errors.As(err, &e) || e != nil && e.Kind == fetch.ErrOther {
					t.Fatalf("%s: %T: %v", url, err, err)
				}
				if res == nil || err != nil {
					continue
				}
				if res.Size >= 0 && int64(len(got)) != res.Size {
					t.Fatalf("%s: %d bytes of %d without an error", url, len(got), res.Size)
				}
				checkItems(t, &Fetcher{NoInit: noInit, Env: answering(answers, nil)}, url)
			}
		}
	})
}

func framed(pdu []byte) []byte {
	return slices.Concat(fmt.Appendf(nil, "%010dz2wais        0", len(pdu)), pdu)
}

// checkItems checks that all items have locators that can be fetched.
func checkItems(t *testing.T, f *Fetcher, url string) {
	res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, url)})
	if err != nil {
		return
	}
	defer res.Close()
	if res.Items == nil {
		return
	}
	for item, err := range res.Items {
		if err != nil {
			t.Fatal(err)
		}
		l, ok := item.Locator.(*locator.WAIS)
		if !ok {
			continue
		}
		for _, written := range []string{l.String(), URL(l)} {
			if len(written) > 60000 {
				continue
			}
			if back := parse(t, written); !locator.Equal(back, l) {
				t.Fatalf("%v is written %s and read as %v", l, written, back)
			}
		}
	}
	io.Copy(io.Discard, res.Body)
}
