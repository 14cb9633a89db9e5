// Package bench compares the command with other programs that do the same, in the same run, and
// reports the ratio. README.md has the figures.
package bench

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
)

// BenchmarkFTPLarge fetches 1 GiB to a file. The bars are 0.8 for cpu/curl and 12 for MiB.
func BenchmarkFTPLarge(b *testing.B) {
	url := startVsftpd(b) + "/large"
	ours, curl := command(b), tool(b, "curl")
	out := filepath.Join(b.TempDir(), "out")
	fetch := func(program string) func() cost {
		return func() cost {
			touchMemory(b, out)
			return run(b, out, program, "-s", "-o", out, url)
		}
	}
	compare(b, fetch(ours), peer{"curl", fetch(curl)})
	if sum(b, out, ours, "-s", "-o", out, url) != sum(b, out, curl, "-s", "-o", out, url) {
		b.Error("the file has the wrong content")
	}
}

// BenchmarkFTPPipe fetches 1 GiB to another program. The bar for cpu/curl is 0.6.
func BenchmarkFTPPipe(b *testing.B) {
	url := startVsftpd(b) + "/large"
	ours, curl := command(b), tool(b, "curl")
	sha256sum, wc := tool(b, "sha256sum"), tool(b, "wc")
	fetch := func(program string) func() cost {
		return func() cost {
			spent, count := pipe(b, []string{program, "-s", url}, wc, "-c")
			if strings.TrimSpace(count) != strconv.Itoa(large()) {
				b.Fatalf("%s wrote %s bytes", program, count)
			}
			return spent
		}
	}
	compare(b, fetch(ours), peer{"curl", fetch(curl)})
	_, us := pipe(b, []string{ours, "-s", url}, sha256sum)
	if _, them := pipe(b, []string{curl, "-s", url}, sha256sum); us != them {
		b.Error("the file has the wrong content")
	}
}

// BenchmarkFTPNull fetches 1 GiB to /dev/null. The bar for cpu/curl is 0.8.
func BenchmarkFTPNull(b *testing.B) {
	url := startVsftpd(b) + "/large"
	ours, curl := command(b), tool(b, "curl")
	fetch := func(program string) func() cost {
		return func() cost {
			spent, count := pipe(b, []string{program, "-s", "-o", "/dev/null", "-w", "%{size_download}", url}, "cat")
			if count != strconv.Itoa(large()) {
				b.Fatalf("%s fetched %s bytes", program, count)
			}
			return spent
		}
	}
	compare(b, fetch(ours), peer{"curl", fetch(curl)})
}

// A peer is a program that ours is compared with.
type peer struct {
	name string
	run  func() cost
}

// compare reports the cost of ours, run in turn with other programs, as ratios and as absolute
// values. MiB is the maximum of resident memory.
func compare(b *testing.B, ours func() cost, others ...peer) {
	b.Helper()
	var us []cost
	them := make([][]cost, len(others))
	for b.Loop() {
		for i, other := range others {
			them[i] = append(them[i], other.run())
		}
		us = append(us, ours())
	}
	of := func(list []cost, value func(cost) float64) float64 {
		var values []float64
		for _, c := range list {
			values = append(values, value(c))
		}
		return median(values)
	}
	cpu := func(c cost) float64 { return c.cpu.Seconds() * 1000 }
	wall := func(c cost) float64 { return c.wall.Seconds() * 1000 }
	memory := func(c cost) float64 { return c.memory }
	b.ReportMetric(of(us, cpu), "cpu-ms")
	b.ReportMetric(of(us, wall), "wall-ms")
	b.ReportMetric(of(us, memory), "MiB")
	for i, other := range others {
		b.ReportMetric(of(us, cpu)/of(them[i], cpu), "cpu/"+other.name)
		b.ReportMetric(of(us, wall)/of(them[i], wall), "wall/"+other.name)
		b.ReportMetric(of(them[i], cpu), other.name+"-cpu-ms")
		b.ReportMetric(of(them[i], wall), other.name+"-wall-ms")
		b.ReportMetric(of(them[i], memory), other.name+"-MiB")
	}
	b.ReportMetric(0, "ns/op")
}

