package testserver_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
)

// TestFTPTransferFaults tests what a client sees of a RETR of "hello\nworld\n".
func TestFTPTransferFaults(t *testing.T) {
	const whole = "hello\nworld\n"
	ok, opening := "226 Transfer complete.", "150 Opening BINARY mode data connection for motd.txt (12 bytes)."
	for _, tt := range []struct {
		name              string
		stage             string
		faults            []testserver.Fault
		data, first, last string
		err               error
		takes             time.Duration
	}{
		{"none", "RETR", nil, whole, opening, ok, nil, 0},
		{"truncate", "RETR", []testserver.Fault{testserver.Truncate(2)}, "he", opening, ok, nil, 0},
		{"truncate to nothing", "RETR", []testserver.Fault{testserver.Truncate(0)}, "", opening, ok, nil, 0},
		{"truncate beyond the end", "RETR", []testserver.Fault{testserver.Truncate(99)}, whole, opening, ok, nil, 0},
		{"truncate and tell", "RETR", []testserver.Fault{testserver.Truncate(2), testserver.Reply("426 aborted")}, "he", opening, "426 aborted", nil, 0},
		{"by argument", "retr motd.txt", []testserver.Fault{testserver.Truncate(2)}, "he", opening, ok, nil, 0},
		{"not this argument", "RETR x", []testserver.Fault{testserver.Truncate(2)}, whole, opening, ok, nil, 0},
		{"truncate any data", "DATA", []testserver.Fault{testserver.Truncate(2)}, "he", opening, ok, nil, 0},
		{"reset", "RETR", []testserver.Fault{testserver.Reset(2)}, "he", opening, "426 Connection closed; transfer aborted.", syscall.ECONNRESET, 0},
		{"reset at the end", "RETR", []testserver.Fault{testserver.Reset(12)}, whole, opening, "426 Connection closed; transfer aborted.", syscall.ECONNRESET, 0},
		{"reset at once", "RETR", []testserver.Fault{testserver.Reset(0)}, "", opening, "426 Connection closed; transfer aborted.", syscall.ECONNRESET, 0},
		{"drip", "RETR", []testserver.Fault{testserver.Drip(1, time.Minute)}, whole, opening, ok, nil, 12 * time.Minute},
		{"drip and truncate", "RETR", []testserver.Fault{testserver.Drip(2, time.Minute), testserver.Truncate(5)}, "hello", opening, ok, nil, 3 * time.Minute},
		{"split", "RETR", []testserver.Fault{testserver.Split(5)}, whole, opening, ok, nil, 0},
		{"garble", "RETR", []testserver.Fault{testserver.Garble(4, "\x00\xff")}, "hell\x00\xffworld\n", opening, ok, nil, 0},
		{"garble dripped", "RETR", []testserver.Fault{testserver.Garble(4, "AB"), testserver.Drip(1, 0)}, "hellABworld\n", opening, ok, nil, 0},
		{"data", "RETR", []testserver.Fault{testserver.Data("other")}, "other", opening, ok, nil, 0},
		{"delay", "RETR", []testserver.Fault{testserver.Delay(time.Hour)}, whole, opening, ok, nil, time.Hour},
		{"delay of data", "DATA", []testserver.Fault{testserver.Delay(time.Minute)}, whole, opening, ok, nil, time.Minute},
		{"delay of the end", "END", []testserver.Fault{testserver.Delay(time.Hour)}, whole, opening, ok, nil, time.Hour},
		{"refused", "RETR", []testserver.Fault{testserver.Reply("550 no")}, "", "550 no", "", nil, 0},
		{"another first reply", "RETR", []testserver.Fault{testserver.Reply("125 go")}, whole, "125 go", ok, nil, 0},
		{"another last reply", "RETR", []testserver.Fault{testserver.Reply("250 done")}, whole, opening, "250 done", nil, 0},
		{"a last reply that fails", "END", []testserver.Fault{testserver.Reply("451 disk")}, whole, opening, "451 disk", nil, 0},
		{"data connection closed", "DATA", []testserver.Fault{testserver.Close()}, "", opening, ok, nil, 0},
		{"no last reply", "RETR", []testserver.Fault{testserver.NoFinalReply()}, whole, opening, "!" + os.ErrDeadlineExceeded.Error(), nil, patience},
		{"silence at the end", "END", []testserver.Fault{testserver.Silence()}, whole, opening, "!" + os.ErrDeadlineExceeded.Error(), nil, patience},
		{"silence", "RETR", []testserver.Fault{testserver.Silence()}, "", "!" + os.ErrDeadlineExceeded.Error(), "", nil, patience},
		{"closed at the end", "END", []testserver.Fault{testserver.Close()}, whole, opening, "!EOF", nil, 0},
		{"closed", "RETR", []testserver.Fault{testserver.Close()}, "", "!EOF", "", nil, 0},
		{"half a last reply", "END", []testserver.Fault{testserver.Truncate(3)}, whole, opening, "226!EOF", nil, 0},
	} {
		inBubble(t, tt.name, func(t *testing.T) {
			srv := testserver.NewFTP(t, inMemory, func(s *testserver.FTP) { s.IdleTimeout = 2 * patience })
			c := loginFTP(t, srv)
			srv.On(tt.stage, 1, tt.faults...)
			start := time.Now()
			c.SetDeadline(start.Add(patience))
			data, first, last, err := c.get("RETR motd.txt")
			pending(t, srv, tt.name)
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

// patience is how long the client in the table waits for a reply.
const patience = 24 * time.Hour

func TestFTPReplyFaults(t *testing.T) {
	timeout := "timeout"
	for _, tt := range []struct {
		name   string
		fault  testserver.Fault
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
		inBubble(t, tt.name, func(t *testing.T) {
			srv := testserver.NewFTP(t, inMemory)
			c := loginFTP(t, srv)
			srv.On("PWD", 1, tt.fault)
			c.SetDeadline(time.Now().Add(time.Hour))
			for _, step := range []step{{"PWD", tt.first}, {"NOOP", tt.second}} {
				c.send(step.command)
				got := c.reply()
				if strings.Contains(got, os.ErrDeadlineExceeded.Error()) {
					got = timeout
				}
				if got != step.reply {
					t.Errorf("%s: %q, want %q", step.command, got, step.reply)
				}
			}
		})
	}
}

func TestGarbage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := testserver.NewFTP(t, inMemory)
		for _, seed := range []uint64{1, 1, 2} {
			srv.On("NOOP", 0, testserver.Garbage(5000, seed))
			c := loginFTP(t, srv)
			c.send("NOOP")
			c.reply()
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
		srv := testserver.NewFTP(t, inMemory)
		srv.On("CWD", 1, testserver.Reply("200 fine"))
		srv.On("CWD", 2, testserver.Reply("550 no"))
		c := loginFTP(t, srv)
		c.expect("CWD pub", "200 fine")
		c.expect("CWD sub", "550 no")
		c.expect("PWD", `257 "/pub"`)
	})
}

func TestOccurrences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := testserver.NewFTP(t, inMemory, func(s *testserver.FTP) {
			s.On("GREETING", 2, testserver.Reply("421 full"))
			s.On("NOOP", 2, testserver.Reply("200 second"))
			s.On("noop", 0, testserver.Split(1))
		})
		c := dialFTP(t, srv)
		c.expect("NOOP", "200 Ok.")
		other := dial(t, srv, srv.Addr)
		if line := make([]byte, 10); true {
			io.ReadFull(other, line)
			if string(line) != "421 full\r\n" {
				t.Errorf("second greeting %q", line)
			}
		}
		c.expect("NOOP", "200 second")
		c.expect("NOOP", "200 Ok.")
		srv.On("NOOP", 2, testserver.Reply("200 second from now"))
		c.expect("NOOP", "200 Ok.")
		c.expect("NOOP", "200 second from now")
		srv.On("NOOP", 1, testserver.Reply("200 never sent"))
		srv.ResetFaults()
		c.expect("NOOP", "200 Ok.")
	})
}

