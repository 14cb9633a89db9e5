package ftp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/raced"
	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// TestFlaws tests for known flaws of other programs, by CVE or another identifier. Flaws of
// one class share a test:
//
//	go test -run TestFlaws/CVE-2020-8284
func TestFlaws(t *testing.T) {
	for _, class := range []struct {
		ids  string
		test func(*testing.T)
	}{
		{"CVE-2020-8284 CVE-2021-4189 GHSA-w8c5-q2xf-gf7c CVE-2021-31810 CVE-2021-37533 CVE-2021-40491 CVE-2021-2341 CVE-2026-48858 CVE-2026-15146 twisted-12847 CVE-2007-1563 CVE-2007-1564 jlaffaye-isBogusDataIP curl-270", passiveHost},
		{"jlaffaye-pasv-slice CVE-2021-36159 CVE-2009-1675 CVE-2009-3094 curl-237 curl-238", passiveReplies},
		{"CVE-2007-1562", steering},
		{"CVE-2017-1000254 curl-3217 curl-3218", pwdReplies},
		{"CVE-2000-0973 CVE-2014-4643 CVE-2025-34107 CVE-2019-9760 CVE-2026-44240", longReplies},
		{"CVE-2007-0217", lineBounds},
		{"CVE-2018-1000300", quitBounded},
		{"CVE-2026-41324 CVE-2020-8285", endlessListing},
		{"CVE-2015-4022 CVE-2015-4643", beyond32Bits},
		{"CVE-2023-27535", otherUsersSession},
		{"CVE-2021-22947", unsolicitedReplies},
		{"CVE-2022-32208 CVE-2019-5481 curl-2108", strangeReplies},
		{"CVE-2018-1000120 CVE-2012-0036 CVE-2004-1165 CVE-2004-1166 PSF-2017-10 CVE-2017-3533 CVE-2026-39983 GHSA-6v7q-wjvx-w8wg aioftp-194 RUSTSEC-2026-0271 curl-225 curl-226 curl-340 curl-2114", injection},
		{"CVE-2026-71311", injectionByOthers},
		{"CVE-2002-1345 CVE-2005-2126 CVE-2026-27699 CVE-2008-2519 CVE-2018-10916", remoteNames},
		{"password-repeated-by-the-server", secrets},
	} {
		t.Run(strings.ReplaceAll(class.ids, " ", ","), class.test)
	}
}

// accesses lists all operations that open a data connection.
var accesses = []struct {
	name string
	do   func(context.Context, *Fetcher, *fetch.Request) error
	path string
	req  fetch.Request
}{
	{"get", get, "/etc/x", fetch.Request{}},
	{"get text", get, "/etc/x;type=a", fetch.Request{}},
	{"list", get, "/etc/", fetch.Request{}},
	{"names", get, "/etc;type=d", fetch.Request{}},
	{"resume", get, "/etc/x", fetch.Request{Offset: 2}},
	{"a part", get, "/etc/x", fetch.Request{Offset: 1, Length: 2}},
	{"from the end", get, "/etc/x", fetch.Request{Offset: -3}},
	{"store", put, "/etc/new", fetch.Request{}},
	{"resume storing", put, "/etc/x", fetch.Request{Offset: 2}},
	{"append", add, "/etc/new", fetch.Request{}},
}

func get(ctx context.Context, f *Fetcher, req *fetch.Request) error {
	_, err := read(ctx, f, req)
	return err
}

func put(ctx context.Context, f *Fetcher, req *fetch.Request) error {
	_, err := f.Replace(ctx, req, strings.NewReader("stored"))
	return err
}

func add(ctx context.Context, f *Fetcher, req *fetch.Request) error {
	_, err := f.Update(ctx, req, strings.NewReader("added"))
	return err
}

