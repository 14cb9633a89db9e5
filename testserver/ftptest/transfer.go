package ftptest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
)

// Transfers. Two goroutines work on each: one moves the data, and the session's own keeps listening
// to the client, for ABOR.

func (f *session) retrieve(arg string) error {
	offset := f.takeRestart()
	if !f.hasRight(testserver.Read) {
		return f.fail(fs.ErrPermission)
	}
	file, e, err := f.tree.Open(f.name(arg))
	if err != nil {
		return f.fail(err)
	}
	defer file.Close()
	src, left := io.Reader(file), max(0, e.Size-offset)
	if f.ascii { // REST counts transferred bytes
		src = core.ToNetASCII(file)
		_, err = io.CopyN(io.Discard, src, offset)
	} else {
		err = tree.Seek(file, offset)
	}
	if err != nil && err != io.EOF {
		return f.replyf("554 Can't restart at %d.", offset)
	}
	f.now.size, f.now.left = e.Size, left
	return f.transfer(f.openingReply(path.Base(arg), left), func(d *dataConn) error { return d.send(src) })
}

func (f *session) nlst(arg string) error { return f.sendListing("NLST", arg) }
func (f *session) list(arg string) error { return f.sendListing("LIST", arg) }

func (f *session) mlsd(arg string) error {
	switch e, err := f.tree.Stat(f.name(arg)); {
	case err != nil: // MLSD accepts no patterns
		return f.fail(err)
	case !e.Dir:
		return f.reply("501 Not a directory.")
	}
	return f.sendListing("MLSD", arg)
}

// sendListing sends lines that end in CR LF, whatever the type.
func (f *session) sendListing(command, arg string) error {
	f.takeRestart()
	if octets, err := f.listingOctets(command, arg); err != nil {
		return f.fail(err)
	} else if octets != nil {
		defer octets.Close()
		return f.transfer(listingReply, func(d *dataConn) error { return d.send(octets) })
	}
	lines, err := f.listing(command, arg)
	if err != nil {
		failure := f.now.failure(err)
		if _, lists := f.srv.Replies[command+" 226 "+f.now.about]; !lists {
			return f.reply(failure)
		}
	}
	f.now.lines = lines
	var text bytes.Buffer
	for _, l := range lines {
		text.WriteString(f.toClient(l) + "\r\n")
	}
	return f.transfer(listingReply, func(d *dataConn) error { return d.send(&text) })
}

const listingReply = "150 Here comes the directory listing."

func (f *session) store(arg string) error { return f.receive(arg, f.takeRestart()) }

// storeUnique is STOU: it stores a file under a name that is not taken. The first reply contains
// the name in the form of RFC 1123 §4.1.2.9.
func (f *session) storeUnique(arg string) error {
	f.takeRestart()
	if arg == "" {
		arg = "stou"
	}
	name := arg
	for n := 1; ; n++ {
		if _, err := f.tree.Stat(f.name(name)); err != nil {
			break
		}
		name = fmt.Sprintf("%s.%d", arg, n)
	}
	return f.receiveAs(name, 0, "150 FILE: "+name)
}

func (f *session) appendTo(arg string) error {
	f.takeRestart()
	e, _ := f.tree.Stat(f.name(arg)) // the size of a new file is 0
	return f.receive(arg, e.Size)
}

// receive stores the data of a transfer in a file, from an offset on.
func (f *session) receive(arg string, offset int64) error {
	return f.receiveAs(arg, offset, "150 Ok to send data.")
}

// receiveAs is receive with another first reply.
func (f *session) receiveAs(arg string, offset int64, first string) error {
	name := f.name(arg)
	err := f.withRight(testserver.Write, func() error { return f.tree.MayWrite(name, offset) })
	if err != nil {
		return f.fail(err)
	}
	return f.transfer(first, func(d *dataConn) error {
		data, err := d.receive(f.srv.MaxUpload - offset)
		data = data[:min(int64(len(data)), f.faults.N(keep, int64(len(data))))]
		if err := f.closePassive(); err != nil {
			return err
		}
		if err2 := f.tree.Write(name, offset, data); err == nil { // what was received is kept
			err = err2
		}
		return err
	})
}

