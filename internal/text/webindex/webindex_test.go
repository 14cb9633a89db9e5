package webindex

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/locator"
)

func TestEntries(t *testing.T) {
	const all = "a b.txt 1234 2026-12-01 10:30 | dir/ -1 2026-11-30 09:00"
	for name, tc := range map[string]struct{ page, want string }{
		"nginx": {"<html>\r\n<head><title>Index of /pub/x/</title></head>\r\n<body>\r\n<h1>Index of /pub/x/</h1><hr><pre><a href=\"../\">../</a>\r\n" +
			"<a href=\"dir/\">dir/</a>                    30-Nov-2026 09:00                   -\r\n" +
			"<a href=\"a%20b.txt\">a b.txt</a>             01-Dec-2026 10:30                1234\r\n</pre><hr></body>\r\n</html>\r\n",
			"dir/ -1 2026-11-30 09:00 | a b.txt 1234 2026-12-01 10:30"},
		"Apache, table": {`<title>Index of /pub/x</title><table><tr><th><a href="?C=N;O=D">Name</a></th><th><a href="?C=M;O=A">Last modified</a></th></tr>` +
			`<tr><td><a href="/pub/">Parent Directory</a></td><td>&nbsp;</td><td align="right">  - </td></tr>` + "\n" +
			`<tr><td valign="top"><img src="/icons/text.gif" alt="[TXT]"></td><td><a href="a%20b.txt">a b.txt</a></td><td align="right">2026-12-01 10:30  </td><td align="right">1234 </td></tr>` + "\n" +
			`<tr><td></td><td><a href="dir/">dir/</a></td><td align="right">2026-11-30 09:00  </td><td align="right">  - </td></tr>` + "\n" +
			`<tr><td></td><td><a href="big">big</a></td><td align="right">2026-11-30 09:00  </td><td align="right">1.2M</td></tr></table>`,
			all + " | big -1 2026-11-30 09:00"},
		"Apache, plain": {`<title>Index of /pub/x</title><ul><li><a href="/pub/"> Parent Directory</a></li>` + "\n" + `<li><a href="a%20b.txt"> a b.txt</a></li></ul>`, "a b.txt -1 -"},
		"lighttpd": {`<title>Index of /pub/x/</title><table><tbody><tr class="d"><td class="n"><a href="../">..</a>/</td><td class="m">&nbsp;</td><td class="s">- &nbsp;</td></tr>` +
			`<tr class="d"><td class="n"><a href="dir/">dir</a>/</td><td class="m">2026-Nov-30 09:00:00</td><td class="s">- &nbsp;</td></tr>` +
			`<tr><td class="n"><a href="a%20b.txt">a b.txt</a></td><td class="m">2026-Dec-01 10:30:00</td><td class="s">1.2K</td><td class="t">text/plain</td></tr></tbody></table>`,
			"dir/ -1 2026-11-30 09:00 | a b.txt -1 2026-12-01 10:30"},
		"Python":  {`<title>Directory listing for /pub/x/</title><ul><li><a href="a%20b.txt">a b.txt</a></li><li><a href="dir/">dir/</a></li></ul>`, "a b.txt -1 - | dir/ -1 -"},
		"ours":    {"<!DOCTYPE html>\n<title>/pub/x</title>\n<h1>/pub/x</h1>\n<ul>\n<li><a href=\"./a%20b.txt\">a b.txt</a>\n</ul>\n", "a b.txt -1 -"},
		"empty":   {"<title>Index of /pub/x/</title><pre><a href=\"../\">../</a>\n</pre>", ""},
		"another": {`<title>Welcome</title><a href="a.txt">a</a>`, "no"},
		"others": {`<title>Index of /pub/x/</title><a href="http://other.example/pub/x/a">a</a><a href="sub/deep">b</a><a href="https://h.example/pub/x/s">s</a>` +
			`<a href="javascript:x">j</a><a href="mine">m</a><a href="mine">m</a>`, "mine -1 -"},
	} {
		ref, err := locator.Parser{}.Parse("http://h.example/pub/x/")
		if err != nil {
			t.Fatal(err)
		}
		entries, ok := Entries(ref.Locator.(*locator.HTTP), tc.page)
		var got []string
		for _, e := range entries {
			when, slash := "-", ""
			if !e.ModTime.IsZero() {
				when = e.ModTime.Format("2006-01-02 15:04")
			}
			if e.IsDir {
				slash = "/"
			}
			got = append(got, fmt.Sprint(e.Name, slash, " ", e.Size, " ", when))
		}
		if text := strings.Join(got, " | "); text != tc.want && !(tc.want == "no" && !ok) || ok == (tc.want == "no") {
			t.Errorf("%s: %t %q, want %q", name, ok, text, tc.want)
		}
	}
}

func FuzzEntries(f *testing.F) {
	f.Add(`<title>Index of /</title><a href="a">a</a> 01-Dec-2026 10:30 1`)
	f.Fuzz(func(t *testing.T, page string) {
		base := &locator.HTTP{Server: locator.Server{HostPort: locator.HostPort{Host: "h.example"}}, HasPath: true, Path: "pub/"}
		entries, _ := Entries(base, page)
		for _, e := range entries {
			if e.Name == "" || e.Locator.Host != "h.example" || !strings.HasPrefix(e.Locator.Path, "pub/") {
				t.Errorf("%q: %+v", page, e)
			}
		}
	})
}
