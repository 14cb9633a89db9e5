package interop

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// mapPorts maps the ports of a server to others, as the userland proxy of Docker does: it accepts a
// connection before it connects to the server, all connections come from one address, and a
// connection that the server resets ends in order for the client. It returns the address of the
// control port.
func mapPorts(t *testing.T, srv *ftptest.Server) string {
	t.Helper()
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	public := make(map[uint16]uint16)
	for _, port := range srv.Ports() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		context.AfterFunc(ctx, func() { l.Close() })
		public[port] = l.Addr().(*net.TCPAddr).AddrPort().Port()
		wg.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				wg.Go(func() { forward(ctx, c.(*net.TCPConn), port) })
			}
		})
	}
	if err := srv.SetPublic("127.0.0.1", public); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", public[srv.Ports()[0]])
}

func forward(ctx context.Context, client *net.TCPConn, port uint16) {
	defer client.Close()
	server, err := net.DialTCP("tcp", nil, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)))
	if err != nil {
		return
	}
	defer server.Close()
	defer context.AfterFunc(ctx, func() {
		client.Close()
		server.Close()
	})()
	var wg sync.WaitGroup
	pump := func(to, from *net.TCPConn) {
		_, _ = io.Copy(to, from)
		_ = to.CloseWrite()
		_ = from.CloseRead()
	}
	wg.Go(func() { pump(server, client) })
	pump(client, server)
	wg.Wait()
}

// portServer has files and the server that serves them.
type portServer struct {
	*ftptest.Server
	addr  string // through the mapping
	files map[string][]byte
}

func startPortServer(t *testing.T, configure func(*ftptest.Server)) *portServer {
	t.Helper()
	p := &portServer{files: make(map[string][]byte)}
	content := make(fstest.MapFS)
	random := rand.NewChaCha8([32]byte{})
	for i, size := range []int{1, 100, 1000, 5000, 20_000, 70_000, 150_000, 300_000} {
		data := make([]byte, size)
		_, _ = random.Read(data)
		name := fmt.Sprintf("f%d", i)
		p.files[name], content[name] = data, &fstest.MapFile{Data: data}
	}
	p.Server = ftptest.New(t, configure, func(s *ftptest.Server) {
		s.Content, s.ActiveToPeer, s.TLS = content, true, testserver.NewTLS()
	})
	p.addr = mapPorts(t, p.Server)
	return p
}

// portClient transfers a file. For a download it returns what it has received, also with an error.
type portClient func(upload bool, name string, data []byte) ([]byte, error)

// naive is a client that believes every last reply, and has no other check. It has a session for
// each transfer. If late is set, it connects after the transfer command.
type naive struct {
	addr string
	way  string // PASV, EPSV or PORT
	late bool
}

// naiveControl is the control connection. After an error it does nothing.
type naiveControl struct {
	*textproto.Conn
	err error
}

func (c *naiveControl) ask(line string, code int) (reply string) {
	if c.err == nil && line != "" {
		c.err = c.PrintfLine("%s", line)
	}
	if c.err == nil {
		_, reply, c.err = c.ReadResponse(code)
	}
	return reply
}

func (n naive) transfer(upload bool, name string, data []byte) (got []byte, err error) {
	nc, err := net.Dial("tcp", n.addr)
	if err != nil {
		return nil, err
	}
	c := &naiveControl{Conn: textproto.NewConn(nc)}
	defer c.Close()
	c.ask("", 220)
	c.ask("USER ftp", 331)
	c.ask("PASS x", 230)
	c.ask("TYPE I", 200)
	open := n.prepare(c)
	verb := "RETR "
	if upload {
		verb = "STOR "
	}
	if !n.late {
		nc, c.err = open()
	}
	if c.ask(verb+name, 150); n.late {
		nc, err = open()
		c.err = errors.Join(c.err, err)
	}
	if nc != nil {
		defer nc.Close()
	}
	if c.err != nil {
		return nil, c.err
	}
	if upload {
		_, err = nc.Write(data)
	} else {
		got, err = io.ReadAll(nc)
	}
	nc.Close()
	c.ask("", 226)
	return got, errors.Join(c.err, err)
}

// prepare returns what opens the data connection.
func (n naive) prepare(c *naiveControl) func() (net.Conn, error) {
	var port, high, low int
	scan := func(reply, format string, to ...any) {
		if c.err == nil {
			_, c.err = fmt.Sscanf(reply, format, to...)
		}
	}
	switch n.way {
	case "EPSV":
		scan(c.ask("EPSV", 229), "Entering Extended Passive Mode (|||%d|)", &port)
	case "PASV":
		scan(c.ask("PASV", 227), "Entering Passive Mode (127,0,0,1,%d,%d).", &high, &low)
		port = high<<8 | low
	case "PORT":
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return func() (net.Conn, error) { return nil, err }
		}
		port = l.Addr().(*net.TCPAddr).Port
		c.ask(fmt.Sprintf("PORT 10,0,0,5,%d,%d", port>>8, port&0xff), 200) // an address behind NAT
		return func() (net.Conn, error) {
			defer l.Close()
			if c.err != nil {
				return nil, c.err
			}
			return l.Accept()
		}
	}
	return func() (net.Conn, error) {
		if c.err != nil {
			return nil, c.err
		}
		return net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	}
}

