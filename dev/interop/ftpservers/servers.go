// Package ftpservers runs FTP servers for tests: those of Debian, of PyPI, npm and Go that people
// use, and that of package testserver. Each has its own configuration in a temporary directory, and
// shows its usual greeting. Nothing on the host is changed.
package ftpservers

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
)

// The account that every server has. Its user id is that of [Own]. Each server has the anonymous
// account, too, which may not write everywhere.
const (
	User     = "lab"
	Password = "secret"
	hash     = "$6$interop1738$dMIthdquXHw2JUg4ClLiUSgMNNH2GvMUb8xFSBhmz9YGSbzksw/ey6W307qbELssGzcBAB.pCXZBul.m0o2HI."
	userID   = 65002
)

// An Ability is what a client can ask of some servers, and not of others.
type Ability string

// The abilities of servers.
const (
	MLSD      Ability = "MLSD"
	EPSV      Ability = "EPSV"
	REST      Ability = "REST"     // RETR from an offset
	RestSTOR  Ability = "RestSTOR" // STOR from an offset
	APPE      Ability = "APPE"
	MFMT      Ability = "MFMT"
	EPRT      Ability = "EPRT"
	Explicit  Ability = "Explicit"  // AUTH TLS
	Implicit  Ability = "Implicit"  // TLS from the start
	ClearData Ability = "ClearData" // PROT C
	IPv6      Ability = "IPv6"
	Symlinks  Ability = "Symlinks" // as directories
	UTF8      Ability = "UTF8"     // in names
	Latin1    Ability = "Latin1"   // names that are not UTF-8
	TypeA     Ability = "TypeA"    // TYPE A
)

// A Kind is a server program.
type Kind struct {
	Name string
	// Greeting is a part of its first reply.
	Greeting string
	// Unconfined means that the directory after the login is the server's Root in the file system of
	// the host. Otherwise it is "/".
	Unconfined bool
	// Alone, if not empty, is why a test runs one client of it at a time.
	Alone string
	// Lacks has what the server does not offer, and why.
	Lacks map[Ability]string
	start func(testing.TB, *Server)
}

// Can reports whether the server offers all of what is wanted.
func (k *Kind) Can(wanted ...Ability) bool {
	for _, a := range wanted {
		if k.Lacks[a] != "" {
			return false
		}
	}
	return true
}

// A Server is a running server, or one to start.
type Server struct {
	Kind *Kind
	// Addr is its host and port.
	Addr string
	// Root is the directory that it serves.
	Root string
	// TLS is Explicit, Implicit, or empty.
	TLS Ability
	// PEM is a file with the certificate and its key.
	PEM string
	// Settings are lines that are added to the configuration of vsftpd and proftpd. For inetutils-ftpd,
	// they are options of tcpsvd, which runs it.
	Settings []string

	dir     string                   // of its configuration
	uploads func() map[string][]byte // files that it keeps in memory
}

