package gateway

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/verbtest"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

// A runningGateway is the verb, which runs until the test ends.
type runningGateway struct {
	*verbtest.Running
	url string // as it printed it
}

func startGateway(t *testing.T, args ...string) *runningGateway {
	t.Helper()
	g := verbtest.Start(t, Command(), strings.NewReader(""), 1, append([]string{"--port", "0"}, args...)...)
	if len(g.Lines) == 0 {
		t.Fatalf("gateway %q: %s", args, g.Log.String())
	}
	return &runningGateway{g, g.Lines[0]}
}

// get requests a path of the gateway, and returns the status and the body.
func (g *runningGateway) get(t *testing.T, path string, change ...func(*http.Request)) (int, string) {
	t.Helper()
	u, err := url.Parse(g.url)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+u.Host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(req)
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got := res.Header.Get("Server"); got != "fetch1738-gateway" {
		t.Errorf("%s: the field Server is %q", path, got)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// gatewayFTP is an FTP server with a public file and a private one.
func gatewayFTP(t *testing.T) *ftptest.Server {
	return ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"pub/a.txt": {Data: []byte("hello\n")}}
		s.Users = map[string]testserver.User{"lab": {Password: "s3cretword"}}
	})
}

func underGateway(server string) string { return "/" + strings.Replace(server, "://", "/", 1) }

func TestGatewayServes(t *testing.T) {
	ftp := gatewayFTP(t)
	g := startGateway(t, "--allow-zone", "loopback")
	if !regexp.MustCompile(`^http://127\.0\.0\.1:[0-9]+/$`).MatchString(g.url) {
		t.Errorf("it prints %q", g.url)
	}
	if status, body := g.get(t, underGateway(ftp.URL)+"/pub/a.txt"); status != 200 || body != "hello\n" {
		t.Errorf("%d, %q", status, body)
	}
	if status, body := g.get(t, "/", func(r *http.Request) { r.Header.Set("Accept", "text/html") }); status != 200 || !strings.Contains(body, "<h1") {
		t.Errorf("%d, %q", status, body)
	}
	if status, _ := g.get(t, "/", func(r *http.Request) { r.Host = "evil.example" }); status != http.StatusMisdirectedRequest {
		t.Errorf("another host name: %d", status)
	}
	if code := g.Stop(); code != 0 {
		t.Errorf("code %d", code)
	}
	if _, err := net.Dial("tcp", strings.Trim(strings.TrimPrefix(g.url, "http:"), "/")); err == nil {
		t.Error("it still listens")
	}
	lines := strings.SplitAfter(g.Log.String(), "\n")
	when := `[0-9-]+T[0-9:]+(Z|[+-][0-9:]+) 127\.0\.0\.1 GET `
	for i, want := range []string{
		`^fetch1738: serving pages of ftp, gopher, news, wais and prospero URLs until interrupted\n$`,
		`^` + when + `raw ` + regexp.QuoteMeta(ftp.URL) + `/pub/a\.txt 200 6 [0-9.]+m?s\n$`,
		`^` + when + `home / 200 [0-9]+ [0-9.]+m?s\n$`,
		`^` + when + `\S+ / 421 [0-9]+ [0-9.]+m?s`,
	} {
		if i >= len(lines) || !regexp.MustCompile(want).MatchString(lines[i]) {
			t.Errorf("line %d of the log does not match %s:\n%s", i+1, want, g.Log.String())
		}
	}
}

// The pages lead to public addresses only, unless an option permits more.
func TestGatewayPolicy(t *testing.T) {
	ftp := gatewayFTP(t)
	g := startGateway(t)
	status, body := g.get(t, underGateway(ftp.URL)+"/pub/a.txt")
	if status != http.StatusForbidden || strings.Contains(body, "hello") || !strings.Contains(body, "--allow-zone loopback") || strings.Contains(body, "policy.") {
		t.Errorf("an address of this computer: %d, %q", status, body)
	}
	if ftp.Transcript().String() != "" {
		t.Errorf("it connected:\n%s", ftp.Transcript())
	}
}

