package interop

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/telnet"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/smtptest"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
)

// startTelnetd starts inetutils-telnetd under tcpsvd, with a shell script instead of a login. It
// returns host and port.
func startTelnetd(t *testing.T, script string) string {
	t.Helper()
	tcpsvd := requireTool(t, "tcpsvd") // Debian: ipsvd
	telnetd := requireTool(t, "/usr/sbin/telnetd")
	program := filepath.Join(serverDir(t), "greet")
	daemon.Program(t, program, "#!/bin/sh\n"+script+"\n")
	addr := daemon.FreeAddr(t)
	host, port, _ := strings.Cut(addr, ":")
	daemon.Start(t, exec.Command(tcpsvd, "-l", "localhost", host, port, telnetd, "-h", "-E", program)).Await(t, addr)
	return addr
}

// openTelnet opens a session.
func openTelnet(t *testing.T, addr string, opt *telnet.Options) *telnet.Session {
	t.Helper()
	ref, err := locator.Parser{}.Parse("telnet://" + addr + "/")
	if err != nil {
		t.Fatal(err)
	}
	res, err := new(telnet.Fetcher).Fetch(patience(t), &fetch.Request{Locator: ref.Locator, Interact: true, Options: opt})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Close() })
	return res.Conn.(*telnet.Session)
}

// await reads until a text has arrived.
func await(t *testing.T, r io.Reader, text string) string {
	t.Helper()
	var got []byte
	for !strings.Contains(string(got), text) {
		octet := make([]byte, 1)
		if _, err := io.ReadFull(r, octet); err != nil {
			t.Fatalf("%v, after %q", err, got)
		}
		got = append(got, octet...)
	}
	return string(got)
}

const greeting = `printf 'welcome, TERM=%s, DISPLAY=%s, HOME=%s\n' "$TERM" "$DISPLAY" "$HOME"
printf 'name? '; read -r name; printf 'hello %s\n' "$name"
stty size; printf 'again? '; read -r x; stty size; printf 'end? '; read -r x`

func TestTelnetd(t *testing.T) {
	addr := startTelnetd(t, greeting)
	t.Setenv("HOME", "canary")
	for _, tt := range []struct {
		name  string
		opt   *telnet.Options
		hello string
		size  string
	}{
		{"nothing told", nil, "TERM=unknown, DISPLAY=, HOME=\r\n", "0 0"},
		{"all told", &telnet.Options{TerminalType: "VT100", Columns: 80, Rows: 24, Display: "host:0", Environ: []telnet.Variable{{Name: "USER", Value: "joe"}}}, "TERM=vt100, DISPLAY=host:0, HOME=\r\n", "24 80"},
		{"255 columns, 8-bit", &telnet.Options{Columns: 255, Rows: 255, Binary: telnet.BinaryAccept}, "TERM=unknown", "255 255"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := openTelnet(t, addr, tt.opt)
			if got := await(t, s, "name? "); !strings.Contains(got, "welcome, "+tt.hello) {
				t.Errorf("%q, want %q", got, tt.hello)
			}
			if !s.Echoes() {
				t.Error("the server does not echo")
			}
			name := "joe"
			if tt.opt != nil && tt.opt.Binary == telnet.BinaryAccept {
				name = "caf\xc3\xa9" // otherwise telnetd strips it to seven bits
			}
			io.WriteString(s, name+s.Enter())
			if got := await(t, s, "again? "); !strings.Contains(got, "hello "+name+"\r\n"+tt.size+"\r\n") {
				t.Errorf("%q, want the size %s", got, tt.size)
			}
			if err := s.Resize(100, 40); err != nil {
				t.Error(err)
			}
			io.WriteString(s, "\r")
			want := "40 100"
			if tt.size == "0 0" {
				want = tt.size
			}
			if got := await(t, s, "end? "); !strings.Contains(got, want+"\r\n") {
				t.Errorf("%q, want the size %s", got, want)
			}
			io.WriteString(s, "\r")
			if rest, err := io.ReadAll(s); err != nil {
				t.Errorf("%q, %v", rest, err)
			}
		})
	}
}