// passiveHost tests servers that name another host in the reply to PASV. For every
// operation, the client connects to the host of the control connection.
func passiveHost(t *testing.T) {
	for _, host := range []string{"10.0.0.5", "169.254.169.254", "0.0.0.0", "127.0.0.2", "224.0.0.1", "192.0.2.1"} {
		for _, tc := range accesses {
			srv := start(t, func(s *ftptest.Server) { s.PassiveHost, s.Hide = host, []string{"EPSV"} })
			var dials []string
			f := &Fetcher{Exact: true, Env: &fetch.Env{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
				dials = append(dials, address)
				return srv.Dial(ctx, network, address)
			}}}
			req := tc.req
			req.Locator = parse(t, srv.URL+tc.path)
			if err := tc.do(t.Context(), f, &req); err != nil {
				t.Errorf("%s: %v", tc.name, err)
			}
			for _, address := range dials {
				if h, _, _ := net.SplitHostPort(address); h != "127.0.0.1" {
					t.Errorf("%s: dialled %s", tc.name, address)
				}
			}
			want := 2
			if tc.req.Offset > 0 && !strings.Contains(tc.name, "storing") {
				want = 3 // without SIZE, the part is compared with the beginning of the file
			}
			if len(dials) != want {
				t.Errorf("%s: %d connections: %q", tc.name, len(dials), dials)
			}
		}
	}
}

// passiveReplies tests replies to EPSV and PASV without a valid data port. The library
// panics on "227 ) (".
func passiveReplies(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for verb, replies := range map[string][]string{
		"PASV": {"227 ) (", "227 (", "227 )(", "227 ()", "227 (1,2,3,4,5", "227 (1,2,3", "227 (256,0,0,1,8,174)", "227 (1,2,3,4,-1,5)",
			"227 (10,0,0,5,0,22)", "227 (127,0,0,1,3,255)", "227", "227 " + long, "200 ok", "150 ok", "331 ok", "garbage", "627 (1,2,3,4,8,174)", "227 (1,2,3,4,8,174)\x00"},
		"EPSV": {"229", "229 (", "229 (|||99999|)", "229 (|||0|)", "229 (|||22|)", "229 (|1|10.0.0.5|2222|)", "229 (|||2222!)", "229 ||| |", "229 (|||)",
			"229 " + long, "227 (127,0,0,1,8,174)", "200 ok", "150 ok", "331 ok", "garbage"},
	} {
		for _, reply := range replies {
			h := &hostile{on: map[string]string{"EPSV": "500 no\r\n", "PASV": "500 nor this\r\n", verb: reply + "\r\n"}}
			h.serve(t)
			f := &Fetcher{Env: h.env()}
			_, err := read(t.Context(), f, &fetch.Request{Locator: at("/x")})
			f.Close()
			var e *fetch.Error
			switch {
			case !errors.As(err, &e):
				t.Errorf("%.40q: no error", reply)
			case verb == "EPSV" && e.Op == "PASV" && e.Kind == fetch.ErrUnsupported: // PASV was sent instead
			case e.Kind == fetch.ErrProtocol && len(reply) > 3 && reply[3] == ' ' && !strings.HasPrefix(reply, "22") && e.Code == 0 && reply[0] < '6':
				t.Errorf("%.40q: the error has no code: %v", reply, err)
			case e.Kind != fetch.ErrProtocol && e.Kind != fetch.ErrConnectionFailed || string(e.Op) != verb:
				t.Errorf("%.40q: %v", reply, err)
			}
			for _, address := range h.dialled() {
				if address != "127.0.0.1:21" {
					t.Errorf("%.40q: dialled %q", reply, address)
				}
			}
		}
	}
}

// steering tests a server that names a different port for each of twenty transfers: each
// transfer opens one connection.
func steering(t *testing.T) {
	h := &hostile{on: map[string]string{"EPSV": "500 no\r\n"}, data: "x"}
	h.serve(t)
	f := &Fetcher{Env: h.env()}
	defer f.Close()
	for range 20 {
		if _, err := read(t.Context(), f, &fetch.Request{Locator: at("/x")}); err != nil {
			t.Fatal(err)
		}
	}
	if d := h.dialled(); len(d) != 21 {
		t.Errorf("%d connections for twenty transfers", len(d))
	}
}

