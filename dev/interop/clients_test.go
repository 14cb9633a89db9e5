// Package interop tests the project with third-party programs.
package interop

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// requireTool finds a program that the test needs. If it is missing, the test is skipped; in CI it
// fails.
func requireTool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is not installed", name)
		}
		t.Skipf("%s is not installed (Debian: apt-get install %s)", name, name)
	}
	return path
}

// patience returns a context that ends shortly before the time limit of go test: a program that
// hangs is killed and reported.
func patience(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	over := daemon.TimeOver(t)
	go func() {
		select {
		case <-over:
			cancel()
		case <-ctx.Done():
		}
	}()
	t.Cleanup(cancel)
	return ctx
}

// startPiped starts a program whose standard input and output are connected to the test.
func startPiped(t *testing.T, cmd *exec.Cmd) (in io.WriteCloser, out io.Reader) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err = cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in, out
}

// runTool runs a program in an environment of its own, without proxies or configuration, and
// returns its output and exit code.
func runTool(t *testing.T, path string, args ...string) (output string, code int) {
	t.Helper()
	ctx := patience(t)
	var out, complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TERM=dumb", "LANG=C.UTF-8", "TZ=UTC"}
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		t.Fatalf("%v: %v", cmd, err)
	}
	if complaints.Len() > 0 {
		t.Logf("standard error of %v: %s", cmd, complaints.String())
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// shelf is the content that the servers serve to the clients.
func shelf() fstest.MapFS {
	every := make([]byte, 4096)
	for i := range every {
		every[i] = byte(i)
	}
	when := time.Date(1995, time.March, 4, 5, 6, 7, 0, time.UTC)
	return fstest.MapFS{
		"motd.txt":               {Data: []byte("hello\nworld\n"), ModTime: when},
		"dots.txt":               {Data: []byte(".\n.x\nend\n")},
		"every.bin":              {Data: every},
		"pub/with space/100%.md": {Data: []byte("odd name\n")},
		"pub/a.txt":              {Data: []byte("a\n")},
		"secret/key.txt":         {Data: []byte("no")},
		"page.html":              {Data: []byte("<html><title>Page</title><body><p>Good <b>morning</b></p></body></html>\n")},
	}
}

// transcript is implemented by all servers.
type transcript interface {
	Transcript() testserver.Transcript
	WaitIdle(context.Context) error
}

// sent checks that a client, which has ended, sent these lines, in this order.
func sent(t *testing.T, s transcript, want ...string) {
	t.Helper()
	if err := s.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := s.Transcript().From(testserver.FromClient)
	rest := lines
	for _, w := range want {
		i := slices.Index(rest, w)
		if i < 0 {
			t.Errorf("the client did not send %q (in this order %q); it sent %q", w, want, lines)
			return
		}
		rest = rest[i+1:]
	}
}

func TestCurlFTP(t *testing.T) {
	t.Parallel()
	curl := requireTool(t, "curl")
	local := filepath.Join(t.TempDir(), "local.txt")
	if err := os.WriteFile(local, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const names = "dots.txt\nevery.bin\nmotd.txt\npage.html\npub\nsecret\n"
	for _, tt := range []struct {
		name string
		args string // URL means the server's
		want string
		code int
		sent []string
	}{
		{"get", "URL/motd.txt", "hello\nworld\n", 0, []string{"USER anonymous", "PASS ftp@example.com", "EPSV", "TYPE I", "SIZE motd.txt", "RETR motd.txt", "QUIT"}},
		{"get binary", "URL/every.bin", string(shelf()["every.bin"].Data), 0, nil},
		{"get below directories", "URL/pub/with%20space/100%25.md", "odd name\n", 0, []string{"CWD pub", "CWD with space", "RETR 100%.md"}},
		{"get with an absolute path", "URL/%2Fpub/a.txt", "a\n", 0, []string{"CWD /", "CWD pub", "RETR a.txt"}},
		{"get in one CWD", "--ftp-method singlecwd URL/pub/with%20space/100%25.md", "odd name\n", 0, []string{"CWD pub/with space"}},
		{"get without EPSV", "--disable-epsv URL/motd.txt", "hello\nworld\n", 0, []string{"PASV", "RETR motd.txt"}},
		{"get in active mode", "-P - URL/motd.txt", "hello\nworld\n", 0, []string{"RETR motd.txt"}},
		{"get in active mode by PORT", "-P - --disable-eprt URL/motd.txt", "hello\nworld\n", 0, []string{"RETR motd.txt"}},
		{"get as ASCII", "URL/motd.txt;type=a", "hello\nworld\n", 0, []string{"TYPE A", "RETR motd.txt"}},
		{"resume", "-C 6 URL/motd.txt", "world\n", 0, []string{"REST 6", "RETR motd.txt"}},
		{"range", "-r 1-2 URL/motd.txt", "el", 0, []string{"REST 1", "RETR motd.txt"}},
		{"list", "URL/pub/", "-rw-r--r--    1 ftp      ftp                 2 Dec  1  1994 a.txt\ndrwxr-xr-x    2 ftp      ftp                 0 Dec  1  1994 with space\n", 0, []string{"CWD pub", "TYPE A", "LIST"}},
		{"names", "-l URL/", names, 0, []string{"TYPE A", "NLST"}},
		{"names by type", "URL/;type=d", names, 0, []string{"NLST"}},
		{"attributes", "-I URL/motd.txt", "Last-Modified: Sat, 04 Mar 1995 05:06:07 GMT\r\nContent-Length: 12\r\nAccept-ranges: bytes\r\n", 0, []string{"MDTM motd.txt", "SIZE motd.txt", "REST 0"}},
		{"login", "-u lab:s3cret URL/motd.txt", "hello\nworld\n", 0, []string{"USER lab", "PASS s3cret"}},
		{"login with an account", "-u vms:s3cret --ftp-account acct URL/motd.txt", "hello\nworld\n", 0, []string{"PASS s3cret", "ACCT acct"}},
		{"wrong password", "-u lab:wrong URL/motd.txt", "", 67, nil},
		{"missing", "URL/nix", "", 78, nil},
		{"forbidden", "URL/secret/key.txt", "", 9, nil},
		{"raw commands", "-Q MKD\x00new -Q -RMD\x00new URL/motd.txt", "hello\nworld\n", 0, []string{"MKD new", "RMD new"}},
		{"upload", "-T LOCAL URL/up.txt", "", 0, []string{"STOR up.txt"}},
		{"upload into a directory", "-T LOCAL URL/pub/", "", 0, []string{"CWD pub", "STOR local.txt"}},
		{"upload, making directories", "--ftp-create-dirs -T LOCAL URL/fresh/", "", 0, []string{"MKD fresh", "CWD fresh", "STOR local.txt"}},
		{"append", "-a -T LOCAL URL/motd.txt", "", 0, []string{"APPE motd.txt"}},
		{"upload as ASCII", "-B -T LOCAL URL/ascii.txt", "", 0, []string{"TYPE A", "STOR ascii.txt"}},
		{"two files on one connection", "URL/motd.txt URL/pub/a.txt", "hello\nworld\na\n", 0, []string{"RETR motd.txt", "RETR a.txt", "QUIT"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := ftptest.New(t, func(s *ftptest.Server) {
				s.Content, s.Forbidden = shelf(), []string{"secret"}
				s.Users = map[string]testserver.User{"lab": {Password: "s3cret"}, "vms": {Password: "s3cret", Account: "acct"}}
			})
			out, code := runTool(t, curl, curlArgs(tt.args, srv.URL, local)...)
			if out != tt.want || code != tt.code {
				t.Errorf("exit %d, %.200q; want %d, %.200q\n%s", code, out, tt.code, tt.want, srv.Transcript())
			}
			sent(t, srv, tt.sent...)
			for name, data := range srv.Uploads() {
				if want := "one\ntwo\nthree\n"; !strings.HasSuffix(string(data), want) {
					t.Errorf("%s was uploaded as %q", name, data)
				}
			}
			if upload := strings.Contains(tt.args, "-T"); upload && len(srv.Uploads()) != 1 {
				t.Errorf("%d uploads", len(srv.Uploads()))
			}
		})
	}
}

// curlArgs splits a line into arguments. URL and LOCAL mean the server and a local file; NUL is a
// space within an argument.
func curlArgs(line, url, local string) []string {
	args := []string{"-q", "-sS"}
	for arg := range strings.FieldsSeq(line) {
		arg = strings.ReplaceAll(arg, "\x00", " ")
		if arg == "LOCAL" {
			arg = local
		} else if path, ok := strings.CutPrefix(arg, "URL"); ok {
			arg = url + path
		}
		args = append(args, arg)
	}
	return args
}

func TestCurlResumesAnUpload(t *testing.T) {
	t.Parallel()
	curl := requireTool(t, "curl")
	local := filepath.Join(t.TempDir(), "local.txt")
	if err := os.WriteFile(local, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	srv := ftptest.New(t)
	srv.On("STOR", 1, testserver.Truncate(4), testserver.Reply("426 aborted"))
	_, _ = runTool(t, curl, curlArgs("-T LOCAL URL/up", srv.URL, local)...)
	if got := string(srv.Uploads()["up"]); got != "0123" {
		t.Fatalf("after the truncated transfer %q", got)
	}
	_, code := runTool(t, curl, curlArgs("-C - -T LOCAL URL/up", srv.URL, local)...)
	if got := string(srv.Uploads()["up"]); got != "0123456789" || code != 0 {
		t.Errorf("after the resume %q, exit %d", got, code)
	}
	sent(t, srv, "SIZE up", "APPE up")
}

// curl's exit codes show that the faults are what they claim to be.
func TestCurlSeesFaults(t *testing.T) {
	t.Parallel()
	curl := requireTool(t, "curl")
	for _, tt := range []struct {
		stage  string
		faults []ftptest.Fault
		code   int
	}{
		{"CONNECT", []ftptest.Fault{testserver.Close()}, 56},
		{"CONNECT", []ftptest.Fault{testserver.Reset(25)}, 56},
		{"GREETING", []ftptest.Fault{testserver.Reply("421 full")}, 28},
		{"GREETING", []ftptest.Fault{testserver.Split(1)}, 0},
		{"USER", []ftptest.Fault{testserver.Reply("530 no")}, 67},
		{"RETR", []ftptest.Fault{testserver.Truncate(5)}, 18},
		{"RETR", []ftptest.Fault{testserver.Reset(5)}, 56},
		{"RETR", []ftptest.Fault{testserver.Truncate(5), testserver.Reply("426 aborted")}, 18},
		{"RETR", []ftptest.Fault{testserver.Reply("550 no")}, 78},
		{"RETR", []ftptest.Fault{testserver.Drip(1, 10*time.Millisecond)}, 0},
		{"EPSV", []ftptest.Fault{testserver.Reply("502 no")}, 0},
		{"PASV", []ftptest.Fault{testserver.Reply("227 )(")}, 0}, // curl does not send it
		{"END", []ftptest.Fault{testserver.Reply("451 disk")}, 18},
	} {
		t.Run(tt.stage+" "+tt.faults[0].String(), func(t *testing.T) {
			srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = shelf() })
			srv.On(tt.stage, 1, tt.faults...)
			if out, code := runTool(t, curl, curlArgs("URL/motd.txt", srv.URL, "")...); code != tt.code {
				t.Errorf("exit %d, %q; want %d\n%s", code, out, tt.code, srv.Transcript())
			}
			if tt.stage == "PASV" {
				srv.ResetFaults()
			}
		})
	}
}

func TestCurlHTTP(t *testing.T) {
	t.Parallel()
	curl := requireTool(t, "curl")
	local := filepath.Join(t.TempDir(), "local.txt")
	large := strings.Repeat("one\ntwo\nthree\n", 1<<17) // so large that curl expects 100 Continue for it
	if err := os.WriteFile(local, []byte(large), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		args string
		want string
		code int
		sent []string
	}{
		{"get", "-u lab:s3cret URL/motd.txt", "hello\nworld\n", 0, []string{"GET /motd.txt HTTP/1.1", "Authorization: Basic bGFiOnMzY3JldA=="}},
		{"get binary", "URL/every.bin", string(shelf()["every.bin"].Data), 0, nil},
		{"get escaped", "URL/pub/with%20space/100%25.md", "odd name\n", 0, []string{"GET /pub/with%20space/100%25.md HTTP/1.1"}},
		{"range", "-r 6- URL/every.bin -r 1-3 URL/every.bin", string(shelf()["every.bin"].Data[1:4]) + string(shelf()["every.bin"].Data[1:4]), 0, []string{"Range: bytes=1-3"}},
		{"head", "-I URL/pub/a.txt", "HTTP/1.1 200 OK\r\nAccept-Ranges: bytes\r\nContent-Length: 2\r\nContent-Type: text/plain; charset=utf-8\r\nEtag: \"ae970678cdb8000-2\"\r\nLast-Modified: Thu, 01 Dec 1994 12:00:00 GMT\r\n\r\n", 0, []string{"HEAD /pub/a.txt HTTP/1.1"}},
		{"put", "-T LOCAL URL/up.txt", "created\n", 0, []string{"PUT /up.txt HTTP/1.1", "Expect: 100-continue"}},
		{"put in chunks", "-H Transfer-Encoding:chunked -T LOCAL URL/up.txt", "created\n", 0, []string{"PUT /up.txt HTTP/1.1"}},
		{"post", "--data-binary @LOCAL URL/up.txt", "created\n", 0, []string{"POST /up.txt HTTP/1.1"}},
		{"redirect shown", "URL/old", "it is elsewhere\n", 0, nil},
		{"redirect followed", "-L URL/old", "a\n", 0, []string{"GET /old HTTP/1.1", "GET /pub/a.txt HTTP/1.1"}},
		{"directory", "-L URL/pub", "<!DOCTYPE html>\n<title>/pub</title>\n<h1>/pub</h1>\n<ul>\n<li><a href=\"./a.txt\">a.txt</a>\n<li><a href=\"./with%20space/\">with space/</a>\n</ul>\n", 0, nil},
		{"no login", "-f URL/motd.txt", "", 22, nil},
		{"missing", "-f URL/nix", "", 22, nil},
		{"only if newer", "-z 20200101 -w %{http_code} URL/pub/a.txt", "304", 0, nil},
		{"two on one connection", "-w [%{num_connects}] URL/pub/a.txt URL/pub/a.txt", "a\n[1]a\n[0]", 0, nil},
		{"HTTP/1.0", "-0 URL/pub/a.txt", "a\n", 0, []string{"GET /pub/a.txt HTTP/1.0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := webtest.New(t, func(s *webtest.Server) {
				s.Content = shelf()
				s.Users = map[string]testserver.User{"lab": {Password: "s3cret"}}
				s.Protected = []string{"/motd"}
				s.Redirects = map[string]webtest.Redirect{"/old": {Location: "/pub/a.txt"}}
			})
			args := curlArgs(tt.args, srv.URL, local)
			for i := range args {
				args[i] = strings.Replace(args[i], "@LOCAL", "@"+local, 1)
			}
			out, code := runTool(t, curl, args...)
			if out != tt.want || code != tt.code {
				t.Errorf("exit %d, %.200q; want %d, %.200q\n%s", code, out, tt.code, tt.want, srv.Transcript())
			}
			sent(t, srv, tt.sent...)
			for name, data := range srv.Uploads() {
				if string(data) != large {
					t.Errorf("%s: %d bytes were uploaded, want %d", name, len(data), len(large))
				}
			}
		})
	}
}

