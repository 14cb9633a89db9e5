package interop

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
)

// A lab is the servers of one row for one program. Those of the project are new
// each time; vsftpd, nginx and gophernicus live as long as the rows of a file,
// one for each program, and have a directory $ROW for what a row stores.
type lab struct {
	dir     string
	row     string
	values  map[string]string
	uploads map[string]func() map[string][]byte // by variable
	wishes  map[string]func() []string          // of proxies, by variable
	daemons *daemons
	tls     *tls.Config // of the servers that have it; nil before the first
}

const digits = "0123456789"

func everyOctet() []byte {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	return every
}

// labContent is what the project's servers serve.
func labContent() fstest.MapFS {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(bytes.Repeat([]byte("compressed text\n"), 100))
	_ = z.Close()
	content := fstest.MapFS{
		"zipped":    {Data: zipped.Bytes()},
		"every.bin": {Data: everyOctet()}, "big.bin": {Data: bytes.Repeat([]byte(digits+"abcdef"), 1<<16)},
	}
	for name, text := range map[string]string{
		"hello.txt": "hello, world\n", "digits.txt": digits, "empty.txt": "", "lines.txt": "one\ntwo\nthree\n", "dos.txt": "one\r\ntwo\r\n",
		"dots.txt": ".\n.x\nend\n", "page.html": "<p>page</p>\n",
		"pub/a.txt": "a\n", "pub/b.txt": "b\n", "pub/c.md": "c\n", "pub/sub/deep.txt": "deep\n", "with space/a b.txt": "spaced\n", "odd/100%.txt": "percent\n",
		"n/1.txt": "n1\n", "n/2.txt": "n2\n", "n/3.txt": "n3\n", "private/key.txt": "secret\n",
		// What these do otherwise is armed below.
		"cut.txt": digits, "reset.txt": digits, "busy.txt": digits, "slow.txt": digits, "silent.txt": digits, "gone.txt": digits, "chunks.txt": digits, "nolength.txt": digits,
		"attached": "attached\n", "baking.txt": "with a cookie\n", "closed.txt": digits, "error.txt": "an error's page\n",
	} {
		content[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for _, file := range content {
		file.ModTime = time.Date(1994, time.December, 1, 12, 0, 0, 0, time.UTC)
	}
	return content
}

// labUsers are the accounts of the project's servers.
func labUsers() map[string]testserver.User {
	return map[string]testserver.User{"lab": {Password: "secret"}, "vms": {Password: "secret", Account: "acct"}}
}

// ftpKinds are the FTP servers by variable.
func ftpKinds() map[string]func(*testserver.FTP) {
	return map[string]func(*testserver.FTP){
		"FTP": func(*testserver.FTP) {},
		"FTPOLD": func(s *testserver.FTP) {
			s.Hide = []string{"FEAT", "EPSV", "EPRT", "SIZE", "MDTM", "REST", "MLSD", "MLST"}
		},
		"FTPRO":   func(s *testserver.FTP) { s.ReadOnly = true },
		"FTPHOME": func(s *testserver.FTP) { s.LoginDir = "/pub" },
		"FTPFULL": func(s *testserver.FTP) { s.Greeting = "421 Too many users." },
		"FTPODD":  func(s *testserver.FTP) { s.Greeting = "500 Go away." },
		"FTPDENY": func(s *testserver.FTP) { s.Anonymous = false },
		"FTPTLS":  func(s *testserver.FTP) { s.ReuseTLS = true },
		"FTPS":    func(s *testserver.FTP) { s.ImplicitTLS = true },
	}
}

func startFTP(ctx context.Context, configure func(*testserver.FTP)) (*testserver.FTP, error) {
	s, err := testserver.StartFTP(ctx, "", func(s *testserver.FTP) {
		s.Content, s.Users, s.Forbidden = labContent(), labUsers(), []string{"private"}
		configure(s)
	})
	if err != nil {
		return nil, err
	}
	s.On("RETR cut.txt", 0, testserver.Truncate(5), testserver.Reply("426 Aborted."))
	s.On("RETR closed.txt", 0, testserver.Truncate(5))
	s.On("RETR reset.txt", 0, testserver.Reset(5))
	s.On("RETR busy.txt", 1, testserver.Reply("450 Busy."))
	s.On("RETR slow.txt", 0, testserver.Drip(1, 500*time.Millisecond))
	s.On("RETR silent.txt", 0, testserver.Silence())
	s.On("STOR full.txt", 0, testserver.Reply("452 Disk full."))
	s.On("STOR cut.txt", 0, testserver.Truncate(4), testserver.Reply("426 Aborted."))
	return s, nil
}

func startHTTP(ctx context.Context, elsewhere string) (*testserver.HTTP, error) {
	s, err := testserver.StartHTTP(ctx, "", func(s *testserver.HTTP) {
		s.Content, s.Users, s.Protected = labContent(), labUsers(), []string{"/private"}
		s.Redirects = map[string]testserver.Redirect{
			"/old": {Location: "/hello.txt"}, "/moved": {Location: "/hello.txt", Status: 301}, "/see": {Location: "/echo", Status: 303},
			"/temporary": {Location: "/echo", Status: 307}, "/permanent": {Location: "/echo", Status: 308}, "/found-echo": {Location: "/echo"}, "/moved-echo": {Location: "/echo", Status: 301},
			"/loop": {Location: "/loop"}, "/twice": {Location: "/old"}, "/relative/x": {Location: "../hello.txt"},
			"/to-file": {Location: "file:///etc/hostname"}, "/to-gopher": {Location: "gopher://127.0.0.1:70/"}, "/elsewhere": {Location: elsewhere + "/echo"},
			"/elsewhere-private": {Location: elsewhere + "/private/key.txt"}, "/to-private": {Location: "/private/key.txt"},
		}
	})
	if err != nil {
		return nil, err
	}
	s.On("GET /cut.txt", 0, testserver.Truncate(5))
	s.On("GET /reset.txt", 0, testserver.Reset(5))
	s.On("GET /busy.txt", 1, testserver.Status(503))
	s.On("GET /slow.txt", 0, testserver.Drip(1, 500*time.Millisecond))
	s.On("GET /silent.txt", 0, testserver.Silence())
	s.On("GET /closed.txt", 0, testserver.Close())
	s.On("GET /error.txt", 0, testserver.Status(500))
	s.On("GET /gone.txt", 0, testserver.Status(410))
	s.On("GET /chunks.txt", 0, testserver.Chunked())
	s.On("GET /nolength.txt", 0, testserver.ContentLength(-1))
	s.On("GET /odd", 0, testserver.Reply("who are you?"))
	s.On("GET /nobody", 0, testserver.Reply("HTTP/1.1 204 No Content\n"))
	s.On("GET /attached", 0, testserver.Header("Content-Disposition", `attachment; filename="given name.txt"`))
	s.On("GET /baking.txt", 0, testserver.Header("Set-Cookie", "a=b; path=/"))
	s.On("GET /zipped", 0, testserver.Header("Content-Encoding", "gzip"))
	return s, nil
}

// variable finds what a row names.
var variable = regexp.MustCompile(`\$\{?([A-Z]+)`)

func newLab(t *testing.T, r row, shared []*daemons, program int) *lab {
	t.Helper()
	l := &lab{
		dir: t.TempDir(), row: strings.ReplaceAll(r.name, "/", "-"),
		values: map[string]string{"CLOSED": "127.0.0.1:" + closedPort}, uploads: make(map[string]func() map[string][]byte), wishes: make(map[string]func() []string),
	}
	l.values["ROW"] = l.row
	if shared != nil {
		l.daemons = shared[program]
		l.daemons.prepare(t, l.row)
	}
	for _, m := range variable.FindAllStringSubmatch(r.command, -1) {
		if err := l.start(t, m[1]); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// closedPort is below those the system gives out and above those it reserves;
// nobody listens there on a machine that runs tests.
const closedPort = "1738"

// start starts the server that a variable names, once.
func (l *lab) start(t *testing.T, name string) error {
	if l.values[name] != "" {
		return nil
	}
	var s *testserver.Server
	if configure, ok := ftpKinds()[name]; ok {
		secured := func(*testserver.FTP) {}
		if strings.HasSuffix(name, "S") {
			if err := l.certify(t); err != nil {
				return err
			}
			secured = func(s *testserver.FTP) { s.TLS = l.tls }
		}
		ftp, err := startFTP(t.Context(), func(s *testserver.FTP) { configure(s); secured(s) })
		if err != nil {
			return err
		}
		s = &ftp.Server
	}
	switch name {
	case "HTTP":
		if err := l.start(t, "OTHER"); err != nil {
			return err
		}
		http, err := startHTTP(t.Context(), l.values["OTHER"])
		if err != nil {
			return err
		}
		s = &http.Server
	case "OTHER":
		http, err := startHTTP(t.Context(), "")
		if err != nil {
			return err
		}
		s = &http.Server
	case "GOPHER":
		gopher, err := testserver.StartGopher(t.Context(), "", func(s *testserver.Gopher) { s.Content, s.Host, s.Port = labContent(), "hole", 70 })
		if err != nil {
			return err
		}
		s = &gopher.Server
	case "TELNET":
		telnet, err := testserver.StartTelnet(t.Context(), "", func(s *testserver.Telnet) {
			s.Dialogue = []testserver.TelnetStep{{Command: "\xff\xfd\x18"}, {Say: "login: ", Hear: "lab"}, {Say: "welcome\r\nlab\r\n"}}
		})
		if err != nil {
			return err
		}
		s = &telnet.Server
	case "CA":
		return l.certify(t)
	case "HTTPS", "GOPHERS":
		if err := l.start(t, strings.TrimSuffix(name, "S")); err != nil {
			return err
		}
		return l.secure(t, name)
	case "PROXY", "CAUTIOUS":
		p, err := newRelay(name == "CAUTIOUS")
		if err != nil {
			return err
		}
		t.Cleanup(p.close)
		l.values[name], l.wishes[name] = p.Addr().String(), p.wishes
		return nil
	}
	if s == nil {
		return l.known(name)
	}
	t.Cleanup(func() { s.Close() })
	l.values[name], l.uploads[name] = s.URL, s.Uploads
	return nil
}

// known fails a row that names what does not exist: it would be the same for both
// programs, and nothing.
func (l *lab) known(name string) error {
	if name == "PWD" || name == "HOME" || l.daemonValues()[name] != "" {
		return nil
	}
	return fmt.Errorf("there is no $%s", name)
}

// secure puts TLS in front of a server.
func (l *lab) secure(t *testing.T, name string) error {
	if err := l.certify(t); err != nil {
		return err
	}
	scheme, behind, _ := strings.Cut(l.values[strings.TrimSuffix(name, "S")], "://")
	listener, err := tls.Listen("tcp", "127.0.0.1:0", l.tls)
	if err != nil {
		return err
	}
	r := &relay{Listener: listener, to: behind}
	r.run()
	t.Cleanup(r.close)
	l.values[name] = scheme + "s://" + listener.Addr().String()
	return nil
}

// certify makes a certificate for the servers. It is in $CA.
func (l *lab) certify(t *testing.T) error {
	if l.tls != nil {
		return nil
	}
	cert, key := selfSigned(t)
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return err
	}
	l.tls, l.values["CA"] = &tls.Config{Certificates: []tls.Certificate{pair}}, filepath.Join(l.dir, "ca.pem")
	return os.WriteFile(l.values["CA"], cert, 0o600)
}

// variables is the environment: $FTP is the URL, $FTPAT host and port of it.
func (l *lab) variables() (env []string) {
	values := l.values
	if l.daemons != nil {
		for name, value := range l.daemons.values {
			env = append(env, name+"="+value)
		}
	}
	for name, value := range values {
		env = append(env, name+"="+value)
		if _, addr, ok := strings.Cut(value, "://"); ok {
			env = append(env, name+"_AT="+addr)
		}
	}
	return env
}

// plain replaces what is another in each run: the ports of the servers and the
// directory of the row.
func (l *lab) plain(text string) string {
	text = strings.ReplaceAll(text, l.dir, "DIR")
	for _, values := range []map[string]string{l.values, l.daemonValues()} {
		for name, value := range values {
			if _, port, err := net.SplitHostPort(value[strings.LastIndexByte(value, '/')+1:]); err == nil && name != "CLOSED" {
				text = strings.ReplaceAll(text, ":"+port, ":"+name)
			}
		}
	}
	return text
}

func (l *lab) daemonValues() map[string]string {
	if l.daemons == nil {
		return nil
	}
	return l.daemons.values
}

// dataPort is the port of an FTP data connection, as it is in what a proxy is asked.
var dataPort = regexp.MustCompile(`:\d{5}$`)

// stored is what the program has put into the servers, and what it asked proxies.
func (l *lab) stored(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for name, uploads := range l.uploads {
		for file, data := range uploads() {
			all[name+" "+file] = string(data)
		}
	}
	for name, wishes := range l.wishes {
		for i, asked := range wishes() {
			all[fmt.Sprint(name, " ", i)] = dataPort.ReplaceAllString(l.plain(asked), ":data")
		}
	}
	if l.daemons != nil {
		for server, dir := range l.daemons.incoming {
			for file, text := range l.readTree(t, filepath.Join(dir, l.row)) {
				all[server+" "+file] = text
			}
		}
	}
	return all
}

// daemons are the servers that others wrote.
type daemons struct {
	values   map[string]string
	incoming map[string]string // directories that clients may write in, by variable
}

// startDaemons starts those that rows name, a set for each program; nil is none.
func startDaemons(t *testing.T, rows []row) []*daemons {
	t.Helper()
	named := make(map[string]bool)
	for _, r := range rows {
		for _, m := range variable.FindAllStringSubmatch(r.command, -1) {
			named[m[1]] = true
		}
	}
	nginx := named["NGINX"] || named["NGINXS"]
	if !named["VSFTPD"] && !nginx && !named["GOPHERNICUS"] {
		return nil
	}
	var sets []*daemons
	for range 2 {
		d := &daemons{values: make(map[string]string), incoming: make(map[string]string)}
		if named["VSFTPD"] {
			srv := startVsftpd(t)
			d.add(t, "VSFTPD", "ftp://"+srv.addr, srv.root, filepath.Join(srv.root, "incoming"))
		}
		if nginx {
			srv := startNginx(t)
			d.add(t, "NGINX", "http://"+srv.addr, srv.root, filepath.Join(filepath.Dir(srv.root), "dav"))
			d.values["NGINXS"], d.values["NGINXCA"] = "https://"+srv.secureAddr, filepath.Join(filepath.Dir(srv.root), "cert.pem")
		}
		if named["GOPHERNICUS"] {
			srv := startGophernicus(t)
			d.add(t, "GOPHERNICUS", "gopher://"+srv.addr, srv.root, "")
		}
		sets = append(sets, d)
	}
	return sets
}

func (d *daemons) add(t *testing.T, name, url, root, incoming string) {
	t.Helper()
	d.values[name] = url
	if incoming != "" {
		d.incoming[name] = incoming
	}
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, planted, planted)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// prepare makes the directory that a row may write in.
func (d *daemons) prepare(t *testing.T, row string) {
	t.Helper()
	for _, dir := range d.incoming {
		makeDir(t, filepath.Join(dir, row), 0o777)
	}
}
