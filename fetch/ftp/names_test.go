package ftp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// strangely makes the server list in a format that nobody knows: that of its own, after a mark.
func strangely(s *ftptest.Server) {
	usual := s.Listing
	if usual == nil {
		usual = ftptest.Listing.Usual
	}
	s.Hide = append(s.Hide, "MLSD", "MLST")
	s.Listing = func(l ftptest.Listing) []string {
		lines := usual(l)
		if l.Command == "LIST" {
			for i, line := range lines {
				if !strings.HasPrefix(line, "total") {
					lines[i] = "? " + line
				}
			}
		}
		return lines
	}
}

// a line of LIST that is understood, and one that is not, but for the name
const (
	readable   = "-rw-r--r-- 1 u g 4 Jan  1  2001 "
	unreadable = "-rw-r--r-- 1 u g 4 Foo  1  2001 "
)

// kinds lists a directory, and returns its entries as "name kind size".
func kinds(t *testing.T, f *Fetcher, url string, opt *Options) (got []string, info *Info, err error) {
	t.Helper()
	res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, url), Options: opt})
	if err != nil {
		return nil, nil, err
	}
	defer res.Close()
	for item, err := range res.Items {
		if err != nil {
			return got, res.Info.(*Info), err
		}
		got = append(got, fmt.Sprint(item.Name, " ", item.Kind, " ", item.Size))
	}
	return got, res.Info.(*Info), UnreadError(res)
}

var pubKinds = []string{"f #1;%.txt document 4", "sub directory -1", "zero document 0", "\xff\xfe document 11"}

// TestUnknownListing lists directories of all kinds of servers whose LIST is not understood, or is
// refused. NLST lists their names; the kinds must be right.
func TestUnknownListing(t *testing.T) {
	for _, p := range ftptest.Personalities() {
		if p.Name == "no-rest" {
			break // what follows are no servers
		}
		t.Run(p.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testUnknownListing(t, p.Configure) })
		})
	}
}

func testUnknownListing(t *testing.T, configure func(*ftptest.Server)) {
	for i := range 4 {
		hidden, refused := i%2 > 0, i/2 > 0
		srv := start(t, configure, strangely, func(s *ftptest.Server) {
			if s.InMemory = true; refused {
				s.Hide = append(s.Hide, "LIST")
			}
		})
		f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
		for _, tc := range []struct {
			dir  string
			want []string
		}{{"/pub/", pubKinds}, {"/pub/sub/", []string{"y document 2"}}, {"/a/b/", []string{"c.txt document 18"}}} {
			got, info, err := kinds(t, f, srv.URL+tc.dir, &Options{Facts: true, Hidden: hidden})
			if slices.Sort(got); err != nil || !slices.Equal(got, tc.want) || info.Names != refused || info.Unread > 0 {
				t.Errorf("%v %v %s: %q %+v %v", hidden, refused, tc.dir, got, info, err)
			}
		}
		f.Close()
	}
}