// failing is a testserver.TB that records with what a test fails.
type failing struct {
	*testing.T
	errors string
	end    func()
}

func (f *failing) Cleanup(end func()) { f.end = end }

func (f *failing) Errorf(format string, args ...any) { f.errors += fmt.Sprintf(format, args...) + "\n" }

// Fatalf ends the goroutine, as in a test.
func (f *failing) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

// TestPendingFaults checks that a test fails if a fault that it armed was never used.
func TestPendingFaults(t *testing.T) {
	tb := &failing{T: t}
	srv := testserver.NewFTP(tb, inMemory)
	srv.On("NOOP", 0, testserver.Split(1))
	srv.On("NOOP", 2, testserver.Close())
	srv.On("RTER", 1, testserver.Truncate(2), testserver.Close())
	dialFTP(t, srv).expect("NOOP", "200")
	tb.end()
	const want = `testserver: ftp://127.0.0.1:21: fault never used: On("NOOP", 2, Close())
testserver: ftp://127.0.0.1:21: fault never used: On("RTER", 1, Truncate(2), Close())
`
	if tb.errors != want {
		t.Errorf("the test failed with %q, want %q", tb.errors, want)
	}
	if err := srv.Close(); err == nil || err.Error()+"\n" != want {
		t.Errorf("closed again: %v", err)
	}
	srv.ResetFaults()
	if err := srv.Close(); err != nil {
		t.Errorf("PendingFaults with nothing armed: %v", err)
	}
}

