package ftp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// TestDeniedFacts tests that an empty listing does not replace an MLSD that is refused: ProFTPD replies to LIST
// of a directory that may not be read as if it were empty.
func TestDeniedFacts(t *testing.T) {
	srv := start(t, func(s *ftptest.Server) {
		s.Replies = ftptest.Replies{"MLSD": "550 /pub: Permission denied"}
		s.Listings = map[string][]string{"LIST": {}}
	})
	f := &Fetcher{}
	defer f.Close()
	if items, err := list(t, f, srv.URL+"/pub/", &Options{Facts: true}); !errors.Is(err, fetch.ErrPermission) {
		t.Errorf("%+v %v", items, err)
	}
}

// list fetches a directory and returns its entries.
func list(t *testing.T, f *Fetcher, url string, opt *Options) ([]fetch.Item, error) {
	t.Helper()
	res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, url), Options: opt})
	if err != nil {
		return nil, err
	}
	defer res.Close()
	var items []fetch.Item
	for item, err := range res.Items {
		if err != nil {
			return items, err
		}
		items = append(items, item)
	}
	return items, nil
}

// TestFacts tests that MLSD is used if FEAT lists it, and that FEAT is sent once per
// session.
func TestFacts(t *testing.T) {
	srv := start(t)
	f := &Fetcher{}
	defer f.Close()
	for range 2 {
		items, err := list(t, f, srv.URL+"/pub/", &Options{Facts: true})
		if err != nil || len(items) != 4 {
			t.Fatalf("%+v %v", items, err)
		}
		if !items[2].ModTime.Equal(when) || items[2].Size != 0 || items[1].Kind != fetch.KindDirectory {
			t.Errorf("%+v", items)
		}
		if got := items[2].Header; !slices.Equal(got, []fetch.Field{{Name: HeaderPerm, Value: "radfw"}}) {
			t.Errorf("%+v", got)
		}
	}
	f.Close()
	wantSent(t, srv, "USER anonymous", "PASS anonymous@", "PWD", "TYPE A", "FEAT", utf8On, "CWD pub", "EPSV", "MLSD", "EPSV", "MLSD", "EPSV", "QUIT")
}

