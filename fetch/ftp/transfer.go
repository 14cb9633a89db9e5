package ftp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
)

// A transfer is one of a session, from the request for a data connection to the final reply.
type transfer struct{ connector }

// transfers returns what performs the transfers of the session.
func (s *session) transfers() transfer { return transfer{connector{s}} }

// download starts a download or a listing. If the server does not support MLSD it sends LIST, if it does
// not support LIST, NLST, and if it does not support NLST without an argument, NLST of ".".
func (t transfer) download(offset int64) error {
	a, verb := t.access, t.access.verb
	for refused := false; ; {
		err := t.retrieve(offset)
		if err != nil && !refusal(err) && (refused || a.verb != verb) {
			endedBy(a, verb, refused)
		}
		if a.hidden && a.verb == "LIST" && refusesOption(err) {
			a.hidden, refused = false, true
			continue
		}
		if refused && err == nil {
			a.noteHides()
		}
		if !a.isListing() || a.opt.ListCommand != "" || !errors.Is(err, fetch.ErrUnsupported) && !(a.verb == "MLSD" && refusesFacts(err)) {
			return err
		}
		switch {
		case a.verb == "MLSD":
			a.verb = "LIST"
			if refusesFacts(err) {
				a.denied = err
			}
		case a.verb == "LIST":
			a.verb = "NLST"
		case a.name == "" && !a.exact:
			a.name = "."
		default:
			return err
		}
	}
}

// endedBy notes that a server has ended the session after it had refused a listing by verb, or LIST -a if
// hidden. Then the access is tried again without that.
func endedBy(a *access, verb fetch.Op, hidden bool) {
	if a.fellBack = true; verb == "MLSD" {
		a.memory.noFacts.add(a.server())
	}
	if hidden {
		a.noteHides()
	}
}

// retrieve starts a transfer of the access from an offset.
func (t transfer) retrieve(offset int64) error {
	err := t.named(func(command string) error { return t.start(command, offset) })
	if err != nil {
		t.retrStatesSize = false // so that SIZE is sent next, which shows whether the file is missing
	}
	if e, ok := errors.AsType[*fetch.Error](err); ok && e.Op == "RETR" && offset > 0 {
		t.tainted = true // the next transfer may begin at the offset, which nothing shows without SIZE
	}
	return err
}

// named performs the transfer of the access with do.
func (t transfer) named(do func(command string) error) error {
	a := t.access
	return t.trySpellings(a.name, func() error { return t.perform(a.transferLine(t.spelled(a.name)), do) })
}

// perform calls do, which performs the transfer that command starts. It opens a data connection unless
// one is open; from then on some servers answer nothing else. If there was one before the access, a
// refusal may mean that the server does not use it. Unless SIZE has not found the file either, the
// transfer is then tried with another one.
func (t transfer) perform(command string, do func(command string) error) error {
	if err := t.ctl.learnIAC(command); err != nil {
		return t.failure(err)
	}
	if err := t.openData(command); err != nil {
		return err
	}
	origin := t.data.origin
	err := t.try(command, do)
	if origin == forTransfer || t.data.begun() || !deniesPort(err) || t.isAbsent() { // data that was sent cannot be sent again
		return err
	}
	t.dropData()
	if err := t.openData(command); err != nil {
		return err
	}
	again := t.try(command, do)
	if again == nil && origin == requested {
		t.recordLoss()
	}
	return again
}

// openData prepares the data connection for the transfer that command starts: it connects to a port of
// the server or, in active mode, opens a port for the server.
func (s connector) openData(command string) (err error) {
	if s.data.isReady() {
		return nil
	}
	s.dropData()
	if s.access.active != nil {
		s.data, err = s.openPort()
	} else {
		s.data, err = s.passiveFor(command)
	}
	return err
}

// try is perform with an open data connection. If the server refuses the transfer, the
// connection is kept for the next one, unless another port has been requested already: some servers
// never close a port that no transfer has used.
func (t transfer) try(command string, do func(command string) error) error {
	t.data.ctx, t.data.ctl = t.ctx, t.ctl
	t.ctl.announced, t.ctl.rest = -1, -1
	err := do(command)
	if t.refused = err != nil; !t.refused {
		return nil
	}
	d := t.data
	err = d.withCause(t.failure(err)) // before drop ends the handshake
	if d.state == dataOpen && d.setup == nil && refusal(err) && len(t.ctl.queued) == 0 {
		d.origin = leftOver
		return err
	}
	d.drop()
	if refusal(err) && d.localError() != nil {
		err = t.failure(d.localError())
	}
	return err
}