// TestForeignFaults checks that a test fails at once if it arms a fault that the server, or the
// stage, does not have.
func TestForeignFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		start func(tb testserver.TB) *testserver.Server
		stage string
		fault testserver.Fault
		want  string
	}{
		"no dots in FTP":       {func(tb testserver.TB) *testserver.Server { return &testserver.NewFTP(tb, inMemory).Server }, "RETR", testserver.NoDot(), "NoDot()"},
		"HTTP below HTTP":      {func(tb testserver.TB) *testserver.Server { return &testserver.NewHTTP(tb).Server }, "connect", testserver.Status(500), "Status(500)"},
		"no status in Gopher":  {func(tb testserver.TB) *testserver.Server { return &testserver.NewGopher(tb).Server }, "TEXT", testserver.Status(500), "Status(500)"},
		"no final reply":       {func(tb testserver.TB) *testserver.Server { return &testserver.NewNNTP(tb).Server }, "BODY", testserver.NoFinalReply(), "NoFinalReply()"},
		"no streams in ARDP":   {func(tb testserver.TB) *testserver.Server { return &testserver.NewProspero(tb).Server }, "PACKET", testserver.Split(1), "Split(1)"},
		"a request's patience": {func(tb testserver.TB) *testserver.Server { return &testserver.NewProspero(tb).Server }, "PACKET", testserver.Wait(time.Second, 1), "Wait(1s, 1)"},
		"no loss in WAIS":      {func(tb testserver.TB) *testserver.Server { return &testserver.NewWAIS(tb).Server }, "SEARCH", testserver.Lose(), "Lose()"},
		"no menus by SMTP":     {func(tb testserver.TB) *testserver.Server { return &testserver.NewSMTP(tb).Server }, "DATA", testserver.BareLF(), "BareLF()"},
		"no replies of FTP":    {func(tb testserver.TB) *testserver.Server { return &testserver.NewTelnet(tb).Server }, "SAY", testserver.ExtraReply(""), `ExtraReply("")`},
		"no data in CSO":       {func(tb testserver.TB) *testserver.Server { return &testserver.NewCSO(tb).Server }, "query", testserver.Data("x"), `Data("x")`},
	} {
		t.Run(name, func(t *testing.T) {
			tb := &failing{T: t}
			srv := tc.start(tb)
			done := make(chan bool)
			go func() {
				defer close(done)
				srv.On(tc.stage, 1, tc.fault)
				done <- true
			}()
			if <-done {
				t.Error("the test continues after Fatalf")
			}
			tb.end()
			if !strings.Contains(tb.errors, "server has no fault "+tc.want+" at this stage") {
				t.Errorf("the test failed with %q", tb.errors)
			}
		})
	}
	srv, err := testserver.StartFTP(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if srv.Close(); recover() == nil {
			t.Error("no panic outside of a test")
		}
	}()
	srv.On("RETR", 1, testserver.NoDot())
}