// takeRestart returns the offset of REST, which counts for one transfer only.
func (f *session) takeRestart() int64 {
	n := f.rest
	f.rest = 0
	return n
}

// openingReply returns the first reply to RETR.
func (f *session) openingReply(name string, size int64) string {
	return fmt.Sprintf("150 Opening %s mode data connection for %s (%d bytes).", f.mode(), name, size)
}

// abort answers an ABOR when no transfer is under way, or after its 426 was sent.
func (f *session) abort(string) error {
	if !f.aborted {
		f.now.about = "no transfer"
	}
	f.aborted = false
	return f.reply("226 Abort successful.")
}

// maxQueue is the maximum number of commands that a client may send during a transfer.
const maxQueue = 64

// transfer sends the first reply, moves the data, and sends the last reply.
func (f *session) transfer(first string, move func(*dataConn) error) error {
	if f.passive == nil && f.active == "" {
		return f.reply("425 Use PASV or PORT first.")
	}
	defer f.closePassive()
	faults, last := f.faults, ""
	first, _ = f.replyText(first)
	if reply, ok := faults.Take(core.Reply); ok && strings.HasPrefix(reply.Text, "1") {
		first = reply.Text
	} else if ok {
		last = reply.Text
	}
	ctx, cancel := context.WithCancel(f.srv.m.Ctx())
	defer cancel()
	open := f.open
	if f.private && f.srv.HandshakeFirst {
		raw, conn, err := f.open(ctx)
		if err != nil {
			return f.reply(f.lastReply(err))
		}
		open = func(context.Context) (net.Conn, net.Conn, error) { return raw, conn, nil }
	}
	if first != "" || faults.Has(core.Octets) {
		if err := f.Client.Answer(faults.Part(core.Octets), f.toClient(first)); err != nil {
			return err
		}
	}
	f.moving = true
	defer func() { f.moving = false }()
	next, arrived := context.WithCancel(ctx)
	d := &dataConn{ctx: ctx, next: next, idle: f.srv.IdleTimeout, lynx: f.lynx, ascii: f.ascii, drain: f.srv.DrainUploads, faults: faults}
	if stalls, ok := faults.Take(stall); ok {
		d.until, d.stall = stalls.N, func() error { return f.Client.Answer(new(core.Faults), f.toClient(stalls.Text)) }
	}
	moved := make(chan error, 1)
	f.srv.m.Go(func() { moved <- f.move(d, open, move) })
	err, over := f.awaitTransfer(moved, arrived, cancel)
	if over != nil || errors.Is(err, errStalled) {
		return over
	}
	if last == "" {
		f.now.bytes = d.moved
		var wait time.Duration
		if last, wait = f.replyText(f.lastReply(err)); core.Sleep(f.srv.m.Ctx(), wait) != nil {
			return io.EOF
		}
	}
	return f.finish(faults, last)
}

// awaitTransfer waits for the end of the transfer and meanwhile reads commands. It calls arrived
// when a command other than ABOR has come. The second error ends the session.
func (f *session) awaitTransfer(moved <-chan error, arrived, cancel func()) (err, over error) {
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
			case f.aborts(line.text):
				cancel()
				<-moved
				f.aborted = true
				f.queue = append([]input{line}, f.queue...)
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
	errStalled = errors.New("stalled by a fault")
)

// aborts reports whether a command ends the transfer that is under way.
func (f *session) aborts(line string) bool {
	_, without := f.srv.Replies["ABOR"]
	return strings.EqualFold(line, "ABOR") && !without && !core.ContainsFold(f.srv.Hide, "ABOR")
}

// lastReply returns the last reply to a transfer that ended with err.
func (f *session) lastReply(err error) string {
	switch {
	case err == nil:
		return "226 Transfer complete."
	case errors.Is(err, errNoReuse):
		return "522 TLS session reuse required."
	case errors.Is(err, errTwoCandidates):
		return "425 " + twoCandidates
	case errors.Is(err, errNoData):
		return "425 Can't open data connection."
	case errors.Is(err, errAborted), errors.Is(err, io.ErrUnexpectedEOF), isNetError(err):
		return "426 Connection closed; transfer aborted."
	}
	return f.now.failure(err)
}

