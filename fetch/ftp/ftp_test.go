package ftp

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	sessions "github.com/fetch1738/fetch1738/fetch/internal/session"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

var when = time.Date(1994, time.December, 20, 17, 38, 0, 0, time.UTC)

// notKept are the conditions of an access without a server: it asks none about names.
var notKept = conditions{terms: sessions.Terms{Limit: -1}}

func tree() fstest.MapFS {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s), ModTime: when} }
	return fstest.MapFS{
		"x.txt": file("top\n"), "a/b/c.txt": file("line one\nline two\n"), "etc/x": file("etc x\n"), "etc/motd": file("motd\n"),
		"pub/f #1;%.txt": file("odd\n"), "pub/sub/y": file("y\n"), "pub/zero": file(""),
		"home/lab/mine": file("mine\n"), "sp ace/ x": file("space\n"),
	}
}

// measured is the greeting of a program to which most commands are sent ahead.
const measured = "220 (vsFTPd 3.0.3)"

func start(t *testing.T, configure ...func(*ftptest.Server)) *ftptest.Server {
	t.Helper()
	srv := ftptest.New(t, append([]func(*ftptest.Server){func(s *ftptest.Server) { s.Content, s.Greeting = tree(), measured }}, configure...)...)
	if err := srv.Put("pub/\xff\xfe", []byte("eight bits\n")); err != nil {
		t.Fatal(err)
	}
	return srv
}

func parse(t testing.TB, url string) *locator.FTP {
	t.Helper()
	ref, err := locator.Parser{}.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return ref.Locator.(*locator.FTP)
}

// sent returns the commands that the client has sent, without line ends.
func sent(srv *ftptest.Server) []string {
	var list []string
	for _, l := range srv.Transcript() {
		if l.From == testserver.FromClient {
			list = append(list, strings.TrimSuffix(l.Octets, "\r\n"))
		}
	}
	return list
}

func wantSent(t *testing.T, srv *ftptest.Server, want ...string) {
	t.Helper()
	if got := sent(srv); !slices.Equal(got, want) {
		t.Errorf("sent %q\nwant %q", got, want)
	}
}

// TestExactSequence tests the commands of RFC 1738 §3.2.2, byte for byte.
func TestExactSequence(t *testing.T) {
	for _, tc := range []struct {
		path, want string
		sent       []string
	}{
		{"/x.txt", "top\n", []string{"TYPE I", "EPSV", "RETR x.txt"}},
		{"/a/b/c.txt", "line one\nline two\n", []string{"CWD a", "CWD b", "TYPE I", "EPSV", "RETR c.txt"}},
		{"/a/b/c.txt;type=i", "line one\nline two\n", []string{"CWD a", "CWD b", "TYPE I", "EPSV", "RETR c.txt"}},
		{"/a/b/c.txt;type=A", "line one\nline two\n", []string{"CWD a", "CWD b", "TYPE A", "EPSV", "RETR c.txt"}},
		{"/a/b;type=d", "b/c.txt\n", []string{"CWD a", "EPSV", "NLST b"}},
		{"/a/b/;type=d", "c.txt\n", []string{"CWD a", "CWD b", "EPSV", "NLST"}},
		{"/pub/sub/", "y\n", []string{"CWD pub", "CWD sub", "EPSV", "NLST"}},
		{"", "a\netc\nhome\npub\nsp ace\nx.txt\n", []string{"EPSV", "NLST"}},
		{"/", "a\netc\nhome\npub\nsp ace\nx.txt\n", []string{"EPSV", "NLST"}},
		{"/%2Fetc/motd", "motd\n", []string{"CWD /etc", "TYPE I", "EPSV", "RETR motd"}}, // the document's three examples
		{"/etc/motd", "motd\n", []string{"CWD etc", "TYPE I", "EPSV", "RETR motd"}},
		{"//etc/motd", "motd\n", []string{"CWD ", "CWD etc", "TYPE I", "EPSV", "RETR motd"}},
		{"/a%2Fb/c.txt", "line one\nline two\n", []string{"CWD a/b", "TYPE I", "EPSV", "RETR c.txt"}},
		{"/a/b%2Fc.txt", "line one\nline two\n", []string{"CWD a", "TYPE I", "EPSV", "RETR b/c.txt"}},
		{"/pub/f%20%231%3B%25.txt", "odd\n", []string{"CWD pub", "TYPE I", "EPSV", "RETR f #1;%.txt"}},
		{"/sp%20ace/%20x", "space\n", []string{"CWD sp ace", "TYPE I", "EPSV", "RETR  x"}},
		{"/pub/%FF%FE", "eight bits\n", []string{"CWD pub", "TYPE I", "EPSV", "RETR \xff\xff\xfe"}}, // IAC is doubled
		{"/pub/zero", "", []string{"CWD pub", "TYPE I", "EPSV", "RETR zero"}},
	} {
		srv := start(t)
		f := &Fetcher{Exact: true}
		got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+tc.path)})
		if err != nil || got != tc.want {
			t.Errorf("%s: %q, %v; want %q", tc.path, got, err, tc.want)
		}
		wantSent(t, srv, slices.Concat([]string{"USER anonymous", "PASS anonymous@"}, tc.sent, []string{"QUIT"})...)
	}
}

func TestExactRange(t *testing.T) {
	srv := start(t)
	f := &Fetcher{Exact: true}
	got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt"), Offset: 5})
	if err != nil || got != "one\nline two\n" {
		t.Errorf("%q, %v", got, err)
	}
	wantSent(t, srv, "USER anonymous", "PASS anonymous@", "CWD a", "CWD b", "TYPE I", "EPSV", "REST 5", "RETR c.txt",
		"REST 0", "EPSV", "RETR c.txt", "QUIT") // without SIZE, nothing else shows that the server obeys
}

