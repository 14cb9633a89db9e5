package interop

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// A console is a program on a pseudo-terminal, and its user.
type console struct {
	t      *testing.T
	master *os.File
	status *bufio.Reader // the program's process id and exit code, a line each
	pid    int
	ended  chan struct{}

	mu   sync.Mutex
	more *sync.Cond
	text string // shown so far
	seen int    // length of the part that was waited for
	over bool
}

// leader runs a program in the session that it leads. When the leader of a session ends, the kernel
// may discard what has not been read from its terminal. The leader therefore reports that the
// program has ended, and stays until its descriptor 4 ends.
const leader = `
trap : HUP INT QUIT TERM
/bin/sh -c 'echo $$ >&3; exec "$@" 3>&- 4<&-' sh "$@"
echo $? >&3
printf '` + endMark + `'
read -r _ <&4
`

// endMark is shown last; no program shows it.
const endMark = "\a(the program has ended)\a"

// startConsole starts cmd on a terminal of 80 columns and 24 rows. Only the console may wait for it
// or send it signals.
func startConsole(t *testing.T, cmd *exec.Cmd) *console {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	said, says, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	held, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := &console{t: t, master: master, status: bufio.NewReader(said), ended: make(chan struct{})}
	c.more = sync.NewCond(&c.mu)
	c.resize(80, 24)
	lead := exec.Command("/bin/sh", append([]string{"-c", leader, "sh", cmd.Path}, cmd.Args[1:]...)...)
	lead.Env, lead.Dir = cmd.Env, cmd.Dir
	lead.Stdin, lead.Stdout, lead.Stderr, lead.ExtraFiles = slave, slave, slave, []*os.File{says, held}
	lead.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	// A background job of a script ignores SIGINT, and so would the program, which then never ends by
	// Ctrl-C. What this process catches is not ignored in its children.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGINT, syscall.SIGQUIT)
	err = lead.Start()
	signal.Stop(caught)
	if err != nil {
		t.Fatal(err)
	}
	slave.Close()
	says.Close()
	held.Close()
	go c.watch()
	kill := func() { _ = syscall.Kill(-lead.Process.Pid, syscall.SIGKILL) }
	stop := context.AfterFunc(patience(t), kill)
	t.Cleanup(func() {
		stop()
		kill()
		<-c.ended
		_ = lead.Wait()
		for _, f := range []*os.File{master, said, hold} {
			f.Close()
		}
	})
	c.pid = c.number()
	return c
}

// number returns the next number that the leader reports, -1 when it has ended.
func (c *console) number() int {
	line, err := c.status.ReadString('\n')
	if n, bad := strconv.Atoi(strings.TrimSpace(line)); err == nil && bad == nil {
		return n
	}
	return -1
}

// signal sends the program a signal.
func (c *console) signal(s syscall.Signal) {
	c.t.Helper()
	if err := syscall.Kill(c.pid, s); err != nil {
		c.t.Fatal(err)
	}
}

// resize changes the size of the window; the program receives SIGWINCH.
func (c *console) resize(columns, rows uint16) {
	c.t.Helper()
	if err := pty.Setsize(c.master, &pty.Winsize{Rows: rows, Cols: columns}); err != nil {
		c.t.Fatal(err)
	}
}

// modes returns the local modes of the terminal: whether it echoes, and whether it reads lines.
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
		c.text, c.over = strings.CutSuffix(c.text, endMark)
		c.over = c.over || err != nil // EIO, once no process has the terminal open
		over := c.over
		c.more.Broadcast()
		c.mu.Unlock()
		if over {
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

// await waits until will returns true for what the terminal has shown so far, and returns that.
func (c *console) await(will func(shown string) bool) string {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for !will(c.text) {
		if c.over {
			c.t.Fatalf("the terminal never showed what was expected: %q", c.text)
		}
		c.more.Wait()
	}
	return c.text
}

// keys types text.
func (c *console) keys(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.master, text); err != nil {
		c.t.Fatal(err)
	}
}

// exit waits for the end, and returns all that was shown and the exit code.
func (c *console) exit() (text string, code int) {
	<-c.ended
	code = c.number()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text, code
}

// TestConsole tests that a program's last output can be read at any later time, and that its exit
// code and signals are its own.
func TestConsole(t *testing.T) {
	t.Parallel()
	for range 20 {
		c := startConsole(t, exec.Command("/bin/sh", "-c", "seq 1 3000; printf last; exit 7"))
		if text, code := c.exit(); code != 7 || !strings.HasSuffix(text, "\n3000\r\nlast") {
			t.Fatalf("exit %d, at last %q", code, text[max(len(text)-50, 0):])
		}
	}
	c := startConsole(t, exec.Command("/bin/sh", "-c", "trap 'echo told; exit 9' TERM; echo ready; while :; do sleep 1; done"))
	c.expect("ready")
	c.signal(syscall.SIGTERM)
	if text, code := c.exit(); code != 9 || text != "ready\r\ntold\r\n" {
		t.Errorf("exit %d, %q", code, text)
	}
	c = startConsole(t, exec.Command("/bin/sh", "-c", "trap 'exit 5' INT; echo ready; read x"))
	c.expect("ready")
	c.keys("\x03")
	if text, code := c.exit(); code != 5 {
		t.Errorf("exit %d after Ctrl-C, %q", code, text)
	}
}
