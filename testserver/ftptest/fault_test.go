package ftptest_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/webtest"
)

// TestFTPTransferFaults tests what a client sees of a RETR of "hello\nworld\n".
func TestFTPTransferFaults(t *testing.T) {
	const whole = "hello\nworld\n"
	ok, opening := "226 Transfer complete.", "150 Opening BINARY mode data connection for motd.txt (12 bytes)."
	for _, tt := range []struct {
		name              string
		stage             string
		faults            []ftptest.Fault
		data, first, last string
		err               error
		takes             time.Duration
	}{
		{"none", "RETR", nil, whole, opening, ok, nil, 0},
		{"truncate", "RETR", []ftptest.Fault{testserver.Truncate(2)}, "he", opening, ok, nil, 0},
		{"truncate to nothing", "RETR", []ftptest.Fault{testserver.Truncate(0)}, "", opening, ok, nil, 0},
		{"truncate beyond the end", "RETR", []ftptest.Fault{testserver.Truncate(99)}, whole, opening, ok, nil, 0},
		{"truncate and tell", "RETR", []ftptest.Fault{testserver.Truncate(2), testserver.Reply("426 aborted")}, "he", opening, "426 aborted", nil, 0},
		{"by argument", "retr motd.txt", []ftptest.Fault{testserver.Truncate(2)}, "he", opening, ok, nil, 0},
		{"not this argument", "RETR x", []ftptest.Fault{testserver.Truncate(2)}, whole, opening, ok, nil, 0},
		{"truncate any data", "DATA", []ftptest.Fault{testserver.Truncate(2)}, "he", opening, ok, nil, 0},
		{"reset", "RETR", []ftptest.Fault{testserver.Reset(2)}, "he", opening, "426 Connection closed; transfer aborted.", syscall.ECONNRESET, 0},
		{"reset at the end", "RETR", []ftptest.Fault{testserver.Reset(12)}, whole, opening, "426 Connection closed; transfer aborted.", syscall.ECONNRESET, 0},
		{"reset at once", "RETR", []ftptest.Fault{testserver.Reset(0)}, "", opening, "426 Connection closed; transfer aborted.", syscall.ECONNRESET, 0},
		{"drip", "RETR", []ftptest.Fault{testserver.Drip(1, time.Minute)}, whole, opening, ok, nil, 12 * time.Minute},
		{"drip and truncate", "RETR", []ftptest.Fault{testserver.Drip(2, time.Minute), testserver.Truncate(5)}, "hello", opening, ok, nil, 3 * time.Minute},
		{"split", "RETR", []ftptest.Fault{testserver.Split(5)}, whole, opening, ok, nil, 0},
		{"garble", "RETR", []ftptest.Fault{testserver.Garble(4, "\x00\xff")}, "hell\x00\xffworld\n", opening, ok, nil, 0},
		{"garble dripped", "RETR", []ftptest.Fault{testserver.Garble(4, "AB"), testserver.Drip(1, 0)}, "hellABworld\n", opening, ok, nil, 0},
		{"data", "RETR", []ftptest.Fault{testserver.Data("other")}, "other", opening, ok, nil, 0},
		{"delay", "RETR", []ftptest.Fault{testserver.Delay(time.Hour)}, whole, opening, ok, nil, time.Hour},
		{"delay of data", "DATA", []ftptest.Fault{testserver.Delay(time.Minute)}, whole, opening, ok, nil, time.Minute},
		{"delay of the end", "END", []ftptest.Fault{testserver.Delay(time.Hour)}, whole, opening, ok, nil, time.Hour},
		{"refused", "RETR", []ftptest.Fault{testserver.Reply("550 no")}, "", "550 no", "", nil, 0},
		{"another first reply", "RETR", []ftptest.Fault{testserver.Reply("125 go")}, whole, "125 go", ok, nil, 0},
		{"another last reply", "RETR", []ftptest.Fault{testserver.Reply("250 done")}, whole, opening, "250 done", nil, 0},
		{"a last reply that fails", "END", []ftptest.Fault{testserver.Reply("451 disk")}, whole, opening, "451 disk", nil, 0},
		{"data connection closed", "DATA", []ftptest.Fault{testserver.Close()}, "", opening, ok, nil, 0},
		{"no last reply", "RETR", []ftptest.Fault{ftptest.NoFinalReply()}, whole, opening, "!" + os.ErrDeadlineExceeded.Error(), nil, testclient.Patience},
		{"silence at the end", "END", []ftptest.Fault{testserver.Silence()}, whole, opening, "!" + os.ErrDeadlineExceeded.Error(), nil, testclient.Patience},
		{"silence", "RETR", []ftptest.Fault{testserver.Silence()}, "", "!" + os.ErrDeadlineExceeded.Error(), "", nil, testclient.Patience},
		{"closed at the end", "END", []ftptest.Fault{testserver.Close()}, whole, opening, "!EOF", nil, 0},
		{"closed", "RETR", []ftptest.Fault{testserver.Close()}, "", "!EOF", "", nil, 0},
		{"half a last reply", "END", []ftptest.Fault{testserver.Truncate(3)}, whole, opening, "226!EOF", nil, 0},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := ftptest.New(t, inMemory, func(s *ftptest.Server) { s.IdleTimeout = 2 * testclient.Patience })
			c := testclient.LoginFTP(t, srv)
			srv.On(tt.stage, 1, tt.faults...)
			start := time.Now()
			c.SetDeadline(start.Add(testclient.Patience))
			data, first, last, err := c.Get("RETR motd.txt")
			testclient.Pending(t, srv, tt.name)
			took := time.Since(start)
			last, _, _ = strings.Cut(last, "!read tcp")
			first, _, _ = strings.Cut(first, "!read tcp")
			if want := strings.TrimSuffix(tt.first, "!"+os.ErrDeadlineExceeded.Error()); first != want {
				t.Errorf("first reply %q, want %q", first, want)
			}
			if want := strings.TrimSuffix(tt.last, "!"+os.ErrDeadlineExceeded.Error()); last != want {
				t.Errorf("last reply %q, want %q", last, want)
			}
			if data != tt.data || !errors.Is(err, tt.err) {
				t.Errorf("data %q, %v; want %q, %v", data, err, tt.data, tt.err)
			}
			if took != tt.takes {
				t.Errorf("took %v, want %v", took, tt.takes)
			}
		})
	}
}

