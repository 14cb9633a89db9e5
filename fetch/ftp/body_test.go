package ftp

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// TestEndOfTransfer tests all ways in which a transfer can end. It succeeds only if the
// data has ended, the reply is 226 or 250, and at least the announced size was received.
func TestEndOfTransfer(t *testing.T) {
	const data = "0123456789"
	for name, tc := range map[string]struct {
		size, first, last string // replies to SIZE and RETR; "" means the valid one
		kind              fetch.ErrorKind
	}{
		"all well":              {"", "", "", fetch.ErrOther},
		"250":                   {"", "", "250 ok", fetch.ErrOther},
		"several lines":         {"", "150-a\r\n150 b", "226-a\r\n226 b", fetch.ErrOther},
		"125":                   {"", "125 already open", "", fetch.ErrOther},
		"no SIZE":               {"502 what", "", "", fetch.ErrOther},
		"announced":             {"502 what", "150 x (10 bytes)", "", fetch.ErrOther},
		"no preliminary reply":  {"", "226 done", "-", fetch.ErrOther},
		"short by SIZE":         {"213 11", "", "", fetch.ErrTruncated},
		"short by announcement": {"502 what", "150 x (11 bytes)", "", fetch.ErrTruncated},
		"grown since SIZE":      {"213 4", "", "", fetch.ErrOther},
		"grown since 150":       {"502 what", "150 x (9 bytes)", "", fetch.ErrOther},
		"was empty":             {"213 0", "", "", fetch.ErrOther},
		"said to be truncated":  {"", "", "226 Output truncated to 10000 matches", fetch.ErrTruncated},
		"truncated, on a line":  {"", "", "250-Options: -l\r\n250-TRUNCATED at 10\r\n250 Done", fetch.ErrTruncated},
		"truncated, early":      {"", "226 Output truncated", "-", fetch.ErrTruncated},
		"426":                   {"", "", "426 aborted", fetch.ErrTruncated},
		"451":                   {"", "", "451 disk", fetch.ErrTruncated},
		"550 at the end":        {"", "", "550 gone", fetch.ErrTruncated},
		"421 at the end":        {"", "", "421 bye", fetch.ErrTruncated},
		"150 twice":             {"", "", "150 again", fetch.ErrProtocol},
		"garbage at the end":    {"", "", "what", fetch.ErrProtocol},
		"silence at the end":    {"", "", "-", fetch.ErrTimeout},
		"3yz at the start":      {"", "350 what", "", fetch.ErrProtocol},
	} {
		synctest.Test(t, func(t *testing.T) {
			line := func(s string) string {
				if s != "" && s != "-" {
					s += "\r\n"
				}
				return s
			}
			h := &hostile{data: data, on: map[string]string{"RETR": line(tc.last)}, first: map[string]string{"RETR": line(tc.first)}}
			if tc.size != "" {
				h.on["SIZE"] = line(tc.size)
			}
			h.serve(t)
			f := &Fetcher{Env: h.env()}
			defer f.Close()
			got, err := read(t.Context(), f, &fetch.Request{Locator: at("/x")})
			if fetch.KindOf(err) != tc.kind || (err == nil) != (tc.kind == fetch.ErrOther) {
				t.Errorf("%s: %v", name, err)
			}
			if got != data && tc.first != "350 what" {
				t.Errorf("%s: %q", name, got)
			}
			var e *fetch.Error
			if errors.As(err, &e) && (e.Op != "RETR" || strings.HasPrefix(tc.last, "4") && e.Code == 0) {
				t.Errorf("%s: %+v", name, e)
			}
		})
	}
}

