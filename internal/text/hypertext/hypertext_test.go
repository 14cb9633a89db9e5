package hypertext

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/net/html"

	"github.com/fetch1738/fetch1738/locator"
)

// read returns a document with the name of each tag and the values of its attributes href and src.
func read(document string) string {
	var b strings.Builder
	for t := range Tokens(document) {
		switch {
		case t.Name == "":
			b.WriteString(t.Text)
		case t.End:
			b.WriteString("[/" + t.Name + "]")
		default:
			b.WriteString("[" + strings.TrimSpace(t.Name+" "+t.Value("href")+t.Value("src")) + "]")
		}
	}
	return b.String()
}

func TestTokens(t *testing.T) {
	many := "<script"
	for i := range 2 * manyAttributes {
		many += fmt.Sprint(" a", i)
	}
	for document, want := range map[string]string{
		`<!doctype html><!-- <a href=no> --><A HREF="x&amp;y"><b>1 < 2</b>`: "[a x&y][b]1 < 2[/b]",
		`<script>"<a href=no>&lt;"</SCRIPT><img alt='>' src = i.png><br/>`:  `[script]"<a href=no>&lt;"[/script][img i.png][br]`,
		`<title>&lt;<a href=no></title><textarea><a href=no></textarea>`:    "[title]<<a href=no>[/title][textarea]<a href=no>[/textarea]",
		`<noscript><a href=y></noscript><iframe src=z><b></iframe>`:         "[noscript][a y][/noscript][iframe z][b][/iframe]",
		`<![CDATA[<a href=y>]]>`:                 "]]>",
		`<a href=y&copy=1&lt;>&copy=1 &ampx`:     "[a y&copy=1<]©=1 &x",
		"<a\nhref\n=\n'y\r\n' href=no\f>x\x00\r": "[a y]x\x00\n",
		`a<b`:                                    "a<b",
		`a<b c="<a href=y>`:                      `a<b c="<a href=y>`,
		`a<!-- b`:                                "a",
		`</`:                                     "</",
		"":                                       "",
		many + "><a href=no></script><a href=y>": "[script]<a href=no>[/script][a y]",
		strings.ReplaceAll(many, "script", "noscript") + "><a href=y>": "[noscript][a y]",
	} {
		if got := read(document); got != want {
			t.Errorf("%.100q: %q, want %q", document, got, want)
		}
	}
	for range Tokens("<a><b>") { // it stops
		break
	}
}

func TestTitle(t *testing.T) {
	for document, want := range map[string]string{
		"<html><TITLE lang=en>\n A &lt;b&gt; <i>\tx</title >y<title>no</title>":          "A <b> <i> x",
		"<!-- <title>no</title> --><script>'<title>no</title>'</script><title>y</title>": "y",
		"<title></title><title>no</title>":                                               "", "<title>no": "", "x": "", "": "", "</title>": "",
	} {
		if got := Title(document); got != want {
			t.Errorf("%q: %q, want %q", document, got, want)
		}
	}
}

func TestResolve(t *testing.T) {
	base := &locator.HTTP{Server: locator.Server{HostPort: locator.HostPort{Host: "h"}}, Path: "a/b", HasPath: true}
	for ref, want := range map[string]string{"c": "http://h/a/c", " /c#x": "http://h/c", "gopher://g/0x": "gopher://g/0x", "//g/": "http://g/",
		"100%": "http://h/a/100%25", "/%zz|%2F": "http://h/%25zz%7C%2F", "12:30.html?50%": "http://h/a/12:30.html?50%25", "../..": "http://h/", "?": "http://h/a/b?"} {
		if l, err := Resolve(base, ref); err != nil || l.String() != want {
			t.Errorf("%s: %v, %v", ref, l, err)
		}
	}
}

// FuzzTokens compares with the tokens of a reader that gives one octet at a time.
func FuzzTokens(f *testing.F) {
	for _, seed := range []string{"<a href='x'>", "a<script><!-- <script></script> --></script>b", "<title>&lt;</title", "<noscript><p/>&ampx", "<!-- --!><?x?></>", "<![CDATA[x]]>\x00\r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, document string) {
		var got, want []string
		for token := range Tokens(document) {
			if (token.Name == "") == (token.Text == "") && token.Text != "" || strings.ContainsAny(token.Name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ />\n") {
				t.Fatalf("%+v", token)
			}
			if token.Name != "" {
				got = append(got, token.Name)
			}
		}
		z := html.NewTokenizer(iotest.OneByteReader(strings.NewReader(document)))
		for z.Next() != html.ErrorToken {
			switch token := z.Token(); token.Type {
			case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
				want = append(want, token.Data)
				if slices.Contains([]string{"iframe", "noembed", "noframes", "noscript"}, token.Data) {
					z.NextIsNotRawText()
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
		Title(document)
	})
}

func BenchmarkTokens(b *testing.B) {
	document := strings.Repeat("<tr><td><a href=\"some-file-name.tar.gz\">some-file-name.tar.gz</a></td><td>1994-12-01 10:00</td></tr>\n", 10_000)
	b.SetBytes(int64(len(document)))
	for b.Loop() {
		for range Tokens(document) {
		}
	}
}