func TestDefaultSequence(t *testing.T) {
	srv := start(t)
	f := &Fetcher{}
	for _, path := range []string{"/a/b/c.txt", "/a/b/c.txt", "/x.txt", "/pub/", "/a/none", "/a/b/c.txt;type=a"} {
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+path), Options: &Options{ModTime: true}})
		if (err != nil) != (path == "/a/none") {
			t.Fatal(err)
		}
		if err != nil {
			continue
		}
		io.Copy(io.Discard, res.Body)
		res.Close()
		if !strings.HasSuffix(path, "/") && !res.ModTime.Equal(when) {
			t.Errorf("%s: modified %v", path, res.ModTime)
		}
	}
	f.Close()
	wantSent(t, srv, "USER anonymous", "PASS anonymous@", "PWD",
		"TYPE I", "CWD a", "CWD b", "MDTM c.txt", "SIZE c.txt", "EPSV", "RETR c.txt",
		"MDTM c.txt", "EPSV", "RETR c.txt", // the same directory: no CWD
		"CWD /", "MDTM x.txt", "EPSV", "RETR x.txt",
		"CWD pub", "TYPE A", "EPSV", "LIST", "EPSV", // the second listing suggests a walk: EPSV for the next one
		"CWD /", "CWD a", "MDTM none", "TYPE I", "RETR none", "SIZE none",
		"CWD b", "MDTM c.txt", "TYPE A", "RETR c.txt", "QUIT")
}

func TestLogins(t *testing.T) {
	users := map[string]testserver.User{
		"lab": {Password: "secret"}, "open": {}, "acct": {Password: "secret", Account: "A42"}, "only": {Account: "A42"}, "": {Password: "nameless"},
	}
	ask := func(t *testing.T, want fetch.Challenge, answer string) *fetch.Env {
		return &fetch.Env{Email: "me@example.org", Credentials: func(_ context.Context, c fetch.Challenge) (locator.Login, error) {
			if answer == "" || c.User != want.User || c.Account != want.Account || c.Text == "" || c.Locator == nil {
				t.Errorf("asked for %+v", c)
			}
			return locator.Login{Password: answer}, nil
		}}
	}
	for _, tc := range []struct {
		login  string
		asked  fetch.Challenge
		answer string
		opt    *Options
		sent   []string
	}{
		{"", fetch.Challenge{}, "", nil, []string{"USER anonymous", "PASS me@example.org"}},
		{"lab:secret@", fetch.Challenge{}, "", nil, []string{"USER lab", "PASS secret"}},
		{"lab@", fetch.Challenge{User: "lab"}, "secret", nil, []string{"USER lab", "PASS secret"}},
		{"open@", fetch.Challenge{}, "", nil, []string{"USER open"}}, // no password requested, so none sent
		{"open:unused@", fetch.Challenge{}, "", nil, []string{"USER open"}},
		{"@", fetch.Challenge{}, "nameless", nil, []string{"USER ", "PASS nameless"}},
		{":nameless@", fetch.Challenge{}, "", nil, []string{"USER ", "PASS nameless"}},
		{"acct:secret@", fetch.Challenge{User: "acct", Account: true}, "A42", nil, []string{"USER acct", "PASS secret", "ACCT A42"}},
		{"acct:secret@", fetch.Challenge{}, "", &Options{Account: "A42"}, []string{"USER acct", "PASS secret", "ACCT A42"}},
		{"only:@", fetch.Challenge{}, "", &Options{Account: "A42"}, []string{"USER only", "ACCT A42"}},
	} {
		srv := start(t, func(s *ftptest.Server) { s.Users = users })
		f := &Fetcher{Env: ask(t, tc.asked, tc.answer), Exact: true}
		url := strings.Replace(srv.URL, "ftp://", "ftp://"+tc.login, 1)
		got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, url+"/x.txt"), Options: tc.opt})
		if err != nil || got != "top\n" {
			t.Errorf("%q: %q %v", tc.login, got, err)
		}
		wantSent(t, srv, slices.Concat(tc.sent, []string{"TYPE I", "EPSV", "RETR x.txt", "QUIT"})...)
	}
}

// TestAnonymousRefused tests a server without an anonymous user, with Env.Credentials.
func TestAnonymousRefused(t *testing.T) {
	srv := start(t, func(s *ftptest.Server) {
		s.Anonymous, s.Users = false, map[string]testserver.User{"lab": {Password: "secret"}}
	})
	f := &Fetcher{Env: &fetch.Env{Credentials: func(context.Context, fetch.Challenge) (locator.Login, error) {
		return locator.Login{User: "lab", Password: "secret"}, nil
	}}}
	defer f.Close()
	for range 2 {
		if got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/x.txt")}); err != nil || got != "top\n" {
			t.Errorf("%q %v", got, err)
		}
	}
	// On the first connection the server may read any number of the commands after PASS, and late.
	var refused, got []string
	for _, l := range srv.Transcript() {
		switch line := strings.TrimSuffix(l.Octets, "\r\n"); {
		case l.From != testserver.FromClient:
		case l.Conn == 1:
			refused = append(refused, line)
		default:
			got = append(got, line)
		}
	}
	want := []string{"USER lab", "PASS secret", "PWD", "TYPE I", "SIZE x.txt", "EPSV", "RETR x.txt", "EPSV", "RETR x.txt"}
	if len(refused) < 2 || refused[0] != "USER anonymous" || refused[1] != "PASS anonymous@" || !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q after the refusal of %q", got, want, refused)
	}
}

