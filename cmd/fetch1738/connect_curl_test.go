package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/gophertest"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// behaviour is what shows of a run: to the user and to the proxy.
type behaviour struct {
	Code  int
	Out   string
	Asked []string
}

// programs finds curl and this program.
func programs(t *testing.T) (curl, own string) {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return installed(t, "curl"), own
}

// TestConnectsAsCurl runs curl and fetch1738 by the same proxy to the same
// servers: both are to say the same to it, and to the user.
func TestConnectsAsCurl(t *testing.T) {
	t.Parallel()
	curl, own := programs(t)
	p, err := newTestProxy()
	if err != nil {
		t.Fatal(err)
	}
	defer p.end()
	places := map[string]string{"$PROXY": p.Addr().String(), "$CLOSED": closedPort}
	for name, start := range map[string]func() (*testserver.Server, error){
		"FTP": func() (*testserver.Server, error) {
			s, err := ftptest.Start(t.Context(), "", func(s *ftptest.Server) { s.Content = testContent() })
			return &s.Server, err
		},
		"HTTP": func() (*testserver.Server, error) {
			s, err := webtest.Start(t.Context(), "", func(s *webtest.Server) { s.Content = testContent() })
			return &s.Server, err
		},
		"GOPHER": func() (*testserver.Server, error) {
			s, err := gophertest.Start(t.Context(), "", func(s *gophertest.Server) { s.Content = testContent() })
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
		"http://x.localhost:$HTTPPORT/hello.txt",
		"ftp://x.LOCALHOST:$FTPPORT/hello.txt",
		"--resolve x.localhost:$HTTPPORT:127.0.0.99 http://x.localhost:$HTTPPORT/hello.txt",
		"--resolve *:$HTTPPORT:127.0.0.99 http://x.localhost:$HTTPPORT/hello.txt",
		"--connect-to h:80:x.localhost:$HTTPPORT http://h/hello.txt",
		"--socks4 $PROXY http://x.localhost:$HTTPPORT/hello.txt",
		"--socks5 $PROXY ftp://x.localhost:$FTPPORT/hello.txt",
		"--socks5-hostname $PROXY http://x.localhost:$HTTPPORT/hello.txt",
		"-x $PROXY http://x.localhost/x",
		"-p -x $PROXY http://[fe80::1%25lo]:$HTTPPORT/",
		"-x $PROXY http://[fe80::1%25lo]/x",
		"-x $PROXY ftp://[fe80::1%25lo]/x",
		"--connect-to ::127.0.0.1:$HTTPPORT http://[fe80::1%lo]/hello.txt",
		"-4 http://localhost:$HTTPPORT/hello.txt",
	} {
		theirs := withProxy(t, p, places, line, curl, "curl", "-q", "-s")
		ours := withProxy(t, p, places, line, own, "fetch1738", "-q", "-s", "--allow-port", "1")
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Errorf("%s (-curl +fetch1738):\n%s", line, diff)
		}
	}
}

