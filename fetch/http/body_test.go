package http

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
)

const alphabet = "abcdefghijklmnopqrstuvwxyz"

// ranger returns a server of a document and its ranges. It adds fields to each answer.
func ranger(content string, fields ...string) server {
	return func(v *received) string {
		spec, ok := strings.CutPrefix(v.field("Range"), "bytes=")
		if !ok {
			return document(content, fields...)
		}
		from, to, _ := strings.Cut(spec, "-")
		first, err := strconv.Atoi(from)
		last, _ := strconv.Atoi(to)
		switch {
		case err != nil: // a suffix
			first, last = max(0, len(content)-last), len(content)-1
		case to == "" || last >= len(content):
			last = len(content) - 1
		}
		if first > last {
			return status("416 Range Not Satisfiable", "no", append(fields, fmt.Sprintf("Content-Range: bytes */%d", len(content)))...)
		}
		return status("206 Partial Content", content[first:last+1], append(fields, fmt.Sprintf("Content-Range: bytes %d-%d/%d", first, last, len(content)))...)
	}
}

func TestRanges(t *testing.T) {
	chunked := "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1a\r\n" + alphabet + "\r\n0\r\n\r\n"
	for _, tc := range []struct {
		offset, length int64
		field          string
		want           string
		kind           fetch.ErrorKind // of the error, with any server
	}{
		{offset: 0, length: 0, field: "", want: alphabet},
		{offset: 5, length: 0, field: "bytes=5-", want: alphabet[5:]},
		{offset: 5, length: 3, field: "bytes=5-7", want: "fgh"},
		{offset: 0, length: 3, field: "bytes=0-2", want: "abc"},
		{offset: 20, length: 100, field: "bytes=20-119", want: "uvwxyz"},
		{offset: 25, length: 1, field: "bytes=25-25", want: "z"},
		{offset: 26, length: 0, field: "bytes=26-", want: ""},
		{offset: 27, length: 0, field: "bytes=27-", kind: fetch.ErrBadRange},
		{offset: 1000, length: 10, field: "bytes=1000-1009", kind: fetch.ErrBadRange},
		{offset: -3, length: 0, field: "bytes=-3", want: "xyz"},
		{offset: -3, length: 2, field: "bytes=-3", want: "xy"},
		{offset: -100, length: 0, field: "bytes=-100", want: alphabet},
		{offset: 5, length: math.MaxInt64, field: "bytes=5-", want: alphabet[5:]},
		{offset: math.MaxInt64, length: math.MaxInt64, field: "bytes=9223372036854775807-", kind: fetch.ErrBadRange},
	} {
		for name, s := range map[string]server{"ranges": ranger(alphabet), "none": says(document(alphabet)), "none, length unknown": says(chunked)} {
			w := newNetwork(t, map[string]server{"a.example:80": s})
			f := w.fetcher()
			body, res, err := do(t.Context(), f, &fetch.Request{Locator: parse(t, "http://a.example/"), Offset: tc.offset, Length: tc.length})
			kind := tc.kind
			if tc.offset < 0 && name == "none, length unknown" {
				kind = fetch.ErrBadRange
			}
			if got := w.visits[0].field("Range"); got != tc.field {
				t.Errorf("%d+%d: asked for %q, want %q", tc.offset, tc.length, got, tc.field)
			}
			if kind != fetch.ErrOther {
				if fetch.KindOf(err) != kind {
					t.Errorf("%d+%d with %s: %q, %v", tc.offset, tc.length, name, body, err)
				}
				continue
			}
			if err != nil || body != tc.want {
				t.Errorf("%d+%d with %s: %q, %v", tc.offset, tc.length, name, body, err)
				continue
			}
			if size := res.Size; size != 26 && !(size == -1 && name == "none, length unknown") {
				t.Errorf("%d+%d with %s: size %d", tc.offset, tc.length, name, size)
			}
			if body, _, err := get(t, f, "http://a.example/", nil); err != nil || body != alphabet {
				t.Errorf("the next fetch: %q, %v", body, err)
			}
		}
	}
}