func TestErrorsOfReplies(t *testing.T) {
	for _, tc := range []struct {
		verb, reply string
		op          fetch.Op
		kind        fetch.ErrorKind
		code        int
	}{
		{"GREETING", "421 full", "connect", fetch.ErrBusy, 421},
		{"GREETING", "530 not you", "connect", fetch.ErrPermission, 530},
		{"USER", "530 no", "USER", fetch.ErrUnauthenticated, 530},
		{"PASS", "530 no", "PASS", fetch.ErrUnauthenticated, 530},
		{"PASS", "421 bye", "PASS", fetch.ErrBusy, 421},
		{"CWD", "550 none", "CWD", fetch.ErrNotFound, 550},
		{"CWD", "550 a: Permission denied", "CWD", fetch.ErrPermission, 550},
		{"CWD", "530 log in", "CWD", fetch.ErrPermission, 530},
		{"CWD", "501 what", "CWD", fetch.ErrUnsupported, 501},
		{"CWD", "450 busy", "CWD", fetch.ErrBusy, 450},
		{"CWD", "213 17", "CWD", fetch.ErrProtocol, 213}, // it may be a late reply to SIZE
		{"TYPE", "504 no", "TYPE", fetch.ErrUnsupported, 504},
		{"PASV", "502 no", "PASV", fetch.ErrUnsupported, 502},
		{"RETR", "550 none", "RETR", fetch.ErrNotFound, 550},
		{"RETR", "450 busy", "RETR", fetch.ErrBusy, 450},
		{"RETR", "451 sorry", "RETR", fetch.ErrBusy, 451},
		{"RETR", "425 no", "RETR", fetch.ErrUnreachable, 425},
		{"RETR", "551 no such file", "RETR", fetch.ErrNotFound, 551},
		{"RETR", "553 bad name", "RETR", fetch.ErrPermission, 553},
		{"RETR", "532 account", "RETR", fetch.ErrPermission, 532},
		{"REST", "502 no", "REST", fetch.ErrUnsupported, 502},
		{"REST", "554 too far", "REST", fetch.ErrBadRange, 554},
		{"REST", "451 no", "REST", fetch.ErrBadRange, 451},
	} {
		srv := start(t, func(s *ftptest.Server) {
			s.Hide = []string{"EPSV"}
			s.On(tc.verb, 1, testserver.Reply(tc.reply))
		})
		f := &Fetcher{Exact: true}
		_, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt"), Offset: 1})
		var e *fetch.Error
		if !errors.As(err, &e) || e.Op != tc.op || e.Kind != tc.kind || e.Code != tc.code || e.Reply != tc.reply[4:] {
			t.Errorf("%s %q: %v (%+v)", tc.verb, tc.reply, err, e)
		}
	}
}

// TestMissingBySize tests a 550 reply to SIZE that is followed by various replies to RETR.
func TestMissingBySize(t *testing.T) {
	for _, tc := range []struct {
		size, retr string
		offset     int64
		kind       fetch.ErrorKind
		op         fetch.Op
	}{
		{"550 none", "550 none", 0, fetch.ErrNotFound, "RETR"},
		{"550 none", "551 none", 0, fetch.ErrNotFound, "RETR"},
		{"550 none", "553 what", 0, fetch.ErrNotFound, "RETR"},
		{"550 none", "", -1, fetch.ErrNotFound, "SIZE"},
		{"550 none", "451 later", 0, fetch.ErrBusy, "RETR"},
		{"550 Permission denied", "553 what", 0, fetch.ErrPermission, "RETR"},
		{"502 what", "553 what", 0, fetch.ErrPermission, "RETR"},
		{"550 none", "", 0, fetch.ErrOther, ""},
	} {
		srv := start(t)
		srv.On("SIZE", 1, testserver.Reply(tc.size))
		if tc.retr != "" {
			srv.On("RETR", 1, testserver.Reply(tc.retr))
		}
		f := &Fetcher{}
		got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/x.txt"), Offset: tc.offset})
		f.Close()
		var e *fetch.Error
		if errors.As(err, &e) && (e.Kind != tc.kind || e.Op != tc.op) || (err == nil) != (tc.op == "" && got == "top\n") {
			t.Errorf("%+v: %q %v", tc, got, err)
		}
	}
}

// TestSizesOfServers tests replies to SIZE that do not follow RFC 3659. The size is the
// number at the end of the text; without a number it is not known.
func TestSizesOfServers(t *testing.T) {
	for reply, want := range map[string]int64{"213 file: 213, Size =4": 4, "213 x.txt 4": 4, "213 ": -1, "213": -1, "213 unknown": -1, "213 -1": -1} {
		srv := start(t)
		srv.On("SIZE", 0, testserver.Reply(reply))
		srv.On("RETR", 0, testserver.Reply("150 here it comes"))
		f := &Fetcher{}
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/x.txt")})
		if err != nil {
			t.Errorf("%q: %v", reply, err)
			continue
		}
		got, err := io.ReadAll(res.Body)
		res.Close()
		attr, err2 := f.FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/x.txt")})
		if err != nil || string(got) != "top\n" || res.Size != want || err2 != nil || attr.Size != want {
			t.Errorf("%q: %q %v, size %d; %+v %v", reply, got, err, res.Size, attr, err2)
		}
		f.Close()
	}
}

// TestWelcome tests the greeting 230: no user name or password is sent, unless TLS is
// started after it.
func TestWelcome(t *testing.T) {
	srv := start(t)
	srv.On("GREETING", 0, testserver.Reply("230 come in"))
	srv.On("PWD", 0, testserver.Reply("257 \"/\""))
	f := &Fetcher{}
	_, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, strings.Replace(srv.URL, "//", "//lab:secret@", 1)+"/")})
	if err != nil {
		t.Error(err)
	}
	if f.Close(); len(sent(srv)) == 0 || sent(srv)[0] != "PWD" {
		t.Errorf("sent %q", sent(srv))
	}
	var packets []string
	f = &Fetcher{Env: &fetch.Env{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := srv.Dial(ctx, network, address)
		return written{c, &packets}, err
	}}}
	_, _ = read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/x.txt")})
	if f.Close(); len(packets) == 0 || packets[0] != "PWD" {
		t.Errorf("packets %q: such a server is no common one, so that nothing is sent ahead", packets)
	}
	srv.ResetTranscript()
	f = &Fetcher{Security: TryTLS}
	if got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/x.txt")}); got != "top\n" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if f.Close(); !slices.Contains(sent(srv), "USER anonymous") {
		t.Errorf("sent %q", sent(srv))
	}
}

