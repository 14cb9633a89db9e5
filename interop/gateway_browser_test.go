package interop

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// gatewayPages are the pages of each kind, by the name of their screenshots and dumps.
var gatewayPages = []struct{ name, path, text string }{
	{"home", "/", "URL"},
	{"setup", "/setup", "ftp"},
	{"help", "/help", "Keys"},
	{"scheme", "/gopher/", "gopher://"},
	{"scheme-news", "/news/", "Newsgroup or message-ID"},
	{"directory", "/ftp/ftp.example.org/pub/", "INDEX.txt"},
	{"directory-sorted", "/ftp/ftp.example.org/pub/?sort=-size", "INDEX.txt"},
	{"directory-filter", "/ftp/ftp.example.org/pub/?filter=light", "lighthouse.png"},
	{"directory-pictures", "/ftp/ftp.example.org/pub/?grid", "lighthouse.png"},
	{"directory-markdown", "/ftp/ftp.example.org/films/", "Each film is"},
	{"markdown", "/ftp/ftp.example.org/films/README.md", "Each film is"},
	{"text", "/ftp/ftp.example.org/pub/README", "Files about lighthouses"},
	{"text-cp437", "/ftp/ftp.example.org/pub/cp437.txt?charset=cp437", "\u2500"},
	{"source", "/ftp/ftp.example.org/pub/page.html", "<title>"},
	{"image", "/ftp/ftp.example.org/pub/lighthouse.png", "lighthouse.png"},
	{"sound", "/ftp/ftp.example.org/pub/horn.wav", "horn.wav"},
	{"video", "/ftp/ftp.example.org/pub/waves.webm", "waves.webm"},
	{"explain", "/ftp/ftp.example.org/pub/README?explain", "RETR"},
	{"ftp-info", "/ftp/ftp.example.org/pub/README?info", "README"},
	{"menu", "/gopher/gopher.example.org/", "Welcome. This site has stories"},
	{"gopher-text", "/gopher/gopher.example.org/0/about.txt", "It is kept by hand"},
	{"search", "/gopher/gopher.example.org/7/find", "find"},
	{"search-results", "/gopher/gopher.example.org/7/find?q=keeper", "keeper"},
	{"phone-book", "/gopher/ph.example.org:105/2", "email"},
	{"phone-book-entries", "/gopher/ph.example.org:105/2?q=darling", "Grace Darling"},
	{"gopher-info", "/gopher/gopher.example.org/0/about.txt?info", "who keeps it"},
	{"gopher-form", "/gopher/gopher.example.org/0/order.txt%09%09%3F", "Charts are sent by mail"},
	{"groups", "/news/*", "comp.lighthouses"},
	{"group", "/nntp/news.example.org/comp.lighthouses", "Which lens?"},
	{"group-empty", "/nntp/news.example.org/comp.empty", "comp.empty"},
	{"threads", "/nntp/news.example.org/comp.lighthouses?threads", "Which lens?"},
	{"article", "/news/2@news.example.org", "A first-order one"},
	{"attachment", "/news/4@news.example.org", "Here is the picture"},
	{"wais-server", "/wais/wais.example.org/", "databases of"},
	{"wais-database", "/wais/wais.example.org/stories", "stories"},
	{"wais-hits", "/wais/wais.example.org/stories?q=lighthouse", "The keeper of the lighthouse"},
	{"prospero", "/prospero/prospero.example.org//pub", "motd.txt"},
	{"telnet", "/telnet/library.example.org/", "library.example.org"},
	{"mailto", "/mailto/keeper@example.org", "keeper@example.org"},
	{"error-scheme", "/open?url=example.org", "gopher://example.org"},
	{"error", "/ftp/ftp.example.org/none", "none"},
	{"error-gopher", "/gopher/gopher.example.org/0/none", "none"},
}

