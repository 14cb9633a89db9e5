package ftp

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/talk"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// control is the control connection. Towards the server it sends commands and
// reads replies, bounded in length and time. Towards the library it is the
// net.Conn that the library believes to be the server: it passes commands on,
// or answers them itself, and lets it see replies in the one form it can take,
// so that no octet of the server's choice reaches the library's parsers.
//
// The library writes each command with one Write and then reads its reply.
type control struct {
	*talk.Talk

	verb      fetch.Op   // of the command at hand: the operation of an error
	last      talk.Reply // the latest one
	greeting  string
	announced int64 // the size that a preliminary reply told, or -1
	phase     phase
	began     bool // the access has changed something, or a transfer has begun
	otherwise bool // the alternative to USER has been sent
	welcome   bool // the greeting was 230: nobody has to log in
	bareIAC   bool // the server takes an IAC octet for itself

	toLibrary bytes.Buffer
	answers   answers
	transfer  string // the command that the library's RETR stands for

	queue // of what was sent ahead
}

// phase is what the next reply belongs to.
type phase uint8

const (
	awaitsGreeting phase = iota // the greeting is due
	loggingIn                   // the library's Login is at work
	commanding                  // a reply to a command
	transferring                // the reply at the end of a transfer
	transferred                 // that reply has come instead of the preliminary one
)

// answers to what the server asks during the login and when it begins a transfer.
type answers interface {
	password(text string) (string, error)
	account(text string) (string, error)
	alternative() string // to USER and PASS; "" is none
	begin() error        // makes the data connection ready
}

func newControl(ctx context.Context, raw net.Conn, limits fetch.Limits, trace *fetch.Trace) *control {
	return &control{Talk: talk.New(ctx, raw, "FTP", 4<<10, limits, trace), verb: fetch.OpConnect, announced: -1}
}

// send sends a command line and those behind it, unless it has been sent ahead.
func (c *control) send(line string, behind ...string) error {
	switch {
	case c.Err != nil:
		return c.Err
	case c.isNext(line):
		c.takeTurn()
		return nil
	}
	if err := c.catchUp(); err != nil {
		return err
	}
	if err := c.unasked(); err != nil {
		return err
	}
	c.sentAhead, c.verb = false, verbOf(line)
	return c.sendAll(append([]string{line}, behind...), behind)
}

// verbOf is the operation that a command line is.
func verbOf(line string) fetch.Op {
	verb, _, _ := strings.Cut(line, " ")
	return fetch.Op(strings.ToUpper(verb))
}

// iac is the octet that is doubled on the Telnet connection that a control
// connection is (RFC 959 §3.3, RFC 854).
const iac = "\xff"

// unasked refuses replies that have come before their command (CVE-2021-22947);
// only 421, which announces that the server is about to leave, needs none.
func (c *control) unasked() error {
	if !c.Waiting() {
		return nil
	}
	r, err := c.receive()
	if err != nil {
		return err
	}
	return c.Fail(talk.Violation(r.Text, "a reply that nothing asked for"))
}

// receive reads a reply. 421 and whatever is no reply make the connection unusable.
func (c *control) receive() (talk.Reply, error) {
	r, err := c.receiveAny()
	if err != nil || len(c.ahead) == 0 && !c.sentAhead {
		return r, err
	}
	return c.inTurn(r)
}

// receiveAny is receive for a reply that may be to another command than the one
// at hand.
func (c *control) receiveAny() (talk.Reply, error) {
	r, err := c.reply()
	if err != nil {
		return r, err
	}
	r.Text = strings.ReplaceAll(r.Text, iac+iac, iac)
	c.last = r
	if r.Code == 421 {
		return r, c.Fail(&fetch.Error{Op: c.verb, Kind: fetch.ErrBusy, Code: r.Code, Reply: r.Text})
	}
	return r, nil
}

// maxPreliminary bounds the 1yz replies before another.
const maxPreliminary = 16