// library is the client of this module. Without sessions it logs in for each transfer.
func (p *portServer) library(t *testing.T, sessions bool, configure func(*ftp.Fetcher)) portClient {
	f := &ftp.Fetcher{Env: &fetch.Env{TLS: func() (*tls.Config, error) { return &tls.Config{RootCAs: p.Roots()}, nil }}}
	if !sessions {
		f.MaxIdle = -1
	}
	configure(f)
	t.Cleanup(func() { f.Close() })
	return func(upload bool, name string, data []byte) ([]byte, error) {
		ref, err := locator.Parser{}.Parse("ftp://" + p.addr + "/" + name + ";type=i")
		if err != nil {
			return nil, err
		}
		req := &fetch.Request{Locator: ref.Locator}
		if upload {
			_, err := f.Replace(context.Background(), req, bytes.NewReader(data))
			return nil, err
		}
		res, err := f.Fetch(context.Background(), req)
		if err != nil {
			return nil, err
		}
		defer res.Close()
		return io.ReadAll(res.Body)
	}
}

// curl is the program, with a session for each transfer.
func (p *portServer) curl(t *testing.T, options ...string) portClient {
	program, local := requireTool(t, "curl"), filepath.Join(t.TempDir(), "data")
	return func(upload bool, name string, data []byte) ([]byte, error) {
		var out bytes.Buffer
		args := append([]string{"-q", "-s", "-S"}, options...)
		if upload {
			if err := os.WriteFile(local, data, 0o666); err != nil {
				return nil, err
			}
			args = append(args, "-T", local)
		}
		cmd := exec.Command(program, append(args, "ftp://"+p.addr+"/"+name)...)
		cmd.Stdout = &out
		err := cmd.Run()
		return out.Bytes(), err
	}
}

const ftplibProgram = `
import ftplib, io, os, sys
host, port = sys.argv[1].split(":")
for line in sys.stdin:
    verb, name, local = line.split()
    try:
        s = ftplib.FTP()
        s.connect(host, int(port))
        s.login()
        if verb == "STOR":
            with open(local, "rb") as f:
                s.storbinary("STOR " + name, f)
        else:
            with open(local, "wb") as f:
                s.retrbinary("RETR " + name, f.write)
        s.quit()
        result = "right"
    except (ftplib.all_errors) as e:
        result = "error " + repr(e)
    finally:
        s.close()
    print(result, flush=True)
`

// ftplib is Python's client, in a process that performs all transfers.
func (p *portServer) ftplib(t *testing.T) portClient {
	python := requireTool(t, "/usr/bin/python3")
	in, out := startPiped(t, exec.Command(python, "-c", ftplibProgram, p.addr))
	t.Cleanup(func() { in.Close() })
	lines, local := bufio.NewScanner(out), filepath.Join(t.TempDir(), "data")
	return func(upload bool, name string, data []byte) ([]byte, error) {
		verb := "RETR"
		if upload {
			verb = "STOR"
		}
		if err := os.WriteFile(local, data, 0o666); err != nil {
			return nil, err
		}
		fmt.Fprintln(in, verb, name, local)
		if !lines.Scan() {
			return nil, fmt.Errorf("python has ended: %v", lines.Err())
		}
		var err error
		if lines.Text() != "right" {
			err = errors.New(lines.Text())
		}
		got, err2 := os.ReadFile(local)
		return got, errors.Join(err, err2)
	}
}

// portCount is the number of transfers of each test: a few hundred, or FTP_PORTS_TRANSFERS.
func portCount(t *testing.T) int {
	text := os.Getenv("FTP_PORTS_TRANSFERS")
	if text == "" {
		return 240
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("FTP_PORTS_TRANSFERS: %v", err)
	}
	return n
}

// tally counts the transfers of clients that run at once.
type tally struct {
	*portServer
	t      *testing.T
	mu     sync.Mutex
	sent   map[string][]byte // what was to be uploaded
	stored map[string]bool   // what was uploaded without an error
	crowd  bool              // an empty document may look complete

	right, failed, empty, wrong int
}

// transferAll performs transfers, shared by the clients, which run at once. It fails the test for
// each transfer that was wrong: that the client took for complete although it was not, or that
// brought other bytes than those of the file. It returns the number of errors.
func (p *portServer) transferAll(t *testing.T, total int, clients map[string]portClient) (failures int) {
	t.Helper()
	return (&tally{portServer: p, t: t}).transferAll(total, clients)
}

