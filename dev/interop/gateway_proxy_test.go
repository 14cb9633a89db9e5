package interop

import (
	"bytes"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/gateway"
	"github.com/fetch1738/fetch1738/policy"
	"github.com/fetch1738/fetch1738/testserver/nntptest"
	"github.com/fetch1738/fetch1738/testserver/waistest"
)

// A proxyLab is a gateway as a forward proxy, and its log.
type proxyLab struct {
	*testing.T
	url string
	mu  sync.Mutex
	log []gateway.LogEntry
}

func startProxy(t *testing.T, newsServer string) *proxyLab {
	lab := &proxyLab{T: t}
	h := &gateway.Handler{
		Proxy: true,
		Resolver: &fetch1738.Resolver{Env: fetch.Env{
			NewsServer: newsServer, Limits: gateway.Limits(),
			Allow: (&policy.Rules{PublicOnly: true, AllowZones: []policy.Zone{policy.ZoneLoopback}}).Allow,
		}},
		Log: func(a gateway.LogEntry) {
			lab.mu.Lock()
			defer lab.mu.Unlock()
			lab.log = append(lab.log, a)
		},
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.Close(); _ = h.Close() })
	lab.url = s.URL
	return lab
}

// logged is the log as a text, to search it for what must not be there.
func (lab *proxyLab) logged() string {
	lab.mu.Lock()
	defer lab.mu.Unlock()
	return fmt.Sprintf("%+v", lab.log)
}

