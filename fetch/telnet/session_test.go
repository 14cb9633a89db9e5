package telnet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/memnet"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
)

// serve starts a server in memory that runs a dialogue.
func serve(t testing.TB, steps ...telnettest.Step) *telnettest.Server {
	t.Helper()
	return telnettest.New(t, func(s *telnettest.Server) { s.InMemory, s.Dialogue = true, steps })
}

// open opens a session with a server. The session ends with the test.
func open(t testing.TB, srv *telnettest.Server, env fetch.Env, opt *Options) *Session {
	t.Helper()
	env.Dial = srv.Dial
	s, err := session(t.Context(), srv.URL, &env, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func session(ctx context.Context, url string, env *fetch.Env, opt *Options) (*Session, error) {
	ref, err := locator.Parser{}.Parse(url)
	if err != nil {
		return nil, err
	}
	req := &fetch.Request{Locator: ref.Locator, Interact: true}
	if opt != nil {
		req.Options = opt
	}
	res, err := (&Fetcher{Env: env}).Fetch(ctx, req)
	if err != nil {
		return nil, err
	}
	return res.Conn.(*Session), nil
}

// Commands of the other side, by name.
const (
	iacDO   = "\xff\xfd"
	iacDONT = "\xff\xfe"
	iacWILL = "\xff\xfb"
	iacWONT = "\xff\xfc"
	iacSE   = "\xff\xf0"
	ayt     = "\xff\xf6"
	nop     = "\xff\xf1"
)

// done waits until the client has answered everything before it.
var done = telnettest.Step{Command: ayt, HearCommand: nop}

// TestNegotiation checks the client's answers to the server's commands.
func TestNegotiation(t *testing.T) {
	window := &Options{Columns: 80, Rows: 24}
	for _, tt := range []struct {
		name     string
		opt      *Options
		commands []string
		want     []string
	}{
		{"nothing", nil, nil, nil},
		{"echo and go-ahead", nil, []string{iacWILL + "\x01", iacWILL + "\x03", iacDO + "\x03"}, []string{"IAC DO ECHO", "IAC DO SGA", "IAC WILL SGA"}},
		{"we do not echo", nil, []string{iacDO + "\x01"}, []string{"IAC WONT ECHO"}},
		{"agreed already", nil, []string{iacWILL + "\x01", iacWILL + "\x01", iacWILL + "\x01"}, []string{"IAC DO ECHO"}},
		{"on and off", nil, []string{iacWILL + "\x01", iacWONT + "\x01", iacWONT + "\x01", iacWILL + "\x01"}, []string{"IAC DO ECHO", "IAC DONT ECHO", "IAC DO ECHO"}},
		{"off already", nil, []string{iacWONT + "\x01", iacDONT + "\x18", iacWONT + "\x63"}, nil},
		{"refused", nil, []string{
			iacDO + "\x00", iacWILL + "\x00", iacDO + "\x05", iacWILL + "\x05", iacDO + "\x06", iacDO + "\x1f", iacDO + "\x20",
			iacDO + "\x21", iacDO + "\x22", iacDO + "\x23", iacDO + "\x24", iacWILL + "\x25", iacDO + "\x26", iacDO + "\x27", iacDO + "\xff", iacWILL + "\xf0",
		}, []string{
			"IAC WONT BINARY", "IAC DONT BINARY", "IAC WONT STATUS", "IAC DONT STATUS", "IAC WONT TIMING-MARK", "IAC WONT NAWS", "IAC WONT TERMINAL-SPEED",
			"IAC WONT FLOW-CONTROL", "IAC WONT LINEMODE", "IAC WONT X-DISPLAY", "IAC WONT OLD-ENVIRON", "IAC DONT AUTHENTICATION", "IAC WONT ENCRYPT", "IAC WONT NEW-ENVIRON", "IAC WONT 255", "IAC DONT 240",
		}},
		{"terminal type unknown", nil, []string{iacDO + "\x18", "\xff\xfa\x18\x01" + iacSE}, []string{"IAC WILL TERMINAL-TYPE", `IAC SB TERMINAL-TYPE 00 "UNKNOWN" IAC SE`}},
		{"terminal type", &Options{TerminalType: "VT100"}, []string{iacDO + "\x18", "\xff\xfa\x18\x01" + iacSE, "\xff\xfa\x18\x01" + iacSE},
			[]string{"IAC WILL TERMINAL-TYPE", `IAC SB TERMINAL-TYPE 00 "VT100" IAC SE`, `IAC SB TERMINAL-TYPE 00 "VT100" IAC SE`}},
		{"terminal type without agreement", nil, []string{"\xff\xfa\x18\x01" + iacSE}, nil},
		{"terminal type told to us", nil, []string{iacDO + "\x18", "\xff\xfa\x18\x00X" + iacSE, "\xff\xfa\x18" + iacSE}, []string{"IAC WILL TERMINAL-TYPE"}},
		{"window", window, []string{iacDO + "\x1f", iacDO + "\x1f"}, []string{"IAC WILL NAWS", "IAC SB NAWS 00 50 00 18 IAC SE"}},
		{"a window of 255 columns", &Options{Columns: 255, Rows: 511}, []string{iacDO + "\x1f"}, []string{"IAC WILL NAWS", "IAC SB NAWS 00 FF FF 01 FF FF IAC SE"}},
		{"display", &Options{Display: "host:0"}, []string{iacDO + "\x23", "\xff\xfa\x23\x01" + iacSE}, []string{"IAC WILL X-DISPLAY", `IAC SB X-DISPLAY 00 "host:0" IAC SE`}},
		{"environment, all of it", &Options{Environ: []Variable{{"USER", "joe"}, {"LANG", ""}}}, []string{iacDO + "\x27", "\xff\xfa\x27\x01" + iacSE},
			[]string{"IAC WILL NEW-ENVIRON", `IAC SB NEW-ENVIRON 00 00 "USER" 01 "joe" 00 "LANG" 01 IAC SE`}},
		{"environment, types only", &Options{Environ: []Variable{{"A", "1"}}}, []string{iacDO + "\x27", "\xff\xfa\x27\x01\x00\x03" + iacSE},
			[]string{"IAC WILL NEW-ENVIRON", `IAC SB NEW-ENVIRON 00 00 41 01 31 IAC SE`}},
		{"environment, named", &Options{Environ: []Variable{{"A", "1"}, {"B", "2"}}}, []string{iacDO + "\x27", "\xff\xfa\x27\x01\x03B\x00C" + iacSE},
			[]string{"IAC WILL NEW-ENVIRON", `IAC SB NEW-ENVIRON 00 00 42 01 32 IAC SE`}},
		{"environment, others named", &Options{Environ: []Variable{{"A", "1"}}}, []string{iacDO + "\x27", "\xff\xfa\x27\x01\x03HOME" + iacSE},
			[]string{"IAC WILL NEW-ENVIRON", `IAC SB NEW-ENVIRON 00 IAC SE`}},
		{"binary", &Options{Binary: BinaryAsk}, []string{iacWILL + "\x03", iacDO + "\x00", iacWILL + "\x00"}, []string{"IAC DO SGA", "IAC WILL BINARY", "IAC DO BINARY"}},
		{"binary at the server's wish", &Options{Binary: BinaryAsk}, []string{iacDO + "\x00", iacWILL + "\x00"}, []string{"IAC WILL BINARY", "IAC DO BINARY"}},
		{"binary refused", &Options{Binary: BinaryAsk}, []string{iacWILL + "\x03", iacDONT + "\x00", iacWONT + "\x00", iacDONT + "\x00"}, []string{"IAC DO SGA", "IAC WILL BINARY", "IAC DO BINARY"}},
		{"binary accepted", &Options{Binary: BinaryAccept}, []string{iacDO + "\x18", iacDO + "\x00", iacWILL + "\x00"}, []string{"IAC WILL TERMINAL-TYPE", "IAC WILL BINARY", "IAC DO BINARY"}},
		{"AYT", nil, []string{ayt, "\xff\xf2", "\xff\xf9", "\xff\xf1", ayt}, []string{"IAC NOP", "IAC NOP"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var steps []telnettest.Step
				for _, c := range tt.commands {
					steps = append(steps, telnettest.Step{Command: c})
				}
				srv := serve(t, append(steps, done)...)
				if _, err := io.ReadAll(open(t, srv, fetch.Env{}, tt.opt)); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				got := srv.Transcript().From(testserver.FromClient)
				if want := append(slices.Clone(tt.want), "IAC NOP"); !slices.Equal(got, want) {
					t.Errorf("the client sent\n%q, want\n%q", got, want)
				}
			})
		})
	}
}