// TestTruncatedListing tests a reply of pure-ftpd that says that the listing is
// incomplete: the entries are delivered, then an error.
func TestTruncatedListing(t *testing.T) {
	for _, verb := range []string{"LIST", "NLST"} {
		for _, last := range []string{
			"226 Output truncated to 10000 matches\r\n",
			"226-Options: -a -l\r\n226 Output Truncated to 2 matches\r\n",
			"226-Output truncated to 2 matches\r\n226-Options: -l\r\n226 2 matches total\r\n",
			"250 output truncated\r\n",
		} {
			synctest.Test(t, func(t *testing.T) {
				h := &hostile{
					data: "-rw-r--r-- 1 u g 1 Jan 1 2001 one\r\n-rw-r--r-- 1 u g 1 Jan 1 2001 two\r\n",
					on:   map[string]string{verb: last},
				}
				if verb == "NLST" {
					h.data = "one\r\ntwo\r\n"
				}
				h.serve(t)
				f := &Fetcher{Env: h.env()}
				defer f.Close()
				for range 2 { // the session is reused
					res, err := f.Fetch(t.Context(), &fetch.Request{Locator: at("/d/"), Options: &Options{ListOnly: verb == "NLST"}})
					if err != nil {
						t.Fatal(err)
					}
					var names []string
					for item, err2 := range res.Items {
						if err = err2; err == nil {
							names = append(names, item.Name)
						}
					}
					var e *fetch.Error
					if !errors.As(err, &e) || e.Kind != fetch.ErrTruncated || e.Code == 0 || !strings.Contains(strings.ToLower(e.Reply), "truncated") {
						t.Errorf("%s, %q: %v", verb, last, err)
					}
					if !slices.Equal(names, []string{"one", "two"}) {
						t.Errorf("%s, %q: items %q", verb, last, names)
					}
					res.Close()
				}
				if n := count(h.sent(), "USER anonymous\r\n"); n != 1 {
					t.Errorf("%s: %d logins", verb, n)
				}
			})
		}
	}
}

// TestUnreadableDirectory lists directories that the server cannot read, which some servers say only
// in the text of a positive reply.
func TestUnreadableDirectory(t *testing.T) {
	for name, personality := range map[string]func(*ftptest.Server){"vsftpd": ftptest.VSFTPD, "pure-ftpd": ftptest.PureFTPd} {
		srv := start(t, personality, func(s *ftptest.Server) {
			s.Users = map[string]testserver.User{"blind": {Deny: testserver.List}}
			s.Hide = append(s.Hide, "MLSD", "MLST")
		})
		url := strings.Replace(srv.URL, "ftp://", "ftp://blind:@", 1) + "/pub/"
		f := &Fetcher{}
		for _, opt := range []*Options{nil, {Facts: true}} {
			items, err := list(t, f, url, opt)
			e, ok := errors.AsType[*fetch.Error](err)
			if !ok || e.Kind != fetch.ErrPermission || e.Code != 226 || e.Op != "LIST" || items != nil {
				t.Errorf("%s: %v %v", name, items, err)
			}
			if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, url), Options: opt}); !errors.Is(err, fetch.ErrPermission) {
				t.Errorf("%s: %v", name, err)
			}
		}
		f.Close()
	}
}

// TestWordsOfSuccess lists directories, and fetches files, whose names are repeated in the last reply
// and look like an error there.
func TestWordsOfSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hostile{data: "-rw-r--r-- 1 u g 1 Jan 1 2001 one\r\n", on: map[string]string{
			"LIST": "226 Listing of /Permission denied/unable to read sent.\r\n",
			"RETR": "226 Permission denied: transfer complete\r\n",
		}}
		h.serve(t)
		f := &Fetcher{Env: h.env()}
		defer f.Close()
		for _, path := range []string{"/Permission%20denied/unable%20to%20read/", "/x"} {
			if _, err := read(t.Context(), f, &fetch.Request{Locator: at(path)}); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	})
}