// pwdReplies tests replies to PWD. An invalid one only prevents reuse of the session. The
// library panics on `257 "`.
func pwdReplies(t *testing.T) {
	for reply, kind := range map[string]fetch.ErrorKind{
		`257 "/unterminated`: fetch.ErrOther, `257 "`: fetch.ErrOther, "257": fetch.ErrOther, "257 none": fetch.ErrOther, `257 ""`: fetch.ErrOther,
		"550 no": fetch.ErrOther, "500 what": fetch.ErrOther, "331 what": fetch.ErrOther,
		"257 \"/a\rb\"": fetch.ErrOther, "257 \"/a\x03b\"": fetch.ErrOther, "257 \"/a\x7fb\"": fetch.ErrOther,
		"257 \"/a\x00b\"": fetch.ErrProtocol, "what": fetch.ErrProtocol,
	} {
		h := &hostile{on: map[string]string{"PWD": reply + "\r\n"}, data: "x"}
		h.serve(t)
		f := &Fetcher{Env: h.env()}
		for _, path := range []string{"/d/x", "/x"} { // the second one would need CWD to the login directory
			_, err := read(t.Context(), f, &fetch.Request{Locator: at(path)})
			if fetch.KindOf(err) != kind || (err == nil) != (kind == fetch.ErrOther) {
				t.Errorf("%q: %v", reply, err)
			}
		}
		f.Close()
		want := 2
		if reply == "331 what" { // does not match PWD: repeated without pipelining
			want = 3
		}
		if users := count(h.sent(), "USER anonymous\r\n"); users != want {
			t.Errorf("%q: %d logins; a session must not be reused if its login directory is not known", reply, users)
		}
		for _, line := range h.sent() {
			if strings.HasPrefix(line, "CWD") && line != "CWD d\r\n" || strings.ContainsFunc(strings.TrimSuffix(line, "\r\n"), unicode.IsControl) {
				t.Errorf("%q: sent %q", reply, line)
			}
		}
	}
}

func count(list []string, s string) (n int) {
	for _, x := range list {
		if x == s {
			n++
		}
	}
	return n
}

// longReplies tests endless lines and endless replies at every stage.
func longReplies(t *testing.T) {
	replies := map[string]string{
		"line": "530 " + strings.Repeat("x", 10<<20), "lines": strings.Repeat("230-x\r\n", 1<<20), "long lines": strings.Repeat("230-"+strings.Repeat("x", 8000)+"\r\n", 1<<10),
	}
	for _, verb := range []string{"", "USER", "PASS", "PWD", "CWD", "TYPE", "SIZE", "EPSV", "PASV", "REST", "RETR", "LIST"} {
		for what, reply := range replies {
			h := &hostile{on: map[string]string{verb: reply}, first: map[string]string{verb: reply}}
			if verb == "PASV" {
				h.on["EPSV"] = "500 no\r\n"
			}
			if verb == "" {
				h.greeting = reply
			}
			h.serve(t)
			f := &Fetcher{Env: h.env()}
			req := &fetch.Request{Locator: at("/a/x")}
			if verb == "REST" {
				h.data, req.Offset = "123", 1
			}
			if verb == "LIST" {
				req.Locator = at("/a/")
			}
			_, err := read(t.Context(), f, req)
			if fetch.KindOf(err) != fetch.ErrProtocol || what == "line" && !errors.Is(err, wire.ErrLineTooLong) {
				t.Errorf("%s: %s: %v", verb, what, err)
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("%s: %s: the error message has %d bytes", verb, what, len(err.Error()))
			}
			f.Close()
			// The default limit of a line or reply, the size of a buffer, and earlier
			// replies.
			if most := map[string]int64{"line": 16 << 10, "lines": 8 << 10, "long lines": 256 << 10}[what] + 8<<10; h.received.Load() > most {
				t.Errorf("%s: %s: %d bytes were read", verb, what, h.received.Load())
			}
		}
	}
}

// lineBounds tests replies just below and just above the limit.
func lineBounds(t *testing.T) {
	const limit = 100
	for length := limit - 2; length <= limit+2; length++ {
		h := &hostile{on: map[string]string{"CWD": "250 " + strings.Repeat("x", length-6) + "\r\n"}, data: "x"}
		h.serve(t)
		env := h.env()
		env.Limits.Line = limit
		f := &Fetcher{Env: env}
		got, err := read(t.Context(), f, &fetch.Request{Locator: at("/a/x")})
		f.Close()
		if (err == nil) != (length <= limit) || err == nil && got != "x" {
			t.Errorf("a line of %d bytes: %q %v", length, got, err)
		}
	}
}

// quitBounded tests endless replies to QUIT, and no reply.
func quitBounded(t *testing.T) {
	for _, answer := range []string{"-", strings.Repeat("221-"+strings.Repeat("x", 64<<10)+"\r\n", 100), "250 what\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			h := &hostile{on: map[string]string{"QUIT": answer}, data: "x"}
			h.serve(t)
			f := &Fetcher{Env: h.env()}
			if _, err := read(t.Context(), f, &fetch.Request{Locator: at("/x")}); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			f.Close()
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("Close took %v", took)
			}
			if n := count(h.sent(), "QUIT\r\n"); n != 1 {
				t.Errorf("%d QUITs", n)
			}
		})
	}
}

