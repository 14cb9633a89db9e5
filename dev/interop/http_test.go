package interop

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
	"github.com/fetch1738/fetch1738/fetch"
	fetchhttp "github.com/fetch1738/fetch1738/fetch/http"
	"github.com/fetch1738/fetch1738/locator"
)

// nginx is a running server with a tree of files.
type nginx struct {
	addr, secureAddr string
	root             string
	roots            *x509.CertPool
}

const nginxConfig = `daemon off; worker_processes 1; %[1]s pid %[2]s/pid; error_log stderr;
events { worker_connections 64; }
http {
	default_type application/octet-stream; types { text/plain txt; } charset utf-8; sendfile on; access_log off;
	client_body_temp_path %[2]s/t1; proxy_temp_path %[2]s/t2; fastcgi_temp_path %[2]s/t3; uwsgi_temp_path %[2]s/t4; scgi_temp_path %[2]s/t5;
	client_max_body_size 0; gzip off;
	server {
		listen %[3]s; listen %[4]s ssl http2; ssl_certificate %[2]s/cert.pem; ssl_certificate_key %[2]s/key.pem;
		root %[2]s/root; autoindex on;
		location = /redir { return 302 /x.txt; }
		location = /loop { return 302 /loop; }
		location = /to-ftp { return 302 ftp://127.0.0.1/x; }
		location = /to-http { return 302 http://%[3]s/x.txt; }
		location = /forbidden { deny all; }
		location = /busy { return 503; }
		location /slow/ { alias %[2]s/root/; limit_rate 256k; }
		location /gz/ { alias %[2]s/root/; gzip on; gzip_types *; gzip_min_length 1; }
		location /auth/ { alias %[2]s/root/; auth_basic "the lab"; auth_basic_user_file %[2]s/htpasswd; }
		location /norange/ { alias %[2]s/root/; max_ranges 0; }
		location /dav/ { alias %[2]s/dav/; dav_methods PUT DELETE; create_full_put_path on; }
		location /webdav/ { alias %[2]s/dav/; dav_methods PUT DELETE MKCOL MOVE; }
	}
}
`

// startNginx runs nginx on free loopback ports until the test ends, with its own configuration.
func startNginx(t *testing.T) *nginx {
	t.Helper()
	program := requireTool(t, "nginx")
	dir := serverDir(t)
	srv := &nginx{addr: daemon.FreeAddr(t), secureAddr: daemon.FreeAddr(t), root: filepath.Join(dir, "root")}
	plant(t, srv.root)
	makeDir(t, filepath.Join(dir, "dav"), 0o777)
	cert, key := selfSigned(t)
	srv.roots = x509.NewCertPool()
	srv.roots.AppendCertsFromPEM(cert)
	user := ""
	if os.Geteuid() == 0 {
		user = "user nobody nogroup;"
	}
	for name, text := range map[string]string{
		"cert.pem": string(cert), "key.pem": string(key), "htpasswd": labUser + ":{PLAIN}" + labPassword + "\n",
		"nginx.conf": fmt.Sprintf(nginxConfig, user, dir, srv.addr, srv.secureAddr),
	} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	cmd := exec.Command(program, "-p", dir, "-e", "stderr", "-c", filepath.Join(dir, "nginx.conf"))
	daemon.Start(t, cmd).Await(t, srv.addr, srv.secureAddr)
	return srv
}

