package ftp

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// mib returns a document of n MiB of which no two parts are the same.
func mib(n int) string { return numbered(n << 20) }

// TestProvenOnce fetches parts of several files. Only the first of a session is compared with the
// beginning of its file, and none after a transfer whose length has shown that the server obeys.
func TestProvenOnce(t *testing.T) {
	whole := mib(3)
	for name, tc := range map[string]struct {
		first     fetch.Request // before three parts
		length    int64
		transfers int
	}{
		"parts":                      {length: 1000, transfers: 4},
		"parts of 1 MiB":             {length: heldMax, transfers: 4},
		"large parts":                {length: heldMax + 1, transfers: 5},
		"the rest, and parts":        {first: fetch.Request{Offset: 3<<20 - 1000}, length: 1000, transfers: 4},
		"the last bytes, and parts":  {first: fetch.Request{Offset: -1}, length: 1000, transfers: 4},
		"the beginning, and parts":   {first: fetch.Request{Length: 1000}, length: 1000, transfers: 5},
		"with the bytes before them": {first: fetch.Request{Offset: 1 << 20, Lead: 4096, Length: 1000}, length: 1000, transfers: 5}, // only the caller compares
	} {
		synctest.Test(t, func(t *testing.T) {
			srv := start(t, func(s *ftptest.Server) { s.InMemory = true })
			for _, doc := range []string{"doc", "other"} {
				if err := srv.Put(doc, []byte(whole)); err != nil {
					t.Fatal(err)
				}
			}
			srv.On("RETR", 0, testserver.Reply("150 ok"))
			f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
			defer f.Close()
			if req := tc.first; req != (fetch.Request{}) {
				req.Locator = parse(t, srv.URL+"/doc")
				if _, err := read(t.Context(), f, &req); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			for i, doc := range []string{"/doc", "/doc", "/other"} {
				at := int64(1+i) << 19
				got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+doc), Offset: at, Length: tc.length})
				if err != nil || got != whole[at:at+tc.length] {
					t.Errorf("%s: %d bytes from %d, %v", name, len(got), at, err)
				}
			}
			all := sent(srv)
			if n := count(all, "RETR doc") + count(all, "RETR other"); n != tc.transfers {
				t.Errorf("%s: %d transfers, want %d", name, n, tc.transfers)
			}
			if n := count(all, "USER anonymous"); n != 1 {
				t.Errorf("%s: %d sessions", name, n)
			}
			srv.IgnoreREST = true // in another session it is found
			other := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
			defer other.Close()
			if got, err := read(t.Context(), other, &fetch.Request{Locator: parse(t, srv.URL+"/doc"), Offset: 1000, Length: tc.length}); err != nil || got != whole[1000:1000+tc.length] {
				t.Errorf("%s, another session: %d bytes, %v", name, len(got), err)
			}
		})
	}
}

