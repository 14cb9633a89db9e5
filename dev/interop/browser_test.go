package interop

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
)

// browser is a real browser, which browser/driver.mjs controls. Its methods may be called
// concurrently, but only one call at a time for each page.
type browser struct {
	requests io.Writer
	sending  sync.Mutex
	last     atomic.Int64
	answers  sync.Map      // of chan browserAnswer, by request
	ended    chan struct{} // closed when the driver has ended
	over     chan struct{} // closed when the time of the test is over
}

type browserAnswer struct {
	ID    int64
	Value json.RawMessage
	Error string
}

// startChromium starts Chromium without a window, with an empty profile. All host names lead to
// loopback addresses: those that end in ".test" to 127.0.0.1, those that end in ".example" to the
// canary. Others are not found.
func startChromium(t *testing.T, c *canary) *browser {
	t.Helper()
	program := requireTool(t, "chromium")
	driver := requireDriver(t)
	profile := t.TempDir()
	addr := daemon.FreeAddr(t)
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir="+profile, "--remote-debugging-port="+port, "--no-first-run",
		"--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--disable-extensions", "--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider",
		"--disable-renderer-backgrounding", "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
		"--force-color-profile=srgb", "--hide-scrollbars", "--password-store=basic", "--use-mock-keychain", "--mute-audio",
		"--host-resolver-rules=MAP *.test 127.0.0.1, EXCLUDE 127.0.0.1, EXCLUDE localhost, MAP *.example "+c.addr+", MAP * ~NOTFOUND", "about:blank")
	cmd.Env = browserEnv(t)
	daemon.Start(t, cmd).Await(t, addr)
	res, err := http.Get("http://" + addr + "/json/version")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var version struct{ Browser, WebSocketDebuggerURL string }
	if err := json.NewDecoder(res.Body).Decode(&version); err != nil {
		t.Fatal(err)
	}
	t.Log(version.Browser)
	return drive(t, driver, "chrome", version.WebSocketDebuggerURL, cmd)
}

// startFirefox starts Firefox without a window. Its profile says what a user says in two dialogs,
// which the driver cannot reach: that the gateway opens ftp, news and nntp URLs, and that pages may
// open them.
func startFirefox(t *testing.T, gw string) *browser {
	t.Helper()
	program := requireTool(t, "firefox-esr")
	driver := requireDriver(t)
	profile := t.TempDir()
	// Nothing leaves the machine: host names lead to a proxy that is not there.
	writeFile(t, filepath.Join(profile, "user.js"), `
user_pref("app.update.disabledForTesting", true);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("network.proxy.type", 1);
user_pref("network.proxy.http", "127.0.0.1");
user_pref("network.proxy.http_port", 9);
user_pref("network.proxy.ssl", "127.0.0.1");
user_pref("network.proxy.ssl_port", 9);
user_pref("network.dns.localDomains", "gateway.test,elsewhere.test");
user_pref("network.proxy.no_proxies_on", "gateway.test, elsewhere.test");
user_pref("network.protocol-handler.external.ftp", true);
user_pref("network.protocol-handler.external.news", true);
user_pref("network.protocol-handler.external.nntp", true);
user_pref("remote.active-protocols", 1);
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
`)
	handler := `{"action": 2, "handlers": [{"name": "fetch1738", "uriTemplate": "` + gw + `/open?url=%s"}]}`
	writeFile(t, filepath.Join(profile, "handlers.json"),
		`{"defaultHandlersVersion": {}, "mimeTypes": {}, "schemes": {"ftp": `+handler+`, "news": `+handler+`, "nntp": `+handler+`}}`)
	addr := daemon.FreeAddr(t)
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.Command(program, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", port, "about:blank")
	cmd.Env = browserEnv(t)
	// It may listen, and refuse connections, before it writes this file.
	ready := filepath.Join(profile, "WebDriverBiDiServer.json")
	daemon.Start(t, cmd).AwaitThat(t, "writes "+ready, func() bool {
		_, err := os.Stat(ready)
		return err == nil
	})
	return drive(t, driver, "firefox", "ws://"+addr+"/session", cmd)
}

// browserEnv is the environment of a browser: no session bus, no display, its own home directory.
func browserEnv(t *testing.T) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "LANG=C.UTF-8", "TZ=UTC", "NO_AT_BRIDGE=1"}
}

// requireDriver returns the path of driver.mjs. Its packages are installed by npm.
func requireDriver(t *testing.T) string {
	t.Helper()
	requireTool(t, "node")
	if _, err := os.Stat("browser/node_modules"); err != nil {
		const missing = "the packages of dev/interop/browser are not installed (npm ci --ignore-scripts --prefix dev/interop/browser)"
		if os.Getenv("CI") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	return filepath.Join("browser", "driver.mjs")
}

// drive starts the driver for a browser that runs.
func drive(t *testing.T, driver, kind, address string, running *exec.Cmd) *browser {
	t.Helper()
	cmd := exec.Command("node", driver, kind, address, fmt.Sprint(running.Process.Pid))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = t.Output()
	in, out := startPiped(t, cmd)
	b := &browser{requests: in, ended: make(chan struct{}), over: make(chan struct{})}
	go func() {
		select {
		case <-daemon.TimeOver(t):
			close(b.over)
		case <-b.ended:
		}
	}()
	go func() {
		defer close(b.ended)
		lines := bufio.NewReader(out)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			var answer browserAnswer
			if err := json.Unmarshal(line, &answer); err != nil {
				answer.Error = fmt.Sprintf("%v: %q", err, line)
			}
			if c, ok := b.answers.LoadAndDelete(answer.ID); ok {
				c.(chan browserAnswer) <- answer
			}
		}
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-b.ended
		_ = cmd.Wait()
	})
	return b
}

