package ftp

import (
	"errors"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// named returns the lines with arguments that were sent after the login, without TYPE, and "?" for
// the question for Telnet.
func named(lines []string) (list []string) {
	for _, line := range lines {
		line = strings.TrimSuffix(line, "\r\n")
		switch verb, arg, _ := strings.Cut(line, " "); {
		case line == iacQuestion:
			list = append(list, "?")
		case arg != "" && verb != "USER" && verb != "PASS" && verb != "TYPE":
			list = append(list, line)
		}
	}
	return list
}

// TestIAC tests names with the byte that Telnet doubles, with servers that implement Telnet and
// servers that do not. They are asked once.
func TestIAC(t *testing.T) {
	for _, tc := range []struct {
		path string
		opt  Options
		want []string // commands with arguments, after the login
	}{
		{"pub/%FF%FE", Options{}, []string{"CWD pub", "?", "SIZE #\xfe", "RETR #\xfe"}},
		{"pub/%FF%FE;type=a", Options{}, []string{"CWD pub", "?", "RETR #\xfe"}},
		{"%FFd/%FFf", Options{ModTime: true}, []string{"?", "CWD #d", "MDTM #f", "SIZE #f", "RETR #f"}},
		{"%FFd/%FF%FF", Options{}, []string{"?", "CWD #d", "SIZE ##", "RETR ##"}},
		{"%FFd/", Options{ListOnly: true}, []string{"?", "CWD #d"}},
		{"%FFd;type=d", Options{}, []string{"?", "NLST #d"}},
		{"none%FF", Options{}, []string{"?", "SIZE none#", "RETR none#"}},
		{"%FFnone/x", Options{}, []string{"?", "CWD #none"}},
	} {
		for iacs, bare := range map[string]bool{"\xff\xff": false, "\xff": true} {
			srv := start(t, func(s *ftptest.Server) { s.BareIAC = bare })
			for _, name := range []string{"\xffd/\xfff", "\xffd/\xff\xff"} {
				if err := srv.Put(name, []byte("eight bits\n")); err != nil {
					t.Fatal(err)
				}
			}
			f := &Fetcher{}
			_, err := read(t.Context(), f, &fetch.Request{Locator: parse(t, srv.URL+"/"+tc.path), Options: &tc.opt})
			if missing := strings.Contains(tc.path, "none"); (err != nil) != missing || missing && !errors.Is(err, fetch.ErrNotFound) {
				t.Errorf("%+v: %v", tc, err)
			}
			f.Close()
			want := strings.Split(strings.ReplaceAll(strings.Join(tc.want, "\n"), "#", iacs), "\n")
			if got := named(sent(srv)); !slices.Equal(got, want) {
				t.Errorf("%s: sent %q\nwant %q", tc.path, got, want)
			}
			if got := sent(srv); slices.Contains(got, "EPSV") && slices.Index(got, iacQuestion) > slices.Index(got, "EPSV") {
				t.Errorf("%s: asked when the server may answer only a transfer: %q", tc.path, got)
			}
		}
	}
}

// TestOtherFileIAC tests that no command reads or changes the file whose name is left when Telnet
// commands are taken out of a name.
func TestOtherFileIAC(t *testing.T) {
	for _, octets := range []string{"\xff\xf4", "\xff\xf1", "\xff\xf2", "\xff\xfb\x01", "\xff\xfc\x01", "\xff\xfd\x01", "\xff\xfe\x01", "\xff\xfa", "\xffx"} {
		for _, bare := range []bool{false, true} {
			name := "top" + octets
			srv := ftptest.New(t, func(s *ftptest.Server) {
				s.BareIAC, s.Content = bare, fstest.MapFS{"top": {Data: []byte("top")}, "dir/f": {Data: []byte("f")}}
			})
			f := new(Fetcher)
			req := func(name string) *fetch.Request {
				return &fetch.Request{Locator: parse(t, srv.URL+"/"+strings.ReplaceAll(url.PathEscape(name), "%2F", "/"))}
			}
			if got, err := read(t.Context(), f, req(name)); !errors.Is(err, fetch.ErrNotFound) {
				t.Errorf("%q: read %q, %v", name, got, err)
			}
			if attr, err := f.FindAttributes(t.Context(), req(name)); !errors.Is(err, fetch.ErrNotFound) {
				t.Errorf("%q: found %+v, %v", name, attr, err)
			}
			edits := []fetch.Edit{
				{Kind: fetch.EditSize, Name: name}, {Kind: fetch.EditRemove, Name: name}, {Kind: fetch.EditRename, Name: name, To: "other"},
				{Kind: fetch.EditRemoveDir, Name: "dir" + octets}, {Kind: fetch.EditTime, Name: name, Time: time.Unix(1e9, 0)},
				{Kind: fetch.EditMakeDir, Name: "dir" + octets}, {Kind: fetch.EditRename, Name: "dir", To: "moved" + octets}, {Kind: fetch.EditSize, Name: "top"},
			}
			if err := f.Edit(t.Context(), req(""), edits); err != nil {
				t.Errorf("%q: %v", name, err)
			}
			for i, e := range edits {
				if !e.Done || (e.Err == nil) != (i >= 5) {
					t.Errorf("edit %d of %q: %+v", i, name, e)
				}
			}
			if _, err := f.Replace(t.Context(), req(name), strings.NewReader("new")); err != nil {
				t.Errorf("%q: %v", name, err)
			}
			if _, err := f.Update(t.Context(), req(name), strings.NewReader("er")); err != nil {
				t.Errorf("%q: %v", name, err)
			}
			if got, err := read(t.Context(), f, req("moved"+octets+"/f")); err != nil || got != "f" {
				t.Errorf("%q: %q, %v", name, got, err)
			}
			f.Close()
			if got := srv.Uploads(); len(got) != 1 || string(got[name]) != "newer" {
				t.Errorf("stored %q", got)
			}
			if got, err := fs.ReadFile(srv.Files(), "top"); err != nil || string(got) != "top" {
				t.Errorf("%q: top has %q, %v", name, got, err)
			}
			if _, err := fs.Stat(srv.Files(), "moved"); err == nil {
				t.Errorf("%q: moved to another name", name)
			}
			if got := count(named(sent(srv)), "?"); got != 1 {
				t.Errorf("%q: asked %d times", name, got)
			}
		}
	}
}

// TestIACQuestion tests what replies mean, and that a session in which the question has no reply is
// used.
func TestIACQuestion(t *testing.T) {
	const question, wont = iacQuestion, "\xff\xfc\x01"
	for name, tc := range map[string]struct {
		on   map[string]string
		want string
	}{
		"a refusal of the option":         {map[string]string{question: wont + "200 ok\r\n"}, "RETR a\xff\xff"},
		"a refusal, NOOP is not known":    {map[string]string{question: wont + "502 no\r\n"}, "RETR a\xff\xff"},
		"no refusal":                      {map[string]string{question: "200 ok\r\n"}, "RETR a\xff\xff"},
		"a greeting with Telnet commands": {map[string]string{question: "502 no\r\n", "TYPE": "\xff\xfb\x00200 ok\r\n"}, "RETR a\xff\xff"},
		"an unknown command":              {map[string]string{question: "500 what\r\n"}, "RETR a\xff"},
		"another reply":                   {map[string]string{question: "530 log in\r\n"}, "RETR a\xff"},
		"no reply":                        {map[string]string{question: "-", "SYST": "215 UNIX\r\n"}, "RETR a\xff"},
		"no reply, SYST is not known":     {map[string]string{question: "-"}, "RETR a\xff"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &hostile{on: tc.on, data: "data"}
				h.serve(t)
				f := &Fetcher{Env: h.env()}
				for range 2 {
					if got, err := read(t.Context(), f, &fetch.Request{Locator: at("/a%FF")}); err != nil || got != "data" {
						t.Errorf("%q, %v", got, err)
					}
				}
				f.Close()
				got := h.sent()
				if n := count(got, tc.want+"\r\n"); n != 2 {
					t.Errorf("sent %q, want %q twice", got, tc.want)
				}
				if n, asks := count(got, question+"\r\n"), !strings.Contains(name, "greeting"); n > 1 || asks != (n == 1) || count(got, "QUIT\r\n") != 1 {
					t.Errorf("sent %q", got)
				}
			})
		})
	}
}