// receiveFinal reads replies up to one that is not preliminary.
func (c *control) receiveFinal() (talk.Reply, error) {
	for range maxPreliminary {
		if r, err := c.receive(); err != nil || r.Class() != 1 {
			return r, err
		}
	}
	return talk.Reply{}, c.Fail(talk.Violation(c.last.Text, "nothing but preliminary replies"))
}

// exchange sends a command that the library does not know and gives its reply.
func (c *control) exchange(line string) (talk.Reply, error) {
	if err := c.send(line); err != nil {
		return talk.Reply{}, err
	}
	return c.receiveFinal()
}

// ask is exchange for a command that has no preliminary replies.
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
	var behind []string
	switch {
	case verb == "FEAT" && c.phase == loggingIn:
		// RFC 1738 knows no FEAT. MDTM is told of so that the library will send it.
		c.answer("211-", " MDTM", "211 ")
		return len(p), nil
	case verb == "USER" && c.welcome:
		c.answer("230 ")
		return len(p), nil
	case verb == "TYPE" && c.phase == loggingIn:
		c.answer("200 ")
		return len(p), nil
	case verb == "EPSV":
		c.answer("229 (|||1024|)") // the data connection is there, or its port
		return len(p), nil
	case verb == "QUIT":
		return len(p), nil // the library's way of giving up; ours is quit
	case verb == "PASS":
		var err error
		if line, err = c.passCommand(c.last.Text); err != nil {
			return 0, err
		}
		behind, c.behindPass = c.behindPass, nil
	case verb == "RETR", verb == "STOR", verb == "APPE":
		line, behind = c.transfer, c.behind
	}
	if err := c.send(line, behind...); err != nil {
		return 0, err
	}
	if verb == "RETR" && !isTransfer(c.verb) {
		c.verb = fetch.OpLIST // which Options.ListCommand is in place of
	}
	return len(p), nil
}

func (c *control) answer(lines ...string) {
	c.toLibrary.WriteString(strings.Join(lines, "\r\n") + "\r\n")
}

// Read gives the library the next reply.
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

// next gives the next reply in the form the library expects: a code, for some
// commands with text.
func (c *control) next() (string, error) {
	switch c.phase {
	case awaitsGreeting:
		r, err := c.receiveFinal() // 120 may come before 220
		c.greeting = r.Text
		return c.translate(r, err)
	case transferred:
		c.phase = commanding
		return "226", nil
	}
	return c.translate(c.receive())
}