// Kinds returns all servers. The order is that of the documentation.
func Kinds() []*Kind {
	const noCommand, noTLS = "it has no such command", "it has no TLS"
	return []*Kind{
		{Name: "vsftpd", Greeting: "(vsFTPd 3.", Unconfined: true, start: startVsftpd, Lacks: map[Ability]string{
			MLSD: noCommand, MFMT: noCommand,
		}},
		{Name: "proftpd", Greeting: "ProFTPD Server (", Unconfined: true, start: startProftpd},
		{Name: "pure-ftpd", Greeting: "Welcome to Pure-FTPd", start: startPureFTPd, Lacks: map[Ability]string{
			Implicit: "it has AUTH TLS only",
		}},
		{Name: "inetutils-ftpd", Greeting: "(GNU inetutils 2.", Unconfined: true, start: startInetutils, Lacks: map[Ability]string{
			MLSD: noCommand, MFMT: noCommand, Explicit: noTLS, Implicit: noTLS, IPv6: "tcpsvd, which runs it, has IPv4 only",
		}},
		{Name: "pyftpdlib", Greeting: "pyftpdlib 1.", start: startPython("pyftpdlib"), Alone: "a transfer in active mode stops those of other clients, curl among them", Lacks: map[Ability]string{
			Implicit: "it has AUTH TLS only", Latin1: "it decodes names as UTF-8",
		}},
		{Name: "twisted", Greeting: "Twisted 22.", start: startPython("twisted"), Lacks: map[Ability]string{
			MLSD: noCommand, EPSV: noCommand, REST: noCommand, APPE: noCommand, MFMT: noCommand, EPRT: noCommand,
			Explicit: noTLS, Implicit: noTLS, IPv6: "PASV is for IPv4", UTF8: "it decodes names as Latin-1",
			Latin1: "it encodes names as UTF-8", TypeA: "it fails in Python 3",
		}},
		{Name: "ftp-srv", Greeting: "Ready", start: startNode("ftp-srv"), Lacks: map[Ability]string{
			MLSD: noCommand, MFMT: noCommand, RestSTOR: "STOR after REST leaves the octets before the offset out",
			Explicit: "it replies to AUTH before it expects TLS, so that the handshake often fails", Latin1: "Node decodes names as UTF-8",
		}},
		{Name: "nodeftpd", Greeting: "FTP server (nodeftpd) ready", start: startNode("nodeftpd"), Lacks: map[Ability]string{
			MLSD: noCommand, REST: noCommand, RestSTOR: noCommand, MFMT: noCommand,
			Explicit: "it needs an older Node", Implicit: "it has AUTH TLS only", Latin1: "Node decodes names as UTF-8",
		}},
		{Name: "ftpserverlib", Greeting: "ready", start: startGo("ftpserverlib")},
		{Name: "goftp", Greeting: "Welcome to the Go FTP Server", start: startGo("goftp"), Lacks: map[Ability]string{
			APPE: "APPE replaces the file", RestSTOR: "STOR after REST appends", MFMT: noCommand,
			ClearData: "PROT C has no effect", Implicit: "it refuses PROT there", Symlinks: "a link to a directory is a file",
		}},
		{Name: "testserver", Greeting: "testserver ready", start: startOwn, Lacks: map[Ability]string{
			Latin1: "names of an fs.FS are UTF-8",
		}},
	}
}

// Named returns the kind of that name.
func Named(tb testing.TB, name string) *Kind {
	tb.Helper()
	for _, k := range Kinds() {
		if k.Name == name {
			return k
		}
	}
	tb.Fatalf("no FTP server is named %s", name)
	return nil
}

// Start runs s, whose Root and other fields are set, until the test ends. It chooses an address on
// 127.0.0.1, unless s has one. If the server is not installed or may not be started, the test is
// skipped; in CI it fails.
func (k *Kind) Start(tb testing.TB, s *Server) *Server {
	tb.Helper()
	s.Kind = k
	if s.Addr == "" {
		s.Addr = daemon.FreeAddr(tb)
	}
	s.dir = openDir(tb)
	k.start(tb, s)
	return s
}

// Home returns the directory after the login of the account, as the server shows it.
func (s *Server) Home() string {
	if s.Kind.Unconfined {
		return s.Root
	}
	return "/"
}

// Own gives the account of the servers the directory and what is in it.
func Own(tb testing.TB, dir string) {
	tb.Helper()
	if os.Geteuid() != 0 {
		return
	}
	check(tb, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, userID, 65534))
	}))
}

// ReadFile returns a file of the server, which a client may have stored, without asking the server.
func (s *Server) ReadFile(name string) ([]byte, error) {
	if s.uploads != nil {
		if data, ok := s.uploads()[name]; ok {
			return data, nil
		}
	}
	return os.ReadFile(filepath.Join(s.Root, name))
}

// openDir creates a directory that a server that runs as another user can read.
func openDir(tb testing.TB) string {
	tb.Helper()
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

// missing skips a test, which needs what is not there; in CI it fails.
func missing(tb testing.TB, what string) {
	tb.Helper()
	if os.Getenv("CI") != "" {
		tb.Fatal(what)
	}
	tb.Skip(what)
}

// program returns the path of a program that the test needs.
func program(tb testing.TB, name string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(tb, name+" is not installed (.ci/packages installs it)")
	}
	return path
}

// asRoot requires that the test may start a server that changes its user.
func asRoot(tb testing.TB, name string) {
	tb.Helper()
	if os.Geteuid() != 0 {
		missing(tb, name+" must be started by root")
	}
}

// folder returns the directory of this package, whose programs are run from there.
func folder(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	check(tb, err)
	for ; ; dir = filepath.Dir(dir) {
		if b, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && strings.HasPrefix(string(b), "module github.com/fetch1738/fetch1738\n") {
			return filepath.Join(dir, "dev", "interop", "ftpservers")
		}
		if dir == filepath.Dir(dir) {
			tb.Fatal("the test does not run below the module's directory")
		}
	}
}
