package frames

import (
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
)

// player is a connection on which the server sends text and nothing else.
type player struct {
	net.Conn
	*strings.Reader
}

func (p player) Read(b []byte) (int, error)  { return p.Reader.Read(b[:min(len(b), 5)]) }
func (p player) Write(b []byte) (int, error) { return len(b), nil }

// TestShow checks how frames are described.
func TestShow(t *testing.T) {
	sent := strings.Join([]string{
		"\x00\x00\x00\x04\x00\x00\x00\x00\x00",                                 // SETTINGS
		"\x00\x00\x00\x04\x01\x00\x00\x00\x00",                                 // its acknowledgement
		"\x00\x00\x04\x08\x00\x80\x00\x00\x00\x00\x00\x01\x00",                 // WINDOW_UPDATE
		"\x00\x00\x08\x06\x01\x00\x00\x00\x0012345678",                         // PING
		"\x00\x00\x01\x01\x04\x00\x00\x00\x01\x88",                             // HEADERS
		"\x00\x00\x03\x00\x01\x00\x00\x00\x01abc",                              // DATA
		"\x00\x00\x04\x03\x00\x00\x00\x00\x01\x00\x00\x00\x07",                 // RST_STREAM
		"\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x0b", // GOAWAY
		"\x00\x00\x01\x7f\x00\x00\x00\x00\x00x",                                // of no known type
		"\x00\x00\x00\x07\x00\x00\x00\x00\x00",                                 // GOAWAY that is too short
	}, "")
	var seen []string
	c := Watch(player{nil, strings.NewReader(sent)}, Limits{}, nil)
	s := &Stream{Seen: func(sent bool, text string) {
		if !sent {
			seen = append(seen, text)
		}
	}}
	c.Sending(s)
	if _, err := c.Write([]byte(preface + "\x00\x00\x00\x01\x05\x00\x00\x00\x01")); err != nil { // HEADERS
		t.Fatal(err)
	}
	buffer := make([]byte, 100)
	for {
		if _, err := c.Read(buffer); err != nil {
			break
		}
	}
	want := []string{
		"SETTINGS, 0 bytes", "SETTINGS, 0 bytes, ACK", "WINDOW_UPDATE, 4 bytes, 256 more", "PING, 8 bytes, ACK", "HEADERS, stream 1, 1 bytes", "DATA, stream 1, 3 bytes, END_STREAM",
		"RST_STREAM, stream 1, 4 bytes, REFUSED_STREAM", "GOAWAY, 8 bytes, ENHANCE_YOUR_CALM, last stream 5", "frame of type 127, 1 bytes",
		"GOAWAY, 0 bytes, NO_ERROR, last stream 0",
	}
	if !slices.Equal(seen, want) {
		t.Errorf("got  %q\nwant %q", seen, want)
	}
}

// TestHTTP1 checks that a response of HTTP/1 is recognized, however it arrives.
func TestHTTP1(t *testing.T) {
	c := Watch(player{nil, strings.NewReader("HTTP/1.1 400 Bad Request\r\n\r\n")}, Limits{}, nil)
	if _, err := c.Read(make([]byte, 100)); !errors.Is(err, ErrVersion) {
		t.Errorf("%v", err)
	}
}

// failing is a connection on which everything fails.
type failing struct {
	net.Conn
	err error
}

func (f failing) Read([]byte) (int, error)  { return 0, f.err }
func (f failing) Write([]byte) (int, error) { return 0, f.err }
func (f failing) Close() error              { return nil }

// TestLost checks that the first error of a connection is known, but not that of a closed one.
func TestLost(t *testing.T) {
	reset := errors.New("reset")
	for name, do := range map[string]func(*Conn) error{
		"read":  func(c *Conn) error { _, err := c.Read(make([]byte, 1)); return err },
		"write": func(c *Conn) error { _, err := c.Write([]byte(preface)); return err },
	} {
		open, closed := Watch(failing{err: reset}, Limits{}, nil), Watch(failing{err: reset}, Limits{}, nil)
		if err := do(open); err != reset || open.Lost() != reset {
			t.Errorf("%s: %v, %v", name, err, open.Lost())
		}
		if err := closed.Close(); err != nil {
			t.Error(err)
		}
		if err := do(closed); err != reset || closed.Lost() != nil {
			t.Errorf("%s of a closed connection: %v, %v", name, err, closed.Lost())
		}
	}
}
