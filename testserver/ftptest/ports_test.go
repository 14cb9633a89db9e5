package ftptest_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
)

// motd is the content of motd.txt.
const motd = "hello\nworld\n"

// large is the content of a file, big, that does not fit into the buffers of a connection.
var large = strings.Repeat("0123456789", 100_000)

// play runs a script of connections, which have names. A line is one of
//
//	A+            opens connection A to the control port; A+1 to the first of DataPorts
//	A login       reads the greeting and logs in
//	A COMMAND     sends a command; with "=> 229" it also reads the reply, which begins like that
//	A => 226      reads a reply
//	A motd        reads motd.txt to the end
//	A broken      reads the beginning of big, behind which the connection was reset
//	A reset       checks that the connection was reset without a byte
//	A quiet       checks that nothing has arrived
//	A send TEXT   sends text
//	A close       closes the connection
//	wait 2s       waits
func play(t *testing.T, srv *ftptest.Server, script string) {
	t.Helper()
	conns := make(map[string]*testclient.FTP)
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		name, rest, _ := strings.Cut(line, " ")
		c := conns[name]
		command, reply, asks := strings.Cut(rest, "=> ")
		switch {
		case line == "":
		case name == "wait":
			d, err := time.ParseDuration(rest)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(d)
		case strings.Contains(name, "+"):
			var n int
			name, _, _ := strings.Cut(name, "+")
			fmt.Sscanf(line, name+"+%d", &n)
			conns[name] = testclient.NewFTP(t, srv, testclient.Dial(t, srv, fmt.Sprintf("127.0.0.1:%d", srv.Ports()[n])))
			conns[name].SetDeadline(time.Now().Add(time.Hour))
		case c == nil:
			t.Fatalf("%s: no such connection", line)
		case rest == "login":
			if got := c.Reply(); !strings.HasPrefix(got, "220") {
				t.Errorf("%s: greeting %q", line, got)
			}
			c.Expect("USER ftp", "331")
			c.Expect("PASS x", "230")
			c.Expect("TYPE I", "200")
		case rest == "motd":
			if got, err := io.ReadAll(c.Conn); string(got) != motd || err != nil {
				t.Errorf("%s: %q, %v", line, got, err)
			}
		case rest == "broken":
			got, err := io.ReadAll(c.Conn)
			if !strings.HasPrefix(large, string(got)) || len(got) == len(large) || !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("%s: %d bytes, %v", line, len(got), err)
			}
		case rest == "reset":
			if n, err := c.Read(make([]byte, 1)); n > 0 || !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("%s: %d bytes, %v", line, n, err)
			}
		case rest == "quiet":
			if c.Conn.(interface{ Readable() bool }).Readable() {
				t.Errorf("%s: something has arrived", line)
			}
		case rest == "close":
			c.Close()
		case strings.HasPrefix(rest, "send "):
			io.WriteString(c, rest[len("send "):])
		case asks && command != "":
			if got := c.Expect(strings.TrimSpace(command), reply); t.Failed() {
				t.Fatalf("%s: %q", line, got)
			}
		case asks:
			if got := c.Reply(); !strings.HasPrefix(got, reply) {
				t.Fatalf("%s: %q", line, got)
			}
		default:
			c.Send(rest)
		}
		synctest.Wait()
	}
}

// testScripts plays each script at a server of its own, in memory.
func testScripts(t *testing.T, configure func(*ftptest.Server), scripts map[string]string) {
	for name, script := range scripts {
		testclient.InBubble(t, name, func(t *testing.T) {
			srv := ftptest.New(t, inMemory, configure)
			if err := srv.Put("big", []byte(large)); err != nil {
				t.Fatal(err)
			}
			play(t, srv, script)
		})
	}
}