// TestBusyListing tests the reply 450, which some servers send for a missing directory
// because RFC 959 does not list 550 there.
func TestBusyListing(t *testing.T) {
	srv := start(t)
	srv.On("NLST", 1, testserver.Reply("450 none: No such file"))
	_, err := (&Fetcher{Exact: true}).Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/none;type=d")})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// TestEmptyDirectory tests the reply of wu-ftpd and inetutils-ftpd for an empty directory.
func TestEmptyDirectory(t *testing.T) {
	srv := start(t)
	f := &Fetcher{}
	for path, arm := range map[string]func(){
		"/pub/;type=d": func() { srv.On("NLST", 1, testserver.Reply("550 No files found.")) },
		"/pub/":        func() { srv.On("LIST", 1, testserver.Reply("450 No files found")) },
	} {
		arm()
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+path)})
		if err != nil || res.Kind != fetch.KindDirectory {
			t.Fatalf("%v %v", res, err)
		}
		for item, err := range res.Items {
			t.Errorf("%+v %v", item, err)
		}
		if err := res.Close(); err != nil {
			t.Error(err)
		}
	}
	f.Close()
	if n := logins(srv); n != 1 {
		t.Errorf("%d logins", n)
	}
}

func TestFallBacks(t *testing.T) {
	srv := start(t, func(s *ftptest.Server) { s.Hide = []string{"EPSV", "LIST", "SIZE", "MDTM"} })
	f := &Fetcher{}
	for range 2 {
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/pub/sub/")})
		if err != nil {
			t.Fatal(err)
		}
		for item, err := range res.Items {
			if err != nil || item.Name != "y" || item.Size != -1 {
				t.Errorf("%+v %v", item, err)
			}
		}
		res.Close()
	}
	got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/pub/sub/y")})
	if err != nil || got != "y\n" {
		t.Errorf("%q %v", got, err)
	}
	f.Close()
	asked := []string{"TYPE I", "SIZE /", "SIZE y", "MDTM y", "CWD y", "CWD /", "CWD pub", "CWD sub"}
	wantSent(t, srv, slices.Concat([]string{"USER anonymous", "PASS anonymous@", "PWD", "TYPE A", "CWD pub", "CWD sub", "EPSV", "PASV", "LIST", "NLST"}, asked,
		[]string{"TYPE A", "PASV", "LIST", "PASV", "NLST", "PASV"}, asked, []string{"SIZE y", "RETR y", "QUIT"})...)
}

func TestDisableEPSV(t *testing.T) {
	srv := start(t)
	if got, err := read(t.Context(), &Fetcher{Exact: true, DisableEPSV: true}, &fetch.Request{Locator: parse(t, srv.URL+"/x.txt")}); err != nil || got != "top\n" {
		t.Errorf("%q %v", got, err)
	}
	wantSent(t, srv, "USER anonymous", "PASS anonymous@", "TYPE I", "PASV", "RETR x.txt", "QUIT")
}

func TestOptions(t *testing.T) {
	srv := start(t)
	f := &Fetcher{}
	defer f.Close()
	opt := &Options{Quote: []string{"NOOP", "*SITE NONE"}, PreTransfer: []string{"STAT"}, PostQuote: []string{"SYST"}}
	if got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/etc/x"), Options: opt}); err != nil || got != "etc x\n" {
		t.Errorf("%q %v", got, err)
	}
	wantSent(t, srv, "USER anonymous", "PASS anonymous@", "PWD", "NOOP", "SITE NONE", "CWD etc", "TYPE I", "STAT", "SIZE x", "EPSV", "RETR x", "SYST", "QUIT")
	for _, tc := range []struct {
		opt  *Options
		path string
		want []string
	}{
		{&Options{Method: SingleCWD}, "/a/b/c.txt", []string{"CWD a/b", "TYPE I", "SIZE c.txt", "EPSV", "RETR c.txt"}},
		{&Options{Method: NoCWD}, "/a/b/c.txt", []string{"TYPE I", "SIZE a/b/c.txt", "EPSV", "RETR a/b/c.txt"}},
		{&Options{Method: NoCWD}, "/a/b/", []string{"TYPE A", "EPSV", "LIST a/b"}},
		{&Options{Method: NoCWD}, "//etc/x", []string{"TYPE I", "SIZE /etc/x", "EPSV", "RETR /etc/x"}},
		{&Options{ListOnly: true}, "/a/b/", []string{"CWD a", "CWD b", "TYPE A", "EPSV", "NLST"}},
	} {
		srv.ResetTranscript()
		f := &Fetcher{MaxIdle: -1}
		if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+tc.path), Options: tc.opt}); err != nil {
			t.Error(err)
		}
		wantSent(t, srv, slices.Concat([]string{"USER anonymous", "PASS anonymous@"}, tc.want, []string{"QUIT"})...)
	}
	_, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/etc/x"), Options: &Options{Quote: []string{"DELE none"}}})
	var e *fetch.Error
	if !errors.As(err, &e) || e.Op != "QUOTE" || e.Code != 550 {
		t.Errorf("a failed Quote command: %v", err)
	}
	_, err = read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/etc/x"), Options: &Options{PostQuote: []string{"DELE none"}}})
	if !errors.As(err, &e) || e.Op != "QUOTE" || e.Code != 550 {
		t.Errorf("a failed PostQuote command: %v", err)
	}
}

func TestGuessType(t *testing.T) {
	srv := start(t)
	f := &Fetcher{GuessType: true, Exact: true}
	for path, want := range map[string]string{"/a/b/c.txt": "TYPE A", "/etc/x": "TYPE I", "/a/b/c.txt;type=i": "TYPE I"} {
		srv.ResetTranscript()
		if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+path)}); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(sent(srv), want) {
			t.Errorf("%s: %q", path, sent(srv))
		}
	}
}

