// Package bench measures the command against other programs that do the same,
// in the same run, so that what counts is the ratio:
//
//	go test -bench FTP -benchtime 5x ./bench
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
	"testing"
	"time"
)

// BenchmarkFTPLarge fetches 1 GiB to a file. cpu/curl and wall/curl are ratios,
// MiB is the most memory that was resident. The bars are 0.8 and 30.
func BenchmarkFTPLarge(b *testing.B) {
	url := startVsftpd(b) + "/large"
	ours, curl := command(b), tool(b, "curl")
	out := filepath.Join(b.TempDir(), "out")
	var cpu, wall, memory []float64
	for b.Loop() {
		touchMemory(b, out)
		them := run(b, out, curl, "-s", "-o", out, url)
		touchMemory(b, out)
		us := run(b, out, ours, "-s", "-o", out, url)
		cpu = append(cpu, us.cpu.Seconds()/them.cpu.Seconds())
		wall = append(wall, us.wall.Seconds()/them.wall.Seconds())
		memory = append(memory, us.memory)
	}
	b.ReportMetric(median(cpu), "cpu/curl")
	b.ReportMetric(median(wall), "wall/curl")
	b.ReportMetric(slices.Max(memory), "MiB")
}

// BenchmarkFTPTiny is a file of 4 KiB, a process each time. The bar is 1.0.
func BenchmarkFTPTiny(b *testing.B) {
	url := startVsftpd(b) + "/small/f0"
	compare(b, url)
}

// BenchmarkFTPMany is 200 files of 4 KiB on one connection. curl stalls for a
// second now and then; the median passes over that.
func BenchmarkFTPMany(b *testing.B) {
	base := startVsftpd(b)
	var urls []string
	for i := range 200 {
		urls = append(urls, fmt.Sprintf("%s/small/f%d", base, i))
	}
	compare(b, urls...)
}

// touchMemory fills the page cache with a file of the size of large and drops it
// again. A virtual machine may have given its free memory back to its host, and
// to get it again can cost more than the whole transfer: that must not fall to
// whoever happens to run first.
func touchMemory(b *testing.B, name string) {
	b.Helper()
	f, err := os.Create(name)
	check(b, err)
	zeros := make([]byte, 1<<20)
	for range largeSize / len(zeros) {
		_, err := f.Write(zeros)
		check(b, err)
	}
	check(b, f.Close())
	check(b, os.Remove(name))
}

// compare fetches URLs with both programs and reports the ratio of the time.
func compare(b *testing.B, urls ...string) {
	ours, curl := command(b), tool(b, "curl")
	out := filepath.Join(b.TempDir(), "out")
	args := []string{"-s"}
	for _, url := range urls {
		args = append(args, "-o", out, url)
	}
	var us, them []float64
	for b.Loop() {
		them = append(them, run(b, out, curl, args...).wall.Seconds())
		us = append(us, run(b, out, ours, args...).wall.Seconds())
	}
	b.ReportMetric(median(us)/median(them), "wall/curl")
	b.ReportMetric(median(us)*1000, "ms")
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// cost is what a process took.
type cost struct {
	cpu, wall time.Duration
	memory    float64 // MiB
}

// run runs a program that makes the file out.
func run(b *testing.B, out, program string, args ...string) cost {
	b.Helper()
	_ = os.Remove(out) // to cut an existing file costs time
	spent, code := measure(b, filepath.Dir(out), program, args...)
	if code != 0 {
		b.Fatalf("%s ended with code %d", program, code)
	}
	return spent
}

// measure runs a program and tells its exit code. What this machine has set up in
// the home directory counts for none.
func measure(b *testing.B, home, program string, args ...string) (spent cost, code int) {
	b.Helper()
	return measureIn(b, []string{"HOME=" + home}, program, args...)
}

// measureIn is measure with other variables of the environment.
func measureIn(b *testing.B, env []string, program string, args ...string) (spent cost, code int) {
	b.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = env
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

// resident is the most memory that a running process has had, in MiB. (What
// wait4 tells contains the memory of the process that started it.)
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

// command builds the command line program as it is released.
func command(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "fetch1738")
	build := exec.Command(tool(b, "go"), "build", "-trimpath", "-ldflags=-s -w", "-o", path, "github.com/fetch1738/fetch1738/cmd/fetch1738")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return path
}

// tool finds a program; without it there is nothing to measure.
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

const (
	small     = 2000    // how many small files there are
	largeSize = 1 << 30 // octets of the large one
)

// startVsftpd serves large, of 1 GiB, and small/f0 … of 4 KiB, until the
// benchmark ends, and gives the server's URL. The lines of settings are added to
// its configuration.
func startVsftpd(b *testing.B, settings ...string) string {
	b.Helper()
	root := b.TempDir()
	for i := range small {
		makeFile(b, filepath.Join(root, "small", fmt.Sprint("f", i)), 4<<10)
	}
	makeFile(b, filepath.Join(root, "large"), largeSize)
	return serveVsftpd(b, root, settings...)
}

// makeFile makes a file of octets that no other has, and its directory.
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

// serveVsftpd serves what is below root, until the benchmark ends, and gives the
// server's URL.
func serveVsftpd(b *testing.B, root string, settings ...string) string {
	b.Helper()
	program := tool(b, "vsftpd")
	if os.Geteuid() != 0 {
		b.Skip("vsftpd must be started by root")
	}
	dir := b.TempDir()
	for _, d := range []string{root, dir} {
		for ; d != os.TempDir() && len(d) > 1; d = filepath.Dir(d) {
			check(b, os.Chmod(d, 0o755))
		}
	}
	check(b, os.Mkdir(filepath.Join(dir, "empty"), 0o755))

	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(b, err)
	addr := l.Addr().String()
	check(b, l.Close())
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

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
