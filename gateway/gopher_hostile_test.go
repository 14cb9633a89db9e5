package gateway

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"golang.org/x/net/html"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/csotest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
)

// hostile are texts that a server may send to make a page something else than it is.
var hostile = []string{
	`<script>alert(1)</script>`, `"><script>alert(1)</script>`, `'><img src=x onerror=alert(1)>`, `</pre></main><h1>Gateway</h1>`, `</title><script>`, `</textarea><script>alert(1)</script>`,
	`<svg onload=alert(1)>`, `<iframe src=//evil.example>`, `<base href=//evil.example/>`, `<meta http-equiv=refresh content=0;url=//evil.example>`, `<link rel=stylesheet href=//evil.example>`,
	`<form action=//evil.example><input name=q>`, `<!-- `, `]]>`, `<![CDATA[`, `<?xml`, `{{.Prefix}}`, `{{template "main" .}}`, "`${alert(1)}`", `&lt;script&gt;`, `&#60;script&#62;`, `&amp`,
	`javascript:alert(1)`, `JaVaScRiPt:alert(1)`, `data:text/html,<script>alert(1)</script>`, `vbscript:x`, `//evil.example/`, `/\evil.example/`, `https://evil.example/`, `\\evil.example\x`,
	`" onmouseover="alert(1)`, `' onfocus='alert(1)' autofocus '`, `x onload=alert(1)`, "\x1b[2J\x1b]0;title\x07", "\x1b[31m<b>red\x1b[1;38;5;300m\" onclick=\"x", "\x1b[\"><script>m", "\x1b]8;;javascript:alert(1)\x07x", "\x00", "a\x00b", "\x7f\x80\x9b", "\u202eexe.txt", "\u2066x\u2069", "\u200f", "\ufeff", "\u2028alert(1)",
	"\xff\xfe<\x00s\x00", "+ADw-script+AD4-", "\xc0\xbcscript\xc0\xbe", "\r<script>", strings.Repeat("A", 7000), strings.Repeat("<b>", 2000), "..", ".", "../../etc/passwd", "%2e%2e/%00", "?raw", "#x", "%", "%zz", ";type=a",
}

var (
	empty           = regexp.MustCompile(`^$`)
	hostileElements = strings.Fields("html head meta title link body header a nav ol li span main h1 h2 section pre ul form label input button p footer div dl dt dd table caption thead tbody tr th td time textarea fieldset legend select option details summary br wbr svg use")
	hostileValue    = map[string]*regexp.Regexp{ // of attributes that must not have text of a server
		"id": regexp.MustCompile(`^[a-z][a-z0-9-]*$`), "class": regexp.MustCompile(`^[a-z0-9 ]+$`), "for": regexp.MustCompile(`^[a-z][a-z0-9-]*$`), "rel": regexp.MustCompile(`^[a-z ]+$`),
		"type": regexp.MustCompile(`^[a-z]+$`), "method": regexp.MustCompile(`^(get|post)$`), "role": regexp.MustCompile(`^[a-z]+$`), "aria-describedby": regexp.MustCompile(`^[a-z][a-z0-9-]*$`),
		"tabindex": regexp.MustCompile(`^0$`), "rows": regexp.MustCompile(`^\d+$`), "scope": regexp.MustCompile(`^col$`), "datetime": regexp.MustCompile(`^[0-9TZ:-]+$`),
		"data-keep": empty, "data-star": empty, "data-copy": empty, "required": empty, "aria-pressed": regexp.MustCompile(`^false$`), "autocapitalize": regexp.MustCompile(`^none$`), "spellcheck": regexp.MustCompile(`^false$`),
		"href": regexp.MustCompile(`^(/[^/\\]|/$|#[a-z]|https?://|gopher://127.0.0.1:\d+/|n(ews|ntp):)`), "action": regexp.MustCompile(`^/[^/\\]`),
		"aria-hidden": regexp.MustCompile(`^true$`), "width": regexp.MustCompile(`^18$`), "height": regexp.MustCompile(`^18$`),
		"lang": nil, "charset": nil, "content": nil, "aria-current": nil, "autocomplete": nil, "accept-charset": nil, "checked": nil, "selected": nil, "open": nil,
		"name": nil, "value": nil, "aria-label": nil, "placeholder": nil, // plain text
	}
)

// ownPart is what only the gateway has in a page: its script, its icons, the symbols and the drawings of the bar.
var ownPart = regexp.MustCompile(`(?s)<svg class="icons".*?</symbol>\n</svg>|<link rel="(icon|apple-touch-icon|manifest|help)" href="/[a-z0-9.-]+"( (type="image/svg\+xml"|crossorigin="use-credentials"))?>|<script src="/script.js" integrity="sha256-[^"]*" defer></script>|<svg aria-hidden="true"[^>]*>(<path d="[^"<>]*"( [a-z-]+="[^"<>]*")*/>)+</svg>`)