// TestUnproven fetches parts that begin like their files. Up to a limit the file is read from its
// beginning, and beyond it the part is an error, whether the server obeys or not.
func TestUnproven(t *testing.T) {
	same := strings.Repeat("\x00", 6<<20)
	late := same[:beginningMax] + mib(2)
	for name, tc := range map[string]struct {
		whole    string
		offset   int64
		length   int64
		refused  bool // also from a server that obeys
		ignoring bool // only from one that ignores REST
	}{
		"zeros":                    {whole: same, offset: 1 << 20, length: 1000},
		"up to the limit":          {whole: same, offset: beginningMax, length: 1000},
		"beyond it":                {whole: same, offset: beginningMax + 1, length: 1000, refused: true},
		"zeros, large":             {whole: same, offset: 1 << 20, length: 2 << 20},
		"zeros, the rest":          {whole: same, offset: 1 << 20},
		"the rest beyond it":       {whole: same, offset: beginningMax + 1, refused: true},
		"zeros, then others":       {whole: late, offset: beginningMax - 500, length: 1000},
		"others beyond the limit":  {whole: late, offset: beginningMax + 1, length: 1000, ignoring: true},
		"the rest, with others":    {whole: late, offset: beginningMax - 500},
		"more than the beginning":  {whole: "ab" + same, offset: 1, length: 1000},
		"overlaps the beginning":   {whole: same, offset: 10, length: 1000},
		"more than the file has":   {whole: same[:1<<20], offset: 1000, length: 9 << 20},
		"different after a little": {whole: same[:10000] + mib(1) + same[:1<<20], offset: 10000 + 1<<20, length: 20000},
	} {
		for _, ignores := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				srv := start(t, func(s *ftptest.Server) { s.InMemory, s.IgnoreREST = true, ignores })
				if err := srv.Put("doc", []byte(tc.whole)); err != nil {
					t.Fatal(err)
				}
				srv.On("RETR", 0, testserver.Reply("150 ok"))
				f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
				defer f.Close()
				counted := 0
				ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Body: func(n int64) { counted += int(n) }})
				got, err := read(ctx, f, &fetch.Request{Locator: parse(t, srv.URL+"/doc"), Offset: tc.offset, Length: tc.length})
				want := tc.whole[tc.offset:]
				if tc.length > 0 {
					want = want[:min(int(tc.length), len(want))]
				}
				switch {
				case tc.refused || tc.ignoring && ignores:
					if got != "" || !errors.Is(err, fetch.ErrBadRange) || !strings.Contains(err.Error(), "REST") {
						t.Errorf("%s, ignores REST %v: %d bytes, %v", name, ignores, len(got), err)
					}
				case err != nil || got != want || counted != len(want):
					t.Errorf("%s, ignores REST %v: %d bytes, %d counted, %v", name, ignores, len(got), counted, err)
				}
			})
		}
	}
}

// TestProveSessions fetches a part from servers that do not go on after a transfer that was ended
// early, and from one that does not forget its offset. Another session takes the place of the first.
func TestProveSessions(t *testing.T) {
	whole := mib(2)
	for name, tc := range map[string]struct {
		on       map[string]string
		keeps    bool
		ignores  bool
		sessions int
		takes    time.Duration
	}{
		"goes on":                     {sessions: 1},
		"goes on after a failure":     {on: map[string]string{"RETR": "426 ended\r\n"}, sessions: 1},
		"keeps the offset":            {keeps: true, sessions: 1},
		"never replies":               {on: map[string]string{"RETR": "-"}, sessions: 2, takes: abortTime},
		"never replies, ignores REST": {on: map[string]string{"RETR": "-"}, ignores: true, sessions: 2, takes: abortTime},
		"hangs up":                    {on: map[string]string{"RETR": "421 bye\r\n"}, sessions: 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := &hostile{data: whole, on: tc.on, restarts: !tc.ignores, keeps: tc.keeps}
			h.serve(t)
			f := &Fetcher{Env: h.env()}
			defer f.Close()
			begin := time.Now()
			res, err := f.Fetch(t.Context(), &fetch.Request{Locator: at("/x"), Offset: 1 << 20, Length: 5000})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := io.ReadAll(res.Body)
			if err != nil || string(got) != whole[1<<20:1<<20+5000] {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
			if took := time.Since(begin); took != tc.takes {
				t.Errorf("%s: took %v", name, took)
			}
			if n := count(h.sent(), "USER anonymous\r\n"); n != tc.sessions {
				t.Errorf("%s: %d sessions, want %d", name, n, tc.sessions)
			}
			res.Close()
		})
	}
}

// TestProveWithoutClearing fetches a part from a server that refuses REST 0.
func TestProveWithoutClearing(t *testing.T) {
	whole := mib(2)
	srv := start(t)
	if err := srv.Put("doc", []byte(whole)); err != nil {
		t.Fatal(err)
	}
	srv.On("RETR", 0, testserver.Reply("150 ok"))
	srv.On("REST", 2, testserver.Reply("501 no"))
	f := &Fetcher{}
	defer f.Close()
	got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/doc"), Offset: 1000, Length: 1000})
	if all := sent(srv); err != nil || got != whole[1000:2000] || count(all, "EPSV") != 2 || count(all, "REST 0") != 1 {
		t.Errorf("%d bytes, %v; sent %q", len(got), err, all)
	}
}