func TestTextToLocal(t *testing.T) {
	data := "one\ntwo\r\nthree\rfour\r\n\r\r\nend\r"
	for _, size := range []ftptest.SizeInASCII{ftptest.SizeConverted, ftptest.SizeRaw, ftptest.SizeRefused} {
		srv := start(t, func(s *ftptest.Server) {
			s.SizeInASCII, s.Content = size, fstest.MapFS{"t": {Data: []byte(data)}}
		})
		var reported int64
		ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Body: func(n int64) { reported += n }})
		f := &Fetcher{}
		res, err := f.Fetch(ctx, &fetch.Request{Locator: parse(t, srv.URL+"/t;type=a")})
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.Create(filepath.Join(t.TempDir(), "t"))
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(file, res.Body)
		file.Close()
		res.Close()
		f.Close()
		got, _ := os.ReadFile(file.Name())
		want := strings.ReplaceAll(data, "\r\n", "\n")
		if err != nil || string(got) != want || n != int64(len(want)) || reported != n || res.Size != -1 || res.Info.(*Info).Type != 'A' {
			t.Errorf("%q, %d bytes, %d reported, Size %d, %v; want %q", got, n, reported, res.Size, err, want)
		}
	}
}

func TestInfo(t *testing.T) {
	srv := start(t, func(s *ftptest.Server) {
		s.Greeting, s.LoginDir = "220-hello\n220 there", "/home/lab"
	})
	f := &Fetcher{}
	defer f.Close()
	res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/mine")})
	if err != nil {
		t.Fatal(err)
	}
	res.Close()
	if got, want := *res.Info.(*Info), (Info{Greeting: "hello\nthere", Welcome: "User logged in, proceed.", EntryPath: "/home/lab", Type: 'I', Announced: 5}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if res.Size != 5 || !res.Peer.IsValid() || res.Kind != fetch.KindDocument {
		t.Errorf("%+v", res)
	}
}

// TestStoredSize tests that the size which a server states after an upload decides whether it has
// the document.
func TestStoredSize(t *testing.T) {
	cut := func(srv *ftptest.Server) { srv.On("STOR", 0, ftptest.Keep(3)) } // and 226
	size := func(reply string) func(*ftptest.Server) {
		return func(srv *ftptest.Server) { srv.On("SIZE", 0, testserver.Reply(reply)) }
	}
	for name, tc := range map[string]struct {
		arm    func(*ftptest.Server)
		offset int64
		exact  bool
		path   string
		fails  bool
	}{
		"stored":          {func(*ftptest.Server) {}, 0, false, "new", false},
		"cut":             {cut, 0, false, "new", true},
		"cut, exact":      {cut, 0, true, "new", false}, // no command but those of RFC 1738 is sent
		"cut, TYPE A":     {cut, 0, false, "new;type=a", false},
		"larger":          {size("213 7"), 0, false, "new", true},
		"end of a longer": {func(*ftptest.Server) {}, 2, false, "old", false},
		"SIZE unknown":    {size("500 No."), 0, false, "new", false},
		"taken away":      {size("550 No such file."), 0, false, "new", false},
		"no number":       {size("213 many"), 0, false, "new", false},
		"closed":          {func(srv *ftptest.Server) { srv.On("SIZE", 1, testserver.Close()) }, 0, false, "new", false},
		"closed each":     {func(srv *ftptest.Server) { srv.On("SIZE", 0, testserver.Close()) }, 0, false, "new", false}, // after 226
		"cut and closed":  {func(srv *ftptest.Server) { cut(srv); srv.On("SIZE", 1, testserver.Close()) }, 0, false, "new", true},
		"no reply":        {func(srv *ftptest.Server) { srv.On("SIZE", 1, testserver.Reply("what")) }, 0, false, "new", true},
	} {
		srv := start(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"old": {Data: []byte("0123456789")}} })
		tc.arm(srv)
		f := &Fetcher{Exact: tc.exact}
		req := &fetch.Request{Locator: parse(t, srv.URL+"/"+tc.path), Offset: tc.offset}
		attr, err := f.Replace(t.Context(), req, strings.NewReader("abcdef"))
		if (err != nil) != tc.fails {
			t.Errorf("%s: %+v, %v", name, attr, err)
		}
		if strings.HasPrefix(name, "cut") && tc.fails && (!errors.Is(err, fetch.ErrTruncated) || !strings.Contains(err.Error(), "has 3 of 6 bytes")) {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
		srv.ResetFaults() // SIZE is not sent in each case
	}
}

