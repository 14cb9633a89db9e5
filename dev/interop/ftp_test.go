package interop

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/dev/interop/ftpservers"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
)

// vsftpd is a running server with a tree of files.
type vsftpd struct {
	addr string
	root string
}

// The account of the server that has a password.
const (
	labUser     = ftpservers.User
	labPassword = ftpservers.Password
)

// startVsftpd runs vsftpd until the test ends, with a tree of its own and settings added to its
// configuration.
func startVsftpd(t *testing.T, settings ...string) *vsftpd {
	t.Helper()
	return startDaemon(t, "vsftpd", settings...)
}

// startDaemon runs one of the servers of package ftpservers with the tree of plant.
func startDaemon(t *testing.T, name string, settings ...string) *vsftpd {
	t.Helper()
	root := filepath.Join(serverDir(t), "root")
	plant(t, root)
	srv := ftpservers.Named(t, name).Start(t, &ftpservers.Server{Root: root, Settings: settings})
	return &vsftpd{addr: srv.Addr, root: root}
}

// The content of the server.
var (
	text   = "line one\nline two\nline three\n"
	binary = randomOctets(64 << 10)
	large  = 100 << 20
)

func plant(t *testing.T, root string) {
	t.Helper()
	for name, data := range map[string][]byte{
		"x.txt": []byte("top\n"), "a/b/c.txt": []byte(text), "etc/x": []byte("etc x\n"),
		"pub/rand.bin": binary, "pub/zero": nil, "pub/f #1;%.txt": []byte("odd\n"), "pub/caf\xe9": []byte("latin\n"),
		"forbidden": []byte("no\n"),
	} {
		makeDir(t, filepath.Dir(filepath.Join(root, name)), 0o755)
		writeFile(t, filepath.Join(root, name), string(data))
	}
	makeDir(t, filepath.Join(root, "pub/sub"), 0o755)
	makeDir(t, filepath.Join(root, "incoming"), 0o777)
	if err := errors.Join(os.Chmod(root, 0o755), os.Chmod(filepath.Join(root, "forbidden"), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func randomOctets(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// url returns the locator of a url-path on the server, for the anonymous user.
func (s *vsftpd) url(t *testing.T, path string) *locator.FTP {
	return parseFTP(t, "ftp://"+s.addr+path)
}

func parseFTP(t *testing.T, url string) *locator.FTP {
	t.Helper()
	ref, err := locator.Parser{}.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return ref.Locator.(*locator.FTP)
}

// observed records what goes over the control connection, and the progress of the body.
type observed struct {
	mu    sync.Mutex
	sent  []string
	body  int64
	dials int
}

func (c *observed) context(t *testing.T) context.Context {
	return fetch.WithTrace(t.Context(), &fetch.Trace{
		DialStart: func(string, string) { c.mu.Lock(); c.dials++; c.mu.Unlock() },
		Sent: func(p []byte) {
			c.mu.Lock()
			c.sent = append(c.sent, strings.TrimSuffix(string(p), "\r\n"))
			c.mu.Unlock()
		},
		Body: func(n int64) { c.mu.Lock(); c.body += n; c.mu.Unlock() },
	})
}

func (c *observed) check(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(c.sent, want) {
		t.Errorf("sent %q\nwant %q", c.sent, want)
	}
}

// get fetches and reads; that must succeed.
func get(t *testing.T, f *ftp.Fetcher, c *observed, req *fetch.Request) []byte {
	t.Helper()
	res, err := f.Fetch(c.context(t), req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestVsftpdExact tests the sequence of RFC 1738 §3.2.2, without additional commands.
func TestVsftpdExact(t *testing.T) {
	t.Parallel()
	srv := startVsftpd(t)
	for _, tc := range []struct {
		path, want string
		sent       []string
	}{
		{"/a/b/c.txt", text, []string{"CWD a", "CWD b", "TYPE I", "EPSV", "RETR c.txt"}},
		{"/a/b/c.txt;type=i", text, []string{"CWD a", "CWD b", "TYPE I", "EPSV", "RETR c.txt"}},
		{"/a/b/c.txt;type=a", text, []string{"CWD a", "CWD b", "TYPE A", "EPSV", "RETR c.txt"}},
		{"/a/b;type=d", "b/c.txt\n", []string{"CWD a", "EPSV", "NLST b"}},
		{"/a/b/;type=d", "c.txt\n", []string{"CWD a", "CWD b", "EPSV", "NLST"}},
		{"/a/b/", "c.txt\n", []string{"CWD a", "CWD b", "EPSV", "NLST"}},
		{"/%2Fetc/x", "etc x\n", []string{"CWD /etc", "TYPE I", "EPSV", "RETR x"}},
		{"/etc/x", "etc x\n", []string{"CWD etc", "TYPE I", "EPSV", "RETR x"}},
		{"/a%2Fb/c.txt", text, []string{"CWD a/b", "TYPE I", "EPSV", "RETR c.txt"}},
		{"/pub/f%20%231%3B%25.txt", "odd\n", []string{"CWD pub", "TYPE I", "EPSV", "RETR f #1;%.txt"}},
		{"/pub/caf%E9", "latin\n", []string{"CWD pub", "TYPE I", "EPSV", "RETR caf\xe9"}},
		{"/pub/zero", "", []string{"CWD pub", "TYPE I", "EPSV", "RETR zero"}},
	} {
		var c observed
		f := &ftp.Fetcher{Exact: true}
		if got := get(t, f, &c, &fetch.Request{Locator: srv.url(t, tc.path)}); string(got) != tc.want {
			t.Errorf("%s: got %q, want %q", tc.path, got, tc.want)
		}
		c.check(t, slices.Concat([]string{"USER anonymous", "PASS ****"}, tc.sent, []string{"QUIT"})...)
	}
}

func TestVsftpdNullCWD(t *testing.T) {
	t.Parallel()
	srv := startVsftpd(t)
	var c observed
	f := &ftp.Fetcher{Exact: true}
	_, err := f.Fetch(c.context(t), &fetch.Request{Locator: srv.url(t, "//etc/x")})
	var e *fetch.Error
	if !errors.As(err, &e) || e.Op != "CWD" || e.Code != 550 || e.Kind != fetch.ErrNotFound {
		t.Errorf("a null CWD, which vsftpd refuses: %v", err)
	}
	c.check(t, "USER anonymous", "PASS ****", "CWD ", "QUIT")
}

// TestVsftpdDefault tests the default sequence, which has additional commands: PWD to reuse the
// session, SIZE for the size. The reply to RETR states the same size, so SIZE is sent once.
func TestVsftpdDefault(t *testing.T) {
	t.Parallel()
	srv := startVsftpd(t)
	f := &ftp.Fetcher{}
	defer f.Close()
	var c observed
	if got := get(t, f, &c, &fetch.Request{Locator: srv.url(t, "/pub/rand.bin")}); !bytes.Equal(got, binary) {
		t.Errorf("%d bytes, which differ from the %d expected", len(got), len(binary))
	}
	if got := get(t, f, &c, &fetch.Request{Locator: srv.url(t, "/a/b/c.txt")}); string(got) != text {
		t.Errorf("got %q", got)
	}
	if got := get(t, f, &c, &fetch.Request{Locator: srv.url(t, "/a/b/c.txt;type=a")}); string(got) != text {
		t.Errorf("got %q", got)
	}
	c.check(t, "USER anonymous", "PASS ****", "PWD",
		"TYPE I", "CWD pub", "SIZE rand.bin", "EPSV", "RETR rand.bin",
		"CWD /", "CWD a", "CWD b", "EPSV", "RETR c.txt",
		"TYPE A", "EPSV", "RETR c.txt")
	if c.dials != 4 {
		t.Errorf("%d connections, want one for control and three for data", c.dials)
	}
}

func TestVsftpdLarge(t *testing.T) {
	t.Parallel()
	srv := startVsftpd(t)
	sum := sha256.New()
	big, err := os.Create(filepath.Join(srv.root, "large"))
	if err != nil {
		t.Fatal(err)
	}
	for range large / len(binary) {
		if _, err := io.MultiWriter(big, sum).Write(binary); err != nil {
			t.Fatal(err)
		}
	}
	big.Close()
	if err := os.Chmod(big.Name(), 0o644); err != nil {
		t.Fatal(err)
	}
	var c observed
	f := &ftp.Fetcher{}
	defer f.Close()
	res, err := f.Fetch(c.context(t), &fetch.Request{Locator: srv.url(t, "/large")})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Close()
	if res.Size != int64(large) {
		t.Errorf("Size %d", res.Size)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "copy"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if n, err := io.Copy(file, res.Body); n != int64(large) || err != nil {
		t.Fatalf("%d bytes, %v", n, err)
	}
	got := sha256.New()
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(got, bufio.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Sum(nil), sum.Sum(nil)) || c.body != int64(large) {
		t.Errorf("the bytes differ from the server's, or the hook Body was called for %d", c.body)
	}
}

func TestVsftpdListing(t *testing.T) {
	t.Parallel()
	srv := startVsftpd(t)
	f := &ftp.Fetcher{}
	defer f.Close()
	for _, tc := range []struct {
		path string
		opt  *ftp.Options
	}{{"/pub/", nil}, {"/pub;type=d", nil}, {"/pub/;type=d", nil}, {"/pub/", &ftp.Options{ListOnly: true}}} {
		var c observed
		res, err := f.Fetch(c.context(t), &fetch.Request{Locator: srv.url(t, tc.path), Options: tc.opt})
		if err != nil {
			t.Fatal(err)
		}
		names := make(map[string]fetch.Item)
		for item, err := range res.Items {
			if err != nil {
				t.Fatal(err)
			}
			names[item.Name] = item
		}
		res.Close()
		if len(names) != 5 {
			t.Errorf("%s: entries %v", tc.path, names)
		}
		for name, want := range map[string]string{"rand.bin": string(binary), "f #1;%.txt": "odd\n", "caf\xe9": "latin\n", "zero": ""} {
			if got := get(t, f, &c, &fetch.Request{Locator: names[name].Locator}); string(got) != want {
				t.Errorf("%s: the entry %q leads to %d bytes, which differ from the expected ones", tc.path, name, len(got))
			}
		}
		if tc.opt == nil && !strings.HasSuffix(tc.path, "d") {
			if e := names["rand.bin"]; e.Size != int64(len(binary)) || time.Since(e.ModTime).Abs() > 48*time.Hour {
				t.Errorf("%+v", e)
			}
			if names["sub"].Kind != fetch.KindDirectory {
				t.Errorf("%+v", names["sub"])
			}
		}
	}
}

func TestVsftpdErrors(t *testing.T) {
	t.Parallel()
	srv := startVsftpd(t)
	f := &ftp.Fetcher{}
	defer f.Close()
	user := func(login string) *locator.FTP { return parseFTP(t, "ftp://"+login+"@"+srv.addr+"/x.txt") }
	for _, tc := range []struct {
		name string
		l    *locator.FTP
		op   fetch.Op
		code int
		kind fetch.ErrorKind
	}{
		{"missing", srv.url(t, "/pub/none"), "RETR", 550, fetch.ErrNotFound},
		{"missing directory", srv.url(t, "/none/x"), "CWD", 550, fetch.ErrNotFound},
		{"forbidden", srv.url(t, "/forbidden"), "RETR", 550, fetch.ErrNotFound}, // vsftpd does not distinguish it from a missing one
		{"a directory", srv.url(t, "/pub"), "RETR", 550, fetch.ErrNotFound},
		{"wrong password", user("lab:wrong"), "PASS", 530, fetch.ErrUnauthenticated},
		{"no password", user("lab"), "login", 0, fetch.ErrUnauthenticated},
	} {
		_, err := f.Fetch(t.Context(), &fetch.Request{Locator: tc.l})
		var e *fetch.Error
		if !errors.As(err, &e) || e.Op != tc.op || e.Code != tc.code || e.Kind != tc.kind {
			t.Errorf("%s: %v (%+v)", tc.name, err, e)
		}
	}
}

func TestVsftpdUser(t *testing.T) {
	t.Parallel()
	srv := startVsftpd(t)
	asked := 0
	f := &ftp.Fetcher{Env: &fetch.Env{Credentials: func(_ context.Context, c fetch.Challenge) (locator.Login, error) {
		asked++
		return locator.Login{User: c.User, Password: labPassword, HasPassword: true}, nil
	}}}
	defer f.Close()
	for i, login := range []string{labUser + ":" + labPassword, labUser} {
		var c observed
		l := parseFTP(t, "ftp://"+login+"@"+srv.addr+"/x.txt")
		if got := get(t, f, &c, &fetch.Request{Locator: l}); string(got) != "top\n" {
			t.Errorf("got %q", got)
		}
		c.check(t, "USER lab", "PASS ****", "PWD", "TYPE I", "SIZE x.txt", "EPSV", "RETR x.txt")
		if asked != i {
			t.Errorf("%s: asked %d times", login, asked)
		}
	}
}

func TestVsftpdRanges(t *testing.T) {
	t.Parallel()
	srv := startVsftpd(t)
	f := &ftp.Fetcher{}
	defer f.Close()
	size := int64(len(binary))
	for _, tc := range []struct{ offset, length, from, to int64 }{
		{1000, 0, 1000, size}, {-100, 0, size - 100, size}, {0, 10, 0, 10}, {5, 10, 5, 15},
		{size - 1, 0, size - 1, size}, {size, 0, size, size}, {-2 * size, 3, 0, 3}, {0, size, 0, size}, {0, size + 1, 0, size},
	} {
		var c observed
		got := get(t, f, &c, &fetch.Request{Locator: srv.url(t, "/pub/rand.bin"), Offset: tc.offset, Length: tc.length})
		if !bytes.Equal(got, binary[tc.from:tc.to]) {
			t.Errorf("offset %d, length %d: %d bytes, want %d", tc.offset, tc.length, len(got), tc.to-tc.from)
		}
	}
	if _, err := f.Fetch(t.Context(), &fetch.Request{Locator: srv.url(t, "/pub/rand.bin"), Offset: size + 1}); !errors.Is(err, fetch.ErrBadRange) {
		t.Errorf("beyond the end: %v", err)
	}
}

func TestVsftpdUpload(t *testing.T) {
	t.Parallel()
	srv := startVsftpd(t)
	f := &ftp.Fetcher{}
	defer f.Close()
	l := parseFTP(t, "ftp://"+labUser+":"+labPassword+"@"+srv.addr+"/incoming/new%20file")
	path := filepath.Join(srv.root, "incoming/new file")
	check := func(step string, err error, want []byte) {
		t.Helper()
		got, err2 := os.ReadFile(path)
		if err != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Fatalf("%s: %v, %v, %d bytes, want %d", step, err, err2, len(got), len(want))
		}
	}
	var c observed
	attr, err := f.Replace(c.context(t), &fetch.Request{Locator: l}, bytes.NewReader(binary))
	check("STOR", err, binary)
	if attr.Size != int64(len(binary)) {
		t.Errorf("Size %d", attr.Size)
	}
	_, err = f.Update(c.context(t), &fetch.Request{Locator: l}, strings.NewReader("and more"))
	check("APPE", err, append(slices.Clone(binary), "and more"...))
	_, err = f.Replace(c.context(t), &fetch.Request{Locator: l, Offset: 1000}, strings.NewReader("resumed"))
	check("REST, STOR", err, append(slices.Clone(binary[:1000]), append([]byte("resumed"), append(slices.Clone(binary[1007:]), "and more"...)...)...))
	c.check(t, "USER lab", "PASS ****", "PWD",
		"TYPE I", "CWD incoming", "EPSV", "STOR new file", "SIZE new file",
		"EPSV", "APPE new file",
		"EPSV", "REST 1000", "STOR new file", "SIZE new file")
	l.Type = 'a'
	_, err = f.Replace(t.Context(), &fetch.Request{Locator: l}, strings.NewReader(text))
	check("STOR in TYPE A", err, []byte(text))

	l = parseFTP(t, "ftp://"+labUser+":"+labPassword+"@"+srv.addr+"/incoming/some/where/x")
	path = filepath.Join(srv.root, "incoming/some/where/x")
	if _, err := f.Replace(t.Context(), &fetch.Request{Locator: l}, strings.NewReader("x")); !errors.Is(err, fetch.ErrNotFound) {
		t.Errorf("into a missing directory: %v", err)
	}
	_, err = f.Replace(t.Context(), &fetch.Request{Locator: l, Options: &ftp.Options{CreateDirs: true}}, strings.NewReader("x"))
	check("with CreateDirs", err, []byte("x"))
	if _, err := f.Replace(t.Context(), &fetch.Request{Locator: srv.url(t, "/pub/x")}, strings.NewReader("x")); !errors.Is(err, fetch.ErrPermission) {
		t.Errorf("where writing is not permitted: %v", err)
	}
}

func TestVsftpdAttributes(t *testing.T) {
	t.Parallel()
	srv := startVsftpd(t)
	f := &ftp.Fetcher{}
	defer f.Close()
	attr, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: srv.url(t, "/pub/rand.bin")})
	if err != nil || attr.Size != int64(len(binary)) || time.Since(attr.ModTime).Abs() > time.Hour {
		t.Errorf("%+v, %v", attr, err)
	}
	for _, path := range []string{"/pub/", "/pub", "", "/"} {
		attr, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: srv.url(t, path)})
		if err != nil || attr.Size != -1 {
			t.Errorf("the directory %q: %+v, %v", path, attr, err)
		}
	}
	if _, err := f.FindAttributes(t.Context(), &fetch.Request{Locator: srv.url(t, "/none")}); !errors.Is(err, fetch.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// TestVsftpdAbandoned closes a transfer in the middle. The rest of it must not be read, and the
// Fetcher must work afterwards.
func TestVsftpdAbandoned(t *testing.T) {
	t.Parallel()
	srv := startVsftpd(t)
	file := filepath.Join(srv.root, "sparse")
	writeFile(t, file, "")
	if err := os.Truncate(file, 1<<30); err != nil {
		t.Fatal(err)
	}
	var came atomic.Int64
	f := &ftp.Fetcher{Env: &fetch.Env{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		return &counting{c, &came}, err
	}}}
	defer f.Close()
	res, err := f.Fetch(t.Context(), &fetch.Request{Locator: srv.url(t, "/sparse")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(res.Body, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	res.Close()
	if n := came.Load(); n > 1<<29 {
		t.Errorf("%d bytes were read", n)
	}
	var c observed
	if got := get(t, f, &c, &fetch.Request{Locator: srv.url(t, "/x.txt")}); string(got) != "top\n" {
		t.Errorf("got %q", got)
	}
}

// counting is a connection that counts the bytes read from it.
type counting struct {
	net.Conn
	came *atomic.Int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.came.Add(int64(n))
	return n, err
}

// Starting servers.

// serverDir returns a temporary directory that a server running as another user can read.
func serverDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for d := dir; d != os.TempDir() && len(d) > 1; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func makeDir(t *testing.T, name string, mode os.FileMode) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(name, 0o755), os.Chmod(name, mode)); err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.WriteFile(name, []byte(text), 0o644), os.Chmod(name, 0o644)); err != nil {
		t.Fatal(err)
	}
}