func TestResize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := serve(t, telnettest.Step{Command: iacDO + "\x1f"}, done, telnettest.Step{Say: "go"},
			telnettest.Step{HearCommand: "\xff\xfa\x1f\x00\x64\x00\x28" + iacSE}, telnettest.Step{Command: iacDONT + "\x1f"}, done,
			telnettest.Step{Say: "on", Hear: "end"})
		s := open(t, srv, fetch.Env{}, &Options{Columns: 80, Rows: 24})
		if err := s.Resize(90, 30); err != nil { // nobody has asked yet
			t.Error(err)
		}
		buf := make([]byte, 2)
		for _, size := range [][2]uint16{{100, 40}, {7, 7}} {
			if _, err := io.ReadFull(s, buf); err != nil {
				t.Fatal(err)
			}
			if err := s.Resize(size[0], size[1]); err != nil {
				t.Error(err)
			}
		}
		io.WriteString(s, "end\r\n")
		if rest, err := io.ReadAll(s); len(rest) > 0 || err != nil {
			t.Errorf("%q, %v", rest, err)
		}
		want := []string{"IAC WILL NAWS", "IAC SB NAWS 00 5A 00 1E IAC SE", "IAC NOP", "IAC SB NAWS 00 64 00 28 IAC SE", "IAC WONT NAWS", "IAC NOP", "end"}
		if got := srv.Transcript().From(testserver.FromClient); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

func TestEchoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := serve(t, telnettest.Step{Say: "a", Hear: "x"}, telnettest.Step{Command: iacWILL + "\x01"}, telnettest.Step{Say: "b", Hear: "x"},
			telnettest.Step{Command: iacWONT + "\x01"}, telnettest.Step{Say: "c"})
		s := open(t, srv, fetch.Env{}, nil)
		for _, want := range []string{"a", "b", "c"} {
			if got := make([]byte, 1); true {
				if _, err := io.ReadFull(s, got); err != nil || string(got) != want {
					t.Fatalf("%q, %v", got, err)
				}
			}
			if s.Echoes() != (want == "b") {
				t.Errorf("after %q Echoes is %v", want, s.Echoes())
			}
			io.WriteString(s, "x\r\n")
		}
	})
}

// TestOctets sends all octets to a server that echoes them, with commands in between. One goroutine
// reads and another writes.
func TestOctets(t *testing.T) {
	for binary, choice := range map[bool]Binary{false: BinaryRefuse, true: BinaryAccept} {
		synctest.Test(t, func(t *testing.T) {
			steps := []telnettest.Step{{Command: iacWILL + "\x03"}, {Echo: true}}
			if binary {
				steps = append([]telnettest.Step{{Command: iacDO + "\x00" + iacWILL + "\x00"}, done}, steps...)
			}
			s := open(t, serve(t, steps...), fetch.Env{}, &Options{Binary: choice, Columns: 1, Rows: 1})
			want := make([]byte, 300<<10)
			r := rand.New(rand.NewPCG(854, 0))
			for i := range want {
				if want[i] = byte(r.Uint32()); i%5 == 0 {
					want[i] = "\xff\r\n\x00"[r.IntN(4)]
				}
			}
			var got []byte
			var err error
			all := make(chan struct{})
			go func() {
				defer close(all)
				got = make([]byte, len(want))
				_, err = io.ReadFull(s, got)
			}()
			synctest.Wait() // what is negotiated is
			for rest := want; len(rest) > 0; {
				n := min(r.IntN(40<<10), len(rest))
				if n < len(rest) && n > 0 && rest[n-1] == '\r' {
					n--
				}
				if _, err := s.Write(rest[:n]); err != nil {
					t.Fatal(err)
				}
				if err := s.Resize(uint16(n), 1); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			<-all
			if !bytes.Equal(got, want) || err != nil {
				t.Errorf("binary %v: the echo differs, %v", binary, err)
			}
		})
	}
}

// TestDataLimit checks that Limits.Body bounds the data, and that no byte below the limit is lost.
func TestDataLimit(t *testing.T) {
	for limit, want := range map[int64]error{4: fetch.ErrTooLarge, 5: nil, 0: nil} {
		srv := serve(t, telnettest.Step{Say: "hello"})
		s := open(t, srv, fetch.Env{Limits: fetch.Limits{Body: limit}}, nil)
		got, err := io.ReadAll(s)
		if wanted := "hello"[:min(5, cmp.Or(limit, 5))]; string(got) != wanted || !errors.Is(err, want) {
			t.Errorf("limit %d: %q, %v, want %q, %v", limit, got, err, wanted, want)
		}
	}
}

// TestBinaryChange checks that the meaning of CR changes exactly at the command that changes it.
func TestBinaryChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := serve(t, telnettest.Step{Command: iacWILL + "\x03"}, telnettest.Step{Say: "\r\x00", Hear: "\r"},
			telnettest.Step{Command: iacDO + "\x00" + iacWILL + "\x00"}, telnettest.Step{Say: "\r\x00", Hear: "\r"},
			telnettest.Step{Command: iacDONT + "\x00" + iacWONT + "\x00"}, telnettest.Step{Say: "\r\x00", Hear: "z"})
		s := open(t, srv, fetch.Env{}, &Options{Binary: BinaryAccept})
		read := func(want string) {
			t.Helper()
			got := make([]byte, len(want))
			if _, err := io.ReadFull(s, got); err != nil || string(got) != want {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
			io.WriteString(s, "\r")
		}
		read("\r")
		read("\r\x00")
		if s.Enter() != "\r" {
			t.Errorf("Enter is %q", s.Enter())
		}
		read("\r")
		if s.Enter() != "\r\n" {
			t.Errorf("Enter is %q", s.Enter())
		}
		io.WriteString(s, "z")
		io.Copy(io.Discard, s)
		var sent string
		for _, l := range srv.Transcript() {
			if l.From == testserver.FromClient {
				sent += l.Octets
			}
		}
		want := iacDO + "\x03\r\x00" + iacWILL + "\x00" + iacDO + "\x00\r" + iacWONT + "\x00" + iacDONT + "\x00\r\x00z"
		if sent != want {
			t.Errorf("sent %q, want %q", sent, want)
		}
	})
}

