package interop

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
	"github.com/fetch1738/fetch1738/dev/interop/ftpservers"
)

const operationsAtOnce = 2 // at a server; they mostly wait for it

// noPipelining shows whether pipelining is the reason of a failure.
var noPipelining = flag.Bool("no-pipelining", false, "have TestFTPServers send one command at a time")

// TestFTPServers has each server of package ftpservers serve the operations of
// testdata/ftp/operations.txt. What comes, and what is stored, is compared by sha256. All servers
// run at once.
func TestFTPServers(t *testing.T) {
	t.Parallel()
	table := readOperations(t)
	m := newMatrix(t)
	var servers sync.WaitGroup
	for _, kind := range ftpservers.Kinds() {
		servers.Go(func() {
			t.Run(kind.Name, func(t *testing.T) {
				site := m.start(t, kind)
				atOnce := operationsAtOnce
				if kind.Alone != "" {
					atOnce = 1
				}
				turns := make(chan struct{}, atOnce)
				var rows sync.WaitGroup
				for _, o := range table {
					turns <- struct{}{}
					rows.Go(func() {
						defer func() { <-turns }()
						t.Run(strings.ReplaceAll(o.name, "/", "-"), func(t *testing.T) { site.check(t, o) })
					})
				}
				rows.Wait()
			})
		})
	}
	servers.Wait()
}

// A matrix is what all servers share.
type matrix struct {
	tree string // the directory that they serve
	bin  string // the directory with fetch1738
	pem  string
	work string // the directories of commands; they stay until the end, because ext4 creates files slowly while many are being removed

	mu     sync.Mutex
	wanted map[string]written // by command
}

// written has the sha256 sums of the files that a command wrote, by name; "" is its output.
// Directories have no sum.
type written map[string]string

// differences says what is not as wanted.
func (w written) differences(wanted written) (d []string) {
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		switch sum, ok := w[name]; {
		case !ok:
			d = append(d, name+" is missing")
		case sum != wanted[name] && name == "":
			d = append(d, "the output differs")
		case sum != wanted[name]:
			d = append(d, name+" differs")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w)) {
		if wanted[name] == "" {
			d = append(d, name+" is not wanted")
		}
	}
	return d
}

func newMatrix(t *testing.T) *matrix {
	t.Helper()
	m := &matrix{tree: filepath.Join(serverDir(t), "tree"), bin: t.TempDir(), work: t.TempDir(), wanted: make(map[string]written)}
	plantOperations(t, m.tree)
	cert, key := selfSigned(t)
	m.pem = filepath.Join(m.bin, "pem")
	writeFile(t, m.pem, string(cert)+string(key))
	script := "#!/bin/sh\n"
	if *noPipelining {
		script += "if [ \"$1\" = mirror ]; then shift; set -- mirror --no-pipelining \"$@\"; else set -- --no-pipelining \"$@\"; fi\n"
	}
	script += "exec '" + buildCommand(t) + "' \"$@\"\n"
	daemon.Program(t, filepath.Join(m.bin, "fetch1738"), script)
	return m
}

// plantOperations creates the tree.
func plantOperations(t *testing.T, tree string) {
	t.Helper()
	random := rand.NewChaCha8([32]byte{17, 38})
	octets := func(n int) string {
		b := make([]byte, n)
		_, _ = random.Read(b)
		return string(b)
	}
	files := map[string]string{
		"small.txt": text, "zero": "", "rand.bin": octets(300_000), "big.bin": octets(8 << 20), "old.txt": "old\n",
		"deep/1/2/up.txt": "up\n", "deep/1/2/3/4/5/6/7/8/9/10/11/12/end.txt": "end\n",
		"mixed/a": "1", "mixed/bb": octets(22), "mixed/ccc": octets(333), "mixed/dir/x": "x",
		"tree/small.txt": text, "tree/empty": "", "tree/a b/c d.txt": "spaced\n", "latin/caf\xe9": "latin\n",
	}
	for _, name := range []string{" lead", "#1;%.txt", "-dash", "[x]", "a b", "a  b", "q'q", "é.txt"} {
		files["odd/"+name] = "odd " + name + "\n"
	}
	for i := range 300 {
		files[fmt.Sprintf("many/f%03d.bin", i)] = octets(i * 37 % 4096)
	}
	for i := range 60 {
		files[fmt.Sprintf("tree/d%d/f%03d.txt", i%3, i)] = octets(i * 311 % 2048)
	}
	when := time.Date(1995, time.March, 4, 12, 0, 0, 0, time.UTC)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(tree, name)
		makeDir(t, filepath.Dir(path), 0o755)
		writeFile(t, path, files[name])
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"empty", "links", "up"} {
		makeDir(t, filepath.Join(tree, name), 0o755)
	}
	// A file with a hole, beyond 2 GiB.
	huge := filepath.Join(tree, "huge")
	writeFile(t, huge, "the beginning")
	f, err := os.OpenFile(huge, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte(octets(100)), 1<<31-20)
	if err := errors.Join(err, f.Close(), os.Symlink("../small.txt", filepath.Join(tree, "links/file")), os.Symlink("../deep/1/2", filepath.Join(tree, "links/dir"))); err != nil {
		t.Fatal(err)
	}
	ftpservers.Own(t, tree)
}

// A site is one kind of server, running.
type site struct {
	*matrix
	*ftpservers.Server
	secure *ftpservers.Server // the same with AUTH TLS, or nil
	env    map[string]string
}