// translate is next for a reply that has come.
func (c *control) translate(r talk.Reply, err error) (string, error) {
	if err != nil {
		return "", err
	}
	if r.Class() >= 4 && (c.verb == fetch.OpUSER || c.verb == fetch.OpPASS) {
		if r, err = c.loginOtherwise(r); err != nil {
			return "", err
		}
	}
	if r.Code == 332 && (c.verb == fetch.OpUSER || c.verb == fetch.OpPASS) {
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
	text, err := c.accept(r)
	if err != nil {
		return "", c.Fail(err)
	}
	return text, nil
}

// loginOtherwise sends, once, what there is to send when USER or PASS is refused.
// The reply counts as one to the command that was refused.
func (c *control) loginOtherwise(refusal talk.Reply) (talk.Reply, error) {
	verb, alternative := c.verb, c.answers.alternative()
	if alternative == "" || c.otherwise {
		return refusal, nil
	}
	c.otherwise = true
	r, err := c.exchange(alternative)
	if err == nil && r.Code == 331 && verb == fetch.OpPASS {
		var pass string
		if pass, err = c.passCommand(r.Text); err == nil {
			r, err = c.exchange(pass)
		}
	}
	c.verb = verb
	return r, err
}

// passCommand answers a text that asks for the password.
func (c *control) passCommand(text string) (string, error) {
	password, err := c.answers.password(text)
	if err != nil {
		return "", err
	}
	c.Hide(password)
	return "PASS " + password, nil
}

func (c *control) sendAccount(text string) (talk.Reply, error) {
	account, err := c.answers.account(text)
	if err != nil {
		return talk.Reply{}, err
	}
	c.Hide(account)
	return c.exchange("ACCT " + account)
}

// accept judges a reply that is not negative. Servers differ in their choice
// among the codes of a class, which the library does not forgive.
func (c *control) accept(r talk.Reply) (string, error) {
	class := r.Class()
	switch {
	case c.phase == transferring:
		if class == 2 {
			c.phase = commanding
			return "226", nil
		}
	case c.phase == awaitsGreeting:
		if r.Code == 220 || r.Code == 230 {
			c.phase, c.welcome = loggingIn, r.Code == 230
			return "220", nil
		}
	case isTransfer(c.verb):
		if class <= 2 {
			return c.beginTransfer(r)
		}
	case c.verb == fetch.OpUSER && r.Code == 331, c.verb == fetch.OpREST && r.Code == 350:
		return fmt.Sprint(r.Code), nil
	case c.verb == fetch.OpSIZE && class == 2:
		return fmt.Sprintf("213 %d", fileSize(r.Text)), nil
	case c.verb == fetch.OpMDTM && class == 2:
		return "213 " + fileTime(r.Text).Format("20060102150405"), nil
	case class == 2 && completion[c.verb] != "":
		return completion[c.verb], nil
	}
	return "", &fetch.Error{Kind: fetch.ErrProtocol, Code: r.Code, Reply: r.Text, Err: fmt.Errorf("unexpected reply to %s", c.verb)}
}

// completion is the one code that the library takes for success.
var completion = map[fetch.Op]string{
	fetch.OpUSER: "230", fetch.OpPASS: "230", fetch.OpACCT: "230", fetch.OpCWD: "250", fetch.OpMKD: "257", fetch.OpTYPE: "200",
}

// beginTransfer takes the first reply to a transfer; for a small file a server in
// a hurry may send the last one in its place.
func (c *control) beginTransfer(r talk.Reply) (string, error) {
	c.began = true
	c.announced = announcedSize(r.Text)
	c.phase = transferring
	if r.Class() == 2 {
		c.phase = transferred
	}
	return "150", c.answers.begin()
}

// meanwhile looks whether the server has said something while it is to connect:
// that it cannot, or, being done by now, that all is well.
func (c *control) meanwhile() error {
	if c.phase != transferring || !c.Waiting() {
		return nil
	}
	r, err := c.receive()
	switch {
	case err != nil:
		return err
	case r.Class() == 2:
		c.phase = transferred
		return nil
	case r.Class() == 1:
		return nil
	case r.Class() == 3:
		return talk.Violation(r.Text, "unexpected reply to "+string(c.verb))
	}
	return &fetch.Error{Kind: kindOf(c.verb, r), Code: r.Code, Reply: r.Text}
}

func isTransfer(verb fetch.Op) bool {
	switch verb {
	case fetch.OpRETR, fetch.OpSTOR, fetch.OpAPPE, fetch.OpLIST, fetch.OpNLST, fetch.OpMLSD:
		return true
	}
	return false
}

// The rest of net.Conn. The library sets no deadlines of its own.

func (c *control) LocalAddr() net.Addr              { return c.Raw.LocalAddr() }
func (c *control) SetDeadline(time.Time) error      { return nil }
func (c *control) SetReadDeadline(time.Time) error  { return nil }
func (c *control) SetWriteDeadline(time.Time) error { return nil }

// RemoteAddr is always a *net.TCPAddr, without which the library panics. Its
// host is not used for anything.
func (c *control) RemoteAddr() net.Addr {
	if a, ok := c.Raw.RemoteAddr().(*net.TCPAddr); ok {
		return a
	}
	return &net.TCPAddr{IP: net.IPv4zero}
}
