package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fetch1738/fetch1738/testserver"
)

// behaviour is what shows of a run: to the user and to the proxy.
type behaviour struct {
	Code  int
	Out   string
	Asked []string
}

// TestConnectsAsCurl runs curl, which CI must have, and fetch1738 by the
// same proxy to the same servers: both are to say the same to it, and to the user.
func TestConnectsAsCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := newTestProxy()
	if err != nil {
		t.Fatal(err)
	}
	defer p.end()
	places := map[string]string{"$PROXY": p.Addr().String(), "$CLOSED": closedPort}
	for name, start := range map[string]func() (*testserver.Server, error){
		"FTP": func() (*testserver.Server, error) {
			s, err := testserver.StartFTP(t.Context(), "", func(s *testserver.FTP) { s.Content = testContent() })
			return &s.Server, err
		},
		"HTTP": func() (*testserver.Server, error) {
			s, err := testserver.StartHTTP(t.Context(), "", func(s *testserver.HTTP) { s.Content = testContent() })
			return &s.Server, err
		},
		"GOPHER": func() (*testserver.Server, error) {
			s, err := testserver.StartGopher(t.Context(), "", func(s *testserver.Gopher) { s.Content = testContent() })
			return &s.Server, err
		},
	} {
		s, err := start()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		_, port, _ := strings.Cut(s.Addr, ":")
		places["$"+name+"PORT"] = port
	}
	for _, line := range []string{
		"-x $PROXY http://nowhere.example/x",
		"-x $PROXY http://nowhere.example:8080/x?y",
		"-x http://$PROXY/ -U me:secret http://nowhere.example/",
		"-x me:sec%72et@$PROXY -U you:x http://nowhere.example/",
		"-x $PROXY -U m%65:secret --proxy-header X-A:b -H X-B:c http://nowhere.example/",
		"-x $PROXY ftp://nowhere.example/a%20b;type=a",
		"-x $PROXY -U me:secret ftp://nowhere.example/x",
		"-p -x $PROXY http://127.0.0.1:$HTTPPORT/hello.txt",
		"-p -x $PROXY -U me:secret --proxy-header X-A:b -H X-B:c -A agent http://127.0.0.1:$HTTPPORT/hello.txt",
		"-p --proxy1.0 $PROXY http://127.0.0.1:$HTTPPORT/hello.txt",
		"--proxy1.0 $PROXY http://nowhere.example/x",
		"-p -x $PROXY ftp://127.0.0.1:$FTPPORT/hello.txt",
		"-p -x $PROXY ftp://localhost:$FTPPORT/pub/",
		"-x $PROXY gopher://127.0.0.1:$GOPHERPORT/99/hello.txt",
		"-x $PROXY --connect-to nowhere.example:80:127.0.0.1:$HTTPPORT http://nowhere.example/hello.txt",
		"-x $PROXY --noproxy 127.0.0.1 http://127.0.0.1:$HTTPPORT/hello.txt",
		"--socks4 $PROXY http://127.0.0.1:$HTTPPORT/hello.txt",
		"--socks4 $PROXY http://localhost:$HTTPPORT/hello.txt",
		"--socks4 $PROXY -U me:secret ftp://127.0.0.1:$FTPPORT/hello.txt",
		"--socks4a $PROXY http://localhost:$HTTPPORT/hello.txt",
		"--socks4a $PROXY ftp://localhost:$FTPPORT/hello.txt",
		"--socks5 $PROXY http://localhost:$HTTPPORT/hello.txt",
		"--socks5 $PROXY ftp://127.0.0.1:$FTPPORT/hello.txt",
		"--socks5-hostname $PROXY http://localhost:$HTTPPORT/hello.txt",
		"--socks5-hostname $PROXY -U me:secret gopher://localhost:$GOPHERPORT/99/hello.txt",
		"-x socks4://you@$PROXY http://127.0.0.1:$HTTPPORT/hello.txt",
		"-x socks5h://me:secret@$PROXY ftp://localhost:$FTPPORT/hello.txt",
		"--socks4 $PROXY --resolve nowhere.example:$HTTPPORT:127.0.0.1 http://nowhere.example:$HTTPPORT/hello.txt",
		"all_proxy=socks5h://$PROXY http://localhost:$HTTPPORT/hello.txt",
		"ALL_PROXY=$PROXY gopher://127.0.0.1:$GOPHERPORT/99/hello.txt",
		"HTTP_PROXY=$PROXY http://127.0.0.1:$HTTPPORT/hello.txt",
		"http_proxy=$PROXY no_proxy=x,127.0.0.0/8 http://127.0.0.1:$HTTPPORT/hello.txt",
		"FTP_PROXY=$PROXY ftp://nowhere.example/x",
		// What goes wrong.
		"-p -x $PROXY ftp://127.0.0.1:1/",
		"-p -x $PROXY -U me:secret gopher://127.0.0.1:1/",
		"--socks4a $PROXY http://nowhere.example/",
		"--socks4 $PROXY http://[::1]:$HTTPPORT/",
		"--socks5-hostname $PROXY http://nowhere.example/",
		"--socks5 $PROXY -U me:wrong http://127.0.0.1:$HTTPPORT/",
		"-x 127.0.0.1:$CLOSED http://127.0.0.1:$HTTPPORT/",
		"--socks5 127.0.0.1:$CLOSED ftp://127.0.0.1:$FTPPORT/",
		"-x http://127.0.0.1:99999 http://127.0.0.1:$HTTPPORT/",
		"-x nonsense://127.0.0.1:1 http://127.0.0.1:$HTTPPORT/",
		// Without a proxy.
		"--resolve h:$HTTPPORT:127.0.0.99,127.0.0.1 http://h:$HTTPPORT/hello.txt",
		"--resolve *:$HTTPPORT:127.0.0.1 --resolve h:$HTTPPORT:127.0.0.99 http://h:$HTTPPORT/hello.txt",
		"--resolve nonsense http://127.0.0.1:$HTTPPORT/hello.txt",
		"--resolve h:$FTPPORT:127.0.0.1 ftp://h:$FTPPORT/hello.txt",
		"--resolve h:$FTPPORT:127.0.0.1 -6 ftp://h:$FTPPORT/hello.txt",
		"--connect-to ::127.0.0.1:$FTPPORT ftp://nowhere.example/hello.txt",
		"--connect-to nowhere.example:70:127.0.0.1:$GOPHERPORT gopher://nowhere.example/99/hello.txt",
		"--connect-to ::127.0.0.1:x http://nowhere.example/",
		"--interface 127.0.0.9 ftp://127.0.0.1:$FTPPORT/hello.txt",
		"--interface host!127.0.0.9 -w %{local_ip} http://127.0.0.1:$HTTPPORT/hello.txt",
		"--interface if!127.0.0.9 http://127.0.0.1:$HTTPPORT/hello.txt",
		"--interface 198.51.100.7 http://127.0.0.1:$HTTPPORT/hello.txt",
		"--interface 127.0.0.1 --local-port $HTTPPORT http://127.0.0.1:$HTTPPORT/hello.txt",
		"--local-port 30-20 http://127.0.0.1:$HTTPPORT/hello.txt",
		"-6 http://127.0.0.1:$HTTPPORT/hello.txt",
		"-4 http://localhost:$HTTPPORT/hello.txt",
	} {
		theirs := withProxy(t, p, places, line, curl, "curl", "-q", "-s")
		ours := withProxy(t, p, places, line, own, "fetch1738", "-q", "-s", "--allow-port", "1")
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Errorf("%s (-curl +fetch1738):\n%s", line, diff)
		}
	}
}

