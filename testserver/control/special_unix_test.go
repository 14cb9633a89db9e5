//go:build unix

package control_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/fetch1738/fetch1738/testserver/control"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

// TestSpecialFiles tests that named pipes below the root are served to nobody, and that no request
// waits for their writers.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	pipes := []string{"fifo", "gophermap", "sub/fifo", "sub/gophermap", "local.group/1"}
	for _, name := range pipes {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(name, 0o644); err != nil {
			t.Skip("no named pipes here:", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "sub/ok"), []byte("fine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	c := start(t, control.Config{Root: root})
	for _, field := range []object{{"folder": "fifo"}, {"folder": "sub/fifo/"}, {"users": object{"lab": object{"folder": "fifo"}}}} {
		field["protocol"] = "ftp"
		if status, got := c.send("POST", "/v1/servers", field); status != 400 || !strings.Contains(string(got), "not a directory") {
			t.Errorf("%v: %d %s", field, status, got)
		}
	}
	for _, protocol := range []string{"cso", "ftp", "gopher", "http", "nntp", "prospero", "smtp", "telnet", "wais"} {
		s := c.create(object{"protocol": protocol, "folder": "."})
		at := "/v1/servers/" + s.ID
		for _, name := range pipes {
			if status, got := c.send("GET", at+"/files/"+name, nil); status != 404 {
				t.Errorf("%s, GET of %s: %d %s", protocol, name, status, got)
			}
		}
		if status, got := c.send("GET", at+"/files/sub/ok", nil); status != 200 || string(got) != "fine\n" {
			t.Errorf("%s: %d %q", protocol, status, got)
		}
		switch protocol {
		case "ftp":
			f := testclient.DialAddr(t, s.addr())
			f.Expect("USER anonymous", "331")
			f.Expect("PASS x", "230")
			for _, command := range []string{"RETR fifo", "SIZE fifo", "MDTM sub/fifo", "MLST fifo", "RNFR fifo", "DELE fifo", "CWD fifo"} {
				f.Expect(command, "550")
			}
		case "http":
			res, err := http.Get(s.URL + "/fifo")
			if err != nil {
				t.Fatal(err)
			}
			if res.Body.Close(); res.StatusCode != 404 {
				t.Errorf("http: %s", res.Status)
			}
		case "gopher":
			for selector, want := range map[string]string{"fifo": "", "": "\t/sub\t", "/sub": "\t/sub/ok\t"} {
				if got := line(t, s, selector); !strings.Contains(got, want) || strings.Contains(got, "/fifo\t") {
					t.Errorf("gopher %q: %q", selector, got)
				}
			}
		}
		c.do("DELETE", at, nil, nil)
	}
}

// line sends a line, and returns what the server answers.
func line(t *testing.T, s info, text string) string {
	t.Helper()
	got, err := testclient.Ask(t, testclient.Host{}, s.addr(), text+"\r\n")
	if err != nil {
		t.Fatal(err)
	}
	return got
}
