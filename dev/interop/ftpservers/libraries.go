package ftpservers

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
)

// arguments returns the arguments of the programs in this directory.
func (s *Server) arguments() []string {
	host, port, _ := net.SplitHostPort(s.Addr)
	switch s.TLS {
	case Explicit:
		return []string{host, port, s.Root, "explicit", s.PEM}
	case Implicit:
		return []string{host, port, s.Root, "implicit", s.PEM}
	}
	return []string{host, port, s.Root}
}

// startPython returns the start function of a server of Debian's Python.
func startPython(name string) func(testing.TB, *Server) {
	return func(tb testing.TB, s *Server) {
		tb.Helper()
		const python = "/usr/bin/python3" // another one in PATH does not see Debian's packages
		if exec.Command(python, "-c", "import "+name).Run() != nil {
			missing(tb, "python3-"+name+" is not installed (.ci/packages installs it)")
		}
		script := filepath.Join(folder(tb), "serve_"+name+".py")
		daemon.Start(tb, exec.Command(python, append([]string{"-B", script}, s.arguments()...)...)).Await(tb, s.Addr)
	}
}

// startNode returns the start function of a server of npm.
func startNode(name string) func(testing.TB, *Server) {
	return func(tb testing.TB, s *Server) {
		tb.Helper()
		node := program(tb, "node")
		dir := folder(tb)
		if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
			missing(tb, "the packages of dev/interop/ftpservers are not installed (npm ci --ignore-scripts --prefix dev/interop/ftpservers)")
		}
		args := append([]string{"--no-deprecation", filepath.Join(dir, "serve.mjs"), name}, s.arguments()...)
		daemon.Start(tb, exec.Command(node, args...)).Await(tb, s.Addr)
	}
}

// startGo returns the start function of a server in the module goservers.
func startGo(name string) func(testing.TB, *Server) {
	return func(tb testing.TB, s *Server) {
		tb.Helper()
		dir := filepath.Join(folder(tb), "goservers")
		if modules(dir) != nil {
			missing(tb, "the modules of dev/interop/ftpservers/goservers are not there (cd dev/interop/ftpservers/goservers && go mod download)")
		}
		args := append([]string{"run", "-C", dir, ".", name}, s.arguments()...)
		daemon.Start(tb, exec.Command("go", args...)).Await(tb, s.Addr)
	}
}

// modules reports whether the modules of goservers are on this machine, without the network if the
// test can be skipped.
func modules(dir string) error {
	cmd := exec.Command("go", "list", "-C", dir, "-deps", ".")
	if os.Getenv("CI") == "" {
		cmd.Env = append(os.Environ(), "GOPROXY=off")
	}
	return cmd.Run()
}
