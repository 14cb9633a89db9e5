package ftp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// A control is the control connection. To the server it sends commands and reads replies, within
// limits of length and time. To the library it is the net.Conn of the server: it forwards commands
// or replies to them itself. It rewrites each reply in the only form that the library accepts. The
// library's parsers, in which hostile replies cause panics, never see bytes chosen by the server.
//
// The library writes each command with one Write and then reads its reply.
type control struct {
	*talk.Talk

	verb             fetch.Op   // of the current command: the operation of an error
	last             talk.Reply // the latest reply
	greeting         string
	welcome          string // the reply 230 to the login
	message          string // the reply to the last CWD
	announced        int64  // the size in the preliminary reply, or -1
	rest             int64  // what follows, by the same reply, within kbytesPrecision; or -1
	phase            phase
	began            bool // the access has changed something, or a transfer has started
	triedAlternative bool // the alternative to USER has been sent
	noLogin          bool // the greeting was 230: no login is necessary
	bareIAC          bool // the server takes IAC for an octet like any other
	knowsIAC         bool // bareIAC is known to be right

	toLibrary bytes.Buffer
	session   *session // what the server requests during the login, and the data connection
	transfer  string   // the command to send when the library sends RETR, STOR or APPE

	queue
}

// A phase is what the next reply belongs to.
type phase uint8

const (
	awaitingGreeting phase = iota // the greeting
	loggingIn                     // a command of the library's Login
	commanding                    // a command
	transferring                  // the end of a transfer
	transferred                   // nothing: the final reply came instead of the preliminary one
)

func newControl(ctx context.Context, raw net.Conn, limits fetch.Limits, trace *fetch.Trace) *control {
	c := &control{Talk: talk.New(ctx, raw, "FTP", 4<<10, limits, trace), verb: fetch.OpConnect, announced: -1}
	c.Telnet, c.Lenient = func() { c.bareIAC, c.knowsIAC = false, true }, true
	return c
}

// send sends a command, unless it has been pipelined already. The commands in ahead are
// pipelined after it.
func (c *control) send(line string, ahead ...string) error {
	switch {
	case c.Err != nil:
		return c.Err
	case c.isNext(line):
		c.dequeue()
		return nil
	}
	if c.phase != loggingIn { // see session.login
		if err := c.learnIAC(line); err != nil {
			return err
		}
	}
	if err := c.prepare(line); err != nil {
		return err
	}
	if c.unclear {
		ahead = nil
	}
	return c.sendAll(append([]string{line}, ahead...), ahead)
}

// prepare makes line the current command, which is not pipelined.
func (c *control) prepare(line string) error {
	if err := c.drain(); err != nil {
		return err
	}
	if err := c.checkUnsolicited(); err != nil {
		return err
	}
	c.isPipelined, c.verb = false, verbOf(line)
	return nil
}

// verbOf returns the verb of a command line as an Op.
func verbOf(line string) fetch.Op {
	verb, _, _ := strings.Cut(line, " ")
	return fetch.Op(strings.ToUpper(verb))
}

// checkUnsolicited fails if a reply has arrived before its command was sent (CVE-2021-22947). Only
// 421, which announces that the server closes the connection, may come without a command.
func (c *control) checkUnsolicited() error {
	if !c.Waiting() {
		return nil
	}
	r, err := c.receive()
	if err != nil {
		return err
	}
	return c.Fail(talk.Violation(r.Text, "unsolicited reply"))
}

// receive reads a reply. 421, or text that is not a reply, makes the connection unusable.
func (c *control) receive() (talk.Reply, error) {
	r, err := c.receiveAny()
	if err != nil || len(c.queued) == 0 && !c.isPipelined {
		return r, err
	}
	return c.match(r)
}

// receiveAny reads a reply without matching it to the current command.
func (c *control) receiveAny() (talk.Reply, error) {
	r, err := c.reply()
	if err != nil {
		return r, err
	}
	c.last = r
	if r.Code == 421 {
		return r, c.Fail(&fetch.Error{Op: c.verb, Kind: fetch.ErrBusy, Code: r.Code, Reply: r.Text})
	}
	return r, nil
}

// maxPreliminary is the maximum number of 1yz replies in a row.
const maxPreliminary = 16

