package interop

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
)

// httpVersion is the version of HTTP that the command and these servers agree on, as -w
// '%{http_version}' shows it.
const httpVersion = "2"

// http2Servers are five implementations of HTTP/2; that of Apache is nghttp2. All serve the files of
// the nginx that runs beside them. HAProxy asks it for everything, and h2o for uploads.
//
// In a configuration, $DIR is a directory of the server; $ROOT has the files, $DAV those of uploads;
// $ADDR is the address for TLS, $CLEAR that without, $PLAIN that of nginx; $USER is a setting.
var http2Servers = []struct {
	name, program string
	args          []string
	user          string // if started as root
	config        string
}{
	{name: "nginx"},
	{name: "apache", program: "apache2", args: []string{"-DFOREGROUND", "-f"}, user: "User nobody\nGroup nogroup", config: `
$USER
ServerRoot /usr/lib/apache2
ServerName 127.0.0.1
DefaultRuntimeDir $DIR
PidFile $DIR/pid
ErrorLog /dev/stderr
LoadModule mpm_event_module modules/mod_mpm_event.so
LoadModule authz_core_module modules/mod_authz_core.so
LoadModule alias_module modules/mod_alias.so
LoadModule autoindex_module modules/mod_autoindex.so
LoadModule ssl_module modules/mod_ssl.so
LoadModule http2_module modules/mod_http2.so
LoadModule dav_module modules/mod_dav.so
LoadModule dav_fs_module modules/mod_dav_fs.so
Listen $ADDR
Listen $CLEAR
Protocols h2 h2c http/1.1
DocumentRoot $ROOT
Alias /dav $DAV
DavLockDB $DIR/locks
<Directory $ROOT>
  Options Indexes
  IndexOptions FancyIndexing
</Directory>
<Directory $DAV>
  Dav on
</Directory>
<VirtualHost $ADDR>
  SSLEngine on
  SSLCertificateFile $DIR/both.pem
</VirtualHost>
`},
	{name: "h2o", program: "h2o", args: []string{"-c"}, user: "user: nobody", config: `
$USER
num-threads: 2
listen: {host: $HOST, port: $PORT, ssl: {certificate-file: $DIR/both.pem, key-file: $DIR/both.pem}}
listen: {host: $HOST, port: $CLEARPORT}
hosts:
  default:
    paths:
      /: {file.dir: $ROOT, file.dirlisting: ON}
      /dav: {proxy.reverse.url: "http://$PLAIN/dav"}
`},
	{name: "haproxy", program: "haproxy", args: []string{"-db", "-f"}, user: "user nobody", config: `
global
  $USER
defaults
  mode http
  timeout connect 1m
  timeout client 1m
  timeout server 1m
frontend all
  bind $ADDR ssl crt $DIR/both.pem alpn h2,http/1.1
  bind $CLEAR
  default_backend nginx
backend nginx
  server nginx $PLAIN
`},
	{name: "lighttpd", program: "lighttpd", args: []string{"-D", "-f"}, user: `server.username = "nobody"`, config: `
$USER
server.modules = ("mod_openssl", "mod_alias", "mod_webdav", "mod_dirlisting")
dir-listing.activate = "enable"
server.bind = "$HOST"
server.port = $PORT
server.document-root = "$ROOT"
server.upload-dirs = ("$DIR")
ssl.engine = "enable"
ssl.pemfile = "$DIR/both.pem"
alias.url = ("/dav/" => "$DAV/")
$SERVER["socket"] == "$CLEAR" { ssl.engine = "disable" }
$HTTP["url"] =~ "^/dav/" { webdav.activate = "enable" }
`},
}

// http2Lab is a server that speaks HTTP/2, and the command.
type http2Lab struct {
	command, cert     string
	addr, clear       string // clear, without TLS, is empty for nginx
	root, dav, output string
}

// startHTTP2 starts a server of http2Servers, with an nginx beside it.
func startHTTP2(t *testing.T, n int) *http2Lab {
	t.Helper()
	s, behind := http2Servers[n], startNginx(t)
	above := filepath.Dir(behind.root)
	lab := &http2Lab{
		command: buildCommand(t), cert: filepath.Join(above, "cert.pem"), addr: behind.secureAddr,
		root: behind.root, dav: filepath.Join(above, "dav"), output: t.TempDir(),
	}
	if s.name == "nginx" {
		return lab
	}
	program, dir, user := requireTool(t, s.program), serverDir(t), ""
	makeDir(t, dir, 0o777)
	lab.addr, lab.clear = daemon.FreeAddr(t), daemon.FreeAddr(t)
	host, port, _ := net.SplitHostPort(lab.addr)
	_, clear, _ := net.SplitHostPort(lab.clear)
	if os.Geteuid() == 0 {
		user = s.user
	}
	var both []byte
	for _, name := range []string{"cert.pem", "key.pem"} {
		data, err := os.ReadFile(filepath.Join(above, name))
		if err != nil {
			t.Fatal(err)
		}
		both = append(both, data...)
	}
	writeFile(t, filepath.Join(dir, "both.pem"), string(both))
	config := filepath.Join(dir, "config")
	writeFile(t, config, strings.NewReplacer("$DIR", dir, "$ROOT", lab.root, "$DAV", lab.dav, "$ADDR", lab.addr, "$HOST", host, "$PORT", port,
		"$CLEARPORT", clear, "$CLEAR", lab.clear, "$PLAIN", behind.addr, "$USER", user).Replace(s.config))
	daemon.Start(t, exec.Command(program, append(slices.Clone(s.args), config)...)).Await(t, lab.addr, lab.clear)
	return lab
}

