package telnet

import (
	"errors"
	"io"
	"net"

	"github.com/ziutek/telnet"
)

// newReader undoubles IAC by ziutek/telnet. That library's Read dies on commands
// it does not know (IAC NOP), so that it gets a stream from which a filter has
// taken all of them; its Write loses octets from 80 to FF, so that it never
// writes.
func newReader(filtered io.Reader) (io.Reader, error) {
	return telnet.NewConn(oneWay{r: filtered})
}

// oneWay is a net.Conn that can be read.
type oneWay struct {
	net.Conn // nil
	r        io.Reader
}

var errOneWay = errors.New("telnet: a command has passed the filter")

func (c oneWay) Read(p []byte) (int, error) { return c.r.Read(p) }
func (c oneWay) Write([]byte) (int, error)  { return 0, errOneWay }
