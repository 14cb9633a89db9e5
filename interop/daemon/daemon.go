// Package daemon runs servers that others wrote, for tests.
package daemon

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The ports of servers are below those that the system gives out by itself: what
// connects meanwhile, or listens on port 0, does not take a port from a server
// that has yet to start.
const (
	firstPort = 10000
	lastPort  = 32767
)

// tried counts the ports that FreeAddr has tried, which begins somewhere: no port is
// tried twice, since the server to which it was given may not listen yet. A second
// one would be taken for it.
var tried atomic.Uint32

var begin = rand.IntN(lastPort - firstPort + 1)

// FreeAddr is an address on the loopback interface on which nothing listens. It gives
// no address twice.
func FreeAddr(tb testing.TB) string {
	tb.Helper()
	var err error
	for range 100 {
		var l net.Listener
		port := firstPort + (begin+int(tried.Add(1)))%(lastPort-firstPort+1)
		l, err = net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
		if err == nil {
			l.Close()
			return l.Addr().String()
		}
	}
	tb.Fatal(err)
	return ""
}

// Process is a server that runs until the test ends.
type Process struct {
	cmd   *exec.Cmd
	ended chan struct{}
	said  bytes.Buffer // whole when it has ended
}

// Start starts cmd in a process group of its own. When the test ends the whole
// group is killed; what it said is logged if the test has failed.
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
			tb.Logf("%s said: %s", cmd.Path, p.said.String())
		}
	})
	return p
}

// Await returns when something listens on each address. It does not connect: to
// a server that counts its clients that would be one.
func (p *Process) Await(tb testing.TB, addrs ...string) {
	tb.Helper()
	p.AwaitThat(tb, fmt.Sprint("listens on ", addrs), func() bool {
		return !slices.ContainsFunc(addrs, func(addr string) bool { return !listening(tb, addr) })
	})
}

// AwaitThat returns when a question about the server is answered by yes. The test
// fails when the server ends before, or the test's time is over.
func (p *Process) AwaitThat(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	over := TimeOver(tb)
	for !holds() {
		select {
		case <-p.ended:
			tb.Fatalf("%s has ended: %v", p.cmd.Path, p.cmd.ProcessState)
		case <-over:
			tb.Fatalf("%s never %s", p.cmd.Path, what)
		case <-ticks.C:
		}
	}
}

// TimeOver gives a moment before the time limit of go test is over, so that a
// test which hangs can tell what of; where there is no limit, never.
func TimeOver(tb testing.TB) <-chan time.Time {
	if limited, ok := tb.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := limited.Deadline(); ok {
			return time.After(time.Until(deadline) - lastWords)
		}
	}
	return nil
}

// lastWords is how long a test that hangs may take to tell.
const lastWords = 10 * time.Second

// listening reports whether something listens on a port of this machine, by the
// table of sockets where the system has one.
func listening(tb testing.TB, addr string) bool {
	tb.Helper()
	table, err := os.Open("/proc/net/tcp")
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
	lines.Scan() // the names of the columns
	for lines.Scan() {
		fields := strings.Fields(lines.Text()) // number, local address, remote address, state
		if len(fields) < 4 || fields[3] != "0A" {
			return false // those that listen come first, before thousands of others
		}
		if strings.HasSuffix(fields[1], port) {
			return true
		}
	}
	return false
}