func (m *matrix) start(t *testing.T, kind *ftpservers.Kind) *site {
	t.Helper()
	const login = ftpservers.User + ":" + ftpservers.Password + "@"
	start := func(addr string, tls ftpservers.Ability) *ftpservers.Server {
		return kind.Start(t, &ftpservers.Server{Root: m.tree, PEM: m.pem, Addr: addr, TLS: tls})
	}
	s := start("", "")
	env := map[string]string{"TREE": m.tree, "CA": m.pem, "FTP": "ftp://" + login + s.Addr, "ANON": "ftp://" + s.Addr, "ROOT": s.Home()}
	_, port, _ := net.SplitHostPort(s.Addr)
	addr6 := net.JoinHostPort("::1", port)
	env["TLS"], env["FTPS"], env["FTP6"] = env["FTP"], "ftps"+strings.TrimPrefix(env["FTP"], "ftp"), "ftp://"+login+addr6
	var secure *ftpservers.Server
	if kind.Can(ftpservers.Explicit) {
		secure = start("", ftpservers.Explicit)
		env["TLS"] = "ftp://" + login + secure.Addr
	}
	if kind.Can(ftpservers.Implicit) {
		env["FTPS"] = "ftps://" + login + start("", ftpservers.Implicit).Addr
	}
	if kind.Can(ftpservers.IPv6) && hasIPv6() {
		start(addr6, "")
	}
	return &site{matrix: m, Server: s, secure: secure, env: env}
}

// hasIPv6 reports whether the loopback interface has IPv6.
func hasIPv6() bool {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err == nil {
		l.Close()
	}
	return err == nil
}

// requireIPv6 skips a test without IPv6; in CI it fails.
func requireIPv6(t *testing.T) {
	t.Helper()
	switch {
	case hasIPv6():
	case os.Getenv("CI") != "":
		t.Fatal("the loopback interface has no IPv6")
	default:
		t.Skip("the loopback interface has no IPv6")
	}
}

// check runs an operation and compares what it does.
func (s *site) check(t *testing.T, o *operation) {
	wanted, stored := o.expects(s.Kind)
	if wanted.skip {
		t.Skipf("testdata/ftp/operations.txt:%d says why", o.line)
	}
	if strings.Contains(o.command, "$FTP6") {
		requireIPv6(t)
	}
	up := fmt.Sprintf("/up/%s-%d", s.Kind.Name, o.line)
	dir := filepath.Join(s.tree, up)
	makeDir(t, dir, 0o777)
	ftpservers.Own(t, dir)
	env := maps.Clone(s.env)
	env["DIR"], env["UP"] = dir, up
	if wanted.code == 28 {
		env["LIMIT"] = "-m 2"
	}
	got, code, said := s.run(t, o.command, env)
	if code != wanted.code {
		t.Errorf("exit %d, want %d", code, wanted.code)
	}
	if diff := got.differences(s.sums(t, wanted.command)); len(diff) > 0 {
		t.Errorf("%d differences: %q", len(diff), diff[:min(len(diff), 10)])
	}
	for name, command := range stored {
		data, err := s.ReadFile(up[1:] + "/" + name)
		if err != nil && s.secure != nil {
			data, err = s.secure.ReadFile(up[1:] + "/" + name)
		}
		if want := s.sums(t, command)[""]; err != nil || sum(data) != want {
			t.Errorf("%s was stored with %d bytes, which differ from the expected ones: %v", name, len(data), err)
		}
	}
	if t.Failed() {
		t.Logf("testdata/ftp/operations.txt:%d: %s\n%s", o.line, o.command, said)
	}
}

// sums returns what a command writes.
func (m *matrix) sums(t *testing.T, command string) written {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.wanted[command]; ok {
		return r
	}
	r, code, said := m.run(t, command, map[string]string{"TREE": m.tree, "SHELLOPTS": ""})
	if code != 0 {
		t.Fatalf("%s: exit %d: %s", command, code, said)
	}
	m.wanted[command] = r
	return r
}

// run runs a command of the shell, or a function of the library, in an empty directory. It returns
// what was written and the beginning of what was said.
func (m *matrix) run(t *testing.T, command string, env map[string]string) (_ written, code int, said string) {
	t.Helper()
	dir, err := os.MkdirTemp(m.work, "")
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	ctx := patience(t)
	if args, ok := strings.CutPrefix(command, "library "); ok {
		args = os.Expand(args, func(name string) string { return env[name] })
		if err := callLibrary(ctx, &libraryCall{dir: dir, tree: m.tree, out: &out}, strings.Fields(args)); err != nil {
			code = 1
			fmt.Fprintln(&errs, err)
		}
	} else {
		code = m.shell(ctx, t, command, dir, env, &out, &errs)
	}
	const most = 500
	said = fmt.Sprintf("%.*s\n%.*s", most, errs.Bytes(), most, bytes.ToValidUTF8(out.Bytes(), []byte("?")))
	return summed(t, dir, out.Bytes()), code, said
}

func (m *matrix) shell(ctx context.Context, t *testing.T, command, dir string, env map[string]string, out, errs *bytes.Buffer) int {
	t.Helper()
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, errs
	cmd.Env = []string{"PATH=" + m.bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8", "TZ=UTC", "SHELLOPTS=pipefail", "FETCH1738_COMPLETION=off"}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		t.Fatalf("%s: %v: %s", command, err, errs)
	}
	return cmd.ProcessState.ExitCode()
}

func sum(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// summed returns the sums of an output and of the files in a directory, without what a mirror keeps
// about them.
func summed(t *testing.T, dir string, out []byte) written {
	t.Helper()
	r := written{"": sum(out)}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || path == dir:
			return err
		case e.Name() == ".fetch1738":
			return fs.SkipDir
		}
		name, _ := filepath.Rel(dir, path)
		if e.IsDir() {
			r[name] = "a directory"
			return nil
		}
		data, err := os.ReadFile(path)
		r[name] = sum(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