// isAbsent reports whether SIZE does not find the file of a download.
func (t transfer) isAbsent() bool {
	if a := t.access; !t.absent && a.verb == "RETR" && a.typ == 'I' && !a.exact {
		_, _ = t.size(a.name)
	}
	return t.absent
}

// start sends the command of a transfer, and REST before it. It returns when the data connection can be
// used. What it returns is for failure.
func (t transfer) start(command string, offset int64) error {
	ahead := t.withTransfer()
	if offset > 0 {
		r, err := t.ctl.ask(fmt.Sprint("REST ", offset))
		if err := t.ctl.expect(r, r.Code == 350, err); err != nil {
			return err
		}
	}
	if err := t.ctl.send(command, ahead...); err != nil {
		return err
	}
	if !isTransfer(t.ctl.verb) {
		t.ctl.verb = "LIST" // Options.ListCommand replaces LIST
	}
	if err := t.commandSent(); err != nil {
		return err
	}
	if err := t.ctl.beginTransfer(t.access.name); err != nil {
		return err
	}
	return t.begin()
}

// store uploads body. If the data cannot be sent, the final reply may say why.
func (t transfer) store(body io.Reader, offset int64) error {
	return t.named(func(command string) error {
		if err := t.start(command, offset); err != nil {
			return err
		}
		_, err := t.data.ReadFrom(body)
		_ = t.data.Close()
		if t.data.sent {
			_ = t.requestNextPort()
		}
		return errors.Join(err, t.ctl.endTransfer())
	})
}

// commandSent is called when the command of a transfer has been sent. If the port is still to be
// connected to, that takes as long as the reply to the command. If the reply has arrived already, it
// is read first: after a refusal, the server may give the port to another client.
func (t transfer) commandSent() error {
	switch {
	case t.data.port == 0:
		t.startSetup()
		return nil
	case t.ctl.Waiting():
		return nil
	}
	if err := t.connectLater(); err != nil && fetch.KindOf(err) != fetch.ErrUnreachable {
		return t.ctl.Fail(err)
	} // else the server may have closed the port, because it refuses the command: its reply comes first
	return nil
}

// connectLater connects to the port of an upload whose command has been sent.
func (t transfer) connectLater() error {
	err := t.connectData(t.data)
	if err == nil {
		t.startSetup()
	}
	return err
}

// finish ends a download: it closes the data connection and reads the final reply. Before, it
// requests the port of the next transfer if ask is set, and another one follows.
func (t transfer) finish(ask bool) error {
	_ = t.data.Close() // some servers reply only then
	if ask {
		_ = t.requestNextPort() // if this fails, so does reading the reply
	}
	err := t.ctl.endTransfer()
	t.checkPipelining()
	if r := t.ctl.last; err == nil {
		a := t.access
		if kind, short := shortfall(r.Text, a.isListing(), append(slices.Clip(a.dirs), a.name)...); short {
			err = &fetch.Error{Kind: kind, Code: r.Code, Reply: r.Text}
		}
	}
	return t.failure(err)
}

// abandon ends a download whose rest is not needed: it closes the data connection and reads the
// final reply, which is negative if the server has not sent everything. If no reply comes within
// abortTime, the session cannot be used any more. It reports whether it can. Without the wait, each
// read of a ReaderAt would need a login.
func (t transfer) abandon() bool {
	if t.ctl.pending() || t.ctl.Err != nil || t.ctx.Err() != nil {
		return false
	}
	if t.ctl.phase == commanding { // it has ended
		return true
	}
	defer func(limit time.Duration) { t.ctl.Limits.Reply = limit }(t.ctl.Limits.Reply)
	t.ctl.Limits.Reply = min(cmp.Or(t.ctl.Limits.Reply, abortTime), abortTime)
	_ = t.data.Close()
	if _ = t.ctl.endTransfer(); t.ctl.Err != nil {
		return false
	}
	t.dropData()
	return true
}

// requestNextPort requests the port of the next transfer, when the data of this one has ended.
func (t transfer) requestNextPort() error {
	if t.data.over || len(t.ctl.queued) > 0 || !t.wantsNextPort() {
		return nil
	}
	return t.ctl.sendPipelined([]string{t.passiveCommand()})
}

// deniesPort reports whether err may be the reply of a server that has no data connection. All but
// 425 and 426 have other meanings, too.
func deniesPort(err error) bool {
	e, ok := errors.AsType[*fetch.Error](err)
	return ok && slices.Contains([]int{425, 426, 451, 503, 550, 551}, e.Code) && e.Kind != fetch.ErrPermission && !noFiles(err)
}