func (a *tally) transferAll(total int, clients map[string]portClient) (failures int) {
	t := a.t
	t.Helper()
	var wg sync.WaitGroup
	a.sent, a.stored = make(map[string][]byte), make(map[string]bool)
	for kind, client := range clients {
		wg.Go(func() {
			var failed int
			var first error
			for n := range total / len(clients) {
				if err := a.transfer(kind, client, n); err != nil {
					failed++
					first = cmp.Or(first, err)
				}
			}
			t.Logf("%s: %d transfers, %d failed (%v)", kind, total/len(clients), failed, first)
		})
	}
	wg.Wait()
	uploads := a.Uploads()
	for name, want := range a.sent {
		if got := uploads[name]; !bytes.HasPrefix(want, got) || a.stored[name] && len(got) < len(want) {
			a.mistake(got, "%s: %d bytes were stored, %d expected", name, len(got), len(want))
		}
	}
	t.Logf("%d right, %d failed, %d empty, %d wrong", a.right, a.failed, a.empty, a.wrong)
	return a.failed
}

// mistake counts a transfer that was not right although one side believes it.
func (a *tally) mistake(got []byte, format string, args ...any) {
	if a.crowd && len(got) == 0 {
		a.empty++
		return
	}
	a.wrong++
	a.t.Errorf(format, args...)
}

// transfer performs the n-th transfer of a client. Every third is an upload.
func (a *tally) transfer(kind string, client portClient, n int) error {
	name := fmt.Sprintf("f%d", n%len(a.files))
	upload, want := n%3 == 0, a.files[name]
	if upload {
		name = strings.Join(strings.Fields(kind), "") + strconv.Itoa(n)
	}
	got, err := client(upload, name, want)
	a.mu.Lock()
	defer a.mu.Unlock()
	if upload {
		a.sent[name], a.stored[name] = want, err == nil
		got = nil // what the server has is compared at the end
	}
	switch {
	case !bytes.HasPrefix(want, got) || err == nil && !upload && len(got) < len(want):
		a.mistake(got, "%s: transfer %d: %d bytes of %s, %d expected, error %v", kind, n, len(got), name, len(want), err)
	case err != nil:
		a.failed++
	default:
		a.right++
	}
	return err
}

// TestFTPDataPorts has eight clients of one address use four mapped ports. FTP_PORTS_TRANSFERS is
// the number of transfers.
func TestFTPDataPorts(t *testing.T) {
	t.Parallel()
	p := startPortServer(t, func(s *ftptest.Server) { s.DataPorts = 4 })
	if failures := p.transferAll(t, portCount(t), map[string]portClient{
		"PASV":                naive{p.addr, "PASV", false}.transfer,
		"EPSV, connects late": naive{p.addr, "EPSV", true}.transfer,
		"PORT":                naive{p.addr, "PORT", true}.transfer,
		"library":             p.library(t, true, func(f *ftp.Fetcher) {}),
		"library, TLS":        p.library(t, true, func(f *ftp.Fetcher) { f.Security = ftp.RequireTLS }),
		"library, TLS, PORT":  p.library(t, true, func(f *ftp.Fetcher) { f.Security, f.Active = ftp.RequireTLS, &ftp.Active{} }),
		"curl":                p.curl(t),
		"ftplib":              p.ftplib(t),
	}); failures > 0 {
		t.Errorf("%d transfers failed", failures)
	}
}

// TestFTPOnePort has one client at a time use the control port for data, of each kind of client.
func TestFTPOnePort(t *testing.T) {
	t.Parallel()
	p := startPortServer(t, func(s *ftptest.Server) { s.OnePort = true })
	clients := map[string]portClient{
		"PASV":                naive{p.addr, "PASV", false}.transfer,
		"EPSV, connects late": naive{p.addr, "EPSV", true}.transfer,
		"library":             p.library(t, false, func(f *ftp.Fetcher) {}),
		"library, TLS":        p.library(t, false, func(f *ftp.Fetcher) { f.Security = ftp.RequireTLS }),
		"curl, PASV":          p.curl(t, "--disable-epsv"),
		"ftplib":              p.ftplib(t),
	}
	for kind, client := range clients {
		t.Run(kind, func(t *testing.T) {
			if failures := p.transferAll(t, portCount(t)/len(clients), map[string]portClient{kind: client}); failures > 0 {
				t.Errorf("%d transfers failed", failures)
			}
		})
	}
}

// TestFTPOnePortCrowd has eight clients use the one port at once. Most transfers fail. No client
// may get bytes of another one or a part of a document without an error. An empty document may look
// complete: that depends on how long a connection is on its way, so on the load of the machine. The
// test of that name in ftptest, where time is simulated, permits no mistake.
func TestFTPOnePortCrowd(t *testing.T) {
	t.Parallel()
	p := startPortServer(t, func(s *ftptest.Server) { s.OnePort = true })
	a := &tally{portServer: p, t: t, crowd: true}
	a.transferAll(portCount(t), map[string]portClient{
		"PASV":                naive{p.addr, "PASV", false}.transfer,
		"PASV too":            naive{p.addr, "PASV", false}.transfer,
		"EPSV":                naive{p.addr, "EPSV", false}.transfer,
		"EPSV, connects late": naive{p.addr, "EPSV", true}.transfer,
		"library":             p.library(t, false, func(f *ftp.Fetcher) {}),
		"library, TLS":        p.library(t, false, func(f *ftp.Fetcher) { f.Security = ftp.RequireTLS }),
		"curl":                p.curl(t),
		"ftplib":              p.ftplib(t),
	})
}