// checkDOM checks that a page has nothing but text from servers in it.
func checkDOM(t *testing.T, what, page string) {
	t.Helper()
	page = ownPart.ReplaceAllString(page, "")
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	count := map[string]int{}
	for n := range root.Descendants() {
		switch n.Type {
		case html.TextNode:
			for _, r := range n.Data {
				if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
					t.Errorf("%s: the text has the character %U: %.200q", what, r, n.Data)
					break
				}
			}
		case html.CommentNode:
			t.Errorf("%s: a comment %q", what, n.Data)
		case html.ElementNode:
			count[n.Data]++
			if !strings.Contains(" "+strings.Join(hostileElements, " ")+" ", " "+n.Data+" ") {
				t.Errorf("%s: an element <%s>", what, n.Data)
			}
			for _, a := range n.Attr {
				pattern, known := hostileValue[a.Key]
				if !known || pattern != nil && !pattern.MatchString(a.Val) {
					t.Errorf("%s: <%s %s=%.200q>", what, n.Data, a.Key, a.Val)
				}
				if a.Key == "id" {
					if ids[a.Val] {
						t.Errorf("%s: two elements have the id %s", what, a.Val)
					}
					ids[a.Val] = true
				}
			}
		}
	}
	if count["main"] != 1 || count["h1"] != 1 || count["footer"] != 1 || count["title"] != 1 || count["meta"] != 2 || count["link"] != 1 {
		t.Errorf("%s: not the skeleton of a page: %v", what, count)
	}
}

// checkHostile checks the page at a path, which must have been fetched.
func checkHostile(t *testing.T, what, page string, res *http.Response) {
	t.Helper()
	if got := res.Header.Get("Content-Security-Policy"); got != ownSecurity() {
		t.Errorf("%s: %s with the security policy %q", what, res.Status, got)
	}
	checkDOM(t, what, page)
}

// TestHostileMenus tests that what a gopher server puts into a menu is text and safe links.
func TestHostileMenus(t *testing.T) {
	srv, s := startGopher(t, nil, nil)
	host, port, _ := strings.Cut(srv.Addr, ":")
	rows := 0
	check := func(what, menu string) {
		t.Helper()
		rows++
		srv.ResetFaults()
		srv.On("REQUEST", 0, testserver.Data(menu))
		res, page, _ := getBroken(t, s, pathOf(t, srv.URL+"/1")) // too long a line breaks the response off
		checkHostile(t, what, page, res)
	}
	for _, text := range hostile {
		what := fmt.Sprintf("%.40q", text)
		var menu strings.Builder
		for _, typ := range "0123456789+TgIphsd;:<iMPx" {
			fmt.Fprintf(&menu, "%c%s\t/a\t%s\t%s\t+\r\n", typ, text, host, port)
			fmt.Fprintf(&menu, "%cname\t%s\t%s\t%s\t?\r\n", typ, text, host, port)
		}
		check(what+" as name and selector", menu.String())
		check(what+" as host", "0a\t/a\t"+text+"\t70\r\n1b\t/b\t"+text+"\r\n8c\td\t"+text+"\t23\r\n7d\te\t"+text+"\t70\r\n+e\tf\t"+text+"\t70\r\n")
		check(what+" as port", "0a\t/a\th\t"+text+"\r\n0a\t/a\th\t70\t"+text+"\r\n")
		check(what+" as URL", "ha\tURL:"+text+"\th\t70\r\nhb\t/URL:"+text+"\th\t70\r\nhc\tURL:http://"+text+"\th\t70\r\nhd\tURL:mailto:"+text+"\th\t70\r\nhe\tURL:ftp://h/"+text+"\th\t70\r\nhf\tGET "+text+"\th\t80\r\nhg\tURL:ssh:"+text+"\th\t22\r\n")
		check(what+" as login", "8a\t"+text+"\th\t23\r\nTb\t"+text+"\th\t23\r\n")
		check(what+" as text", text+"\r\ni"+text+"\r\n"+strings.Repeat("i"+text+"\t\tnull.host\t1\r\n", 4)+"i|_/ \\_| "+text+"\r\ni|_/ \\_| "+text+"\r\ni|_/ \\_| "+text+"\r\n3"+text+"\t\terror.host\t1\r\n0a\tb\tc\t70\r\n")
		check(what+" as attributes", "+INFO: 0"+text+"\t/a\t"+host+"\t"+port+"\t+\r\n+ADMIN:\r\n Admin: "+text+" <a@"+text+">\r\n Mod-Date: <19941201102030>\r\n+VIEWS:\r\n "+text+" En_US: <10k>\r\n+INFO: 1b\t/b\th\t70\t?\r\n")
	}
	for typ := range 256 {
		switch typ {
		case '\t', '\n', '\r', '.':
			continue
		}
		check(fmt.Sprintf("type %02X", typ), string([]byte{byte(typ)})+"name\t/sel\t"+host+"\t"+port+"\r\n")
	}
	if rows < 200 {
		t.Errorf("only %d rows", rows)
	}
}