// TestIACQuestionSlow tests that the replies of a slow server are not mistaken for those of one that
// does not reply to the question.
func TestIACQuestionSlow(t *testing.T) {
	for command, bare := range map[string]bool{"NOOP": false, iacQuestion: true} {
		synctest.Test(t, func(t *testing.T) {
			srv := ftptest.New(t, func(s *ftptest.Server) {
				s.InMemory, s.BareIAC, s.Content = true, bare, fstest.MapFS{"a": {Data: []byte("a")}}
			})
			srv.On(command, 1, testserver.Delay(3*time.Second))
			f := &Fetcher{Env: &fetch.Env{Dial: srv.Dial}}
			defer f.Close()
			if _, err := f.Replace(t.Context(), &fetch.Request{Locator: parse(t, srv.URL+"/a%FF%F4")}, strings.NewReader("new")); err != nil {
				t.Error(err)
			}
			if got := srv.Uploads(); len(got) != 1 || string(got["a\xff\xf4"]) != "new" {
				t.Errorf("stored %q", got)
			}
		})
	}
}

// TestLoginIAC tests user names and passwords with the byte that Telnet doubles. Nothing is sent
// between USER and PASS.
func TestLoginIAC(t *testing.T) {
	for reply, doubled := range map[string]bool{"\xff\xfc\x01530 log in\r\n": true, "530 log in\r\n": false} {
		h := &hostile{on: map[string]string{iacQuestion: reply}, data: "data"}
		h.serve(t)
		loc := at("/f")
		loc.Login = parse(t, "ftp://u%FF:p%FF@h/").Login
		f := &Fetcher{Env: h.env()}
		if got, err := read(t.Context(), f, &fetch.Request{Locator: loc}); err != nil || got != "data" {
			t.Errorf("%q, %v", got, err)
		}
		f.Close()
		want := []string{iacQuestion + "\r\n", "USER u\xff\r\n", "PASS p\xff\r\n"}
		if doubled {
			want = []string{iacQuestion + "\r\n", "USER u\xff\xff\r\n", "PASS p\xff\xff\r\n"}
		}
		if got := h.sent(); len(got) < 3 || !slices.Equal(got[:3], want) {
			t.Errorf("sent %q, want %q", got, want)
		}
	}
}