// call requests an operation of the driver and stores what it returns in value, unless that is nil.
func (b *browser) call(op string, args map[string]any, value any) error {
	id := b.last.Add(1)

	request := map[string]any{"id": id, "op": op}
	for name, arg := range args {
		request[name] = arg
	}
	line, err := json.Marshal(request)
	if err != nil {
		return err
	}
	c := make(chan browserAnswer, 1)
	b.answers.Store(id, c)
	b.sending.Lock()
	_, err = b.requests.Write(append(line, '\n'))
	b.sending.Unlock()
	if err != nil {
		return err
	}
	select {
	case answer := <-c:
		switch {
		case answer.Error != "":
			return fmt.Errorf("%s %v: %s", op, args, answer.Error)
		case value == nil:
			return nil
		}
		return json.Unmarshal(answer.Value, value)
	case <-b.ended:
		return errors.New("the driver of the browser has ended")
	case <-b.over:
		return fmt.Errorf("%s %v: not done in time", op, args)
	}
}

// page is a page of a browser. Its methods end the test when the browser cannot do what they ask.
type page struct {
	t      *testing.T
	b      *browser
	number int
}

// open opens a page with an empty profile of its own, until the test ends.
func (b *browser) open(t *testing.T) *page {
	t.Helper()
	return b.openWith(t, nil)
}

// openFirst opens a page in the first profile, the only one that keeps protocol handlers.
func (b *browser) openFirst(t *testing.T) *page {
	t.Helper()
	return b.openWith(t, map[string]any{"first": true})
}

// openWithoutScripts opens a page in which JavaScript is disabled.
func (b *browser) openWithoutScripts(t *testing.T) *page {
	t.Helper()
	return b.openWith(t, map[string]any{"script": false})
}

func (b *browser) openWith(t *testing.T, args map[string]any) *page {
	t.Helper()
	p := &page{t: t, b: b}
	if err := b.call("open", args, &p.number); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.call("close", map[string]any{"page": p.number}, nil); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *page) do(op string, value any, args ...any) {
	p.t.Helper()
	m := map[string]any{"page": p.number}
	for i := 0; i < len(args); i += 2 {
		m[args[i].(string)] = args[i+1]
	}
	if err := p.b.call(op, m, value); err != nil {
		p.t.Fatal(err)
	}
}

// shown is the page that is shown after a navigation.
type shown struct {
	URL    string
	Status int // 0 if it did not come from the network
}

// load loads a URL.
func (p *page) load(url string) (s shown) {
	p.t.Helper()
	p.do("goto", &s, "url", url)
	return s
}

// follow clicks on an element that leads to another page.
func (p *page) follow(selector string) (s shown) {
	p.t.Helper()
	p.do("follow", &s, "selector", selector)
	return s
}

// evaluate stores the value of an expression of JavaScript in value.
func (p *page) evaluate(expression string, value any) {
	p.t.Helper()
	p.do("evaluate", value, "expression", expression)
}

// text returns the visible text of the page.
func (p *page) text() (s string) {
	p.t.Helper()
	p.evaluate("document.body.innerText", &s)
	return s
}

// pageLog is what a page did: it must not do anything else than load itself and its style.
type pageLog struct {
	Requests, Console, Dialogs []string
}

// log returns what the page did since the last call.
func (p *page) log() (l pageLog) {
	p.t.Helper()
	p.do("log", &l)
	return l
}

// tabStop is an element that has received the focus.
type tabStop struct {
	Index    int // among the elements that Tab must reach; -1 if it is another element
	HTML     string
	Outlined bool // has an outline
	InView   bool
}

// tab presses Tab from the beginning of the page to its end. It returns the elements that Tab must
// reach, as HTML, and those that it reached.
func (p *page) tab() (want []string, got []tabStop) {
	p.t.Helper()
	var answer struct {
		Want []string
		Got  []tabStop
	}
	p.do("tab", &answer)
	return answer.Want, answer.Got
}

// validate returns what html-validate finds in a document.
func (b *browser) validate(t *testing.T, html string) (messages []string) {
	t.Helper()
	if err := b.call("validate", map[string]any{"html": html, "config": htmlRules}, &messages); err != nil {
		t.Fatal(err)
	}
	return messages
}

// htmlRules is the configuration of html-validate.
var htmlRules = map[string]any{
	"extends": []string{"html-validate:recommended"},
	"rules": map[string]any{
		// HTML permits both; the pages have the lower case, like their elements.
		"doctype-style": []any{"error", map[string]string{"style": "lowercase"}},
		// Some browsers forget what a table is where a style gives its cells another place.
		"no-redundant-role": "off",
	},
}

// canary is a server to which the names of strange hosts lead: a client that connects has left the
// page.
type canary struct {
	addr     string
	mu       sync.Mutex
	requests []string
}

// startCanary starts a canary that ends with the test.
func startCanary(t *testing.T) *canary {
	c := &canary{}
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.requests = append(c.requests, r.Method+" http://"+r.Host+r.URL.String())
	}))
	t.Cleanup(srv.Close)
	c.addr = strings.TrimPrefix(srv.URL, "http://")
	return c
}

// list returns the requests since the last call.
func (c *canary) list() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { c.requests = nil }()
	return c.requests
}
