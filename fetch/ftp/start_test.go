package ftp

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// numbered returns n bytes of which no two parts are the same.
func numbered(n int) string {
	var text strings.Builder
	for i := 0; text.Len() < n; i++ {
		fmt.Fprintf(&text, "%07d\n", i)
	}
	return text.String()[:n]
}

// TestStart fetches parts from servers that reply to REST with 350 and ignore it, and from those that
// obey. From both the part is right, or it is an error and nothing is returned.
func TestStart(t *testing.T) {
	const size = 100_000
	whole := numbered(size)
	stated := func(n int) string { return fmt.Sprintf("150 Opening data connection (%d bytes).", n) }
	for name, tc := range map[string]struct {
		offset, length int64
		first          string // reply to RETR, "" for the number of bytes that follow
		sizes          string // "no" refuses SIZE
		transfers      int    // from a server that obeys
		refused        bool   // from one that ignores REST
	}{
		"rest":                       {offset: 60_000, transfers: 1},
		"rest, size of the file":     {offset: 60_000, first: stated(size), transfers: 1},
		"rest, no size":              {offset: 60_000, first: "150 ok", sizes: "no", transfers: 2},
		"rest, size only in 150":     {offset: 60_000, first: stated(size), sizes: "no", transfers: 2},
		"large rest":                 {offset: 30_000, first: "150 ok", transfers: 3},
		"large rest, no size":        {offset: 30_000, first: "150 ok", sizes: "no", transfers: 3},
		"large rest stated":          {offset: 30_000, transfers: 1},
		"last bytes":                 {offset: -100, transfers: 1, refused: true},
		"nearly all, and it repeats": {offset: 1, first: stated(size), transfers: 2},
		"some of the last bytes":     {offset: -100, length: 50, first: "150 ok", transfers: 1, refused: true},
		"some of the last few bytes": {offset: -40, length: 10, first: "150 ok", transfers: 1, refused: true},
		"all of the last bytes":      {offset: -100, length: 100, first: "150 ok", transfers: 1, refused: true},
		"middle":                     {offset: 100, length: 100, transfers: 1},
		"middle, nothing stated":     {offset: 100, length: 100, first: "150 ok", transfers: 2},
		"middle, size of the file":   {offset: 100, length: 100, first: stated(size), transfers: 2},
		"middle, near the end":       {offset: size - 10_000, length: 100, first: "150 ok", transfers: 1, refused: true},
		"middle, no size":            {offset: 100, length: 100, first: "150 ok", sizes: "no", transfers: 2},
		"middle, as Pure-FTPd":       {offset: 50_000, length: 100, first: "150-Accepted\n150 48.8 kbytes to download", transfers: 1},
		"middle, as Pure-FTPd, all":  {offset: 50_000, length: 100, first: "150-Accepted\n150 97.7 kbytes to download", transfers: 2},
		"near the beginning, so":     {offset: 50, length: 100, first: "150-Accepted\n150 97.6 kbytes to download", transfers: 2},
		"beginning, nothing stated":  {offset: 0, length: 100, first: "150 ok", transfers: 1},
	} {
		for _, ignores := range []bool{false, true} {
			for how, get := range map[string]func(*testing.T, io.Reader) (string, error){
				"read":   func(_ *testing.T, body io.Reader) (string, error) { b, err := io.ReadAll(body); return string(b), err },
				"splice": splice,
			} {
				synctest.Test(t, func(t *testing.T) {
					srv := start(t, func(s *ftptest.Server) { s.InMemory, s.IgnoreREST = true, ignores })
					if err := srv.Put("doc", []byte(whole)); err != nil {
						t.Fatal(err)
					}
					if tc.first != "" && (!ignores || !strings.Contains(tc.first, "48.8")) { // it would be a lie
						srv.On("RETR", 0, testserver.Reply(tc.first))
					}
					if tc.sizes == "no" {
						srv.On("SIZE", 0, testserver.Reply("502 no"))
					}
					f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
					defer f.Close()
					res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/doc"), Offset: tc.offset, Length: tc.length})
					if err != nil {
						t.Fatalf("%s, ignores REST %v: %v", name, ignores, err)
					}
					got, err := get(t, res.Body)
					res.Close()
					part := whole[(tc.offset+size)%size:]
					if tc.length > 0 {
						part = part[:tc.length]
					}
					if refused := ignores && tc.refused; refused && (got != "" || !errors.Is(err, fetch.ErrBadRange)) || !refused && (got != part || err != nil) {
						t.Errorf("%s, ignores REST %v, %s: %d bytes, right %v, %v", name, ignores, how, len(got), got == part, err)
					}
					if n := count(sent(srv), "RETR doc"); !ignores && n != tc.transfers {
						t.Errorf("%s, %s: %d transfers, want %d", name, how, n, tc.transfers)
					}
					srv.ResetFaults()
					if got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/x.txt")}); err != nil || got != "top\n" {
						t.Errorf("%s, ignores REST %v, %s: afterwards %q, %v", name, ignores, how, got, err)
					}
					if n := count(sent(srv), "USER anonymous"); n != 1 {
						t.Errorf("%s, ignores REST %v, %s: %d logins", name, ignores, how, n)
					}
				})
			}
		}
	}
}