// isNetError reports whether err is that of a connection, and not of the tree.
func isNetError(err error) bool {
	var ne *net.OpError
	return errors.As(err, &ne) || errors.Is(err, core.ErrCut)
}

// finish sends the last reply, with the faults armed for the command and at END.
func (f *session) finish(faults *core.Faults, last string) error {
	end := f.At("END")
	if err := f.Preempt(end); err != nil {
		return err
	}
	if omitted := faults.Acts(noFinalReply); end.Acts(noFinalReply) || omitted {
		return nil
	}
	if f.closePassive() != nil {
		last = "426 " + twoCandidates
	}
	last = end.Text(core.Reply, last)
	if extra, ok := faults.Take(core.ExtraReply); ok && !end.Has(core.ExtraReply) {
		last += "\n" + cmp.Or(extra.Text, last)
	}
	err := f.answer(end, last)
	if err == nil && faults.Acts(core.Hangup) {
		f.HangUp()
		err = core.ErrCut
	}
	return err
}

// open opens the data connection, with TLS if that was agreed. It stops when ctx ends.
func (f *session) open(ctx context.Context) (raw, conn net.Conn, err error) {
	if f.srv.Passive == PassiveUnaccepted && f.active == "" {
		_ = core.Sleep(ctx, dataTimeout)
		return nil, nil, errNoData
	}
	if raw, err = f.openData(ctx); errors.Is(err, errTwoCandidates) {
		return nil, nil, err
	} else if err != nil {
		return nil, nil, errNoData
	}
	context.AfterFunc(ctx, func() { _ = raw.Close() })
	if conn, err = f.secureData(ctx, raw); err != nil {
		_ = raw.Close()
	}
	return raw, conn, err
}

// move moves data over the data connection that open returns, with the faults armed for it.
func (f *session) move(d *dataConn, open func(context.Context) (raw, conn net.Conn, err error), move func(*dataConn) error) (err error) {
	if d.raw, d.Conn, err = open(d.ctx); err != nil {
		return err
	}
	defer d.raw.Close()
	faults := f.At("DATA")
	if faults.Shapes() || faults.Has(core.Data) {
		d.faults = faults
	}
	if err := faults.Delay(d.ctx); err != nil {
		return err
	}
	switch {
	case faults.Acts(core.Silence), f.srv.Passive == PassiveSilent:
		<-d.ctx.Done()
		return d.ctx.Err()
	case faults.Acts(core.Close):
		return nil
	case faults.Acts(core.EndlessLine):
		return core.WriteEndlessLine(d)
	}
	err = move(d)
	if errors.Is(err, core.ErrCut) && !d.faults.Has(core.Reset) {
		return nil // a server that truncates its data does not report that
	}
	return err
}

// dataConn is an open data connection with the faults armed against it.
type dataConn struct {
	net.Conn
	raw    net.Conn        // below TLS; closing it omits the close_notify
	ctx    context.Context // ends with the transfer
	next   context.Context // ends when the next command has arrived
	idle   time.Duration
	lynx   bool
	faults *core.Faults
	ascii  bool
	drain  bool         // what is too much of an upload
	moved  int64        // bytes
	stall  func() error // sends the last reply of a transfer that stalls; or nil
	until  int64        // how many bytes it moves
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
	_ = d.SetReadDeadline(time.Now().Add(d.idle))
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
		if _, err := io.CopyN(d.faults.Shape(d.ctx, d.Conn, d.raw), src, d.until); err != nil && err != io.EOF {
			return err
		}
		return d.stop()
	}
	var err error
	if d.moved, err = core.CopyData(d.faults.Shape(d.ctx, d.Conn, d.raw), src); err != nil {
		return err
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
	if d.moved = n; n > limit && d.drain {
		_, _ = io.Copy(io.Discard, src)
	}
	if n > limit {
		return data.Bytes()[:limit], tree.ErrTooLarge
	}
	return data.Bytes(), err
}
