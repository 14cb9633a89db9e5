package ftptest

import (
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

// transfer sends the first reply, moves the data, and sends the last reply. One goroutine moves the
// data, and that of the session keeps listening to the client, for ABOR.
func (f *session) transfer(first string, move func(*dataConn) error) error {
	if f.channel.passive == nil && f.channel.active == "" {
		return f.reply("425 Use PASV or PORT first.")
	}
	defer f.channel.close()
	faults, last := f.now.faults, ""
	first, _ = f.replyText(first)
	if reply, ok := faults.Take(core.Reply); ok && strings.HasPrefix(reply.Text, "1") {
		first = reply.Text
	} else if ok {
		last = reply.Text
	}
	ctx, cancel := context.WithCancel(f.srv.m.Ctx())
	defer cancel()
	d := &dataConn{channel: &f.channel, ctx: ctx, lynx: f.account.lynx, ascii: f.parameters.ascii, faults: faults}
	if f.channel.private && f.srv.HandshakeFirst {
		if err := d.open(); err != nil {
			return f.reply(f.now.lastReply(err))
		}
	}
	if first != "" || faults.Has(core.Octets) {
		if err := f.Client.Answer(faults.Part(core.Octets), f.codePage.encode(first)); err != nil {
			return err
		}
	}
	f.moving = true
	defer func() { f.moving = false }()
	var arrived func()
	d.next, arrived = context.WithCancel(ctx)
	if stalls, ok := faults.Take(stall); ok {
		d.until, d.stall = stalls.N, func() error { return f.Client.Answer(new(core.Faults), f.codePage.encode(stalls.Text)) }
	}
	moved := make(chan error, 1)
	f.srv.m.Go(func() { moved <- d.carry(move) })
	err, over := f.await(moved, arrived, cancel)
	if over != nil || errors.Is(err, errStalled) {
		return over
	}
	if last == "" {
		f.now.bytes = d.moved
		var wait time.Duration
		if last, wait = f.replyText(f.now.lastReply(err)); core.Sleep(f.srv.m.Ctx(), wait) != nil {
			return io.EOF
		}
	}
	return f.finish(faults, last)
}

// await waits for the end of a transfer, or for a passive port, and meanwhile reads commands. It calls
// arrived when a command other than ABOR has come. The second error ends the session.
func (f *session) await(ended <-chan error, arrived, cancel func()) (err, over error) {
	in := &f.inputs
	if len(in.queue) > 0 {
		arrived()
	}
	for {
		select {
		case err := <-ended:
			return err, nil
		case line, more := <-in.more():
			switch {
			case !more:
				over = io.EOF
			case f.srv.aborts(line.text):
				f.aborted, err = true, errAborted
				in.queue = append([]input{line}, in.queue...)
			case f.checksAhead():
				over = f.ahead(line)
			default:
				in.queue = append(in.queue, line)
				arrived()
			}
			if err != nil || over != nil {
				cancel()
				<-ended
				return err, over
			}
		}
	}
}

var (
	errAborted = errors.New("aborted by the client")
	errStalled = errors.New("stalled by a fault")
)

// aborts reports whether a command ends the transfer that is under way.
func (s *Server) aborts(line string) bool {
	_, without := s.Replies["ABOR"]
	return strings.EqualFold(line, "ABOR") && !without && !core.ContainsFold(s.Hide, "ABOR")
}

// lastReply returns the last reply to a transfer that ended with err.
func (c *current) lastReply(err error) string {
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
	return c.failure(err)
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
	if f.channel.close() != nil {
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

func doRETR(f *session, arg string) error {
	offset := f.parameters.takeRest()
	if !f.files.may(testserver.Read) {
		return f.fail(fs.ErrPermission)
	}
	file, e, err := f.files.Open(f.files.name(arg))
	if err != nil {
		return f.fail(err)
	}
	defer file.Close()
	src, left := io.Reader(file), max(0, e.Size-offset)
	if f.parameters.ascii { // REST counts transferred bytes
		src = core.ToNetASCII(file)
		_, err = io.CopyN(io.Discard, src, offset)
	} else {
		err = tree.Seek(file, offset)
	}
	if err != nil && err != io.EOF {
		return f.replyf("554 Can't restart at %d.", offset)
	}
	f.now.size, f.now.left = e.Size, left
	first := fmt.Sprintf("150 Opening %s mode data connection for %s (%d bytes).", f.parameters.mode(), path.Base(arg), left)
	return f.transfer(first, func(d *dataConn) error { return d.send(src) })
}

func doSTOR(f *session, arg string) error {
	return f.receive(arg, f.parameters.takeRest(), "150 Ok to send data.")
}

// doSTOU stores a file under a name that is not taken. The first reply contains the name in the form
// of RFC 1123 §4.1.2.9.
func doSTOU(f *session, arg string) error {
	f.parameters.takeRest()
	if arg == "" {
		arg = "stou"
	}
	name := arg
	for n := 1; ; n++ {
		if _, err := f.files.stat(name); err != nil {
			break
		}
		name = fmt.Sprintf("%s.%d", arg, n)
	}
	return f.receive(name, 0, "150 FILE: "+name)
}

func doAPPE(f *session, arg string) error {
	f.parameters.takeRest()
	e, _ := f.files.stat(arg) // the size of a new file is 0
	return f.receive(arg, e.Size, "150 Ok to send data.")
}

// receive stores the data of a transfer in a file, from an offset on.
func (f *session) receive(arg string, offset int64, first string) error {
	name, err := f.files.name(arg), fs.ErrPermission
	if f.files.may(testserver.Write) {
		err = f.files.MayWrite(name, offset)
	}
	if err != nil {
		return f.fail(err)
	}
	faults := f.now.faults // a command out of turn has others
	return f.transfer(first, func(d *dataConn) error {
		data, err := d.receive(f.srv.MaxUpload - offset)
		data = data[:min(int64(len(data)), faults.N(keep, int64(len(data))))]
		if err := f.channel.close(); err != nil {
			return err
		}
		if err2 := f.files.Write(name, offset, data); err == nil { // what was received is kept
			err = err2
		}
		return err
	})
}

// doABOR answers an ABOR when no transfer is under way, or after its 426 was sent.
func doABOR(f *session, _ string) error {
	if !f.aborted {
		f.now.about = "no transfer"
	}
	f.aborted = false
	return f.reply("226 Abort successful.")
}