// TestFeatures tests replies to FEAT as servers send them, with MLSD as the proof of what is understood.
func TestFeatures(t *testing.T) {
	const mlst = "MLST type*;size*;modify*;"
	for reply, want := range map[string]string{
		"211-Features:\n " + mlst + "\n211 End":                       "MLSD",
		"211-Features:\n211-" + mlst + "\n211 End":                    "MLSD", // ProFTPD with MultilineRFC2228
		"211-Features:\n211- " + mlst + "\n211 End":                   "MLSD",
		"211-Features:\n211-\t" + mlst + "\n211 End":                  "MLSD",
		"211-Features:\n\t" + mlst + "\n211 End":                      "MLSD",
		"211-Features:\n  " + mlst + "\n211 End":                      "MLSD",
		"211-Features:\n" + mlst + "\n211 End":                        "MLSD",
		"211-Features:\n mlst\tType*; Size*; Modify*; \n211 End":      "MLSD",
		"211-\n SIZE\n\n  MLST   size*; type*\n211 ":                  "MLSD",
		"211-Features:\n211-SIZE\n " + mlst + "\n211-MDTM\n211 End":   "MLSD",
		"211-" + mlst + "\n211 End":                                   "LIST",
		"211-Features:\n211 " + mlst:                                  "LIST",
		"211 " + mlst:                                                 "LIST",
		"211-Features:\n SIZE\n211 " + mlst:                           "LIST",
		"211-Features:\n NO" + mlst + "\n211 End":                     "LIST",
		"211-Features:\n MLST is off, or type*;\n MDTM\n211 End":      "LIST",
		"211-MLST type*;\n211-MLST type*;size*\n211-SIZE\n211 End":    "MLSD",
		"500-Features:\n " + mlst + "\n500 End":                       "LIST",
		"211-Extensions supported\n SIZE\n MDTM\n211 MLST type*; End": "LIST",
	} {
		srv := start(t, func(s *ftptest.Server) { s.On("FEAT", 0, testserver.Reply(reply)) })
		f := &Fetcher{}
		items, err := list(t, f, srv.URL+"/pub/", &Options{Facts: true})
		f.Close()
		if got := verbs(srv); err != nil || len(items) != 4 || !slices.Contains(got, want) {
			t.Errorf("%q: %d items, %v; sent %q", reply, len(items), err, got)
		}
	}
	for text, want := range map[string]features{
		"Features:\n MDTM\n\tREST STREAM\nAUTH\tTLS  SSL \nEnd": {"MDTM": "", "REST": "STREAM", "AUTH": "TLS  SSL"},
		"": {}, "MDTM": {}, "MDTM\nSIZE": {}, "MDTM\n\nSIZE": {},
	} {
		if got := parseFeatures(text); !maps.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestFactsFallBack tests that LIST is sent if FEAT does not list MLSD, if MLSD is refused
// anyway, and without the option. With Exact, NLST is sent.
func TestFactsFallBack(t *testing.T) {
	for _, tc := range []struct {
		name    string
		f       *Fetcher
		opt     *Options
		prepare func(*ftptest.Server)
		want    []string
	}{
		{"no FEAT", &Fetcher{}, &Options{Facts: true}, func(s *ftptest.Server) { s.Hide = []string{"FEAT"} }, []string{"FEAT", utf8On, "CWD pub", "EPSV", "LIST"}},
		{"no MLST", &Fetcher{}, &Options{Facts: true}, func(s *ftptest.Server) { s.Hide = []string{"MLST"} }, []string{"FEAT", utf8On, "CWD pub", "EPSV", "LIST"}},
		{"no type", &Fetcher{}, &Options{Facts: true}, func(s *ftptest.Server) { s.On("FEAT", 1, testserver.Reply("211-\n MLST size*;type;\n211 end")) }, []string{"FEAT", utf8On, "CWD pub", "EPSV", "LIST"}},
		{"not for this directory", &Fetcher{}, &Options{Facts: true}, func(s *ftptest.Server) { s.On("MLSD", 1, testserver.Reply("550 no")) }, []string{"FEAT", utf8On, "CWD pub", "EPSV", "MLSD", "LIST"}},
		{"a lie", &Fetcher{}, &Options{Facts: true}, func(s *ftptest.Server) { s.On("MLSD", 1, testserver.Reply("502 no")) }, []string{"FEAT", utf8On, "CWD pub", "EPSV", "MLSD", "LIST"}},
		{"no option", &Fetcher{}, nil, func(*ftptest.Server) {}, []string{"CWD pub", "EPSV", "LIST"}},
		{"exact", &Fetcher{Exact: true}, &Options{Facts: true}, func(*ftptest.Server) {}, []string{"CWD pub", "EPSV", "NLST"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := start(t, tc.prepare)
			items, err := list(t, tc.f, srv.URL+"/pub/", tc.opt)
			tc.f.Close()
			if err != nil || len(items) != 4 {
				t.Errorf("%+v %v", items, err)
			}
			got := sent(srv)
			if n := slices.IndexFunc(got, func(s string) bool { return s == "FEAT" || s == "CWD pub" }); n < 0 || !slices.Equal(got[n:len(got)-1], tc.want) {
				t.Errorf("sent %q, want %q", got, tc.want)
			}
		})
	}
}

// TestNoFacts tests that LIST replaces MLSD if none of its lines has facts, also for the directories
// after that, and that a line is reported if LIST does not understand it, either.
func TestNoFacts(t *testing.T) {
	for name, tc := range map[string]struct {
		mlsd, list string
		items      int
		fails      bool
		unread     []string
	}{
		"names":                    {mlsd: " .\r\n zero\r\n", items: 4},
		"sizes and names":          {mlsd: "0 zero\r\n", items: 4},
		"LIST has other lines":     {mlsd: "0 zero\r\n", list: readable + "x\r\n" + unreadable + "y\r\n", items: 1, unread: []string{unreadable + "y"}},
		"some lines have facts":    {mlsd: "type=file; x\r\n0 zero\r\n", items: 1, unread: []string{"0 zero"}},
		"a line without its end":   {mlsd: "0 zero", fails: true, unread: []string{"0 zero"}},
		"nothing in either":        {mlsd: "0 zero\r\n", list: unreadable + "y\r\n", fails: true, unread: []string{unreadable + "y"}},
		"an empty one is no fault": {mlsd: "type=cdir; .\r\n", items: 0},
	} {
		t.Run(name, func(t *testing.T) {
			srv := start(t, func(s *ftptest.Server) { s.Hide = []string{"NLST"} })
			srv.On("MLSD", 1, testserver.Data(tc.mlsd))
			if tc.list != "" {
				srv.On("LIST", 1, testserver.Data(tc.list))
			}
			f := new(Fetcher)
			defer f.Close()
			var unread []string
			opt := &Options{Facts: true, Unread: func(line string) { unread = append(unread, line) }}
			items, err := list(t, f, srv.URL+"/pub/", opt)
			if len(items) != tc.items || (err != nil) != tc.fails || !slices.Equal(unread, tc.unread) {
				t.Errorf("%d items, %q, %v", len(items), unread, err)
			}
			if _, err := list(t, f, srv.URL+"/pub/", opt); err != nil {
				t.Error(err)
			}
			n := len(slices.DeleteFunc(sent(srv), func(s string) bool { return s != "MLSD" }))
			if again := tc.items == 1 && tc.list == "" || tc.items == 0 && tc.list == ""; (n == 2) != again {
				t.Errorf("MLSD was sent %d times", n)
			}
		})
	}
}

// TestKindsOfEntries tests that special files are marked, and that "." and ".." are not
// entries.
func TestKindsOfEntries(t *testing.T) {
	srv := start(t)
	srv.On("MLSD", 1, testserver.Data("type=cdir; .\r\ntype=pdir; ..\r\ntype=OS.unix=slink:a/b; link\r\ntype=OS.unix=chrdev; null\r\ntype=file;size=3; f\r\n"))
	f := &Fetcher{}
	defer f.Close()
	items, err := list(t, f, srv.URL+"/pub/", &Options{Facts: true})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]fetch.Field{}
	for _, item := range items {
		got[item.Name] = item.Header
	}
	want := map[string][]fetch.Field{"link": {{Name: fetch.HeaderLink, Value: "a/b"}}, "null": {{Name: fetch.HeaderSpecial}}, "f": nil}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestStrangeListing tests that a listing in an unknown format is an error.
func TestStrangeListing(t *testing.T) {
	for listing, ok := range map[string]bool{
		"<html>\r\n<p>welcome\r\n": false, "total 0\r\n": true, "": true, "type=cdir; .\r\n": true,
		"hello\r\n-rw-r--r-- 1 u g 12 Jan  1  2001 x\r\n": true, "-rw-r--r-- 1 u g 12 Jan  1  2001 ../x\r\n": false,
	} {
		srv := start(t)
		srv.On("LIST", 1, testserver.Data(listing))
		f := &Fetcher{}
		items, err := list(t, f, srv.URL+"/pub/", nil)
		f.Close()
		if ok && err != nil || !ok && !errors.Is(err, fetch.ErrProtocol) {
			t.Errorf("%q: %v %v", listing, items, err)
		}
	}
}

// TestUnread tests that lines which may have been entries are counted.
func TestUnread(t *testing.T) {
	const a, b = "-rw-r--r-- 1 u g 12 Jan  1  2001 a\r\n", "-rw-r--r-- 1 u g 12 Jan  1  2001 b"
	for listing, want := range map[string]int{
		a + b + "\r\n": 0, "total 4\r\n" + a: 0, a + "\r\n" + b + "\n": 0, "": 0,
		a + b: 1, a + b[:30]: 1, a + b[:20]: 1, a + "NAME.TXT;1": 1, a + "NAME.TXT;1\r\n": 1, a + "-rw-r--r-- 1 u g broken\r\n" + b + "\r\n": 1, "what is this?\r\n" + a + "and this?\r\n": 2,
	} {
		srv := start(t)
		srv.On("LIST", 1, testserver.Data(listing))
		f := &Fetcher{}
		var lines []string
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/pub/"), Options: &Options{
			Unread: func(line string) { lines = append(lines, line) },
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range res.Items {
			if err != nil {
				t.Errorf("%q: %v", listing, err)
			}
		}
		missing := want > 0 && listing != a+b // in which the last line is only cut
		if e, ok := errors.AsType[*fetch.Error](UnreadError(res)); ok != missing || ok && (e.Kind != fetch.ErrProtocol || e.Op != "LIST" || e.Reply != lines[0]) {
			t.Errorf("%q: %v", listing, UnreadError(res))
		}
		if got := res.Info.(*Info).Unread; got != want || len(lines) != want {
			t.Errorf("%q: %d lines were not read, want %d: %q", listing, got, want, lines)
		}
		for _, line := range lines {
			if strings.Contains(line, "\r") || !strings.Contains(listing, line) {
				t.Errorf("%q: %q is not a line of it", listing, line)
			}
		}
		res.Close()
		f.Close()
	}
}

// TestStream tests that Request.Stream yields an entry while the server has not sent the rest.
func TestStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const a, b = "-rw-r--r-- 1 u g 12 Jan  1  2001 a\r\n", "-rw-r--r-- 1 u g 12 Jan  1  2001 b\r\n"
		for _, stream := range []bool{true, false} {
			srv := ftptest.New(t, func(s *ftptest.Server) { s.InMemory = true })
			srv.On("LIST", 1, testserver.Data(a+b), testserver.Drip(len(a), time.Second))
			f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial, Allow: func(context.Context, fetch.Target) error { return nil }}}
			res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/"), Stream: stream})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			for item, err := range res.Items {
				if early := time.Since(start) == 0; item.Name == "a" && early != stream || err != nil {
					t.Errorf("Stream %v: %s after %v, %v", stream, item.Name, time.Since(start), err)
				}
			}
			res.Close()
			f.Close()
		}
	})
}