// peerOf opens a session whose server is a function.
func peerOf(t *testing.T, opt *Options, serve func(c net.Conn)) *Session {
	t.Helper()
	network := new(memnet.Network)
	l, err := network.Listen(t.Context(), "tcp", "127.0.0.1:23")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		serve(c)
	}()
	s, err := session(t.Context(), "telnet://127.0.0.1/", &fetch.Env{Dial: network.Dial}, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); l.Close(); <-ended })
	return s
}

// TestLoop checks that a server that negotiates forever gets a limited number of answers.
func TestLoop(t *testing.T) {
	for _, tt := range []struct {
		name    string
		loop    string
		pause   time.Duration
		answers int
	}{
		{"refused again and again", iacWILL + "\x63", 0, answerBurst},
		{"on and off", iacWILL + "\x01" + iacWONT + "\x01", 0, answerBurst},
		{"slowly", iacDO + "\x63", 60 * time.Millisecond, maxAnswers},
		{"slowly, subnegotiations", "\xff\xfa\x18\x01" + iacSE, time.Second, maxAnswers},
		{"AYT", ayt, 0, answerBurst},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				heard := new(silent)
				finished := make(chan struct{})
				s := peerOf(t, nil, func(c net.Conn) {
					go func() {
						defer close(finished)
						_, _ = decode(c, heard)
					}()
					io.WriteString(c, iacDO+"\x18")
					for range 10000 {
						if _, err := io.WriteString(c, tt.loop); err != nil {
							break
						}
						time.Sleep(tt.pause)
					}
					<-finished
				})
				_, err := io.ReadAll(s)
				if !errors.Is(err, fetch.ErrProtocol) || !errors.Is(err, errLoop) {
					t.Errorf("%v", err)
				}
				if _, again := s.Read(make([]byte, 1)); again != err {
					t.Errorf("then %v", again)
				}
				synctest.Wait() // the server has read what a reset would destroy
				s.Close()
				<-finished
				// The limit also refills while answers are sent.
				if n := len(heard.got); n < tt.answers || n > tt.answers+2 {
					t.Errorf("%d answers, want %d", n, tt.answers)
				}
			})
		})
	}
}