func TestFTPReplyFaults(t *testing.T) {
	timeout := "timeout"
	for _, tt := range []struct {
		name   string
		fault  ftptest.Fault
		first  string // the reply to PWD
		second string // the reply to NOOP
	}{
		{"reply", testserver.Reply("257-\"/x\"\n257 end"), "257-\"/x\"\n257 end", "200 Ok."},
		{"reply without a code", testserver.Reply("what?"), "what?", "200 Ok."},
		{"extra reply", testserver.ExtraReply(""), `257 "/" is the current directory.`, `257 "/" is the current directory.`},
		{"another extra reply", testserver.ExtraReply("200 extra"), `257 "/" is the current directory.`, "200 extra"},
		{"silence", testserver.Silence(), timeout, timeout},
		{"close", testserver.Close(), "!EOF", "!EOF"},
		{"truncate", testserver.Truncate(5), `257 "!EOF`, "!EOF"},
		{"garble", testserver.Garble(0, "999"), `999 "/" is the current directory.`, "200 Ok."},
		{"split", testserver.Split(1), `257 "/" is the current directory.`, "200 Ok."},
	} {
		testclient.InBubble(t, tt.name, func(t *testing.T) {
			srv := ftptest.New(t, inMemory)
			c := testclient.LoginFTP(t, srv)
			srv.On("PWD", 1, tt.fault)
			c.SetDeadline(time.Now().Add(time.Hour))
			for _, step := range [][2]string{{"PWD", tt.first}, {"NOOP", tt.second}} {
				c.Send(step[0])
				got := c.Reply()
				if strings.Contains(got, os.ErrDeadlineExceeded.Error()) {
					got = timeout
				}
				if got != step[1] {
					t.Errorf("%s: %q, want %q", step[0], got, step[1])
				}
			}
		})
	}
}