func TestCurlSeesHTTPFaults(t *testing.T) {
	t.Parallel()
	curl := requireTool(t, "curl")
	for _, tt := range []struct {
		fault webtest.Fault
		want  string
		code  int
	}{
		{testserver.Truncate(5), "hello", 18},
		{testserver.Reset(5), "hello", 56},
		{webtest.ContentLength(20), "hello\nworld\n", 18},
		{webtest.ContentLength(5), "hello", 0},
		{webtest.ContentLength(-1), "hello\nworld\n", 0},
		{webtest.Chunked(), "hello\nworld\n", 0},
		{testserver.Close(), "", 52},
		{testserver.Split(1), "hello\nworld\n", 0},
		{webtest.EndlessHeaders(), "", 56},
		{testserver.Reply("HTTP/1.1 204 No Content\n"), "", 0},
	} {
		t.Run(tt.fault.String(), func(t *testing.T) {
			srv := webtest.New(t, func(s *webtest.Server) { s.Content = shelf() })
			srv.On("GET", 1, tt.fault)
			if out, code := runTool(t, curl, curlArgs("URL/motd.txt", srv.URL, "")...); code != tt.code || out != tt.want {
				t.Errorf("exit %d, %q; want %d, %q\n%s", code, out, tt.code, tt.want, srv.Transcript())
			}
		})
	}
}