// withProxy runs a program with the words of line, of which those up to the last
// with "=" in front are for its environment.
func withProxy(t *testing.T, p *testProxy, places map[string]string, line, path string, args ...string) behaviour {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	p.mu.Lock()
	p.asked = nil
	p.mu.Unlock()
	cmd := exec.CommandContext(ctx, path)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GORACE=" + os.Getenv("GORACE")}
	for word := range strings.FieldsSeq(line) {
		for name, value := range places {
			word = strings.ReplaceAll(word, name, value)
		}
		if name, _, ok := strings.Cut(word, "="); ok && strings.HasSuffix(strings.ToLower(name), "_proxy") {
			cmd.Env = append(cmd.Env, word)
			continue
		}
		args = append(args, word)
	}
	cmd.Args = args
	var out bytes.Buffer
	cmd.Stdout = &out
	var failed *exec.ExitError
	if err := cmd.Run(); err != nil && (!errors.As(err, &failed) || ctx.Err() != nil) {
		t.Fatalf("%s: %v", line, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	b := behaviour{cmd.ProcessState.ExitCode(), out.String(), nil}
	for _, asked := range p.asked {
		b.Asked = append(b.Asked, likeAny(asked, places))
	}
	return b
}

// likeAny is what a proxy was asked, without what must differ: the program's
// name, the ports of data connections, and a field that RFC 9110 knows nothing of.
func likeAny(asked string, places map[string]string) string {
	asked = strings.ReplaceAll(asked, "\n  Proxy-Connection: Keep-Alive", "")
	asked = regexp.MustCompile(`(curl|fetch1738)/\S+`).ReplaceAllString(asked, "NAME/VERSION")
	for name, value := range places {
		asked = strings.ReplaceAll(asked, ":"+value, ":"+name)
	}
	return regexp.MustCompile(`:\d{4,5}\b`).ReplaceAllString(asked, ":DATA")
}