// TestUnsatisfiedWithoutLength has servers whose 416 does not include the length (Apache,
// lighttpd): a HEAD request finds it.
func TestUnsatisfiedWithoutLength(t *testing.T) {
	for name, tc := range map[string]struct {
		head   string // the answer to HEAD
		offset int64
		atEnd  bool
	}{
		"at the end":         {"HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\n", 26, true},
		"behind":             {"HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\n", 27, false},
		"not told":           {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 26, false},
		"no HEAD":            {"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 26\r\n\r\n", 26, false},
		"broken":             {cut, 26, false},
		"as long as the 416": {"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 2\r\n\r\n", 2, false},
	} {
		for _, anyStatus := range []bool{false, true} {
			w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
				if strings.HasPrefix(v.head, "HEAD ") {
					return tc.head
				}
				return status("416 Range Not Satisfiable", "no")
			}})
			body, res, err := do(t.Context(), w.fetcher(), &fetch.Request{Locator: parse(t, "http://a.example/"), Offset: tc.offset, Options: &Options{AnyStatus: anyStatus}})
			switch {
			case tc.atEnd || anyStatus:
				want := map[bool]string{true: "", false: "no"}[tc.atEnd]
				if err != nil || body != want || res.Info.(*Info).AtEnd != tc.atEnd || tc.atEnd && res.Size != 26 {
					t.Errorf("%s, any status %v: %q, %+v, %v", name, anyStatus, body, res, err)
				}
			case fetch.KindOf(err) != fetch.ErrBadRange:
				t.Errorf("%s: %q, %v", name, body, err)
			}
			want := 2
			if tc.head == cut { // the connection of the 416 breaks, and then another one
				want = 3
			}
			if n := len(w.visits); n != want || w.visits[1].field("Range") != "" {
				t.Errorf("%s: %d requests", name, n)
			}
		}
	}
}

func TestRangeOfNothing(t *testing.T) {
	for _, offset := range []int64{0, -5} {
		w := newNetwork(t, map[string]server{"a.example:80": ranger("")})
		body, res, err := do(t.Context(), w.fetcher(), &fetch.Request{Locator: parse(t, "http://a.example/"), Offset: offset, Length: 10})
		if err != nil || body != "" || res.Size != 0 {
			t.Errorf("from %d: %q, %+v, %v", offset, body, res, err)
		}
	}
	w := newNetwork(t, nil)
	for _, req := range []fetch.Request{
		{Offset: math.MinInt64}, {Length: -1, Offset: 1}, {Offset: 1, Options: &Options{Method: "POST"}}, {Length: 1, Options: &Options{Method: "DELETE"}},
	} {
		req.Locator = parse(t, "http://a.example/")
		if _, err := w.fetcher().Fetch(t.Context(), &req); fetch.KindOf(err) != fetch.ErrBadRange || len(w.dials) > 0 {
			t.Errorf("%+v: %v", req, err)
		}
	}
}

// TestRangeUnit has spellings of the unit of Content-Range.
func TestRangeUnit(t *testing.T) {
	for text, ok := range map[string]bool{
		"bytes 5-7/26": true, "Bytes 5-7/26": true, "BYTES  5-7/26": true, "bytes=5-7/26": true, "bytes: 5-7/26": true,
		"bytes5-7/26": false, "5-7/26": false, "octets 5-7/26": false, "bytes": false, "bytes ": false,
	} {
		w := newNetwork(t, map[string]server{"a.example:80": says(status("206 Partial Content", "fgh", "Content-Range: "+text))})
		body, _, err := do(t.Context(), w.fetcher(), &fetch.Request{Locator: parse(t, "http://a.example/"), Offset: 5, Length: 3})
		if (err == nil && body == "fgh") != ok {
			t.Errorf("%s: %q, %v", text, body, err)
		}
	}
}