// TestFTPDataPorts tests a pool with one port: how a session may give it up, and when its
// connection comes. The next session must receive the right bytes. The port is 49152.
func TestFTPDataPorts(t *testing.T) {
	const a, b = "A+\nA login\nA EPSV => 229\n", "\nB+\nB login\nB EPSV => 229\nb+1\nB RETR motd.txt => 150\nb motd\nB => 226"
	testScripts(t, func(s *ftptest.Server) { s.DataPorts, s.PassivePorts = 1, [2]uint16{49152, 49152} }, map[string]string{
		"used":                                            a + "a+1\nA RETR motd.txt => 150\na motd\nA => 226" + b,
		"free while a transfer runs":                      a + "a+1\nA STOR x => 150" + b + "\na send x\na close\nA => 226",
		"given up, connection first":                      a + "a+1\nA PORT 127,0,0,1,200,1 => 200\na reset" + b,
		"given up, connection after a while":              a + "A PORT 127,0,0,1,200,1 => 200\nwait 1s\na+1\na reset" + b,
		"given up, no connection":                         a + "A PORT 127,0,0,1,200,1 => 200" + b,
		"given up, connection late":                       a + "A PORT 127,0,0,1,200,1 => 200\nwait 3s\na+1" + b + "\na reset",
		"reinitialized":                                   a + "a+1\nA REIN => 220\na reset" + b,
		"left, connection first":                          a + "a+1\nA close\na reset" + b,
		"left, connection after a while":                  a + "A close\nwait 1s\na+1\na reset" + b,
		"left, connection late":                           a + "A close\nwait 3s\na+1" + b + "\na reset",
		"left during the transfer":                        a + "A RETR motd.txt => 150\nA close\nwait 1s\na+1\na reset" + b,
		"aborted before the connection":                   a + "A RETR motd.txt => 150\nA ABOR => 426\nA => 226\na+1\na reset" + b,
		"no connection in time":                           a + "A RETR motd.txt => 150\nA => 425\nwait 1s\na+1\na reset" + b,
		"port scan":                                       "a+1" + b + "\na reset",
		"waits for the port":                              a + "B+\nB login\nB EPSV\nwait 9s\nB quiet\na+1\nA RETR motd.txt => 150\na motd\nA => 226\nB => 229\nb+1\nB RETR motd.txt => 150\nb motd\nB => 226",
		"no port in time":                                 a + "B+\nB login\nB EPSV\nwait 9s\nB quiet\nB => 425 No data port is free.\nB PASV\nB NOOP\nA QUIT => 221\nB => 227\nB => 200",
		"leaves while it waits":                           a + "B+\nB login\nB EPSV\nB close\nA QUIT => 221\nwait 2s\nC+\nC login\nC PASV => 227",
		"aborts while it waits":                           a + "B+\nB login\nB EPSV\nB ABOR\nB => 425\nB => 226",
		"gives up the own port":                           a + "a+1\nA PASV => 227\na reset\nb+1\nA RETR motd.txt => 150\nb motd\nA => 226",
		"gives up the own port, connection after a while": a + "A PASV\nwait 1s\nA quiet\na+1\na reset\nA => 227\nb+1\nA RETR motd.txt => 150\nb motd\nA => 226",
	})
}

// TestFTPDataPortsInTurn tests that the port that was used longest ago is taken first.
func TestFTPDataPortsInTurn(t *testing.T) {
	testScripts(t, func(s *ftptest.Server) { s.DataPorts, s.PassivePorts = 3, [2]uint16{50000, 50009} }, map[string]string{"": `
A+
A login
A EPSV => 229 Entering Extended Passive Mode (|||50000|)
a+1
A EPSV => 229 Entering Extended Passive Mode (|||50001|)
a reset
b+2
A RETR motd.txt => 150
b motd
A => 226
A EPSV => 229 Entering Extended Passive Mode (|||50002|)
c+3
A EPSV => 229 Entering Extended Passive Mode (|||50000|)`})
}