// endlessListing tests that a long listing is not notKept in memory, and that endless listings
// end in an error.
func endlessListing(t *testing.T) {
	const line = "-rw-r--r-- 1 u g 12 Jan  1  2001 x\r\n"
	const total = 100_000
	a := &access{req: new(fetch.Request), loc: at("/"), verb: "LIST", conditions: conditions{trace: driver.ContextTrace(t.Context()), terms: notKept.terms}}
	var heap []uint64
	n := 0
	for _, err := range idleRunner(t).items(a, io.LimitReader(&repeater{text: line}, total*int64(len(line))), new(Info)) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%(total/2) == 1 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			heap = append(heap, m.HeapAlloc)
		}
	}
	if n != total || len(heap) != 2 || heap[1] > heap[0]+1<<20 {
		t.Errorf("%d entries, heap at the start and in the middle: %d", n, heap)
	}
	a.limits.Items = 10
	n = 0
	for _, err := range idleRunner(t).items(a, &repeater{text: line}, new(Info)) {
		if n++; n > 10 != errors.Is(err, fetch.ErrTooLarge) || n > 11 {
			t.Fatalf("entry %d: %v", n, err)
		}
	}
	a.limits = fetch.Limits{Line: 1000}
	for _, err := range idleRunner(t).items(a, &repeater{text: "x"}, new(Info)) {
		if !errors.Is(err, fetch.ErrTooLarge) {
			t.Errorf("an endless line: %v", err)
		}
	}
}

type repeater struct {
	text string
	i    int
}

func (r *repeater) Read(p []byte) (n int, err error) {
	for n < len(p) {
		m := copy(p[n:], r.text[r.i:])
		n += m
		r.i = (r.i + m) % len(r.text)
	}
	return n, nil
}

// beyond32Bits tests a file and a listing of more than 2³² bytes.
func beyond32Bits(t *testing.T) {
	if raced.Enabled {
		t.Skip("8 GiB take 20 seconds with the race detector; .ci/run runs this test without it")
	}
	const size = 1<<32 + 1
	h := &hostile{on: map[string]string{"SIZE": fmt.Sprintf("213 %d\r\n", int64(size))}}
	h.serve(t)
	env := h.env()
	env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := h.net.Dial(ctx, network, address)
		if strings.HasSuffix(address, ":21") {
			return c, err
		}
		return &vast{c, size}, err
	}
	f := &Fetcher{Env: env}
	defer f.Close()
	for _, path := range []string{"/x", "/d;type=d"} {
		var reported int64
		res, err := f.Fetch(fetch.WithTrace(t.Context(), &fetch.Trace{Body: func(n int64) { reported += n }}), &fetch.Request{Locator: at(path)})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, res.Body); n != size || err != nil || reported != size {
			t.Errorf("%s: %d bytes, %d reported, %v", path, n, reported, err)
		}
		res.Close()
	}
}

// vast is a connection that returns left bytes of arbitrary data.
type vast struct {
	net.Conn
	left int64
}

func (c *vast) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.EOF
	}
	n := int(min(c.left, int64(len(p))))
	c.left -= int64(n)
	return n, nil
}

// otherUsersSession tests that each login has its own session.
func otherUsersSession(t *testing.T) {
	srv := start(t, func(s *ftptest.Server) {
		s.Users = map[string]testserver.User{"lab": {Password: "secret"}, "acct": {Password: "secret", Account: "A"}}
	})
	f := &Fetcher{}
	defer f.Close()
	for _, tc := range []struct {
		login string
		opt   *Options
		err   error
	}{
		{"", nil, nil}, {"lab:secret@", nil, nil}, {"lab:wrong@", nil, fetch.ErrUnauthenticated}, {"lab@", nil, fetch.ErrUnauthenticated},
		{"acct:secret@", &Options{Account: "A"}, nil}, {"acct:secret@", &Options{Account: "B"}, fetch.ErrUnauthenticated}, {"acct:secret@", nil, fetch.ErrUnauthenticated},
	} {
		url := strings.Replace(srv.URL, "ftp://", "ftp://"+tc.login, 1)
		if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, url+"/x.txt"), Options: tc.opt}); !errors.Is(err, tc.err) {
			t.Errorf("%q: %v", tc.login, err)
		}
	}
	if users := sent(srv); len(slices.DeleteFunc(users, func(s string) bool { return !strings.HasPrefix(s, "USER") })) != 7 {
		t.Errorf("%q", users)
	}
}