// run runs a program that is told of the proxy by its environment, or of none, and returns its
// output and exit code.
func (lab *proxyLab) run(proxied bool, path string, args ...string) (string, int) {
	lab.Helper()
	ctx := patience(lab.T)
	var out, complaints bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = lab.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + lab.TempDir(), "TERM=dumb", "LANG=C.UTF-8", "TZ=UTC"}
	if proxied {
		for _, scheme := range []string{"ftp", "gopher", "http", "https", "news", "nntp", "wais"} {
			cmd.Env = append(cmd.Env, scheme+"_proxy="+lab.url+"/")
		}
	}
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		lab.Fatalf("%v: %v", cmd, err)
	}
	if complaints.Len() > 0 {
		lab.Logf("standard error of %v: %s", cmd, complaints.String())
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// proxyUsers are programs, with the options that write a document as it is, and those that show
// what is at a URL as text with its links.
var proxyUsers = []struct {
	name     string
	schemes  string // that it sends to a proxy
	document []string
	page     []string
}{
	{"curl", "ftp gopher", []string{"-sS"}, []string{"-sS"}},
	{"wget", "ftp", []string{"-q", "-O", "-"}, []string{"-q", "-O", "-"}},
	{"lynx", "ftp gopher news wais", []string{"-source"}, []string{"-dump", "-width=300"}},
	{"w3m", "ftp gopher", []string{"-dump_source"}, []string{"-dump", "-cols", "300", "-T", "text/html", "-o", "display_link_number=1"}},
	{"lftp", "ftp", nil, nil},
}

// TestGatewayProxy tests that the programs which can use a proxy for these schemes get through the
// gateway what they get without it: a document byte for byte, a directory or menu with its links.
func TestGatewayProxy(t *testing.T) {
	t.Parallel()
	ftpd, gopherd := startVsftpd(t), startGophernicus(t)
	news := nntptest.New(t, func(s *nntptest.Server) {
		s.Groups = map[string][]string{"local.test": {"From: a@b\r\nSubject: one\r\nDate: Sat, 4 Mar 1995 05:06:07 GMT\r\nMessage-ID: <1@local>\r\nNewsgroups: local.test\r\n\r\nhello\r\n"}}
	})
	wais := waistest.New(t, func(s *waistest.Server) {
		s.Content = fstest.MapFS{"a.txt": {Data: []byte("hello wais\n")}}
		s.Databases = []waistest.Database{{Name: "pub", Files: []string{"a.txt"}}}
	})
	lab := startProxy(t, news.Addr)
	ftpURL, gopherURL := "ftp://"+ftpd.addr, "gopher://"+gopherd.addr
	documents := []struct{ url, want string }{
		{ftpURL + "/a/b/c.txt", text},
		{ftpURL + "/pub/rand.bin", string(binary)},
		{ftpURL + "/pub/f%20%231;%25.txt", "odd\n"},
		{ftpURL + "/pub/zero", ""},
		{gopherURL + "/9/bin.d/rand.bin", string(binary)},
		{gopherURL + "/0/docs/hello.txt", "hello gopher\nsecond line\n"},
		{gopherURL + "/0/with%20space/a%20b.txt", "spaced\n"},
		{"news:1@local", "\r\n\r\nhello\r\n"},
	}
	pages := []struct{ url, want string }{
		{ftpURL + "/pub/", ftpURL + "/pub/rand.bin"},
		{ftpURL + "/", ftpURL + "/pub/"},
		{gopherURL + "/1/map", gopherURL + "/0/docs/hello.txt"},
		{gopherURL + "/", gopherURL + "/1/docs"},
		{"news:local.test", "one"},
		{wais.URL + "/pub?hello", wais.URL + "/pub/"},
	}
	for _, user := range proxyUsers {
		t.Run(user.name, func(t *testing.T) {
			program := requireTool(t, user.name)
			lab := &proxyLab{T: t, url: lab.url}
			serves := func(url string) bool {
				scheme, _, _ := strings.Cut(url, ":")
				return strings.Contains(user.schemes, scheme)
			}
			if user.document == nil {
				lab.lftp(program, ftpd.addr)
				return
			}
			for _, d := range documents {
				if !serves(d.url) {
					continue
				}
				out, code := lab.run(true, program, append(user.document, d.url)...)
				switch {
				case strings.HasPrefix(d.url, "news:"):
					if code != 0 || !strings.HasSuffix(out, d.want) || !strings.Contains(out, "Subject: one") {
						t.Errorf("%s: code %d, %q", d.url, code, out)
					}
				case code != 0 || out != d.want:
					direct, _ := lab.run(false, program, append(user.document, d.url)...)
					if out != direct { // such as curl, which keeps the last line of a gopher text
						t.Errorf("%s: code %d, %d bytes %.80q; without the proxy %d bytes %.80q", d.url, code, len(out), out, len(direct), direct)
					}
				}
			}
			for _, p := range pages {
				if !serves(p.url) {
					continue
				}
				want := p.want
				if user.name == "curl" && strings.HasPrefix(p.url, "gopher:") { // by CONNECT: the menu
					direct, _ := lab.run(false, program, "-sS", p.url)
					want = direct
				}
				if out, code := lab.run(true, program, append(user.page, p.url)...); code != 0 || !strings.Contains(out, want) {
					t.Errorf("%s: code %d, no %q in\n%s", p.url, code, want, out)
				}
			}
		})
	}
}

// lftp tests lftp, which reads the page of a directory as its listing.
func (lab *proxyLab) lftp(program, addr string) {
	lab.Helper()
	settings := "set net:max-retries 1; set ftp:proxy " + lab.url + "/; "
	out, code := lab.run(false, program, "-c", settings+"open ftp://"+addr+"/; cls -1 pub/; cat pub/rand.bin")
	listing, rest, _ := strings.Cut(out, "zero\n")
	if code != 0 || !strings.Contains(listing, "rand.bin\n") || rest != string(binary) {
		lab.Errorf("code %d, %d bytes: %.300q", code, len(out), out)
	}
}

// TestGatewayProxyLogin tests that a login in the URL of a request to the proxy is used for it, and
// for nothing else, and that it is in no log.
func TestGatewayProxyLogin(t *testing.T) {
	t.Parallel()
	ftpd := startVsftpd(t, "anonymous_enable=NO")
	lab := startProxy(t, "")
	for name, options := range map[string][]string{
		"curl": {"-sS", "-f"}, "wget": {"-q", "-O", "-", "--tries=1"}, "lynx": {"-source"}, "w3m": {"-dump_source"},
	} {
		t.Run(name, func(t *testing.T) {
			program := requireTool(t, name)
			lab := &proxyLab{T: t, url: lab.url}
			with := append(options[:len(options):len(options)], "ftp://"+labUser+":"+labPassword+"@"+ftpd.addr+"/a/b/c.txt")
			if out, code := lab.run(true, program, with...); code != 0 || out != text {
				t.Errorf("with the login: code %d, %q", code, out)
			}
			without := append(options[:len(options):len(options)], "ftp://"+ftpd.addr+"/a/b/c.txt")
			if name == "w3m" {
				return // it asks its terminal for a login
			}
			if out, _ := lab.run(true, program, without...); strings.Contains(out, text) {
				t.Errorf("without the login: %q", out)
			}
		})
	}
	if log := lab.logged(); strings.Contains(log, labPassword) || !strings.Contains(log, "/a/b/c.txt") {
		t.Errorf("the log is %s", log)
	}
}

// TestGatewayCONNECT tests that curl's CONNECT is served for ports of gopher only.
func TestGatewayCONNECT(t *testing.T) {
	t.Parallel()
	curl := requireTool(t, "curl")
	gopherd := startGophernicus(t)
	lab := startProxy(t, "")
	for _, path := range []string{"/0/docs/hello.txt", "/9/bin.d/rand.bin", "/1/map", "/0/none", "/7/cgi-bin/search%09words"} {
		direct, _ := lab.run(false, curl, "-sS", "gopher://"+gopherd.addr+path)
		out, code := lab.run(false, curl, "-sS", "-x", lab.url, "gopher://"+gopherd.addr+path)
		if code != 0 || out != direct || out == "" {
			t.Errorf("%s: code %d, %q, want %q", path, code, out, direct)
		}
	}
	for _, url := range []string{"https://127.0.0.1:443/", "gopher://127.0.0.1:22/0x", "gopher://127.0.0.1:25/0x", "https://10.0.0.1:8443/", "gopher://169.254.169.254/0x"} {
		out, code := lab.run(false, curl, "-sS", "-x", lab.url, "-w", "%{http_connect}", url)
		if code != 56 && code != 7 || !strings.HasSuffix(out, "403") {
			t.Errorf("%s: code %d, %q", url, code, out)
		}
	}
}