func TestGarbage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory)
		for _, seed := range []uint64{1, 1, 2} {
			srv.On("NOOP", 0, testserver.Garbage(5000, seed))
			c := testclient.LoginFTP(t, srv)
			c.Send("NOOP")
			c.Reply()
			srv.ResetFaults()
		}
		var noise []string
		for _, l := range srv.Transcript() {
			if len(l.Octets) > 1000 {
				noise = append(noise, l.Octets)
			}
		}
		if len(noise) != 3 || noise[0] != noise[1] || noise[0] == noise[2] {
			t.Errorf("%d lines of noise; the seed must determine their contents", len(noise))
		}
	})
}

// If an armed reply has a positive code, the command works nevertheless.
func TestFTPReplyAndCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory)
		srv.On("CWD", 1, testserver.Reply("200 fine"))
		srv.On("CWD", 2, testserver.Reply("550 no"))
		c := testclient.LoginFTP(t, srv)
		c.Expect("CWD pub", "200 fine")
		c.Expect("CWD sub", "550 no")
		c.Expect("PWD", `257 "/pub"`)
	})
}

// TestReplyBeforeReplies tests that an armed reply comes before a text of Replies.
func TestReplyBeforeReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory, ftptest.MLSDRefused)
		srv.On("MLSD", 1, testserver.Reply("250 armed"))
		c := testclient.LoginFTP(t, srv)
		c.Expect("MLSD", "250 armed")
		c.Expect("MLSD", "550")
	})
}

// TestPortInReplies tests that the text of an armed reply can have the passive port.
func TestPortInReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory)
		srv.On("PASV", 1, testserver.Reply("229 {port} {high} {low}"))
		c := testclient.LoginFTP(t, srv)
		var port, high, low int
		text := c.Expect("PASV", "229 ")
		if _, err := fmt.Sscanf(text, "229 %d %d %d", &port, &high, &low); err != nil || port == 0 || port != high<<8|low {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// TestArgumentLikeCode tests that an argument is not taken for the code of a key: "CWD 250" is one.
func TestArgumentLikeCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory, ftptest.VSFTPD, func(s *ftptest.Server) {
			s.Content = fstest.MapFS{"250/a.bin": {Data: []byte("data")}}
		})
		c := testclient.LoginFTP(t, srv)
		c.Expect("CWD 250", "250 Directory successfully changed.")
		c.Expect("PWD", `257 "/250"`)
		c.Expect("CWD ", "550")
	})
}

func TestOccurrences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) {
			s.On("GREETING", 2, testserver.Reply("421 full"))
			s.On("NOOP", 2, testserver.Reply("200 second"))
			s.On("noop", 0, testserver.Split(1))
		})
		c := testclient.DialFTP(t, srv)
		c.Expect("NOOP", "200 Ok.")
		other := testclient.Dial(t, srv, srv.Addr)
		if line := make([]byte, 10); true {
			io.ReadFull(other, line)
			if string(line) != "421 full\r\n" {
				t.Errorf("second greeting %q", line)
			}
		}
		c.Expect("NOOP", "200 second")
		c.Expect("NOOP", "200 Ok.")
		srv.On("NOOP", 2, testserver.Reply("200 second from now"))
		c.Expect("NOOP", "200 Ok.")
		c.Expect("NOOP", "200 second from now")
		srv.On("NOOP", 1, testserver.Reply("200 never sent"))
		srv.ResetFaults()
		c.Expect("NOOP", "200 Ok.")
	})
}

// TestPendingFaults checks that a test fails if a fault that it armed was never used.
func TestPendingFaults(t *testing.T) {
	tb := &testclient.Failing{T: t}
	srv := ftptest.New(tb, inMemory)
	srv.On("NOOP", 0, testserver.Split(1))
	_, _, line, _ := runtime.Caller(0)
	srv.On("NOOP", 2, testserver.Close())
	srv.On("RTER", 1, testserver.Truncate(2), testserver.Close())
	testclient.DialFTP(t, srv).Expect("NOOP", "200")
	tb.End()
	want := fmt.Sprintf(`fault_test.go:%d: testserver: ftp://127.0.0.1:21: fault never used: On("NOOP", 2, Close())
fault_test.go:%d: testserver: ftp://127.0.0.1:21: fault never used: On("RTER", 1, Truncate(2), Close())
`, line+1, line+2)
	if tb.Errors != want {
		t.Errorf("the test failed with %q, want %q", tb.Errors, want)
	}
	if err := srv.Close(); err == nil || err.Error()+"\n" != want {
		t.Errorf("closed again: %v", err)
	}
	srv.ResetFaults()
	if err := srv.Close(); err != nil {
		t.Errorf("PendingFaults with nothing armed: %v", err)
	}
}