func TestUpload(t *testing.T) {
	srv := start(t, func(s *ftptest.Server) { s.Content = fstest.MapFS{"dir/old": {Data: []byte("0123456789")}} })
	f := &Fetcher{}
	req := func(path string) *fetch.Request { return &fetch.Request{Locator: parse(t, srv.URL+path)} }
	attr, err := f.Replace(t.Context(), req("/dir/new"), strings.NewReader("fresh"))
	if err != nil || attr.Size != 5 {
		t.Errorf("%+v %v", attr, err)
	}
	if attr, err = f.Update(t.Context(), req("/dir/old"), strings.NewReader("ab")); err != nil || attr.Size != -1 {
		t.Errorf("%+v %v", attr, err)
	}
	r := req("/dir/old")
	r.Offset = 3
	if attr, err = f.Replace(t.Context(), r, strings.NewReader("xyz")); err != nil || attr.Size != 6 {
		t.Errorf("%+v %v", attr, err)
	}
	if _, err = f.Replace(t.Context(), req("/dir/text;type=a"), strings.NewReader("a\nb\r\nc")); err != nil {
		t.Error(err)
	}
	r = req("/made/on/the/way")
	r.Options = &Options{CreateDirs: true}
	if _, err = f.Replace(t.Context(), r, strings.NewReader("")); err != nil {
		t.Error(err)
	}
	f.Close()
	got := srv.Uploads()
	for name, want := range map[string]string{"dir/new": "fresh", "dir/text": "a\nb\nc", "made/on/the/way": ""} {
		if string(got[name]) != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	wantSent(t, srv, "USER anonymous", "PASS anonymous@", "PWD", "TYPE I", "CWD dir", "EPSV", "STOR new", "SIZE new", "EPSV", "APPE old",
		"EPSV", "REST 3", "STOR old", "SIZE old", "TYPE A", "EPSV", "STOR text",
		"CWD /", "CWD made", "MKD made", "CWD made", "CWD on", "MKD on", "CWD on", "CWD the", "MKD the", "CWD the", "TYPE I", "EPSV", "STOR way", "SIZE way", "QUIT")
	for _, path := range []string{"/dir/", "/dir/x;type=d", ""} {
		if _, err := f.Replace(t.Context(), req(path), strings.NewReader("")); !errors.Is(err, fetch.ErrBadURL) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestUploadTime tests that an upload sets the time with a command that the server supports.
func TestUploadTime(t *testing.T) {
	for _, tc := range []struct {
		replies map[string]string
		want    []string
		notes   int
	}{
		{nil, []string{"MFMT 19941220173800 new"}, 0},
		{map[string]string{"MFMT": "502 no", "SITE": "200 ok"}, []string{"MFMT 19941220173800 new", "SITE UTIME new 19941220173800 19941220173800 19941220173800 UTC"}, 0},
		{map[string]string{"MFMT": "502 no", "SITE": "502 no"}, []string{"MFMT 19941220173800 new", "SITE UTIME new 19941220173800 19941220173800 19941220173800 UTC"}, 1},
	} {
		srv := start(t)
		for verb, reply := range tc.replies {
			srv.On(verb, 0, testserver.Reply(reply))
		}
		notes := 0
		ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Note: func(string) { notes++ }})
		f := &Fetcher{}
		req := &fetch.Request{Locator: parse(t, srv.URL+"/new"), Options: &Options{SetModTime: when.In(time.FixedZone("", 3600))}}
		if _, err := f.Replace(ctx, req, strings.NewReader("new")); err != nil {
			t.Error(err)
		}
		got := slices.DeleteFunc(sent(srv), func(line string) bool { return !strings.Contains(line, "19941220173800") })
		if !slices.Equal(got, tc.want) || notes != tc.notes {
			t.Errorf("sent %q, %d notes", got, notes)
		}
		attr, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/new")})
		if err != nil || tc.replies == nil && !attr.ModTime.Equal(when) {
			t.Errorf("%+v %v", attr, err)
		}
		f.Close()
	}
}

// TestUploadFails tests failures of the source and of the server.
func TestUploadFails(t *testing.T) {
	srv := start(t, func(s *ftptest.Server) { s.MaxUpload = 1 << 20 })
	f := &Fetcher{}
	defer f.Close()
	req := &fetch.Request{Locator: parse(t, srv.URL+"/new")}
	broken := errors.New("the disk is gone")
	_, err := f.Replace(t.Context(), req, io.MultiReader(strings.NewReader("half"), errorReader{broken}))
	if !errors.Is(err, fetch.ErrLocalIO) || !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if n := len(slices.DeleteFunc(srv.Transcript().From(testserver.FromServer), func(s string) bool { return !strings.HasPrefix(s, "426") })); n != 1 {
		t.Errorf("the server did not reply 426 to a partial upload:\n%v", srv.Transcript())
	}
	if _, err = f.Replace(t.Context(), req, io.LimitReader(zeros{}, 4<<20)); !errors.Is(err, fetch.ErrTooLarge) {
		t.Errorf("upload above the server's limit: %v", err)
	}
	srv.On("STOR", 0, testserver.Reply("553 no"))
	if _, err = f.Replace(t.Context(), req, strings.NewReader("x")); !errors.Is(err, fetch.ErrPermission) {
		t.Errorf("%v", err)
	}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestAttributes(t *testing.T) {
	for _, hide := range [][]string{nil, {"SIZE"}, {"MDTM"}, {"SIZE", "MDTM"}} {
		srv := start(t, func(s *ftptest.Server) { s.Hide = hide })
		f := &Fetcher{}
		attr, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt")})
		switch {
		case len(hide) == 2: // the server cannot distinguish a file from a missing one
			if err == nil {
				t.Errorf("%+v", attr)
			}
		case err != nil, (attr.Size == 18) == slices.Contains(hide, "SIZE"), attr.ModTime.Equal(when) == slices.Contains(hide, "MDTM"):
			t.Errorf("without %q: %+v, %v", hide, attr, err)
		}
		for _, path := range []string{"/a", "/a/", "", "/"} {
			attr, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+path)})
			if err != nil || attr.Size != -1 || !attr.ModTime.IsZero() {
				t.Errorf("the directory %q: %+v, %v", path, attr, err)
			}
		}
		if n := count(sent(srv), "TYPE I"); n != 1 {
			t.Errorf("%d TYPE I in %q", n, sent(srv))
		}
		if _, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/none")}); err == nil || len(hide) < 2 && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v", err)
		}
		f.Close()
	}
}