// TestGrown fetches the rest of files that are larger than SIZE says, before and after the transfer.
func TestGrown(t *testing.T) {
	for name, tc := range map[string]struct {
		data        string // what the server sends after REST 4
		first, then string // replies to SIZE
		length      int64
		kind        fetch.ErrorKind
	}{
		"as large as stated":                {"4567", "213 8", "213 99", 0, fetch.ErrOther},
		"grown":                             {"456789", "213 8", "213 10", 0, fetch.ErrOther},
		"grown further":                     {"456789", "213 8", "213 11", 0, fetch.ErrOther},
		"larger than it is":                 {"456789", "213 8", "213 9", 0, fetch.ErrBadRange},
		"not grown":                         {"456789", "213 8", "213 8", 0, fetch.ErrBadRange},
		"no size any more":                  {"456789", "213 8", "502 no", 0, fetch.ErrBadRange},
		"from the beginning":                {"01234567", "213 8", "213 8", 0, fetch.ErrBadRange},
		"from the beginning, grown":         {"0123456789", "213 8", "213 10", 0, fetch.ErrBadRange},
		"from the beginning, grown further": {"0123456789", "213 8", "213 99", 0, fetch.ErrBadRange},
		"range up to the old end":           {"456789", "213 8", "213 10", 4, fetch.ErrOther},
		"range beyond the old end":          {"456789", "213 8", "213 10", 5, fetch.ErrOther},
		"range beyond the end":              {"456789", "213 8", "213 8", 5, fetch.ErrBadRange},
		"grown by much":                     {"4567" + strings.Repeat("x", 2*drainMax), "213 8", "213 9999999", 4, fetch.ErrBadRange},
	} {
		synctest.Test(t, func(t *testing.T) {
			srv := start(t, func(s *ftptest.Server) { s.InMemory = true })
			srv.On("SIZE", 1, testserver.Reply(tc.first))
			srv.On("SIZE", 2, testserver.Reply(tc.then))
			srv.On("RETR", 1, testserver.Data(tc.data))
			defer srv.ResetFaults()
			f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
			defer f.Close()
			_, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/x.txt"), Offset: 4, Length: tc.length})
			if fetch.KindOf(err) != tc.kind || (err == nil) != (tc.kind == fetch.ErrOther) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestReplaced fetches the rest of a file whose time is compared before and after the transfer.
func TestReplaced(t *testing.T) {
	const old = "213 19941201120000"
	for name, tc := range map[string]struct {
		offset int64
		then   []string // replies to the MDTM after the transfer
		ok     bool
	}{
		"the same file":              {4, []string{old}, true},
		"another one":                {4, []string{"213 19941201120001"}, false},
		"none any more":              {4, []string{"550 gone"}, false},
		"another connection":         {4, []string{"421 bye", old}, true},
		"another one there":          {4, []string{"421 bye", "213 19941201120001"}, false},
		"no connection any more":     {4, []string{"421 bye", "421 bye"}, false},
		"from the start: one is all": {0, nil, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			srv := start(t, func(s *ftptest.Server) { s.InMemory = true })
			if err := srv.Put("doc", []byte("01234567")); err != nil {
				t.Fatal(err)
			}
			srv.On("MDTM", 1, testserver.Reply(old))
			for i, reply := range tc.then {
				srv.On("MDTM", 2+i, testserver.Reply(reply))
			}
			f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
			defer f.Close()
			_, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/doc"), Offset: tc.offset, Options: &Options{ModTime: true}})
			if (err == nil) != tc.ok || !tc.ok && !errors.Is(err, fetch.ErrTruncated) && name != "no connection any more" {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestLead fetches the bytes before an offset, too. They are in Resource.Lead only, and not counted.
func TestLead(t *testing.T) {
	whole := numbered(200_000)
	for name, tc := range map[string]struct {
		req  fetch.Request
		lead string
		body string
		kind fetch.ErrorKind
	}{
		"rest":           {fetch.Request{Offset: 1000, Lead: 100}, whole[900:1000], whole[1000:], fetch.ErrOther},
		"middle":         {fetch.Request{Offset: 1000, Lead: 100, Length: 50}, whole[900:1000], whole[1000:1050], fetch.ErrOther},
		"all before":     {fetch.Request{Offset: 1000, Lead: 1000, Length: 50}, whole[:1000], whole[1000:1050], fetch.ErrOther},
		"the end":        {fetch.Request{Offset: 200_000, Lead: 100}, "", "", fetch.ErrOther},
		"beyond the end": {fetch.Request{Offset: 200_001, Lead: 100}, "", "", fetch.ErrBadRange},
		"too many":       {fetch.Request{Offset: 1000, Lead: 1001}, "", "", fetch.ErrBadRange},
		"from the end":   {fetch.Request{Offset: -10, Lead: 1}, "", "", fetch.ErrBadRange},
	} {
		for _, exact := range []bool{false, true} { // without SIZE
			synctest.Test(t, func(t *testing.T) {
				srv := start(t, func(s *ftptest.Server) { s.InMemory = true })
				if err := srv.Put("doc", []byte(whole)); err != nil {
					t.Fatal(err)
				}
				counted := 0
				ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Body: func(n int64) { counted += int(n) }})
				f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}, Exact: exact}
				defer f.Close()
				req := tc.req
				req.Locator = parse(t, srv.URL+"/doc")
				res, err := f.Fetch(ctx, &req)
				if err == nil && exact && name == "the end" { // which is not known
					res.Close()
					return
				}
				if fetch.KindOf(err) != tc.kind || (err == nil) != (tc.kind == fetch.ErrOther) {
					t.Fatalf("%s: %v", name, err)
				}
				if err != nil {
					return
				}
				defer res.Close()
				body, err := io.ReadAll(res.Body)
				if err != nil || string(body) != tc.body || string(res.Lead) != tc.lead || counted != len(tc.body) {
					t.Errorf("%s: lead of %d bytes, body of %d, %d counted, %v", name, len(res.Lead), len(body), counted, err)
				}
			})
		}
	}
}

// TestRefusedAtOffset fetches a whole file after a part of another one was refused. The server keeps
// the offset, and SIZE does not show it.
func TestRefusedAtOffset(t *testing.T) {
	for name, tc := range map[string]struct {
		stage string
		reply string
		users int
	}{
		"RETR is refused": {"RETR", "550 no", 2},
		"REST is refused": {"REST", "502 no", 1},
	} {
		srv := start(t, func(s *ftptest.Server) { s.Hide = []string{"SIZE"} })
		srv.On(tc.stage, 1, testserver.Reply(tc.reply))
		f := &Fetcher{}
		if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt"), Offset: 3}); err == nil {
			t.Errorf("%s: success", name)
		}
		if got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")}); err != nil || got != "line one\nline two\n" {
			t.Errorf("%s: afterwards %q, %v", name, got, err)
		}
		f.Close()
		if n := count(sent(srv), "USER anonymous"); n != tc.users {
			t.Errorf("%s: %d sessions, want %d", name, n, tc.users)
		}
	}
}