func TestCurlGopher(t *testing.T) {
	t.Parallel()
	curl := requireTool(t, "curl")
	srv := gophertest.New(t, func(s *gophertest.Server) { s.Content, s.Host, s.Port = shelf(), "site", 70 })
	for _, tt := range []struct{ name, path, want, sent string }{
		{"root", "", "0dots.txt\t/dots.txt\tsite\t70\r\n9every.bin\t/every.bin\tsite\t70\r\n0motd.txt\t/motd.txt\tsite\t70\r\nhpage.html\t/page.html\tsite\t70\r\n1pub\t/pub\tsite\t70\r\n1secret\t/secret\tsite\t70\r\n.\r\n", `"\r\n"`},
		{"menu", "/1/pub", "0a.txt\t/pub/a.txt\tsite\t70\r\n1with space\t/pub/with space\tsite\t70\r\n.\r\n", `"/pub\r\n"`},
		{"text", "/0/motd.txt", "hello\r\nworld\r\n.\r\n", `"/motd.txt\r\n"`},
		{"text with dots", "/0/dots.txt", "..\r\n..x\r\nend\r\n.\r\n", `"/dots.txt\r\n"`},
		{"binary", "/9/every.bin", string(shelf()["every.bin"].Data), `"/every.bin\r\n"`},
		{"name with a space", "/0/pub/with%20space/100%25.md", "odd name\r\n.\r\n", `"/pub/with space/100%.md\r\n"`},
		{"search", "/7/search%09hello%20world", "0motd.txt\t/motd.txt\tsite\t70\r\n.\r\n", `"/search\thello world\r\n"`},
		{"missing", "/0/nix", "3'/nix' does not exist\t\terror.host\t1\r\n.\r\n", `"/nix\r\n"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv.ResetTranscript()
			out, code := runTool(t, curl, curlArgs("URL"+tt.path, srv.URL, "")...)
			if out != tt.want || code != 0 {
				t.Errorf("exit %d, %.300q; want %.300q", code, out, tt.want)
			}
			sent(t, srv, tt.sent)
		})
	}
}

func TestLynx(t *testing.T) {
	t.Parallel()
	lynx := requireTool(t, "lynx")
	ftp := ftptest.New(t, func(s *ftptest.Server) { s.Content = shelf() })
	web := webtest.New(t, func(s *webtest.Server) {
		s.Content = shelf()
		s.Redirects = map[string]webtest.Redirect{"/old": {Location: "/pub/a.txt"}}
	})
	site := gophertest.New(t, func(s *gophertest.Server) { s.Content = shelf() })
	for _, tt := range []struct {
		name string
		mode string
		url  string
		want []string // texts that the output must contain
	}{
		{"http page", "-dump", web.URL + "/page.html", []string{"Good morning"}},
		{"http source", "-source", web.URL + "/page.html", []string{string(shelf()["page.html"].Data)}},
		{"http directory", "-dump", web.URL + "/pub/", []string{"a.txt", "with space/", web.URL + "/pub/with space/"}},
		{"http redirect", "-source", web.URL + "/old", []string{"a\n"}},
		{"gopher root", "-dump", site.URL + "/", []string{"motd.txt", "pub", site.URL + "/0/motd.txt", site.URL + "/1/pub"}},
		{"gopher menu", "-dump", site.URL + "/1/pub", []string{site.URL + "/0/pub/a.txt", site.URL + "/1/pub/with space"}},
		{"gopher text", "-dump", site.URL + "/0/motd.txt", []string{"hello\n", "world\n"}},
		{"gopher text source", "-source", site.URL + "/0/motd.txt", []string{"hello\r\nworld\r\n"}},
		{"gopher search", "-dump", site.URL + "/7/search?hello", []string{site.URL + "/0/motd.txt"}},
		{"ftp text", "-dump", ftp.URL + "/motd.txt", []string{"hello\n", "world\n"}},
		{"ftp source", "-source", ftp.URL + "/pub/a.txt", []string{"a\n"}},
		{"ftp directory", "-dump", ftp.URL + "/", []string{"motd.txt", "pub", ftp.URL + "/motd.txt"}},
		{"ftp directory below", "-dump", ftp.URL + "/pub/", []string{"a.txt", ftp.URL + "/pub/a.txt"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, code := runTool(t, lynx, "-nopause", "-connect_timeout=10", tt.mode, tt.url)
			if code != 0 {
				t.Errorf("exit %d", code)
			}
			for _, want := range tt.want {
				if !strings.Contains(out, want) {
					t.Errorf("%q is missing in\n%s", want, out)
				}
			}
			if t.Failed() {
				for _, s := range []transcript{ftp, web, site} {
					t.Log(s.Transcript())
				}
			}
		})
	}
}
