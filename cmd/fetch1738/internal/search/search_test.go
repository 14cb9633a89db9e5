package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

// ran is what the command did.
type ran struct {
	code     int
	out, err string
}

func run(t *testing.T, args ...string) ran {
	t.Helper()
	var out, err bytes.Buffer
	code := Command().Run(t.Context(), append([]string{"--disable"}, args...), stdio.Streams{In: strings.NewReader(""), Out: &out, Err: &err})
	return ran{code, out.String(), err.String()}
}

// hostile is a title that would clear the screen, set a title, add a line, and turn the text around. It
// has a word to search for.
const hostile = "word \x1b[2J\x1b]0;x\a \u009b31m \u202e $(reboot) `id`"

// unsafe returns the first character of text that a terminal obeys, other than tabs and line ends.
func unsafe(text string) string {
	for _, r := range text {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7F && r < 0xA0 || r >= 0x202A && r <= 0x202E {
			return fmt.Sprintf("%U", r)
		}
	}
	return ""
}

// TestHostileResults: what a server names its results reaches no terminal as it is.
func TestHostileResults(t *testing.T) {
	gopher := gophertest.New(t, func(s *gophertest.Server) {
		s.Search = func(_, words string) []gophertest.MenuLine {
			if words == "none" {
				return []gophertest.MenuLine{{Type: 'i', Display: hostile}}
			}
			return []gophertest.MenuLine{{Type: '0', Display: hostile, Selector: "/" + hostile}, {Type: 'h', Display: hostile, Selector: "URL:http://h/" + hostile}}
		}
	})
	news := nntptest.New(t, func(s *nntptest.Server) {
		subject := strings.ReplaceAll(hostile, "\a", "")
		s.Groups = map[string][]string{"local.test": {"From: " + subject + " <a@b.example>\r\nNewsgroups: local.test\r\nDate: Thu, 01 Dec 1994 12:00:00 +0000\r\nMessage-ID: <1@b.example>\r\nSubject: " + subject + "\r\n\r\nx\r\n"}}
	})
	files := fstest.MapFS{"db/" + strings.ReplaceAll(hostile, "/", ""): {Data: []byte(hostile + "\n")}}
	wais := waistest.New(t, func(s *waistest.Server) { s.Content = files })
	archie := prosperotest.New(t, func(s *prosperotest.Server) { s.Content, s.Site = files, "ftp.example.org" })

	for _, url := range []string{gopher.URL + "/7/", news.URL + "/local.test", wais.URL + "/db", archie.URL + "/"} {
		for _, args := range [][]string{{url, "word"}, {"--json", url, "word"}} {
			got := run(t, args...)
			if bad := unsafe(got.out + got.err); bad != "" || got.code != 0 {
				t.Errorf("search %q: code %d, has %s: %q %s", args, got.code, bad, got.out, got.err)
			}
			for line := range strings.Lines(got.out) {
				url, title, _ := strings.Cut(line, "\t")
				if args[0] == "--json" {
					var result struct{ Name, URL string }
					if err := json.Unmarshal([]byte(line), &result); err != nil {
						t.Errorf("%q: %v", line, err)
					}
					url, title = result.URL, result.Name
				}
				if !strings.Contains(url, ":") || strings.ContainsAny(url, " \"<>`\\") || title == "" {
					t.Errorf("search %q: the line %q", args, line)
				}
			}
		}
	}
	if got := run(t, gopher.URL+"/7/", "none"); got.code != 1 || unsafe(got.err) != "" || !strings.Contains(got.err, "the server says: word") {
		t.Errorf("no result: %+v", got)
	}
}

// TestServersWithoutSearch: news servers that cannot search give the same results.
func TestServersWithoutSearch(t *testing.T) {
	article := func(n int, subject string) string {
		return fmt.Sprintf("From: A <a@b.example>\r\nNewsgroups: local.test\r\nDate: Thu, 01 Dec 1994 12:00:00 +0000\r\nMessage-ID: <%d@b.example>\r\nSubject: %s\r\n\r\nx\r\n", n, subject)
	}
	for name, configure := range map[string]func(*nntptest.Server){
		"XPAT": func(*nntptest.Server) {}, "no XPAT": func(s *nntptest.Server) { s.Hide = []string{"XPAT"} }, "RFC 977": func(s *nntptest.Server) { s.RFC977 = true },
	} {
		t.Run(name, func(t *testing.T) {
			news := nntptest.New(t, configure, func(s *nntptest.Server) {
				s.Groups = map[string][]string{"local.test": {article(1, "Gopher history"), article(2, "history"), article(3, "=?utf-8?B?R09QSEVSIGhpc3RvcnkgbsOkeHQ=?=")}}
			})
			got := run(t, news.URL+"/local.test", "gopher", "Hist")
			want := news.URL + "/local.test/1\t1994-12-01 A: Gopher history\n" + news.URL + "/local.test/3\t1994-12-01 A: GOPHER history näxt\n"
			if got.code != 0 || got.out != want {
				t.Errorf("%+v", got)
			}
			if asked := strings.Contains(strings.Join(news.Transcript().From(testserver.FromClient), "\n"), "OVER 2"); asked && name == "XPAT" {
				t.Error("the overview of article 2 was fetched")
			}
		})
	}
}

// TestMenuWithASearch: the URL of a menu finds its only search.
func TestMenuWithASearch(t *testing.T) {
	gopher := gophertest.New(t, func(s *gophertest.Server) {
		s.Content = fstest.MapFS{
			"gophermap":     {Data: []byte("7Find\t/find\n0Text\t/a.txt\n")},
			"a.txt":         {Data: []byte("word\n")},
			"two/gophermap": {Data: []byte("7One\t/one\n7Other\t/other\n")},
			"far/gophermap": {Data: []byte("7Far\t/find\tgopher.example.org\t70\n")},
		}
	})
	if got := run(t, gopher.URL, "word"); got.code != 0 || got.out != gopher.URL+"/0/a.txt\ta.txt\n" {
		t.Errorf("%+v", got)
	}
	for dir, want := range map[string]string{"/1/two": gopher.URL + "/7/one " + gopher.URL + "/7/other", "/1/far": "gopher://gopher.example.org/7/find"} {
		if got := run(t, gopher.URL+dir, "word"); got.code != 2 || got.out != "" || !strings.Contains(got.err, "is a menu; search at one of its searches: "+want) {
			t.Errorf("%s: %+v", dir, got)
		}
	}
}
