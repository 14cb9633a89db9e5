package gateway

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/gopher"
	"github.com/fetch1738/fetch1738/gateway/internal/ansi"
	"github.com/fetch1738/fetch1738/gateway/internal/article"
	"github.com/fetch1738/fetch1738/gateway/internal/markup"
	"github.com/fetch1738/fetch1738/gateway/internal/memento"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/gateway/internal/plaintext"
	"github.com/fetch1738/fetch1738/gateway/internal/screen"
	"github.com/fetch1738/fetch1738/gateway/internal/textview"
	"github.com/fetch1738/fetch1738/locator"
	"golang.org/x/net/html"
)

// securityWith is the security policy of a page with a script.
func securityWith(script string) string {
	sum := sha256.Sum256([]byte(script))
	return ownSecurity() + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// ownSecurity is the security policy of a page that has script.js alone.
func ownSecurity() string { return pageSecurity + "; script-src '" + builtin().digest + "'" }

// TestOneFunctionTrusts tests that one function alone makes a value that html/template writes as it
// is: place.trusted.
func TestOneFunctionTrusts(t *testing.T) {
	made := regexp.MustCompile(`template\.(URL|HTML|HTMLAttr|CSS|JS|JSStr|Srcset)\(.*`)
	var found []string
	err := filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range made.FindAllString(string(text), -1) {
			found = append(found, filepath.ToSlash(path)+" "+m)
		}
		return err
	})
	if want := []string{"internal/place/place.go template.URL(text)"}; err != nil || !slices.Equal(found, want) {
		t.Errorf("%q, %v; want %q", found, err, want)
	}
}

