package ftp

import (
	"bytes"
	"fmt"
	"net"
	"strings"

	// jlaffaye/ftp performs the edits that are one command with one name. It is the client of rclone and
	// many others.
	client "github.com/jlaffaye/ftp"

	"github.com/fetch1738/fetch1738/fetch/internal/talk"
)

// A library is the bridge to jlaffaye/ftp for DELE, MKD and RMD (see docs/decisions/libraries.md). To
// it, a library is the net.Conn of a server: a command that it writes is sent, or is the next one of
// those that are pipelined, and what it reads are the server's replies.
type library struct {
	net.Conn // nil: the library calls no other methods
	ctl      *control
	client   *client.ServerConn
	unread   bytes.Buffer // the rest of a reply
	last     talk.Reply
}

// newLibrary returns the bridge over a control connection on which the greeting has come.
func newLibrary(c *control) (*library, error) {
	l := &library{ctl: c}
	l.pass(talk.Reply{Code: 220, Text: c.greeting})
	var err error
	l.client, err = client.Dial("", client.DialWithDialFunc(func(string, string) (net.Conn, error) { return l, nil }))
	return l, err
}

// libraryEdits are the methods of the library, by their commands.
var libraryEdits = map[string]func(*client.ServerConn, string) error{
	"DELE": (*client.ServerConn).Delete,
	"MKD":  (*client.ServerConn).MakeDir,
	"RMD":  (*client.ServerConn).RemoveDir,
}

// perform performs the edit of a verb, and returns the reply to it. The library takes one code for
// success and others for a refusal; the caller decides by the reply.
func (l *library) perform(verb, name string) (talk.Reply, error) {
	l.last = talk.Reply{}
	if err := libraryEdits[verb](l.client, name); l.last.Code == 0 {
		return l.last, err
	}
	return l.last, nil
}

// Write sends a command.
func (l *library) Write(p []byte) (int, error) {
	if err := l.ctl.send(strings.TrimSuffix(string(p), "\r\n")); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Read returns the next reply.
func (l *library) Read(p []byte) (int, error) {
	if l.unread.Len() == 0 {
		r, err := l.ctl.receive()
		if err != nil {
			return 0, err
		}
		l.pass(r)
	}
	return l.unread.Read(p)
}

// pass makes r what the library reads next.
func (l *library) pass(r talk.Reply) {
	l.last = r
	lines := strings.Split(r.Text, "\n")
	for i, line := range lines {
		separator := "-"
		if i == len(lines)-1 {
			separator = " "
		}
		fmt.Fprintf(&l.unread, "%03d%s%s\r\n", r.Code, separator, line)
	}
}

// RemoteAddr returns a *net.TCPAddr; on another type, the library panics. The address is not used.
func (l *library) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4zero} }