// TestExactIAC tests that an exact access asks nothing, and sends what RFC 959 says.
func TestExactIAC(t *testing.T) {
	h := &hostile{data: "data"}
	h.serve(t)
	f := &Fetcher{Env: h.env(), Exact: true}
	if _, err := read(t.Context(), f, &fetch.Request{Locator: at("/a%FF")}); err != nil {
		t.Error(err)
	}
	f.Close()
	if got, want := named(h.sent()), []string{"RETR a\xff\xff"}; !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
}

// TestPipelinedIAC tests that names with IAC bytes are pipelined once the server has been asked.
func TestPipelinedIAC(t *testing.T) {
	h := &hostile{data: "data", on: map[string]string{"DELE": "250 ok\r\n"}}
	h.serve(t)
	f := &Fetcher{Env: h.env()}
	defer f.Close()
	edits := []fetch.Edit{{Kind: fetch.EditRemove, Name: "a"}, {Kind: fetch.EditRemove, Name: "b\xff"}, {Kind: fetch.EditRemove, Name: "c\xff"}}
	if err := f.Edit(t.Context(), &fetch.Request{Locator: at("/")}, edits); err != nil {
		t.Error(err)
	}
	if got, want := named(h.sent()), []string{"?", "DELE a", "DELE b\xff", "DELE c\xff"}; !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
}

// TestHomeIAC tests that a session is not reused if its login directory is not certain: some servers
// double IAC bytes in the reply to PWD, and others do not.
func TestHomeIAC(t *testing.T) {
	for reply, reused := range map[string]bool{"257 \"/a\xff\"\r\n": true, "257 \"/a\xff\xff\"\r\n": false} {
		h := &hostile{on: map[string]string{"PWD": reply}, data: "data"}
		h.serve(t)
		f := &Fetcher{Env: h.env()}
		for _, path := range []string{"/d/f", "/e/f"} {
			if got, err := read(t.Context(), f, &fetch.Request{Locator: at(path)}); err != nil || got != "data" {
				t.Errorf("%q, %v", got, err)
			}
		}
		f.Close()
		got := h.sent()
		if homes, logins := count(got, "CWD /a\xff\r\n"), count(got, "USER anonymous\r\n"); reused != (homes == 1) || reused != (logins == 1) {
			t.Errorf("%q: sent %q", reply, got)
		}
	}
}