// TestWrongPart has 206 answers with a part that was not requested.
func TestWrongPart(t *testing.T) {
	chunked := "HTTP/1.1 206 Partial Content\r\nTransfer-Encoding: chunked\r\nContent-Range: bytes 5-7/26\r\n\r\n"
	for name, answer := range map[string]string{
		"other start":       status("206 Partial Content", "abc", "Content-Range: bytes 0-2/26"),
		"no Content-Range":  status("206 Partial Content", "fgh"),
		"several parts":     status("206 Partial Content", "--x\r\n\r\n--x--\r\n", "Content-Type: multipart/byteranges; boundary=x"),
		"length":            status("206 Partial Content", "fghij", "Content-Range: bytes 5-7/26"),
		"backwards":         status("206 Partial Content", "fgh", "Content-Range: bytes 7-5/26"),
		"beyond the end":    status("206 Partial Content", "fgh", "Content-Range: bytes 5-7/6"),
		"negative":          status("206 Partial Content", "fgh", "Content-Range: bytes -5-7/26"),
		"overflow":          status("206 Partial Content", "fgh", "Content-Range: bytes 5-99999999999999999999/26"),
		"largest":           status("206 Partial Content", "fgh", "Content-Range: bytes 5-9223372036854775807/*"),
		"words":             status("206 Partial Content", "fgh", "Content-Range: bytes 5-x/26"),
		"other unit":        status("206 Partial Content", "fgh", "Content-Range: lines 5-7/26"),
		"not asked for 204": "HTTP/1.1 206 Partial Content\r\nContent-Length: 0\r\n\r\n",
		"longer, in chunks": chunked + "1a\r\n" + alphabet + "\r\n0\r\n\r\n",
		"one more chunk":    chunked + "3\r\nfgh\r\n1\r\ni\r\n0\r\n\r\n",
	} {
		kind := fetch.ErrProtocol
		switch name {
		case "other start", "length", "longer, in chunks", "one more chunk":
			kind = fetch.ErrBadRange // it is another part, by what the server says or by its length
		}
		w := newNetwork(t, map[string]server{"a.example:80": says(answer)})
		body, _, err := do(t.Context(), w.fetcher(), &fetch.Request{Locator: parse(t, "http://a.example/"), Offset: 5, Length: 3})
		if fetch.KindOf(err) != kind {
			t.Errorf("%s: %q, %v", name, body, err)
		}
		for _, opt := range []*Options{nil, {AnyStatus: true}, {Method: "POST", AnyStatus: true}} {
			if body, _, err := get(t, w.fetcher(), "http://a.example/", opt); fetch.KindOf(err) != fetch.ErrProtocol {
				t.Errorf("%s, to no Range, %+v: %q, %v", name, opt, body, err)
			}
		}
	}
	for _, end := range []string{"0\r\n\r\n", cut} { // a missing end is no error, as the part is complete
		w := newNetwork(t, map[string]server{"a.example:80": says(chunked + "3\r\nfgh\r\n" + end)})
		if body, _, err := do(t.Context(), w.fetcher(), &fetch.Request{Locator: parse(t, "http://a.example/"), Offset: 5, Length: 3}); err != nil || body != "fgh" {
			t.Errorf("in chunks: %q, %v", body, err)
		}
	}
	// A part that is too short is completed; a part of unknown total length is accepted as it is.
	w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
		if v.n == 1 {
			return status("206 Partial Content", "fg", "Content-Range: bytes 5-6/26", `ETag: "1"`)
		}
		return ranger(alphabet, `ETag: "1"`)(v)
	}})
	body, _, err := do(t.Context(), w.fetcher(func(f *Fetcher) { f.Retries = 1 }), &fetch.Request{Locator: parse(t, "http://a.example/"), Offset: 5})
	if err != nil || body != alphabet[5:] {
		t.Errorf("less: %q, %v", body, err)
	}
	w = newNetwork(t, map[string]server{"a.example:80": says(status("206 Partial Content", "fgh", "Content-Range: bytes 5-7/*"))})
	body, res, err := do(t.Context(), w.fetcher(), &fetch.Request{Locator: parse(t, "http://a.example/"), Offset: 5, Length: 3})
	if err != nil || body != "fgh" || res.Size != -1 {
		t.Errorf("unknown whole: %q, %+v, %v", body, res, err)
	}
	for name, ranges := range map[string]string{"less of an unknown whole": "bytes 5-6/*", "less of a known one": "bytes 5-6/26"} {
		w = newNetwork(t, map[string]server{"a.example:80": says(status("206 Partial Content", "fg", "Content-Range: "+ranges))})
		for _, opt := range []*Options{nil, {AnyStatus: true}} {
			body, _, err := do(t.Context(), w.fetcher(), &fetch.Request{Locator: parse(t, "http://a.example/"), Offset: 5, Length: 3, Options: opt})
			if !errors.Is(err, fetch.ErrTruncated) || body != "fg" {
				t.Errorf("%s: %q, %v", name, body, err)
			}
		}
	}
	w = newNetwork(t, map[string]server{"a.example:80": says(status("206 Partial Content", "yz", "Content-Range: bytes 24-25/26"))})
	body, _, err = do(t.Context(), w.fetcher(), &fetch.Request{Locator: parse(t, "http://a.example/"), Offset: 24, Length: 30})
	if err != nil || body != "yz" {
		t.Errorf("less, as the document ends: %q, %v", body, err)
	}
	// A part that covers the whole document is accepted like a 200.
	w = newNetwork(t, map[string]server{"a.example:80": says(status("206 Partial Content", alphabet, "Content-Range: bytes 0-25/26"))})
	if body, res, err := get(t, w.fetcher(), "http://a.example/", nil); err != nil || body != alphabet || res.Size != 26 {
		t.Errorf("all: %q, %v", body, err)
	}
	// The answer to the caller's own Range field is not checked.
	w = newNetwork(t, map[string]server{"a.example:80": ranger(alphabet)})
	if body, _, err := get(t, w.fetcher(), "http://a.example/", &Options{Header: http.Header{"Range": {"bytes=1-2"}}}); err != nil || body != "bc" {
		t.Errorf("own Range: %q, %v", body, err)
	}
}