func TestRanges(t *testing.T) {
	srv := start(t)
	f := &Fetcher{}
	defer f.Close()
	data := "line one\nline two\n"
	for _, tc := range []struct {
		offset, length int64
		want           string
	}{{0, 4, "line"}, {5, 3, "one"}, {-4, 0, "two\n"}, {-99, 4, "line"}, {18, 0, ""}, {17, 1, "\n"}, {0, 99, data}, {0, 18, data}} {
		got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt"), Offset: tc.offset, Length: tc.length})
		if err != nil || got != tc.want {
			t.Errorf("%d+%d: %q %v", tc.offset, tc.length, got, err)
		}
	}
	srv.ResetTranscript()
	if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/a/b/c.txt"), Offset: 18}); err != nil {
		t.Error(err)
	}
	for _, req := range []fetch.Request{{Offset: 19}, {Length: -1}} {
		req.Locator = parse(t, srv.URL+"/a/b/c.txt")
		if _, err := read(t.Context(), f, &req); !errors.Is(err, fetch.ErrBadRange) {
			t.Errorf("%d+%d: %v", req.Offset, req.Length, err)
		}
	}
	wantSent(t, srv, "SIZE c.txt", "SIZE c.txt") // at the end of the file no transfer is started
	hidden := start(t, func(s *ftptest.Server) { s.Hide = []string{"SIZE"} })
	if _, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, hidden.URL+"/x.txt"), Offset: -1}); !errors.Is(err, fetch.ErrBadRange) {
		t.Errorf("offset from the end without SIZE: %v", err)
	}
}

func TestItems(t *testing.T) {
	srv := start(t, func(s *ftptest.Server) { s.Users = map[string]testserver.User{"lab": {Password: "secret"}} })
	f := &Fetcher{Env: &fetch.Env{}}
	defer f.Close()
	url := strings.Replace(srv.URL, "ftp://", "ftp://lab:secret@", 1)
	for _, path := range []string{"/pub/", "/pub", "/pub/;type=d", "/pub;type=d"} {
		l := parse(t, url+path)
		if path == "/pub" {
			continue // the URL is that of a file
		}
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: l})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		var items []fetch.Item
		for item, err := range res.Items {
			if err != nil {
				t.Fatal(err)
			}
			names, items = append(names, item.Name), append(items, item)
		}
		res.Close()
		if want := []string{"f #1;%.txt", "sub", "zero", "\xff\xfe"}; !slices.Equal(names, want) {
			t.Errorf("%s lists %q, want %q", path, names, want)
			continue
		}
		for _, item := range items {
			if strings.Contains(item.Locator.Redacted(), "secret") || !strings.Contains(item.Locator.String(), "secret") {
				t.Errorf("%s", item.Locator.Redacted())
			}
		}
		if got, err := read(t.Context(), f, &fetch.Request{Locator: items[3].Locator}); err != nil || got != "eight bits\n" {
			t.Errorf("%q %v", got, err)
		}
		if path == "/pub/" && (items[1].Kind != fetch.KindDirectory || items[0].Size != 4 || items[0].ModTime.Year() != 1994) {
			t.Errorf("%+v", items)
		}
	}
}

// TestNamesOfDot tests a server that refuses NLST without an argument, as Twisted does.
func TestNamesOfDot(t *testing.T) {
	srv := start(t)
	srv.On("NLST", 1, testserver.Reply("500 Syntax error: NLST requires an argument."))
	f := &Fetcher{}
	got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/pub/sub/"), Options: &Options{ListOnly: true}})
	if f.Close(); err != nil || got != "./y\n" {
		t.Errorf("%q, %v", got, err)
	}
	if sent := sent(srv); !slices.Contains(sent, "NLST .") {
		t.Errorf("sent %q", sent)
	}
}

// TestPathsOfNames lists directories with names that follow a path: names after that of the directory
// are entries, others are not understood.
func TestPathsOfNames(t *testing.T) {
	const ls, dos = "-rw-r--r-- 1 u g 12 Jan  1  2001 ", "07-18-00 10:16AM 1 "
	for _, tc := range []struct{ path, line, want string }{
		{"/d/", "x", "/d/x"}, {"/d/", "./x", "/d/x"}, {"/d/", "d/x", "/d/x"}, {"/d/", "/home/d/x", "/d/x"}, {"/", "x", "/x"}, {"/", "/home/x", "/x"},
		{"/d/", "/d/x", ""}, {"/d/", "/abs/d/x", ""}, {"/d/", "../../x", ""}, {"/d/", "e/x", ""}, {"/c/d/", "d/x", ""}, {"/c/d/", "c/d/x", "/c/d/x"},
		{"/%2Fetc/", "/etc/x", "/%2Fetc/x"}, {"/%2Fetc/", "/home/etc/x", ""}, {"/%2F/", "/x", "/%2F/x"}, {"//d/", "/d/x", ""}, {"/d/%2E%2E/", "/home/d/../x", ""}, {"/d/..%2F/", "x", "/d/..%2F/x"},
		{"/d;type=d", "d/x", "/d/x"}, {"/d;type=d", "x", "/d/x"}, {"/d;type=d", "d/d", "/d/d"}, {"/c/d;type=d", "d/x", "/c/d/x"}, {"/c/d;type=d", "/home/c/d/x", "/c/d/x"}, {"/c/d;type=d", "c/x", ""},
		{"/c/file;type=d", "file", "/c/file"}, {"/c/*.txt;type=d", "x.txt", "/c/x.txt"}, {"/c/*;type=d", "sub/x.txt", ""}, {"/d%2F*.txt;type=d", "d/x.txt", "/d/x.txt"},
		{"/%2Fetc;type=d", "/etc/x", "/%2Fetc/x"},
		{"/d/", ".", "-"}, {"/d/", "..", "-"}, {"/d/", "d/.", "-"}, {"/d/", "x/", ""}, {"/d/", "a\x00b", ""}, {"/d/", "a\rDELE b", ""},
	} {
		for verb, before := range map[string]string{"LIST": ls, "LIST of DOS": dos, "MLSD": "type=file; ", "NLST": ""} {
			a := &access{loc: at(tc.path), verb: fetch.Op(verb[:4]), req: new(fetch.Request), conditions: notKept}
			if a.loc.Type == 'd' && verb != "NLST" {
				continue
			}
			info := &Info{EntryPath: "/home"}
			var got string
			for item, err := range idleRunner(t).items(a, strings.NewReader(before+tc.line+"\r\n"), info) {
				if err == nil {
					got = strings.TrimPrefix(item.Locator.String(), "ftp://127.0.0.1")
				}
			}
			if got == "" && info.Unread == 0 {
				got = "-"
			}
			if got != tc.want {
				t.Errorf("%s %s: %q is %q, want %q", verb, tc.path, tc.line, got, tc.want)
			}
		}
	}
	a, info := &access{loc: at("/"), verb: "LIST", req: new(fetch.Request), conditions: notKept}, new(Info) // no reply to PWD
	for item, err := range idleRunner(t).items(a, strings.NewReader(ls+"/x\r\n"), info) {
		if err == nil {
			t.Errorf("%+v", item)
		}
	}
}

