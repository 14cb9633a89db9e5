package gateway

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway/internal/place"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
)

const secret = "s3cret-p\u00e0ss"

// loginLab is a gateway, a server that requires the login lab:secret, one that accepts any login,
// and everything that leaves the gateway.
type loginLab struct {
	*testing.T
	gateway     *httptest.Server
	owner       *ftptest.Server
	other       *ftptest.Server
	news        *nntptest.Server
	mu          sync.Mutex
	left        strings.Builder
	credentials string
}

func newLoginLab(t *testing.T) *loginLab {
	lab := &loginLab{T: t, credentials: "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("lab:"+secret))}
	content := fstest.MapFS{"pub/motd.txt": {Data: []byte("hello\n")}, "pub/deep/a.txt": {Data: []byte("deep\n")}}
	lab.owner = ftptest.New(t, func(s *ftptest.Server) {
		s.Anonymous = false
		s.Content, s.Users = content, map[string]testserver.User{"lab": {Password: secret}}
	})
	lab.other = ftptest.New(t, func(s *ftptest.Server) { s.Content = content })
	lab.news = nntptest.New(t, func(s *nntptest.Server) {
		s.Users = map[string]testserver.User{"lab": {Password: secret}}
		s.Protected = []string{"local.test"}
		s.Groups = map[string][]string{"local.test": {"From: a@b\r\nSubject: one\r\nMessage-ID: <1@local>\r\nNewsgroups: local.test\r\n\r\nhello\r\n"}}
	})
	lab.gateway = start(t, func(h *Handler) {
		h.Proxy = true
		h.Log = func(a LogEntry) {
			lab.mu.Lock()
			defer lab.mu.Unlock()
			fmt.Fprintf(&lab.left, "log %s %s %d %v\n", a.URL, a.Page, a.Status, a.Err)
		}
	})
	return lab
}

// ask sends a request and returns its outcome, with "challenge" for a question for a login.
func (lab *loginLab) ask(line string, fields ...string) (got, body string) {
	lab.Helper()
	res, body := exchange(lab.T, lab.gateway.Listener.Addr().String(), append([]string{line, "Accept: text/html"}, fields...)...)
	lab.mu.Lock()
	fmt.Fprintf(&lab.left, "%v\n%s\n", res.Header, body)
	lab.mu.Unlock()
	got = outcome(res, body)
	if challenge := res.Header.Get("WWW-Authenticate"); challenge != "" {
		got += " " + challenge
	}
	return got, body
}

var (
	document   = "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document"
	sameOrigin = "Sec-Fetch-Site: same-origin\r\n" + document
	entered    = "Sec-Fetch-Site: none\r\n" + document
	image      = "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image"
	foreign    = "Sec-Fetch-Site: cross-site\r\n" + document
)

func TestLogin(t *testing.T) {
	lab := newLoginLab(t)
	challenge := `401 Basic realm="ftp://` + lab.owner.Addr + `", charset="UTF-8"`
	newsChallenge := `401 Basic realm="nntp://` + lab.news.Addr + `", charset="UTF-8"`
	wrong := "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("lab:wrong"))
	path := pathOf(t, lab.owner.URL+"/pub/motd.txt")
	group := pathOf(t, lab.news.URL+"/local.test")
	dotted := "/url?u=" + url.QueryEscape(lab.owner.URL+"/./pub/motd.txt")
	for _, tc := range []struct{ name, line, fields, want string }{
		{"a plain client", "GET " + path, "", challenge},
		{"a plain client, only the attributes", "HEAD " + path, "", challenge},
		{"a plain client, raw", "GET " + path + "?raw", "", challenge},
		{"a plain client with the login", "GET " + path, lab.credentials, "served"},
		{"a plain client with the login, raw", "GET " + path + "?raw", lab.credentials, "served"},
		{"a plain client with the login, a directory", "GET " + pathOf(t, lab.owner.URL+"/pub/"), lab.credentials, "served"},
		{"a plain client with a wrong login", "GET " + path, wrong, challenge},
		{"a plain client after another one's login", "GET " + path, "", challenge},
		{"two logins", "GET " + path, lab.credentials + "\r\n" + lab.credentials, challenge},
		{"a link of a page", "GET " + path, sameOrigin, "403"},
		{"the link to log in", "GET " + path + "?login", sameOrigin, challenge},
		{"the link to log in, entered", "GET " + path + "?login", entered, challenge},
		{"with the login", "GET " + path + "?login", sameOrigin + "\r\n" + lab.credentials, "served"},
		{"with a wrong login", "GET " + path + "?login", sameOrigin + "\r\n" + wrong, challenge},
		{"further pages", "GET " + path, sameOrigin + "\r\n" + lab.credentials, "served"},
		{"a picture in a page", "GET " + path + "?raw", image + "\r\n" + lab.credentials, "served"},
		{"a picture without a login", "GET " + path + "?raw", image, "403"},
		{"a picture that asks for a login", "GET " + path + "?login", image, "403"},
		{"a link of another site", "GET " + path, foreign, "403"},
		{"a link of another site to log in", "GET " + path + "?login", foreign, "asks"},
		{"a link of another site when the browser knows the login", "GET " + path, foreign + "\r\n" + lab.credentials, "asks"},
		{"a page of another site loads it", "GET " + path, "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\n" + lab.credentials, "403"},
		{"the path of all servers", "GET " + dotted, "", "403"},
		{"the path of all servers, with the login", "GET " + dotted, lab.credentials, "403"},
		{"the path of all servers, to log in", "GET " + dotted + "&login", sameOrigin, "403"},
		{"the proxy", "GET " + lab.owner.URL + "/pub/motd.txt", "", challenge},
		{"the proxy with the login", "GET " + lab.owner.URL + "/pub/motd.txt", lab.credentials, "served"},
		{"the proxy with the login in the URL", "GET ftp://lab:" + url.PathEscape(secret) + "@" + lab.owner.Addr + "/pub/motd.txt", "", "served"},
		{"the proxy with the login in the URL, a directory", "GET ftp://lab:" + url.PathEscape(secret) + "@" + lab.owner.Addr + "/pub/", "", "served"},
		{"the proxy with a wrong login in the URL", "GET ftp://lab:wr0ng@" + lab.owner.Addr + "/pub/motd.txt", "", challenge},
		{"the proxy afterwards", "GET " + lab.owner.URL + "/pub/motd.txt", "", challenge},
		{"a login in a path", "GET /ftp/lab:" + url.PathEscape(secret) + "@" + lab.owner.Addr + "/pub/motd.txt", "", challenge},
		{"a login in a path that is wrong", "GET /ftp/lab:" + url.PathEscape(secret) + "@ho%20st/pub/motd.txt", "", "400"},
		{"a login in a path of no scheme", "GET /lab:" + url.PathEscape(secret) + "@host/", "", "400"},
		{"the login of a link", "GET /open?url=" + url.QueryEscape("ftp://lab:"+url.PathEscape(secret)+"@"+lab.owner.Addr+"/pub/motd.txt"), "", "moved"},
		{"the login of a link that is wrong", "GET /open?url=" + url.QueryEscape("ftp://lab:"+url.PathEscape(secret)+"@ho st/"), "", "400"},
		{"the login of a proxy URL that is wrong", "GET ftp://lab:" + url.PathEscape(secret) + "@host:99999/", "", "400"},
		{"the login of an http URL", "GET http://lab:" + url.PathEscape(secret) + "@host/", "", "501"},
		{"news", "GET " + group, "", newsChallenge},
		{"news with the login", "GET " + group, lab.credentials, "served"},
		{"news afterwards", "GET " + group, "", newsChallenge},
		{"an article", "GET " + group + "/1?raw", "", newsChallenge},
		{"an article with the login", "GET " + group + "/1?raw", lab.credentials, "served"},
		{"an article with a wrong login", "GET " + group + "/1?raw", wrong, newsChallenge},
		{"news in a page", "GET " + group, sameOrigin, "403"},
		{"a scheme without logins", "GET /gopher/127.0.0.1:1/0x", lab.credentials, "502"},
		{"a scheme without logins, to log in", "GET /telnet/example.org/?login", sameOrigin, "served"},
	} {
		if got, body := lab.ask(tc.line, strings.Split(tc.fields, "\r\n")...); got != tc.want {
			t.Errorf("%s: %s, want %s\n%s", tc.name, got, tc.want, body)
		}
	}
	// The user reads which server wants the login before the browser asks for it.
	if _, body := lab.ask("GET "+path, sameOrigin); !strings.Contains(body, "ftp://"+lab.owner.Addr) || !strings.Contains(body, `href="`+path+`?login"`) {
		t.Errorf("no link to log in:\n%s", body)
	}
	lab.check()
}

// TestLoginOfOthers tests that a login in the memory of a browser, which sends it with a path below
// that of the page that asked for it, is that of one server; and that a server which is sent a
// login is the one that asked for it.
func TestLoginOfOthers(t *testing.T) {
	lab := newLoginLab(t)
	// A browser keeps a login for the folder of the path that asked for it: never for all servers.
	_, port, _ := net.SplitHostPort(lab.owner.Addr)
	got, _ := lab.ask("GET /ftp/127.0.0.1:" + port)
	if got != "moved" {
		t.Errorf("the path of a server without a slash: %s", got)
	}
	// A directory that is shown with its README sends the login to its own server only.
	if got, body := lab.ask("GET "+pathOf(t, lab.other.URL+"/pub/motd.txt"), ""); got != "served" {
		t.Fatalf("%s\n%s", got, body)
	}
	if got, _ := lab.ask("GET "+pathOf(t, lab.owner.URL+"/pub/"), lab.credentials); got != "served" {
		t.Fatal(got)
	}
	q := newRequest(new(Handler), httptest.NewRequest(http.MethodGet, "/", nil)).of(mustParse(t, lab.owner.URL+"/pub/"))
	q.user = loginOf("ftp://lab:x@h/")
	up := newUpstream(q, new(conversation))
	for text, want := range map[string]bool{
		lab.owner.URL + "/other":               true,
		lab.other.URL + "/pub/":                false,
		"ftp://127.0.0.2:" + port + "/pub/":    false,
		"ftps://" + lab.owner.Addr + "/pub/":   false,
		"gopher://" + lab.owner.Addr + "/0pub": false,
	} {
		req := up.request(mustParse(t, text))
		if got := strings.Contains(req.Locator.String(), "lab:x@"); got != want {
			t.Errorf("%s got the login: %t", text, got)
		}
	}
	lab.check()
}

// check checks that the secret is in nothing that has left the gateway, except for the server.
func (lab *loginLab) check() {
	lab.Helper()
	lab.mu.Lock()
	defer lab.mu.Unlock()
	encoded := strings.TrimPrefix(lab.credentials, "Authorization: Basic ")
	for _, form := range []string{secret, url.PathEscape(secret), url.QueryEscape(secret), encoded, "wr0ng", "s3cret"} {
		if i := strings.Index(lab.left.String(), form); i >= 0 {
			text := lab.left.String()
			lab.Errorf("%q has left the gateway: …%s", form, text[max(0, i-200):min(len(text), i+50)])
		}
		if strings.Contains(lab.other.Transcript().String(), form) {
			lab.Errorf("another server has received %q:\n%s", form, lab.other.Transcript())
		}
	}
	if lab.other.Transcript().Has(testserver.FromClient, "USER lab") {
		lab.Errorf("another server has received the user name:\n%s", lab.other.Transcript())
	}
}

var allClients = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}