// run runs a program that understands the options of curl, and returns what -w writes: the version of
// HTTP and the status of each transfer. All must be as wanted.
func (l *http2Lab) run(t *testing.T, program, version string, status, transfers int, args ...string) {
	t.Helper()
	out, code := runTool(t, program, append([]string{"-qsS", "--cacert", l.cert, "--output-dir", l.output, "-w", `%{http_version} %{response_code}\n`}, args...)...)
	want := strings.Repeat(fmt.Sprintf("%s %d\n", version, status), transfers)
	if code != 0 || out != want {
		t.Errorf("%q: exit code %d, -w says %.100q, not %.100q", args, code, out, want)
	}
}

// received compares a file in the output directory with what was to come, and returns it.
func (l *http2Lab) received(t *testing.T, name string, want []byte) {
	t.Helper()
	if got, err := os.ReadFile(filepath.Join(l.output, name)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes, not the %d of the server, %v", name, len(got), len(want), err)
	}
}

// Each server does the same for the command as by HTTP/1.1.
func TestHTTP2Servers(t *testing.T) {
	t.Parallel()
	for n, s := range http2Servers {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			lab := startHTTP2(t, n)
			lab.run(t, requireTool(t, "curl"), "2", 200, 1, "-o", "curl", "https://"+lab.addr+"/x.txt") // the server does speak it
			for name, do := range map[string]func(*testing.T){"documents": lab.documents, "parts": lab.parts, "parallel": lab.parallel, "uploads": lab.uploads} {
				t.Run(name, do)
			}
		})
	}
}

func (l *http2Lab) documents(t *testing.T) {
	data, url := randomOctets(5<<20), "https://"+l.addr
	writeFile(t, filepath.Join(l.root, "5M"), string(data))
	l.run(t, l.command, httpVersion, 200, 2, "-o", "small", "-o", "5M", url+"/a/b/c.txt", url+"/5M")
	l.received(t, "small", []byte(text))
	l.received(t, "5M", data)
	l.run(t, l.command, httpVersion, 200, 1, "-I", "-o", "head", url+"/5M")
	head, err := os.ReadFile(filepath.Join(l.output, "head"))
	if err != nil || !strings.Contains(strings.ToLower(string(head)), fmt.Sprintf("content-length: %d\r\n", len(data))) {
		t.Errorf("-I shows %q, %v", head, err)
	}
	l.run(t, l.command, httpVersion, 404, 1, "-o", "missing", url+"/missing")
	if _, code := runTool(t, l.command, "-qsf", "--cacert", l.cert, url+"/missing"); code != 22 {
		t.Errorf("-f of what is missing: exit code %d", code)
	}
}

func (l *http2Lab) parts(t *testing.T) {
	url := "https://" + l.addr + "/pub/rand.bin"
	l.run(t, l.command, httpVersion, 206, 1, "-r", "1000-1999", "-o", "range", url)
	l.received(t, "range", binary[1000:2000])
	l.run(t, l.command, httpVersion, 206, 1, "-r", "-50", "-o", "end", url)
	l.received(t, "end", binary[len(binary)-50:])
	for _, has := range []int{30_000, len(binary)} { // the second one has nothing left to fetch
		writeFile(t, filepath.Join(l.output, "resumed"), string(binary[:has]))
		l.run(t, l.command, httpVersion, 206, 1, "-C", "-", "-o", "resumed", url)
		l.received(t, "resumed", binary)
	}
}

func (l *http2Lab) parallel(t *testing.T) {
	const files = 100
	data := randomOctets(files * 4 << 10)
	makeDir(t, filepath.Join(l.root, "many"), 0o755)
	for i := range files {
		writeFile(t, filepath.Join(l.root, "many", fmt.Sprint(i)), string(data[i*4<<10:(i+1)*4<<10]))
	}
	l.run(t, l.command, httpVersion, 200, files, "-Z", "-o", "many#1", fmt.Sprintf("https://%s/many/[0-%d]", l.addr, files-1))
	for i := range files {
		l.received(t, fmt.Sprint("many", i), data[i*4<<10:(i+1)*4<<10])
	}
}

func (l *http2Lab) uploads(t *testing.T) {
	for status, data := range map[int][]byte{201: []byte(text), 204: randomOctets(3 << 20)} { // created, replaced
		name := filepath.Join(l.dav, fmt.Sprint(status))
		if status == 204 {
			writeFile(t, name, "old")
			if err := os.Chmod(name, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join(t.TempDir(), "file")
		writeFile(t, file, string(data))
		l.run(t, l.command, httpVersion, status, 1, "-o", "reply", "-T", file, fmt.Sprintf("https://%s/dav/%d", l.addr, status))
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, data) {
			t.Errorf("the server has %d bytes of %d, %v", len(got), len(data), err)
		}
	}
}

// Without TLS the command speaks HTTP/2 at once if it is told that the server does. The nginx above
// does not: it would speak nothing else on that port.
func TestHTTP2PriorKnowledge(t *testing.T) {
	t.Parallel()
	for n, s := range http2Servers[1:] {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			lab := startHTTP2(t, n+1)
			url := "http://" + lab.clear + "/pub/rand.bin"
			lab.run(t, requireTool(t, "curl"), "2", 200, 1, "--http2-prior-knowledge", "-o", "curl", url)
			args := []string{"-o", "one", "-o", "two", url, url}
			if httpVersion == "2" {
				args = append(args, "--http2-prior-knowledge")
			}
			lab.run(t, lab.command, httpVersion, 200, 2, args...)
			lab.received(t, "one", binary)
			lab.received(t, "two", binary)
		})
	}
}