func TestChecks(t *testing.T) {
	f := &Fetcher{Env: &fetch.Env{Dial: nil, Allow: func(context.Context, fetch.Target) error {
		t.Error("the policy was asked although the request is invalid")
		return nil
	}}}
	good := at("/x")
	for name, req := range map[string]*fetch.Request{
		"scheme":      {Locator: &locator.Gopher{}},
		"no locator":  {},
		"typecode":    {Locator: &locator.FTP{Server: good.Server, Type: 'x'}},
		"host":        {Locator: &locator.FTP{HasPath: true}},
		"CR in path":  {Locator: &locator.FTP{Server: good.Server, CWD: []string{"a\rb"}}},
		"NUL in name": {Locator: &locator.FTP{Server: good.Server, Name: "a\x00b"}},
		"LF in user":  {Locator: &locator.FTP{Server: locator.Server{Login: &locator.Login{User: "a\nb"}, HostPort: good.HostPort}}},
		"LF in quote": {Locator: good, Options: &Options{PostQuote: []string{"NOOP\nDELE x"}}},
		"account":     {Locator: good, Options: &Options{Account: "x\r\nDELE y"}},
		"method":      {Locator: good, Options: &Options{Method: 9}},
		"options":     {Locator: good, Options: 17},
		"length":      {Locator: good, Length: -1},
	} {
		if _, err := f.Fetch(t.Context(), req); err == nil {
			t.Errorf("%s: no error", name)
		} else if k := fetch.KindOf(err); k != fetch.ErrBadURL && k != fetch.ErrUnsupported && k != fetch.ErrBadRange {
			t.Errorf("%s: %v", name, err)
		}
	}
	f = &Fetcher{Env: &fetch.Env{Email: "a@b\r\nDELE x"}}
	if _, err := f.Fetch(t.Context(), &fetch.Request{Locator: good}); !errors.Is(err, fetch.ErrBadURL) {
		t.Errorf("e-mail: %v", err)
	}
}

// TestExplain compares the Explanation with the commands sent.
func TestExplain(t *testing.T) {
	for _, tc := range []struct {
		f    *Fetcher
		path string
		req  fetch.Request
	}{
		{&Fetcher{}, "/a/b/c.txt", fetch.Request{}},
		{&Fetcher{}, "//etc/x", fetch.Request{}},
		{&Fetcher{}, "/pub/", fetch.Request{}},
		{&Fetcher{}, "/pub/", fetch.Request{Options: &Options{Facts: true}}},
		{&Fetcher{}, "/pub/\xc3;type=d", fetch.Request{}},
		{&Fetcher{}, "/%C3%BC/x", fetch.Request{}},
		{&Fetcher{DisablePipelining: true}, "/%C3%BC/x", fetch.Request{}},
		{&Fetcher{}, "/a/b/c.txt", fetch.Request{Offset: 3, Length: 2}},
		{&Fetcher{}, "/a/b/c.txt;type=a", fetch.Request{Options: &Options{Method: SingleCWD, Quote: []string{"*NOOP"}, PostQuote: []string{"SYST"}, ModTime: true}}},
		{&Fetcher{Exact: true}, "/a/b/c.txt", fetch.Request{}},
		{&Fetcher{Exact: true}, "/a/b/", fetch.Request{}},
		{&Fetcher{DisableEPSV: true, MaxIdle: -1}, "/a/b/c.txt", fetch.Request{}},
	} {
		srv := start(t)
		if err := srv.Put("ü/x", []byte("x\n")); err != nil {
			t.Fatal(err)
		}
		l := parse(t, srv.URL+"/")
		*l = *parse(t, srv.URL+strings.ReplaceAll(tc.path, "\xc3", "sub"))
		tc.req.Locator = l
		explained, err := tc.f.Explain(&tc.req)
		if err != nil {
			t.Fatal(err)
		}
		if explained.Network != "tcp" || explained.Host != "127.0.0.1" || explained.Port != l.Port {
			t.Errorf("%+v", explained)
		}
		if n := len(srv.Transcript()); n != 0 {
			t.Fatalf("Explain sent %d lines", n)
		}
		var want []string
		for _, step := range explained.Steps {
			if step.Send == "CWD \u00fc\r\n" && step.Ahead == tc.f.DisablePipelining { // with OPTS UTF8 ON
				t.Errorf("%s: %+v", tc.path, step)
			}
			if step.Send != "" && (step.When == "" || strings.Contains(step.When, "331") || strings.Contains(step.When, "UTF8")) {
				want = append(want, strings.TrimSuffix(strings.ReplaceAll(step.Send, "****", "anonymous@"), "\r\n"))
			}
		}
		if _, err := read(t.Context(), tc.f, &tc.req); err != nil {
			t.Errorf("%s: %v", tc.path, err)
		}
		tc.f.Close()
		wantSent(t, srv, want...)
	}
	f := &Fetcher{}
	explained, err := f.Explain(&fetch.Request{Locator: at("/x"), Offset: -5})
	if err != nil || !slices.ContainsFunc(explained.Steps, func(s fetch.Step) bool { return s.Send == "REST <size - 5>\r\n" }) {
		t.Errorf("%+v %v", explained, err)
	}
}

// idleRunner returns a runner without sessions, for what needs none.
func idleRunner(t *testing.T) runner { return runner{ctx: t.Context(), pool: new(pool)} }