// TestTelnetdOctets sends all 256 octets to a program behind telnetd's terminal, and receives them
// back. Once the terminal leaves octets unchanged, none is lost.
func TestTelnetdOctets(t *testing.T) {
	t.Parallel()
	data := randomOctets(64 << 10)
	for i := range 256 {
		data[i] = byte(i)
	}
	addr := startTelnetd(t, fmt.Sprintf("printf 'ready'; read -r x; stty raw -echo -istrip; printf 'go'; head -c %d > \"$0.got\"; cat \"$0.got\"; read -r x", len(data)))
	for _, choice := range []telnet.Binary{telnet.BinaryAsk, telnet.BinaryRefuse} {
		t.Run(fmt.Sprintf("binary %v", choice), func(t *testing.T) {
			s := openTelnet(t, addr, &telnet.Options{Binary: choice})
			// telnetd changes the terminal's modes while options are negotiated. The program sets
			// its own when the negotiation before this key is over.
			await(t, s, "ready")
			if _, err := io.WriteString(s, s.Enter()); err != nil {
				t.Fatal(err)
			}
			await(t, s, "go")
			written := make(chan error, 1)
			want := data
			if choice == telnet.BinaryRefuse {
				// On the network virtual terminal telnetd treats CR LF as one key.
				want = []byte(strings.ReplaceAll(string(data), "\r\n", "\r."))
			}
			go func() {
				_, err := s.Write(want)
				written <- err
			}()
			got := make([]byte, len(want))
			n, err := io.ReadFull(s, got)
			if err := <-written; err != nil {
				t.Error(err)
			}
			if sha256.Sum256(got) != sha256.Sum256(want) {
				i := 0
				for i < n && got[i] == want[i] {
					i++
				}
				t.Errorf("%d bytes, %v; they differ from %d on: %q, want %q", n, err, i, got[i:min(i+20, n)], want[i:min(i+20, len(want))])
			}
		})
	}
}

// TestTelnetdGone tests that the end of the session is the end of the program.
func TestTelnetdGone(t *testing.T) {
	t.Parallel()
	s := openTelnet(t, startTelnetd(t, "echo bye; read -r x"), nil) // telnetd loses what a program writes as it ends
	await(t, s, "bye\r\n")
	if _, err := io.WriteString(s, s.Enter()); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(s); strings.TrimSpace(string(got)) != "" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := s.Write([]byte("x")); err != nil && !errors.Is(err, fetch.ErrConnectionFailed) {
		t.Error(err)
	}
}

// TestDebianTelnet tests our test server with a third-party client.
func TestDebianTelnet(t *testing.T) {
	t.Parallel()
	client := requireTool(t, "telnet")
	srv := telnettest.New(t, func(s *telnettest.Server) {
		s.Dialogue = []telnettest.Step{
			{Command: "\xff\xfd\x18\xff\xfd\x1f\xff\xfb\x03\xff\xfb\x01"},
			{HearCommand: "\xff\xfb\x18"},
			{Command: "\xff\xfa\x18\x01\xff\xf0"},
			{Say: "login: ", Hear: "lab"},
			{Say: "\r\nPassword: ", Hear: "secret"},
			{Say: "\r\nwelcome\r\n", Hear: "bye"},
			{Say: "\r\nsee you\r\n"},
		}
	})
	host, port, _ := strings.Cut(srv.Addr, ":")
	cmd := exec.Command(client, host, port)
	cmd.Env = []string{"TERM=vt100", "PATH=" + os.Getenv("PATH")}
	c := startConsole(t, cmd)
	c.expect("login: ")
	c.keys("lab\r")
	c.expect("Password: ")
	c.resize(100, 40)
	c.keys("secret\r")
	c.expect("welcome")
	c.keys("bye\r")
	c.expect("see you")
	c.expect("Connection closed by foreign host.")
	c.exit()
	if err := srv.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines := srv.Transcript().From(testserver.FromClient)
	for _, want := range []string{"IAC WILL TERMINAL-TYPE", `IAC SB TERMINAL-TYPE 00 "VT100" IAC SE`, "IAC WILL NAWS", "IAC SB NAWS 00 50 00 18 IAC SE", "IAC DO SGA", "IAC DO ECHO", "IAC SB NAWS 00 64 00 28 IAC SE"} {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.EqualFold(l, want) }) {
			t.Errorf("the client did not send %s; it sent %q", want, lines)
		}
	}
}

// TestCurlTelnet tests our test server with curl.
func TestCurlTelnet(t *testing.T) {
	t.Parallel()
	curl := requireTool(t, "curl")
	srv := telnettest.New(t, func(s *telnettest.Server) {
		s.Dialogue = []telnettest.Step{
			{Command: "\xff\xfd\x18"}, {HearCommand: "\xff\xfb\x18"}, {Command: "\xff\xfa\x18\x01\xff\xf0"},
			{HearCommand: "\xff\xfa\x18\x00vt52\xff\xf0"}, {Say: "\xff8-bit\r\n"},
		}
	})
	out, code := runTool(t, curl, "-q", "-s", "-t", "TTYPE=vt52", srv.URL)
	if out != "\xff8-bit\r\n" || code != 0 {
		t.Errorf("%q, exit %d\n%s", out, code, srv.Transcript())
	}
}

