package gopher

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/locator"
)

// line returns the request for a URL, even if Fetch makes no connection for it.
func (f *Fetcher) line(l *locator.Gopher, query string) ([]byte, error) {
	if err := driver.CheckOctets(l); err != nil {
		return nil, err
	}
	selector, words, err := f.split(l, query)
	if err != nil {
		return nil, err
	}
	plus := l.Plus
	if plus != "" {
		if plus, err = f.plusString(plus); err != nil {
			return nil, err
		}
	}
	return f.encodeRequest(l, selector, words, plus), nil
}

// TestRequests has URLs and the requests that a UMN gopherd expects for them.
func TestRequests(t *testing.T) {
	file, err := os.Open("testdata/requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows := 0
	for in := bufio.NewScanner(file); in.Scan(); {
		url, want, _ := strings.Cut(in.Text(), " ")
		if url == "#" {
			continue
		}
		rows++
		l := parse(t, url)
		got, err := new(Fetcher).line(l, "")
		if want == "refused" {
			if !errors.Is(driver.Fail("", l, fetch.ErrBadURL, err), fetch.ErrBadURL) || err == nil {
				t.Errorf("%s: sends %q, %v; want it refused", url, got, err)
			}
			_, _, err = get(t, serving(nil), &fetch.Request{Locator: l})
			if !errors.Is(err, fetch.ErrBadURL) {
				t.Errorf("%s: fetching gives %v", url, err)
			}
			continue
		}
		if err != nil || strconv.QuoteToASCII(string(got)) != want && quote(got) != want {
			t.Errorf("%s: sends %s, %v; want %s", url, quote(got), err, want)
		}
	}
	if rows != 43 {
		t.Errorf("%d rows, want 43", rows)
	}
}

// TestEmptyWords sends a search with the empty words in its URL, and receives a menu.
func TestEmptyWords(t *testing.T) {
	requests := make(chan []byte, 1)
	res, _, err := get(t, answering([]byte(".\r\n"), requests), &fetch.Request{Locator: parse(t, "gopher://h/7/q%09")})
	if sent := <-requests; err != nil || res.Kind != fetch.KindMenu || string(sent) != "/q\t\r\n" {
		t.Errorf("sent %q, %+v, %v", sent, res, err)
	}
}

// quote returns a Go string literal that contains 8-bit bytes unescaped.
func quote(b []byte) string {
	var s strings.Builder
	s.WriteByte('"')
	for _, c := range b {
		q := strconv.Quote(string([]byte{c}))
		s.WriteString(q[1 : len(q)-1])
	}
	s.WriteByte('"')
	return s.String()
}

// TestRequestsMore has cases that the table lacks: other ways to set search words, and Exact.
func TestRequestsMore(t *testing.T) {
	for _, tc := range []struct{ url, query, want, exact string }{
		{"gopher://h/00/a%09%09+", "", "0/a\t+\r\n", "0/a\t\t+\r\n"},
		{"gopher://h/00/a%09%09!+ABSTRACT%20+SMELL", "", "0/a\t!+ABSTRACT+SMELL\r\n", "0/a\t\t!+ABSTRACT +SMELL\r\n"},
		{"gopher://h/00/a%09%09+Text/plain%20De_DE", "", "0/a\t+Text/plain De_DE\r\n", "0/a\t\t+Text/plain De_DE\r\n"},
		{"gopher://h/00/a%09%09?", "", "0/a\t!\r\n", "0/a\t\t!\r\n"},
		{"gopher://h/00/a%09", "", "0/a\r\n", "0/a\t\r\n"},
		{"gopher://h/00/a%09%09", "", "0/a\r\n", "0/a\t\r\n"},
		{"gopher://h/77/q%09", "", "7/q\t\r\n", "7/q\t\r\n"},
		{"gopher://h/77/q?a+b", "", "7/q\ta b\r\n", "7/q?a+b\r\n"},
		{"gopher://h/77/q?a+b%09", "", "7/q?a+b\t\r\n", "7/q?a+b\t\r\n"},
		{"gopher://h/77/q?a+b%09c+d", "", "7/q?a+b\tc+d\r\n", "7/q?a+b\tc+d\r\n"},
		{"gopher://h/00/q?a+b", "", "0/q?a+b\r\n", "0/q?a+b\r\n"},
		{"gopher://h/77/q", "a + b", "7/q\ta + b\r\n", "7/q\ta + b\r\n"},
		{"gopher://h/77/q?x", "y", "7/q?x\ty\r\n", "7/q?x\ty\r\n"},
		{"gopher://h/77/q%09%09+", "a", "7/q\ta\t+\r\n", "7/q\ta\t+\r\n"},
		{"gopher://h/11/dir%09words", "", "1/dir\twords\r\n", "1/dir\twords\r\n"},
	} {
		for exact, want := range map[bool]string{false: tc.want, true: tc.exact} {
			if got, err := (&Fetcher{Exact: exact}).line(parse(t, tc.url), tc.query); string(got) != want || err != nil {
				t.Errorf("%s with %q, exact %t: %q, %v; want %q", tc.url, tc.query, exact, got, err, want)
			}
		}
	}
	for _, tc := range []struct{ url, query string }{
		{"gopher://h/0a%09%09x", ""}, {"gopher://h/0a%09%09?x", ""}, {"gopher://h/0a%09%09%20+", ""},
		{"gopher://h/0a%09%09!%091%0D%0A+-1%0D%0Ax%0D%0A.%0D%0A", ""},        // a form behind "!"
		{"gopher://h/0a%09%09+%091%0D%0A+-1%0D%0Ax%0D%0A", ""},               // without its end
		{"gopher://h/0a%09%09+%091%0D%0A+-1%0D%0A.%0D%0Ax%0D%0A.%0D%0A", ""}, // with two
		{"gopher://h/0a%09%09+%0D%0ADELETE", ""}, {"gopher://h/0a%09b%09c%0Ad", ""},
		{"gopher://h/0a", "words"}, {"gopher://h/77/q%09a", "b"},
		{"gopher://h/77/q", "a\tb"}, {"gopher://h/77/q", "a\r\nb"}, {"gopher://h/77/q", "a\x00b"},
	} {
		for _, exact := range []bool{false, true} {
			if got, err := (&Fetcher{Exact: exact}).line(parse(t, tc.url), tc.query); err == nil {
				t.Errorf("%s with %q sends %q; want it refused", tc.url, tc.query, got)
			}
		}
	}
}

// TestExplain compares the Explanation with what is really sent.
func TestExplain(t *testing.T) {
	for _, url := range []string{"gopher://h", "gopher://h:7070/0/a%20b", "gopher://h/9x", "gopher://h/7q%09a%20b", "gopher://h/7q?a+b", "gopher://h:105/2?frodo"} {
		requests := make(chan []byte, 1)
		f := &Fetcher{Env: answering([]byte("200:Ok.\r\n"), requests)}
		req := &fetch.Request{Locator: parse(t, url)}
		explained, err := f.Explain(req)
		if err != nil {
			t.Fatal(err)
		}
		res, err := f.Fetch(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		res.Close()
		if sent := <-requests; explained.Steps[0].Send != string(sent) {
			t.Errorf("%s: planned %q, sent %q", url, explained.Steps[0].Send, sent)
		}
		if server, _ := locator.ServerOf(req.Locator); explained.Network != "tcp" || explained.Host != "h" || explained.Port != server.Port {
			t.Errorf("%s: planned for %s %s:%d", url, explained.Network, explained.Host, explained.Port)
		}
	}
	for url, want := range map[string]string{
		"gopher://h/8guest":                  `say: connect to h, port 23, with telnet and log in as "guest"`,
		"gopher://h:2323/T":                  "say: connect to h, port 2323, with tn3270",
		"gopher://h/hURL:http://e.org/a%3Fb": "follow the link to http://e.org/a?b",
		"gopher://h/7q":                      "ask for search words",
		"gopher://h:105/2":                   "ask for search words",
	} {
		explained, err := new(Fetcher).Explain(&fetch.Request{Locator: parse(t, url)})
		if err != nil || explained.Steps[0].Do != want {
			t.Errorf("%s: %+v, %v; want %q", url, explained, err, want)
		}
	}
}

// FuzzRequest checks that every URL that is not refused sends one line, the same as Fetch. Forms
// are the exception.
func FuzzRequest(f *testing.F) {
	if file, err := os.ReadFile("testdata/requests.txt"); err != nil {
		f.Fatal(err)
	} else {
		for line := range strings.Lines(string(file)) {
			url, _, _ := strings.Cut(line, " ")
			f.Add(url, "", false)
		}
	}
	f.Add("gopher://h/7q", "two words", true)
	f.Fuzz(func(t *testing.T, url, query string, exact bool) {
		ref, err := locator.Parser{Tolerate: locator.TolerateAll}.Parse(url)
		if err != nil {
			return
		}
		l, ok := ref.Locator.(*locator.Gopher)
		if !ok {
			return
		}
		fetcher := &Fetcher{Exact: exact}
		a, err := fetcher.prepare(&fetch.Request{Locator: l, Query: query})
		if err != nil || a.request == nil {
			return
		}
		lines := bytes.Count(a.request, []byte("\n"))
		if l.Type == '2' {
			if lines != 2 || !bytes.HasSuffix(a.request, []byte("\r\nquit\r\n")) {
				t.Fatalf("%s sends %q", url, a.request)
			}
			return
		}
		if _, form, _ := strings.Cut(l.Plus, "\t1\r\n+-1\r\n"); form != "" {
			if !bytes.HasSuffix(a.request, []byte("\r\n.\r\n")) {
				t.Fatalf("form %q", a.request)
			}
			return
		}
		if lines != 1 || !bytes.HasSuffix(a.request, []byte("\r\n")) || bytes.ContainsAny(a.request[:len(a.request)-2], "\x00\r\n") {
			t.Fatalf("%s sends %q", url, a.request)
		}
		if tabs := bytes.Count(a.request, []byte("\t")); tabs > 2 {
			t.Fatalf("%s sends %d tabs: %q", url, tabs, a.request)
		}
	})
}