// TestTruncatedName fetches a file whose name contains "truncated", which servers repeat.
func TestTruncatedName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hostile{data: "all of it", on: map[string]string{"RETR": "226 truncated.txt: transfer complete\r\n"}}
		h.serve(t)
		f := &Fetcher{Env: h.env()}
		defer f.Close()
		if got, err := read(t.Context(), f, &fetch.Request{Locator: at("/truncated.txt")}); got != h.data || err != nil {
			t.Errorf("%q %v", got, err)
		}
	})
}

// TestBeyondSize tests files that are larger than announced, by as much as a file may grow
// and by more, and ranges of them.
func TestBeyondSize(t *testing.T) {
	const size, growth = 4, 1 << 16
	grown := strings.Repeat("0123456789abcdef", (size+growth)/16+1)[:size+growth]
	for _, tc := range []struct {
		name           string
		data           string
		offset, length int64
		want           string // the server ignores REST, which is an error
		kind           fetch.ErrorKind
	}{
		{"grown", grown, 0, 0, grown, fetch.ErrOther},
		{"endless", grown + strings.Repeat("x", 2*spliceSize), 0, 0, grown, fetch.ErrProtocol},
		{"first bytes", grown, 0, 3, "012", fetch.ErrOther},
		{"as many as SIZE tells", grown, 0, 4, "0123", fetch.ErrOther},
		{"more than SIZE tells", grown, 0, 7, "0123456", fetch.ErrOther},
		{"last bytes", grown, -2, 0, "", fetch.ErrBadRange},
		{"some of the last bytes", grown, -3, 2, "", fetch.ErrBadRange},
		{"more than the last bytes", grown, -99, 0, "0123", fetch.ErrOther},
	} {
		for how, get := range map[string]func(*testing.T, io.Reader) (string, error){
			"read":   func(_ *testing.T, body io.Reader) (string, error) { b, err := io.ReadAll(body); return string(b), err },
			"splice": splice,
		} {
			synctest.Test(t, func(t *testing.T) {
				h := &hostile{data: tc.data, on: map[string]string{"SIZE": "213 4\r\n"}}
				h.serve(t)
				f := &Fetcher{Env: h.env()}
				defer f.Close()
				res, err := f.Fetch(t.Context(), &fetch.Request{Locator: at("/x"), Offset: tc.offset, Length: tc.length})
				if err != nil {
					t.Fatal(err)
				}
				res.Body.(*body).tally.maxExtra = growth
				got, err := get(t, res.Body)
				res.Close()
				if fetch.KindOf(err) != tc.kind || (err == nil) != (tc.kind == fetch.ErrOther) {
					t.Errorf("%s, %s: %v", tc.name, how, err)
				}
				if over := len(got) - len(tc.want); !strings.HasPrefix(got, tc.want) || over > 0 && err == nil || over > spliceSize {
					t.Errorf("%s, %s: received %d bytes, want %d", tc.name, how, len(got), len(tc.want))
				}
				if got, err := read(t.Context(), f, &fetch.Request{Locator: at("/x"), Length: 3}); got != "012" || err != nil {
					t.Errorf("%s, %s: afterwards %q %v", tc.name, how, got, err)
				}
			})
		}
	}
}

