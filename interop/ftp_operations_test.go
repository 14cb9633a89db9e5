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
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/interop/ftpservers"
)

// TestFTPServers has every FTP server of package ftpservers serve the operations of
// testdata/ftp/operations.txt, where the format of that file is described. What comes, and what is
// stored, is compared by sha256.

const minOperations = 60

// noPipelining shows whether pipelining is the reason of a failure.
var noPipelining = flag.Bool("no-pipelining", false, "have TestFTPServers send one command at a time")

// An outcome is what an operation must do.
type outcome struct {
	code    int
	command string // whose output and files are wanted
}

// An operation is a row of the table.
type operation struct {
	name    string
	line    int
	command string
	outcome
	stored  map[string]string // commands by name of file on the server
	without map[ftpservers.Ability]outcome
	on      map[string]outcome // by name of server
}

// expects returns what the operation must do at a server. The reasons for exceptions are in the
// table and in the kind's Lacks.
func (o *operation) expects(k *ftpservers.Kind) (_ outcome, stored map[string]string) {
	if special, ok := o.on[k.Name]; ok {
		return special, nil
	}
	for _, ability := range slices.Sorted(maps.Keys(o.without)) {
		if !k.Can(ability) {
			return o.without[ability], nil
		}
	}
	return o.outcome, o.stored
}

func readOperations(t *testing.T) []*operation {
	t.Helper()
	const file = "testdata/ftp/operations.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var table []*operation
	names := make(map[string]bool)
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimRight(line, "\n")
		detail, indented := strings.CutPrefix(line, "\t")
		switch {
		case line == "" || line[0] == '#':
		case !indented:
			table = append(table, &operation{name: line, line: number, stored: make(map[string]string), without: make(map[ftpservers.Ability]outcome), on: make(map[string]outcome)})
			if names[line] {
				t.Fatalf("%s:%d: the name %q is not the only one", file, number, line)
			}
			names[line] = true
		case len(table) == 0:
			t.Fatalf("%s:%d: an indented line without a row", file, number)
		default:
			if err := table[len(table)-1].add(detail); err != nil {
				t.Fatalf("%s:%d: %v", file, number, err)
			}
		}
	}
	if len(table) < minOperations {
		t.Fatalf("%d operations, want %d or more", len(table), minOperations)
	}
	return table
}

// add reads a line of the row.
func (o *operation) add(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "$":
		o.command = rest
		return nil
	case "=", "exit":
		return o.outcome.read(line)
	case "stored":
		name, command, ok := strings.Cut(rest, " = ")
		if !ok {
			return fmt.Errorf("no command in %q", line)
		}
		o.stored[name] = command
		return nil
	case "without", "on":
		names, what, ok := strings.Cut(rest, ": ")
		if !ok {
			return fmt.Errorf("no outcome in %q", line)
		}
		what, _, explained := strings.Cut(what, " # ")
		if word == "on" && !explained {
			return fmt.Errorf("no reason in %q", line)
		}
		var instead outcome
		if err := instead.read(what); err != nil {
			return err
		}
		for name := range strings.SplitSeq(names, ", ") {
			if word == "on" {
				o.on[name] = instead
			} else {
				o.without[ftpservers.Ability(name)] = instead
			}
		}
		return nil
	}
	return fmt.Errorf("%q is not understood", line)
}

// read reads "exit CODE", "= COMMAND" or both.
func (o *outcome) read(text string) (err error) {
	code, command, both := strings.Cut(text, " = ")
	if !both && strings.HasPrefix(text, "= ") {
		code, command = "", text[2:]
	}
	if digits, ok := strings.CutPrefix(code, "exit "); ok {
		o.code, err = strconv.Atoi(digits)
	} else if code != "" {
		err = fmt.Errorf("%q is not understood", text)
	}
	if command != "" {
		o.command = command
	}
	return err
}

