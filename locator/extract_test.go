package locator

import (
	"slices"
	"strings"
	"testing"
)

// appendix has the examples of RFC 1738's Appendix with their line breaks.
const appendix = `      Yes, Jim, I found it under <URL:ftp://info.cern.ch/pub/www/doc;
      type=d> but you can probably pick it up from <URL:ftp://ds.in
      ternic.net/rfc>.  Note the warning in <URL:http://ds.internic.
      net/instructions/overview.html#WARNING>.
`

func TestExtractAppendix(t *testing.T) {
	want := []Reference{
		{
			Locator: &FTP{Server: Server{HostPort: only("info.cern.ch")}, CWD: []string{"pub", "www"}, Name: "doc", Type: 'd', HasPath: true},
			Used:    WrappedText,
			Text:    "<URL:ftp://info.cern.ch/pub/www/doc;\n      type=d>",
		},
		{
			Locator: &FTP{Server: Server{HostPort: only("ds.internic.net")}, Name: "rfc", HasPath: true},
			Used:    WrappedText,
			Text:    "<URL:ftp://ds.in\n      ternic.net/rfc>",
		},
		{
			Locator:  &HTTP{Server: Server{HostPort: only("ds.internic.net")}, Path: "instructions/overview.html", HasPath: true},
			Fragment: "WARNING", HasFragment: true,
			Used: WrappedText | Fragments,
			Text: "<URL:http://ds.internic.\n      net/instructions/overview.html#WARNING>",
		},
	}
	got := slices.Collect(Parser{}.Extract(appendix))
	if len(got) != len(want) {
		t.Fatalf("%d URLs, want %d: %v", len(got), len(want), got)
	}
	for i, r := range got {
		if !Equal(r.Locator, want[i].Locator) {
			t.Errorf("%s, want %s", describe(r.Locator), describe(want[i].Locator))
		}
		if r.Locator = want[i].Locator; r != want[i] {
			t.Errorf("%+v, want %+v", r, want[i])
		}
	}
	if s := got[2].String(); s != "http://ds.internic.net/instructions/overview.html#WARNING" {
		t.Error(s)
	}
}

