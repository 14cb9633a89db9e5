package interop

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// A console is a program on a pseudo-terminal and whoever sits in front of it.
type console struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	ended  chan struct{}

	mu   sync.Mutex
	more *sync.Cond
	text string // shown so far
	seen int    // of it waited for
	over bool
}

// startConsole starts cmd on a terminal of 80 columns and 24 rows.
func startConsole(t *testing.T, cmd *exec.Cmd) *console {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	c := &console{t: t, master: master, cmd: cmd, ended: make(chan struct{})}
	c.more = sync.NewCond(&c.mu)
	c.resize(80, 24)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	go c.watch()
	context.AfterFunc(patience(t), func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-c.ended
		_ = cmd.Wait()
		master.Close()
	})
	return c
}

// resize changes the window, of which the program is told by SIGWINCH.
func (c *console) resize(columns, rows uint16) {
	c.t.Helper()
	if err := pty.Setsize(c.master, &pty.Winsize{Rows: rows, Cols: columns}); err != nil {
		c.t.Fatal(err)
	}
}

// modes are the local modes of the terminal: whether it echoes, and gives lines.
func (c *console) modes() (echo, lines bool) {
	c.t.Helper()
	termios, err := unix.IoctlGetTermios(int(c.master.Fd()), unix.TCGETS)
	if err != nil {
		c.t.Fatal(err)
	}
	return termios.Lflag&unix.ECHO != 0, termios.Lflag&unix.ICANON != 0
}

func (c *console) watch() {
	defer close(c.ended)
	buf := make([]byte, 4096)
	for {
		n, err := c.master.Read(buf)
		c.mu.Lock()
		c.text += string(buf[:n])
		c.over = err != nil // EIO, once nobody has the terminal open
		c.more.Broadcast()
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// expect waits until the terminal shows a text after what was expected before.
func (c *console) expect(text string) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if i := strings.Index(c.text[c.seen:], text); i >= 0 {
			c.seen += i + len(text)
			return
		}
		if c.over {
			c.t.Fatalf("%q was not shown in %q", text, c.text)
		}
		c.more.Wait()
	}
}

// await waits until what the terminal has shown so far will do, and gives it.
func (c *console) await(will func(shown string) bool) string {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !will(c.text) {
		if c.over {
			c.t.Fatalf("it never came to that: %q", c.text)
		}
		c.more.Wait()
	}
	return c.text
}

// keys types.
func (c *console) keys(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.master, text); err != nil {
		c.t.Fatal(err)
	}
}

// exit waits for the end, and gives all that was shown and the exit code.
func (c *console) exit() (text string, code int) {
	<-c.ended
	_ = c.cmd.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text, c.cmd.ProcessState.ExitCode()
}