// TestPatience checks how long a session waits for the server.
func TestPatience(t *testing.T) {
	limits := fetch.Limits{Reply: 5 * time.Second, Idle: 3 * time.Second}
	for _, tt := range []struct {
		name  string
		idle  time.Duration
		say   string
		waits time.Duration // 0 is for ever
	}{
		{"first", 0, "", 5 * time.Second},
		{"next", 0, "hello", 3 * time.Second},
		{"by option", time.Minute, "", time.Minute},
		{"by option, next", time.Minute, "hello", time.Minute},
		{"a person", -1, "", 0},
		{"a person, next", -1, "hello", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := telnettest.New(t, func(s *telnettest.Server) {
					s.InMemory, s.IdleTimeout = true, 24*time.Hour
					s.Dialogue = []telnettest.Step{{Say: tt.say}, {Hear: "never"}}
				})
				s := open(t, srv, fetch.Env{Limits: limits}, &Options{Idle: tt.idle})
				start := time.Now()
				if tt.waits == 0 {
					time.AfterFunc(12*time.Hour, func() { s.Close() })
				}
				got, err := io.ReadAll(s)
				kind, took := fetch.ErrTimeout, tt.waits
				if tt.waits == 0 {
					kind, took = fetch.ErrConnectionFailed, 12*time.Hour
				}
				if string(got) != tt.say || !errors.Is(err, kind) || time.Since(start) != took {
					t.Errorf("%q, %v after %v", got, err, time.Since(start))
				}
			})
		})
	}
}

// TestWriteIsBounded checks that a server that does not read cannot block Write, Read or Close
// forever.
func TestWriteIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := peerOf(t, &Options{Idle: -1}, func(net.Conn) { <-ctx.Done() })
		start := time.Now()
		n, err := s.Write(make([]byte, 64<<20))
		if !errors.Is(err, fetch.ErrTimeout) || n == 64<<20 || time.Since(start) > 3*time.Minute {
			t.Errorf("%d bytes, %v after %v", n, err, time.Since(start))
		}
		go func() {
			time.Sleep(time.Second)
			s.Close()
		}()
		if _, err := s.Write(make([]byte, 64<<20)); !errors.Is(err, fetch.ErrConnectionFailed) {
			t.Errorf("after Close: %v", err)
		}
		if _, err := s.Read(make([]byte, 1)); !errors.Is(err, fetch.ErrConnectionFailed) {
			t.Errorf("a read after Close: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("closed again: %v", err)
		}
	})
}

// TestContext checks that a session ends with its context, also during Read or Write.
func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := telnettest.New(t, func(s *telnettest.Server) { s.InMemory, s.IdleTimeout = true, 24*time.Hour })
		ctx, cancel := context.WithCancel(t.Context())
		s, err := session(ctx, srv.URL, &fetch.Env{Dial: srv.Dial}, &Options{Idle: -1})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		time.AfterFunc(time.Hour, cancel)
		start := time.Now()
		if _, err := s.Read(make([]byte, 1)); !errors.Is(err, fetch.ErrCanceled) || time.Since(start) != time.Hour {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if _, err := s.Write([]byte("x")); !errors.Is(err, fetch.ErrCanceled) {
			t.Errorf("a write: %v", err)
		}
	})
}

