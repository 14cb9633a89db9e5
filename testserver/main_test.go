package testserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/fetch1738/fetch1738/testserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// content is what most tests serve.
func content() fstest.MapFS {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	when := time.Date(1995, time.March, 4, 5, 6, 7, 0, time.UTC)
	return fstest.MapFS{
		"motd.txt":             {Data: []byte("hello\nworld\n"), ModTime: when},
		"crlf.txt":             {Data: []byte("one\r\ntwo\r\n")},
		"dots.txt":             {Data: []byte(".\n..x\n.end\nlast")},
		"every.bin":            {Data: every},
		"empty.txt":            {Data: nil},
		"pub/a.txt":            {Data: []byte("a")},
		"pub/sub/deep.txt":     {Data: []byte("deep\n")},
		"secret/key.txt":       {Data: []byte("no")},
		"with space/100% a.md": {Data: []byte("odd name\n")},
		"caf\xc3\xa9.txt":      {Data: []byte("latte\n")},
	}
}

// inBubble runs a test in memory with a fake clock.
func inBubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// dialer is implemented by all servers.
type dialer interface {
	Dial(ctx context.Context, network, address string) (net.Conn, error)
}

// dial connects to a server's address; the connection ends with the test.
func dial(t *testing.T, s dialer, addr string) net.Conn {
	t.Helper()
	nc, err := s.Dial(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return nc
}

// ask sends a request and reads the answer to its end.
func ask(t *testing.T, s dialer, addr, request string) (string, error) {
	t.Helper()
	nc := dial(t, s, addr)
	defer nc.Close()
	io.WriteString(nc, request)
	answer, err := io.ReadAll(nc)
	return string(answer), err
}

// ftpClient is a minimal FTP client.
type ftpClient struct {
	net.Conn
	t   *testing.T
	srv *testserver.FTP
	r   *bufio.Reader
}

// dialFTP connects and reads the greeting.
func dialFTP(t *testing.T, s *testserver.FTP) *ftpClient {
	t.Helper()
	nc := dial(t, s, s.Addr)
	c := &ftpClient{Conn: nc, t: t, srv: s, r: bufio.NewReader(nc)}
	if got := c.reply(); !strings.HasPrefix(got, "220") {
		t.Fatalf("greeting %q", got)
	}
	return c
}

// loginFTP connects and logs in as anonymous, with type I.
func loginFTP(t *testing.T, s *testserver.FTP) *ftpClient {
	t.Helper()
	c := dialFTP(t, s)
	c.expect("USER anonymous", "331")
	c.expect("PASS guest@example.test", "230")
	c.expect("TYPE I", "200")
	return c
}

// reply reads one reply and joins its lines by "\n". An error is appended as "!error".
func (c *ftpClient) reply() string {
	var lines []string
	for {
		line, err := c.r.ReadString('\n')
		if err != nil {
			return strings.Join(append(lines, line+"!"+err.Error()), "\n")
		}
		lines = append(lines, strings.TrimRight(line, "\r\n"))
		last := lines[len(lines)-1]
		if len(lines[0]) < 4 || lines[0][3] != '-' || strings.HasPrefix(last, lines[0][:3]+" ") {
			return strings.Join(lines, "\n")
		}
	}
}

func (c *ftpClient) send(line string) { io.WriteString(c, line+"\r\n") }

// expect sends a command and checks the beginning of the reply.
func (c *ftpClient) expect(line, want string) string {
	c.t.Helper()
	c.send(line)
	got := c.reply()
	if !strings.HasPrefix(got, want) {
		c.t.Errorf("%s: %q, want %q", line, got, want)
	}
	return got
}

// data opens a passive data connection.
func (c *ftpClient) data() net.Conn {
	c.t.Helper()
	var port int
	got := c.expect("EPSV", "229")
	if _, err := fmt.Sscanf(got[strings.Index(got, "("):], "(|||%d|)", &port); err != nil {
		c.t.Fatalf("%q: %v", got, err)
	}
	host, _, _ := net.SplitHostPort(c.srv.Addr)
	return dial(c.t, c.srv, net.JoinHostPort(host, strconv.Itoa(port)))
}

// get receives a transfer and returns both replies.
func (c *ftpClient) get(command string) (data string, first, last string, err error) {
	c.t.Helper()
	nc := c.data()
	defer nc.Close()
	c.send(command)
	if first = c.reply(); !strings.HasPrefix(first, "1") {
		return "", first, "", nil
	}
	octets, err := io.ReadAll(nc)
	return string(octets), first, c.reply(), err
}

// put sends a transfer and returns the last reply.
func (c *ftpClient) put(command, data string) string {
	c.t.Helper()
	nc := c.data()
	defer nc.Close()
	c.send(command)
	if first := c.reply(); !strings.HasPrefix(first, "1") {
		return first
	}
	io.WriteString(nc, data)
	nc.Close()
	return c.reply()
}

func newFile(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// pending checks that the fault of a case was used, and disarms it. A case whose name begins with
// "not this" arms it for something else.
func pending(t *testing.T, srv interface {
	PendingFaults() error
	ResetFaults()
}, name string) {
	t.Helper()
	if err := srv.PendingFaults(); (err != nil) != strings.HasPrefix(name, "not this ") {
		t.Errorf("pending: %v", err)
	}
	srv.ResetFaults()
}