// receiveFinal reads replies until one is not preliminary.
func (c *control) receiveFinal() (talk.Reply, error) {
	for range maxPreliminary {
		if r, err := c.receive(); err != nil || r.Class() != 1 {
			return r, err
		}
	}
	return talk.Reply{}, c.Fail(talk.Violation(c.last.Text, "too many preliminary replies"))
}

// exchange sends a command past the library and returns the final reply.
func (c *control) exchange(line string) (talk.Reply, error) {
	if err := c.send(line); err != nil {
		return talk.Reply{}, err
	}
	return c.receiveFinal()
}

// ask is like exchange, for a command without preliminary replies.
func (c *control) ask(line string) (talk.Reply, error) {
	if err := c.send(line); err != nil {
		return talk.Reply{}, err
	}
	return c.receive()
}

// Write takes a command from the library.
func (c *control) Write(p []byte) (int, error) {
	line := string(wire.TrimEOL(p))
	verb, _, _ := strings.Cut(line, " ")
	var ahead []string
	switch {
	case verb == "FEAT" && c.phase == loggingIn:
		c.answer("211-", "211 ") // RFC 1738 has no FEAT
		return len(p), nil
	case verb == "USER" && c.noLogin:
		c.answer("230 ")
		return len(p), nil
	case verb == "TYPE" && c.phase == loggingIn:
		c.answer("200 ")
		return len(p), nil
	case verb == "EPSV":
		c.answer("229 (|||1024|)") // the data connection, or its port, is already open
		return len(p), nil
	case verb == "QUIT":
		return len(p), nil // the library gives up; session.Close sends QUIT
	case verb == "PASS":
		var err error
		if line, err = c.passCommand(c.last.Text); err != nil {
			return 0, err
		}
		ahead, c.withPASS = c.withPASS, nil
	case verb == "RETR", verb == "STOR", verb == "APPE":
		line, ahead = c.transfer, c.withTransfer
	}
	if err := c.send(line, ahead...); err != nil {
		return 0, err
	}
	if verb == "RETR" && !isTransfer(c.verb) {
		c.verb = "LIST" // Options.ListCommand replaces LIST
	}
	if isTransfer(fetch.Op(verb)) {
		if err := c.session.commandSent(); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// answer appends lines to what the library reads next.
func (c *control) answer(lines ...string) {
	c.toLibrary.WriteString(strings.Join(lines, "\r\n") + "\r\n")
}

// Read implements io.Reader: it returns the next reply to the library.
func (c *control) Read(p []byte) (int, error) {
	if c.toLibrary.Len() == 0 {
		line, err := c.next()
		if err != nil {
			return 0, err
		}
		if len(line) == len("226") {
			line += " "
		}
		c.answer(line)
	}
	return c.toLibrary.Read(p)
}

// next returns the next reply in the form that the library expects: a code and, for some
// commands, a text.
func (c *control) next() (string, error) {
	switch c.phase {
	case awaitingGreeting:
		r, err := c.receiveFinal() // 120 may come before 220
		c.greeting = r.Text
		return c.translate(r, err)
	case transferred:
		c.phase = commanding
		return "226", nil
	}
	return c.translate(c.receive())
}

// translate returns reply r as next does.
func (c *control) translate(r talk.Reply, err error) (string, error) {
	if err != nil {
		return "", err
	}
	if r.Class() >= 4 && (c.verb == "USER" || c.verb == "PASS") {
		if r, err = c.loginAlternative(r); err != nil {
			return "", err
		}
	}
	if r.Code == 332 && (c.verb == "USER" || c.verb == "PASS") {
		if r, err = c.sendAccount(r.Text); err != nil {
			return "", err
		}
	}
	if r.Class() >= 4 {
		if c.phase == transferring {
			c.phase = commanding
		}
		return fmt.Sprint(r.Code), nil
	}
	switch {
	case r.Code == 230:
		c.welcome = r.Text
	case c.verb == "CWD":
		c.message = r.Text
	}
	text, err := c.accept(r)
	if err != nil {
		return "", c.Fail(err)
	}
	return text, nil
}

// loginAlternative sends Options.AlternativeToUser, once, when USER or PASS is refused. The
// reply counts as the reply to the command that was refused.
func (c *control) loginAlternative(refusal talk.Reply) (talk.Reply, error) {
	verb, alternative := c.verb, c.session.alternative()
	if alternative == "" || c.triedAlternative {
		return refusal, nil
	}
	c.triedAlternative = true
	r, err := c.exchange(alternative)
	if err == nil && r.Code == 331 && verb == "PASS" {
		var pass string
		if pass, err = c.passCommand(r.Text); err == nil {
			r, err = c.exchange(pass)
		}
	}
	c.verb = verb
	return r, err
}

// passCommand returns the PASS command for a reply that requests a password.
func (c *control) passCommand(text string) (string, error) {
	password, err := c.session.password(text)
	if err != nil {
		return "", err
	}
	c.Hide(password)
	return "PASS " + password, nil
}

// sendAccount sends ACCT. text is that of the reply that requests an account.
func (c *control) sendAccount(text string) (talk.Reply, error) {
	account, err := c.session.account(text)
	if err != nil {
		return talk.Reply{}, err
	}
	c.Hide(account)
	return c.exchange("ACCT " + account)
}

// accept checks a reply that is not negative and returns the one code that the library
// accepts. Servers use various codes of the same class, but not those for the results of other
// commands: such a reply came too late or too early. 257 may as well name the directory of a CWD. 226 is
// the end of a transfer, which a server may have performed although it has refused it.
func (c *control) accept(r talk.Reply) (string, error) {
	class := r.Class()
	switch {
	case c.phase == transferring:
		if class == 2 && !isResult(r) {
			c.phase = commanding
			return "226", nil
		}
	case c.phase == awaitingGreeting:
		if r.Code == 220 || r.Code == 230 {
			c.phase, c.noLogin = loggingIn, r.Code == 230
			return "220", nil
		}
	case isTransfer(c.verb):
		if class <= 2 {
			return c.beginTransfer(r)
		}
	case c.verb == "USER" && r.Code == 331, c.verb == "REST" && r.Code == 350:
		return fmt.Sprint(r.Code), nil
	case class == 2 && completion[c.verb] != "" && r.Code != 226 && (!isResult(r) || r.Code == 257):
		return completion[c.verb], nil
	}
	return "", &fetch.Error{Kind: fetch.ErrProtocol, Code: r.Code, Reply: r.Text, Err: errors.New(talk.Unexpected(c.verb))}
}

// completion holds the only code that the library accepts as success.
var completion = map[fetch.Op]string{
	"USER": "230", "PASS": "230", "ACCT": "230", "CWD": "250", "MKD": "257", "TYPE": "200",
}

// beginTransfer handles the first reply to the command of a transfer. For a small file, some
// servers send only the final reply.
func (c *control) beginTransfer(r talk.Reply) (string, error) {
	c.began = true
	c.announced, c.rest = announcedSize(r.Text, c.session.access.name), announcedRest(r.Text)
	c.phase = transferring
	if r.Class() == 2 {
		c.phase = transferred
	}
	return "150", c.session.begin()
}

// lookTime is how long isOver waits for a reply that may have arrived: under TLS, where package tls
// may have it, and on systems that cannot tell.
const lookTime = time.Millisecond

// The first digits of final replies.
const (
	negative = "345"
	anyFinal = "2345"
)

// isOver reports whether the final reply to the transfer that is under way has arrived and begins with
// one of digits, or the connection has ended. It reads no reply: with a positive one, data may still
// come, and the other one is read at the end of the data.
func (c *control) isOver(digits string) bool {
	quiet := c.TLS == nil && c.Lines.Buffered() == 0 && wire.Silent(c.Raw)
	if c.phase != transferring || quiet || !c.Await(lookTime) {
		return false
	}
	waiting := c.Lines.Waiting()
	return len(waiting) == 0 || strings.IndexByte(digits, waiting[0]) >= 0
}

func isTransfer(verb fetch.Op) bool {
	switch verb {
	case "RETR", "STOR", "APPE", "LIST", "NLST", "MLSD":
		return true
	}
	return false
}

// The other methods of net.Conn. The library sets no deadlines.

func (c *control) LocalAddr() net.Addr              { return c.Raw.LocalAddr() }
func (c *control) SetDeadline(time.Time) error      { return nil }
func (c *control) SetReadDeadline(time.Time) error  { return nil }
func (c *control) SetWriteDeadline(time.Time) error { return nil }

// RemoteAddr always returns a *net.TCPAddr; otherwise the library panics. The address is not used.
func (c *control) RemoteAddr() net.Addr {
	if a, ok := c.Raw.RemoteAddr().(*net.TCPAddr); ok {
		return a
	}
	return &net.TCPAddr{IP: net.IPv4zero}
}