// TestMerge tests lines of LIST that are not understood, with and without others that are. Names of
// NLST take their place if it has the same entries. Otherwise the listing is an error.
func TestMerge(t *testing.T) {
	const all = "f #1;%.txt\r\nsub\r\nzero\r\n\xff\xfe\r\n"
	line := func(known bool, names ...string) (lines string) {
		for _, name := range names {
			lines += map[bool]string{true: readable, false: unreadable}[known] + name + "\r\n"
		}
		return lines
	}
	unknown := line(false, "f #1;%.txt", "sub", "zero", "\xff\xfe")
	for name, tc := range map[string]struct {
		list, nlst string
		want       []string // nil means an error
		first      string   // the first entry
	}{
		"all lines":               {list: unknown, nlst: all, want: pubKinds},
		"a total":                 {list: "total 4\r\n" + unknown, nlst: all, want: pubKinds},
		"a heading":               {list: "Name   Size   Date\r\n" + unknown, nlst: all, want: pubKinds},
		"a heading with a digit":  {list: "Name   Size   Date 1\r\n" + unknown, nlst: all},
		"a line at the end":       {list: unknown + "Name   Size   Date\r\n", nlst: all},
		"a line without digits":   {list: "d pub\r\nd bin\r\n", nlst: "zero\r\n"},
		"paths":                   {list: unknown, nlst: strings.ReplaceAll("./"+all[:len(all)-2], "\n", "\n./") + "\r\n", want: pubKinds},
		"paths of others":         {list: unknown, nlst: strings.ReplaceAll("/x/"+all[:len(all)-2], "\n", "\n/x/") + "\r\n"},
		"names twice":             {list: unknown, nlst: all + "zero\r\nsub\r\n", want: pubKinds},
		"dots":                    {list: unknown + line(false, ".", ".."), nlst: ".\r\n..\r\n" + all, want: pubKinds},
		"names in LIST":           {list: ".\r\n..\r\n" + all, nlst: all, want: pubKinds},
		"more hidden names":       {list: line(false, "zero"), nlst: "zero\r\n.x\r\n", want: []string{"zero document 0", ".x document -1"}},
		"no directories":          {list: unknown, nlst: "f #1;%.txt\r\nzero\r\n\xff\xfe\r\n"},
		"nothing":                 {list: unknown, nlst: ""},
		"an error":                {list: unknown, nlst: "ls: .: No such file\r\n"},
		"more names":              {list: line(false, "zero", "sub"), nlst: all},
		"a cut name":              {list: unknown, nlst: all[:len(all)-2]},
		"some lines":              {list: line(false, "zero") + line(true, "x") + line(false, "sub"), nlst: "zero\r\nx\r\nsub\r\n", want: []string{"x document 4", "zero document 0", "sub directory -1"}},
		"others in NLST":          {list: line(false, "zero") + line(true, "x"), nlst: "zero\r\n", first: "x document 4"},
		"one missing, one more":   {list: line(false, "zero") + line(true, "x"), nlst: "zero\r\nsub\r\n", first: "x document 4"},
		"a message among entries": {list: line(true, "x") + "what is this?\r\n", nlst: "x\r\n", first: "x document 4"},
		"a heading only":          {list: "Name   Size   Date\r\n" + line(true, "x"), nlst: "x\r\n", want: []string{"x document 4"}},
		"a path":                  {list: line(true, "x", "../zero"), nlst: "x\r\nzero\r\n", want: []string{"x document 4", "zero document 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := start(t, func(s *ftptest.Server) { s.Hide = []string{"MLSD", "MLST"} })
			srv.On("LIST", 1, testserver.Data(tc.list))
			srv.On("NLST", 1, testserver.Data(tc.nlst))
			f := new(Fetcher)
			defer f.Close()
			var unread []string
			got, info, err := kinds(t, f, srv.URL+"/pub/", &Options{Unread: func(line string) { unread = append(unread, line) }})
			if tc.want == nil {
				if !errors.Is(err, fetch.ErrProtocol) || strings.Join(got, "") != tc.first || info.Unread == 0 || len(unread) != info.Unread {
					t.Errorf("%q %+v %q %v", got, info, unread, err)
				}
				return
			}
			if uncertain := name == "more hidden names" || name == "a heading only"; err != nil || !slices.Equal(got, tc.want) || info.Unread+len(unread) > 0 || info.Names != uncertain {
				t.Errorf("%q %+v %q %v, want %q", got, info, unread, err, tc.want)
			}
			if hidden := name == "dots" || name == "more hidden names"; info.Hides == hidden {
				t.Errorf("Hides is %v", info.Hides)
			}
		})
	}
}