// TestFTPOnePort tests what happens to connections to the only port, in many orders.
func TestFTPOnePort(t *testing.T) {
	const (
		a   = "A+\nA login\nA EPSV => 229 Entering Extended Passive Mode (|||21|)\n"
		get = "\nA EPSV => 229\na+\nA RETR motd.txt => 150\na motd\nA => 226"
		two = "425 One port: two candidates."
	)
	testScripts(t, func(s *ftptest.Server) { s.OnePort = true }, map[string]string{
		"one client":                         a + "a+\na quiet\nA RETR motd.txt => 150\na motd\nA => 226" + get + get + "\nA QUIT => 221\nB+\nB login",
		"data connection after the command":  a + "A RETR motd.txt => 150\nwait 5s\na+\na motd\nA => 226",
		"upload":                             a + "a+\nA STOR x => 150\na send x\na close\nA => 226\nA SIZE x => 213 1",
		"no data connection":                 a + "A RETR motd.txt => 150\nA => 425 Can't open data connection.\nwait 1s\na+\na reset" + get,
		"no data connection, later":          a + "A RETR motd.txt => 150\nA => 425\nA EPSV\nwait 1s\nA quiet\na+\na reset\nA => 229",
		"waits for the end of the session":   "A+\nA login\nB+\nwait 1s\nB quiet\nA QUIT => 221\nB login",
		"waits in vain":                      "A+\nA login\nB+\nwait 1s\nB quiet\nB reset\nA NOOP => 200",
		"all wait in turn":                   "A+\nA login\nB+\nC+\nA QUIT => 221\nC quiet\nB login\nB QUIT => 221\nC login",
		"the first leaves":                   "A+\nA login\nB+\nA close\nB login",
		"the one that waits leaves":          "A+\nA login\nB+\nB close\nA QUIT => 221\nC+\nC login",
		"another waits before the reply":     "A+\nA login\nB+\nA EPSV => 229\na+\nA RETR motd.txt => 150\na motd\nA => 226\nB quiet\nA QUIT => 221\nB login",
		"two candidates before the command":  a + "a+\nB+\na reset\nB reset\nA RETR motd.txt => 150\nA => " + two + get,
		"two candidates, the other first":    a + "B+\nB quiet\na+\na reset\nB reset\nA RETR motd.txt => 150\nA => " + two + get,
		"two candidates after the command":   a + "A RETR motd.txt => 150\na+\nB+\na reset\nB reset\nA => " + two + get,
		"three candidates":                   a + "a+\nB+\nC+\na reset\nB reset\nC reset\nA RETR motd.txt => 150\nA => " + two + get,
		"upload with two candidates":         a + "a+\na send x\nB+\nA STOR x => 150\nA => " + two + "\nA SIZE x => 550",
		"a connection during a download":     a + "a+\nA RETR big => 150\nwait 1s\nB+\nB reset\nA => 426 One port: two candidates.\na broken" + get,
		"a connection during an upload":      a + "a+\nA STOR x => 150\na send x\nwait 1s\nB+\nB reset\nA => " + two + "\na reset\nA SIZE x => 550",
		"the wrong one was taken":            a + "B+\nA STOR x => 150\nwait 1s\na+\na reset\nB reset\nA => " + two + "\nA SIZE x => 550",
		"after a sign, it takes longer":      a + "a+\nB+\nA RETR motd.txt => 150\nA => 425\nA EPSV => 229\nb+\nA RETR motd.txt => 150\nwait 99ms\nb quiet\nC+\nC reset\nb reset\nA => " + two,
		"replaced, connection first":         a + "a+\nA PASV => 227\na reset\nb+\nA RETR motd.txt => 150\nb motd\nA => 226",
		"replaced, connection after a while": a + "A PASV\nwait 1s\nA quiet\na+\na reset\nA => 227\nb+\nA RETR motd.txt => 150\nb motd\nA => 226",
		"replaced, no connection":            a + "A PASV => 227\nb+\nA RETR motd.txt => 150\nwait 80ms\nb quiet\nb motd\nA => 226",
		"replaced by active mode":            a + "a+\nA PORT 127,0,0,1,200,1 => 200\na reset" + get,
		"left, connection first":             a + "a+\nA close\na reset\nB+\nB login",
		"left, connection after a while":     a + "A close\nwait 1s\na+\na reset\nB+\nB login",
		"left, another comes first":          a + "A close\nwait 1s\nB+\nB reset",
		"left, no connection":                a + "A close\nwait 3s\nB+\nB login",
		"left, another waits":                "A+\nA login\nB+\nA EPSV => 229\nA QUIT => 221\nwait 1s\nB quiet\na+\na reset\nB login",
		"left during a transfer":             a + "a+\nA STOR x => 150\nA close\nB+\nB login",
		"left with two candidates":           a + "a+\nB+\nA QUIT => 221\nC+\nC login",
		"the transfer is refused":            a + "a+\nA RETR nix => 550\na quiet\nA EPSV => 229\na reset\nb+\nA RETR motd.txt => 150\nb motd\nA => 226",
	})
}