// TestEndAtSize tests files that are not as large as announced, by SIZE or only by the reply to RETR.
// More bytes are left out only if both agree: the file has grown since. Otherwise half of a file
// would look like all of it.
func TestEndAtSize(t *testing.T) {
	const data = "0123456789"
	for _, tc := range []struct {
		size, first string // replies to SIZE and RETR
		want        string
		kind        fetch.ErrorKind
	}{
		{"213 10", "150 x (10 bytes)", data, fetch.ErrOther},
		{"213 5", "150 x (5 bytes)", data[:5], fetch.ErrOther},
		{"213 5", "150 x (10 bytes)", data[:5], fetch.ErrTruncated},
		{"213 5", "150 x", data[:5], fetch.ErrTruncated},
		{"502 what", "150 x (10 bytes)", data, fetch.ErrOther},
		{"502 what", "150 x (5 bytes)", data[:5], fetch.ErrTruncated},
		{"550 no", "150 x (5 bytes)", data[:5], fetch.ErrTruncated},
		{"502 what", "150 x (0 bytes)", "", fetch.ErrTruncated},
		{"502 what", "150 x (11 bytes)", data, fetch.ErrTruncated},
		{"502 what", "150 x", data, fetch.ErrOther},
	} {
		for how, get := range map[string]func(*testing.T, io.Reader) (string, error){
			"read":   func(_ *testing.T, body io.Reader) (string, error) { b, err := io.ReadAll(body); return string(b), err },
			"splice": splice,
		} {
			synctest.Test(t, func(t *testing.T) {
				h := &hostile{data: data, on: map[string]string{"SIZE": tc.size + "\r\n"}, first: map[string]string{"RETR": tc.first + "\r\n"}}
				h.serve(t)
				f := &Fetcher{Env: h.env()}
				defer f.Close()
				res, err := f.Fetch(t.Context(), &fetch.Request{Locator: at("/x"), Options: &Options{EndAtSize: true}})
				if err != nil {
					t.Fatal(err)
				}
				defer res.Close()
				got, err := get(t, res.Body)
				if got != tc.want || fetch.KindOf(err) != tc.kind || (err == nil) != (tc.kind == fetch.ErrOther) {
					t.Errorf("%s, %s, %s: %q, %v", tc.size, tc.first, how, got, err)
				}
			})
		}
	}
}

// TestSessionAfterRange tests the session of a transfer whose requested range was received before
// the server had sent everything. It is reused if the server ends the transfer with one reply, and
// soon.
func TestSessionAfterRange(t *testing.T) {
	for reply, want := range map[string]struct {
		logins int
		takes  time.Duration
	}{
		"226 done\r\n":        {1, 0},
		"551 broken pipe\r\n": {1, 0},
		"331 what\r\n":        {2, 0},
		"-":                   {2, abortTime},
	} {
		for how, get := range map[string]func(*testing.T, io.Reader) (string, error){
			"read": func(_ *testing.T, body io.Reader) (string, error) { b, err := io.ReadAll(body); return string(b), err },
			"read full": func(_ *testing.T, body io.Reader) (string, error) {
				b := make([]byte, 3)
				_, err := io.ReadFull(body, b)
				return string(b), err
			},
			"splice": splice,
		} {
			synctest.Test(t, func(t *testing.T) {
				h := &hostile{data: "0123" + strings.Repeat("x", 1<<20), on: map[string]string{"RETR": reply}}
				h.serve(t)
				f := &Fetcher{Env: h.env()}
				defer f.Close()
				res, err := f.Fetch(t.Context(), &fetch.Request{Locator: at("/x"), Length: 3})
				if err != nil {
					t.Fatal(err)
				}
				if got, err := get(t, res.Body); got != "012" || err != nil {
					t.Errorf("%q, %s: %q, %v", reply, how, got, err)
				}
				start := time.Now()
				res.Close()
				if took := time.Since(start); took != want.takes {
					t.Errorf("%q, %s: Close took %v", reply, how, took)
				}
				synctest.Wait() // for the rest of the reply
				if got, err := read(t.Context(), f, &fetch.Request{Locator: at("/x"), Length: 4}); got != "0123" || err != nil {
					t.Errorf("%q, %s: afterwards %q, %v", reply, how, got, err)
				}
				if n := count(h.sent(), "USER anonymous\r\n"); n != want.logins {
					t.Errorf("%q, %s: %d logins, want %d", reply, how, n, want.logins)
				}
			})
		}
	}
}