func TestEndlessLineEndsWithTheClient(t *testing.T) {
	for _, stage := range []string{"GREETING", "CONNECT"} {
		testclient.InBubble(t, stage, func(t *testing.T) {
			srv := ftptest.New(t, inMemory)
			srv.On(stage, 1, testserver.EndlessLine())
			nc := testclient.Dial(t, srv, srv.Addr)
			got := make([]byte, 1<<20)
			if _, err := io.ReadFull(nc, got); err != nil || strings.Trim(string(got), "a") != "" {
				t.Errorf("%v", err)
			}
			nc.Close()
			synctest.Wait()
			lines := srv.Transcript()
			if len(lines) != 1 || len(lines[0].Octets) != 4<<10 {
				t.Errorf("recorded %d lines", len(lines))
			}
		})
	}
}

func TestConnectFaults(t *testing.T) {
	const greeting = "220 testserver ready\r\n"
	for _, tt := range []struct {
		fault ftptest.Fault
		data  string
		err   error
		takes time.Duration
	}{
		{testserver.Truncate(0), "", nil, 0},
		{testserver.Truncate(3), "220", nil, 0},
		{testserver.Reset(0), "", syscall.ECONNRESET, 0},
		{testserver.Reset(4), "220 ", syscall.ECONNRESET, 0},
		{testserver.Close(), "", nil, 0},
		{testserver.Reply("421 too many users"), "421 too many users\r\n", nil, 0},
		{testserver.Delay(time.Minute), greeting, os.ErrDeadlineExceeded, time.Hour},
		{testserver.Drip(2, time.Minute), greeting, os.ErrDeadlineExceeded, time.Hour},
		{testserver.Silence(), "", os.ErrDeadlineExceeded, time.Hour},
		{testserver.Garble(0, "x"), "x" + greeting[1:], os.ErrDeadlineExceeded, time.Hour},
	} {
		testclient.InBubble(t, tt.fault.String(), func(t *testing.T) {
			srv := ftptest.New(t, inMemory, func(s *ftptest.Server) { s.IdleTimeout = 2 * time.Hour })
			srv.On("CONNECT", 1, tt.fault)
			start := time.Now()
			nc := testclient.Dial(t, srv, srv.Addr)
			nc.SetReadDeadline(start.Add(time.Hour))
			data, err := io.ReadAll(nc)
			if string(data) != tt.data || !errors.Is(err, tt.err) {
				t.Errorf("got %q, %v; want %q, %v", data, err, tt.data, tt.err)
			}
			if took := time.Since(start); took != tt.takes {
				t.Errorf("took %v, want %v", took, tt.takes)
			}
		})
	}
}

func TestGather(t *testing.T) {
	testclient.InBubble(t, "two connections", func(t *testing.T) {
		srv := ftptest.New(t, inMemory)
		srv.On("GREETING", 1, testserver.Gather(2))
		first := testclient.Dial(t, srv, srv.Addr)
		greeted := make(chan error, 1)
		go func() {
			_, err := first.Read(make([]byte, 1))
			greeted <- err
		}()
		synctest.Wait()
		if len(greeted) > 0 {
			t.Error("the first connection was greeted before there was a second")
		}
		if err := srv.PendingFaults(); err == nil {
			t.Error("PendingFaults is nil before there is a second connection")
		}
		testclient.Dial(t, srv, srv.Addr)
		if err := <-greeted; err != nil {
			t.Error(err)
		}
	})
	testclient.InBubble(t, "with a delay", func(t *testing.T) {
		srv := ftptest.New(t, inMemory)
		srv.On("GREETING", 1, testserver.Gather(2), testserver.Delay(time.Hour))
		start := time.Now()
		first := testclient.Dial(t, srv, srv.Addr)
		time.Sleep(10 * time.Minute)
		testclient.Dial(t, srv, srv.Addr)
		if _, err := first.Read(make([]byte, 1)); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took != time.Hour+10*time.Minute {
			t.Errorf("the greeting came after %v", took)
		}
	})
}

