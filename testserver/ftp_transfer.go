package testserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/internal/memnet"
)

// Transfers. Two goroutines work on each: one moves the data, and the session's own keeps listening
// to the client, for ABOR.

func (f *ftpSession) retrieve(arg string) error {
	offset := f.takeRestart()
	file, e, err := f.srv.tree.open(f.name(arg))
	if err != nil {
		return f.fail(err)
	}
	defer file.Close()
	src, left := io.Reader(file), max(0, e.Size-offset)
	if f.ascii { // REST counts transferred bytes
		src = toNetASCII(file)
		_, err = io.CopyN(io.Discard, src, offset)
	} else {
		err = seek(file, offset)
	}
	if err != nil && err != io.EOF {
		return f.replyf("554 Can't restart at %d.", offset)
	}
	return f.transfer(f.opening(path.Base(arg), left), func(d *dataConn) error { return d.send(src) })
}

func (f *ftpSession) nlst(arg string) error { return f.sendListing(arg, f.nameLine) }
func (f *ftpSession) list(arg string) error { return f.sendListing(arg, f.unixLine) }

func (f *ftpSession) mlsd(arg string) error {
	switch e, err := f.srv.tree.stat(f.name(arg)); {
	case err != nil: // MLSD accepts no patterns
		return f.fail(err)
	case !e.Dir:
		return f.reply("501 Not a directory.")
	}
	return f.sendListing(arg, f.factsLine)
}

// sendListing sends lines that end in CR LF, whatever the type.
func (f *ftpSession) sendListing(arg string, line lineFunc) error {
	f.takeRestart()
	lines, err := f.listing(arg, line)
	if err != nil {
		return f.fail(err)
	}
	var text bytes.Buffer
	for _, l := range lines {
		text.WriteString(l + "\r\n")
	}
	return f.transfer("150 Here comes the directory listing.", func(d *dataConn) error { return d.send(&text) })
}

func (f *ftpSession) store(arg string) error { return f.receive(arg, f.takeRestart()) }

// storeUnique is STOU: it stores a file under a name that is not taken. The first reply contains
// the name in the form of RFC 1123 §4.1.2.9.
func (f *ftpSession) storeUnique(arg string) error {
	f.takeRestart()
	if arg == "" {
		arg = "stou"
	}
	name := arg
	for n := 1; ; n++ {
		if _, err := f.srv.tree.stat(f.name(name)); err != nil {
			break
		}
		name = fmt.Sprintf("%s.%d", arg, n)
	}
	return f.receiveAs(name, 0, "150 FILE: "+name)
}

func (f *ftpSession) appendTo(arg string) error {
	f.takeRestart()
	e, _ := f.srv.tree.stat(f.name(arg)) // the size of a new file is 0
	return f.receive(arg, e.Size)
}

func (f *ftpSession) receive(arg string, offset int64) error {
	return f.receiveAs(arg, offset, "150 Ok to send data.")
}

func (f *ftpSession) receiveAs(arg string, offset int64, first string) error {
	name := f.name(arg)
	err := f.writing(func() error { return f.srv.tree.mayWrite(name, offset) })
	if err != nil {
		return f.fail(err)
	}
	return f.transfer(first, func(d *dataConn) error {
		data, err := d.receive(f.srv.MaxUpload - offset)
		if err2 := f.srv.tree.write(name, offset, data); err == nil { // what was received is kept
			err = err2
		}
		return err
	})
}

func (f *ftpSession) takeRestart() int64 {
	n := f.rest
	f.rest = 0
	return n
}

func (f *ftpSession) opening(name string, size int64) string {
	mode := "BINARY"
	if f.ascii {
		mode = "ASCII"
	}
	return fmt.Sprintf("150 Opening %s mode data connection for %s (%d bytes).", mode, name, size)
}

// abort answers an ABOR when no transfer is under way, or after its 426 was sent.
func (f *ftpSession) abort(string) error { return f.reply("226 Abort successful.") }

// maxQueue is the maximum number of commands that a client may send during a transfer.
const maxQueue = 64

