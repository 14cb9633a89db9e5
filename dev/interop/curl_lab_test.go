package interop

import (
	"crypto/tls"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/testserver"
)

// A lab has the servers of one row for one program. Those of the project are new for each row.
// vsftpd, nginx and gophernicus are shared by the rows of a file, one of each for each program, and
// have a directory $ROW for what a row stores.
type lab struct {
	dir      string
	row      string
	values   map[string]string
	uploads  map[string]func() map[string][]byte // by variable
	requests map[string]func() []string          // requests that proxies received, by variable
	daemons  *daemons
	tls      *tls.Config // of the servers that have TLS; nil before the first one
}

// variable matches the variables that a row names.
var variable = regexp.MustCompile(`\$\{?([A-Z]+)`)

func newLab(t *testing.T, dir string, r row, shared []*daemons, program int) *lab {
	t.Helper()
	name := strings.ReplaceAll(r.name, "/", "-")
	l := &lab{
		dir: filepath.Join(dir, fmt.Sprint(name, ".", program)), row: name,
		values: map[string]string{"CLOSED": "127.0.0.1:" + closedPort}, uploads: make(map[string]func() map[string][]byte), requests: make(map[string]func() []string),
	}
	l.values["ROW"] = l.row
	makeDir(t, l.dir, 0o755)
	if shared != nil {
		l.daemons = shared[program]
		l.daemons.prepare(t, l.row)
	}
	for _, m := range variable.FindAllStringSubmatch(r.command, -1) {
		l.start(t, m[1])
	}
	return l
}

// closedPort is below the ports that the system assigns and above those it reserves. It has no
// listener on a host that runs tests.
const closedPort = "1738"

// start starts the server that a variable names, unless it runs. An unknown variable is an error:
// otherwise both programs would fail in the same way, and the row would test nothing.
func (l *lab) start(t *testing.T, name string) {
	t.Helper()
	switch configure, isFTP := ftpKinds()[name]; {
	case l.values[name] != "", name == "PWD", name == "HOME", l.daemonValues()[name] != "":
	case isFTP:
		var secured *tls.Config
		if strings.HasSuffix(name, "S") {
			l.certify(t)
			secured = l.tls
		}
		l.serve(t, name, &startFTP(t, secured, configure).Server)
	case name == "HTTP":
		l.start(t, "OTHER")
		l.serve(t, name, &startHTTP(t, l.values["OTHER"]).Server)
	case name == "OTHER":
		l.serve(t, name, &startHTTP(t, "").Server)
	case name == "GOPHER":
		l.serve(t, name, &startGopher(t).Server)
	case name == "TELNET":
		l.serve(t, name, &startTelnet(t).Server)
	case name == "HTTPS", name == "GOPHERS":
		l.start(t, strings.TrimSuffix(name, "S"))
		l.secure(t, name)
	case name == "CA":
		l.certify(t)
	case name == "PROXY", name == "CAUTIOUS":
		p, err := newRelay(name == "CAUTIOUS")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.close)
		l.values[name], l.requests[name] = p.Addr().String(), p.requests
	default:
		t.Fatalf("the table names $%s, which does not exist", name)
	}
}

func (l *lab) serve(t *testing.T, name string, s *testserver.Server) {
	t.Cleanup(func() { s.Close() })
	l.values[name], l.uploads[name] = s.URL, s.Uploads
}

// secure puts a TLS server in front of a server.
func (l *lab) secure(t *testing.T, name string) {
	t.Helper()
	l.certify(t)
	scheme, behind, _ := strings.Cut(l.values[strings.TrimSuffix(name, "S")], "://")
	listener, err := tls.Listen("tcp", "127.0.0.1:0", l.tls)
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: listener, to: behind}
	r.run()
	t.Cleanup(r.close)
	l.values[name] = scheme + "s://" + listener.Addr().String()
}

// certify creates a certificate for the servers. It is in $CA.
func (l *lab) certify(t *testing.T) {
	t.Helper()
	if l.tls != nil {
		return
	}
	cert, key := selfSigned(t)
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	l.tls, l.values["CA"] = &tls.Config{Certificates: []tls.Certificate{pair}}, filepath.Join(l.dir, "ca.pem")
	writeFile(t, l.values["CA"], string(cert))
}

// variables returns the environment: $FTP is the URL of a server, $FTP_AT its host and port.
func (l *lab) variables() (env []string) {
	for name, value := range l.daemonValues() {
		env = append(env, name+"="+value)
	}
	for name, value := range l.values {
		env = append(env, name+"="+value)
		if _, addr, ok := strings.Cut(value, "://"); ok {
			env = append(env, name+"_AT="+addr)
		}
	}
	return env
}

// plain replaces what differs in each run: the ports of the servers and the directory of the row.
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

// dataPort matches the port of an FTP data connection in a request to a proxy.
var dataPort = regexp.MustCompile(`:\d{5}$`)

// stored returns what the program has stored in the servers, and what it requested from proxies.
func (l *lab) stored(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for name, uploads := range l.uploads {
		for file, data := range uploads() {
			all[name+" "+file] = string(data)
		}
	}
	for name, requests := range l.requests {
		for i, asked := range requests() {
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

// daemons are the third-party servers.
type daemons struct {
	values   map[string]string
	incoming map[string]string // directories that clients may write to, by variable
}

// startDaemons starts those that rows name, a set for each program. A nil set means that the rows
// name none.
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

// prepare creates the directory that a row may write to.
func (d *daemons) prepare(t *testing.T, row string) {
	t.Helper()
	for _, dir := range d.incoming {
		makeDir(t, filepath.Join(dir, row), 0o777)
	}
}