// selfSigned returns a certificate for 127.0.0.1 with its key.
func selfSigned(t *testing.T) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1738), Subject: pkix.Name{CommonName: "interop"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

// web fetches from an nginx and counts connections.
type web struct {
	*fetchhttp.Fetcher
	dials atomic.Int32
	// cutAfter, if not 0, is the number of bytes after which the first connection breaks.
	cutAfter int64
}

func newWeb(t *testing.T) *web {
	w := &web{Fetcher: &fetchhttp.Fetcher{Env: &fetch.Env{}}}
	w.Env.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if n := w.dials.Add(1); err == nil && n == 1 && w.cutAfter > 0 {
			c = &breaking{Conn: c, left: w.cutAfter}
		}
		return c, err
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// breaking is a connection that breaks after some bytes.
type breaking struct {
	net.Conn
	left int64
}

func (b *breaking) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n, err := b.Conn.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

func webRequest(t *testing.T, url string) *fetch.Request {
	t.Helper()
	l, err := locator.Parser{Tolerate: locator.HTTPLogin}.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return &fetch.Request{Locator: l.Locator}
}

// read fetches a document and reads it to its end.
func (w *web) read(t *testing.T, req *fetch.Request) ([]byte, *fetch.Resource, error) {
	t.Helper()
	res, err := w.Fetch(t.Context(), req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Close()
	data, err := io.ReadAll(res.Body)
	return data, res, err
}

func TestNginxDocuments(t *testing.T) {
	t.Parallel()
	srv, w := startNginx(t), newWeb(t)
	for name, want := range map[string][]byte{
		"/a/b/c.txt": []byte(text), "/pub/rand.bin": binary, "/pub/zero": {}, "/pub/f%20%231;%25.txt": []byte("odd\n"), "/pub/caf%E9": []byte("latin\n"),
		"/%61/%62//c.txt": []byte(text), "/pub/../x.txt?query": []byte("top\n"),
	} {
		data, res, err := w.read(t, webRequest(t, "http://"+srv.addr+name))
		if err != nil || !bytes.Equal(data, want) || res.Size != int64(len(want)) {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
			continue
		}
		if strings.HasSuffix(name, ".txt") && (res.MediaType != "text/plain" || res.Charset != "utf-8") {
			t.Errorf("%s has media type %s, charset %s", name, res.MediaType, res.Charset)
		}
		info, err := os.Stat(filepath.Join(srv.root, "a/b/c.txt"))
		if err != nil {
			t.Fatal(err)
		}
		if name == "/a/b/c.txt" && !res.ModTime.Equal(info.ModTime().Truncate(time.Second)) {
			t.Errorf("modified %v, not %v", res.ModTime, info.ModTime())
		}
	}
	data, res, err := w.read(t, webRequest(t, "http://"+srv.addr+"/a/"))
	if err != nil || res.Kind != fetch.KindDocument || res.MediaType != "text/html" || !bytes.Contains(data, []byte(`href="b/"`)) {
		t.Errorf("a directory: %v, %s, %v", res, data, err)
	}
	if n := w.dials.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

func TestNginxErrors(t *testing.T) {
	t.Parallel()
	srv, w := startNginx(t), newWeb(t)
	for path, want := range map[string]struct {
		kind fetch.ErrorKind
		code int
	}{
		"/missing": {fetch.ErrNotFound, 404}, "/a/missing/": {fetch.ErrNotFound, 404}, "/forbidden": {fetch.ErrPermission, 403}, "/busy": {fetch.ErrBusy, 503},
		"/auth/x.txt": {fetch.ErrUnauthenticated, 401}, "/loop": {fetch.ErrTooManyHops, 0}, "/to-ftp": {fetch.ErrMoved, 302}, "/%00": {fetch.ErrProtocol, 400},
	} {
		_, _, err := w.read(t, webRequest(t, "http://"+srv.addr+path))
		var e *fetch.Error
		if !errors.As(err, &e) || e.Kind != want.kind || e.Code != want.code {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := w.FindAttributes(t.Context(), webRequest(t, "http://"+srv.addr+"/missing")); fetch.KindOf(err) != fetch.ErrNotFound {
		t.Errorf("HEAD of what is missing: %v", err)
	}
	a, err := w.FindAttributes(t.Context(), webRequest(t, "http://"+srv.addr+"/pub/rand.bin"))
	if err != nil || a.Size != int64(len(binary)) {
		t.Errorf("HEAD: %+v, %v", a, err)
	}
}

func TestNginxRedirectAndLogin(t *testing.T) {
	t.Parallel()
	srv, w := startNginx(t), newWeb(t)
	for path, want := range map[string]string{"/redir": "/x.txt", "/pub/sub": "/pub/sub/"} {
		_, res, err := w.read(t, webRequest(t, "http://"+srv.addr+path))
		if err != nil || res.Locator.String() != "http://"+srv.addr+want {
			t.Errorf("%s leads to %v, %v", path, res, err)
		}
	}
	url := "http://" + labUser + ":" + labPassword + "@" + srv.addr + "/auth/x.txt"
	if data, _, err := w.read(t, webRequest(t, url)); err != nil || string(data) != "top\n" {
		t.Errorf("login in the locator: %q, %v", data, err)
	}
	wrong := strings.Replace(url, labPassword, "wrong", 1)
	if _, _, err := w.read(t, webRequest(t, wrong)); fetch.KindOf(err) != fetch.ErrUnauthenticated || strings.Contains(err.Error(), "wrong") {
		t.Errorf("wrong login: %v", err)
	}
	asking := newWeb(t)
	asking.Env.Credentials = func(_ context.Context, c fetch.Challenge) (locator.Login, error) {
		if c.Text != "the lab" {
			t.Errorf("Credentials was called with %+v", c)
		}
		return locator.Login{User: labUser, Password: labPassword, HasPassword: true}, nil
	}
	if data, _, err := asking.read(t, webRequest(t, "http://"+srv.addr+"/auth/x.txt")); err != nil || string(data) != "top\n" {
		t.Errorf("login asked for: %q, %v", data, err)
	}
}

func TestNginxRanges(t *testing.T) {
	t.Parallel()
	srv, w := startNginx(t), newWeb(t)
	end := int64(len(binary))
	for _, tc := range []struct{ offset, length, from, to int64 }{
		{100, 0, 100, end}, {100, 50, 100, 150}, {-50, 0, end - 50, end}, {end - 10, 100, end - 10, end}, {end, 0, end, end}, {0, 10, 0, 10}, {-end - 5, 0, 0, end},
	} {
		for _, path := range []string{"/pub/rand.bin", "/norange/pub/rand.bin"} {
			req := webRequest(t, "http://"+srv.addr+path)
			req.Offset, req.Length = tc.offset, tc.length
			data, res, err := w.read(t, req)
			if err != nil || !bytes.Equal(data, binary[tc.from:tc.to]) || res.Size != end {
				t.Errorf("%s from %d, %d bytes: %d, %v", path, tc.offset, tc.length, len(data), err)
			}
		}
	}
	for _, path := range []string{"/pub/rand.bin", "/norange/pub/rand.bin"} {
		req := webRequest(t, "http://"+srv.addr+path)
		req.Offset = end + 1
		if _, _, err := w.read(t, req); fetch.KindOf(err) != fetch.ErrBadRange {
			t.Errorf("%s from beyond the end: %v", path, err)
		}
	}
}

// 100 MB are fetched whole, and once more over a connection that breaks in the middle.
func TestNginxLarge(t *testing.T) {
	t.Parallel()
	srv := startNginx(t)
	name := filepath.Join(srv.root, "large")
	writeFile(t, name, string(randomOctets(large)))
	hourAgo := time.Now().Add(-time.Hour)
	if err := os.Chtimes(name, hourAgo, hourAgo); err != nil {
		t.Fatal(err)
	}
	want := hashFile(t, name)
	for _, cutAfter := range []int64{0, 1000, int64(large) / 2} {
		w := newWeb(t)
		w.cutAfter = cutAfter
		retries := 0
		ctx := fetch.WithTrace(t.Context(), &fetch.Trace{Retry: func(fetch.Retry) { retries++ }})
		res, err := w.Fetch(ctx, webRequest(t, "http://"+srv.addr+"/large"))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.New()
		n, err := io.Copy(sum, res.Body)
		res.Close()
		if err != nil || n != int64(large) || string(sum.Sum(nil)) != want {
			t.Errorf("cut after %d: %d bytes, %v", cutAfter, n, err)
		}
		if (retries == 1) != (cutAfter > 0) || int(w.dials.Load()) != retries+1 {
			t.Errorf("cut after %d: %d retries, %d connections", cutAfter, retries, w.dials.Load())
		}
	}
}

func hashFile(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		t.Fatal(err)
	}
	return string(sum.Sum(nil))
}

func TestNginxUpload(t *testing.T) {
	t.Parallel()
	srv, w := startNginx(t), newWeb(t)
	for name, body := range map[string]io.Reader{
		"small": strings.NewReader(text), "again": strings.NewReader(text), "in/a/new/directory": strings.NewReader(text), "empty": strings.NewReader(""),
		"pipe": io.MultiReader(strings.NewReader(text)), "large": bytes.NewReader(randomOctets(20 << 20)), "with%20space%2fslash": strings.NewReader(text),
	} {
		req := webRequest(t, "http://"+srv.addr+"/dav/"+name)
		for range 2 { // it is created, then replaced
			if _, err := w.Replace(t.Context(), req, body); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			s, ok := body.(io.Seeker)
			if !ok {
				body = io.MultiReader(strings.NewReader(text))
			} else if _, err := s.Seek(0, io.SeekStart); err != nil {
				t.Fatal(err)
			}
		}
		want, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		if data, _, err := w.read(t, req); err != nil || !bytes.Equal(data, want) {
			t.Errorf("%s: %d bytes came back, %v", name, len(data), err)
		}
	}
	if _, err := w.Replace(t.Context(), webRequest(t, "http://"+srv.addr+"/x.txt"), strings.NewReader("x")); fetch.KindOf(err) != fetch.ErrUnsupported {
		t.Errorf("where PUT is not supported: %v", err)
	}
	large := bytes.NewReader(make([]byte, 20<<20))
	if _, err := w.Replace(t.Context(), webRequest(t, "http://"+srv.addr+"/forbidden"), large); fetch.KindOf(err) != fetch.ErrPermission {
		t.Errorf("forbidden, 20 MB: %v", err)
	}
}

func TestNginxCompressed(t *testing.T) {
	t.Parallel()
	srv, w := startNginx(t), newWeb(t)
	words := bytes.Repeat([]byte(text), 1000)
	writeFile(t, filepath.Join(srv.root, "words.txt"), string(words))
	for _, compressed := range []bool{false, true} {
		req := webRequest(t, "http://"+srv.addr+"/gz/words.txt")
		req.Options = &fetchhttp.Options{Compressed: compressed}
		var came int64
		res, err := w.Fetch(fetch.WithTrace(t.Context(), &fetch.Trace{Body: func(n int64) { came += n }}), req)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(res.Body)
		res.Close()
		if err != nil || !bytes.Equal(data, words) || compressed != (came < int64(len(words))) {
			t.Errorf("compressed %v: %d bytes from %d, %v", compressed, len(data), came, err)
		}
	}
}

// A slow body arrives complete, and can be closed at any time.
func TestNginxSlow(t *testing.T) {
	t.Parallel()
	srv, w := startNginx(t), newWeb(t)
	if data, _, err := w.read(t, webRequest(t, "http://"+srv.addr+"/slow/pub/rand.bin")); err != nil || !bytes.Equal(data, binary) {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	writeFile(t, filepath.Join(srv.root, "large"), string(randomOctets(8<<20)))
	ctx, cancel := context.WithCancel(t.Context())
	res, err := w.Fetch(ctx, webRequest(t, "http://"+srv.addr+"/slow/large"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(res.Body, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if n, err := io.Copy(io.Discard, res.Body); fetch.KindOf(err) != fetch.ErrCanceled || n > 4<<20 {
		t.Errorf("after cancel: %d bytes, %v", n, err)
	}
	res.Close()
}

func TestNginxTLS(t *testing.T) {
	t.Parallel()
	srv, w := startNginx(t), newWeb(t)
	url := "https://" + srv.secureAddr
	if _, _, err := w.read(t, webRequest(t, url+"/x.txt")); fetch.KindOf(err) != fetch.ErrUnreachable || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown certificate: %v", err)
	}
	trusting := newWeb(t)
	trusting.Env.TLS = func() (*tls.Config, error) { return &tls.Config{RootCAs: srv.roots}, nil }
	data, res, err := trusting.read(t, webRequest(t, url+"/x.txt"))
	if err != nil || string(data) != "top\n" || res.Info.(*fetchhttp.Info).Proto != "HTTP/2.0" {
		t.Errorf("%q, %v", data, err)
	}
	if _, _, err := trusting.read(t, webRequest(t, url+"/to-http")); fetch.KindOf(err) != fetch.ErrRefused {
		t.Errorf("from https to http: %v", err)
	}
}
