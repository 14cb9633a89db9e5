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
	past := pastGateway(t)
	t.Run("shifts", func(t *testing.T) { testShifts(t, b) })
	t.Run("pages", func(t *testing.T) {
		idle := make(chan *page, 2)
		for range cap(idle) {
			idle <- b.open(t)
		}
		t.Run("all", func(t *testing.T) {
			for gw, pages := range map[string][]gatewayPage{gw: gatewayPages, past: pastPages} {
				for _, tt := range pages {
					t.Run(tt.name, func(t *testing.T) {
						t.Parallel()
						p := <-idle
						defer func() { idle <- p }()
						testPage(t, &page{t: t, b: b, number: p.number}, gw, tt)
					})
				}
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

// gatewayViews are the widths and themes in which each page is looked at.
var gatewayViews = []struct {
	name          string // of its screenshots
	width, height int
	dark          bool
	rules         []string // of axe-core, those that the view can change; nil means all
}{
	{"", 1280, 900, false, nil},
	{"-dark", 1280, 900, true, colourRules},
	{"-375", 375, 740, false, nil},
	{"-375-dark", 375, 740, true, colourRules},
}

// colourRules are the rules of axe-core that depend on the theme.
var colourRules = []string{"color-contrast", "link-in-text-block"}

// testPage judges one page: by what it loads, by its weight, by what moves, by the Tab key, by axe-core
// and a screenshot in each view, by its width, and by html-validate.
func testPage(t *testing.T, p *page, gw string, tt gatewayPage) {
	p.log() // of the page before
	p.do("emulate", nil, "width", 1280, "height", 900, "dark", false)
	p.load(gw + tt.path)
	if got := p.text(); !strings.Contains(got, tt.text) {
		t.Fatalf("%s does not contain %q: %s", tt.path, tt.text, got)
	}
	var mediaType string
	if p.evaluate("document.contentType", &mediaType); mediaType != "text/html" {
		t.Fatalf("%s is no page but %s", tt.path, mediaType)
	}
	checkLog(t, p.log(), gw, tt.path)
	checkShifts(t, p, gw+tt.path)
	checkTables(t, p)
	testTab(t, p)
	p.evaluate("document.activeElement.blur(), scrollTo(0, 0)", nil)
	for _, view := range gatewayViews {
		p.do("emulate", nil, "width", view.width, "height", view.height, "dark", view.dark)
		var violations []string
		p.do("axe", &violations, "rules", view.rules)
		for _, v := range violations {
			t.Errorf("axe%s: %s", view.name, v)
		}
		checkWidth(t, p, view.width)
		shot := []any{}
		if shots := os.Getenv("FETCH1738_SCREENSHOTS"); shots != "" {
			shot = []any{"path", filepath.Join(shots, tt.name+view.name+".png")}
		}
		p.do("shot", nil, shot...)
	}
	p.do("emulate", nil, "width", 375, "height", 740, "dark", false)
	p.load(gw + tt.path)
	checkShifts(t, p, gw+tt.path)
	p.do("emulate", nil, "width", 320, "height", 640, "dark", false)
	checkWidth(t, p, 320)
	html := fetched(t, gw+tt.path)
	for _, m := range p.b.validate(t, html) {
		t.Errorf("html-validate: %s", m)
	}
	checkWeight(t, gw, tt.path, html)
}

// layoutShifts is what the driver says of them.
type layoutShifts struct {
	Score float64
	Moved []string
}

// maxShift is the score of the shifts that a page may have. One button that makes room for the next has
// a score below this. A list or a picture that comes late has more than ten times that.
const maxShift = 0.005

// checkShifts checks that nothing in the page at a URL, which is loaded, moves after it was shown. A
// busy browser may draw half of a row by chance; what a script, a picture or a style moves, it moves
// each time. So the page is loaded again, up to three times in all, until nothing moves.
func checkShifts(t *testing.T, p *page, url string) {
	t.Helper()
	var shifts layoutShifts
	for range 2 {
		if p.do("shifts", &shifts); shifts.Score <= maxShift {
			return
		}
		t.Logf("loaded again: the layout shifts by %v: %q", shifts.Score, shifts.Moved)
		p.load(url)
	}
	if p.do("shifts", &shifts); shifts.Score > maxShift {
		t.Errorf("the layout shifts by %v: %q", shifts.Score, shifts.Moved)
	}
}

// checkTables checks that no row that comes later moves the columns of a table, unless the page is
// drawn when it has all of it. A table of a text in Markdown may stand below a folder; it comes at once.
func checkTables(t *testing.T, p *page) {
	t.Helper()
	var open []string
	p.evaluate(`document.querySelector('script[blocking=render]') ? [] :
		[...document.querySelectorAll('table')].filter(e => !e.closest('.prose') && getComputedStyle(e).tableLayout !== 'fixed').map(e => e.outerHTML.slice(0, 120))`, &open)
	if len(open) > 0 {
		t.Errorf("rows that come later move the columns of %q", open)
	}
}

// testShifts checks that what a script adds above the text of a page that is shown is noticed.
func testShifts(t *testing.T, b *browser) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<!doctype html><title>late</title><p id="text">A line of text.</p><script>
			requestAnimationFrame(() => requestAnimationFrame(() => {
				document.getElementById('text').before(Object.assign(document.createElement('div'), {style: 'height: 10em'}));
				document.title = 'moved';
			}));</script>`)
	}))
	defer srv.Close()
	p := b.open(t)
	p.do("emulate", nil, "width", 375, "height", 740, "dark", false)
	p.load(srv.URL)
	p.do("wait", nil, "expression", "document.title === 'moved'")
	var shifts layoutShifts
	if p.do("shifts", &shifts); shifts.Score <= maxShift || len(shifts.Moved) == 0 {
		t.Errorf("a text that moves is not noticed: %+v", shifts)
	}
}

// checkWidth checks that a page does not scroll sideways.
func checkWidth(t *testing.T, p *page, width int) {
	t.Helper()
	var wide []string
	p.evaluate(`(() => {
		const limit = document.documentElement.clientWidth;
		if (document.documentElement.scrollWidth <= limit) return [];
		return [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > limit && !e.parentElement.closest('.scroll, pre')).map(e => e.outerHTML.slice(0, 120));
	})()`, &wide)
	if len(wide) > 0 {
		t.Errorf("at %d px the page scrolls sideways, because of %q", width, wide)
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
		// A player, and a field for a date, show the focus on their parts, which are not elements of the page.
		parts := strings.HasPrefix(stop.HTML, "<audio") || strings.HasPrefix(stop.HTML, "<video") || strings.HasPrefix(stop.HTML, `<input type="date"`)
		if !stop.Outlined && !parts || !stop.InView {
			t.Errorf("the focus is not visible: %+v", stop)
		}
		if stop.Index < 0 || parts && stop.Index == next-1 {
			continue // an area that scrolls, or the next part
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
		if !strings.HasPrefix(r, gw+"/") && !strings.HasSuffix(r, "/icon.svg") && !strings.HasPrefix(r, "data:") {
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