// TestLead fetches the bytes before an offset, too, from servers with ranges and without. They are in
// Resource.Lead only, and not counted.
func TestLead(t *testing.T) {
	for name, s := range map[string]server{
		"ranges":        ranger(alphabet, `ETag: "1"`),
		"no ranges":     says(document(alphabet, `ETag: "1"`)),
		"broken ranges": brokenRanger(alphabet, 1, 2, `ETag: "1"`),
	} {
		for _, tc := range []struct {
			req        fetch.Request
			lead, body string
			kind       fetch.ErrorKind
		}{
			{fetch.Request{Offset: 10, Lead: 4}, "ghij", alphabet[10:], fetch.ErrOther},
			{fetch.Request{Offset: 10, Lead: 4, Length: 3}, "ghij", "klm", fetch.ErrOther},
			{fetch.Request{Offset: 10, Lead: 10, Length: 3}, "abcdefghij", "klm", fetch.ErrOther},
			{fetch.Request{Offset: 26, Lead: 4}, "wxyz", "", fetch.ErrOther},
			{fetch.Request{Offset: 27, Lead: 4}, "", "", fetch.ErrBadRange},
			{fetch.Request{Offset: 40, Lead: 4}, "", "", fetch.ErrBadRange},
			{fetch.Request{Offset: 30, Lead: 4}, "", "", fetch.ErrBadRange},
			{fetch.Request{Offset: 10, Lead: 11}, "", "", fetch.ErrBadRange},
			{fetch.Request{Offset: -10, Lead: 1}, "", "", fetch.ErrBadRange},
		} {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t, map[string]server{"a.example:80": s})
				counted := 0
				ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Body: func(n int64) { counted += int(n) }})
				tc.req.Locator = parse(t, "http://a.example/")
				body, res, err := do(ctx, w.fetcher(func(f *Fetcher) { f.Retries = 1 }), &tc.req)
				if fetch.KindOf(err) != tc.kind || (err == nil) != (tc.kind == fetch.ErrOther) {
					t.Fatalf("%s, %d: %v", name, tc.req.Offset, err)
				}
				if err != nil {
					return
				}
				if body != tc.body || string(res.Lead) != tc.lead || counted != len(tc.body) && name != "no ranges" {
					t.Errorf("%s, %d: lead %q, body %q, %d bytes counted", name, tc.req.Offset, res.Lead, body, counted)
				}
			})
		}
	}
}

// TestLeadOfUnknownLength: a server without ranges that does not say where the document ends is not
// waited for, as it may keep the connection open.
func TestLeadOfUnknownLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t, map[string]server{"a.example:80": says("HTTP/1.0 200 OK\r\n\r\nshort")})
		req := fetch.Request{Locator: parse(t, "http://a.example/"), Offset: 10, Lead: 10}
		if _, _, err := do(t.Context(), w.fetcher(), &req); !errors.Is(err, fetch.ErrBadRange) {
			t.Error(err)
		}
	})
}

// brokenRanger is a ranger whose connection breaks after some bytes, the first times.
func brokenRanger(content string, times int, after int, fields ...string) server {
	whole := ranger(content, fields...)
	return func(v *received) string {
		full := whole(v)
		if v.n > times {
			return full
		}
		head, _, _ := strings.Cut(full, "\r\n\r\n")
		return full[:len(head)+4+after] + cut
	}
}

const longAgo = "Last-Modified: Tue, 20 Dec 1994 17:38:00 GMT"
const today = "Date: Wed, 21 Dec 1994 17:38:00 GMT"

func TestResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, fields := range map[string][]string{
			"entity tag": {`ETag: "v1"`}, "time": {longAgo, today}, "tag before time": {`ETag: "v1"`, longAgo},
		} {
			for _, times := range []int{1, 2} {
				for _, offset := range []int64{0, 4} {
					w := newNetwork(t, map[string]server{"a.example:80": brokenRanger(alphabet, times, 7, fields...)})
					f := w.fetcher(func(f *Fetcher) { f.Retries = 0 })
					var retries []fetch.Retry
					ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Retry: func(r fetch.Retry) { retries = append(retries, r) }})
					body, res, err := do(ctx, f, &fetch.Request{Locator: parse(t, "http://a.example/"), Offset: offset})
					if err != nil || body != alphabet[offset:] || res.Size != 26 {
						t.Errorf("%s: %q, %v", name, body, err)
					}
					if len(w.visits) != times+1 || len(retries) != times || !errors.Is(retries[0].Err, fetch.ErrTruncated) {
						t.Errorf("%s: %d requests, retries %+v", name, len(w.visits), retries)
						continue
					}
					v := w.visits[1]
					_, validator, _ := strings.Cut(fields[0], ": ")
					if v.field("If-Range") != validator || v.field("Range") != fmt.Sprintf("bytes=%d-25", offset) { // with the 7 bytes before the rest
						t.Errorf("%s: the request for the rest is %q", name, v.head)
					}
				}
			}
		}
	})
}