// TestFTPOnePortUnderTLS tests that a connection that may be a data connection receives nothing,
// also if it begins with TLS.
func TestFTPOnePortUnderTLS(t *testing.T) {
	withTLS(t, func(s *ftptest.Server) { s.OnePort = true }, func(t *testing.T, srv *ftptest.Server, c *secureClient) {
		c.expect("", "220")
		c.expect("AUTH TLS", "234")
		c.secure()
		c.Play("C: USER ftp\nS: 331\nC: PASS x\nS: 230\nC: TYPE I\nS: 200\nC: PBSZ 0\nS: 200\nC: PROT P\nS: 200\nC: EPSV\nS: 229")
		data := testclient.Dial(t, srv, srv.Addr)
		c.expect("RETR motd.txt", "150")
		secure := tlsClient(data, c)
		if got, err := io.ReadAll(secure); string(got) != motd || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		c.expect("", "226")

		c.expect("EPSV", "229")
		data, other := testclient.Dial(t, srv, srv.Addr), testclient.Dial(t, srv, srv.Addr)
		c.expect("RETR motd.txt", "150")
		for _, nc := range []net.Conn{data, other} {
			if err := tlsClient(nc, c).Handshake(); err == nil {
				t.Error("a candidate has received an answer")
			}
		}
		c.expect("", "425 One port: two candidates.")
	})
}

// TestFTPOnePortLastReply tests that a connection which arrives before the last reply counts.
func TestFTPOnePortLastReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) { s.OnePort = true })
		srv.On("END", 1, testserver.Delay(time.Second))
		play(t, srv, "A+\nA login\nA EPSV => 229\na+\nA RETR motd.txt => 150\na motd\nB+\nB reset\nA => 426 One port: two candidates.")
	})
}

// TestFTPPublic tests what passive replies say.
func TestFTPPublic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) {
			s.DataPorts, s.PassivePorts, s.PassiveHost = 2, [2]uint16{50000, 50001}, "192.0.2.1"
		})
		if got := srv.Ports(); !slices.Equal(got, []uint16{21, 50000, 50001}) {
			t.Errorf("ports %v", got)
		}
		c := testclient.LoginFTP(t, srv)
		passive := func(command, want string) {
			t.Helper()
			if got := c.Expect(command, "2"); !strings.HasSuffix(got, want) {
				t.Errorf("%s: %q, want %s", command, got, want)
			}
			c.Expect("PORT 127,0,0,1,200,1", "200")
			time.Sleep(2 * time.Second)
		}
		passive("PASV", "(192,0,2,1,195,80).")
		if err := srv.SetPublic("10.0.0.5", map[uint16]uint16{50000: 258, 50001: 40001}); err != nil {
			t.Fatal(err)
		}
		passive("PASV", "(10,0,0,5,156,65).")
		passive("PASV", "(10,0,0,5,1,2).")
		passive("EPSV", "(|||40001|)")
		for _, host := range []string{"10.0.0.5\r\n226 x", "10,0,0,5", "a b", "user@host", "host/"} {
			if srv.SetPublic(host, nil) == nil {
				t.Errorf("%q is accepted", host)
			}
		}
		for _, ports := range []map[uint16]uint16{{0: 1}, {50000: 0}} {
			if srv.SetPublic("", ports) == nil {
				t.Errorf("%v is accepted", ports)
			}
		}
		passive("EPSV", "(|||258|)")
		if err := srv.SetPublic("", map[uint16]uint16{50000: 6000}); err != nil {
			t.Fatal(err)
		}
		passive("PASV", "(192,0,2,1,195,81).")
		passive("EPSV", "(|||6000|)")
		// PASV has no place for other hosts.
		for host, told := range map[string]string{"localhost": "(127,0,0,1,", "::1": "(192,0,2,1,", "host.example": "(192,0,2,1,"} {
			if err := srv.SetPublic(host, nil); err != nil {
				t.Fatal(err)
			}
			if got := c.Expect("PASV", "2"); !strings.Contains(got, told) {
				t.Errorf("%s: %q", host, got)
			}
			c.Expect("PORT 127,0,0,1,200,1", "200")
			time.Sleep(2 * time.Second)
		}
	})
}

