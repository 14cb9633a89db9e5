package ftp

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
)

// libraryServer is a net.Conn that acts as the server for the library and records each
// Write. It replies from the table answers.
type libraryServer struct {
	net.Conn // nil: other methods must not be called
	t        *testing.T
	log      *[]string
	answers  map[string]string
	out      strings.Builder
	read     int
}

func (c *libraryServer) Write(p []byte) (int, error) {
	*c.log = append(*c.log, string(p))
	verb, _, _ := strings.Cut(strings.TrimSpace(string(p)), " ")
	answer, ok := c.answers[verb]
	if !ok {
		c.t.Errorf("the library sends %q", p)
		answer = "500 what"
	}
	c.out.WriteString(answer + "\r\n")
	return len(p), nil
}

func (c *libraryServer) Read(p []byte) (int, error) {
	if c.read == c.out.Len() {
		c.t.Error("the library reads without having sent a command")
		return 0, io.EOF
	}
	n := copy(p, c.out.String()[c.read:])
	c.read += n
	*c.log = append(*c.log, "read")
	return n, nil
}

func (c *libraryServer) Close() error {
	*c.log = append(*c.log, "close")
	return nil
}

func (c *libraryServer) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 5), Port: 21}
}

// libraryData is a data connection that records its use.
type libraryData struct {
	net.Conn
	log *[]string
}

func (d *libraryData) Read([]byte) (int, error) { return 0, io.EOF }

func (d *libraryData) Write(p []byte) (int, error) {
	*d.log = append(*d.log, fmt.Sprintf("data %q", p))
	return len(p), nil
}

func (d *libraryData) Close() error {
	*d.log = append(*d.log, "close data")
	return nil
}

// TestLibrary tests what control and session assume about jlaffaye/ftp: that it
// writes each command with one Write and then reads one reply, which commands it
// sends, and which addresses it dials. An upgrade that changes this must fail here.
func TestLibrary(t *testing.T) {
	var log []string
	server := &libraryServer{t: t, log: &log, answers: map[string]string{
		"USER": "331 ", "PASS": "230 ", "FEAT": "211-\r\n211 ", "TYPE": "200 ", "CWD": "250 ", "MKD": "257 ",
		"EPSV": "229 (|||2222|)", "PASV": "227 (0,0,0,0,8,174)",
		"REST": "350 ", "RETR": "150 \r\n226 ", "STOR": "150 \r\n226 ", "APPE": "150 \r\n226 ",
	}}
	server.out.WriteString("220 \r\n")
	a := &access{req: new(fetch.Request), loc: at("/"), conditions: conditions{limits: fetch.Limits{}.WithDefaults()}}
	s := &session{ctx: t.Context(), access: a, ctl: &control{Talk: new(talk.Talk)}}
	dial := func(_, address string) (net.Conn, error) {
		log = append(log, "dial "+address)
		if s.conn == nil {
			return server, nil
		}
		return &libraryData{log: &log}, nil
	}
	check := func(what string, err error, want ...string) {
		t.Helper()
		if err != nil || !slices.Equal(log, want) {
			t.Errorf("%s: %v, %q\nwant %q", what, err, log, want)
		}
		log = nil
	}
	err := s.connect(dial)
	check("Dial", err, "dial ", "read")
	err = s.conn.Login("lab", "")
	check("Login", err, "USER lab\r\n", "read", "PASS \r\n", "read", "FEAT\r\n", "read", "TYPE I\r\n", "read")
	server.answers["USER"] = "230 "
	err = s.conn.Login("lab", "")
	check("Login without a password", err, "USER lab\r\n", "read", "FEAT\r\n", "read", "TYPE I\r\n", "read")
	check("ChangeDir", s.conn.ChangeDir(""), "CWD \r\n", "read")
	check("ChangeDir", s.conn.ChangeDir("a b%d/\xff"), "CWD a b%d/\xff\r\n", "read")
	check("MakeDir", s.conn.MakeDir("a"), "MKD a\r\n", "read")
	check("Type", s.conn.Type("A"), "TYPE A\r\n", "read")

	s.last, err = s.conn.RetrFrom("", 5)
	check("RetrFrom", err, "EPSV\r\n", "read", "dial 10.0.0.5:2222", "REST 5\r\n", "read", "RETR \r\n", "read")
	check("Response.Close", s.last.Close(), "close data") // the final reply has been read already
	check("Response.Close again", s.last.Close())
	err = s.conn.StorFrom("", strings.NewReader("hello"), 7)
	check("StorFrom", err, "EPSV\r\n", "read", "dial 10.0.0.5:2222", "REST 7\r\n", "read", "STOR \r\n", "read", `data "hello"`, "close data")
	err = s.conn.Append("", strings.NewReader("hello"))
	check("Append", err, "EPSV\r\n", "read", "dial 10.0.0.5:2222", "APPE \r\n", "read", `data "hello"`, "close data")

	server.answers["EPSV"] = "500 "
	s.last, err = s.conn.RetrFrom("", 0)
	check("RetrFrom by PASV", err, "EPSV\r\n", "read", "PASV\r\n", "read", "dial 10.0.0.5:2222", "RETR \r\n", "read")
	s.last.Close()
	log = nil
	server.answers["RETR"] = "550 no"
	if _, err = s.conn.RetrFrom("", 0); err == nil {
		t.Error("RetrFrom: no error")
	}
	check("EPSV is not tried again; a refusal closes the data connection", nil, "PASV\r\n", "read", "dial 10.0.0.5:2222", "RETR \r\n", "read", "close data")
}

// TestLibrarySilence tests a negative greeting: the library's QUIT must not be sent, and its
// Close must have an effect.
func TestLibrarySilence(t *testing.T) {
	h := &hostile{greeting: "500 no\r\n"}
	h.serve(t)
	if _, err := read(t.Context(), &Fetcher{Env: h.env()}, &fetch.Request{Locator: at("/x")}); err == nil {
		t.Error("no error")
	}
	if got := h.sent(); len(got) != 0 {
		t.Errorf("sent %q", got)
	}
}

// TestControlAsConn tests the methods of net.Conn that the library does not need.
func TestControlAsConn(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	c := newControl(context.Background(), here, fetch.Limits{}.WithDefaults(), driver.ContextTrace(context.Background()))
	if _, ok := c.RemoteAddr().(*net.TCPAddr); !ok {
		t.Errorf("RemoteAddr is a %T, on which the library panics", c.RemoteAddr())
	}
	if c.LocalAddr() == nil || c.SetDeadline(time.Now()) != nil || c.SetReadDeadline(time.Now()) != nil || c.SetWriteDeadline(time.Now()) != nil {
		t.Error("LocalAddr is nil, or setting a deadline failed")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Write([]byte("NOOP\r\n")); err == nil {
		t.Error("Write succeeded after Close")
	}
}
