// Package daemon runs third-party servers for tests.
package daemon

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The ports of servers are below the range that the system assigns by itself. A client that
// connects, or a listener on port 0, then cannot take the port of a server that has yet to start.
// Those from 20000 on are the passive ports of the judge's servers, and 10080 is one that the policy
// denies, as browsers do.
const (
	firstPort = 10081
	lastPort  = 19999
)

// tried counts the ports that FreeAddr has tried; it starts at a random one. No port is tried
// twice, because the server that received it may not listen yet. Otherwise a test could connect to
// the wrong server.
var tried atomic.Uint32

var begin = rand.IntN(lastPort - firstPort + 1)

// FreeAddr returns an address on the loopback interface that has no listener. It returns no address
// twice.
func FreeAddr(tb testing.TB) string {
	tb.Helper()
	return freeAddr(tb, "127.0.0.1")
}

// freeAddr is FreeAddr for an IP address of the loopback interface.
func freeAddr(tb testing.TB, ip string) string {
	tb.Helper()
	// A port is not free while a process that is being started has a socket of it.
	defer holdForks()()
	var err error
	for range 100 {
		var l net.Listener
		port := firstPort + (begin+int(tried.Add(1)))%(lastPort-firstPort+1)
		l, err = net.Listen("tcp", fmt.Sprint(ip, ":", port))
		if err == nil {
			l.Close()
			return l.Addr().String()
		}
	}
	tb.Fatal(err)
	return ""
}

// holdForks holds up all starts of processes until the function that it returns is called: a process
// that is being started has the open files of this one until it runs its program.
func holdForks() (release func()) {
	forked()
	syscall.ForkLock.RLock()
	return syscall.ForkLock.RUnlock
}

// forked makes the package os start the process with which it finds out what the system supports. It
// starts this one, which is the first, without ForkLock.
var forked = sync.OnceFunc(func() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		p.Release()
	}
})

// Program writes a program that a test runs. No process that another test starts at the same time
// inherits the file while it is open: the system would refuse to run it (ETXTBSY).
func Program(tb testing.TB, path, content string) {
	tb.Helper()
	defer holdForks()()
	if err := errors.Join(os.WriteFile(path, []byte(content), 0o755), os.Chmod(path, 0o755)); err != nil { // whatever the umask
		tb.Fatal(err)
	}
}

// Process is a server that runs until the test ends.
type Process struct {
	cmd   *exec.Cmd
	ended chan struct{}
	said  bytes.Buffer // complete when the process has ended
}

// Start starts cmd in a process group of its own. When the test ends, the whole group is killed. If
// the test has failed, the output of the process is logged.
func Start(tb testing.TB, cmd *exec.Cmd) *Process {
	tb.Helper()
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.said, &p.said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = cmd.Wait()
	}()
	tb.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-p.ended
		if tb.Failed() && p.said.Len() > 0 {
			tb.Logf("output of %s: %s", cmd.Path, p.said.String())
		}
	})
	return p
}

// Await returns when each address has a listener. It does not connect, because a server that counts
// its clients would count that.
func (p *Process) Await(tb testing.TB, addrs ...string) {
	tb.Helper()
	p.AwaitThat(tb, fmt.Sprint("listens on ", addrs), func() bool {
		return !slices.ContainsFunc(addrs, func(addr string) bool { return !listening(tb, addr) })
	})
}

// AwaitThat returns when holds returns true. The test fails if the process ends first, or if the
// test's time is over.
func (p *Process) AwaitThat(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	over := TimeOver(tb)
	for !holds() {
		select {
		case <-p.ended:
			tb.Fatalf("%s has ended before it was ready: %v", p.cmd.Path, p.cmd.ProcessState)
		case <-over:
			tb.Fatalf("%s is not ready: it never %s", p.cmd.Path, what)
		case <-ticks.C:
		}
	}
}

// TimeOver returns a channel that receives a value shortly before the time limit of go test, so
// that a test that hangs can report why. Without a limit it receives nothing.
func TimeOver(tb testing.TB) <-chan time.Time {
	if limited, ok := tb.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := limited.Deadline(); ok {
			return time.After(time.Until(deadline) - reportTime)
		}
	}
	return nil
}

// reportTime is the time that a test that hangs has for its report.
const reportTime = 10 * time.Second

// listening reports whether a port of this host has a listener, according to the system's table of
// sockets if there is one.
func listening(tb testing.TB, addr string) bool {
	tb.Helper()
	file := "/proc/net/tcp"
	if strings.HasPrefix(addr, "[") {
		file = "/proc/net/tcp6"
	}
	table, err := os.Open(file)
	if err != nil {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err == nil
	}
	defer table.Close()
	local, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	port := fmt.Sprintf(":%04X", local.Port)
	lines := bufio.NewScanner(table)
	lines.Scan() // the column headings
	for lines.Scan() {
		fields := strings.Fields(lines.Text()) // number, local address, remote address, state
		if len(fields) < 4 || fields[3] != "0A" {
			return false // listening sockets come first, before thousands of others
		}
		if strings.HasSuffix(fields[1], port) {
			return true
		}
	}
	return false
}
