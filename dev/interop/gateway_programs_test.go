package interop

import (
	"context"
	"io/fs"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	fetch1738 "github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// startGateway starts a gateway that may fetch from the servers of the test, and returns its URL.
func startGateway(t *testing.T) string {
	t.Helper()
	allow := func(context.Context, fetch.Target) error { return nil }
	h := &gateway.Handler{Resolver: &fetch1738.Resolver{Env: fetch.Env{Limits: gateway.Limits(), Allow: allow}}}
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.Close(); h.Close() })
	return s.URL
}

// oddNames are names of files that are written differently in a URL.
var oddNames = []string{
	"plain.txt", "two words", "100%", "a%20b", "why?", "why?x=y", "no. #1", "semi;colon", "a&b", "a&amp;b", "it's", `say "hi"`, "a:b", "http:x", "plus+", "eq=al",
	".hidden", "..almost", "-dash", "~tilde", "naïve.txt", "漢字", "<b>", "back`tick", "[x]", "{y}", "comma,", "at@", "$dollar", "!bang", "(paren)", "star*",
	"a:b.txt", "x:", ":", ":x", "1:2/3:4/5:6", "y:/y", "note;type=a", "note;type=i", "note;type=d", "c:/note;type=a", "dir;type=a/file", "a=b&c=d;e", "%41", "%", "%2F", "...", "?", "#", "&", ";", "#top",
	" lead", "trail ", "a  b", "..:", "c:/d e/f?g#h%i:j", "c:/d:/e",
	"dir one/file", "dir?/file", "dir#/file", "dir%/file", "dir;/file", "dir&/file", "c:/file", ".dot/file", "é/file", "deep/a/b/c/d/file", "'quote'/file", "deep/a/plain.txt",
}

// plantOdd creates a tree of files with odd names. Each contains its name.
func plantOdd(t *testing.T, root string) map[string]string {
	t.Helper()
	want := make(map[string]string)
	for _, name := range oddNames {
		path := filepath.Join(root, name)
		makeDir(t, filepath.Dir(path), 0o755)
		writeFile(t, path, "content of "+name+"\n")
		want[name] = "content of " + name + "\n"
	}
	return want
}

// gatewayServers are the servers with odd names: the path of their page, and what else they have.
func gatewayServers(t *testing.T, run func(t *testing.T, page string, want map[string]string, srv *ftptest.Server)) {
	t.Run("vsftpd", func(t *testing.T) {
		t.Parallel()
		srv := startVsftpd(t, "force_dot_files=YES")
		want := plantOdd(t, filepath.Join(srv.root, "odd tree"))
		run(t, startGateway(t)+"/ftp/"+srv.addr+"/odd%20tree/", want, nil)
	})
	t.Run("testserver", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		want := plantOdd(t, dir)
		srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = os.DirFS(dir) })
		run(t, startGateway(t)+"/ftp/"+srv.Addr+"/", want, srv)
	})
}

// TestGatewayRclone tests that rclone's backend for HTTP sees every file once.
func TestGatewayRclone(t *testing.T) {
	t.Parallel()
	rclone := requireTool(t, "rclone")
	gatewayServers(t, func(t *testing.T, page string, want map[string]string, _ *ftptest.Server) {
		run := func(args ...string) string {
			cmd := exec.CommandContext(t.Context(), rclone, append(args, "--config", "/dev/null", "--http-url", page, "--retries", "1", "--low-level-retries", "1")...)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil || stderr.Len() > 0 {
				t.Errorf("rclone %q: %v\n%s", args, err, stderr.String())
			}
			return string(out)
		}
		got := strings.Split(strings.TrimSuffix(run("lsf", "-R", "--files-only", ":http:"), "\n"), "\n")
		slices.Sort(got)
		names := slices.Sorted(maps.Keys(want))
		if !slices.Equal(got, names) {
			t.Errorf("rclone lists %q\nwant %q", got, names)
		}
		copied := t.TempDir()
		run("copy", ":http:", copied)
		sameFiles(t, copied, want)
	})
}

// sameFiles checks that a directory has exactly these files.
func sameFiles(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		data, err := os.ReadFile(path)
		if text, ok := want[name]; !ok || text != string(data) {
			t.Errorf("%q has %q, want %q", name, data, text)
		}
		seen++
		return err
	})
	if err != nil || seen != len(want) {
		t.Errorf("%d files, want %d; %v", seen, len(want), err)
	}
}

// TestGatewayWget tests that wget -r fetches every file once, and nothing that is not a file or a
// directory.
func TestGatewayWget(t *testing.T) {
	t.Parallel()
	wget := requireTool(t, "wget")
	gatewayServers(t, func(t *testing.T, page string, want map[string]string, srv *ftptest.Server) {
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), wget, "-r", "-np", "-l", "inf", "-nH", "--no-config", "--restrict-file-names=nocontrol", "-P", dir, "-nv", page)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "http_proxy=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, what := range []string{"?raw", "?tar", "?sort", "?explain", "?page"} {
			if strings.Contains(string(out), what) {
				t.Errorf("wget has fetched %s\n%s", what, out)
			}
		}
		got := make(map[string]int)
		err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || e.Name() == "index.html" {
				return err
			}
			data, err := os.ReadFile(path)
			got[string(data)]++
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			if got[text] != 1 {
				t.Errorf("%q was fetched %d times", name, got[text])
			}
			delete(got, text)
		}
		for text := range got {
			if !strings.HasPrefix(text, "User-agent:") { // robots.txt
				t.Errorf("wget has fetched %q", text)
			}
		}
		if srv == nil {
			return
		}
		sent := make(map[string]int)
		for _, line := range srv.Transcript() {
			if line.From == testserver.FromClient && strings.HasPrefix(line.Octets, "RETR ") {
				sent[line.Octets]++
			}
		}
		files := 0
		for _, n := range sent {
			files += n
		}
		if files != len(want) {
			t.Errorf("%d files were requested, want %d: %v", files, len(want), sent)
		}
	})
}