// TestProveRefused fetches a part from a server that refuses REST: no transfer is started.
func TestProveRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hostile{data: mib(1), on: map[string]string{"REST": "502 what\r\n"}}
		h.serve(t)
		f := &Fetcher{Env: h.env()}
		defer f.Close()
		_, err := read(t.Context(), f, &fetch.Request{Locator: at("/x"), Offset: 1000, Length: 1000})
		e, ok := errors.AsType[*fetch.Error](err)
		if !ok || e.Op != "REST" || e.Code != 502 || count(h.sent(), "RETR x\r\n") != 0 {
			t.Errorf("%v, sent %q", err, h.sent())
		}
	})
}

// TestProveRaw fetches a part with raw commands, which are sent once and in order.
func TestProveRaw(t *testing.T) {
	for reply, lost := range map[string]bool{"": false, "226 it ignores REST\r\n": false, "-": true} {
		for _, length := range []int64{1000, heldMax + 1, 0} {
			synctest.Test(t, func(t *testing.T) {
				whole := mib(2)
				h := &hostile{data: whole, on: map[string]string{"RETR": reply, "SITE": "200 ok\r\n", "NOOP": "200 ok\r\n", "DELE": "250 ok\r\n"}, restarts: !strings.Contains(reply, "ignores")}
				h.serve(t)
				f := &Fetcher{Env: h.env()}
				defer f.Close()
				options := &Options{Quote: []string{"SITE a"}, PreTransfer: []string{"NOOP"}, PostQuote: []string{"DELE x"}}
				got, err := read(t.Context(), f, &fetch.Request{Locator: at("/x"), Offset: 1000, Length: length, Options: options})
				want := whole[1000:]
				if length > 0 {
					want = want[:length]
				}
				if lost && (!errors.Is(err, fetch.ErrBadRange) || got != "") || !lost && (err != nil || got != want) {
					t.Errorf("%q, %d: %d bytes, %v", reply, length, len(got), err)
				}
				all := h.sent()
				if count(all, "SITE a\r\n") != 1 || count(all, "NOOP\r\n") != 1 {
					t.Errorf("%q, %d: sent %q", reply, length, all)
				}
				deleted := slices.Index(all, "DELE x\r\n")
				if length > 0 && deleted >= 0 || length == 0 && !lost && (count(all, "DELE x\r\n") != 1 || slices.Contains(all[deleted:], "RETR x\r\n")) {
					t.Errorf("%q, %d: sent %q", reply, length, all)
				}
			})
		}
	}
}

// TestProveChanged fetches a part of a file that another one replaces between the transfers, and one
// whose transfers fail.
func TestProveChanged(t *testing.T) {
	whole := mib(3)
	for name, tc := range map[string]struct {
		second, third testserver.Fault // of the transfers
		length        int64
		kind          fetch.ErrorKind
	}{
		"shorter":          {second: testserver.Data(whole[1<<20 : 1<<20+500]), length: 1000, kind: fetch.ErrTruncated},
		"another one":      {third: testserver.Data(strings.Repeat("x", 1<<20)), length: 2<<20 - 20_000, kind: fetch.ErrTruncated},
		"shorter at third": {third: testserver.Data("x"), length: 2<<20 - 20_000, kind: fetch.ErrTruncated},
		"refused":          {second: testserver.Reply("550 gone"), length: 1000, kind: fetch.ErrNotFound},
		"refused at third": {third: testserver.Reply("550 gone"), length: 2<<20 - 20_000, kind: fetch.ErrNotFound},
		"cut":              {second: testserver.Reset(0), length: 1000, kind: fetch.ErrTruncated},
	} {
		synctest.Test(t, func(t *testing.T) {
			srv := start(t, func(s *ftptest.Server) { s.InMemory = true })
			if err := srv.Put("doc", []byte(whole)); err != nil {
				t.Fatal(err)
			}
			for n, fault := range []testserver.Fault{nil, tc.second, tc.third} {
				srv.On("RETR", n+1, testserver.Reply("150 ok"))
				if fault != nil {
					srv.On("RETR", n+1, fault.(ftptest.Fault))
				}
			}
			f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
			defer f.Close()
			got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/doc"), Offset: 1 << 20, Length: tc.length})
			if got != "" || err == nil || fetch.KindOf(err) != tc.kind {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
			srv.ResetFaults()
			if got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/x.txt")}); err != nil || got != "top\n" {
				t.Errorf("%s: afterwards %q, %v", name, got, err)
			}
		})
	}
}