// unsolicitedReplies tests replies that arrive before their command.
func unsolicitedReplies(t *testing.T) {
	for _, verb := range []string{"", "USER", "PASS", "PWD", "CWD", "TYPE", "SIZE", "EPSV", "RETR"} {
		h := &hostile{on: map[string]string{}, first: map[string]string{}, data: "x"}
		replies := map[string]string{"": "220 a\r\n", "USER": "331 a\r\n", "PASS": "230 a\r\n", "PWD": "257 \"/\"\r\n", "CWD": "250 a\r\n", "TYPE": "200 a\r\n", "SIZE": "213 1\r\n"}
		switch verb {
		case "":
			h.greeting = replies[verb] + "331 b\r\n"
		case "EPSV":
			h.on[verb] = "229 (|||2222|)\r\n150 b\r\n" // nothing listens there, which must not matter
		case "RETR":
			h.first[verb] = "150 a\r\n226 b\r\n226 c\r\n"
		default:
			h.on[verb] = replies[verb] + "250 b\r\n"
		}
		h.serve(t)
		f := &Fetcher{Env: h.env()}
		_, err := read(t.Context(), f, &fetch.Request{Locator: at("/a/x")})
		last := "nothing"
		// QUIT ends the connection that is given up. The server may not have read it yet.
		if log := slices.DeleteFunc(h.sent(), func(line string) bool { return line == "QUIT\r\n" }); len(log) > 0 {
			last = log[len(log)-1]
		}
		_, err2 := read(t.Context(), f, &fetch.Request{Locator: at("/b/x")})
		f.Close()
		switch {
		case verb == "EPSV": // the dial may fail before
			if err == nil {
				t.Error("EPSV: no error")
			}
		case verb == "RETR": // a second final reply must not count for the next command
			if err != nil || err2 != nil || count(h.sent(), "USER anonymous\r\n") != 2 {
				t.Errorf("RETR: %v, %v, %q", err, err2, h.sent())
			}
		case !errors.Is(err, fetch.ErrProtocol), !strings.HasPrefix(last, verb) && !(verb == "" && last == "nothing"):
			t.Errorf("%s: %v; the last command was %q", verb, err, last)
		}
	}
}

// strangeReplies tests, at every stage, replies of each class, the 6yz of secured
// connections, garbage and control characters.
func strangeReplies(t *testing.T) {
	for _, verb := range []string{"", "USER", "PASS", "PWD", "CWD", "TYPE", "SIZE", "MDTM", "EPSV", "PASV", "REST", "RETR", "RETR first", "LIST", "LIST first", "STOR", "STOR first"} {
		for _, reply := range []string{
			"1", "199 x", "299 x", "399 x", "499 x", "599 x", "631 x", "999 x", "000 x", "", "\x1b[2J", "230 logged\x00 in", "250-", "\r", "257 \"\"\"", "213 -1", "150 (1 bytes)",
		} {
			synctest.Test(t, func(t *testing.T) {
				name, first := strings.CutSuffix(verb, " first")
				h := &hostile{on: map[string]string{}, first: map[string]string{}, data: "data"}
				if first {
					h.first[name] = reply + "\r\n"
				} else {
					h.on[name] = reply + "\r\n"
				}
				if name == "" {
					h.greeting = reply + "\r\n"
				}
				if name == "PASV" {
					h.on["EPSV"] = "500 no\r\n"
				}
				h.serve(t)
				f := &Fetcher{Env: h.env()}
				req := &fetch.Request{Locator: at("/a/x"), Options: &Options{ModTime: true}}
				var err error
				switch name {
				case "STOR":
					err = put(t.Context(), f, req)
				case "LIST":
					req.Locator = at("/a/")
					fallthrough
				default:
					if name == "REST" {
						req.Offset = 1
					}
					var got string
					got, err = read(t.Context(), f, req)
					if err == nil && got != h.data[req.Offset:] && req.Offset == 0 {
						t.Errorf("%s %q: %q without an error", verb, reply, got)
					}
				}
				f.Close()
				var e *fetch.Error
				if err != nil && (!errors.As(err, &e) || e.Kind == fetch.ErrOther || strings.ContainsFunc(err.Error(), func(c rune) bool { return c < ' ' || c > '~' })) {
					t.Errorf("%s %q: %v", verb, reply, err)
				}
			})
		}
	}
}