// transfer sends the first reply, moves the data, and sends the last reply.
func (f *ftpSession) transfer(first string, move func(*dataConn) error) error {
	if f.passive == nil && f.active == "" {
		return f.reply("425 Use PASV or PORT first.")
	}
	p, last := f.plan, ""
	if p.reply != nil && strings.HasPrefix(*p.reply, "1") {
		first = *p.reply
	} else if p.reply != nil {
		last = *p.reply
	}
	ctx, cancel := context.WithCancel(f.srv.ctx)
	defer cancel()
	open := f.open
	if f.private && f.srv.HandshakeFirst {
		raw, conn, err := f.open(ctx)
		if err != nil {
			return f.reply(lastReply(err))
		}
		open = func(context.Context) (net.Conn, net.Conn, error) { return raw, conn, nil }
	}
	if err := f.conn.answer(new(plan), first); err != nil {
		return err
	}
	f.moving = true
	defer func() { f.moving = false }()
	next, arrived := context.WithCancel(ctx)
	d := &dataConn{ctx: ctx, next: next, idle: f.srv.IdleTimeout, ascii: f.ascii, plan: p}
	moved := make(chan error, 1)
	f.srv.wg.Go(func() { moved <- f.move(d, open, move) })
	err, over := f.attend(moved, arrived, cancel)
	if over != nil {
		return over
	}
	if last == "" {
		last = lastReply(err)
	}
	return f.finish(p, last)
}

// attend waits for the end of the transfer and meanwhile reads commands. It calls arrived when a
// command other than ABOR has come. The second error ends the session.
func (f *ftpSession) attend(moved <-chan error, arrived, cancel func()) (err, over error) {
	if len(f.queue) > 0 {
		arrived()
	}
	for {
		lines := f.lines
		if len(f.queue) >= maxQueue {
			lines = nil
		}
		select {
		case err := <-moved:
			return err, nil
		case line, more := <-lines:
			switch {
			case !more:
				cancel()
				<-moved
				return nil, io.EOF
			case strings.EqualFold(line.text, "ABOR"):
				cancel()
				<-moved
				f.queue = append([]ftpLine{line}, f.queue...)
				return errAborted, nil
			case !f.checksAhead():
				f.queue = append(f.queue, line)
				arrived()
				continue
			}
			if err := f.ahead(line); err != nil {
				cancel()
				<-moved
				return nil, err
			}
		}
	}
}

var (
	errAborted = errors.New("aborted by the client")
	errNoData  = errors.New("no data connection")
)

func lastReply(err error) string {
	switch {
	case err == nil:
		return "226 Transfer complete."
	case errors.Is(err, errNoReuse):
		return "522 TLS session reuse required."
	case errors.Is(err, errNoData):
		return "425 Can't open data connection."
	case errors.Is(err, errAborted), errors.Is(err, io.ErrUnexpectedEOF), isNetError(err):
		return "426 Connection closed; transfer aborted."
	}
	return failure(err)
}

func isNetError(err error) bool {
	var ne *net.OpError
	return errors.As(err, &ne) || errors.Is(err, errCut)
}

// finish sends the last reply, with the faults armed for the command and at END.
func (f *ftpSession) finish(p *plan, last string) error {
	end := f.srv.faults.at("END")
	if err := f.preempt(end); err != nil || p.noFinal || end.noFinal {
		return err
	}
	if end.reply != nil {
		last = *end.reply
	}
	if end.extra == nil {
		end.extra = p.extra
	}
	return f.answer(end, last)
}

// open opens the data connection, with TLS if that was agreed. It stops when ctx ends.
func (f *ftpSession) open(ctx context.Context) (raw, conn net.Conn, err error) {
	if raw, err = f.openData(ctx); err != nil {
		return nil, nil, errNoData
	}
	context.AfterFunc(ctx, func() { _ = raw.Close() })
	if conn, err = f.secureData(ctx, raw); err != nil {
		_ = raw.Close()
	}
	return raw, conn, err
}