// TestProveReplaced fetches the rest of a file that is replaced by one of the same size, also from a
// server that ignores REST.
func TestProveReplaced(t *testing.T) {
	for _, ignores := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			srv := start(t, func(s *ftptest.Server) {
				s.InMemory, s.IgnoreREST, s.Replies = true, ignores, map[string]string{"150": "150 ok"}
			})
			if err := srv.Put("doc", []byte(mib(1))); err != nil {
				t.Fatal(err)
			}
			srv.On("MDTM", 1, testserver.Reply("213 19950101000000"))
			f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
			defer f.Close()
			if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/doc"), Offset: 1000, Options: &Options{ModTime: true}}); !errors.Is(err, ErrReplaced) {
				t.Errorf("ignores REST %v: %v", ignores, err)
			}
		})
	}
}

// TestProveCanceled ends the context while a part is compared.
func TestProveCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hostile{data: mib(1), on: map[string]string{"RETR": "-"}, restarts: true}
		h.serve(t)
		f := &Fetcher{Env: h.env()}
		defer f.Close()
		ctx, cancel := context.WithTimeout(t.Context(), abortTime/2)
		defer cancel()
		if _, err := read(ctx, f, &fetch.Request{Locator: at("/x"), Offset: 1000, Length: 1000}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// TestProveText fetches parts of a text in type A, in which they are counted as they are transferred.
func TestProveText(t *testing.T) {
	text := strings.Repeat("line\n", 10) + mib(1)
	net := strings.ReplaceAll(text, "\n", "\r\n")
	for _, ignores := range []bool{false, true} {
		for _, length := range []int64{0, 1000} {
			synctest.Test(t, func(t *testing.T) {
				srv := start(t, func(s *ftptest.Server) { s.InMemory, s.IgnoreREST = true, ignores })
				if err := srv.Put("doc", []byte(text)); err != nil {
					t.Fatal(err)
				}
				f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
				defer f.Close()
				got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/doc;type=a"), Offset: 600_000, Length: length})
				want := strings.ReplaceAll(net[600_000:], "\r\n", "\n")
				if length > 0 {
					want = want[:length]
				}
				if err != nil || got != want {
					t.Errorf("ignores REST %v: %d bytes, %v", ignores, len(got), err)
				}
			})
		}
	}
}

// TestEndedInProvenSession ends a transfer from an offset early. If the server is known to obey REST,
// the session is used again.
func TestEndedInProvenSession(t *testing.T) {
	whole := mib(3)
	srv := start(t)
	if err := srv.Put("doc", []byte(whole)); err != nil {
		t.Fatal(err)
	}
	srv.On("RETR", 0, testserver.Reply("150 ok"))
	f := &Fetcher{}
	defer f.Close()
	for _, from := range []int64{1 << 20, 1000, 2 << 20} {
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/doc"), Offset: from})
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 100)
		if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != whole[from:from+100] {
			t.Errorf("from %d: %q, %v", from, got, err)
		}
		res.Close()
	}
	if all := sent(srv); count(all, "USER anonymous") != 1 || count(all, "RETR doc") != 5 {
		t.Errorf("sent %q", all)
	}
	other := &Fetcher{}
	defer other.Close()
	res, err := other.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/doc"), Offset: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	if got, err := toFile(t, res.Body); err != nil || got != whole[1000:] {
		t.Errorf("to a file: %d bytes, %v", len(got), err)
	}
}
