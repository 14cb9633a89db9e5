// Package inn runs INN, the news server of the ISC, for tests. It uses Debian's package inn2 with
// its own configuration and spool in a temporary folder. Nothing else on the host is changed.
package inn

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
)

// The account of the server, which can read local.private.
const (
	User     = "lab"
	Password = "s3cret"
)

// passwordHash is crypt(3) of Password, as openssl passwd -1 prints it. INN's own program compares
// them: nnrpd takes a password for wrong after five seconds, which a script that starts other
// programs exceeds on a busy machine.
const passwordHash = "$1$fetch173$zSZenLcS3gDykoNit2ZIh/"

// Descriptions are the descriptions of its groups.
var Descriptions = map[string]string{
	"local.test": "Tests, gr\xc3\xbcn", "local.bench": "Many articles", "local.empty": "Nothing", "local.private": "For the account",
}

// Server is a running INN.
type Server struct {
	// Addr is its host and port. INN treats clients on this host as other servers until they send
	// MODE READER.
	Addr string

	dir string
	tls string // the configuration's lines about TLS
}

const programs = "/usr/lib/news/bin"

// Start runs a server until the test ends. If cert and key, in PEM, are given, it has STARTTLS. If
// INN is not installed or may not be started, the test is skipped; in CI it fails.
func Start(tb testing.TB, cert, key []byte) *Server {
	tb.Helper()
	require(tb)
	s := &Server{Addr: daemon.FreeAddr(tb), dir: folder(tb)}
	if cert != nil {
		s.tls = strings.ReplaceAll("tlscertfile: DIR/cert.pem\ntlskeyfile: DIR/key.pem\ntlscafile: DIR/cert.pem\n", "DIR", s.dir+"/etc")
	}
	s.configure(tb, cert, key)
	s.initialize(tb)
	s.run(tb)
	return s
}

// require skips the test if INN cannot be started; in CI it fails.
func require(tb testing.TB) {
	tb.Helper()
	missing := ""
	if _, err := os.Stat(programs + "/innd"); err != nil {
		missing = "inn2 is not installed"
	} else if os.Geteuid() != 0 {
		missing = "INN must be started by root"
	}
	switch {
	case missing == "":
	case os.Getenv("CI") != "":
		tb.Fatal(missing)
	default:
		tb.Skip(missing)
	}
}

// folder creates a folder that the user news can access.
func folder(tb testing.TB) string {
	dir := tb.TempDir()
	for d := dir; d != os.TempDir() && len(d) > 1; d = filepath.Dir(d) {
		check(tb, os.Chmod(d, 0o755))
	}
	return dir
}

func check(tb testing.TB, errs ...error) {
	tb.Helper()
	if err := errors.Join(errs...); err != nil {
		tb.Fatal(err)
	}
}

// configure writes INN's configuration.
func (s *Server) configure(tb testing.TB, cert, key []byte) {
	tb.Helper()
	_, port, _ := net.SplitHostPort(s.Addr)
	for _, dir := range []string{"etc", "filter", "run", "db", "log", "spool/articles", "spool/overview", "spool/incoming/bad", "spool/incoming/tmp", "spool/outgoing", "spool/archive", "spool/innfeed"} {
		check(tb, os.MkdirAll(filepath.Join(s.dir, dir), 0o755))
	}
	files := map[string]string{
		"inn.conf": strings.NewReplacer("DIR", s.dir, "PORT", port).Replace(`
mta: "/bin/false %s"
organization: "interop"
ovmethod: tradindexed
hismethod: hisv6
pathhost: news.example.test
domain: example.test
fromhost: example.test
pathnews: /usr/lib/news
pathetc: DIR/etc
pathfilter: DIR/filter
pathrun: DIR/run
pathdb: DIR/db
pathlog: DIR/log
pathspool: DIR/spool
patharticles: DIR/spool/articles
pathoverview: DIR/spool/overview
pathincoming: DIR/spool/incoming
pathoutgoing: DIR/spool/outgoing
patharchive: DIR/spool/archive
pathtmp: DIR/spool/incoming/tmp
runasuser: news
runasgroup: news
port: PORT
bindaddress: 127.0.0.1
nnrpdpostport: PORT
maxartsize: 20000000
localmaxartsize: 20000000
artcutoff: 0
maxconnections: 50
nnrpdloadlimit: 0
enableoverview: true
groupbaseexpiry: true
pgpverify: false
icdsynccount: 1
`) + s.tls,
		"storage.conf": "method tradspool {\n newsgroups: *\n class: 0\n}\n",
		"newsfeeds":    "ME:!*/!local::\n",
		"readers.conf": fmt.Sprintf(`auth "anyone" {
    hosts: "127.0.0.1"
    auth: "ckpasswd -f %s/etc/newsusers"
    default: "<anon>"
}
access "anon" {
    users: "<anon>"
    newsgroups: "*,!local.private"
    access: "RP"
}
access "user" {
    users: "%s*"
    newsgroups: "*"
    access: "RP"
}
`, s.dir, User),
		"newsusers":     User + ":" + passwordHash + "\n",
		"incoming.conf": "peer ME {\n hostname: \"127.0.0.1\"\n}\n",
		"expire.ctl":    "/remember/:11\n*:A:1:never:never\n",
		"cert.pem":      string(cert), "key.pem": string(key),
		"control.ctl": "", "moderators": "", "distrib.pats": "", "subscriptions": "", "inn-secrets.conf": "", "nnrpd.track": "",
	}
	for name, text := range files {
		check(tb, os.WriteFile(filepath.Join(s.dir, "etc", name), []byte(text), 0o644))
	}
	check(tb, os.Chmod(filepath.Join(s.dir, "etc/key.pem"), 0o640))
	var active, times, newsgroups strings.Builder
	for _, name := range []string{"control", "control.cancel", "junk", "local.test", "local.bench", "local.empty", "local.private"} {
		fmt.Fprintf(&active, "%s 0000000000 0000000001 y\n", name)
		fmt.Fprintf(&times, "%s %d news@example.test\n", name, time.Now().Unix())
		if text := Descriptions[name]; text != "" {
			fmt.Fprintf(&newsgroups, "%s\t%s\n", name, text)
		}
	}
	for name, text := range map[string]string{"active": active.String(), "active.times": times.String(), "newsgroups": newsgroups.String(), "history": ""} {
		check(tb, os.WriteFile(filepath.Join(s.dir, "db", name), []byte(text), 0o644))
	}
}

