package ftptest

import (
	"bufio"
	"net"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/traffic"
)

// TLS on the control connection (RFC 4217).

func doAUTH(f *session, arg string) error {
	switch {
	case f.srv.TLS == nil:
		return f.reply("502 No TLS here.")
	case f.secured():
		return f.reply("503 TLS is on.")
	case !strings.EqualFold(arg, "TLS") && !strings.EqualFold(arg, "TLS-C") && !strings.EqualFold(arg, "SSL"):
		return f.reply("504 AUTH TLS only.")
	}
	if err := f.reply("234 Proceed with the handshake."); err != nil {
		return err
	}
	if reply, armed := f.now.faults.Peek(core.Reply); !armed || strings.HasPrefix(reply.Text, "2") {
		return f.Secure()
	}
	return nil
}

// doCCC turns TLS off. The server ends TLS; the client may end it too.
func doCCC(f *session, _ string) error {
	if !f.secured() {
		return f.reply("533 The commands are in the clear.")
	}
	if err := f.reply("200 Commands in the clear from now on."); err != nil {
		return err
	}
	secure := f.Conn.(traffic.Secure)
	if err := secure.CloseWrite(); err != nil {
		return err
	}
	_ = secure.SetDeadline(time.Time{}) // CloseWrite has set one
	nc := secure.NetConn()
	f.Replace(&afterTLS{Conn: nc, r: bufio.NewReader(nc)})
	return nil
}

// afterTLS is a connection after TLS has ended: the client may send its close_notify before it
// continues.
type afterTLS struct {
	net.Conn
	r     *bufio.Reader // reads Conn
	begun bool
}

const alertRecord = 21 // the content type of RFC 8446 §5.1

func (c *afterTLS) Read(p []byte) (int, error) {
	if !c.begun {
		c.begun = true
		if err := c.skipNotice(); err != nil {
			return 0, err
		}
	}
	return c.r.Read(p)
}

// skipNotice discards the client's close_notify, which has the content type of data with TLS 1.3.
func (c *afterTLS) skipNotice() error {
	kind, err := c.r.Peek(1)
	if err != nil || kind[0] != alertRecord && kind[0] != alertRecord+2 {
		return err
	}
	head, err := c.r.Peek(5)
	if err == nil {
		_, err = c.r.Discard(len(head) + int(head[3])<<8 + int(head[4]))
	}
	return err
}