// TestTemplates tests that files replace the templates of their names, and nothing else.
func TestTemplates(t *testing.T) {
	page, err := os.ReadFile("../docs/gateway.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```html\n")
	example, _, _ = strings.Cut(example, "```")
	templates, err := ParseTemplates(fstest.MapFS{
		"home.html": {Data: []byte(example + "<script>/* a comment */ const ours = 1 < 2;</script>")}, ".DS_Store": {}, "style.css": {Data: []byte("p {}")},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, func(h *Handler) { h.Templates = templates })
	res, body := get(t, s, "/")
	if !strings.Contains(body, `Our menu</a></p>
<p><a href="/setup">`) || !strings.Contains(body, `<main id="main">`) {
		t.Error(body)
	}
	_, script, _ := strings.Cut(body, "<script>")
	script, _, _ = strings.Cut(script, "</script>")
	if csp := res.Header.Get("Content-Security-Policy"); csp != securityWith(script) || strings.Contains(script, "comment") {
		t.Errorf("the script is %q, the security policy %s", script, csp)
	}
	if _, body := get(t, s, "/style.css"); body != "p {}" {
		t.Error(body)
	}
	if res, body := get(t, s, "/mailto/a@b"); !strings.Contains(body, "Open with a mail program") || res.Header.Get("Content-Security-Policy") != ownSecurity() {
		t.Error(body)
	}
}

// TestScripts tests that the security policy has the scripts of a template as a browser hashes them,
// which reads each line end as "\n".
func TestScripts(t *testing.T) {
	const text = "\nlet a = 1;\nlet b = 2;\n"
	for _, tag := range []string{"<script>", "<SCRIPT>", `<script type="module">`, "<script\n>"} {
		for _, end := range []string{"\n", "\r\n"} {
			file := strings.ReplaceAll("<p>\n"+tag+text+"</script>", "\n", end)
			made, err := ParseTemplates(fstest.MapFS{"home.html": {Data: []byte(file)}})
			if err != nil {
				t.Fatal(err)
			}
			if got := made.kinds["home"].security; got != securityWith(text) {
				t.Errorf("%q: the security policy is %s", file, got)
			}
		}
	}
}

// TestEmptyTemplate tests that the status of a page is sent if its templates show nothing.
func TestEmptyTemplate(t *testing.T) {
	templates, err := ParseTemplates(fstest.MapFS{"page.html": {}})
	if err != nil {
		t.Fatal(err)
	}
	logged := make(chan LogEntry, 1)
	s := start(t, func(h *Handler) { h.Templates, h.Log = templates, func(a LogEntry) { logged <- a } })
	for path, want := range map[string]int{"/": 200, "/none": 404} {
		res, body := get(t, s, path)
		if a := <-logged; res.StatusCode != want || a.Status != want || body != "" {
			t.Errorf("%s: %s, %q; logged %d, want %d", path, res.Status, body, a.Status, want)
		}
	}
}

// TestBadTemplates tests that an error in a template is found when it is parsed, with its file and
// line.
func TestBadTemplates(t *testing.T) {
	for text, want := range map[string]string{
		"\n{{if}}":                                    "search.html:2: missing value for if",
		"\n\n{{.Text | nothing}}":                     `search.html:3: function "nothing" not defined`,
		"<p>\n{{template \"none\"}}":                  `search.html:2:11: no such template "none"`,
		"<a {{if .Text}}href=\"{{end}}>{{.Text}}":     `search.html:1:8: {{if}} branches end in different contexts`,
		"\n<script>var x = {{.Text}}</script><a b=\"": `search.html: ends in a non-text context`,
	} {
		_, err := ParseTemplates(fstest.MapFS{"search.html": {Data: []byte(text)}})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for name, want := range map[string]string{
		"serach.html": "serach.html: no template has this name; the names are advice.html, ", "search.html/x": "read search.html: ", "page.htm": "page.htm: no template",
	} {
		_, err := ParseTemplates(fstest.MapFS{name: {}})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// TestTemplateFails tests a template that fails when it is executed: the log says where, and a page
// that has begun says that it is not whole.
func TestTemplateFails(t *testing.T) {
	templates, err := ParseTemplates(fstest.MapFS{
		"home.html":      {Data: []byte("<p>\n{{.Nothing}}")},
		"error.html":     {Data: []byte("{{.Nothing}}")},
		"directory.html": {Data: []byte("<ul>{{range .Rows}}<li>{{.Text}}</li>{{end}}</ul>\n\n<a href=\"{{.Nothing}}\">")},
	})
	if err != nil {
		t.Fatal(err)
	}
	logged := make(chan LogEntry, 1)
	s := start(t, func(h *Handler) { h.Templates, h.Log = templates, func(a LogEntry) { logged <- a } })
	srv := startFTP(t, map[string]string{"a.txt": "", "b.txt": ""})
	for _, tc := range []struct{ path, page, log string }{
		{"/", "", `template: home.html:2:2: executing "home.html" at <.Nothing>: can't evaluate field Nothing`},
		{"/none", "", `template: error.html:1:2: executing "error.html" at <.Nothing>: can't evaluate field Nothing`},
		{at(srv, "/"), "<li>a.txt</li><li>b.txt</li></ul>\n\n<a href=\"<p class", `template: directory.html:3:11: executing "directory.html" at <.Nothing>: can't evaluate field Nothing`},
	} {
		res, body, err := getBroken(t, s, tc.path)
		a := <-logged
		if a.Err == nil || !strings.HasPrefix(a.Err.Error(), tc.log) {
			t.Errorf("%s: logged %v, want %s", tc.path, a.Err, tc.log)
		}
		const says = "The gateway cannot show this page to its end, because its template has an error."
		if !strings.Contains(body, says) || !strings.Contains(body, tc.page) {
			t.Errorf("%s: the page is\n%s", tc.path, body)
		}
		switch {
		case tc.page != "" && (err == nil || res.StatusCode != 200):
			t.Errorf("%s: %s, %v; the response is not broken off", tc.path, res.Status, err)
		case tc.page == "" && (err != nil || res.StatusCode != 500 || !strings.HasPrefix(body, says) || a.Status != 500):
			t.Errorf("%s: %s, %v\n%s", tc.path, res.Status, err, body)
		}
	}
}

// everyPage returns the data of a page of each kind, and of several for some, in which each text is one
// that a server may have sent. The fields that only the gateway sets are those of a plain page.
func everyPage(text string) map[string]any {
	here, there := place.At("/ftp/h.example/"+text), place.URL(&locator.FTP{Server: locator.Server{HostPort: locator.HostPort{Host: "h.example"}}, Name: text})
	links := []crumb{{text, here, true}, {text, there, false}, {text, place.Link{}, false}}
	pieces := []textview.Piece{{Text: text, Link: here}, {Text: text, Link: there}, {Text: text}}
	fields := []fetch.Field{{Name: text, Value: text}}
	now := time.Unix(1e9, 0)
	items := func(yield func(fetch.Item, error) bool) {
		for _, l := range []locator.Locator{nil, &locator.Gopher{Type: '1', Selector: text}, &locator.Gopher{Type: '7', Selector: text}, &locator.HTTP{Server: locator.Server{HostPort: locator.HostPort{Host: "h.example"}}, HasPath: true}, &locator.Telnet{}} {
			item := fetch.Item{Name: text, Locator: l, Attributes: fetch.Attributes{Size: 3, ModTime: now}}
			item.Header = []fetch.Field{{Name: gopher.HeaderPlus, Value: "+"}, {Name: gopher.HeaderType, Value: "1"}}
			if !yield(item, nil) {
				return
			}
		}
	}
	q := &request{h: &Handler{}, r: httptest.NewRequest(http.MethodGet, "/", nil), loc: &locator.FTP{CWD: []string{"a", text}, HasPath: true}}
	q.r.Header.Set("Accept", "text/html")
	v := pages{q, nil, new(response)}
	entries := func(yield func(dirEntry, error) bool) {
		for k := range kindOther {
			if !yield(dirEntry{name: text, href: "./" + text, size: 3, time: 1e9, kind: k}, nil) || !yield(dirEntry{name: text + ".png", kind: k, more: &entryMore{link: there, target: text}}, nil) || !yield(dirEntry{name: text + ".mp3", href: "./" + text, kind: k}, nil) || !yield(dirEntry{name: text + ".zip", href: "./" + text, kind: k}, nil) {
				return
			}
		}
	}
	files := func(c choice) *directory {
		return &directory{v: directoryPages(v), listing: listing{out: v.out, entries: entries, Choice: c, Known: c.Page == 0, more: true}, Of: text, Person: true, UTC: true, Message: pieces, Greeting: pieces, Unread: &unread{[]string{text}, 2}}
	}
	search := &searchForm{here, fields, "q", text, text, text}
	quoted := []*block{{Block: &article.Block{Mark: text}, Quote: []*block{{Block: &article.Block{Mark: text, Signature: true}, Lines: [][]textview.Piece{pieces, pieces}}}}}
	post := &article.Post{Number: text, Subject: text, From: text, Date: now, Lines: text, Link: here, Text: text + "x", Repeated: true}
	threads := []*article.Thread{{Post: post, Count: 20, Newest: now, Replies: []*article.Thread{{ID: text, Missing: there}, {ID: text}, {Post: &article.Post{Text: text, From: text, Here: true}}}}, {Post: post, Count: 2, Replies: []*article.Thread{{Post: post}}}}
	groupForm := &newsForm{here, fields, text, text, true}
	coloured := somePage(q, text, plaintext.Flowing)
	coloured.Screen = screen.New(screen.PCPicture, slices.Values([]string{"\x1b[31mtext"}), q.linked)
	data := map[string]any{
		"home":         homePage{here, here, &newsCard{text, here, links[:2]}, []example{{text, there, text}}, []example{{text, here, text}}},
		"scheme":       schemePage{here, text, place.Form{Before: text, Is: text, Label: text, Looks: text}, []example{{text, there, text}}},
		"help":         helpPage{here, here, text, true},
		"setup":        setupPage{text, text, text, []handled{{text, text}}, links[1:2]},
		"interstitial": interstitialPage{text, text, text, here},
		"archive":      archivePage{text, text, text, here, here, text, true, []archiveSite{{archiveRow{"", text, there, now}, nil, here, false}, {archiveRow{"", text, place.Link{}, now}, []archiveRow{{text, text, here, now}, {"", text, place.Link{}, now}}, here, true}}, []archiveRow{{text, text, here, now}}},
		"captures":     &capturesPage{text, here, 2, now, now, links, memento.Timeline{now, now.Add(time.Hour), now.AddDate(0, 1, 0)}.Years(), true, here, func(time.Time) place.Link { return here }},
		"error":        &failure{Detail: text, Again: text, Do: text, Typed: true, Reply: text, Ways: links[:2], Links: links[:2], Retry: here, Login: there, Sent: text, Server: pieces, Admin: links[0], Moved: links[1]},
		"advice":       &advicePage{text, []field{{text, text}}, pieces, there, text},
		"explain":      &explainPage{text, []step{{text, text, text, true}, {"", text, "", false}}, []string{text}, text},
		"text":         somePage(q, text, plaintext.Flowing),
		"text source":  somePage(q, text, plaintext.Source),
		"text manual":  somePage(q, text, plaintext.Manual),
		"text rfc":     somePage(q, text, plaintext.RFC),
		"text markup":  somePage(q, text, plaintext.Markdown),
		"text gemini":  somePage(q, text, plaintext.Gemtext),
		"hits": &hitsPage{text, text, here, text, true, 2, slices.Values([]*hit{{text, here, []string{text, text}, now, links, text}}), []field{{text, text}}, pieces,
			links[0], links[1], text, []string{text}, v.out},
		"text screen":   coloured,
		"search":        &searchPage{search, text},
		"phonebook":     &phonePage{v: gopherPages(v), items: items, Form: search, Fields: []gopher.PhoneField{{Name: text, About: text, Indexed: true}}, Text: text, All: there},
		"menu":          &menuPage{out: v.out, res: &fetch.Resource{Items: items}, menuItems: menuItems{req: q, dated: minDated}, Search: search, legacy: true, Person: true},
		"item":          &itemPage{[]itemFact{{text, text, here, ""}, {text, text, here, text}}, text, []itemView{{text, text, text, there}}, []itemBlock{{text, text}}, here, there, true},
		"confirm":       &confirmPage{text, text, true, here, fields},
		"groups":        &groupsPage{out: v.out, Rows: slices.Values([]*groupRow{{&row{Text: text, Link: here}, text, 3, text}, {&row{Text: text}, text, -1, text}}), Search: groupForm, more: true, Pages: func() []crumb { return links[:2] }},
		"group":         &groupPage{About: text, Posts: []*article.Post{post, post}, Views: links[:2], Search: groupForm, Found: true, Cut: text},
		"group threads": &groupPage{About: text, Threads: threads, Views: links[:2], Search: groupForm, Cut: text},
		"article": &articlePage{
			From: links[2], Author: links[0], Date: articleField{text, now, text, nil}, Groups: links, Fields: []articleField{{text, now, text, links}, {text, time.Time{}, text, links}},
			Texts: []articleText{{text, quoted}}, Files: []articleFile{{text, text, 3, here, text, text, 4, 5}, {Name: text, Type: text}}, Charset: text, Charsets: links,
			surroundings: surroundings{Parent: &links[0], References: links, Neighbours: []neighbour{{links[0], "prev"}, {links[0], ""}}, Thread: threads, Near: true, Count: 2, Replies: 1},
		},
		"directory":      files(choice{Filter: text}),
		"directory grid": files(choice{Grid: true, Page: 2}),
		"directory play": files(choice{Play: true, Page: 1}),
		"directory open": files(choice{Page: 1}),
		"directory page": files(choice{Order: "name", Filter: text, Page: 3}),
	}
	for _, kind := range []string{"image", "audio", "video"} {
		data["media "+kind] = &mediaPage{kind, text, here, 3, text, func() {}, func() *beside { return &beside{2, 3, here, there} }}
	}
	form := &formPage{Action: here, Hidden: fields, Views: []string{text}}
	for kind := gopher.Ask; kind <= gopher.Note; kind++ {
		form.Questions = append(form.Questions, formQuestion{gopher.Question{Kind: kind}, "a1", text, text, []formChoice{{"a1-1", text, text, true}}})
	}
	data["form"] = form
	data["text prose"] = proseOf(text, here)
	data["text bits"] = slices.Values([]textview.Bit{{Text: text, Link: here, Line: 1, ID: text, Bold: true, Underline: true}, {Text: text, ID: text}, {Text: text, Underline: true}, {Text: text}})
	return data
}

// captureOf is the bar of an archive with a text in each place that a URL or a query can set.
func captureOf(text string) *captureBar {
	here := place.At("/" + text)
	other := captureLink{time.Unix(1e9, 0), here}
	return &captureBar{Time: other.Time, Number: 2, Count: 3, AsOf: text, Previous: other, Next: other, Calendar: here, Usual: crumb{text, here, true}, Live: crumb{text, here, true}, Form: here, Hidden: []fetch.Field{{Name: text, Value: text}}, Date: text}
}

// somePage is the page of a text of a form, whose name the text may be, too.
func somePage(q *request, text string, form plaintext.Form) *textPage {
	const body = "text"
	shown := &io.LimitedReader{R: strings.NewReader(body), N: 4}
	return &textPage{Source: true, MediaType: text, Charset: text, How: text, Charsets: []crumb{{text, place.At("/" + text), true}}, Raw: place.At("/" + text), Form: form, req: q, out: new(response), body: bufio.NewReader(strings.NewReader("more")), shown: shown, reader: shown}
}

// proseOf has a block of each kind, with spans in each style.
func proseOf(text string, to place.Link) iter.Seq[*textview.Block] {
	run := markup.Run{Text: text, Strong: true, Emph: true, Strike: true, Code: true}
	spans := []textview.Span{
		{Link: to, Runs: []textview.Run{{Run: run}, {Run: markup.Run{Break: true}}}},
		{Runs: []textview.Run{{Run: markup.Run{Text: text, Picture: text}, Image: to}, {Run: markup.Run{Text: text, Picture: text}}, {Run: markup.Run{Text: text}}}},
	}
	var blocks []*textview.Block
	for _, kind := range []markup.Kind{markup.Heading, markup.Paragraph, markup.Line, markup.Code, markup.Quote, markup.List, markup.Ordered, markup.Item, markup.Rule, markup.Space, markup.Table, markup.Row, markup.Cell} {
		for level := range 7 {
			b := &textview.Block{Kind: kind, Level: level, ID: text, Number: level, Head: level == 1, Align: text, Text: spans}
			b.Children = []*textview.Block{{Kind: markup.Line, Text: spans}, {Kind: markup.Item, Task: "done"}, {Kind: markup.Item, Task: text}}
			blocks = append(blocks, b)
		}
	}
	return slices.Values(blocks)
}

// skeleton is a page without its texts: its elements with the names of their attributes. The links
// must lead to where a page may lead.
func skeleton(t *testing.T, what, page string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for n := range root.Descendants() {
		switch n.Type {
		case html.CommentNode:
			t.Errorf("%s: a comment %q", what, n.Data)
		case html.ElementNode:
			if n.Data == "wbr" { // in long words
				continue
			}
			b.WriteString("\n" + n.Data)
			for _, a := range n.Attr {
				b.WriteString(" " + a.Key)
				switch a.Key {
				case "href", "src", "action":
					if !leads.MatchString(a.Val) {
						t.Errorf("%s: <%s %s=%q>", what, n.Data, a.Key, a.Val)
					}
				}
			}
		}
	}
	return b.String()
}

var leads = regexp.MustCompile(`^(?:/[^/]|/$|\./|#|(?:ftp|http)://h\.example/)[!-~]*$`)

// maxHostile is the length of the texts of FuzzTemplates. More of the same takes time alone.
const maxHostile = 500

// FuzzTemplates tests that a text which a server has sent changes no page but for its texts. The pages
// are those of all templates.
func FuzzTemplates(f *testing.F) {
	for _, text := range slices.Concat(hostile, hostileValues) {
		if len(text) < maxHostile {
			f.Add(text)
		}
	}
	show := func(t *testing.T, text string) map[string]string {
		shown := make(map[string]string)
		for name, data := range everyPage(text) {
			kind, variant, _ := strings.Cut(name, " ")
			var b strings.Builder
			err := error(nil)
			if made := builtin().kinds[kind]; variant == "prose" || variant == "bits" {
				err = made.ExecuteTemplate(&b, variant, data)
			} else {
				here := place.At("/" + text)
				links := []crumb{{text, here, true}, {text, place.Link{}, false}}
				err = made.Execute(&b, &page{Title: text, Crumbs: links, Heading: text, URL: text, Actions: links[:1], Original: here, Feed: here, Notes: []string{text}, Capture: captureOf(text), Main: data})
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			shown[name] = skeleton(t, name, b.String())
		}
		return shown
	}
	var plain map[string]string
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), maxHostile)]
		if ansi.Has(text) { // colours are elements, which TestHostileMenus examines
			text = ansi.Plain(text)
		}
		if plain == nil {
			plain = show(t, "x")
			for kind := range builtin().kinds {
				if !slices.ContainsFunc(slices.Collect(maps.Keys(plain)), func(name string) bool { return name == kind || strings.HasPrefix(name, kind+" ") }) {
					t.Errorf("no page of the kind %s", kind)
				}
			}
		}
		for name, got := range show(t, "x"+text) {
			if got != plain[name] {
				t.Errorf("%s: %q changes the page from%s\n\nto%s", name, text, plain[name], got)
			}
		}
	})
}