// No line shows a password, a token or the words of a search.
func TestGatewayLogHasNoSecrets(t *testing.T) {
	ftp := gatewayFTP(t)
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = fstest.MapFS{"a.txt": {Data: []byte("hello\n")}} })
	tokenFile := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(tokenFile, []byte("s3cretword-token-1738\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := startGateway(t, "-v", "--allow-zone", "loopback", "--proxy", "--token-file", tokenFile)
	bearer := func(r *http.Request) { r.Header.Set("Authorization", "Bearer s3cretword-token-1738") }
	login := func(r *http.Request) { r.SetBasicAuth("lab", "s3cretword") }
	g.get(t, "/?token=s3cretword-token-1738")
	g.get(t, "/", bearer)
	g.get(t, underGateway(ftp.URL)+"/pub/a.txt", login)
	g.get(t, "/ftp/lab:s3cretword@"+ftp.Addr+"/pub/a.txt", bearer)
	g.get(t, "/open?url="+url.QueryEscape("ftp://lab:s3cretword@"+ftp.Addr+"/pub/a.txt"), bearer)
	g.get(t, "/url?u="+url.QueryEscape("ftp://lab:s3cretword@"+ftp.Addr+"/pub/a.txt"), bearer)
	g.get(t, "/url?u="+url.QueryEscape("x-none://lab:s3cretword@"+ftp.Addr+"/"), bearer)
	g.get(t, underGateway(gopher.URL)+"/0/a.txt", bearer, func(r *http.Request) { r.Header.Set("Cookie", "x=s3cretword") })
	g.get(t, "/", func(r *http.Request) { r.URL.Opaque = "ftp://lab:s3cretword@" + ftp.Addr + "/pub/a.txt" })
	g.Stop()
	if log := g.Log.String(); strings.Contains(log, "s3cret") {
		t.Errorf("a secret is shown:\n%s", log)
	} else if !strings.Contains(log, " > ") || strings.Count(log, " GET ") != 9 {
		t.Errorf("the log is not complete:\n%s", log)
	}
}

// Nor does it show what was searched for, whether the server answers or not.
func TestGatewayLogHasNoSearchWords(t *testing.T) {
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = fstest.MapFS{"a.txt": {Data: []byte("hello\n")}} })
	wais := waistest.New(t, func(s *waistest.Server) { s.Content = fstest.MapFS{"db/a.txt": {Data: []byte("hello\n")}} })
	closed := verbtest.FreePort(t)
	g := startGateway(t, "--allow-zone", "loopback")
	for _, path := range []string{
		underGateway(gopher.URL) + "/7/a.txt?q=pr1vate+words", underGateway(gopher.URL) + "/7/missing?q=pr1vate+words",
		underGateway(wais.URL) + "/db?q=pr1vate+words", "/gopher/127.0.0.1:" + closed + "/7/a?q=pr1vate+words",
		"/gopher/127.0.0.1:25/7/a?q=pr1vate+words", "/gopher/10.0.0.1/7/a?q=pr1vate+words", "/wais/127.0.0.1:" + closed + "/db?q=pr1vate+words",
	} {
		g.get(t, path)
	}
	g.Stop()
	log := g.Log.String()
	if strings.Contains(log, "pr1vate") || strings.Count(log, " GET ") != 7 {
		t.Errorf("the log:\n%s", log)
	}
	for _, want := range []string{": denied (rule reserved-port)\n", ": denied (rule private-address)\n", ": connect gopher://127.0.0.1:" + closed + "/7/a: "} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is not in the log:\n%s", want, log)
		}
	}
}

func TestGatewayQuiet(t *testing.T) {
	g := startGateway(t, "--quiet")
	g.get(t, "/")
	g.Stop()
	if got := g.Log.String(); strings.Count(got, "\n") != 1 {
		t.Errorf("on standard error: %q", got)
	}
}