// TestNoResume checks that a truncated body is an error if the rest is not available, or may belong
// to another version.
func TestNoResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, tc := range map[string]struct {
			s        server
			requests int
		}{
			"no validator":     {brokenRanger(alphabet, 1, 7), 1},
			"weak tag":         {brokenRanger(alphabet, 1, 7, `ETag: W/"v1"`, longAgo, today), 1},
			"just modified":    {brokenRanger(alphabet, 1, 7, longAgo, "Date: Tue, 20 Dec 1994 17:38:00 GMT"), 1},
			"no date":          {brokenRanger(alphabet, 1, 7, longAgo), 1},
			"again and again":  {brokenRanger(alphabet, 9, 1, `ETag: "v1"`), 3},
			"changed":          {afterCut(document("something else", `ETag: "v2"`)), 2},
			"changed, as part": {afterCut(status("206 Partial Content", alphabet[7:], "Content-Range: bytes 7-25/26", `ETag: "v2"`)), 2},
			"other length":     {afterCut(status("206 Partial Content", alphabet[7:], "Content-Range: bytes 7-25/27", `ETag: "v1"`)), 2},
			"other part":       {afterCut(status("206 Partial Content", alphabet[6:], "Content-Range: bytes 6-25/26", `ETag: "v1"`)), 2},
			"bad part":         {afterCut(status("206 Partial Content", alphabet[7:], "Content-Range: bytes 7-24/26", `ETag: "v1"`)), 2},
			"shorter":          {afterCut(status("416 No", "", "Content-Range: bytes */5")), 2},
			"gone":             {afterCut(status("404 Not Found", "")), 2},
			"moved":            {afterCut(status("302 Found", "", "Location: http://b.example/")), 2},
			"dead":             {afterCut(cut), 3},
		} {
			w := newNetwork(t, map[string]server{"a.example:80": tc.s})
			f := w.fetcher(func(f *Fetcher) { f.Retries = 2 })
			body, _, err := get(t, f, "http://a.example/", nil)
			if !errors.Is(err, fetch.ErrTruncated) || !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(alphabet, body) {
				t.Errorf("%s: %q, %v", name, body, err)
			}
			if len(w.visits) != tc.requests {
				t.Errorf("%s: %d requests, want %d", name, len(w.visits), tc.requests)
			}
		}
		w := newNetwork(t, map[string]server{"a.example:80": brokenRanger(alphabet, 1, 7, `ETag: "v1"`)})
		if body, _, err := get(t, w.fetcher(), "http://a.example/", nil); !errors.Is(err, fetch.ErrTruncated) || body != alphabet[:7] || len(w.visits) != 1 {
			t.Errorf("Retries -1: %q, %v, %d requests", body, err, len(w.visits))
		}
		for _, method := range []string{"POST", "PUT"} {
			w := newNetwork(t, map[string]server{"a.example:80": brokenRanger(alphabet, 1, 7, `ETag: "v1"`)})
			f := w.fetcher(func(f *Fetcher) { f.Retries = 2 })
			if _, _, err := get(t, f, "http://a.example/", &Options{Method: method}); !errors.Is(err, fetch.ErrTruncated) || len(w.visits) != 1 {
				t.Errorf("%s: %v, %d requests", method, err, len(w.visits))
			}
		}
	})
}

// afterCut returns a server whose first answer is truncated. The next answer is then.
func afterCut(then string) server {
	return func(v *received) string {
		if v.n == 1 {
			return brokenRanger(alphabet, 1, 7, `ETag: "v1"`)(v)
		}
		return then
	}
}

// TestResumeOfUnknownLength has a truncated document of unknown length, and an answer with only a
// part of the rest.
func TestResumeOfUnknownLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
			switch v.n {
			case 1:
				return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"v1\"\r\n\r\n7\r\n" + alphabet[:7] + "\r\n" + cut
			case 2:
				return status("206 Partial Content", alphabet[:9], "Content-Range: bytes 0-8/26", `ETag: "v1"`)
			}
			return ranger(alphabet, `ETag: "v1"`)(v)
		}})
		body, _, err := get(t, w.fetcher(func(f *Fetcher) { f.Retries = 2 }), "http://a.example/", nil)
		if err != nil || body != alphabet || len(w.visits) != 3 {
			t.Errorf("%q, %v, %d requests", body, err, len(w.visits))
		}
	})
}

// TestResumeAtTheEnd has an answer without its last chunk. No data is missing, but only the server
// can say so.
func TestResumeAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
			if v.n == 1 {
				return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"v1\"\r\n\r\n1a\r\n" + alphabet + "\r\n" + cut
			}
			return ranger(alphabet, `ETag: "v1"`)(v)
		}})
		body, _, err := get(t, w.fetcher(func(f *Fetcher) { f.Retries = 1 }), "http://a.example/", nil)
		if err != nil || body != alphabet || len(w.visits) != 2 {
			t.Errorf("%q, %v, %d requests", body, err, len(w.visits))
		}
	})
}

