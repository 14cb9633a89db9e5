package ftptest

import (
	"bufio"
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/traffic"
)

// TLS (RFC 4217).

func (f *session) auth(arg string) error {
	switch {
	case f.srv.TLS == nil:
		return f.reply("502 No TLS here.")
	case f.secured:
		return f.reply("503 TLS is on.")
	case !strings.EqualFold(arg, "TLS") && !strings.EqualFold(arg, "TLS-C") && !strings.EqualFold(arg, "SSL"):
		return f.reply("504 AUTH TLS only.")
	}
	if err := f.reply("234 Proceed with the handshake."); err != nil {
		return err
	}
	if reply, armed := f.faults.Peek(core.Reply); !armed || strings.HasPrefix(reply.Text, "2") {
		return f.secure()
	}
	return nil
}

// secure starts TLS on the control connection.
func (f *session) secure() error {
	err := f.Secure()
	f.secured = err == nil
	return err
}

func (f *session) bufferSize(arg string) error {
	if !f.secured {
		return f.reply("503 AUTH first.")
	}
	f.sized = true
	return f.reply("200 PBSZ=0")
}

func (f *session) protection(arg string) error {
	switch level := strings.ToUpper(arg); {
	case !f.sized:
		return f.reply("503 PBSZ first.")
	case level == "P":
		f.private = true
	case level == "C" && f.srv.RequireTLS:
		return f.reply("534 Private data connections only.")
	case level == "C":
		f.private = false
	default:
		return f.reply("536 C or P.")
	}
	return f.reply("200 Protection set.")
}

// clearCommands is CCC. The server ends TLS; the client may end it too.
func (f *session) clearCommands(string) error {
	if !f.secured {
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
	f.secured = false
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

// turnsTLS reports whether a command may turn TLS on or off, so that the bytes behind it may have
// another form.
func turnsTLS(line string) bool {
	verb, _, _ := strings.Cut(line, " ")
	return strings.EqualFold(verb, "AUTH") || strings.EqualFold(verb, "CCC")
}

var errNoReuse = errors.New("the data connection does not resume the TLS session")

// secureData starts TLS on a data connection if that was agreed.
func (f *session) secureData(ctx context.Context, nc net.Conn) (net.Conn, error) {
	if !f.private {
		return nc, nil
	}
	ctx, cancel := context.WithTimeout(ctx, dataTimeout)
	defer cancel()
	t, err := traffic.StartTLS(ctx, nc, f.srv.TLS)
	if err != nil {
		return nil, errNoData
	}
	_ = nc.SetDeadline(time.Time{})
	if f.srv.ReuseTLS && !t.ConnectionState().DidResume {
		return nil, errNoReuse
	}
	return t, nil
}

// preTransfer is PRET, which announces a transfer.
func (f *session) preTransfer(arg string) error {
	verb, _, _ := strings.Cut(strings.ToUpper(arg), " ")
	if !isTransfer(verb) {
		return f.reply("501 PRET takes a transfer.")
	}
	f.announced = true
	return f.reply("200 Ok.")
}
