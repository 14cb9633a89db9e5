package telnet

import (
	"errors"
	"io"
	"net"

	// ziutek/telnet takes the doubling of IAC out of what a server sends. It reads from any net.Conn, so
	// it can read here what this package has filtered: it fails on commands that it does not know, and
	// negotiates few options.
	"github.com/ziutek/telnet"
)

// newReader returns a reader that undoubles IAC. The Read of the library fails on commands that it
// does not know (IAC NOP), so filtered must be a stream without commands. Its Write loses octets from
// 80 to FF, so it is never used for writing.
func newReader(filtered io.Reader) (io.Reader, error) {
	return telnet.NewConn(readOnlyConn{r: filtered})
}

// readOnlyConn is a net.Conn that can only be read.
type readOnlyConn struct {
	net.Conn // nil
	r        io.Reader
}

var errOneWay = errors.New("telnet: a command has passed the filter")

func (c readOnlyConn) Read(p []byte) (int, error) { return c.r.Read(p) }
func (c readOnlyConn) Write([]byte) (int, error)  { return 0, errOneWay }