func TestExtract(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // the URLs in canonical form, separated by spaces
	}{
		// No URLs.
		{"", ""},
		{"no URL here", ""},
		{"a: b, c:d, http: the protocol, http:/h, http:h, file:x, 12:30", ""},
		{"http:// and ftp:// and mailto: and news:", ""},
		{"<> <URL:> <URL:http> <a:b> <URL: > << >> < <", ""},
		{"<p>some <b>HTML</b> text</p>", ""},

		// In brackets.
		{"<URL:http://h/>", "http://h/"},
		{"<url:http://h/>", "http://h/"},
		{"<http://h/>", "http://h/"},
		{"<mailto:a@b.c>", "mailto:a@b.c"},
		{"<news:*>", "news:*"},
		{"<URL:news:*>", "news:*"},
		{"<URL:x-foo:bar>", "x-foo:bar"},
		{"<x-foo://bar>", "x-foo://bar"},
		{"<x-foo:bar>", ""},
		{"<URL: http://h/ >", "http://h/"},
		{"<URL:http://h/a b\tc\r\nd>", "http://h/abcd"},
		{"< http://h/\n  a >", "http://h/a"},
		{"<URL:http://h/a#b c>", "http://h/a#bc"},
		{"<URL:http://h/a.>", "http://h/a."},
		{"<URL:http://h/a,b!>,", "http://h/a,b!"},
		{"<URL:ftp://h/a-\n  b>", "ftp://h/a-b"},
		{"<URL:http://a/><URL:http://b/>", "http://a/ http://b/"},
		{"<<URL:http://a/>>", "http://a/"},
		{"<see <URL:http://a/> there>", "http://a/"},
		{"<see http://a/ there>", "http://a/"},
		{"<URL:http://a/~b>", ""},
		{"<URL:http://a/^>, <URL:http://b/>", "http://b/"},
		{"<URL:http://127.1/>", ""},
		{"<URL:http://a/\x00>", ""},

		// No closing bracket.
		{"<URL:http://a/", "http://a/"},
		{"<URL:http://a/ <URL:http://b/>", "http://a/ http://b/"},
		{"<http://a/", "http://a/"},

		// Without brackets.
		{"http://h/", "http://h/"},
		{"see http://h/a/b?c now", "http://h/a/b?c"},
		{"URL:http://h/ url:ftp://h", "http://h/ ftp://h"},
		{"HTTP://h/ Gopher://h", "http://h/ gopher://h"},
		{"http://h/a, http://h/b; http://h/c. http://h/d: http://h/e! http://h/f?", "http://h/a http://h/b http://h/c http://h/d http://h/e http://h/f"},
		{"http://h/...", "http://h/"},
		{"(http://h/a)", "http://h/a"},
		{"(see http://h/a(b))", "http://h/a(b)"},
		{"(http://h/a).", "http://h/a"},
		{"http://h/(a)(b)", "http://h/(a)(b)"},
		{"http://h/a)b)", "http://h/a"},
		{"(https://x.org/pull/43)(Fixes #42), http://h.example)(x", "https://x.org/pull/43 http://h.example"},
		{"[t](http://h/Rust_(language)) [u](http://h/a_(b)_(c))(d)", "http://h/Rust_(language) http://h/a_(b)_(c)"},

		// Emphasis of Markdown.
		{"**http://localhost:3003** **http://h.example/p** *http://h/a.* ***http://h/b***, **see http://h/c**", "http://localhost:3003 http://h.example/p http://h/a http://h/b http://h/c"},
		{"~~http://h/a~~ ~~http://h.example~~ _http://h/a_b_ __http://h/__init__.py__", "http://h/a http://h.example http://h/a_b http://h/__init__.py"},
		{"**http://h/a**and http://h/a*b* http://h/*.txt ftp://h/* news:* http://h/_a_", "http://h/a http://h/a*b* http://h/*.txt ftp://h/* news:* http://h/_a_"},

		// Scheme and host alone, and a character that no host has.
		{"x|http://h.example|y, http://h.example,and http://h.example=x http://h.example'x", "http://h.example http://h.example http://h.example http://h.example"},
		{"http://h:80|x http://h.example.|x telnet://h|x http://a|http://b|http://c", "http://h:80 http://h.example telnet://h http://a http://b http://c"},
		{"ftp://u,v:w@h/a x-db://a,b/c", "ftp://u,v:w@h/a x-db://a,b/c"},
		{"http://h\\x http://h%41x http://h:x http://h:80x", ""},
		{"HTTP://h|x http://h.example---- http://h- http://h.example[] http://h.example[some text] http://h]x", "http://h http://h.example http://h http://h.example http://h.example http://h"},

		// A bracket that is not closed, another URL, and the cell of a table.
		{"http://h/a[some text] http://h/b(see c) http://h/(d)(e", "http://h/a http://h/b http://h/(d)"},
		{"http://h/a,http://h/b;http://h/c|ftp://h/d http://h/a,x-foo://h http://h/a/http://h/b", "http://h/a http://h/b http://h/c ftp://h/d http://h/a,x-foo://h http://h/a/http://h/b"},
		{"| http://h/a|b |http://h/c|d http://h/a[1] http://h/a[]b", "http://h/a http://h/c http://h/a http://h/a"},
		{"[url]http://h/a[/url] [url=http://h/b]c[/url] http://h[/font]", "http://h/a http://h/b http://h"},
		{"&lt;http://h/a&gt; &quot;http://h/b?c&amp;d&quot; http://h/&nbsp;x http://h/&g", "http://h/a http://h/b?c&amp;d http://h/ http://h/&g"},

		// What is no part of the text: colors of a terminal, escape sequences of a string.
		{"\x1b[32mhttp://h/a\x1b[0m\x1b[1;4mhttp://h\x1b[m \x1b[", "http://h/a http://h"},
		{"http://h/a\\nb http://h/c\\r\\n {\\\"u\\\":\\\"http://h/d\\\"} http://h/e\\", "http://h/a http://h/c http://h/d http://h/e"},
		{"[http://h/a] {http://h/b} `http://h/c` 'http://h/d' |http://h/e|", "http://h/a http://h/b http://h/c http://h/d http://h/e"},
		{`"http://h/a" <a href="http://h/b">c</a>`, "http://h/a http://h/b"},
		{"[text](http://h/a)", "http://h/a"},
		{"[http://h/a](http://h/b)", "http://h/a http://h/b"},
		{`<a href="http://h/a."> {"u": "http://h/b!","v":"http://h/c,"} Then: "http://h/d." (="http://h/e.)`, "http://h/a. http://h/b! http://h/c, http://h/d http://h/e."},
		{"http://h/a\nhttp://h/b\r\nhttp://h/c\thttp://h/d", "http://h/a http://h/b http://h/c http://h/d"},
		{"http://h/a#b.", "http://h/a#b"},
		{"http://h/a#.", "http://h/a"},
		{"mailto:a@b.c, news:comp.infosystems.www.misc.", "mailto:a@b.c news:comp.infosystems.www.misc"},
		{"ftp://u:p@h/a;type=a,", "ftp://u:p@h/a;type=a"},
		{"gopher://h/7a%09b%20c.", "gopher://h/7a%09b%20c"},
		{"telnet://h wais://h/d nntp://h/a file:///a prospero://h/a x-foo://a", "telnet://h wais://h/d nntp://h/a file:///a prospero://h/a x-foo://a"},
		{"“http://h/a” «http://h/b» http://h/c…", "http://h/a http://h/b http://h/c"},
		{"xhttp://h/", "xhttp://h/"},
		{"http://h:0/ http://u:p@h/ http://127.1/ http://h:99999 ftp:///x", ""},
		{"http://h/~a,http://h/b", "http://h/b"},
		{"http://h/a\x00http://h/b", "http://h/a http://h/b"},
		{"http://h/%,http://h/%41", "http://h/%41"},
	} {
		var got []string
		for r := range (Parser{}).Extract(c.text) {
			got = append(got, r.String())
			if !strings.Contains(c.text, r.Text) {
				t.Errorf("%q: Text %q is not in it", c.text, r.Text)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, s, c.want)
		}
	}
}