// TestMessages tests the texts for people that a server sends with its replies, also on a session
// that is used again.
func TestMessages(t *testing.T) {
	srv := start(t)
	srv.On("PASS", 1, testserver.Reply("230-Welcome.\n230 Logged in."))
	srv.On("CWD pub", 1, testserver.Reply("250-Public files.\n250 OK."))
	f := &Fetcher{}
	defer f.Close()
	for _, tc := range []struct{ path, message string }{{"/pub/", "Public files.\nOK."}, {"/pub/", "Public files.\nOK."}, {"/", "OK."}, {"/pub/", "OK."}} {
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+tc.path)})
		if err != nil {
			t.Fatal(err)
		}
		for range res.Items {
		}
		res.Close()
		if got := res.Info.(*Info); got.Welcome != "Welcome.\nLogged in." || got.Message != tc.message && tc.message != "OK." {
			t.Errorf("%s: %+v", tc.path, got)
		}
	}
}

// TestWanted tests that an unwanted file is not transferred, and that the session is reused.
func TestWanted(t *testing.T) {
	srv := start(t)
	f := &Fetcher{}
	defer f.Close()
	for _, wanted := range []bool{false, true} {
		known := fetch.Attributes{}
		res, err := f.Fetch(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/x.txt"), Options: &Options{
			ModTime: true,
			Wanted:  func(attr fetch.Attributes) bool { known = attr; return wanted },
		}})
		if err != nil {
			t.Fatal(err)
		}
		if known.Size != -1 || !known.ModTime.Equal(when) || res.Info.(*Info).Unwanted == wanted || !res.ModTime.Equal(when) {
			t.Errorf("%+v, %+v", known, res)
		}
		res.Close()
	}
	got := sent(srv)
	if want := []string{"TYPE I", "MDTM x.txt", "MDTM x.txt", "SIZE x.txt", "EPSV", "RETR x.txt"}; len(got) < 9 || !slices.Equal(got[3:9], want) {
		t.Errorf("sent %q", got)
	}
}