// TestNamesOnly tests listings of names that are requested as such: nothing is asked about them.
func TestNamesOnly(t *testing.T) {
	for name, tc := range map[string]struct {
		f    *Fetcher
		path string
		opt  *Options
	}{
		"ListOnly": {new(Fetcher), "/pub/", &Options{ListOnly: true}}, "typecode": {new(Fetcher), "/pub/;type=d", nil}, "Exact": {&Fetcher{Exact: true}, "/pub/", nil},
		"a raw command": {new(Fetcher), "/pub/", &Options{Quote: []string{"NOOP"}}}, "no reuse": {&Fetcher{MaxIdle: -1}, "/pub/", nil},
	} {
		t.Run(name, func(t *testing.T) {
			srv := start(t, strangely, func(s *ftptest.Server) { s.Hide = append(s.Hide, "LIST") })
			got, info, err := kinds(t, tc.f, srv.URL+tc.path, tc.opt)
			tc.f.Close()
			if err != nil || len(got) != 4 || got[1] != "sub document -1" || !info.Names {
				t.Errorf("%q %+v %v", got, info, err)
			}
			for _, line := range sent(srv) {
				if verb := verbOf(line); verb == "SIZE" || verb == "MDTM" {
					t.Errorf("sent %q", line)
				}
			}
		})
	}
}

// many is a directory with more names than are asked about at once.
func many(s *ftptest.Server) {
	files := fstest.MapFS{"dir/~tilde": {}, "dir/~home/x": {}}
	for i := range 70 {
		files[fmt.Sprintf("dir/f%02d", i)] = &fstest.MapFile{Data: make([]byte, i)}
	}
	for i := range 10 {
		files[fmt.Sprintf("dir/sub%d/deep/x", i)] = &fstest.MapFile{}
	}
	s.Content = files
}

// TestAsking tests which commands ask about names, and that they are sent together.
func TestAsking(t *testing.T) {
	for _, tc := range []struct {
		hide      []string
		oneByOne  bool
		opt       Options
		uncertain bool
		packets   int // at most
	}{
		{nil, false, Options{Facts: true}, false, 25},
		{nil, false, Options{Facts: true, Method: NoCWD}, false, 25},
		{[]string{"MDTM"}, false, Options{}, false, 25},
		{[]string{"SIZE", "MDTM"}, false, Options{}, true, 40},
		{nil, true, Options{}, false, 300},
	} {
		t.Run(fmt.Sprint(tc.hide, tc.opt.Method, tc.oneByOne), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := ftptest.New(t, many, strangely, func(s *ftptest.Server) {
					s.InMemory, s.Hide, s.Greeting, s.SizeInASCII = true, append(s.Hide, tc.hide...), "220 ready", ftptest.SizeRefused
				})
				var packets []string
				f := &Fetcher{DisablePipelining: tc.oneByOne, Env: &fetch.Env{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
					c, err := srv.Dial(ctx, network, address)
					return written{c, &packets}, err
				}}}
				defer f.Close()
				items, err := list(t, f, srv.URL+"/dir/", &tc.opt)
				if err != nil || len(items) != 82 || len(packets) > tc.packets {
					t.Errorf("%d items, %d packets, %v:\n%q", len(items), len(packets), err, packets)
				}
				for _, item := range items {
					isDir := strings.HasPrefix(item.Name, "sub") || item.Name == "~home"
					known := item.Size >= 0
					if isDir != (item.Kind == fetch.KindDirectory) || !isDir && known == tc.uncertain || item.Size > 0 && item.Name != fmt.Sprintf("f%02d", item.Size) {
						t.Errorf("%+v", item)
					}
				}
				if got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/dir/sub3/deep/x")}); err != nil || got != "" {
					t.Errorf("%q %v", got, err)
				}
				logins := 0
				for _, line := range sent(srv) {
					if strings.HasPrefix(line, "USER") {
						logins++
					}
					if (line == "MDTM f69" || line == "SIZE f69") && slices.Contains(tc.hide, line[:4]) { // in the third packet
						t.Errorf("sent %q", line)
					}
				}
				if logins != 1 {
					t.Errorf("%d logins", logins)
				}
			})
		})
	}
}