// TestGatewayInChromium tests the pages of the gateway in a real browser.
func TestGatewayInChromium(t *testing.T) {
	t.Parallel()
	c := startCanary(t)
	b := startChromium(t, c)
	w := newWorld(t)
	gw := w.gateway(t)
	t.Run("setup", func(t *testing.T) { testSetup(t, b, gw) })
	t.Run("seeking", func(t *testing.T) { testSeeking(t, b, gw, w.ftp) })
	t.Run("keys", func(t *testing.T) { testKeys(t, b, gw) })
	t.Run("filter", func(t *testing.T) { testFilter(t, b, gw) })
	t.Run("without scripts", func(t *testing.T) { testWithoutScripts(t, b, gw) })
	t.Run("hostile", func(t *testing.T) { testHostile(t, b, c) })
	t.Run("hostile documents", func(t *testing.T) { testHostileDocuments(t, b, c) })
	t.Run("pages", func(t *testing.T) {
		idle := make(chan *page, 2)
		for range cap(idle) {
			idle <- b.open(t)
		}
		t.Run("all", func(t *testing.T) {
			for _, tt := range gatewayPages {
				t.Run(tt.name, func(t *testing.T) {
					t.Parallel()
					p := <-idle
					defer func() { idle <- p }()
					testPage(t, &page{t: t, b: b, number: p.number}, gw, tt.name, tt.path, tt.text)
				})
			}
		})
	})
	if requests := c.list(); len(requests) > 0 {
		t.Errorf("requests have left the pages: %q", requests)
	}
}