func TestGatewayPortInUse(t *testing.T) {
	g := startGateway(t)
	_, port, err := net.SplitHostPort(strings.Trim(strings.TrimPrefix(g.url, "http:"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	got := verbtest.Run(t, Command(), "", "--port", port)
	verbtest.OneLine(t, got.Err)
	if want := "a fetch1738 gateway already runs at http://127.0.0.1:" + port + "/; use that one, or --port PORT for another"; got.Code != 2 || got.Out != "" || !strings.Contains(got.Err, want) {
		t.Errorf("%+v, want %q", got, want)
	}

	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	go func() {
		for {
			conn, err := other.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nServer: another\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			conn.Close()
		}
	}()
	_, port, err = net.SplitHostPort(other.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	got = verbtest.Run(t, Command(), "", "--port", port)
	verbtest.OneLine(t, got.Err)
	want := "fetch1738: (2) gateway: cannot listen on 127.0.0.1:" + port + ": another program uses this port; end it, or use --port PORT " +
		"and register the gateway again with browsers and desktops\n"
	if got.Code != 2 || got.Err != want {
		t.Errorf("%+v\nwant %q", got, want)
	}
}

// A gateway for other computers has a warning, a random token in its URL, and accepts no client
// without the token.
func TestGatewayListen(t *testing.T) {
	g := startGateway(t, "--listen", "0.0.0.0:0", "--allow-client", "192.0.2.0/24", "--proxy")
	u, err := url.Parse(g.url)
	if err != nil || u.Hostname() != "127.0.0.1" || len(u.Query().Get("token")) < 26 {
		t.Errorf("it prints %q, %v", g.url, err)
	}
	token := u.Query().Get("token")
	if status, _ := g.get(t, "/"); status != http.StatusUnauthorized {
		t.Errorf("without the token: %d", status)
	}
	if status, _ := g.get(t, "/", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }); status != 200 {
		t.Errorf("with the token: %d", status)
	}
	if status, _ := g.get(t, "/?token="+token); status != http.StatusSeeOther {
		t.Errorf("the printed URL: %d", status)
	}
	g.Stop()
	log := g.Log.String()
	for _, want := range []string{
		"fetch1738: warning: other hosts can connect, and the connections are not encrypted\n",
		"fetch1738: serving pages of ftp, gopher, news, wais and prospero URLs, also as a proxy, until interrupted\n",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is missing in:\n%s", want, log)
		}
	}
	if strings.Contains(log, token) {
		t.Errorf("the log shows the token:\n%s", log)
	}
}

// TestGatewayArchive tests that the gateway shows an archive.
func TestGatewayArchive(t *testing.T) {
	g := startGateway(t, "--archive", verbtest.ArchiveFile(t), "--at", "1994-12-01")
	if status, body := g.get(t, "/gopher/h.example/0file"); status != 200 || body != "first\r\n" {
		t.Errorf("%d, %q", status, body)
	}
	html := func(r *http.Request) { r.Header.Set("Accept", "text/html") }
	if status, body := g.get(t, "/?q=FILE+h.example", html); status != 200 || !strings.Contains(body, `href="/gopher/h.example/0file"`) || !strings.Contains(body, "as of 1994-12-01") {
		t.Errorf("%d, %q", status, body)
	}
	if status, body := g.get(t, "/ftp/other.example/", html); status != 404 || !strings.Contains(body, "The archive has nothing of this server.") {
		t.Errorf("%d, %q", status, body)
	}
	if status, body := g.get(t, "/at/9999/gopher/h.example/0file"); status != 200 || body != "second\r\n" {
		t.Errorf("another time than that of --at: %d, %q", status, body)
	}
	if status, body := g.get(t, "/gopher/h.example/0file", html); status != 200 || !strings.Contains(body, "1 of 2") || !strings.Contains(body, `href="/at/`) {
		t.Errorf("the bar: %d, %q", status, body)
	}
	if status, body := g.get(t, "/gopher/h.example/0file?timemap"); status != 200 || strings.Count(body, "memento") != 2 {
		t.Errorf("the TimeMap: %d, %q", status, body)
	}
	if code := g.Stop(); code != 0 {
		t.Errorf("code %d", code)
	}
}
