package telnet

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/ziutek/telnet"
)

// These tests pin known bugs of ziutek/telnet. If one fails, an upgrade has fixed the bug, and
// newReader can be simplified.

func TestLibraryWriteLosesOctets(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	here, there := net.Pipe()
	go func() {
		c, err := telnet.NewConn(here)
		if err == nil {
			_, _ = c.Write(all)
		}
		here.Close()
	}()
	got, err := io.ReadAll(there)
	if err != nil {
		t.Fatal(err)
	}
	if want := escape(nil, all, true); bytes.Equal(got, want) {
		t.Error("Write of ziutek/telnet now doubles IAC and keeps 80 to FE")
	}
}

func TestLibraryReadDiesOnNOP(t *testing.T) {
	c, err := telnet.NewConn(readOnlyConn{r: bytes.NewReader([]byte("a\xff\xf1b"))})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); err == nil || string(got) == "ab" {
		t.Errorf("Read of ziutek/telnet now skips IAC NOP: %q, %v", got, err)
	}
}

// TestNothingPassesTheFilter checks that no command reaches the library, so that it never writes.
func TestNothingPassesTheFilter(t *testing.T) {
	for c := 0; c < 255; c++ {
		text := []byte{'a', cmdIAC, byte(c), 1, 'b', cmdIAC, cmdSE, 'c'}
		r, err := newReader(&filter{r: bytes.NewReader(text), on: new(silent)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil || got[0] != 'a' || got[len(got)-1] != 'c' {
			t.Errorf("IAC %d: %q, %v", c, got, err)
		}
	}
}

// silent is a handler that only records its calls.
type silent struct {
	got  []string
	bare bool // binary
}

func (s *silent) command(c byte) error {
	s.got = append(s.got, string([]byte{cmdIAC, c}))
	return nil
}

func (s *silent) negotiate(verb, option byte) error {
	s.got = append(s.got, string([]byte{cmdIAC, verb, option}))
	return nil
}

func (s *silent) subnegotiate(option byte, data []byte) error {
	s.got = append(s.got, string(subnegotiation(option, data...)))
	return nil
}

func (s *silent) binary() bool { return s.bare }