// A client's tests may do this: the connection ends after each byte in turn.
func TestCutAtEveryOctet(t *testing.T) {
	session := "220 testserver ready\r\n331 Guest login ok, send your e-mail address as password.\r\n230 User logged in, proceed.\r\n221 Goodbye.\r\n"
	for n := range len(session) + 1 {
		testclient.InBubble(t, fmt.Sprint(n), func(t *testing.T) {
			srv := ftptest.New(t, inMemory)
			srv.On("CONNECT", 1, testserver.Truncate(int64(n)))
			got, err := testclient.Ask(t, srv, srv.Addr, "USER anonymous\r\nPASS x\r\nQUIT\r\n")
			if got != session[:n] || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// Faults that keep a data connection open end with ABOR or with the client.
func TestHeldDataConnection(t *testing.T) {
	for _, fault := range []ftptest.Fault{testserver.Silence(), testserver.EndlessLine(), testserver.Delay(testclient.Patience)} {
		testclient.InBubble(t, fault.String(), func(t *testing.T) {
			srv := ftptest.New(t, inMemory)
			srv.On("DATA", 1, fault)
			c := testclient.LoginFTP(t, srv)
			nc := c.Data()
			go io.Copy(io.Discard, nc)
			c.SetDeadline(time.Now().Add(time.Minute))
			c.Expect("RETR motd.txt", "150")
			for srv.PendingFaults() != nil { // until the data connection is open
				runtime.Gosched()
			}
			c.Expect("ABOR", "426")
			if got := c.Reply(); !strings.HasPrefix(got, "226") {
				t.Errorf("second reply to ABOR: %q", got)
			}
		})
	}
}

func TestUploadFaults(t *testing.T) {
	for _, tt := range []struct {
		fault ftptest.Fault
		last  string
		kept  string
	}{
		{testserver.Truncate(4), "226", "0123"},
		{testserver.Reset(4), "426", "0123"},
		{testserver.Drip(1, time.Second), "226", "0123456789"},
		{ftptest.Keep(4), "226", "0123"},
		{ftptest.Keep(0), "226", ""},
		{ftptest.Keep(99), "226", "0123456789"},
	} {
		testclient.InBubble(t, tt.fault.String(), func(t *testing.T) {
			srv := ftptest.New(t, inMemory)
			srv.On("STOR", 1, tt.fault)
			c := testclient.LoginFTP(t, srv)
			if got := c.Put("STOR up", "0123456789"); !strings.HasPrefix(got, tt.last) {
				t.Errorf("reply %q, want %s", got, tt.last)
			}
			if got := string(srv.Uploads()["up"]); got != tt.kept {
				t.Errorf("kept %q, want %q", got, tt.kept)
			}
		})
	}
}

// TestStall tests a transfer that ends with a reply and leaves its data connection open until the next
// command.
func TestStall(t *testing.T) {
	for _, command := range []string{"RETR motd.txt", "LIST", "STOR up"} {
		testclient.InBubble(t, command, func(t *testing.T) {
			srv := ftptest.New(t, inMemory)
			verb, _, _ := strings.Cut(command, " ")
			srv.On(verb, 1, ftptest.Stall(3, "451 disk"))
			c := testclient.LoginFTP(t, srv)
			data := c.Data()
			c.Expect(command, "150")
			buf := make([]byte, 9)
			if verb == "STOR" {
				if _, err := io.WriteString(data, "0123456789"); err != nil {
					t.Error(err)
				}
			} else if n, err := data.Read(buf); n != 3 || err != nil {
				t.Errorf("received %d bytes, %v", n, err)
			}
			if got := c.Reply(); got != "451 disk" {
				t.Errorf("last reply %q", got)
			}
			_ = data.SetReadDeadline(time.Now().Add(time.Minute))
			if n, err := data.Read(buf); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("after the reply: %d bytes, %v", n, err)
			}
			c.Expect("NOOP", "200")
			_ = data.SetReadDeadline(time.Now().Add(time.Minute))
			if n, err := data.Read(buf); n > 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("after the next command: %d bytes, %v", n, err)
			}
			if got := string(srv.Uploads()["up"]); verb == "STOR" && got != "012" {
				t.Errorf("kept %q", got)
			}
		})
	}
}

// Over loopback a reset is a real RST, and what was sent before it arrives.
func TestResetOverLoopback(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.Content = testclient.Content() })
	srv.On("RETR", 1, testserver.Reset(2))
	c := testclient.LoginFTP(t, srv)
	data, _, last, err := c.Get("RETR motd.txt")
	if !errors.Is(err, syscall.ECONNRESET) || !strings.HasPrefix("he", data) || !strings.HasPrefix(last, "426") {
		t.Errorf("got %q, %v, reply %q", data, err, last)
	}
}

func TestTooManyConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) { s.MaxConns = 2 })
		one, two := testclient.DialFTP(t, srv), testclient.DialFTP(t, srv)
		if got, err := io.ReadAll(testclient.Dial(t, srv, srv.Addr)); len(got) > 0 || err != nil {
			t.Errorf("a third connection: %q, %v", got, err)
		}
		one.Expect("QUIT", "221")
		synctest.Wait()
		testclient.DialFTP(t, srv).Expect("NOOP", "200")
		two.Expect("NOOP", "200")
	})
}

// TestHangUpCountsAtOnce has a server that serves one connection, and ends it. A client that has seen the
// end may come again at once.
func TestHangUpCountsAtOnce(t *testing.T) {
	srv := ftptest.New(t, func(s *ftptest.Server) { s.MaxConns = 1 })
	srv.On("NOOP", 0, testserver.Hangup())
	for n := range 200 {
		c := testclient.Dial(t, srv, srv.Addr)
		_, _ = io.WriteString(c, "NOOP\r\n")
		if got, err := io.ReadAll(c); !strings.HasPrefix(string(got), "220") || err != nil {
			t.Fatalf("connection %d: %q, %v", n, got, err)
		}
	}
}

// TestOneClient has a server with one client at a time. Another connection gets its greeting when the
// first client has gone, and one that has been closed meanwhile is skipped.
func TestOneClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := ftptest.New(t, inMemory, func(s *ftptest.Server) { s.OneClient = true })
		one := testclient.DialFTP(t, srv)
		testclient.Dial(t, srv, srv.Addr).Close()
		three := testclient.Dial(t, srv, srv.Addr)
		_ = three.SetReadDeadline(time.Now().Add(time.Minute))
		if n, err := three.Read(make([]byte, 100)); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("beside another client: %d bytes, %v", n, err)
		}
		one.Expect("QUIT", "221")
		_ = three.SetReadDeadline(time.Now().Add(time.Minute))
		if n, err := three.Read(make([]byte, 100)); n == 0 || err != nil {
			t.Errorf("after it: %d bytes, %v", n, err)
		}
	})
}

func TestFaultsAreReadable(t *testing.T) {
	for _, tt := range []struct {
		fault testserver.Fault
		want  string
	}{
		{testserver.Delay(time.Second), "Delay(1s)"},
		{testserver.Truncate(2), "Truncate(2)"},
		{testserver.Gather(2), "Gather(2)"},
		{testserver.Drip(1, time.Minute), "Drip(1, 1m0s)"},
		{testserver.Reply("426 aborted"), `Reply("426 aborted")`},
		{testserver.Garble(3, "\x00"), `Garble(3, "\x00")`},
		{webtest.Header("ETag", ""), `Header("ETag", "")`},
		{testserver.Silence(), "Silence()"},
		{testserver.Data(strings.Repeat("x", 100)), `Data("` + strings.Repeat("x", 60) + `"…(100 bytes))`},
	} {
		if got := tt.fault.String(); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

func TestDialStaysOnTheMachine(t *testing.T) {
	srv := ftptest.New(t)
	for _, address := range []string{"192.0.2.1:21", "example.test:21", "nonsense"} {
		if nc, err := srv.Dial(t.Context(), "tcp", address); err == nil {
			nc.Close()
			t.Errorf("Dial succeeded for %s, which is not on loopback", address)
		}
	}
}