func TestExtractTolerant(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"see http://h/~a/b?d|c. http://h/a|b http://h/a?b|c|", "http://h/%7Ea/b?d%7Cc http://h/a http://h/a?b%7Cc"},
		{"「https://a.example」を 『https://b.example/x』です （http://c.example）x （http://d.example/343（fix））", "https://a.example https://b.example/x http://c.example http://d.example/343"},
		{"http://a.example，and http://b.example。次 https://c.example/p，然后 https://d.example/p；x http://e.example/p！次 http://f.example/p、x", "http://a.example http://b.example https://c.example/p https://d.example/p http://e.example/p http://f.example/p"},
		{"http://a.example—and “http://b.example”と ‘http://c.example/t’と http://d.example’s „http://e.example/x“ ‹http://f.example/x›", "http://a.example http://b.example http://c.example/t http://d.example http://e.example/x http://f.example/x"},
		{"http://localhost:3003と http://h.example→x http://h.example…", "http://localhost:3003 http://h.example http://h.example"},
		{"http://h/日本語 http://h/пример_(x) http://日本.example/a–b http://h/a…b", "http://h/%E6%97%A5%E6%9C%AC%E8%AA%9E http://h/%D0%BF%D1%80%D0%B8%D0%BC%D0%B5%D1%80_(x) http://日本.example/a%E2%80%93b http://h/a%E2%80%A6b"},
		{"**http://[::1]:80** http://[::1]|x http://my_host|x http://[fe80::1%eth0]:80、", "http://[::1]:80 http://[::1] http://my_host http://[fe80::1%25eth0]:80"},
		{"http://h!x@y/ http://h\\@y/ http://h:8\\9/", "http://h!x@y/"},
		{"(http://[::1]:80/a), http://my_host/ http://bücher.ch/ö.", "http://[::1]:80/a http://my_host/ http://bücher.ch/%C3%B6"},
		{"http://u:p@h/?a=b/c", "http://u:p@h/?a=b/c"},
		{"<URL:http:h/a b>", "http://h/ab"},
		{"http://h/a%", "http://h/a%25"},
		{"http:h, file:/x", ""},
		{"“http://h/ä”, «http://h/b», (http://h/c…)", "http://h/%C3%A4 http://h/b http://h/c"},
		{"http://h/a\u00a0b http://h/c\u3000d http://h/e。", "http://h/a http://h/c http://h/e"},
		{"http://h.exampleを参照 https://h.example에서. http://日本.jp日 http://www.abc日本.jp/ http://h.日本 http://h日本.jp http://localhost日 http://a.b日.c", "http://h.example https://h.example http://日本.jp http://www.abc日本.jp/ http://h.日本 http://h日本.jp http://localhost日 http://a.b日.c"},
		{"<http://h/a|some label> <http://h|h> <http://h/?a=b|c> <http://h/?a=b|h/?a=b> <mailto:a@b.c|a@b.c> <URL:http://h/a\n|b>", "http://h/a http://h http://h/?a=b%7Cc http://h/?a=b mailto:a@b.c http://h/a"},
		{"http://h/\xe4\xff b", "http://h/%E4%FF"},
		{"http://h/a\u200b http://h/b\u2066) \u200bhttp://h/c\u200e. http://h/d\ufeff http://h/e\u200d http://h/f\u200dg", "http://h/a http://h/b http://h/c http://h/d http://h/e http://h/f%E2%80%8Dg"},
		{"│http://h/a│http://h│ http://h/a?|b |http://h/c?|d http://h/a\\_b file:///C:\\new http://h/?a=1,b=http://h/", "http://h/a http://h http://h/a?%7Cb http://h/c http://h/a%5C_b file:///C:%5Cnew http://h/?a=1,b=http://h/"},
		{"[http://h/a](http://h/b) [http://[::1]] http://h/?a[b]=c http://h/[id]/x", "http://h/a http://h/b http://[::1] http://h/?a%5Bb%5D=c http://h/%5Bid%5D/x"},
		{"http://[fe80::1%25eth0]/, http://[fe80::1%eth0]:80", "http://[fe80::1%25eth0]/ http://[fe80::1%25eth0]:80"},
	} {
		var got []string
		for r := range (Parser{TolerateUsual}).Extract(c.text) {
			got = append(got, r.String())
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, s, c.want)
		}
	}
}

