package browse

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/term"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/internal/text/charset"
	"github.com/fetch1738/fetch1738/locator"
)

func parsed(t testing.TB, url string) locator.Locator {
	t.Helper()
	ref, err := locator.Parser{Tolerate: locator.AllGroups}.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return ref.Locator
}

// urls returns what the numbers of a page lead to.
func (p *page) urls() (all []string) {
	for _, l := range p.links {
		all = append(all, l.to.String())
	}
	return all
}

// TestCharset has documents in the charset that a server declares, or that they declare themselves.
func TestCharset(t *testing.T) {
	for _, tc := range []struct{ declared, octets, text, kind string }{
		{"shift_jis", "\x93\xfa\x96{\n", "日本\n", "text"},
		{"utf-16", "n\x00\xe9\x00", "né", "text"},
		{"", "\xfe\xff\x00n\x00\xe9", "né", "text"},
		{"", "n\x00\xe9\x00", aboutBinary, "binary file, size unknown"},
	} {
		p := &page{charset: charset.Declared(tc.declared)}
		res := &fetch.Resource{Body: io.NopCloser(strings.NewReader(tc.octets))}
		res.MediaType, res.Size = "text/plain", -1
		if err := p.readText(res); err != nil || p.text != tc.text || p.kind != tc.kind {
			t.Errorf("%s, %q: %q, %q, %v", tc.declared, tc.octets, p.kind, p.text, err)
		}
	}
}

// TestBinary tests what is said of documents that are not text.
func TestBinary(t *testing.T) {
	for _, tc := range []struct {
		media, octets string
		size          int64
		kind          string
	}{
		{"image/gif", "GIF89a", 6, "image/gif, 6 bytes"},
		{"", "GIF89a\x00\x00", -1, "image/gif, size unknown"},
		{"application/octet-stream", "PK\x03\x04\x00", 5, "application/zip, 5 bytes"},
		{"application/octet-stream", "a\x00b", 3, "binary file, 3 bytes"},
		{"application/x-\x1b[2J", "a\x00b", 3, "application/x-␛[2j, 3 bytes"},
	} {
		p := new(page)
		res := &fetch.Resource{Body: io.NopCloser(strings.NewReader(tc.octets))}
		res.MediaType, res.Size = tc.media, tc.size
		if err := p.readText(res); err != nil || p.kind != tc.kind || p.heading(1) != tc.kind || p.text != aboutBinary {
			t.Errorf("%s, %q: %q, %q, %v", tc.media, tc.octets, p.kind, p.text, err)
		}
	}
}

