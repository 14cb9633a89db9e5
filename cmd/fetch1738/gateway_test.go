package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/verbtest"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

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
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request(t, strings.TrimSuffix(line, "/\n")+"/"+strings.Replace(ftp.URL, "://", "/", 1)+"/big"))
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
	port := verbtest.FreePort(t)
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
