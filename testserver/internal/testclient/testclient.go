// Package testclient has what the tests of several servers use: content, and small clients.
package testclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/conversation"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// Content is what most tests serve.
func Content() fstest.MapFS {
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

// InBubble runs a test in memory with a fake clock.
func InBubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// Dialer is implemented by all servers.
type Dialer interface {
	Dial(ctx context.Context, network, address string) (net.Conn, error)
}

// Dial connects to a server's address; the connection ends with the test.
func Dial(t *testing.T, s Dialer, addr string) net.Conn {
	t.Helper()
	nc, err := s.Dial(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return nc
}

// Ask sends a request and reads the answer to its end.
func Ask(t *testing.T, s Dialer, addr, request string) (string, error) {
	t.Helper()
	nc := Dial(t, s, addr)
	defer nc.Close()
	io.WriteString(nc, request)
	answer, err := io.ReadAll(nc)
	return string(answer), err
}

// FTP is a minimal FTP client.
type FTP struct {
	net.Conn
	t    *testing.T
	dial Dialer
	addr string // of the server
	in   *conversation.Reader
}

// NewFTP returns a client on a connection to a server.
func NewFTP(t *testing.T, srv *ftptest.Server, nc net.Conn) *FTP {
	return &FTP{Conn: nc, t: t, dial: srv, addr: srv.Addr, in: conversation.NewReader(nc)}
}

// DialAddr connects to the address of a server that speaks FTP, and reads the greeting.
func DialAddr(t *testing.T, addr string) *FTP {
	t.Helper()
	nc := Dial(t, Host{}, addr)
	return greeted(&FTP{Conn: nc, t: t, dial: Host{}, addr: addr, in: conversation.NewReader(nc)})
}

// Host dials the sockets of this host.
type Host struct{ net.Dialer }

// Dial implements Dialer.
func (d Host) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return d.DialContext(ctx, network, address)
}

// greeted returns c after reading the greeting.
func greeted(c *FTP) *FTP {
	c.t.Helper()
	if got := c.Reply(); !strings.HasPrefix(got, "220") {
		c.t.Fatalf("greeting %q", got)
	}
	return c
}

// DialFTP connects and reads the greeting.
func DialFTP(t *testing.T, s *ftptest.Server) *FTP {
	t.Helper()
	return greeted(NewFTP(t, s, Dial(t, s, s.Addr)))
}

// LoginFTP connects and logs in as anonymous, with type I.
func LoginFTP(t *testing.T, s *ftptest.Server) *FTP {
	t.Helper()
	c := DialFTP(t, s)
	c.Expect("USER anonymous", "331")
	c.Expect("PASS guest@example.test", "230")
	c.Expect("TYPE I", "200")
	return c
}

// Reply reads one reply and joins its lines by "\n". An error is appended as "!error".
func (c *FTP) Reply() string {
	lines, err := c.in.Reply()
	reply := strings.Join(lines, "\n")
	if err != nil {
		reply += "!" + err.Error()
	}
	return reply
}

func (c *FTP) Send(line string) { io.WriteString(c, line+"\r\n") }

// Expect sends a command and checks the beginning of the reply.
func (c *FTP) Expect(line, want string) string {
	c.t.Helper()
	c.Send(line)
	got := c.Reply()
	if !strings.HasPrefix(got, want) {
		c.t.Errorf("%s: %q, want %q", line, got, want)
	}
	return got
}

// Play plays the commands of a conversation of one connection, after the greeting. A reply need only
// begin as there.
func (c *FTP) Play(text string) {
	c.t.Helper()
	for _, step := range conversation.Parse(text)[0] {
		c.Expect(step.Text("C"), step.Text("S"))
	}
}

// Data opens a passive data connection.
func (c *FTP) Data() net.Conn {
	c.t.Helper()
	return Dial(c.t, c.dial, conversation.DataAddr(c.addr, c.Expect("EPSV", "229")))
}

// Get receives a transfer and returns both replies.
func (c *FTP) Get(command string) (data string, first, last string, err error) {
	c.t.Helper()
	nc := c.Data()
	defer nc.Close()
	c.Send(command)
	if first = c.Reply(); !strings.HasPrefix(first, "1") {
		return "", first, "", nil
	}
	octets, err := io.ReadAll(nc)
	return string(octets), first, c.Reply(), err
}

// Put sends a transfer and returns the last reply.
func (c *FTP) Put(command, data string) string {
	c.t.Helper()
	nc := c.Data()
	defer nc.Close()
	c.Send(command)
	if first := c.Reply(); !strings.HasPrefix(first, "1") {
		return first
	}
	io.WriteString(nc, data)
	nc.Close()
	return c.Reply()
}

func NewFile(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// Pending checks that the fault of a case was used, and disarms it. A case whose name begins with
// "not this" arms it for something else.
func Pending(t *testing.T, srv interface {
	PendingFaults() error
	ResetFaults()
}, name string) {
	t.Helper()
	if err := srv.PendingFaults(); (err != nil) != strings.HasPrefix(name, "not this ") {
		t.Errorf("pending: %v", err)
	}
	srv.ResetFaults()
}

// Refuses checks that a server refuses faults at stages where they cannot act. The faults, by
// stages, are in the form of ParseFault; stages are separated by commas, faults by spaces.
func Refuses(t *testing.T, srv interface {
	ParseFault(text string) (testserver.Fault, error)
	Arm(stage string, n int, faults ...testserver.Fault) error
}, faults map[string]string) {
	t.Helper()
	for stages, list := range faults {
		for stage := range strings.SplitSeq(stages, ",") {
			for text := range strings.FieldsSeq(list) {
				fault, err := srv.ParseFault(text)
				if err == nil {
					err = srv.Arm(stage, 1, fault)
				}
				if err == nil {
					t.Errorf("%s at %s is accepted", text, stage)
				}
			}
		}
	}
}

// Patience is how long clients wait for a reply.
const Patience = 24 * time.Hour

// Failing is a testserver.TB that records with what a test fails.
type Failing struct {
	*testing.T
	Errors string
	End    func()
}

func (f *Failing) Cleanup(end func()) { f.End = end }

func (f *Failing) Errorf(format string, args ...any) { f.Errors += fmt.Sprintf(format, args...) + "\n" }

// Fatalf ends the goroutine, as in a test.
func (f *Failing) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

// AnswerAnything sends octets, and checks that the server then ends the connection.
func AnswerAnything(t *testing.T, s Dialer, addr string, octets []byte) {
	nc := Dial(t, s, addr)
	nc.SetDeadline(time.Now().Add(time.Hour))
	go func() {
		nc.Write(octets)
		nc.(interface{ CloseWrite() error }).CloseWrite()
	}()
	if _, err := io.Copy(io.Discard, nc); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the server did not end the connection")
	}
	nc.Close()
	synctest.Wait()
}
