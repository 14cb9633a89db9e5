package main

import (
	"bufio"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

// A runningGateway is the verb gateway, which runs until the test ends.
type runningGateway struct {
	url  string // as it printed it
	log  lockedBuffer
	stop func() int // interrupts it and returns its exit code
}

func startGateway(t *testing.T, args ...string) *runningGateway {
	t.Helper()
	g := new(runningGateway)
	ctx, interrupt := context.WithCancel(t.Context())
	shown, out := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{"gateway", "--port", "0"}, args...), stdio.Streams{In: strings.NewReader(""), Out: out, Err: &g.log})
		out.Close()
	}()
	g.stop = sync.OnceValue(func() int { interrupt(); return <-code })
	t.Cleanup(func() { g.stop() })
	line, err := bufio.NewReader(shown).ReadString('\n')
	if err != nil {
		t.Fatalf("gateway %q: %v: %s", args, err, g.log.String())
	}
	g.url = strings.TrimSuffix(line, "\n")
	return g
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
	if code := g.stop(); code != 0 {
		t.Errorf("code %d", code)
	}
	if _, err := net.Dial("tcp", strings.Trim(strings.TrimPrefix(g.url, "http:"), "/")); err == nil {
		t.Error("it still listens")
	}
	lines := strings.SplitAfter(g.log.String(), "\n")
	when := `[0-9-]+T[0-9:]+(Z|[+-][0-9:]+) 127\.0\.0\.1 GET `
	for i, want := range []string{
		`^fetch1738: serving pages of ftp, gopher, news, wais and prospero URLs until interrupted\n$`,
		`^` + when + `raw ` + regexp.QuoteMeta(ftp.URL) + `/pub/a\.txt 200 6 [0-9.]+m?s\n$`,
		`^` + when + `home / 200 [0-9]+ [0-9.]+m?s\n$`,
		`^` + when + `\S+ / 421 [0-9]+ [0-9.]+m?s`,
	} {
		if i >= len(lines) || !regexp.MustCompile(want).MatchString(lines[i]) {
			t.Errorf("line %d of the log does not match %s:\n%s", i+1, want, g.log.String())
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
	g.stop()
	if log := g.log.String(); strings.Contains(log, "s3cret") {
		t.Errorf("a secret is shown:\n%s", log)
	} else if !strings.Contains(log, " > ") || strings.Count(log, " GET ") != 9 {
		t.Errorf("the log is not complete:\n%s", log)
	}
}

// Nor does it show what was searched for, whether the server answers or not.
func TestGatewayLogHasNoSearchWords(t *testing.T) {
	gopher := gophertest.New(t, func(s *gophertest.Server) { s.Content = fstest.MapFS{"a.txt": {Data: []byte("hello\n")}} })
	wais := waistest.New(t, func(s *waistest.Server) { s.Content = fstest.MapFS{"db/a.txt": {Data: []byte("hello\n")}} })
	closed := freePort(t)
	g := startGateway(t, "--allow-zone", "loopback")
	for _, path := range []string{
		underGateway(gopher.URL) + "/7/a.txt?q=pr1vate+words", underGateway(gopher.URL) + "/7/missing?q=pr1vate+words",
		underGateway(wais.URL) + "/db?q=pr1vate+words", "/gopher/127.0.0.1:" + closed + "/7/a?q=pr1vate+words",
		"/gopher/127.0.0.1:25/7/a?q=pr1vate+words", "/gopher/10.0.0.1/7/a?q=pr1vate+words", "/wais/127.0.0.1:" + closed + "/db?q=pr1vate+words",
	} {
		g.get(t, path)
	}
	g.stop()
	log := g.log.String()
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
	g.stop()
	if got := g.log.String(); strings.Count(got, "\n") != 1 {
		t.Errorf("on standard error: %q", got)
	}
}

func TestGatewayPortInUse(t *testing.T) {
	g := startGateway(t)
	_, port, err := net.SplitHostPort(strings.Trim(strings.TrimPrefix(g.url, "http:"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	got := runVerb(t, "gateway", "", "--port", port)
	oneLine(t, got.err)
	if want := "a fetch1738 gateway already runs at http://127.0.0.1:" + port + "/; use that one, or --port PORT for another"; got.code != 2 || got.out != "" || !strings.Contains(got.err, want) {
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
	got = runVerb(t, "gateway", "", "--port", port)
	oneLine(t, got.err)
	want := "fetch1738: (2) gateway: cannot listen on 127.0.0.1:" + port + ": another program uses this port; end it, or use --port PORT " +
		"and register the gateway again with browsers and desktops\n"
	if got.code != 2 || got.err != want {
		t.Errorf("%+v\nwant %q", got, want)
	}
}

// A signal ends the gateway, although a transfer runs; that is ended too.
func TestGatewaySignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process of Windows cannot be sent a signal")
	}
	t.Parallel()
	const part = 64 << 10
	ftp := ftptest.New(t, func(s *ftptest.Server) {
		s.Content = fstest.MapFS{"big": {Data: make([]byte, 2*part)}}
	})
	ftp.On("RETR", 0, testserver.Drip(part, time.Hour))
	cmd := program(t, "gateway", "--port", "0", "--allow-zone", "loopback")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request(t, strings.TrimSuffix(line, "/\n")+underGateway(ftp.URL)+"/big"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(res.Body); err == nil {
		t.Errorf("the interrupted document looks complete: %d bytes", len(body))
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v", err)
	}
}

func request(t *testing.T, url string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// --open starts a gateway if none runs, opens the page in the browser, and uses the same gateway
// the next time. A login in the URL is not passed on.
func TestGatewayOpen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("--open starts a gateway only on a Linux desktop")
	}
	t.Parallel()
	bin, opened := t.TempDir(), filepath.Join(t.TempDir(), "opened")
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" >>'" + opened + "'\n"
	syscall.ForkLock.RLock() // nothing that another test starts inherits the open file: it could not be run
	err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte(script), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	t.Cleanup(func() { endStarted(t, port) })
	open := func(u string) (string, error) {
		cmd := program(t, "gateway", "--port", port, "--open", u)
		cmd.Env = append(cmd.Env, "PATH="+bin+":/bin:/usr/bin", "XDG_RUNTIME_DIR=/none", "DBUS_SESSION_BUS_ADDRESS=")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, u := range []string{"gopher://gopher.example.org/1/a b", "ftp://lab:s3cret@ftp.example.org/?x"} {
		if out, err := open(u); err != nil || out != "" {
			t.Fatalf("%s: %v: %s", u, err, out)
		}
	}
	got, err := os.ReadFile(opened)
	if err != nil {
		t.Fatal(err)
	}
	at := "http://127.0.0.1:" + port + "/open?url="
	want := at + url.QueryEscape("gopher://gopher.example.org/1/a%20b") + "\n" + at + url.QueryEscape("ftp://ftp.example.org/?x") + "\n"
	if string(got) != want {
		t.Errorf("opened %q, want %q", got, want)
	}
	for u, complaint := range map[string]string{
		"http://h.example/":    "(1) gateway: --open: the gateway has no pages for http URLs",
		"file:///etc/hostname": "(1) gateway: --open: the gateway has no pages for file URLs",
		"--version":            "(3) gateway: --open ",
	} {
		if out, err := open(u); err == nil || !strings.Contains(out, complaint) {
			t.Errorf("%s: %v: %s", u, err, out)
		}
	}
}

// endStarted ends the gateway that --open has started on a port. It is not a child of this process.
func endStarted(t *testing.T, port string) {
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, name := range processes {
		args, _ := os.ReadFile(name) // a process that has ended has none
		if !strings.Contains(string(args), "\x00gateway\x00--quiet\x00--port\x00"+port+"\x00") {
			continue
		}
		found++
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil {
			t.Fatal(err)
		}
		if p, err := os.FindProcess(pid); err != nil || p.Signal(syscall.SIGTERM) != nil {
			t.Errorf("the gateway with the process id %d cannot be ended", pid)
		}
	}
	if found != 1 {
		t.Errorf("%d gateways were started on port %s, want 1", found, port)
	}
	for conn := error(nil); conn == nil; { // until the gateway ends, or the test times out
		var c net.Conn
		if c, conn = net.Dial("tcp", "127.0.0.1:"+port); conn == nil {
			c.Close()
			<-time.After(10 * time.Millisecond)
		}
	}
}

// freePort returns a port on which no program listens. It is below those that the system assigns by
// itself, so that no connection takes it.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(9000 + rand.IntN(1000))
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
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
	g.stop()
	log := g.log.String()
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