// touchMemory fills the page cache with a file of the size of large and drops it again. A virtual
// machine may have returned its free memory to its host, and getting it back can cost more than the
// whole transfer. The program that runs first must not pay for that.
func touchMemory(b *testing.B, name string) {
	b.Helper()
	f, err := os.Create(name)
	check(b, err)
	zeros := make([]byte, 1<<20)
	for range large() / len(zeros) {
		_, err := f.Write(zeros)
		check(b, err)
	}
	check(b, f.Close())
	check(b, os.Remove(name))
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// cost is what a process used.
type cost struct {
	cpu, wall time.Duration
	memory    float64 // MiB
}

// run runs a program that creates the file out.
func run(b *testing.B, out, program string, args ...string) cost {
	b.Helper()
	_ = os.Remove(out) // truncating an existing file takes time
	spent, code := measure(b, filepath.Dir(out), program, args...)
	if code != 0 {
		b.Fatalf("%s ended with code %d", program, code)
	}
	return spent
}

// measure runs a program and returns its cost and exit code. The user's own configuration files in
// the home directory are not used.
func measure(b *testing.B, home, program string, args ...string) (spent cost, code int) {
	b.Helper()
	return measureIn(b, []string{"HOME=" + home}, program, args...)
}

// measureIn is measure with other environment variables.
func measureIn(b *testing.B, env []string, program string, args ...string) (spent cost, code int) {
	b.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = env
	return measureCommand(b, cmd)
}

// pipe runs a program that writes to another one, and returns the output of the latter.
func pipe(b *testing.B, argv []string, reader string, args ...string) (spent cost, said string) {
	b.Helper()
	in, out, err := os.Pipe()
	check(b, err)
	var text bytes.Buffer
	read := exec.Command(reader, args...)
	read.Stdin, read.Stdout = in, &text
	check(b, read.Start())
	check(b, in.Close())
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{"HOME=" + b.TempDir()}
	cmd.Stdout = out
	spent, code := measureCommand(b, cmd)
	check(b, out.Close())
	check(b, read.Wait())
	if code != 0 {
		b.Fatalf("%v ended with code %d", cmd, code)
	}
	return spent, text.String()
}

func measureCommand(b *testing.B, cmd *exec.Cmd) (spent cost, code int) {
	b.Helper()
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	start := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	var memory float64
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			wall := time.Since(start)
			if err != nil {
				b.Logf("%v: %v: %s", cmd, err, complaints.String())
			}
			return cost{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), wall, memory}, cmd.ProcessState.ExitCode()
		case <-time.After(20 * time.Millisecond):
			memory = max(memory, resident(cmd.Process.Pid))
		}
	}
}

// resident returns the maximum of resident memory of a running process, in MiB. (The value of wait4
// includes the memory of the process that started it.)
func resident(pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.ParseFloat(fields[0], 64)
	return kib / 1024
}

// folder has the command line program. It is removed after the last benchmark.
var folder string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if folder, err = os.MkdirTemp("", "bench"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(folder)
		return m.Run()
	}())
}

// built is the command line program as it is released, built once.
var built = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "fetch1738")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "../../cmd/fetch1738")
	out, err := build.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return path, err
})

// command returns the path of the command line program.
func command(b *testing.B) string {
	b.Helper()
	tool(b, "go")
	path, err := built()
	check(b, err)
	return path
}

// tool finds a program; without it the benchmark is skipped.
func tool(b *testing.B, name string) string {
	b.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") != "" {
			b.Fatal(err)
		}
		b.Skip(err)
	}
	return path
}

// large returns the size of the large file, in bytes.
func large() int {
	if testing.Short() {
		return 64 << 20
	}
	return 1 << 30
}

// startVsftpd serves a file, large, of 1 GiB until the benchmark ends, and returns the server's
// URL. settings are added to its configuration.
func startVsftpd(b *testing.B, settings ...string) string {
	b.Helper()
	root := b.TempDir()
	makeFile(b, filepath.Join(root, "large"), large())
	return serveVsftpd(b, root, settings...)
}

// makeFile creates a file with unique content, and its directory.
func makeFile(b *testing.B, name string, size int) {
	b.Helper()
	check(b, os.MkdirAll(filepath.Dir(name), 0o755))
	f, err := os.Create(name)
	check(b, err)
	chunk := make([]byte, min(size, 1<<20))
	rand.Read(chunk)
	for range size / len(chunk) {
		_, err := f.Write(chunk)
		check(b, err)
	}
	check(b, f.Close())
}

// serveVsftpd serves what is below root until the benchmark ends, and returns the server's URL.
func serveVsftpd(b *testing.B, root string, settings ...string) string {
	b.Helper()
	program := tool(b, "vsftpd")
	if os.Geteuid() != 0 {
		b.Skip("vsftpd must be started by root")
	}
	dir := b.TempDir()
	readable(b, root)
	readable(b, dir)
	check(b, os.Mkdir(filepath.Join(dir, "empty"), 0o755))

	addr := daemon.FreeAddr(b)
	_, port, _ := net.SplitHostPort(addr)
	conf := filepath.Join(dir, "vsftpd.conf")
	check(b, os.WriteFile(conf, fmt.Appendf(nil, `listen=YES
listen_ipv6=NO
background=NO
listen_address=127.0.0.1
listen_port=%s
anonymous_enable=YES
ftp_username=daemon
nopriv_user=nobody
anon_root=%[4]s
secure_chroot_dir=%[2]s/empty
seccomp_sandbox=NO
isolate=NO
isolate_network=NO
%[3]s
`, port, dir, strings.Join(settings, "\n"), root), 0o644))
	cmd := exec.Command(program, conf)
	check(b, cmd.Start())
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for range 500 {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return "ftp://" + addr
		}
		<-time.After(10 * time.Millisecond)
	}
	b.Fatal("vsftpd does not listen")
	return ""
}

// readable lets the user of a server read dir, which is below the folder for temporary files.
func readable(b *testing.B, dir string) {
	b.Helper()
	for ; dir != os.TempDir() && len(dir) > 1; dir = filepath.Dir(dir) {
		check(b, os.Chmod(dir, 0o755))
	}
}

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