// TestExtractStops: a loop may stop, and start again from the beginning.
func TestExtractStops(t *testing.T) {
	all := Parser{}.Extract("http://a/ http://b/")
	for range 2 {
		for r := range all {
			if r.String() != "http://a/" {
				t.Errorf("first %s", r)
			}
			break
		}
	}
}

// TestExtractLongRuns: a URL is not longer than MaxLength. A longer run is skipped, and URLs after it are
// found.
func TestExtractLongRuns(t *testing.T) {
	long := "http://h/" + strings.Repeat("a", MaxLength)
	longest := long[:MaxLength]
	for _, c := range []struct {
		text string
		want []string
	}{
		{longest + " http://b/", []string{longest, "http://b/"}},
		{long + " http://b/", []string{"http://b/"}},
		{"<URL:" + long + "> <URL:http://b/>", []string{"http://b/"}},
		{"<URL:" + longest[:MaxLength-6] + "> <URL:http://b/>", []string{longest[:MaxLength-6], "http://b/"}},
		{strings.Repeat("ftp://:", 100) + " http://b/", []string{"http://b/"}},
	} {
		var got []string
		for r := range (Parser{}).Extract(c.text) {
			got = append(got, r.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%.40q…: %d URLs, want %d", c.text, len(got), len(c.want))
		}
	}
}

// TestExtractWork bounds the work on hostile text without a clock: the number of steps of the extractor,
// and how far its parser can have read.
func TestExtractWork(t *testing.T) {
	for _, part := range []string{"<", ">", "<>", "http:", "http://", "mailto:", "mailto:@", "ftp://:", "<URL:", "<URL:http:>", "a:", ")", "http://h/)", "-", "\xff", "<<<<http://", "http://h/]", "http://[", "http://h/“", "http://h|", "http://h/&", "http://h/&gt;", "http://h/[/", "http://a.b日", "<http://h|", "http://h/a(", "http://h/a,", "http://h/a,http:", "http://h/\\_", "\x1b[", "\x1b[0mhttp://h", "| http://h/a", "http://h-", "**http://h/**", "*http://h/a", "http://h/)(", "http://h|@"} {
		text := strings.Repeat(part, (1<<20)/len(part))
		for _, tolerate := range []Tolerance{WrappedText | Fragments, TolerateAll} {
			x := extractor{Parser: Parser{tolerate}, text: text}
			steps, looked := 0, 0
			for x.i < len(text) {
				before := x.i
				if _, ok := x.next(); !ok && x.tries > 0 {
					looked += x.end - before
				}
				if x.i <= before {
					t.Fatalf("%q, %s: no progress at %d", part, tolerate, before)
				}
				steps++
			}
			if steps > len(text) || looked > (maxTries+1)*len(text) {
				t.Errorf("%q, %s: %d steps, %d octets read, for %d octets", part, tolerate, steps, looked, len(text))
			}
		}
	}
}
