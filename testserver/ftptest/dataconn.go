package ftptest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// dataConn is a data connection with the faults armed against it.
type dataConn struct {
	net.Conn          // nil until it is open
	raw      net.Conn // below TLS; closing it omits the close_notify
	channel  *channel
	ctx      context.Context // ends with the transfer
	next     context.Context // ends when the next command has arrived
	faults   *core.Faults
	lynx     bool         // see settle
	ascii    bool         // the type is A
	moved    int64        // bytes
	stall    func() error // sends the last reply of a transfer that stalls; or nil
	until    int64        // how many bytes it moves
}

// open opens the data connection. It stops when the transfer ends.
func (d *dataConn) open() (err error) {
	d.raw, d.Conn, err = d.channel.open(d.ctx)
	return err
}

// carry moves data over the data connection, with the faults armed for it, and closes it.
func (d *dataConn) carry(move func(*dataConn) error) error {
	if d.Conn == nil {
		if err := d.open(); err != nil {
			return err
		}
	}
	defer d.raw.Close()
	faults := d.channel.control.At("DATA")
	if faults.Shapes() || faults.Has(core.Data) {
		d.faults = faults
	}
	if err := faults.Delay(d.ctx); err != nil {
		return err
	}
	switch {
	case faults.Acts(core.Silence), d.channel.srv.Passive == PassiveSilent:
		<-d.ctx.Done()
		return d.ctx.Err()
	case faults.Acts(core.Close):
		return nil
	case faults.Acts(core.EndlessLine):
		return core.WriteEndlessLine(d)
	}
	err := move(d)
	if errors.Is(err, core.ErrCut) && !d.faults.Has(core.Reset) {
		return nil // a server that truncates its data does not report that
	}
	return err
}

// stop sends the last reply of a transfer that stalls, and waits for the next command.
func (d *dataConn) stop() error {
	if err := d.stall(); err != nil {
		return err
	}
	<-d.next.Done()
	return errStalled
}

// Read waits for the client, but not longer than the idle timeout.
func (d *dataConn) Read(p []byte) (int, error) {
	_ = d.SetReadDeadline(time.Now().Add(d.channel.srv.IdleTimeout))
	return d.Conn.Read(p)
}

// send sends src, or what a fault sends instead.
func (d *dataConn) send(src io.Reader) error {
	if data, ok := d.faults.Take(core.Data); ok {
		src = strings.NewReader(data.Text)
	}
	if d.faults.EndsAtOnce(d.raw) {
		return core.ErrCut
	}
	if d.stall != nil {
		src = io.LimitReader(src, d.until)
	}
	var err error
	if d.moved, err = core.CopyData(d.faults.Shape(d.ctx, d.Conn, d.raw), src); err != nil {
		return err
	}
	if d.stall != nil {
		return d.stop()
	}
	d.settle()
	return nil
}

// settle ends the data. Lynx 2.9 loses a last reply that it reads together with the first, so it
// gets a moment to close its side of the data connection before that reply. No other client is
// known to need it, and one that reads the reply before it closes would wait in vain.
func (d *dataConn) settle() {
	half, ok := d.Conn.(interface{ CloseWrite() error }) // TCP's, or the close_notify of TLS
	if !ok || half.CloseWrite() != nil || !d.lynx {
		return
	}
	_ = d.SetReadDeadline(time.Now().Add(settleTime))
	defer context.AfterFunc(d.next, func() { _ = d.SetReadDeadline(time.Unix(1, 0)) })()
	_, _ = io.Copy(io.Discard, d.Conn)
}

// receive reads the client's data to its end. It returns what was received even with an error.
func (d *dataConn) receive(limit int64) ([]byte, error) {
	src := d.faults.ShapeReader(d.ctx, d, d.raw)
	if d.ascii {
		src = core.FromNetASCII(src)
	}
	var data bytes.Buffer
	if d.stall != nil {
		if _, err := io.CopyN(&data, src, d.until); err != nil && err != io.EOF {
			return data.Bytes(), err
		}
		return data.Bytes(), d.stop()
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{&data}, io.LimitReader(src, limit+1), make([]byte, core.CopySize))
	if d.moved = n; n > limit && d.channel.srv.DrainUploads {
		_, _ = io.Copy(io.Discard, src)
	}
	if n > limit {
		return data.Bytes()[:limit], tree.ErrTooLarge
	}
	return data.Bytes(), err
}