// otherSite starts a site with links to URLs that only the gateway can show. It returns its port.
func otherSite(t *testing.T) (port string) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<!doctype html><title>links</title>
<a id="ftp" href="ftp://someone:secret@ftp.example.org/pub/">ftp</a>
<a id="news" href="news:comp.lighthouses">news</a>
<a id="nntp" href="nntp://news.example.org/comp.lighthouses/1">nntp</a>`)
	}))
	t.Cleanup(srv.Close)
	_, port, _ = net.SplitHostPort(srv.Listener.Addr().String())
	return port
}

// testClicks clicks on the links of another site. They lead to the page with at most one more
// click.
func testClicks(t *testing.T, p *page, origin string) {
	for id, want := range map[string]string{"ftp": "INDEX.txt", "news": "Which lens?", "nntp": "Which lens has the Longstone light?"} {
		p.load(origin)
		p.do("click", nil, "selector", "#"+id)
		// The browser first goes to a URL of ftp, and then to the gateway's.
		p.do("wait", nil, "expression", "location.hostname === '127.0.0.1' && document.querySelector('main') && document.readyState === 'complete'")
		if !strings.Contains(p.text(), want) {
			p.follow("main a") // of the page that asks first
		}
		var to string
		p.evaluate("location.href", &to)
		if text := p.text(); !strings.Contains(text, want) || strings.Contains(to, "secret") {
			t.Errorf("a click on %s at %s leads to %s: %s", id, origin, to, text)
		}
	}
}

// testSetup registers the gateway by its setup page, and follows links of other sites.
func testSetup(t *testing.T, b *browser, gw string) {
	port := otherSite(t)
	p := b.openFirst(t)
	p.do("acceptHandlers", nil)
	register(p, gw)
	testClicks(t, p, "http://elsewhere.test:"+port)
	testClicks(t, p, "http://127.0.0.1:"+port)
}

// register uses the buttons of the setup page. Each says whether the browser permits the scheme.
func register(p *page, gw string) {
	p.load(gw + "/setup")
	for _, scheme := range []string{"ftp", "news", "nntp"} {
		p.do("click", nil, "selector", "button[data-scheme="+scheme+"]")
		p.do("wait", nil, "expression", "result.textContent.includes(' "+scheme+" ')")
	}
}

// TestGatewayInFirefox tests that pages load in Firefox, that Tab reaches their links, and that the
// links of another site lead to them.
func TestGatewayInFirefox(t *testing.T) {
	t.Parallel()
	gw := newWorld(t).gateway(t)
	b := startFirefox(t, gw)
	p := b.open(t)
	shots := os.Getenv("FETCH1738_SCREENSHOTS")
	for _, tt := range gatewayPages {
		p.load(gw + tt.path)
		if got := p.text(); !strings.Contains(got, tt.text) {
			t.Errorf("%s does not contain %q: %s", tt.path, tt.text, got)
		}
		if shots != "" {
			p.do("shot", nil, "path", filepath.Join(shots, "firefox-"+tt.name+".png"))
		}
	}
	p.load(gw + "/ftp/ftp.example.org/pub/")
	testTab(t, p)
	register(p, gw)
	testClicks(t, p, "http://elsewhere.test:"+otherSite(t))
}

// testPage judges one page: by what it loads, by the Tab key, by axe-core, at 320 px, and by
// html-validate.
func testPage(t *testing.T, p *page, gw, name, path, text string) {
	p.log() // of the page before
	p.do("emulate", nil, "width", 1000, "height", 700, "dark", false)
	p.load(gw + path)
	if got := p.text(); !strings.Contains(got, text) {
		t.Fatalf("%s does not contain %q: %s", path, text, got)
	}
	var mediaType string
	if p.evaluate("document.contentType", &mediaType); mediaType != "text/html" {
		t.Fatalf("%s is no page but %s", path, mediaType)
	}
	checkLog(t, p.log(), gw, path)
	testTab(t, p)
	shots := os.Getenv("FETCH1738_SCREENSHOTS")
	for _, view := range []struct {
		name          string
		width, height int
		dark          bool
		rules         []string // those that the view can change; nil means all
	}{{"", 1000, 700, false, nil}, {"-dark", 1000, 700, true, []string{"color-contrast", "link-in-text-block"}}, {"-320", 320, 640, false, nil}} {
		p.do("emulate", nil, "width", view.width, "height", view.height, "dark", view.dark)
		var violations []string
		p.do("axe", &violations, "rules", view.rules)
		for _, v := range violations {
			t.Errorf("axe%s: %s", view.name, v)
		}
		if shots != "" {
			p.evaluate("document.activeElement.blur(), scrollTo(0, 0)", nil)
			p.do("shot", nil, "path", filepath.Join(shots, name+view.name+".png"))
		}
	}
	var wide []string
	p.evaluate(`(() => {
		const limit = document.documentElement.clientWidth;
		if (document.documentElement.scrollWidth <= limit) return [];
		return [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > limit && !e.parentElement.closest('.scroll, pre')).map(e => e.outerHTML.slice(0, 120));
	})()`, &wide)
	if len(wide) > 0 {
		t.Errorf("at 320 px the page scrolls sideways, because of %q", wide)
	}
	res, err := http.DefaultClient.Do(htmlRequest(t, gw+path))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	html, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range p.b.validate(t, string(html)) {
		t.Errorf("html-validate: %s", m)
	}
}

// testKeys goes through a folder by the keys that the page of help lists, and turns them off there.
func testKeys(t *testing.T, b *browser, gw string) {
	p := b.open(t)
	p.load(gw + "/ftp/ftp.example.org/pub/")
	state := func(what, expression, want string) {
		t.Helper()
		var got string
		if p.evaluate(expression, &got); got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	const focused = "document.activeElement.textContent.trim()"
	first, second := "", ""
	p.evaluate(`document.querySelectorAll("main tbody tr a")[0].textContent.trim()`, &first)
	p.evaluate(`document.querySelectorAll("main tbody tr a")[1].textContent.trim()`, &second)
	for _, step := range [][2]string{{"j", first}, {"j", second}, {"k", first}, {"k", first}} {
		p.do("press", nil, "key", step[0])
		state(step[0], focused, step[1])
	}
	p.do("press", nil, "key", "/")
	state("/", "document.activeElement.id", "address")
	p.do("press", nil, "key", "j")
	state("j in a field", "document.activeElement.id + document.activeElement.value.endsWith('j')", "addresstrue")
	p.load(gw + "/ftp/ftp.example.org/pub/")
	p.do("press", nil, "key", "u")
	p.do("wait", nil, "expression", "location.pathname === '/ftp/ftp.example.org/' && document.readyState === 'complete'")
	p.do("press", nil, "key", "?")
	p.do("wait", nil, "expression", "location.pathname === '/help' && document.readyState === 'complete'")
	p.do("click", nil, "selector", "[data-keys]")
	p.load(gw + "/ftp/ftp.example.org/pub/")
	p.do("press", nil, "key", "j")
	state("j when the keys are off", "document.activeElement.tagName", "BODY")
	p.load(gw + "/help")
	p.do("click", nil, "selector", "[data-keys]")
	checkLog(t, p.log(), gw, "the keys")
}

// testFilter types a part of a name: the script of the page hides the other names at once.
func testFilter(t *testing.T, b *browser, gw string) {
	p := b.open(t)
	p.load(gw + "/ftp/ftp.example.org/pub/")
	p.do("type", nil, "selector", "#filter", "text", "LIGHT")
	var shown string
	p.evaluate(`[...document.querySelectorAll('tbody tr')].filter(e => e.checkVisibility()).map(e => e.querySelector('a').textContent).join() + '|' + document.getElementById('count').textContent`, &shown)
	if shown != "Parent folder,lighthouse.png|1 of 12 names" {
		t.Errorf("the filter leaves %s", shown)
	}
	checkLog(t, p.log(), gw, "the filter")
}

// testWithoutScripts uses pages in which JavaScript is disabled: the link to the content, a link, a
// search, a filter, and a form.
func testWithoutScripts(t *testing.T, b *browser, gw string) {
	p := b.openWithoutScripts(t)
	p.load(gw + "/gopher/gopher.example.org/")
	for _, key := range []string{"Tab", "Enter", "Tab"} {
		p.do("press", nil, "key", key)
	}
	var inside bool
	if p.evaluate("document.activeElement.closest('main') !== null", &inside); !inside {
		t.Error("the first link of the page does not lead to its content")
	}
	leads := func(what, text string) {
		t.Helper()
		if got := p.text(); !strings.Contains(got, text) {
			t.Errorf("%s does not lead to %q but to: %s", what, text, got)
		}
	}
	p.do("type", nil, "selector", "input[type=search]", "text", "keeper")
	p.follow("main form button")
	leads("a search", "keeper.txt")
	p.follow("main a[href$='keeper.txt']")
	leads("a link", "The lamp is lit at dusk.")
	p.load(gw + "/ftp/ftp.example.org/pub/")
	p.do("type", nil, "selector", "#filter", "text", "LIGHT")
	p.follow("main form button")
	leads("a filter", "1 file")
	p.load(gw + "/gopher/gopher.example.org/0/order.txt%09%09%3F")
	p.follow("main form button")
	leads("a form", "A. Sailor")
}

// testSeeking jumps to a place near the end of a video. The browser requests the part of the file
// there, and so does the gateway.
func testSeeking(t *testing.T, b *browser, gw string, srv *ftptest.Server) {
	p := b.open(t)
	p.load(gw + "/ftp/ftp.example.org/films/tide.webm")
	p.do("wait", nil, "expression", "document.querySelector('video').readyState >= HTMLMediaElement.HAVE_METADATA")
	var at struct{ Time, Duration float64 }
	p.evaluate(`new Promise(resolve => {
		const video = document.querySelector('video');
		video.addEventListener('seeked', () => resolve({time: video.currentTime, duration: video.duration}));
		video.currentTime = 1400;
	})`, &at)
	if at.Time != 1400 || at.Duration != 1500 {
		t.Errorf("the video is at %v of %v seconds, want 1400 of 1500", at.Time, at.Duration)
	}
	far := slices.ContainsFunc(srv.Transcript().From(testserver.FromClient), func(line string) bool {
		offset, ok := strings.CutPrefix(line, "REST ")
		n, err := strconv.Atoi(offset)
		return ok && err == nil && n > 8_000_000 && n <= 1400*8000+44
	})
	if !far {
		t.Errorf("the gateway requested no part near the end:\n%s", srv.Transcript())
	}
}

// testTab checks that Tab reaches everything that can be activated, in the order of the document,
// and that the first stop leads to the content.
func testTab(t *testing.T, p *page) {
	want, got := p.tab()
	next := 0
	for _, stop := range got {
		// A player shows the focus on its buttons, which are not elements of the page.
		player := strings.HasPrefix(stop.HTML, "<audio") || strings.HasPrefix(stop.HTML, "<video")
		if !stop.Outlined && !player || !stop.InView {
			t.Errorf("the focus is not visible: %+v", stop)
		}
		if stop.Index < 0 || player && stop.Index == next-1 {
			continue // an area that scrolls, or the next button of a player
		}
		if stop.Index != next {
			t.Errorf("Tab goes to element %d instead of %d: %s", stop.Index, next, stop.HTML)
		}
		next = stop.Index + 1
	}
	if next < len(want) {
		t.Errorf("Tab does not reach %q", want[next:])
	}
	if len(want) == 0 || !strings.Contains(want[0], `href="#main"`) {
		t.Fatalf("the first link of the page is not the one to its content: %q", want)
	}
}

// checkLog checks that a page has loaded itself and its style, and has said nothing.
func checkLog(t *testing.T, l pageLog, gw, path string) {
	t.Helper()
	for _, r := range l.Requests {
		// The icon of the page before may come late; the buttons of the browser's player are data URLs.
		if !strings.HasPrefix(r, gw+"/") && !strings.HasSuffix(r, "/favicon.ico") && !strings.HasPrefix(r, "data:") {
			t.Errorf("%s requests %s", path, r)
		}
	}
	for _, m := range l.Console {
		// The status is that of an error page; "[DOM]" is advice about the passwords of a form.
		if !strings.HasPrefix(m, "Failed to load resource: the server responded with a status of ") && !strings.HasPrefix(m, "[DOM]") {
			t.Errorf("%s says %q", path, m)
		}
	}
	if len(l.Dialogs) > 0 {
		t.Errorf("%s shows %q", path, l.Dialogs)
	}
}

// htmlRequest is a request for a page, as a text browser sends it.
func htmlRequest(t *testing.T, url string) *http.Request {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	return req
}