// TestFTPServers runs all operations at all servers.
func TestFTPServers(t *testing.T) {
	t.Parallel()
	table := readOperations(t)
	m := newMatrix(t)
	for _, kind := range ftpservers.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			site := m.start(t, kind)
			for _, o := range table {
				t.Run(strings.ReplaceAll(o.name, "/", "-"), func(t *testing.T) { site.check(t, o) })
			}
		})
	}
}

// A matrix is what all servers share.
type matrix struct {
	tree string // the directory that they serve
	bin  string // the directory with fetch1738
	pem  string

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
	m := &matrix{tree: filepath.Join(serverDir(t), "tree"), bin: t.TempDir(), wanted: make(map[string]written)}
	plantOperations(t, m.tree)
	cert, key := selfSigned(t)
	m.pem = filepath.Join(m.bin, "pem")
	writeFile(t, m.pem, string(cert)+string(key))
	script := "#!/bin/sh\n"
	if *noPipelining {
		script += "if [ \"$1\" = mirror ]; then shift; set -- mirror --no-pipelining \"$@\"; else set -- --no-pipelining \"$@\"; fi\n"
	}
	script += "exec '" + buildCommand(t) + "' \"$@\"\n"
	writeFile(t, filepath.Join(m.bin, "fetch1738"), script)
	if err := os.Chmod(filepath.Join(m.bin, "fetch1738"), 0o755); err != nil {
		t.Fatal(err)
	}
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
	env map[string]string
	row int
}

func (m *matrix) start(t *testing.T, kind *ftpservers.Kind) *site {
	t.Helper()
	const login = ftpservers.User + ":" + ftpservers.Password + "@"
	start := func(addr string, tls ftpservers.Ability) *ftpservers.Server {
		return kind.Start(t, &ftpservers.Server{Root: m.tree, PEM: m.pem, Addr: addr, TLS: tls})
	}
	s := start("", "")
	env := map[string]string{"TREE": m.tree, "CA": m.pem, "FTP": "ftp://" + login + s.Addr, "ANON": "ftp://" + s.Addr, "ROOT": s.Home()}
	env["TLS"], env["FTPS"], env["FTP6"] = env["FTP"], "ftps"+strings.TrimPrefix(env["FTP"], "ftp"), env["FTP"]
	if kind.Can(ftpservers.Explicit) {
		env["TLS"] = "ftp://" + login + start("", ftpservers.Explicit).Addr
	}
	if kind.Can(ftpservers.Implicit) {
		env["FTPS"] = "ftps://" + login + start("", ftpservers.Implicit).Addr
	}
	if kind.Can(ftpservers.IPv6) {
		_, port, _ := net.SplitHostPort(s.Addr)
		env["FTP6"] = "ftp://" + login + start(net.JoinHostPort("::1", port), "").Addr
	}
	return &site{matrix: m, Server: s, env: env}
}

// check runs an operation and compares what it does.
func (s *site) check(t *testing.T, o *operation) {
	s.row++
	up := fmt.Sprintf("/up/%s-%d", s.Kind.Name, s.row)
	dir := filepath.Join(s.tree, up)
	makeDir(t, dir, 0o777)
	ftpservers.Own(t, dir)
	env := maps.Clone(s.env)
	env["DIR"], env["UP"] = dir, up
	wanted, stored := o.expects(s.Kind)
	got, code, said := s.run(t, o.command, env)
	if code != wanted.code {
		t.Errorf("exit %d, want %d", code, wanted.code)
	}
	if diff := got.differences(s.sums(t, wanted.command)); len(diff) > 0 {
		t.Errorf("%d differences: %q", len(diff), diff[:min(len(diff), 10)])
	}
	for name, command := range stored {
		data, err := s.ReadFile(up[1:] + "/" + name)
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
	dir := t.TempDir()
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
	cmd.Env = []string{"PATH=" + m.bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8", "TZ=UTC", "SHELLOPTS=pipefail"}
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
