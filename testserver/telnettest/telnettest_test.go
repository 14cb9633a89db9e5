package telnettest_test

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/testclient"
	"github.com/fetch1738/fetch1738/testserver/telnettest"
)

func lineInMemory(s *telnettest.Server) { s.InMemory = true }

func TestTelnetDialogue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := telnettest.New(t, lineInMemory, func(s *telnettest.Server) {
			s.Dialogue = []telnettest.Step{
				{Command: "\xff\xfd\x18\xff\xfb\x01", HearCommand: "\xff\xfb\x18"},
				{Command: "\xff\xfa\x18\x01\xff\xf0", HearCommand: "\xff\xfa\x18\x00a\xff\xff\xff\xf0"},
				{Say: "\xfflogin: ", Hear: "joe\r"},
				{Say: "Password: ", Hear: "secret"},
				{Say: "bye\r\n"},
			}
		})
		nc := testclient.Dial(t, srv, srv.Addr)
		io.WriteString(nc, "joe\r\x00\xff\xfe\x63\xff\xfb\x18\xff\xfa\x18\x00a\xff\xff\xff\xf0sec\xff\xf1ret\r\nmore")
		got, err := io.ReadAll(nc)
		want := "\xff\xfd\x18\xff\xfb\x01\xff\xfa\x18\x01\xff\xf0\xff\xfflogin: Password: bye\r\n"
		if string(got) != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		nc.Close()
		synctest.Wait()
		lines := srv.Transcript()
		client := []string{`"joe\r\x00"`, "IAC DONT 99", "IAC WILL TERMINAL-TYPE", `IAC SB TERMINAL-TYPE 00 61 FF FF IAC SE`, `"sec"`, "IAC NOP", "ret", `"more"`}
		if got := lines.From(testserver.FromClient); !slices.Equal(got, client) {
			t.Errorf("the client: %q", got)
		}
		server := []string{"IAC DO TERMINAL-TYPE", "IAC WILL ECHO", "IAC SB TERMINAL-TYPE 01 IAC SE", `"\xff\xfflogin: "`, `"Password: "`, "bye"}
		if got := lines.From(testserver.FromServer); !slices.Equal(got, server) {
			t.Errorf("the server: %q", got)
		}
	})
}

func TestTelnetEcho(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := telnettest.New(t, lineInMemory)
		nc := testclient.Dial(t, srv, srv.Addr)
		all := bytes.Repeat([]byte("a\r\x00\r\n\x00\x80\xff\xff"), 1000)
		go nc.Write(append([]byte("\xff\xfd\x01"), all...))
		got := make([]byte, len(all))
		if _, err := io.ReadFull(nc, got); err != nil || !bytes.Equal(got, all) {
			t.Errorf("%.100q, %v", got, err)
		}
	})
}

func TestTelnetFaults(t *testing.T) {
	for _, tt := range []struct {
		stage string
		fault telnettest.Fault
		want  string
	}{
		{"COMMAND", testserver.Truncate(2), "\xff\xfd"},
		{"COMMAND", testserver.Close(), ""},
		{"COMMAND", testserver.Data("\xff\xf6"), "\xff\xf6hello\r\nbye"},
		{"SAY", testserver.Truncate(2), "\xff\xfd\x18he"},
		{"SAY", testserver.Garble(1, "\xff"), "\xff\xfd\x18h\xffllo\r\nbye"},
		{"SAY", testserver.Reply("no"), "\xff\xfd\x18no\r\n"},
		{"SAY", testserver.Split(1), "\xff\xfd\x18hello\r\nbye"},
		{"HEAR", testserver.Close(), "\xff\xfd\x18hello\r\n"},
		{"CONNECT", testserver.Truncate(4), "\xff\xfd\x18h"},
		{"CONNECT", testserver.Reply("full"), "full\r\n"},
	} {
		testclient.InBubble(t, tt.stage+" "+tt.fault.String(), func(t *testing.T) {
			srv := telnettest.New(t, lineInMemory, func(s *telnettest.Server) {
				s.Dialogue = []telnettest.Step{{Command: "\xff\xfd\x18"}, {Say: "hello\r\n", Hear: "x"}, {Say: "bye"}}
			})
			srv.On(tt.stage, 1, tt.fault)
			if got, err := testclient.Ask(t, srv, srv.Addr, "x"); got != tt.want || err != nil {
				t.Errorf("%q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func FuzzTelnetClient(f *testing.F) {
	f.Add([]byte("joe\r\n\xff\xfb\x18\xff\xfa\x18\x00x\xff\xf0"))
	f.Add([]byte("\xff\xfa" + strings.Repeat("\xff\xff", 9000)))
	f.Add([]byte("\xff\xff\xff\x00\xff\xfa\xff\xf0\r\x00"))
	f.Fuzz(func(t *testing.T, octets []byte) {
		synctest.Test(t, func(t *testing.T) {
			srv := telnettest.New(t, lineInMemory)
			testclient.AnswerAnything(t, srv, srv.Addr, octets)
			var sent string
			for _, l := range srv.Transcript() {
				if l.From == testserver.FromClient {
					sent += l.Octets
				}
			}
			if len(octets) < 1<<10 && sent != string(octets) {
				t.Errorf("recorded %q of %q", sent, octets)
			}
		})
	})
}

// TestSilentEcho tests that a server that was silenced echoes nothing more.
func TestSilentEcho(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := telnettest.New(t, lineInMemory)
		srv.On("ECHO", 2, testserver.Silence())
		nc := testclient.Dial(t, srv, srv.Addr)
		nc.SetDeadline(time.Now().Add(time.Hour))
		for _, line := range []string{"one\r\n", "two\r\n", "three\r\n"} {
			io.WriteString(nc, line)
			synctest.Wait()
		}
		if got, _ := io.ReadAll(nc); string(got) != "one\r\n" {
			t.Errorf("echoed %q", got)
		}
	})
}