func TestFormatHTML(t *testing.T) {
	for _, tc := range []struct {
		name, html string
		lines      []string
		links      []string
	}{
		{"entities and spaces", "a  b\n\t&lt;c&gt; &eacute;", []string{"a b <c> é"}, nil},
		{"blocks", "<h1>T</h1><p>a<br>b<P>c", []string{"T", "", "a", "b", "", "c"}, nil},
		{"invisible", "<title>t</title><style>s</style><script>'<a href=x>'</SCRIPT>v", []string{"v"}, nil},
		{"elements that end where they begin", "<svg width=1 />v<svg><svg/>u</svg><title/>t</title><script/>s</script>w", []string{"vw"}, nil},
		{"a script without an end", "v<script>s<p>x", []string{"v"}, nil},
		{"a comment", "a<!-- > <a href=x> -->b", []string{"ab"}, nil},
		{"links", `<a href="c.html">one</a> <A HREF='/d?x=1&amp;y'>two</A> <a href=gopher://h/>three</a>`,
			[]string{"[1]one [2]two [3]three"}, []string{"http://host.example/a/c.html", "http://host.example/d?x=1&y", "gopher://h/"}},
		{"a base", `<base href="http://other.example/x/"><a href=y>y</a>`, []string{"[1]y"}, []string{"http://other.example/x/y"}},
		{"no pages", `<a href="#f">f</a><a href="javascript:x">j</a><a name=n>n</a><a href="http://[">b</a>`, []string{"fjnb"}, nil},
		{"frames", `<frameset><frame src=menu.html name=menu></frameset>`, []string{"[1]frame menu"}, []string{"http://host.example/a/menu.html"}},
		{"a form of one field", `<form action=find><input type=hidden name=in value="a b"><input name=q><input type=submit name=go></form>t`,
			[]string{"[1]search", "t"}, []string{"http://host.example/a/find"}},
		{"a form without an end", `<form><input type=search name=q>`, []string{"[1]search"}, []string{"http://host.example/a/b.html"}},
		{"other forms", `<form method=POST><input name=q></form><form><input name=q><input name=r></form><form><input name=q><input type=password></form><form action="mailto:a@h"><input name=q></form>t`, []string{"t"}, nil},
		{"lists and pictures", `<ul><li>a<li><img alt="a &lt;map&gt;" src=m></ul>`, []string{"* a", "* (a <map>)", ""}, nil},
		{"as it is", "<pre>a  b\n  c</pre>", []string{"a  b", "  c", ""}, nil},
		{"an example", "<XMP>a  <b>&amp;\n  c</XMP>d", []string{"a  <b>&amp;", "  c", "", "d"}, nil},
		{"an ampersand in a URL", `<a href="?a=1&copy=2&amp;lt=3">x</a>`, []string{"[1]x"}, []string{"http://host.example/a/b.html?a=1&copy=2&lt=3"}},
		{"a long tag", `<a title="` + strings.Repeat("x>", 5000) + `" href=y>y</a>`, []string{"[1]y"}, []string{"http://host.example/a/y"}},
		{"an attribute twice", `<a href=y data-href=no href=no>y</a>`, []string{"[1]y"}, []string{"http://host.example/a/y"}},
		{"an attribute without quotes", `<a href=it's>y</a>`, []string{"[1]y"}, []string{"http://host.example/a/it's"}},
		{"short comments", "a<!-->b<!--->c<!-- --!>d<!x>e<?x?>f</>g", []string{"abcdefg"}, nil},
		{"a script in a comment in a script", "a<script><!-- <script>'</script>' <p>no --></script>b", []string{"ab"}, nil},
		{"invisible, with tags", "a<svg><title>t</title><a href=no>no</a></svg><select><option>o</select>b<noscript><p>no</noscript>c", []string{"abc"}, nil},
		{"frames that are not shown", "<noframes><a href=y>y</a></noframes>", []string{"[1]y"}, []string{"http://host.example/a/y"}},
		{"a tag without an end", "a<p><a href=\"x>b", []string{"a", "", `<a href="x>b`}, nil},
		{"no tags", "1 < 2 <3 <>", []string{"1 < 2 <3 <>"}, nil},
		{"escapes", "a&#27;[2Jb\x1b]0;c\a", []string{"a␛[2Jb␛]0;c␇"}, nil},
		{"folded", strings.Repeat("word ", 10), []string{"word word word word word word word word", "word word"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &page{at: parsed(t, "http://host.example/a/b.html"), text: tc.html, isHTML: true}
			if got := p.format(40); !slices.Equal(got, tc.lines) {
				t.Errorf("%q, want %q", got, tc.lines)
			}
			if got := p.urls(); !slices.Equal(got, tc.links) {
				t.Errorf("links %q, want %q", got, tc.links)
			}
		})
	}
}

// FuzzFormat checks that no text and no HTML has a line that a terminal would execute, and that each
// number of a page stands for a URL.
func FuzzFormat(f *testing.F) {
	for _, seed := range []string{"<a href=x>y</a>", "a\x1b[2J\r\nb\rc\x9b", "<pre><p", "&#27;&#x9b;", "<URL:ftp://h/\n x>", "<script>", "<!--", "<a href='\"", "a\u2028b"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, text string, isHTML bool) {
		p := &page{at: parsed(t, "http://host.example/"), text: text, isHTML: isHTML}
		for _, line := range p.format(40) {
			if term.Safe(line) != line || strings.Contains(line, "\n") {
				t.Errorf("%q", line)
			}
		}
		for _, l := range p.links {
			if l.to == nil || term.SafeLine(l.name, len(l.name)) != l.name {
				t.Errorf("link %+v", l)
			}
		}
	})
}