func TestEndlessLineEndsWithTheClient(t *testing.T) {
	for _, stage := range []string{"GREETING", "CONNECT"} {
		inBubble(t, stage, func(t *testing.T) {
			srv := testserver.NewFTP(t, inMemory)
			srv.On(stage, 1, testserver.EndlessLine())
			nc := dial(t, srv, srv.Addr)
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
		fault testserver.Fault
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
		inBubble(t, tt.fault.String(), func(t *testing.T) {
			srv := testserver.NewFTP(t, inMemory, func(s *testserver.FTP) { s.IdleTimeout = 2 * time.Hour })
			srv.On("CONNECT", 1, tt.fault)
			start := time.Now()
			nc := dial(t, srv, srv.Addr)
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
	inBubble(t, "two connections", func(t *testing.T) {
		srv := testserver.NewFTP(t, inMemory)
		srv.On("GREETING", 1, testserver.Gather(2))
		first := dial(t, srv, srv.Addr)
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
		dial(t, srv, srv.Addr)
		if err := <-greeted; err != nil {
			t.Error(err)
		}
	})
	inBubble(t, "with a delay", func(t *testing.T) {
		srv := testserver.NewFTP(t, inMemory)
		srv.On("GREETING", 1, testserver.Gather(2), testserver.Delay(time.Hour))
		start := time.Now()
		first := dial(t, srv, srv.Addr)
		time.Sleep(10 * time.Minute)
		dial(t, srv, srv.Addr)
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
		inBubble(t, fmt.Sprint(n), func(t *testing.T) {
			srv := testserver.NewFTP(t, inMemory)
			srv.On("CONNECT", 1, testserver.Truncate(int64(n)))
			got, err := ask(t, srv, srv.Addr, "USER anonymous\r\nPASS x\r\nQUIT\r\n")
			if got != session[:n] || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// Faults that keep a data connection open end with ABOR or with the client.
func TestHeldDataConnection(t *testing.T) {
	for _, fault := range []testserver.Fault{testserver.Silence(), testserver.EndlessLine(), testserver.Delay(patience)} {
		inBubble(t, fault.String(), func(t *testing.T) {
			srv := testserver.NewFTP(t, inMemory)
			srv.On("DATA", 1, fault)
			c := loginFTP(t, srv)
			nc := c.data()
			go io.Copy(io.Discard, nc)
			c.SetDeadline(time.Now().Add(time.Minute))
			c.expect("RETR motd.txt", "150")
			for srv.PendingFaults() != nil { // until the data connection is open
				runtime.Gosched()
			}
			c.expect("ABOR", "426")
			if got := c.reply(); !strings.HasPrefix(got, "226") {
				t.Errorf("second reply to ABOR: %q", got)
			}
		})
	}
}

func TestUploadFaults(t *testing.T) {
	for _, tt := range []struct {
		fault testserver.Fault
		last  string
		kept  string
	}{
		{testserver.Truncate(4), "226", "0123"},
		{testserver.Reset(4), "426", "0123"},
		{testserver.Drip(1, time.Second), "226", "0123456789"},
	} {
		inBubble(t, tt.fault.String(), func(t *testing.T) {
			srv := testserver.NewFTP(t, inMemory)
			srv.On("STOR", 1, tt.fault)
			c := loginFTP(t, srv)
			if got := c.put("STOR up", "0123456789"); !strings.HasPrefix(got, tt.last) {
				t.Errorf("reply %q, want %s", got, tt.last)
			}
			if got := string(srv.Uploads()["up"]); got != tt.kept {
				t.Errorf("kept %q, want %q", got, tt.kept)
			}
		})
	}
}

// Over loopback a reset is a real RST, and what was sent before it arrives.
func TestResetOverLoopback(t *testing.T) {
	srv := testserver.NewFTP(t, func(s *testserver.FTP) { s.Content = content() })
	srv.On("RETR", 1, testserver.Reset(2))
	c := loginFTP(t, srv)
	data, _, last, err := c.get("RETR motd.txt")
	if !errors.Is(err, syscall.ECONNRESET) || !strings.HasPrefix("he", data) || !strings.HasPrefix(last, "426") {
		t.Errorf("got %q, %v, reply %q", data, err, last)
	}
}

// Over loopback an orderly end stays orderly even when the client has sent more than was read. A
// plain close would then cause a reset.
func TestOrderlyEndOverLoopback(t *testing.T) {
	for _, fault := range []testserver.Fault{testserver.Truncate(3), testserver.Truncate(0), testserver.Close()} {
		srv := testserver.NewTelnet(t, func(s *testserver.Telnet) {
			s.Dialogue = []testserver.TelnetStep{{Hear: "go"}, {Say: "login: "}}
		})
		srv.On("SAY", 1, fault)
		nc := dial(t, srv, srv.Addr)
		if _, err := io.WriteString(nc, "go"+strings.Repeat("x", 64<<10)); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(nc); !strings.HasPrefix("log", string(got)) || err != nil {
			t.Errorf("%v: %q, %v", fault, got, err)
		}
	}
}

func TestTooManyConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := testserver.NewFTP(t, inMemory, func(s *testserver.FTP) { s.MaxConns = 2 })
		one, two := dialFTP(t, srv), dialFTP(t, srv)
		if got, err := io.ReadAll(dial(t, srv, srv.Addr)); len(got) > 0 || err != nil {
			t.Errorf("a third connection: %q, %v", got, err)
		}
		one.expect("QUIT", "221")
		synctest.Wait()
		dialFTP(t, srv).expect("NOOP", "200")
		two.expect("NOOP", "200")
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
		{testserver.Header("ETag", ""), `Header("ETag", "")`},
		{testserver.Silence(), "Silence()"},
		{testserver.Data(strings.Repeat("x", 100)), `Data("` + strings.Repeat("x", 60) + `"…(100 bytes))`},
	} {
		if got := tt.fault.String(); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

func TestDialStaysOnTheMachine(t *testing.T) {
	srv := testserver.NewFTP(t)
	for _, address := range []string{"192.0.2.1:21", "example.test:21", "nonsense"} {
		if nc, err := srv.Dial(t.Context(), "tcp", address); err == nil {
			nc.Close()
			t.Errorf("Dial succeeded for %s, which is not on loopback", address)
		}
	}
}

func TestServersShareANetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := new(testserver.Network)
		ftp := testserver.NewFTP(t, func(s *testserver.FTP) { s.Network = network })
		second := testserver.NewFTP(t, func(s *testserver.FTP) { s.Network = network })
		web := testserver.NewHTTP(t, func(s *testserver.HTTP) { s.Network = network })
		site := testserver.NewGopher(t, func(s *testserver.Gopher) { s.Network = network })
		if ftp.URL != "ftp://127.0.0.1:21" || web.URL != "http://127.0.0.1:80" || site.URL != "gopher://127.0.0.1:70" {
			t.Errorf("URLs %s %s %s", ftp.URL, web.URL, site.URL)
		}
		if second.Addr == ftp.Addr {
			t.Errorf("two servers on %s", ftp.Addr)
		}
		var nc net.Conn = dial(t, web, second.Addr)
		if line := make([]byte, 3); true {
			io.ReadFull(nc, line)
			if string(line) != "220" {
				t.Errorf("greeting %q", line)
			}
		}
	})
}