// TestFaults injects each fault at each stage. The session must end in time, with the right kind of
// error or with none.
func TestFaults(t *testing.T) {
	const fine = fetch.ErrOther
	dialogue := []telnettest.Step{{Command: iacDO + "\x18", HearCommand: iacWILL + "\x18"}, {Say: "login: ", Hear: "lab\r\n"}, {Say: "welcome\r\n"}}
	const whole = "login: welcome\r\n"
	for _, tt := range []struct {
		stage string
		nth   int
		fault telnettest.Fault
		data  string
		kind  fetch.ErrorKind
	}{
		{"COMMAND", 1, testserver.Delay(time.Second), whole, fine},
		{"COMMAND", 1, testserver.Delay(time.Hour), "", fetch.ErrTimeout},
		{"COMMAND", 1, testserver.Silence(), "", fetch.ErrTimeout},
		{"COMMAND", 1, testserver.Close(), "", fine},
		{"COMMAND", 1, testserver.EndlessLine(), "", fetch.ErrCanceled},
		{"COMMAND", 1, testserver.Truncate(0), "", fine},
		{"COMMAND", 1, testserver.Truncate(1), "", fetch.ErrTruncated},
		{"COMMAND", 1, testserver.Truncate(2), "", fetch.ErrTruncated},
		{"COMMAND", 1, testserver.Reset(2), "", fetch.ErrConnectionFailed},
		{"COMMAND", 1, testserver.Split(1), whole, fine},
		{"COMMAND", 1, testserver.Drip(1, time.Second), whole, fine},
		{"COMMAND", 1, testserver.Data("\xff\xfa\x18"), "", fetch.ErrTimeout},
		{"COMMAND", 1, testserver.Data("\xff\xfa" + strings.Repeat("x", 5000)), "", fetch.ErrTooLarge},
		{"COMMAND", 1, testserver.Data(strings.Repeat(iacDO+"\x63", 100)), "", fetch.ErrProtocol},
		{"COMMAND", 1, testserver.Reply("go away"), "go away\r\n", fine},
		{"COMMAND", 1, testserver.Garbage(100, 3), "*", fine},
		{"SAY", 1, testserver.Delay(time.Hour), "", fetch.ErrTimeout},
		{"SAY", 1, testserver.Silence(), "", fetch.ErrTimeout},
		{"SAY", 1, testserver.Close(), "", fine},
		{"SAY", 1, testserver.Truncate(3), "log", fine},
		{"SAY", 1, testserver.Reset(3), "log", fetch.ErrConnectionFailed},
		{"SAY", 2, testserver.Reset(3), "login: wel", fetch.ErrConnectionFailed},
		{"SAY", 1, testserver.Drip(1, time.Second), whole, fine},
		{"SAY", 2, testserver.Drip(1, time.Hour), "login: w", fetch.ErrTimeout},
		{"SAY", 1, testserver.Garble(1, "\xff\xff"), "l\xffin: welcome\r\n", fine},
		{"SAY", 1, testserver.EndlessLine(), "", fetch.ErrCanceled},
		{"HEAR", 1, testserver.Silence(), "", fetch.ErrTimeout},
		{"HEAR", 2, testserver.Silence(), "login: ", fetch.ErrTimeout},
		{"HEAR", 2, testserver.Close(), "login: ", fine},
		{"CONNECT", 1, testserver.Silence(), "", fetch.ErrTimeout},
		{"CONNECT", 1, testserver.Close(), "", fine},
		{"CONNECT", 1, testserver.Reset(0), "", fetch.ErrConnectionFailed},
		{"CONNECT", 1, testserver.Truncate(2), "", fetch.ErrTruncated},
		{"CONNECT", 1, testserver.Reply("busy"), "busy\r\n", fine},
		{"CONNECT", 1, testserver.Split(2), whole, fine},
	} {
		t.Run(tt.stage+" "+tt.fault.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := serve(t, dialogue...)
				srv.On(tt.stage, tt.nth, tt.fault)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				env := fetch.Env{Dial: srv.Dial, Limits: fetch.Limits{Reply: time.Minute, Idle: time.Minute}}
				s, err := session(ctx, srv.URL, &env, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				start := time.Now()
				io.WriteString(s, "lab\r\n")
				got := readSome(s, cancel, &err)
				if e := time.Since(start); e > 2*time.Minute {
					t.Errorf("it took %v", e)
				}
				if tt.data != "*" && tt.kind != fetch.ErrCanceled && got != tt.data {
					t.Errorf("%q, want %q", got, tt.data)
				}
				if tt.kind == fine && tt.data != "*" && err != nil || tt.kind != fine && !errors.Is(err, tt.kind) {
					t.Errorf("%v, want %v", err, tt.kind)
				}
			})
		})
	}
}