// TestFTPPorts tests settings with which the server does not start.
func TestFTPPorts(t *testing.T) {
	for name, configure := range map[string]func(*ftptest.Server){
		"a negative number":          func(s *ftptest.Server) { s.DataPorts = -1 },
		"too few ports":              func(s *ftptest.Server) { s.DataPorts, s.PassivePorts = 3, [2]uint16{50000, 50001} },
		"one port and others":        func(s *ftptest.Server) { s.OnePort, s.DataPorts = true, 1 },
		"one port and its number":    func(s *ftptest.Server) { s.OnePort, s.PassivePorts = true, [2]uint16{50000, 50001} },
		"a host that is no address":  func(s *ftptest.Server) { s.PassiveHost = "host.example" },
		"a host that ends the reply": func(s *ftptest.Server) { s.PassiveHost = "10.0.0.5\r\n" },
	} {
		t.Run(name, func(t *testing.T) {
			network := new(testserver.Network)
			srv, err := ftptest.Start(t.Context(), "", configure, func(s *ftptest.Server) { s.Network = network })
			if err == nil {
				srv.Close()
				t.Fatal("it starts")
			}
			l, err := network.Listen(t.Context(), "tcp", "127.0.0.1:21")
			if err != nil {
				t.Fatalf("the port of the server that did not start: %v", err)
			}
			l.Close()
		})
	}
}

// TestFTPActiveToPeer tests a client that names another address than its own.
func TestFTPActiveToPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) { s.ActiveToPeer = true })
		l, err := srv.Network.Listen(t.Context(), "tcp", "127.0.0.1:50000")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		c := testclient.LoginFTP(t, srv)
		for _, command := range []string{"PORT 192,168,1,5,195,80", "EPRT |1|192.168.1.5|50000|", "EPRT |2|2001:db8::1|50000|"} {
			c.Expect(command, "200")
			c.Send("RETR motd.txt")
			nc, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			if data, err := io.ReadAll(nc); string(data) != motd || err != nil {
				t.Errorf("%s: %q, %v", command, data, err)
			}
			nc.Close()
			c.Reply()
			c.Reply()
		}
		c.Expect("PORT 192,168,1,5,0,80", "504")
	})
}

// TestFTPOnePortWaitIdle tests that a connection that waits for its session is not forgotten.
func TestFTPOnePortWaitIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) { s.OnePort = true })
		a := testclient.LoginFTP(t, srv)
		b := testclient.NewFTP(t, srv, testclient.Dial(t, srv, srv.Addr))
		idle := make(chan error, 1)
		go func() { idle <- srv.WaitIdle(t.Context()) }()
		a.Expect("QUIT", "221")
		a.Close()
		b.Reply()
		synctest.Wait()
		if len(idle) > 0 {
			t.Error("WaitIdle has returned while a client is served")
		}
		b.Expect("QUIT", "221")
		b.Close()
		if err := <-idle; err != nil {
			t.Error(err)
		}
	})
}