// TestLimitsOfTime tests that each time limit applies exactly, with a server that is slow
// at each stage.
func TestLimitsOfTime(t *testing.T) {
	for stage, limit := range map[string]time.Duration{
		"CONNECT": 7 * time.Second, "GREETING": 7 * time.Second, "USER": 7 * time.Second, "CWD": 7 * time.Second, "TYPE": 7 * time.Second,
		"EPSV": 7 * time.Second, "RETR": 7 * time.Second, "END": 7 * time.Second, "DATA": 11 * time.Second,
	} {
		for _, fault := range []ftptest.Fault{testserver.Silence(), testserver.Drip(1, 5*time.Second)} {
			if stage == "RETR" && fault != testserver.Silence() {
				continue // it slows down the data
			}
			synctest.Test(t, func(t *testing.T) {
				srv := start(t, func(s *ftptest.Server) { s.InMemory = true })
				srv.On(stage, 1, fault)
				f := &Fetcher{Exact: true, Env: &fetch.Env{Dial: srv.Dial, Limits: fetch.Limits{Reply: 7 * time.Second, Idle: 11 * time.Second}}}
				began := time.Now()
				_, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")})
				took := time.Since(began)
				if stage == "DATA" && fault == testserver.Drip(1, 5*time.Second) {
					if err != nil || took < 5*17*time.Second {
						t.Errorf("slow data within the limit: %v after %v", err, took)
					}
					return
				}
				if !errors.Is(err, fetch.ErrTimeout) || took < limit || took > limit+time.Second {
					t.Errorf("%s %v: %v after %v, the limit is %v", stage, fault, err, took, limit)
				}
			})
		}
	}
}

// TestCloseEarly tests Close with servers that never reply after an aborted transfer.
func TestCloseEarly(t *testing.T) {
	for _, fault := range []ftptest.Fault{testserver.Silence(), ftptest.NoFinalReply(), testserver.Close(), testserver.Delay(0), testserver.EndlessLine()} {
		synctest.Test(t, func(t *testing.T) {
			srv := start(t, func(s *ftptest.Server) { s.InMemory = true })
			if err := srv.Put("big", make([]byte, 1<<20)); err != nil {
				t.Fatal(err)
			}
			srv.On("END", 1, fault)
			f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
			defer f.Close()
			res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/big")})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(res.Body, make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			res.Close()
			if took := time.Since(began); took > abortTime {
				t.Errorf("%v: Close took %v", fault, took)
			}
			srv.ResetFaults() // if the server has seen the end of the connection first
			if got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/x.txt")}); err != nil || got != "top\n" {
				t.Errorf("%v: afterwards %q %v", fault, got, err)
			}
			if n := count(sent(srv), "USER anonymous"); n != 2 {
				t.Errorf("%v: %d logins; the session of an aborted transfer must not be reused", fault, n)
			}
		})
	}
}

// TestCloseAtOnce tests that Close does not wait for a server that takes QUIT for the end of the
// transfer, as Pure-FTPd does, and has no reply to it.
func TestCloseAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := start(t, func(s *ftptest.Server) { s.InMemory = true })
		if err := srv.Put("big", make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
		srv.On("QUIT", 1, testserver.Reply("426 ABORT"))
		f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
		defer f.Close()
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/big")})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := res.Body.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		res.Close()
		if took := time.Since(began); took > 0 {
			t.Errorf("Close took %v", took)
		}
		srv.ResetFaults() // if the server has seen the end of the connection first
	})
}