// readSome reads to the end, or up to a limit.
func readSome(s *Session, enough func(), err *error) string {
	var got []byte
	buf := make([]byte, 1024)
	for {
		n, e := s.Read(buf)
		got = append(got, buf[:n]...)
		if len(got) > 1<<20 {
			enough()
		}
		if e != nil {
			if *err = e; e == io.EOF {
				*err = nil
			}
			return string(got)
		}
	}
}

// TestTrace checks that the hooks receive the commands and never the typed text.
func TestTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := serve(t, telnettest.Step{Command: iacDO + "\x18"}, telnettest.Step{Say: "password: ", Hear: "canary\r\n"}, telnettest.Step{Say: "hi\r\n"})
		var sent, received []byte
		var body int64
		ctx := fetch.WithTrace(t.Context(), &fetch.Trace{
			Sent:     func(p []byte) { sent = append(sent, p...) },
			Received: func(p []byte) { received = append(received, p...) },
			Body:     func(n int64) { body += n },
		})
		s, err := session(ctx, srv.URL, &fetch.Env{Dial: srv.Dial}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		io.WriteString(s, "canary\r\n")
		io.Copy(io.Discard, s)
		if string(sent) != iacWILL+"\x18" || string(received) != iacDO+"\x18" || body != int64(len("password: hi\r\n")) {
			t.Errorf("sent %q, received %q, %d bytes of data", sent, received, body)
		}
	})
}

// FuzzTelnetSession checks that a session ends for any output of a server, that the number of answers
// is limited, and that written data arrives unchanged.
func FuzzTelnetSession(f *testing.F) {
	f.Add([]byte("\xff\xfb\x25\xff\xfb\x26\xff\xfd\x18\xff\xfd\x20\xff\xfd\x23\xff\xfd\x27\xff\xfd\x24"), []byte("lab\r\n"), "VT100", "A,b", true)
	f.Add([]byte("\xff\xfa\x18\x01\xff\xf0\xff\xfd\x1f\xff\xfd\x00login: "), []byte("\xff\r"), "", "USER,x", false)
	f.Add([]byte(strings.Repeat("\xff\xfd\x18\xff\xfe\x18", 300)), []byte("\x00"), "x", "", true)
	f.Fuzz(func(t *testing.T, octets, typed []byte, ttype, environ string, binary bool) {
		if len(octets) > 1<<14 || len(typed) > 1<<14 {
			return
		}
		choice := BinaryRefuse
		if binary {
			choice = BinaryAsk
		}
		opt := &Options{Columns: 80, Rows: 25, Binary: choice}
		_ = opt.Set("TTYPE=" + ttype)
		if err := opt.Set("NEW_ENV=" + environ); err != nil {
			opt = &Options{Columns: 80, Rows: 25, Binary: choice}
		}
		synctest.Test(t, func(t *testing.T) {
			h := &silent{bare: true}
			var data string
			var err error
			finished := make(chan struct{})
			s := peerOf(t, opt, func(c net.Conn) {
				go func() {
					defer close(finished)
					data, err = decode(c, h)
				}()
				c.Write(octets)
				c.(interface{ CloseWrite() error }).CloseWrite()
				<-finished
			})
			read := make(chan struct{})
			go func() {
				defer close(read)
				io.Copy(io.Discard, s)
			}()
			s.Write(typed)
			<-read
			s.Close()
			<-finished
			if err != nil || len(h.got) > maxAnswers*2+4 {
				t.Errorf("the client sent %d commands, %v", len(h.got), err)
			}
			if data := strings.ReplaceAll(data, "\x00", ""); data != strings.ReplaceAll(string(typed), "\x00", "") {
				t.Errorf("%q arrived as %q", typed, data)
			}
		})
	})
}