// TestHostileItems tests the same of phone books, attributes, forms, errors and search words.
func TestHostileItems(t *testing.T) {
	book, err := csotest.Start(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv, s := startGopher(t, nil, func(s *gophertest.Server) {
		s.Content = fstest.MapFS{"a.txt": {Data: []byte("a\n")}}
	})
	for _, text := range hostile {
		what := fmt.Sprintf("%.40q", text)
		page := func(kind, path string) {
			t.Helper()
			res, body, _ := getBroken(t, s, path)
			checkHostile(t, what+" in "+kind, body, res)
		}
		answer := func(data string) {
			srv.ResetFaults()
			srv.On("REQUEST", 0, testserver.Data(data))
		}
		book.ResetFaults()
		book.On("FIELDS", 0, testserver.Reply("-200:1:"+text+":max 1 Indexed Lookup\n-200:1:"+text+":"+text+"\n-200:2:name:Lookup\n-200:2:name:"+text+"\n200:Ok."))
		book.On("QUERY", 1, testserver.Reply("-200:1:name: "+text+"\n-200:1:"+text+": "+text+"\n-200:1: : "+text+"\n200:Ok."))
		at := "/gopher/" + book.Addr + "/2"
		page("the fields of a phone book", at)
		page("an entry", at+"?q="+url.QueryEscape(text))
		book.ResetFaults()
		book.On("QUERY", 1, testserver.Reply("501:"+text))
		page("a refusal", at+"?q=x")

		answer("+-2\r\n+INFO: 0" + text + "\t/a\th\t70\t+\r\n+ADMIN:\r\n Admin: " + text + " <" + text + ">\r\n " + text + ": " + text + "\r\n+ABSTRACT:\r\n " + text +
			"\r\n+VIEWS:\r\n " + text + " " + text + ": <1k>\r\n text/" + text + "\r\n+X" + text + ":\r\n " + text + "\r\n+KEYWORDS:\r\n " + text + "\r\n")
		page("attributes", pathOf(t, srv.URL+"/0/a.txt")+"?info")
		ask := ""
		for _, kind := range []string{"Note", "Ask", "AskP", "AskL", "AskF", "Select", "Choose", "ChooseF", text} {
			ask += " " + kind + ": " + text + "\t" + text + "\t" + text + "\r\n"
		}
		answer("+-2\r\n+INFO: 0a\t/a\th\t70\t?\r\n+VIEWS:\r\n " + text + "\r\n b\r\n+ASK:\r\n" + ask)
		page("a form", pathOf(t, srv.URL+"/0/a.txt%09%09?"))
		res, body := postForm(t, s, pathOf(t, srv.URL+"/0/a.txt%09%09?"), url.Values{
			"kind0": {"Ask"}, "prompt0": {text}, "a0": {text}, "kind1": {text}, "kind2": {"Choose"}, "a2": {url.QueryEscape(text)}, "kind3": {"AskL"}, "a3": {text}, "view": {text},
		})
		checkHostile(t, what+" in an answer", body, res)
		page("a form in a URL", "/url?u="+url.QueryEscape(srv.URL+"/0/a.txt%09%09+%091%0D%0A+-1%0D%0A"+url.QueryEscape(text)+"%0D%0A.%0D%0A"))
		answer("--1\r\n1 " + text + " <" + text + ">\r\n" + text + "\r\n.\r\n")
		page("an error", pathOf(t, srv.URL+"/0/a.txt%09%09+"))
		answer("3" + text + "\t\terror.host\t1\r\n.\r\n")
		page("an error line", pathOf(t, srv.URL+"/1/x"))
		answer("i" + text + "\r\n")
		page("search words", pathOf(t, srv.URL+"/7/find")+"?q="+url.QueryEscape(text))
		page("a selector", "/url?u="+url.QueryEscape(srv.URL+"/1"+url.PathEscape(text)))
	}
}