// withTransfer returns the commands that are sent together with the command of a transfer. After a
// refused one, the next may be refused, too, and then its port is not used.
func (t transfer) withTransfer() []string {
	if !t.program.ahead || t.refused || isUpload(t.access.verb) || !t.wantsNextPort() {
		return nil
	}
	return []string{t.passiveCommand()}
}

// mayRequestNextPort reports whether the port of another transfer may be requested during the
// current access.
func (t transfer) mayRequestNextPort() bool {
	a := t.access
	switch {
	case !t.proven, a.sequential, a.active != nil, a.opt.PRET, t.pret, len(a.opt.PostQuote) > 0, a.req.Length > 0:
		return false
	case a.isListing():
		return t.program.ahead && (t.used || a.opt.More != nil)
	}
	if isUpload(a.verb) && (!t.program.store || !a.opt.Unchecked || !a.opt.SetModTime.IsZero()) {
		return false // some servers lose or refuse what arrives before the last data, or have to be asked about the file
	}
	return a.opt.More != nil
}

// wantsNextPort reports whether the port of another transfer is to be requested. After a listing,
// the next one is in another directory, so that its CWD waits for the data connection. Only servers
// that gain by it are asked then.
func (t transfer) wantsNextPort() bool {
	a := t.access
	return t.mayRequestNextPort() && (a.isListing() && t.used || a.opt.More != nil && a.opt.More())
}

// startSetup starts to set up the data connection, if necessary.
func (t transfer) startSetup() {
	if t.data.listener == nil && !t.private {
		return
	}
	ctx, cancel := context.WithCancel(t.ctx)
	c := &dataSetup{private: t.private, cancel: cancel, admitted: make(chan struct{}), done: make(chan struct{}), raw: t.data.raw}
	t.data.setup = c
	go func(l net.Listener) {
		defer close(c.done)
		if l != nil {
			c.raw, c.err = admit(l, t.peer.Addr())
		}
		close(c.admitted)
		c.conn = c.raw
		if c.err == nil && c.private {
			c.conn, c.err = t.handshake(ctx, c.raw)
		}
	}(t.data.listener)
}

// begin waits until the data connection is set up, after the first reply to the transfer.
func (t transfer) begin() error {
	d := t.data
	if d.port != 0 {
		if err := t.connectLater(); err != nil {
			return t.ctl.Fail(err)
		}
	}
	if c := d.setup; c != nil {
		if err := t.await(c); err != nil {
			return err
		}
		if d.listener != nil {
			d.closePort()
			t.ctl.Trace.Connected(fetch.Connection{
				Network: "tcp", Purpose: fetch.PurposeData, Host: t.access.loc.Host,
				Local: driver.AddrPort(c.raw.LocalAddr()), Remote: driver.AddrPort(c.raw.RemoteAddr()),
			})
		}
		c.cancel()
		d.raw, d.secured = c.raw, c.conn != c.raw
		d.use(c.conn)
		return nil
	}
	d.use(d.raw)
	return nil
}

// await waits for a data connection; its time limits start now. It reads the reply of a server that
// says meanwhile that the transfer has failed, such as that it cannot connect.
func (t transfer) await(c *dataSetup) error {
	op, err := fetch.OpTLS, error(nil)
	if t.data.listener != nil {
		err = t.data.await(c.admitted, "the server has not connected", t.access.limits.Connect)
		if err == nil && c.raw == nil {
			err = c.err
		}
		if err != nil {
			op = fetch.OpAccept
		}
	}
	if err == nil {
		err = t.data.await(c.done, "no TLS handshake", t.access.limits.Connect, t.access.limits.Reply)
	}
	broken := err == nil
	switch {
	case broken && (c.err == nil || t.data.localError() != nil || !explains(t.ctl)):
		return c.err
	case !broken && err != errFailing:
		return driver.Fail(op, nil, fetch.ErrOther, err)
	}
	r, err := t.ctl.receiveFinal()
	t.ctl.phase = commanding
	err = t.check(r, false, err)
	switch e, _ := errors.AsType[*fetch.Error](err); {
	case broken && e != nil:
		e.Kind = fetch.ErrConnectionFailed
	case op == fetch.OpAccept && e != nil && (e.Code == 421 || e.Code == 425):
		e.Op = op             // the file is not to blame
		if t.ctl.Err != nil { // 421 ends the connection
			t.ctl.Err = e
		}
	}
	return err
}