// TestFolderFacts asks for the facts of a directory, which are what the server says of it. A server
// without MLST, or one that refuses it, leaves them out.
func TestFolderFacts(t *testing.T) {
	noon := time.Date(1994, 12, 1, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name, reply string
		options     Options
		want        string
		when        time.Time
		asked       bool
	}{
		{"MLST", "", Options{Facts: true}, "[{type dir} {modify 19941201120000} {perm elcmpd}]", noon, true},
		{"spaces", "250-Start\n UNIX.groupname=domain users;modify=19941201120000.5;Type=cdir; /a\n250 End", Options{Facts: true}, "[{UNIX.groupname domain users} {modify 19941201120000.5} {Type cdir}]", noon, true},
		{"no name", "250-Start\n type=dir;\n250 End", Options{Facts: true}, "[{type dir}]", time.Time{}, true},
		{"no facts", "250-Start; it is\n /a\n250 End", Options{Facts: true}, "[]", time.Time{}, true},
		{"refused", "550 no", Options{Facts: true}, "[]", time.Time{}, true},
		{"not wanted", "", Options{}, "[]", time.Time{}, false},
	} {
		srv := start(t)
		if tc.reply != "" {
			srv.On("MLST", 1, testserver.Reply(tc.reply))
		}
		f := &Fetcher{}
		attr, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/a/"), Options: &tc.options})
		f.Close()
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if fmt.Sprint(attr.Header) != tc.want || !attr.ModTime.Truncate(time.Second).Equal(tc.when) || attr.Size != -1 {
			t.Errorf("%s: %+v, want %s", tc.name, attr, tc.want)
		}
		if asked := count(sent(srv), "MLST") > 0; asked != tc.asked {
			t.Errorf("%s: sent %q", tc.name, sent(srv))
		}
	}
	srv := start(t, func(s *ftptest.Server) { s.Hide = []string{"MLSD", "MLST"} })
	f := &Fetcher{}
	defer f.Close()
	attr, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/a/"), Options: &Options{Facts: true}})
	if err != nil || len(attr.Header) > 0 || count(sent(srv), "MLST") > 0 {
		t.Errorf("without MLST: %+v, %v, sent %q", attr, err, sent(srv))
	}
}

// TestAcceptRanges tests that REST decides about HeaderAcceptRanges.
func TestAcceptRanges(t *testing.T) {
	for _, reply := range []string{"", "502 no"} {
		srv := start(t)
		if reply != "" {
			srv.On("REST", 1, testserver.Reply(reply))
		}
		f := &Fetcher{}
		attr, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/x.txt"), Options: &Options{Ranges: true}})
		f.Close()
		if err != nil || (len(attr.Header) == 1) != (reply == "") {
			t.Errorf("%q: %+v %v", reply, attr, err)
		}
	}
}