// TestIdle checks that a body that stalls fails after Limits.Idle, and that a slow one does not.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
			head, body, _ := strings.Cut(document(alphabet, `ETag: "v1"`), "\r\n\r\n")
			io.WriteString(v.out, head+"\r\n\r\n")
			for i := range 10 {
				time.Sleep(50 * time.Second)
				io.WriteString(v.out, body[i:i+1])
			}
			time.Sleep(time.Hour)
			return cut
		}})
		f := w.fetcher(func(f *Fetcher) { f.Retries = 3 })
		start := time.Now()
		body, _, err := get(t, f, "http://a.example/", nil)
		if fetch.KindOf(err) != fetch.ErrTimeout || !errors.Is(err, context.DeadlineExceeded) || body != alphabet[:10] || time.Since(start) != 560*time.Second {
			t.Errorf("%q, %v after %v", body, err, time.Since(start))
		}
		time.Sleep(2 * time.Hour)
	})
}

// TestCloseEarly checks that closing an endless body stops reading and closes the connection.
func TestCloseEarly(t *testing.T) {
	gone := make(chan int, 1)
	w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
		io.WriteString(v.out, "HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n")
		taken := 0
		for {
			n, err := v.out.Write(make([]byte, 64<<10))
			if taken += n; err != nil {
				gone <- taken
				return cut
			}
		}
	}})
	res, err := w.fetcher().Fetch(t.Context(), &fetch.Request{Locator: parse(t, "http://a.example/")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, res.Body, 1<<20); err != nil {
		t.Fatal(err)
	}
	res.Close()
	if taken := <-gone; taken > 2<<20 { // what was read, and the size of buffers
		t.Errorf("%d bytes were read", taken)
	}
	if n, err := res.Body.Read(make([]byte, 1)); n != 0 || err == nil || err == io.EOF {
		t.Errorf("a read after Close: %d, %v", n, err)
	}
}

// deflated returns s in the deflate coding, with or without the zlib format around it.
func deflated(s string, around bool) string {
	var b bytes.Buffer
	var z io.WriteCloser = zlib.NewWriter(&b)
	if !around {
		z, _ = flate.NewWriter(&b, flate.BestCompression) // fails only for an invalid level
	}
	io.WriteString(z, s)
	z.Close()
	return b.String()
}

// chunked returns an answer without its last chunk.
func chunked(coding, body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: %s\r\n\r\n%x\r\n%s\r\n", coding, len(body), body)
}

func zipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	z.Close()
	return b.String()
}

