package wire

import (
	"fmt"
	"io"
	"net"
)

// ErrNoNotice is how a connection below TLS ends without the close_notify by which
// the peer vouches for the end: anybody on the way could have cut it.
var ErrNoNotice = fmt.Errorf("the data end without the close_notify of TLS: %w", io.ErrUnexpectedEOF)

// BelowTLS is conn for tls.Client to speak over where the end of the connection
// is that of the data: such an end is [ErrNoNotice] unless the peer has vouched
// for it. crypto/tls would forgive it between two records.
func BelowTLS(conn net.Conn) net.Conn { return vouched{conn} }

type vouched struct{ net.Conn }

func (c vouched) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == io.EOF {
		err = ErrNoNotice
	}
	return n, err
}