// TestNamesRemembered tests that LIST is not sent again to a server whose NLST has shown that it has
// directories, too.
func TestNamesRemembered(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		srv := start(t, ftptest.VSFTPD, strangely)
		f := new(Fetcher)
		_, first := listings(t, f, srv, Options{Facts: true, Hidden: hidden}, "/pub/sub/", "/pub/")
		names, commands := listings(t, f, srv, Options{Facts: true, Hidden: hidden}, "/a/", "/a/b/")
		if commands = commands[len(first):]; !slices.Equal(names, []string{"a/b", "a/b/c.txt"}) || len(commands) != 2 || strings.HasPrefix(strings.Join(commands, ""), "LIST") {
			t.Errorf("%q by %q", names, commands)
		}
		// A listing whose text is wanted is that of LIST, and one with the other option is to be proven.
		if got, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/a/")}); err != nil || !strings.HasPrefix(got, "? d") {
			t.Errorf("%q %v", got, err)
		}
		if _, again := listings(t, f, srv, Options{Facts: true, Hidden: !hidden}, "/a/"); !strings.HasPrefix(again[len(first)+3], "LIST") {
			t.Errorf("%q", again)
		}
		f.Close()
	}
}

// TestAskingFails tests errors of the commands that ask about names: none makes a listing shorter.
func TestAskingFails(t *testing.T) {
	for name, tc := range map[string]struct {
		fails  func(*ftptest.Server)
		limits fetch.Limits
		kind   fetch.ErrorKind
	}{
		"SIZE gets 421":          {func(s *ftptest.Server) { s.On("SIZE", 0, testserver.Reply("421 Too busy.")) }, fetch.Limits{}, fetch.ErrBusy},
		"MDTM gets nonsense":     {func(s *ftptest.Server) { s.On("MDTM", 0, testserver.Reply("what?")) }, fetch.Limits{}, fetch.ErrProtocol},
		"the way back is lost":   {func(s *ftptest.Server) { s.On("CWD", 4, testserver.Reply("550 No such directory.")) }, fetch.Limits{}, fetch.ErrNotFound},
		"more entries":           {func(*ftptest.Server) {}, fetch.Limits{Items: 3}, fetch.ErrTooLarge},
		"NLST needs a login":     {func(s *ftptest.Server) { s.On("NLST", 1, testserver.Reply("530 Not logged in.")) }, fetch.Limits{}, fetch.ErrProtocol},
		"NLST is cut":            {func(s *ftptest.Server) { s.On("NLST", 1, testserver.Truncate(3)) }, fetch.Limits{}, fetch.ErrProtocol},
		"the directory is empty": {func(s *ftptest.Server) { s.On("NLST", 1, testserver.Reply("550 No files found.")) }, fetch.Limits{}, fetch.ErrProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			srv := start(t, strangely)
			tc.fails(srv)
			f := &Fetcher{Env: &fetch.Env{Limits: tc.limits}}
			defer f.Close()
			got, _, err := kinds(t, f, srv.URL+"/pub/", &Options{Facts: true})
			if fetch.KindOf(err) != tc.kind {
				t.Errorf("%q %v, want %v", got, err, tc.kind)
			}
		})
	}
}

// TestUncertainKinds tests names that are neither those of files nor of directories: they are listed,
// and the listing says so.
func TestUncertainKinds(t *testing.T) {
	srv := start(t, strangely)
	srv.On("CWD", 2, testserver.Reply("550 Permission denied."))
	f := new(Fetcher)
	defer f.Close()
	got, info, err := kinds(t, f, srv.URL+"/pub/", &Options{Facts: true})
	if err != nil || !slices.Contains(got, "sub document -1") || len(got) != 4 || !info.Names {
		t.Errorf("%q %+v %v", got, info, err)
	}
	if _, commands := listings(t, f, srv, Options{Facts: true}, "/a/"); commands[2] != "LIST" {
		t.Errorf("%q", commands)
	}
}

// TestNamesCanceled tests a context that ends during NLST: that is the error.
func TestNamesCanceled(t *testing.T) {
	srv := start(t, strangely)
	f := new(Fetcher)
	defer f.Close()
	ctx, cancel := context.WithCancel(t.Context())
	ctx = fetch.WithTrace(ctx, &fetch.Trace{Sent: func(line []byte) {
		if strings.HasPrefix(string(line), "NLST") {
			cancel()
		}
	}})
	res, err := f.Fetch(ctx, &fetch.Request{Locator: parse(t, srv.URL+"/pub/")})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	ended := false
	for _, err := range res.Items {
		ended = errors.Is(err, context.Canceled)
	}
	if !ended {
		t.Error("the listing is complete")
	}
}