// TestCloseRange reads ranges, of which the server sends more than the client wants. Their session
// is reused if the server says that the transfer has ended, and Close waits a second at most.
func TestCloseRange(t *testing.T) {
	for _, tc := range []struct {
		fault  ftptest.Fault
		logins int
	}{
		{testserver.Delay(0), 1}, {testserver.Reply("226 all sent"), 1}, {testserver.Reply("426 aborted\n226 surprise"), 2},
		{testserver.ExtraReply("226 surprise"), 2}, {testserver.Reply("150 never ends"), 2}, {testserver.Reply("421 closing"), 2},
		{testserver.Silence(), 2}, {ftptest.NoFinalReply(), 2}, {testserver.Close(), 2}, {testserver.EndlessLine(), 2}, {testserver.Drip(1, 300*time.Millisecond), 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			srv := start(t, func(s *ftptest.Server) { s.InMemory = true })
			if err := srv.Put("big", make([]byte, 1<<20)); err != nil {
				t.Fatal(err)
			}
			srv.On("END", 1, tc.fault)
			f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
			defer f.Close()
			for i := range 3 {
				res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/big"), Offset: 10, Length: 1000})
				if err != nil {
					t.Fatalf("%v: %v", tc.fault, err)
				}
				if n, err := io.ReadFull(res.Body, make([]byte, 1000)); err != nil {
					t.Fatalf("%v: %d bytes, %v", tc.fault, n, err)
				}
				began := time.Now()
				res.Close()
				if took := time.Since(began); took > abortTime {
					t.Errorf("%v, %d: Close took %v", tc.fault, i, took)
				}
			}
			if n := logins(srv); n != tc.logins {
				t.Errorf("%v: %d logins, want %d", tc.fault, n, tc.logins)
			}
		})
	}
}

// toFile copies a Body to a file and returns its content.
func toFile(t *testing.T, body io.Reader) (string, error) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "copy"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(f, body)
	f.Close()
	got, err2 := os.ReadFile(f.Name())
	if err2 != nil {
		t.Fatal(err2)
	}
	return string(got), err
}

// TestSplice copies from sockets to files.
func TestSplice(t *testing.T) {
	srv := start(t)
	big := strings.Repeat("0123456789abcdef", 9<<16)
	if err := srv.Put("big", []byte(big)); err != nil {
		t.Fatal(err)
	}
	f := &Fetcher{}
	defer f.Close()
	for _, tc := range []struct{ offset, length int64 }{{0, 0}, {1 << 20, 0}, {0, 5 << 20}, {3, 4 << 20}, {0, 9 << 20}, {-5, 0}} {
		var reported int64
		ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Body: func(n int64) { reported += n }})
		res, err := f.Fetch(ctx, &fetch.Request{Locator: parse(t, srv.URL+"/big"), Offset: tc.offset, Length: tc.length})
		if err != nil {
			t.Fatal(err)
		}
		from, to := tc.offset, int64(len(big))
		if from < 0 {
			from += to
		}
		if tc.length > 0 {
			to = from + tc.length
		}
		if !wire.CanMove(res.Body.(*body).data.raw) {
			t.Error("no connection to splice from")
		}
		got, err := toFile(t, res.Body)
		if err != nil || got != big[from:to] || reported != to-from {
			t.Errorf("%d+%d: %d bytes, %d reported, %v", tc.offset, tc.length, len(got), reported, err)
		}
		res.Close()
	}
}

// TestSpliceAppend copies to files that do not support splice.
func TestSpliceAppend(t *testing.T) {
	srv := start(t)
	f := &Fetcher{}
	defer f.Close()
	name := filepath.Join(t.TempDir(), "log")
	for range 2 {
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")})
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(file, res.Body)
		file.Close()
		res.Close()
		if n != 18 || err != nil {
			t.Errorf("copied %d bytes, %v", n, err)
		}
	}
	if got, _ := os.ReadFile(name); string(got) != "line one\nline two\nline one\nline two\n" {
		t.Errorf("%q", got)
	}
	res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.Copy(w, res.Body); err != nil {
		t.Error(err)
	}
	w.Close()
	if got, err := io.ReadAll(r); string(got) != "line one\nline two\n" || err != nil {
		t.Errorf("to a pipe: %q %v", got, err)
	}
}

// splice copies a Body to a file as WriteTo does from a socket. From a connection
// in memory, the data passes through the program, but the same limits apply.
func splice(t *testing.T, b io.Reader) (string, error) {
	t.Helper()
	return toFile(t, spliced{b.(*body)})
}

type spliced struct{ *body }

