package ftpservers

import (
	"net"
	"path/filepath"
	"slices"
	"testing"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
)

// StartPureFTPd runs pure-ftpd with more options than [Kind.Start] gives it, such as a quota.
func StartPureFTPd(tb testing.TB, root string, options ...string) *Server {
	tb.Helper()
	asRoot(tb, "pure-ftpd")
	s := &Server{Kind: Named(tb, "pure-ftpd"), Addr: daemon.FreeAddr(tb), Root: root, dir: openDir(tb)}
	host, port, _ := net.SplitHostPort(s.Addr)
	args := []string{"-S", host + "," + port, "-l", "unix", "-c", "500", "-A", "-H", "-u", "1", "-g", filepath.Join(s.dir, "pid")}
	s.run(tb, program(tb, "pure-ftpd"), slices.Concat(args, options)...)
	return s
}

// Modules is the directory with the modules of proftpd, for a setting LoadModule.
const Modules = unpacked + "proftpd/usr/lib/proftpd"
