package interop

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// curlThrough runs curl in a directory, and returns its standard output and error.
func curlThrough(t *testing.T, dir string, args ...string) (stdout string, err error) {
	t.Helper()
	cmd := exec.Command(requireTool(t, "curl"), append([]string{"-q", "-sS"}, args...)...)
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Logf("curl %v: %v: %s", args, err, said.String())
	}
	return string(out), err
}

// TestGatewayCurl tests that curl sees a file of vsftpd through the gateway as one of a web server:
// HEAD, parts, conditions, and the resumption of a transfer that was interrupted.
func TestGatewayCurl(t *testing.T) {
	srv := startVsftpd(t)
	data := randomOctets(3 << 20)
	file := filepath.Join(srv.root, "pub", "large.bin")
	writeFile(t, file, string(data))
	modified := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	if err := os.Chtimes(file, modified, modified); err != nil {
		t.Fatal(err)
	}
	page := startGateway(t) + "/ftp/" + srv.addr + "/pub/large.bin"
	dir := t.TempDir()

	head, err := curlThrough(t, dir, "-I", page)
	for _, want := range []string{"HTTP/1.1 200 OK", "Content-Length: 3145728", "Accept-Ranges: bytes", "Last-Modified: " + modified.Format(http.TimeFormat), "Etag: "} {
		if err != nil || !strings.Contains(head, want) {
			t.Errorf("-I: %v: no %q in\n%s", err, want, head)
		}
	}
	for part, want := range map[string][]byte{"0-9": data[:10], "1000000-1999999": data[1000000:2000000], "3145720-": data[3145720:], "-100": data[len(data)-100:]} {
		if got, err := curlThrough(t, dir, "-r", part, page); err != nil || got != string(want) {
			t.Errorf("-r %s: %d bytes, want %d, %v", part, len(got), len(want), err)
		}
	}
	for since, want := range map[string]string{"3 Feb 2001 04:05:05": "200", "3 Feb 2001 04:05:06": "304", "-3 Feb 2001 04:05:05": "412", "-3 Feb 2001 04:05:07": "200"} {
		got, err := curlThrough(t, dir, "-z", since+" GMT", "-o", os.DevNull, "-w", "%{http_code}", page)
		if err != nil || got != want {
			t.Errorf("-z %s: %s, want %s, %v", since, got, want, err)
		}
	}
	if _, err := curlThrough(t, dir, "-f", "-r", "9999999-", page); err == nil {
		t.Error("a part beyond the end is no error")
	}
	if tag, err := curlThrough(t, dir, "--etag-save", "tag", "-o", "whole", "-w", "%{http_code}", page); err != nil || tag != "200" {
		t.Errorf("--etag-save: %s, %v", tag, err)
	}
	if code, err := curlThrough(t, dir, "--etag-compare", "tag", "-o", "again", "-w", "%{http_code}", page); err != nil || code != "304" {
		t.Errorf("--etag-compare: %s, %v", code, err)
	}

	resumed := filepath.Join(dir, "resumed")
	for _, kept := range []int{1, 1 << 20, len(data) - 1, len(data)} {
		if err := os.WriteFile(resumed, data[:kept], 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := curlThrough(t, dir, "-f", "-C", "-", "-o", "resumed", page)
		got, _ := os.ReadFile(resumed)
		if whole := kept == len(data); err != nil && !whole || !bytes.Equal(got, data) {
			t.Errorf("-C - from %d: %d bytes, %v", kept, len(got), err)
		}
	}
}

// TestGatewayCurlInterrupted tests that curl notices when vsftpd breaks a transfer off, and resumes
// it.
func TestGatewayCurlInterrupted(t *testing.T) {
	srv := startVsftpd(t, "anon_max_rate=2000000")
	data := randomOctets(4 << 20)
	writeFile(t, filepath.Join(srv.root, "pub", "large.bin"), string(data))
	page := startGateway(t) + "/ftp/" + srv.addr + "/pub/large.bin"
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, requireTool(t, "curl"), "-q", "-sS", "-f", "-o", "out", page)
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for { // until something has arrived
		if info, err := os.Stat(out); err == nil && info.Size() > 0 {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal(t.Context().Err())
		}
	}
	cancel()
	_ = cmd.Wait()
	part, err := os.ReadFile(out)
	if err != nil || len(part) == 0 || len(part) >= len(data) || !bytes.Equal(part, data[:len(part)]) {
		t.Fatalf("%d bytes, %v", len(part), err)
	}
	if _, err := curlThrough(t, dir, "-f", "-C", "-", "-o", "out", page); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(out); !bytes.Equal(got, data) {
		t.Errorf("%d bytes, want %d", len(got), len(data))
	}
}