// move moves data over the data connection that open returns, with the faults armed for it.
func (f *ftpSession) move(d *dataConn, open func(context.Context) (raw, conn net.Conn, err error), move func(*dataConn) error) (err error) {
	if d.raw, d.Conn, err = open(d.ctx); err != nil {
		return err
	}
	defer d.raw.Close()
	p := f.srv.faults.at("DATA")
	if p.any() || p.data != nil {
		d.plan = p
	}
	if err := sleep(d.ctx, p.delay); err != nil {
		return err
	}
	switch {
	case p.silence:
		<-d.ctx.Done()
		return d.ctx.Err()
	case p.close:
		return nil
	case p.endless:
		return endlessLine(d)
	}
	err = move(d)
	if errors.Is(err, errCut) && !d.plan.reset {
		return nil // a server that truncates its data does not report that
	}
	return err
}

// dataConn is an open data connection with the faults armed against it.
type dataConn struct {
	net.Conn
	raw   net.Conn        // below TLS; closing it omits the close_notify
	ctx   context.Context // ends with the transfer
	next  context.Context // ends when the next command has arrived
	idle  time.Duration
	plan  *plan
	ascii bool
}

// send sends src, or what a fault sends instead.
func (d *dataConn) send(src io.Reader) error {
	if d.plan.data != nil {
		src = strings.NewReader(*d.plan.data)
	}
	if d.plan.endAtOnce(d.raw) {
		return errCut
	}
	out := shape(d.ctx, d.Conn, d.raw, &d.plan.octets)
	if _, err := copyData(out, src); err != nil {
		return err
	}
	d.settle()
	return nil
}

// settle ends the data and, before the last reply, gives the client a moment to close its side too.
// Lynx 2.9 loses a 226 that it reads together with the 150. There is no wait for a client that
// pipelines commands.
func (d *dataConn) settle() {
	half, ok := d.Conn.(interface{ CloseWrite() error }) // TCP's, or the close_notify of TLS
	if _, inMemory := d.Conn.(*memnet.Conn); inMemory || !ok || half.CloseWrite() != nil {
		return
	}
	_ = d.SetReadDeadline(time.Now().Add(settleTime))
	defer context.AfterFunc(d.next, func() { _ = d.SetReadDeadline(time.Unix(1, 0)) })()
	_, _ = io.Copy(io.Discard, d.Conn)
}

// receive reads the client's data to its end. It returns what was received even with an error.
func (d *dataConn) receive(limit int64) ([]byte, error) {
	src := io.Reader(&uploadReader{dataConn: d})
	if d.ascii {
		src = fromNetASCII(src)
	}
	var data bytes.Buffer
	n, err := io.CopyBuffer(struct{ io.Writer }{&data}, io.LimitReader(src, limit+1), make([]byte, copySize))
	if n > limit {
		return data.Bytes()[:limit], errTooLarge
	}
	return data.Bytes(), err
}

// uploadReader reads from a client with the faults of an upload: slowly, or only a part.
type uploadReader struct {
	*dataConn
	got int64
}

func (r *uploadReader) Read(p []byte) (int, error) {
	o := &r.plan.octets
	if o.cut && r.got >= o.cutAt {
		endConn(r.raw, o.reset)
		return 0, errCut
	}
	if o.step > 0 {
		p = p[:min(len(p), o.step)]
	}
	if o.cut {
		p = p[:min(int64(len(p)), o.cutAt-r.got)]
	}
	_ = r.SetReadDeadline(time.Now().Add(r.idle))
	n, err := r.Conn.Read(p)
	r.got += int64(n)
	if n > 0 {
		if err := sleep(r.ctx, o.pause); err != nil {
			return n, err
		}
	}
	return n, err
}

// copySize is large enough that copying costs little compared with the system calls.
const copySize = 64 << 10

// copyData copies src to dst. The kernel copies a file to a socket.
func copyData(dst io.Writer, src io.Reader) (int64, error) {
	if file, ok := src.(*os.File); ok {
		return io.Copy(dst, file)
	}
	if w, ok := src.(io.WriterTo); ok { // all in memory
		return w.WriteTo(dst)
	}
	return io.CopyBuffer(struct{ io.Writer }{dst}, src, make([]byte, copySize))
}