// injection tests every argument with bytes that end a command. No such command may be
// sent.
func injection(t *testing.T) {
	h := &hostile{}
	h.serve(t)
	for _, bad := range []string{"\r", "\n", "\x00", "\r\nDELE x\r\n", "\n\r"} {
		for name, change := range map[string]func(*locator.FTP, *Options, *fetch.Env){
			"user":     func(l *locator.FTP, _ *Options, _ *fetch.Env) { l.Login = &locator.Login{User: "a" + bad} },
			"password": func(l *locator.FTP, _ *Options, _ *fetch.Env) { l.Login.Password = "a" + bad },
			"cwd":      func(l *locator.FTP, _ *Options, _ *fetch.Env) { l.CWD = []string{"a", "b" + bad} },
			"name":     func(l *locator.FTP, _ *Options, _ *fetch.Env) { l.Name = bad + "x" },
			"account":  func(_ *locator.FTP, o *Options, _ *fetch.Env) { o.Account = "x" + bad },
			"quote":    func(_ *locator.FTP, o *Options, _ *fetch.Env) { o.Quote = []string{"NOOP", "NOOP" + bad} },
			"before":   func(_ *locator.FTP, o *Options, _ *fetch.Env) { o.PreTransfer = []string{"NOOP" + bad} },
			"after":    func(_ *locator.FTP, o *Options, _ *fetch.Env) { o.PostQuote = []string{"*NOOP" + bad} },
			"e-mail":   func(l *locator.FTP, _ *Options, e *fetch.Env) { l.Login = nil; e.Email = "a@b" + bad },
		} {
			for _, tc := range accesses {
				env, opt, l := h.env(), &Options{}, at("/d/x")
				l.Login = &locator.Login{User: "lab", Password: "secret", HasPassword: true}
				change(l, opt, env)
				f := &Fetcher{Env: env}
				if err := tc.do(t.Context(), f, &fetch.Request{Locator: l, Options: opt}); !errors.Is(err, fetch.ErrBadURL) {
					t.Errorf("%s, %s %q: %v", tc.name, name, bad, err)
				}
				if _, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: l, Options: opt}); !errors.Is(err, fetch.ErrBadURL) {
					t.Errorf("attributes, %s %q: %v", name, bad, err)
				}
				if _, err := f.Explain(&fetch.Request{Locator: l, Options: opt}); !errors.Is(err, fetch.ErrBadURL) {
					t.Errorf("plan, %s %q: %v", name, bad, err)
				}
			}
		}
	}
	if d := h.dialled(); len(d) != 0 {
		t.Errorf("dialled %q", d)
	}
}

// injectionByOthers tests such bytes in text from the server and from Env.Credentials.
func injectionByOthers(t *testing.T) {
	command := regexp.MustCompile(`^[A-Z]{3,4}( [^\r\n\x00]*)?\r\n$`)
	h := &hostile{on: map[string]string{"PWD": "257 \"/a\rDELE x\"\r\n"}, data: "-rw-r--r-- 1 u g 1 Jan 1 2001 a\rDELE x\r\n-rw-r--r-- 1 u g 1 Jan 1 2001 good\r\n"}
	h.serve(t)
	env := h.env()
	env.Credentials = func(context.Context, fetch.Challenge) (locator.Login, error) {
		return locator.Login{Password: "x\r\nDELE y"}, nil
	}
	f := &Fetcher{Env: env}
	defer f.Close()
	res, err := f.Fetch(t.Context(), &fetch.Request{Locator: at("/d/")})
	if err != nil {
		t.Fatal(err)
	}
	for item, err := range res.Items {
		if err != nil || item.Name != "good" {
			t.Errorf("%+v %v", item, err)
		}
	}
	res.Close()
	l := at("/d/")
	l.Login = &locator.Login{User: "lab"}
	if _, err := f.Fetch(t.Context(), &fetch.Request{Locator: l}); !errors.Is(err, fetch.ErrBadURL) || strings.Contains(err.Error(), "DELE") {
		t.Errorf("a password with a line end: %v", err)
	}
	for _, line := range h.sent() {
		if !command.MatchString(line) {
			t.Errorf("sent %q", line)
		}
	}
}