// The URLs of a text have numbers, also in angle brackets and over the end of a line.
func TestFormatText(t *testing.T) {
	p := &page{text: "See <URL:ftp://h/a/\r\n  b> and http://h/c, or gopher://h/.\nfoo://x\n"}
	want := []string{"See [1]<URL:ftp://h/a/", "  b> and [2]http://h/c, or [3]gopher://h/.", "foo://x"}
	if got := p.format(80); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := p.urls(); !slices.Equal(got, []string{"ftp://h/a/b", "http://h/c", "gopher://h/"}) {
		t.Errorf("links %q", got)
	}
}

// Lines of a menu that are only text have no number. A mirror is tried for the item above it. A form
// asks for its questions.
func TestFormatItems(t *testing.T) {
	menu := &page{items: []fetch.Item{
		{Name: "Welcome\x1b[2J", Attributes: fetch.Attributes{Size: -1}},
		{Name: "caf\xe9", Locator: parsed(t, "gopher://h/0a"), Attributes: fetch.Attributes{Size: -1}},
		{Name: "there", Locator: parsed(t, "gopher://m/0a"), Attributes: fetch.Attributes{Size: -1, Header: []fetch.Field{{Name: gopher.HeaderMirror}}}},
		{Name: strings.Repeat("long ", 1000), Kind: fetch.KindMenu, Locator: parsed(t, "gopher://h/1b"), Attributes: fetch.Attributes{Size: -1}},
		{Name: "form", Locator: parsed(t, "gopher://h/0f"), Attributes: fetch.Attributes{Size: -1, Header: []fetch.Field{{Name: gopher.HeaderPlus, Value: "?"}}}},
	}}
	lines := menu.format(40)
	if want := []string{"            Welcome␛[2J", "   1 file   café", "   2 file   there (mirror)"}; !slices.Equal(lines[:3], want) {
		t.Errorf("%q, want %q", lines[:3], want)
	}
	if n := term.Width(lines[3]); n > 300 {
		t.Errorf("a name of %d columns", n)
	}
	if m := menu.links[0].mirrors; len(m) != 1 || m[0].String() != "gopher://m/0a" {
		t.Errorf("mirrors %v", m)
	}
	if got := menu.links[3].to.String(); got != "gopher://h/0f%09%09?" {
		t.Errorf("the form is %s", got)
	}
}

// TestFormatArticles shows articles of which only some fields are known, on a wide and on a narrow
// screen.
func TestFormatArticles(t *testing.T) {
	item := func(number string, header ...fetch.Field) fetch.Item {
		return fetch.Item{Name: number, Locator: parsed(t, "nntp://h/g/"+number), Attributes: fetch.Attributes{Size: -1, MediaType: "message/rfc822", Header: header}}
	}
	subject, from := fetch.Field{Name: "Subject", Value: "=?UTF8?Q?caf=C3=A9?= \x93"}, fetch.Field{Name: "From", Value: "a@h"}
	items := []fetch.Item{item("7", subject, from), item("8", subject), item("9")}
	for columns, want := range map[int][]string{
		80: {
			"   1       7              a@h                   café “",
			"   2       8                                    café “",
			"   3       9",
		},
		40: {"   1 café “, a@h", "   2 café “", "   3 9"},
	} {
		p := &page{items: items}
		if got := p.formatItems(columns); !slices.Equal(got, want) {
			t.Errorf("%d columns: got\n%q, want\n%q", columns, got, want)
		}
		if got := p.urls(); len(got) != len(items) {
			t.Errorf("%d columns: links %q", columns, got)
		}
	}
}