// command returns a program of INN.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "INNCONF=" + s.dir + "/etc/inn.conf", "HOME=" + s.dir, "TZ=UTC"}
	return cmd
}

// initialize makes the user news the owner of all files and creates the index of the history.
func (s *Server) initialize(tb testing.TB) {
	tb.Helper()
	news, err := user.Lookup("news")
	check(tb, err)
	uid, _ := strconv.Atoi(news.Uid)
	gid, _ := strconv.Atoi(news.Gid)
	check(tb, filepath.Walk(s.dir, func(name string, _ os.FileInfo, err error) error {
		return errors.Join(err, os.Lchown(name, uid, gid))
	}))
	cmd := s.command(programs+"/makedbz", "-i", "-o", "-s", "50000", "-f", s.dir+"/db/history")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %v: %s", cmd, err, out)
	}
}

// run starts innd and waits for its greeting.
func (s *Server) run(tb testing.TB) {
	tb.Helper()
	_, port, _ := net.SplitHostPort(s.Addr)
	p := daemon.Start(tb, s.command(programs+"/innd", "-f", "-P", port, "-4", "127.0.0.1")) // this also runs the nnrpd of each reader
	p.Await(tb, s.Addr)
	p.AwaitThat(tb, "greets", s.greets)
}

// greets reports whether the server accepts a connection and is ready.
func (s *Server) greets() bool {
	c, err := net.Dial("tcp", s.Addr)
	if err != nil {
		return false
	}
	defer c.Close()
	line, err := bufio.NewReader(c).ReadString('\n')
	return err == nil && strings.HasPrefix(line, "20")
}

// Feed sends articles as another server does (TAKETHIS, RFC 4644), all at once. Each is a whole
// article whose Message-ID is its key.
func (s *Server) Feed(tb testing.TB, articles map[string][]byte) {
	tb.Helper()
	c, err := net.Dial("tcp", s.Addr)
	check(tb, err)
	defer c.Close()
	lines := bufio.NewReader(c)
	_, err = lines.ReadString('\n')
	check(tb, err)
	failed := make(chan error, 1)
	go func() {
		out := bufio.NewWriter(c)
		fmt.Fprint(out, "MODE STREAM\r\n")
		for id, text := range articles {
			fmt.Fprintf(out, "TAKETHIS %s\r\n", id)
			for line := range bytes.SplitAfterSeq(text, []byte("\r\n")) {
				if bytes.HasPrefix(line, []byte(".")) {
					out.WriteByte('.')
				}
				out.Write(line)
			}
			out.WriteString(".\r\n")
		}
		fmt.Fprint(out, "QUIT\r\n")
		failed <- out.Flush()
	}()
	taken := 0
	for {
		line, err := lines.ReadString('\n')
		check(tb, err)
		switch {
		case strings.HasPrefix(line, "239"):
			taken++
		case strings.HasPrefix(line, "205"):
			check(tb, <-failed)
			if taken != len(articles) {
				tb.Fatalf("INN has taken %d of %d articles", taken, len(articles))
			}
			return
		case !strings.HasPrefix(line, "203"):
			tb.Logf("INN says %q", line)
		}
	}
}