func (s spliced) WriteTo(w io.Writer) (int64, error) { return s.splice(s.moveTo(w.(*os.File)), w) }

// TestSpliceFails tests failures of the connection and of the file.
func TestSpliceFails(t *testing.T) {
	big := make([]byte, 8<<20)
	srv := start(t)
	if err := srv.Put("big", big); err != nil {
		t.Fatal(err)
	}
	f := &Fetcher{}
	defer f.Close()
	for _, fault := range []ftptest.Fault{testserver.Truncate(5 << 20), testserver.Reset(5 << 20)} {
		srv.On("DATA", 1, fault)
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/big")})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := toFile(t, res.Body); !errors.Is(err, fetch.ErrTruncated) || len(got) > 5<<20 {
			t.Errorf("%v: received %d bytes, %v", fault, len(got), err)
		}
		res.Close()
	}

	res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/big")})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var pathError *os.PathError
	if _, err := io.Copy(file, res.Body); !errors.As(err, &pathError) {
		t.Errorf("a file that cannot be written: %v", err)
	}
}

// TestSpliceTime tests slow data and data that stops. The idle limit applies to the time
// without any data.
func TestSpliceTime(t *testing.T) {
	const idle = 3 * lookInterval
	for _, tc := range []struct {
		fault ftptest.Fault
		from  time.Duration // the minimum time that it takes
		kind  fetch.ErrorKind
	}{
		{testserver.Drip(1<<20, idle-1), 8 * (idle - 1), fetch.ErrOther},
		{testserver.Drip(4<<20, lookInterval), 2 * lookInterval, fetch.ErrOther},
		{testserver.Drip(4<<20, time.Hour), idle, fetch.ErrTimeout},
		{testserver.Silence(), idle, fetch.ErrTimeout},
	} {
		synctest.Test(t, func(t *testing.T) {
			srv := start(t, func(s *ftptest.Server) { s.InMemory = true })
			big := strings.Repeat("0123456789abcdef", 8<<16)
			if err := srv.Put("big", []byte(big)); err != nil {
				t.Fatal(err)
			}
			srv.On("DATA", 1, tc.fault)
			f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial, Limits: fetch.Limits{Idle: idle}}}
			defer f.Close()
			res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/big")})
			if err != nil {
				t.Fatal(err)
			}
			defer res.Close()
			began := time.Now()
			got, err := splice(t, res.Body)
			if fetch.KindOf(err) != tc.kind || (err == nil) != (got == big) || !strings.HasPrefix(big, got) {
				t.Errorf("%v: received %d bytes, %v", tc.fault, len(got), err)
			}
			if took := time.Since(began); took < tc.from || took > tc.from+lookInterval {
				t.Errorf("%v: it took %v, want %v", tc.fault, took, tc.from)
			}
		})
	}
}

// TestCloseBesideRead closes a Body while Read waits for data.
func TestCloseBesideRead(t *testing.T) {
	for _, file := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			srv := start(t, func(s *ftptest.Server) { s.InMemory = true })
			srv.On("DATA", 1, testserver.Silence())
			f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
			defer f.Close()
			res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")})
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				var err error
				if file {
					_, err = splice(t, res.Body)
				} else {
					_, err = io.ReadAll(res.Body)
				}
				ended <- err
			}()
			synctest.Wait()
			select {
			case err := <-ended:
				t.Errorf("before Close: %v", err)
				return
			default:
			}
			res.Close()
			if err := <-ended; err == nil {
				t.Error("no error after Close")
			}
		})
	}
}

