package gateway

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/net/html"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/csotest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

// startGopher starts a gopher server with the answers to some selectors, and a gateway.
func startGopher(t *testing.T, answers map[string]string, set func(*gophertest.Server)) (*gophertest.Server, *httptest.Server) {
	t.Helper()
	srv, err := gophertest.Start(t.Context(), "127.0.0.1:0", func(s *gophertest.Server) {
		s.Content = fstest.MapFS{}
		if set != nil {
			set(s)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for selector, answer := range answers {
		srv.On("REQUEST "+selector, 0, testserver.Data(answer))
	}
	return srv, start(t, nil)
}

// plusContent is a server of Gopher+ with views, attributes and a form.
func plusContent(s *gophertest.Server) {
	s.Dialect = gophertest.UMNGopher
	when := time.Date(1994, 12, 1, 10, 20, 30, 0, time.UTC)
	s.Content = fstest.MapFS{
		"salmon":    {Data: []byte("Salmon, English.\n"), ModTime: when},
		"salmon.de": {Data: []byte("Lachs, deutsch.\n"), ModTime: when},
		"survey":    {Data: []byte("form\n"), ModTime: when},
		"plain.txt": {Data: []byte("plain\n"), ModTime: when},
	}
	s.Plus = map[string]gophertest.Item{
		"salmon": {
			Admin: "Frodo <f@b.example>", Abstract: "Great\nsalmon.", Blocks: "+KEYWORDS:\r\n fish, <salmon>\r\n",
			Views: []gophertest.View{
				{Type: "Text/plain", Language: "En_US", Size: ".1k"}, {Type: "Text/plain", Language: "De_DE", Size: "12b", Name: "salmon.de"},
			},
		},
		"survey": {Admin: "Frodo <f@b.example>", Ask: []string{
			"Note: Please <b>fill in</b>", "Ask: How many volts?\t220", "AskP: Secret word", "AskL: Comments\tnone", "AskF: Save as", "Select: News:1", "Choose: Colour\tRed\tGreen", "ChooseF: Upload",
		}},
	}
}

// mask replaces what differs between two runs of a test.
func mask(body string, addrs ...string) string {
	for i, addr := range addrs {
		_, port, _ := strings.Cut(addr, ":")
		name := string(rune('A' + i))
		body = strings.NewReplacer(addr, "SERVER-"+name, "port "+port, "port PORT-"+name, "\t"+port+"\t", "\tPORT-"+name+"\t").Replace(body)
	}
	return body
}

// a menu with an item of each type, and with what servers do wrong.
func exampleMenu(addr string) string {
	host, port, _ := strings.Cut(addr, ":")
	at := "\t" + host + "\t" + port + "\r\n"
	return "iWelcome   to\tx\terror.host\t1\r\ni\tfake\terror.host\t1\r\n" +
		"i  __ _  ___\t\tnull.host\t1\r\ni / _` |/ _ \\\t\tnull.host\t1\r\ni| (_| | (_) |\t\tnull.host\t1\r\ni \\__, |\\___/\t\tnull.host\t1\r\ni |___/\t\tnull.host\t1\r\n" +
		"i\tTITLE\tnull.host\t1\r\ni<b>Text</b> after the drawing\t\tnull.host\t1\r\niA \x1b[1;31mred\x1b[0m word\x1b[2J\t\tnull.host\t1\r\n" +
		"0A text\t/about.txt" + at + "1A menu\t/sub" + at + "2A phone book\t\t" + host + "\t1105\r\n3An error\t\terror.host\t1\r\n4BinHex\t/b.hqx" + at +
		"7A search\t/find" + at + "7A search with ?\t/find?in=all" + at + "7Dots\t/a/../find" + at +
		"8A session\tguest\tbbs.example.org\t2323\r\n8Another\t\tbbs.example.org\t23\r\nTA terminal\tibm\tbbs.example.org\t23\r\n" +
		"9A binary\t/x.bin" + at + "+A copy\t/x.bin\tmirror.example.org\t70\r\nIA picture\t/p.jpg" + at + "~An odd type\t/odd" + at +
		"hThe web\tURL:https://www.example.org/a?b=c&d\t" + host + "\t" + port + "\r\nhUMN web\tGET /x\twww.example.org\t80\r\n" +
		"hMail\tURL:mailto:someone@example.org" + at + "hFTP\tURL:ftp://ftp.example.org/pub/" + at + "hSSH\tURL:ssh://host.example.org/" + at +
		"hScript\tURL:javascript:alert(1)" + at + "hData\tURL:data:text/html,x" + at +
		"0Bad port\t/x\thost\t99999\r\n0No host\t/x\r\n0Bad host\t/x\t<b>\t70\r\nno menu line\r\n" +
		"0\t/only-selector" + at + "0    2024-01-02  Aligned\t/c" + at + "0\x1b[32;44mGreen\x1b[m 2024-01-03\t/d" + at + "0Gr\xfc\xdfe\t/gr\xfcn" + at + ".\r\n"
}

func TestMenuPage(t *testing.T) {
	srv, s := startGopher(t, nil, nil)
	srv.On("REQUEST /all", 0, testserver.Data(exampleMenu(srv.Addr)))
	res, body := get(t, s, pathOf(t, srv.URL+"/1/all"))
	if res.StatusCode != 200 {
		t.Error(res.Status)
	}
	goldenPage(t, "gopher/menu.html", mask(body, srv.Addr))
}

// TestMenuEnds tests what is said about a menu that is empty, is only an error, is cut or is too
// long.
func TestMenuEnds(t *testing.T) {
	srv, s := startGopher(t, map[string]string{
		"/empty": ".\r\n", "/nothing": "", "/error": "3No such thing\t\terror.host\t1\r\n.\r\n",
		"/long": strings.Repeat("i\t\th\t1\r\n", maxMenuRows+5),
		"/line": "0a\t/a\th\t70\r\n0" + strings.Repeat("x", 10_000) + "\t/b\th\t70\r\n",
	}, nil)
	for path, want := range map[string]string{"/1/empty": "The menu is empty", "/1/nothing": "The menu is empty", "/1/long": "Only the first 20000 lines"} {
		if res, body := get(t, s, pathOf(t, srv.URL+path)); res.StatusCode != 200 || !strings.Contains(body, want) || !strings.HasSuffix(body, "</html>\n") && !strings.Contains(body, "</html>") {
			t.Errorf("%s: %s\n%.2000s", path, res.Status, body)
		}
	}
	if res, body := get(t, s, pathOf(t, srv.URL+"/1/error")); res.StatusCode != 404 || !strings.Contains(body, "No such thing") {
		t.Errorf("an error: %s\n%s", res.Status, body)
	}
	srv.On("REQUEST /reset", 0, testserver.Data("0first\t/a\th\t70\r\n"+strings.Repeat("0x\t/a\th\t70\r\n", 10_000)), testserver.Reset(60_000))
	for path, shown := range map[string]string{"/1/line": "longer than 8192 bytes", "/1/reset": "The menu ends here"} {
		_, body, err := getBroken(t, s, pathOf(t, srv.URL+path))
		if err == nil || !strings.Contains(body, shown) || !strings.Contains(body, `>first<`) && path == "/1/reset" {
			t.Errorf("%s: the response ends with %v\n%.3000s", path, err, body[max(0, len(body)-1000):])
		}
	}
}

// getBroken is get for a response that may be broken off with an error.
func getBroken(t *testing.T, s *httptest.Server, path string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res, string(body), err
}

// TestMenuStreams tests that the first row arrives while the server has not sent the rest. The
// server waits until the client has seen it.
func TestMenuStreams(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	seen := make(chan struct{})
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "0first\t/a\th\t70\r\n")
		<-seen
		_, _ = io.WriteString(conn, "0later\t/b\th\t70\r\n.\r\n")
	}()
	s := start(t, nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/gopher/"+listener.Addr().String()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	page := bufio.NewReader(res.Body)
	for line := ""; !strings.Contains(line, ">first<"); {
		if line, err = page.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	close(seen)
	rest, err := io.ReadAll(page)
	if err != nil || !strings.Contains(string(rest), ">later<") {
		t.Errorf("the rest: %v\n%s", err, rest)
	}
}

// TestMenuAs tests the lines of a menu for programs.
func TestMenuAs(t *testing.T) {
	srv, s := startGopher(t, map[string]string{"/m": "iinfo\t\th\t1\r\n0A <text>\t/a\thost\t70\r\n.\r\n"}, nil)
	for accept, want := range map[string]string{"text/plain": "info\nA <text>\n", "application/json": `{"name":"info","kind":"text"}` + "\n" + `{"name":"A <text>","url":"gopher://host/0/a","kind":"document","type":"text/plain"}` + "\n"} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+pathOf(t, srv.URL+"/1/m"), nil)
		req.Header.Set("Accept", accept)
		res, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || string(body) != want {
			t.Errorf("%s: %q, %v", accept, body, err)
		}
	}
}

// TestQueryOfWords tests that a query without a name is a search, where one is possible, and that a
// link of another site does not send it.
func TestQueryOfWords(t *testing.T) {
	content := fstest.MapFS{"docs/sun.txt": {Data: []byte("The <sun> rises\n")}, "docs/sea.txt": {Data: []byte("The sea\n")}}
	menus := gophertest.New(t, func(s *gophertest.Server) { s.Content = content })
	databases := waistest.New(t, func(s *waistest.Server) { s.Content = content })
	phones := csotest.New(t, func(s *csotest.Server) { s.Entries = []csotest.Entry{{{Name: "name", Value: "Sun Rises"}}} })
	s := start(t, nil)
	for _, path := range []string{"/gopher/" + menus.Addr + "/7/docs", "/gopher/" + phones.Addr + "/2", "/wais/" + databases.Addr + "/docs"} {
		res, body := get(t, s, path+"?sun+rises")
		_, want := get(t, s, path+"?q=sun+rises")
		if res.StatusCode != 200 || body != want || !strings.Contains(body, "<h1>Results for sun rises") {
			t.Errorf("%s: %s\n%s\nwant\n%s", path, res.Status, body, want)
		}
		_, body, err := ask(t, s, "GET", path+"?sun", "Accept", "text/html", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document")
		if err != nil || !strings.Contains(body, "Nothing has been sent to the server yet.") {
			t.Errorf("%s by a link of another site: %v\n%s", path, err, body)
		}
	}
	if _, body := get(t, s, "/wais/"+databases.Addr+"/"); !strings.Contains(body, "<h1>Databases of "+databases.Addr+"</h1>") || !strings.Contains(body, "wais://"+databases.Addr+"/NAME") {
		t.Errorf("a server without a database:\n%s", body)
	}
	if res, body := get(t, s, "/wais/"+databases.Addr+"?docs"); res.StatusCode != 200 || !strings.Contains(body, "docs.src") {
		t.Errorf("a search of the databases: %s\n%s", res.Status, body)
	}
}

func TestSearchPage(t *testing.T) {
	srv, s := startGopher(t, nil, func(s *gophertest.Server) {
		s.Search = func(selector, words string) []gophertest.MenuLine {
			return []gophertest.MenuLine{{Type: '0', Display: selector + " has " + words, Selector: "/a"}}
		}
	})
	for _, tc := range []struct{ path, sent, want string }{
		{"/gopher/HOST/7/find", "", `action="/gopher/HOST/7/find"`},
		{"/gopher/HOST/7/find", "", `<label for="q">Search words</label> <input type="search" id="q" name="q" value="">`},
		{"/gopher/HOST/7/find?q=", "", `value=""`},
		{"/gopher/HOST/7/find?q=two+%22words%22%0D%0A", "/find\ttwo \"words\"\r\n", "<h1>Results for two &#34;words&#34;</h1>"},
		{"/gopher/HOST/7/find?q=a%26b", "/find\ta&b\r\n", `value="a&amp;b"`},
		{"/gopher/HOST/7/find?q=gr%FCn", "/find\tgr\xfcn\r\n", `value="grün"`},
		{"/gopher/HOST/7/find?q=a%26b", "/find\ta&b\r\n", `<p class="url">gopher://HOST/7/find%09a&amp;b</p>`},
		{"/gopher/HOST/7/find?q=a", "/find\ta\r\n", `href="/gopher/HOST/7/find%09a?raw"`},
		{"/gopher/HOST/7/find%09old?q=new", "/find\tnew\r\n", `action="/gopher/HOST/7/find"`},
		{"/gopher/HOST/7/find%3Fold+words", "/find\told words\r\n", `value="old words"`},
		{"/gopher/HOST/7/find%3Fx%09?q=a", "/find?x\ta\r\n", `action="/gopher/HOST/7/find%3fx%09"`},
		{"/url?u=gopher://HOST/7/a/../b", "", `action="/url" method="get" role="search" aria-label="Search words"><input type="hidden" name="u" value="gopher://HOST/7/a/../b">`},
		{"/url?u=gopher://HOST/7/a/../b&q=x", "/a/../b\tx\r\n", `has x`},
		{"/gopher/HOST/7/find%09old?raw", "/find\told\r\n", "0/find has old\t"},
	} {
		before := len(srv.Transcript())
		_, body := get(t, s, strings.ReplaceAll(tc.path, "HOST", srv.Addr))
		sent := requests(srv.Transcript()[before:])
		if want := strings.ReplaceAll(tc.want, "HOST", srv.Addr); !strings.Contains(strings.ReplaceAll(body, "%3F", "%3f"), want) || sent != tc.sent {
			t.Errorf("%s: sent %q, want %q in\n%s", tc.path, sent, want, body)
		}
	}
	_, body := get(t, s, "/gopher/"+srv.Addr+"/7/find?q=%3Cb%3E")
	goldenPage(t, "gopher/search.html", mask(body, srv.Addr))
}

// requests are what a client sent to a server.
func requests(transcript testserver.Transcript) string {
	var b strings.Builder
	for _, line := range transcript {
		if line.From == testserver.FromClient {
			b.WriteString(line.Octets)
		}
	}
	return b.String()
}

// postForm sends a form as a browser does, and returns the page.
func postForm(t *testing.T, s *httptest.Server, path string, form url.Values) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Accept": "text/html", "Content-Type": "application/x-www-form-urlencoded", "Origin": s.URL,
		"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document",
	} {
		req.Header.Set(name, value)
	}
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

func TestPhoneBook(t *testing.T) {
	book, err := csotest.Start(t.Context(), "127.0.0.1:0", func(s *csotest.Server) {
		s.MaxMatches = 2
		s.Entries = []csotest.Entry{
			{{Name: "name", Value: "Frodo <Baggins>"}, {Name: "email", Value: "frodo@lab.example"}, {Name: "address", Value: "Bag End\nHobbiton"}},
			{{Name: "name", Value: "Bilbo Baggins"}, {Name: "email"}}, {{Name: "name", Value: "A Took"}}, {{Name: "name", Value: "B Took"}}, {{Name: "name", Value: "C Took"}},
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, nil)
	at := "/gopher/" + book.Addr + "/2"
	_, body := get(t, s, at)
	goldenPage(t, "gopher/phonebook.html", mask(body, book.Addr))
	if sent := requests(book.Transcript()); sent != "fields\r\nquit\r\n" {
		t.Errorf("sent %q for the form", sent)
	}
	for _, tc := range []struct {
		query, sent string
		status      int
		want        string
	}{
		{"?q=frodo", "query frodo\r\nquit\r\n", 200, "<dd>frodo@lab.example</dd>"},
		{"?fields=&field.name=frodo&field.email=", "query name=frodo\r\nquit\r\n", 200, `value="name=frodo"`},
		{"?fields=&field.name=a+b%22%0d%0aquit&field.email=x*&all=on", "query email=x* name=\"a b  quit\" return all\r\nquit\r\n", 404, "No matches to your query"},
		{"?fields=&field.x%20y=1", "fields\r\nquit\r\n", 200, `name="field.name"`},
		{"?q=took", "query took\r\nquit\r\n", 413, "Too many entries to print"},
		{"?q=shoe%3D4", "query shoe=4\r\nquit\r\n", 502, "Field does not exist"},
		{"%09bilbo", "query bilbo\r\nquit\r\n", 200, "Bilbo Baggins"},
	} {
		before := len(book.Transcript())
		res, body := get(t, s, at+tc.query)
		if sent := requests(book.Transcript()[before:]); sent != tc.sent || res.StatusCode != tc.status || !strings.Contains(body, tc.want) || !strings.Contains(body, `role="search"`) {
			t.Errorf("%s: sent %q, %s\n%s", tc.query, sent, res.Status, body)
		}
	}
	_, body = get(t, s, at+"?q=baggins")
	goldenPage(t, "gopher/phones.html", mask(body, book.Addr))

	book.On("FIELDS", 0, testserver.Reply("598:Command not recognized."))
	if _, body := get(t, s, at); !strings.Contains(body, "does not list its fields") || !strings.Contains(body, `name="q"`) {
		t.Errorf("without fields:\n%s", body)
	}
}

func TestItemPage(t *testing.T) {
	srv, s := startGopher(t, nil, plusContent)
	_, body := get(t, s, pathOf(t, srv.URL+"/0/salmon")+"?info")
	goldenPage(t, "gopher/item.html", mask(body, srv.Addr))
	if _, same := get(t, s, pathOf(t, srv.URL+"/0/salmon%09%09!")); !strings.Contains(same, "Great\nsalmon.") {
		t.Errorf("the attributes by URL:\n%s", same)
	}
	_, body = get(t, s, pathOf(t, srv.URL+"/1/"))
	goldenPage(t, "gopher/menu-plus.html", mask(body, srv.Addr))
	_, body = get(t, s, pathOf(t, srv.URL+"/1%09%09$"))
	goldenPage(t, "gopher/menu-details.html", mask(body, srv.Addr))
	// The link of a view leads to it, with one request.
	before := len(srv.Transcript())
	if _, body := get(t, s, pathOf(t, srv.URL+"/0/salmon%09%09+Text/plain%20De_DE")); !strings.Contains(body, "Lachs, deutsch.") {
		t.Errorf("a view:\n%s", body)
	}
	if sent := requests(srv.Transcript()[before:]); sent != "/salmon\t+Text/plain De_DE\r\n" {
		t.Errorf("sent %q for a view", sent)
	}
	if res, body := get(t, s, pathOf(t, srv.URL+"/0/none")+"?info"); res.StatusCode != 404 {
		t.Errorf("a missing item: %s\n%s", res.Status, body)
	}
	plain, s := startGopher(t, nil, func(s *gophertest.Server) { s.Content = fstest.MapFS{"a.txt": {Data: []byte("a\n")}} })
	if res, body := get(t, s, pathOf(t, plain.URL+"/0/a.txt")+"?info"); res.StatusCode != 404 || !strings.Contains(body, "no information about this item") {
		t.Errorf("plain gopher: %s\n%s", res.Status, body)
	}
	stub, s := startGopher(t, nil, func(s *gophertest.Server) {
		s.Dialect, s.Content = gophertest.StubGopher, fstest.MapFS{"a.txt": {Data: []byte("a\n")}}
	})
	if _, body := get(t, s, pathOf(t, stub.URL+"/1%09%09+")); !strings.Contains(body, "Served as plain gopher") || !strings.Contains(body, "a.txt") {
		t.Errorf("a stub:\n%s", body)
	}
}

// TestForm tests a form from its page to the answer, and that nothing is sent before the user has
// seen what.
func TestForm(t *testing.T) {
	srv, s := startGopher(t, nil, plusContent)
	path := pathOf(t, srv.URL+"/0/survey%09%09?")
	res, body := get(t, s, path)
	goldenPage(t, "gopher/form.html", mask(body, srv.Addr))
	if res.StatusCode != 200 {
		t.Error(res.Status)
	}
	before := len(srv.Transcript())
	values := inputs(t, body)
	values.Set("a1", "110 & <more>")
	values.Set("a2", "sesame")
	values.Set("a3", "one\r\n\r\nthree")
	values.Set("a6", "Green")
	values.Del("a5") // as a browser does with an empty check box
	res, body = postForm(t, s, path, values)
	goldenPage(t, "gopher/confirm.html", mask(body, srv.Addr))
	if res.StatusCode != 200 || res.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s, %s", res.Status, res.Header.Get("Cache-Control"))
	}
	// With "no-referrer" Chromium would send "Origin: null", which is refused.
	if got := res.Header.Get("Referrer-Policy"); got != "same-origin" {
		t.Errorf("the button is sent with the referrer policy %q", got)
	}
	if sent := requests(srv.Transcript()[before:]); sent != "" {
		t.Fatalf("sent %q before the user has agreed", sent)
	}
	if shown, _, _ := strings.Cut(body, "<form"); strings.Contains(shown, "sesame") {
		t.Error("the password is shown")
	}
	values = inputs(t, body)
	values.Set("send", "1")
	res, body = postForm(t, s, path, values)
	want := "/survey\t+\t1\r\n+-1\r\n110 & <more>\r\nsesame\r\n4\r\none\r\n\r\nthree\r\n\r\n\r\n0\r\nGreen\r\n.\r\n"
	if sent := requests(srv.Transcript()[before:]); sent != want {
		t.Errorf("sent %q\nwant %q", sent, want)
	}
	if res.StatusCode != 200 || !strings.Contains(body, "[110 &amp; &lt;more&gt;]") || res.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the answer: %s\n%s", res.Status, body)
	}
	values.Set("a4", "../results.txt")
	res, body = postForm(t, s, path, values)
	if got := res.Header.Get("Content-Disposition"); got != "attachment; filename=results.txt" || !strings.Contains(body, "[110 & <more>]") {
		t.Errorf("a download: %s\n%s", got, body)
	}
	for name, change := range map[string]url.Values{
		"a dot":      {"a1": {"."}},
		"two lines":  {"a1": {"a\r\nb"}},
		"no answers": {"kind0": nil},
		"a view":     {"view": {"a\tb"}},
		"a choice":   {"a6": {"%zz"}},
	} {
		wrong := url.Values{}
		for name, value := range values {
			wrong[name] = value
		}
		for name, value := range change {
			if wrong[name] = value; value == nil {
				wrong.Del(name)
			}
		}
		before := len(srv.Transcript())
		if res, body := postForm(t, s, path, wrong); res.StatusCode != 400 || requests(srv.Transcript()[before:]) != "" {
			t.Errorf("%s: %s\n%s", name, res.Status, body)
		}
	}
	if res, _ := postForm(t, s, path, url.Values{"kind0": {"Ask"}, "a0": {strings.Repeat("x", maxForm)}}); res.StatusCode != 400 {
		t.Errorf("a large form: %s", res.Status)
	}
}

// TestFormNotSent tests that a filled form in a URL is not sent by any GET, and neither by a POST
// of another site.
func TestFormNotSent(t *testing.T) {
	srv, s := startGopher(t, nil, plusContent)
	path := pathOf(t, srv.URL+"/0/survey%09%09+%091%0D%0A+-1%0D%0A220%0D%0A.%0D%0A")
	for _, query := range []string{"", "?raw", "?info", "?explain", "?tar", "?send=1", "?q=x", "?charset=utf-8"} {
		for _, accept := range []string{"text/html", "*/*", "text/plain", "application/json"} {
			for _, method := range []string{"GET", "HEAD"} {
				req, _ := http.NewRequestWithContext(t.Context(), method, s.URL+path+query, nil)
				req.Header.Set("Accept", accept)
				res, err := s.Client().Do(req)
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(res.Body)
				res.Body.Close()
				if sent := srv.Transcript(); len(sent) > 0 {
					t.Fatalf("%s %s sent\n%s", method, query, sent)
				}
				if method == "GET" && !strings.Contains(string(body), "Nothing has been sent yet") {
					t.Errorf("%s:\n%s", query, body)
				}
			}
		}
	}
	for name, header := range map[string]http.Header{
		"cross-site": {"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}, "Origin": {"https://evil.example"}},
		"same-site":  {"Sec-Fetch-Site": {"same-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}, "Origin": {"http://127.0.0.1:1"}},
	} {
		req, _ := http.NewRequestWithContext(t.Context(), "POST", s.URL+path, strings.NewReader("send=1"))
		req.Header = header
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if sent := srv.Transcript(); len(sent) > 0 || res.StatusCode != 403 {
			t.Errorf("%s: %s\n%s", name, res.Status, sent)
		}
	}
	if res, body := postForm(t, s, path, url.Values{"send": {"1"}}); res.StatusCode != 200 || !strings.Contains(body, "1: [220]") {
		t.Errorf("the user's own click: %s\n%s", res.Status, body)
	}
}

// inputs are the values that a browser would send for the form of a page.
func inputs(t *testing.T, page string) url.Values {
	t.Helper()
	values := url.Values{}
	tokens := html.NewTokenizer(strings.NewReader(page))
	area := ""
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return values
		case html.TextToken:
			if area != "" {
				values.Add(area, strings.TrimPrefix(string(tokens.Text()), "\n"))
				area = ""
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			token := tokens.Token()
			attr := map[string]string{}
			for _, a := range token.Attr {
				attr[a.Key] = a.Val
			}
			_, checked := attr["checked"]
			switch box := attr["type"] == "checkbox" || attr["type"] == "radio"; {
			case token.Data == "textarea":
				area = attr["name"]
			case token.Data == "input" && (!box || checked):
				values.Add(attr["name"], attr["value"])
			}
		}
	}
}

// TestGopherByProxy tests searches and forms of clients that use the gateway as their proxy: the
// words come in the URL, and forms are not sent.
func TestGopherByProxy(t *testing.T) {
	srv, err := gophertest.Start(t.Context(), "127.0.0.1:0", plusContent, func(s *gophertest.Server) {
		s.Search = func(selector, words string) []gophertest.MenuLine {
			return []gophertest.MenuLine{{Type: '0', Display: selector + " has " + words, Selector: "/a"}}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	addr := start(t, func(h *Handler) { h.Proxy = true }).Listener.Addr().String()
	for _, tc := range []struct {
		path   string
		status int
		want   string
	}{
		{"/7/find", 200, `action="` + srv.URL + `/7/find"`},
		{"/7/find?q=two+words", 200, "/find has two words"},
		{"/7/find?q=a%26b", 200, "/find has a&amp;b"},
		{"/7/find?two+words", 200, "/find has two words"},
		{"/7/find?q=c%2B%2B+and+a%2Bb", 200, "/find has c&#43;&#43; and a&#43;b"},
		{"/7/find?c%2B%2B+and+a%2Bb", 200, "/find has c&#43;&#43; and a&#43;b"},
		{"/7/find?c%2B%2B+and+a%2Bb", 200, `value="c&#43;&#43; and a&#43;b"`},
		{"/7/find%09two%20words", 200, `value="two words"`},
		{"/1/", 200, `href="` + srv.URL + `/0/survey%09%09?"`},
		{"/0/survey%09%09?", 200, "A proxy sends no forms"},
		{"/0/survey%09%09+%091%0D%0A+-1%0D%0A220%0D%0A.%0D%0A", 403, "only from a page of its own"},
	} {
		res, body := exchange(t, addr, "GET "+srv.URL+tc.path, "Accept: text/html")
		if res.StatusCode != tc.status || !strings.Contains(body, tc.want) {
			t.Errorf("%s: %s, want %q in\n%s", tc.path, res.Status, tc.want, body)
		}
	}
	if sent := requests(srv.Transcript()); strings.Contains(sent, "220") {
		t.Errorf("sent %q", sent)
	}
}