// TestCompressed is case 155: one layer of coding, and no decompression bomb.
func TestCompressed(t *testing.T) {
	packed := zipped(alphabet)
	for _, tc := range []struct {
		name, answer, want string
		kind               fetch.ErrorKind
	}{
		{"gzip", document(packed, "Content-Encoding: gzip"), alphabet, fetch.ErrOther},
		{"x-gzip", document(packed, "Content-Encoding: X-GZIP"), alphabet, fetch.ErrOther},
		{"none told", document(alphabet, "Content-Encoding: none"), alphabet, fetch.ErrOther},
		{"identity", document(alphabet, "Content-Encoding: identity"), alphabet, fetch.ErrOther},
		{"deflate", document(deflated(alphabet, true), "Content-Encoding: deflate"), alphabet, fetch.ErrOther},
		{"deflate without zlib", document(deflated(alphabet, false), "Content-Encoding: Deflate"), alphabet, fetch.ErrOther},
		{"deflate, cut", document(deflated(alphabet, true)[:10], "Content-Encoding: deflate"), "", fetch.ErrTruncated},
		{"deflate, not at all", document("\xff\xff\xff\xff", "Content-Encoding: deflate"), "", fetch.ErrProtocol},
		{"none", document(alphabet), alphabet, fetch.ErrOther},
		{"twice", document(zipped(packed), "Content-Encoding: gzip, gzip"), "", fetch.ErrProtocol},
		{"twice, two fields", document(zipped(packed), "Content-Encoding: gzip", "Content-Encoding: gzip"), "", fetch.ErrProtocol},
		{"other", document(alphabet, "Content-Encoding: br"), "", fetch.ErrProtocol},
		{"not at all", document(alphabet, "Content-Encoding: gzip"), "", fetch.ErrProtocol},
		{"empty", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + cut, "", fetch.ErrTruncated},
		{"no body", document("", "Content-Encoding: gzip"), "", fetch.ErrOther},
		{"no body, chunks", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", fetch.ErrOther},
		{"no body, chunks, deflate", "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "", fetch.ErrOther},
		{"no chunks", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + cut, "", fetch.ErrTruncated},
		{"no body, cut", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 20\r\n\r\n" + cut, "", fetch.ErrTruncated},
		{"one byte", document("\x1f", "Content-Encoding: gzip"), "", fetch.ErrTruncated},
		{"one byte, deflate", document("\x78", "Content-Encoding: deflate"), "", fetch.ErrTruncated},
		{"no body, 204", "HTTP/1.1 204 No Content\r\nContent-Encoding: gzip\r\n\r\n", "", fetch.ErrOther},
		{"more behind", document(packed+alphabet, "Content-Encoding: gzip"), alphabet, fetch.ErrProtocol},
		{"a byte behind", document(packed+"x", "Content-Encoding: gzip"), alphabet, fetch.ErrProtocol},
		{"two members", document(zipped(alphabet[:9])+zipped(alphabet[9:])+zipped(""), "Content-Encoding: gzip"), alphabet, fetch.ErrOther},
		{"empty members of the list", document(packed, "Content-Encoding: , gzip", "Content-Encoding: "), alphabet, fetch.ErrOther},
		{"empty list", document(alphabet, "Content-Encoding: ,"), alphabet, fetch.ErrOther},
		{"deflate, more behind", document(deflated(alphabet, true)+"x", "Content-Encoding: deflate"), alphabet, fetch.ErrProtocol},
		{"deflate without zlib, more behind", document(deflated(alphabet, false)+"x", "Content-Encoding: deflate"), alphabet, fetch.ErrProtocol},
		{"last chunk missing", chunked("gzip", packed) + cut, alphabet, fetch.ErrTruncated},
		{"deflate, last chunk missing", chunked("deflate", deflated(alphabet, true)) + cut, alphabet, fetch.ErrTruncated},
		{"deflate without zlib, last chunk missing", chunked("deflate", deflated(alphabet, false)) + cut, alphabet, fetch.ErrTruncated},
		{"deflate, more announced", "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 1000\r\n\r\n" + deflated(alphabet, true) + cut, alphabet, fetch.ErrTruncated},
		{"deflate in chunks", chunked("deflate", deflated(alphabet, true)) + "0\r\n\r\n", alphabet, fetch.ErrOther},
		{"cut inside", document(packed[:len(packed)-9], "Content-Encoding: gzip"), "", fetch.ErrTruncated},
		{"bad sum", document(packed[:len(packed)-8]+"\x00\x00\x00\x00"+packed[len(packed)-4:], "Content-Encoding: gzip"), "", fetch.ErrProtocol},
		{"bomb", document(zipped(strings.Repeat("\x00", 20<<20)), "Content-Encoding: gzip"), "", fetch.ErrTooLarge},
	} {
		w := newNetwork(t, map[string]server{"a.example:80": says(tc.answer)})
		f := w.fetcher()
		body, res, err := get(t, f, "http://a.example/", &Options{Compressed: true})
		if tc.kind != fetch.ErrOther {
			if fetch.KindOf(err) != tc.kind || len(body) > 2<<20 || errors.Is(err, ErrCoding) != (tc.kind == fetch.ErrProtocol) {
				t.Errorf("%s: %d bytes, %v", tc.name, len(body), err)
			}
		} else if err != nil || body != tc.want {
			t.Errorf("%s: %q, %v", tc.name, body, err)
		} else if res.Size != -1 && !strings.HasPrefix(tc.name, "no") {
			t.Errorf("%s: size %d", tc.name, res.Size)
		}
		if tc.name != "gzip" {
			continue
		}
		// Without a request for a coding, the bytes are not changed.
		if body, _, err := get(t, f, "http://a.example/", nil); err != nil || body != packed {
			t.Errorf("%s, not asked for: %q, %v", tc.name, body, err)
		}
	}
}

// TestModified has times as servers write them.
func TestModified(t *testing.T) {
	want := time.Date(2014, 3, 6, 23, 32, 49, 0, time.UTC)
	for text, ok := range map[string]bool{
		"Thu, 06 Mar 2014 23:32:49 GMT": true, "Thursday, 06-Mar-14 23:32:49 GMT": true, "Thu Mar  6 23:32:49 2014": true, "Thu, 6 Mar 2014 23:32:49 GMT": true,
		"Thu, 06 Mar 2014 23:32:49 UTC": true, "Thu, 06 Mar 2014 23:32:49 +0000": true, "Fri, 07 Mar 2014 00:32:49 CET": true, "0": false, "-1": false, "": false, "yesterday": false,
	} {
		w := newNetwork(t, map[string]server{"a.example:80": says(document("x", "Last-Modified: "+text))})
		_, res, err := get(t, w.fetcher(), "http://a.example/", nil)
		if err != nil || res.ModTime.Equal(want) != ok || !ok && !res.ModTime.IsZero() {
			t.Errorf("%q: %v, %v", text, res.ModTime, err)
		}
	}
}

func TestAttributes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := "HTTP/1.1 200 Fine\r\nServer: x\r\ncontent-type: Text/HTML; Charset=UTF-8\r\nX-Folded: a\r\n  b\r\nLast-Modified: Tue, 20 Dec 1994 17:38:00 GMT\r\nContent-Length: 3\r\nserver:  y \r\n\r\n"
		w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
			if strings.HasPrefix(v.head, "HEAD ") {
				return answer
			}
			return answer + "abc"
		}})
		w.peers = map[string]string{"a.example:80": "192.0.2.1:80"}
		f := w.fetcher()
		check := func(a fetch.Attributes) {
			t.Helper()
			if a.Size != 3 || a.MediaType != "text/html" || a.Charset != "utf-8" || a.Guessed || !a.ModTime.Equal(time.Date(1994, 12, 20, 17, 38, 0, 0, time.UTC)) {
				t.Errorf("%+v", a)
			}
			want := []fetch.Field{{Name: "Server", Value: "x"}, {Name: "content-type", Value: "Text/HTML; Charset=UTF-8"}, {Name: "X-Folded", Value: "a b"},
				{Name: "Last-Modified", Value: "Tue, 20 Dec 1994 17:38:00 GMT"}, {Name: "Content-Length", Value: "3"}, {Name: "server", Value: "y"}}
			if fmt.Sprint(a.Header) != fmt.Sprint(want) {
				t.Errorf("%q", a.Header)
			}
		}
		a, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, "http://a.example/")})
		if err != nil {
			t.Fatal(err)
		}
		check(*a)
		body, res, err := get(t, f, "http://a.example/", nil)
		if err != nil || body != "abc" || res.Kind != fetch.KindDocument || res.Peer.String() != "192.0.2.1:80" {
			t.Fatal(body, res, err)
		}
		check(res.Attributes)
		info := res.Info.(*Info)
		if info.Status != "200 Fine" || info.StatusCode != 200 || info.Proto != "HTTP/1.1" || string(info.Head) != answer || info.Header.Get("Server") != "x" {
			t.Errorf("%+v", info)
		}
		body, res, err = get(t, f, "http://a.example/", &Options{Method: "HEAD"})
		if err != nil || body != "" || res.Size != 3 || string(res.Info.(*Info).Head) != answer {
			t.Errorf("HEAD: %q, %+v, %v", body, res, err)
		}
		if len(w.dials) != 1 {
			t.Errorf("%d connections", len(w.dials))
		}
	})
}

