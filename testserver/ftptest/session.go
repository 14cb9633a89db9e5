package ftptest

import (
	"errors"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
	"github.com/fetch1738/fetch1738/testserver/internal/tree"
	"github.com/fetch1738/fetch1738/testserver/traffic"
)

// session is one control connection.
type session struct {
	*core.Client
	srv      *Server
	inputs   inputs
	codePage codePage

	account    account
	files      files
	parameters parameters
	channel    channel

	now     current
	moving  bool // a transfer is under way
	aborted bool // an ABOR has ended a transfer, and is not answered yet
	quit    bool
}

// Limits of the server.
const (
	maxLine     = 8 << 10 // bytes of a command
	maxLogins   = 10      // wrong passwords on a connection
	maxQueue    = 64      // commands that a client may send during a transfer
	dataTimeout = 10 * time.Second
	settleTime  = 100 * time.Millisecond
)

// serve serves one control connection.
func (s *Server) serve(c *core.Client) {
	traffic.ReceiveUrgent(c.Conn)
	f := &session{
		Client: c, srv: s, codePage: codePage(s.CodePage),
		inputs:     inputs{srv: s, client: c, lines: make(chan input), done: make(chan struct{}), turned: make(chan struct{}, 1)},
		files:      files{Tree: &s.m.Tree, srv: s, dir: tree.Clean(s.LoginDir)},
		parameters: parameters{ascii: true},
		channel:    channel{srv: s, control: c, private: s.ImplicitTLS},
	}
	defer f.channel.close()
	defer close(f.inputs.done)
	f.inputs.busy.Store(true)
	s.m.Go(f.inputs.read)

	f.now.faults = f.At("GREETING")
	err := f.Preempt(f.now.faults)
	if err == nil {
		err = f.reply(s.Greeting)
	}
	for err == nil && !f.quit {
		line, more := f.inputs.next()
		if !more {
			break
		}
		err = f.carryOut(line, false)
	}
	switch {
	case errors.Is(err, core.ErrSilent): // stay, without an answer, until the client leaves
		for line := range f.inputs.lines {
			f.inputs.log(line)
		}
	case f.inputs.idle:
		_ = f.answer(new(core.Faults), "421 Timeout.")
	}
}

// carryOut carries out the command in a line. It is out of turn if an earlier one is not answered
// yet.
func (f *session) carryOut(line string, outOfTurn bool) error {
	line = f.codePage.decode(line)
	c := f.srv.commands.of(line)
	if c.has(turnsTLS) {
		defer func() { f.inputs.turned <- struct{}{} }()
	}
	name, arg, _ := strings.Cut(line, " ")
	name = strings.ToUpper(name) // XPWD, whose verb is PWD
	faults := f.At(name, name+" "+arg)
	f.now = current{line: line, verb: c.verb, arg: arg, faults: faults, outOfTurn: outOfTurn}
	if err := f.Preempt(faults); err != nil {
		return err
	}
	reply, armed := faults.Peek(core.Reply)
	if armed && refuses(reply.Text) && !(faults.Shapes() && c.has(download|upload)) {
		return f.reply("")
	}
	switch {
	case c.do == nil:
		return f.reply("500 Unknown command.")
	case core.ContainsFold(f.srv.Hide, name):
		return f.reply("502 Command not implemented.")
	case c.has(credential) && f.srv.RequireTLS && !f.secured():
		return f.reply("530 AUTH TLS first.")
	case f.account.step != loggedIn && (!c.has(beforeLogin) || core.ContainsFold(f.srv.LoginFirst, name)):
		return f.reply("530 Please login with USER and PASS.")
	}
	if text, ok := f.srv.Replies.fixedReply(c.verb, arg); ok {
		return f.answer(faults, faults.Text(core.Reply, f.fill(text, "")))
	}
	return c.do(f, arg)
}

// refuses reports whether an armed reply means that the command is not carried out.
func refuses(reply string) bool { return reply == "" || reply[0] < '1' || reply[0] > '3' }

// secured reports whether the control connection is under TLS.
func (f *session) secured() bool {
	_, is := f.Conn.(traffic.Secure)
	return is
}