// TestTLSAsCurl runs both against servers with certificates of their own making.
func TestTLSAsCurl(t *testing.T) {
	t.Parallel()
	curl, own := programs(t)
	p, err := newTestProxy()
	if err != nil {
		t.Fatal(err)
	}
	defer p.end()
	env := &testscript.Env{WorkDir: t.TempDir()}
	_, end, err := startSecure(env)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	places := map[string]string{"$DIR": env.WorkDir, "$PROXY": p.Addr().String()}
	for _, name := range []string{"HTTPSPORT", "HTTPS12PORT", "HTTPSAUTHPORT", "PIN", "TLSDATA"} {
		places["$"+name] = env.Getenv(name)
	}
	plain, der := "--cert $TLSDATA/client.crt --key $TLSDATA/", "--cert $TLSDATA/client.crt.der --cert-type DER --key $TLSDATA/client.key.der --key-type DER"
	for _, line := range []string{
		"https://127.0.0.1:$HTTPSPORT/",
		"-k https://127.0.0.1:$HTTPSPORT/",
		"-k -x $PROXY https://127.0.0.1:$HTTPSPORT/",
		"-k --socks4a $PROXY https://localhost:$HTTPSPORT/",
		"--cacert $DIR/ca.pem https://127.0.0.1:$HTTPSPORT/",
		"--cacert $DIR/ca.pem --resolve wrong.invalid:$HTTPSPORT:127.0.0.1 https://wrong.invalid:$HTTPSPORT/",
		"--cacert $DIR/ca.pem --connect-to example.com:443:127.0.0.1:$HTTPSPORT https://example.com/",
		"--cacert $TLSDATA/client.crt https://127.0.0.1:$HTTPSPORT/",
		"--cacert $DIR/nothing https://127.0.0.1:$HTTPSPORT/",
		"--cacert $DIR/pub.pem https://127.0.0.1:$HTTPSPORT/",
		"-k --cacert $DIR/nothing https://127.0.0.1:$HTTPSPORT/",
		"--capath $DIR/nothing https://127.0.0.1:$HTTPSPORT/",
		"CURL_CA_BUNDLE=$DIR/ca.pem https://127.0.0.1:$HTTPSPORT/",
		"SSL_CERT_FILE=$DIR/ca.pem https://127.0.0.1:$HTTPSPORT/",
		"CURL_CA_BUNDLE=$DIR/nothing https://127.0.0.1:$HTTPSPORT/",
		"-k https://127.0.0.1:$HTTPSAUTHPORT/",
		"-k --tls-max 1.2 https://127.0.0.1:$HTTPSAUTHPORT/",
		"-k " + plain + "client.key https://127.0.0.1:$HTTPSAUTHPORT/",
		"-k " + der + " https://127.0.0.1:$HTTPSAUTHPORT/",
		"-k " + plain + "client.aes256 --pass secret https://127.0.0.1:$HTTPSAUTHPORT/",
		"-k " + plain + "client.sha1 --pass secret https://127.0.0.1:$HTTPSAUTHPORT/",
		"-k " + plain + "client.old --pass secret https://127.0.0.1:$HTTPSAUTHPORT/",
		"-k " + plain + "client.aes256 --pass wrong https://127.0.0.1:$HTTPSAUTHPORT/",
		"-k " + plain + "nothing https://127.0.0.1:$HTTPSAUTHPORT/",
		"-k --cert $DIR/nothing https://127.0.0.1:$HTTPSAUTHPORT/",
		"-k --tlsv1.3 https://127.0.0.1:$HTTPS12PORT/",
		"-k --tlsv1.2 --tls-max 1.2 https://127.0.0.1:$HTTPSPORT/",
		"-k --tlsv1.3 --tls-max 1.2 https://127.0.0.1:$HTTPSPORT/",
		"-k --tls-max 7 https://127.0.0.1:$HTTPSPORT/",
		"-k --ciphers ECDHE-RSA-AES256-GCM-SHA384 https://127.0.0.1:$HTTPS12PORT/",
		"-k --ciphers ECDHE-ECDSA-AES128-GCM-SHA256 https://127.0.0.1:$HTTPS12PORT/",
		"-k --ciphers NOSUCH https://127.0.0.1:$HTTPS12PORT/",
		"-k --pinnedpubkey $PIN https://127.0.0.1:$HTTPSPORT/",
		"-k --pinnedpubkey $DIR/pub.pem https://127.0.0.1:$HTTPSPORT/",
		"-k --pinnedpubkey sha256//AAAA https://127.0.0.1:$HTTPSPORT/",
		"-k --pinnedpubkey $DIR/nothing https://127.0.0.1:$HTTPSPORT/",
		"-k https://$PROXY/",
	} {
		theirs := withProxy(t, p, places, line, curl, "curl", "-q", "-s")
		ours := withProxy(t, p, places, line, own, "fetch1738", "-q", "-s")
		if diff := cmp.Diff(theirs, ours); diff != "" {
			t.Errorf("%s (-curl +fetch1738):\n%s", line, diff)
		}
	}
}

// withProxy runs a program with the words of line. Those such as ALL_PROXY=VALUE
// are for its environment.
func withProxy(t *testing.T, p *testProxy, places map[string]string, line, path string, args ...string) behaviour {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	p.mu.Lock()
	p.asked = nil
	p.mu.Unlock()
	cmd := exec.CommandContext(ctx, path)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GORACE=" + os.Getenv("GORACE")}
	for word := range strings.FieldsSeq(line) {
		word = os.Expand(word, func(name string) string { return places["$"+name] })
		if name, _, ok := strings.Cut(word, "="); ok && (strings.HasSuffix(strings.ToLower(name), "_proxy") || slices.Contains([]string{"CURL_CA_BUNDLE", "SSL_CERT_FILE"}, name)) {
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