func TestIfModifiedSince(t *testing.T) {
	when := time.Date(1994, 12, 20, 17, 38, 0, 0, time.FixedZone("", 3600))
	w := newNetwork(t, map[string]server{"a.example:80": func(v *received) string {
		if v.field("If-Modified-Since") == "Tue, 20 Dec 1994 16:38:00 GMT" {
			return "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"
		}
		return status("304 Not Modified", "")
	}})
	body, res, err := get(t, w.fetcher(), "http://a.example/", &Options{IfModifiedSince: when})
	if err != nil || body != "" || res.Info.(*Info).StatusCode != 304 {
		t.Errorf("%q, %v", body, err)
	}
	if _, _, err := get(t, w.fetcher(), "http://a.example/", nil); err == nil {
		t.Error("a 304 to an unconditional request was accepted")
	}
}

func TestStatus(t *testing.T) {
	for code, kind := range map[int]fetch.ErrorKind{
		400: fetch.ErrProtocol, 414: fetch.ErrBadURL, 401: fetch.ErrUnauthenticated, 403: fetch.ErrPermission, 404: fetch.ErrNotFound, 405: fetch.ErrUnsupported, 407: fetch.ErrUnauthenticated,
		408: fetch.ErrBusy, 410: fetch.ErrNotFound, 413: fetch.ErrTooLarge, 416: fetch.ErrBadRange, 418: fetch.ErrOther, 429: fetch.ErrBusy, 451: fetch.ErrPermission,
		500: fetch.ErrBusy, 501: fetch.ErrUnsupported, 503: fetch.ErrBusy, 504: fetch.ErrBusy, 302: fetch.ErrProtocol, 300: fetch.ErrProtocol, 304: fetch.ErrProtocol,
	} {
		w := newNetwork(t, map[string]server{"a.example:80": says(status(fmt.Sprint(code, " So \x1b[2J it is"), "page"))})
		_, _, err := get(t, w.fetcher(), "http://me:pw@a.example/", nil)
		var e *fetch.Error
		if !errors.As(err, &e) || e.Kind != kind {
			t.Errorf("%d: %v", code, err)
			continue
		}
		if code != 302 && (e.Code != code || e.Reply != "So \x1b[2J it is" || e.URL != "http://me:***@a.example/" || e.Op != "GET") || strings.Contains(e.Error(), "\x1b") {
			t.Errorf("%d: %#v", code, e)
		}
		body, res, err := get(t, w.fetcher(), "http://a.example/", &Options{AnyStatus: true})
		if code == 302 || code == 304 {
			continue
		}
		if err != nil || body != "page" || res.Info.(*Info).StatusCode != code {
			t.Errorf("%d as any status: %q, %v", code, body, err)
		}
	}
}

func TestOtherLocators(t *testing.T) {
	for _, l := range []locator.Locator{&locator.FTP{}, &locator.Opaque{Name: "http"}, nil} {
		if _, err := new(Fetcher).Fetch(t.Context(), &fetch.Request{Locator: l}); fetch.KindOf(err) != fetch.ErrUnsupported {
			t.Errorf("%T: %v", l, err)
		}
	}
}