func mustParse(t *testing.T, text string) locator.Locator {
	t.Helper()
	l, err := place.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestLoginOnNetwork tests that the gateway takes no login where it listens on a network, because
// others can read it on its way.
func TestLoginOnNetwork(t *testing.T) {
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		ip := a.(*net.IPNet).IP
		if ip.IsLoopback() || ip.To4() == nil {
			continue
		}
		listener, err := net.Listen("tcp", net.JoinHostPort(ip.String(), "0"))
		if err != nil {
			continue
		}
		owner := ftptest.New(t, func(s *ftptest.Server) {
			s.Anonymous, s.Users = false, map[string]testserver.User{"lab": {Password: secret}}
		})
		s := httptest.NewUnstartedServer(nil)
		s.Listener.Close()
		s.Listener = listener
		addr := listener.Addr().String()
		s.Config.Handler = &Handler{
			Hosts: []string{addr}, Token: "token", AllowClients: allClients, Proxy: true,
			Resolver: &fetch1738.Resolver{Env: fetch.Env{Limits: Limits(), Allow: func(context.Context, fetch.Target) error { return nil }}},
		}
		s.Start()
		t.Cleanup(s.Close)
		cookie := "Cookie: " + tokenCookie + "=" + (&Handler{Token: "token"}).cookieValue()
		res, body := exchange(t, addr, "GET "+pathOf(t, owner.URL+"/a"), cookie, "Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte("lab:"+secret)))
		if res.StatusCode != 403 || res.Header.Get("WWW-Authenticate") != "" {
			t.Errorf("%s %v\n%s", res.Status, res.Header, body)
		}
		res, _ = exchange(t, addr, "GET ftp://lab:"+url.PathEscape(secret)+"@"+owner.Addr+"/a", "Proxy-Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte("x:token")))
		if res.StatusCode != 403 {
			t.Errorf("the proxy: %s", res.Status)
		}
		if owner.Transcript().Has(testserver.FromClient, "USER lab") {
			t.Errorf("the login was sent:\n%s", owner.Transcript())
		}
		return
	}
	t.Skip("this computer has no address on a network")
}