// TestCancel cancels the context at each stage: the access ends at once.
func TestCancel(t *testing.T) {
	for _, stage := range []string{"GREETING", "PASS", "CWD", "EPSV", "RETR", "DATA", "END"} {
		for _, file := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				srv := start(t, func(s *ftptest.Server) { s.InMemory = true })
				srv.On(stage, 1, testserver.Silence())
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() {
					f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
					defer f.Close()
					res, err := f.Fetch(ctx, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")})
					if err == nil {
						if file {
							_, err = splice(t, res.Body)
						} else {
							_, err = io.ReadAll(res.Body)
						}
						res.Close()
					}
					ended <- err
				}()
				synctest.Wait()
				began := time.Now()
				cancel()
				if err := <-ended; !errors.Is(err, fetch.ErrCanceled) || !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", stage, err)
				}
				if took := time.Since(began); took > 0 {
					t.Errorf("%s: it took %v", stage, took)
				}
			})
		}
	}
}

// TestSocketsEnd ends a splice from a socket by its context and by Close. The server is
// silent, and the client has no effective time limits.
func TestSocketsEnd(t *testing.T) {
	const first = spliceSize // the server sends this much
	for _, byClose := range []bool{false, true} {
		srv := start(t)
		if err := srv.Put("big", make([]byte, 2*first)); err != nil {
			t.Fatal(err)
		}
		srv.On("DATA", 1, testserver.Drip(first, 1000*time.Hour))
		f := &Fetcher{Env: &fetch.Env{Limits: fetch.Limits{Reply: 1000 * time.Hour, Idle: 1000 * time.Hour}}}
		waits := make(chan bool)
		reported := int64(0)
		ctx, cancel := context.WithCancel(fetch.WithTrace(t.Context(), &fetch.Trace{Body: func(n int64) {
			if reported += n; reported == first {
				close(waits)
			}
		}}))
		defer cancel()
		res, err := f.Fetch(ctx, &fetch.Request{Locator: parse(t, srv.URL+"/big")})
		if err != nil {
			t.Fatal(err)
		}
		ended, closed := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := toFile(t, res.Body)
			ended <- err
		}()
		select {
		case <-waits:
		case err := <-ended:
			t.Fatal(err)
		}
		if byClose {
			go func() { closed <- res.Close() }()
		} else {
			cancel()
		}
		if err := <-ended; err == nil || !byClose && !errors.Is(err, context.Canceled) {
			t.Errorf("by Close %t: %v", byClose, err)
		}
		if byClose {
			srv.Close() // otherwise Close waits for the final reply
			<-closed
		}
		res.Close()
		f.Close()
	}
}

func TestASCIIReaders(t *testing.T) {
	for net, local := range map[string]string{
		"": "", "a\r\nb": "a\nb", "\r\n\r\n": "\n\n", "a\rb\r": "a\rb\r", "\r\r\n": "\r\n", "\n": "\n", "a\r\n": "a\n", "\r": "\r",
		strings.Repeat("0123456\r\n", 40_000): strings.Repeat("0123456\n", 40_000),
	} {
		for _, one := range []bool{false, true} {
			in := io.Reader(strings.NewReader(net))
			if one {
				in = iotest.OneByteReader(in)
			}
			if got, err := io.ReadAll(newLocalText(in)); err != nil || string(got) != local {
				t.Errorf("%.20q: %.20q %v, want %.20q", net, got, err, local)
			}
		}
	}
	for local, net := range map[string]string{
		"": "", "a\nb": "a\r\nb", "a\r\nb": "a\r\nb", "\n\n": "\r\n\r\n", "a\r": "a\r", "\r\r\n": "\r\r\n",
		strings.Repeat("0123456\n", 40_000): strings.Repeat("0123456\r\n", 40_000),
	} {
		for _, one := range []bool{false, true} {
			in := io.Reader(strings.NewReader(local))
			if one {
				in = iotest.OneByteReader(in)
			}
			if got, err := io.ReadAll(newNetText(in)); err != nil || string(got) != net {
				t.Errorf("%.20q: %.20q %v, want %.20q", local, got, err, net)
			}
		}
	}
	if _, err := io.ReadAll(newLocalText(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("ab"))))); err != iotest.ErrTimeout {
		t.Errorf("%v", err)
	}
}