// remoteNames tests names in listings that point outside the directory.
func remoteNames(t *testing.T) {
	for _, name := range []string{"../x", "/x", "a/../../x", "..", ".", "/", "x/y", "a\x00b", "%2e%2e%2fx", `..\x`, "C:x", "-rf", "|sh"} {
		for _, verb := range []fetch.Op{"LIST", "NLST"} {
			a := &access{req: new(fetch.Request), loc: at("/d/"), verb: verb, conditions: notKept}
			line := name + "\r\n"
			if verb == "LIST" {
				line = "-rw-r--r-- 1 u g 1 Jan  1  2001 " + line
			}
			for item, err := range idleRunner(t).items(a, strings.NewReader(line), new(Info)) {
				if fetch.KindOf(err) == fetch.ErrProtocol {
					break // the name is not understood
				}
				l := item.Locator.(*locator.FTP)
				if err != nil || strings.ContainsAny(item.Name, "/\x00\r\n") || item.Name == ".." || l.Name != item.Name || !slices.Equal(l.CWD, []string{"d"}) {
					t.Errorf("%s %q: %+v %v", verb, name, item, err)
				}
			}
		}
	}
}

// secrets tests a server that repeats the password or the account in its replies.
func secrets(t *testing.T) {
	const secret = "canary-Xq7"
	asks := func(context.Context, fetch.Challenge) (locator.Login, error) {
		return locator.Login{Password: secret}, nil
	}
	for name, tc := range map[string]struct {
		login locator.Login
		opt   Options
		shown string
	}{
		"password of the URL":   {locator.Login{User: "lab", Password: secret, HasPassword: true}, Options{}, "PASS ****\r\n"},
		"password requested":    {locator.Login{User: "lab"}, Options{}, "PASS ****\r\n"},
		"account of the option": {locator.Login{User: "acct", Password: "x", HasPassword: true}, Options{Account: secret}, "ACCT ****\r\n"},
		"account requested":     {locator.Login{User: "acct", Password: "x", HasPassword: true}, Options{}, "ACCT ****\r\n"},
	} {
		for _, verb := range []string{"PASS", "ACCT", "PWD", "CWD", "TYPE", "EPSV", "PASV", "RETR", "SITE"} {
			for _, code := range []string{"550", "421", "garbage", "299", "230"} {
				if strings.HasPrefix(name, "account") == (verb == "PASS") {
					continue
				}
				reply := code + " you said " + secret + "\r\n"
				h := &hostile{on: map[string]string{"EPSV": "500 no\r\n"}, first: map[string]string{verb: reply}}
				if tc.login.User == "acct" {
					h.on["PASS"], h.on["ACCT"] = "332 account\r\n", "230 in\r\n"
				}
				h.on[verb] = reply
				h.serve(t)
				var shown strings.Builder
				note := func(b []byte) { shown.Write(b) }
				ctx := fetch.WithTrace(t.Context(), &fetch.Trace{
					Sent: note, Received: note, Note: func(text string) { shown.WriteString(text) },
					Retry: func(r fetch.Retry) { shown.WriteString(r.Err.Error()) },
				})
				l, opt := at("/a/x"), tc.opt
				l.Login, opt.PreTransfer = &tc.login, []string{"*SITE x"}
				f := &Fetcher{Env: h.env(), DisablePipelining: name == "account requested"} // so that ACCT is sent first
				f.Env.Credentials = asks
				if _, err := read(ctx, f, &fetch.Request{Locator: l, Options: &opt}); err != nil {
					shown.WriteString(err.Error())
					for ; err != nil; err = errors.Unwrap(err) {
						fmt.Fprintf(&shown, "%v %+v", err, err)
					}
				}
				f.Close()
				if strings.Contains(shown.String(), secret) {
					t.Errorf("%s, %s %q: the secret is shown in %q", name, verb, reply, shown.String())
				}
				if !strings.Contains(shown.String(), tc.shown) {
					t.Errorf("%s: %q is not shown in %q", name, tc.shown, shown.String())
				}
			}
		}
	}
}
