package interop

import (
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
)

// TestGatewayDesktop registers the gateway with a desktop and opens URLs of each scheme there, as
// xdg-open does, and as programs that use GLib do (Firefox, Thunderbird). The browser is a script.
// Afterwards no file may be left.
func TestGatewayDesktop(t *testing.T) {
	t.Parallel()
	program := buildCommand(t)
	for _, tool := range []string{"xdg-open", "xdg-mime", "desktop-file-validate", "update-desktop-database", "gio"} {
		requireTool(t, tool)
	}
	_, port, err := net.SplitHostPort(daemon.FreeAddr(t))
	if err != nil {
		t.Fatal(err)
	}

	home, other := t.TempDir(), t.TempDir()
	opened := filepath.Join(other, "opened")
	browser := filepath.Join(other, "browser")
	daemon.Program(t, browser, "#!/bin/sh\nprintf '%s\\n' \"$@\" >>'"+opened+"'\n")
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(patience(t), name, args...)
		cmd.Dir = other
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "BROWSER=" + browser, "LC_ALL=C",
			"DISPLAY=:99", "XDG_DATA_DIRS=" + filepath.Join(other, "none"), "XDG_CONFIG_DIRS=" + filepath.Join(other, "none"),
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	seen := 0
	expectPage := func(of string) {
		t.Helper()
		text, err := os.ReadFile(opened)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		want := "http://127.0.0.1:" + port + "/open?url=" + url.QueryEscape(of)
		if len(lines) != seen+1 || lines[seen] != want {
			t.Errorf("the browser opened %q, want %s", lines[seen:], want)
		}
		seen = len(lines)
	}

	t.Cleanup(func() { endStarted(t, port) })
	run(program, "gateway", "--install", "--port", port)
	entry := filepath.Join(home, ".local", "share", "applications", "fetch1738-gateway.desktop")
	if out := run("desktop-file-validate", entry); out != "" {
		t.Errorf("desktop-file-validate: %s", out)
	}
	for _, u := range []string{
		"ftp://ftp.example.org/pub/", "gopher://gopher.example.org/1/a", "gophers://gopher.example.org/1/a", "news:comp.infosystems.gopher",
		"nntp://news.example.org/comp.infosystems.gopher/1", "snews://news.example.org/a.b", "wais://wais.example.org/db", "prospero://host.example.org/x",
	} {
		scheme, _, _ := strings.Cut(u, ":")
		if out := run("gio", "mime", "x-scheme-handler/"+scheme); !strings.Contains(out, "fetch1738-gateway.desktop") {
			t.Errorf("gio: %s", out)
		}
		run("xdg-open", u)
		expectPage(u)
	}
	if got := strings.TrimSpace(run("xdg-mime", "query", "default", "x-scheme-handler/gopher")); got != "fetch1738-gateway.desktop" {
		t.Errorf("xdg-mime: gopher is for %q", got)
	}
	run("xdg-open", "ftp://lab:s3cret@ftp.example.org/a;type=i")
	expectPage("ftp://ftp.example.org/a;type=i")
	run("xdg-open", "gopher://gopher.example.org/7/search%09$(touch x)`touch x`;touch x")
	if _, err := os.Stat(filepath.Join(other, "x")); err == nil {
		t.Error("a part of a URL was run as a command")
	}

	run(program, "gateway", "--uninstall")
	if got := strings.TrimSpace(run("xdg-mime", "query", "default", "x-scheme-handler/gopher")); got != "" {
		t.Errorf("after --uninstall, xdg-mime: %q", got)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// endStarted ends the gateway that xdg-open has started on a port. It is not a child of this process.
func endStarted(t *testing.T, port string) {
	processes, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range processes {
		args, _ := os.ReadFile(name) // a process that has ended has none
		if !strings.Contains(string(args), "\x00gateway\x00--quiet\x00--port\x00"+port+"\x00") {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err != nil || syscall.Kill(pid, syscall.SIGTERM) != nil {
			t.Errorf("%s: the gateway cannot be ended", name)
		}
	}
	for { // until the gateway has ended
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			return
		}
		conn.Close()
		<-time.After(50 * time.Millisecond)
	}
}