// TestCurlSMTP tests that mail sent by curl arrives at the test server, in the clear and over TLS.
func TestCurlSMTP(t *testing.T) {
	t.Parallel()
	curl := requireTool(t, "curl")
	letter := filepath.Join(t.TempDir(), "letter")
	if err := os.WriteFile(letter, []byte("Subject: x\r\n\r\n.\r\n..x\r\nend\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, secure := range []bool{false, true} {
		srv := smtptest.New(t, func(s *smtptest.Server) { s.TLSOnly = secure })
		args := []string{"-q", "-s", "-k", "--mail-from", "a@b", "--mail-rcpt", "c@d", "-T", letter, srv.URL}
		if secure {
			args = append(args, "--ssl-reqd")
		}
		_, code := runTool(t, curl, args...)
		mail := srv.Mail()
		if code != 0 || len(mail) != 1 || mail[0].Data != "Subject: x\r\n\r\n.\r\n..x\r\nend\r\n" || mail[0].TLS != secure {
			t.Errorf("exit %d, %+v\n%s", code, mail, srv.Transcript())
		}
	}
}

// folder is shared by all tests. It is removed after the last one.
var folder string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if folder, err = os.MkdirTemp("", "interop"); err != nil {
			panic(err)
		}
		defer os.RemoveAll(folder)
		// Tests that a shell runs in the background, or nohup, ignore these signals. The programs that
		// they run would ignore them, too, and a shell cannot trap what is ignored from its start.
		for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP} {
			if signal.Ignored(s) {
				signal.Notify(make(chan os.Signal, 1), s)
			}
		}
		os.Setenv("FETCH1738_COMPLETION", "off") // programs that tests start note nothing
		// Most of the time the tests wait for a server or a program.
		if err := flag.Set("test.parallel", "6"); err != nil {
			panic(err)
		}
		return m.Run()
	}())
}

// command is the command line, built once, and without C, as releases are.
var command = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "fetch1738")
	build := exec.Command("go", "build", "-o", path, "../../cmd/fetch1738")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return path, err
})

// buildCommand builds the command line.
func buildCommand(t *testing.T) string {
	t.Helper()
	path, err := command()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCommandAtTelnetd uses telnetd at a terminal: keys, the window's size and its change, the
// escape character. Afterwards the modes of the terminal must be restored, no matter how the
// session ended.
func TestCommandAtTelnetd(t *testing.T) {
	t.Parallel()
	command := buildCommand(t)
	addr := startTelnetd(t, greeting)
	start := func(t *testing.T, args ...string) *console {
		cmd := exec.Command(command, append(args, "telnet://joe:hint@"+addr+"/")...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TERM=canary", "HOME=" + t.TempDir()}
		c := startConsole(t, cmd)
		c.expect("Suggested password: hint")
		if echo, lines := c.modes(); echo || lines {
			t.Errorf("the terminal is not raw: echo %v, lines %v", echo, lines)
		}
		return c
	}
	restored := func(t *testing.T, c *console) {
		t.Helper()
		if echo, lines := c.modes(); !echo || !lines {
			t.Errorf("the terminal is left behind raw: echo %v, lines %v", echo, lines)
		}
	}
	t.Run("quit", func(t *testing.T) {
		t.Parallel()
		c := start(t, "-t", "TTYPE=VT100")
		c.expect("name? ")
		c.keys("caf\xc3\xa9\r")
		c.expect("hello caf\xc3\xa9\r\n24 80\r\nagain? ")
		c.resize(100, 40)
		c.keys("\x1dstatus\r")
		c.expect("by the server, key by key")
		c.keys("\r")
		c.expect("40 100")
		c.keys("\x1dquit\r")
		c.expect("Connection closed.")
		text, code := c.exit()
		if code != 0 || !strings.Contains(text, "TERM=vt100") || strings.Contains(text, "canary") {
			t.Errorf("exit %d, %q", code, text)
		}
		restored(t, c)
	})
	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		c := start(t)
		c.signal(syscall.SIGTERM)
		if text, code := c.exit(); code != 143 {
			t.Errorf("exit %d, %q", code, text)
		}
		restored(t, c)
	})
	t.Run("out of time", func(t *testing.T) {
		t.Parallel()
		c := start(t, "-m", "2")
		if text, code := c.exit(); code != 28 {
			t.Errorf("exit %d, %q", code, text)
		}
		restored(t, c)
	})
}

// TestCommandFromPipe sends standard input, as curl does.
func TestCommandFromPipe(t *testing.T) {
	t.Parallel()
	command := buildCommand(t)
	addr := startTelnetd(t, greeting)
	cmd := exec.CommandContext(patience(t), command, "-t", "TTYPE=VT100", "telnet://"+addr+"/")
	in, out := startPiped(t, cmd)
	send := func(text string) {
		if _, err := io.WriteString(in, text); err != nil {
			t.Error(err)
		}
	}
	send("caf\xc3\xa9\n\n")
	said := await(t, out, "end? ") // telnetd loses what a program writes as it ends
	send("\n")
	in.Close()
	if rest, err := io.ReadAll(out); err != nil || strings.TrimSpace(string(rest)) != "" {
		t.Errorf("%q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(said, "hello caf\xc3\xa9\r\n") || !strings.Contains(said, "TERM=vt100") {
		t.Errorf("%q, %v", said, err)
	}
}
