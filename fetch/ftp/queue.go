package ftp

import (
	"errors"
	"strings"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/talk"
)

// queue is the commands that were sent before their turn, so that nobody waits for
// each reply by itself (RFC 959 sets no bound on that). When the turn of one comes it
// is not sent again, and the next reply is taken for its own. A server that does not
// cope loses such commands, answers them out of turn or closes the connection. All
// of that shows in the replies, for each command has codes that no other one has.
type queue struct {
	ahead      []early
	behindPass []string    // to be sent together with PASS
	behind     []string    // to be sent together with the command of a transfer
	sentAhead  bool        // the command at hand was sent ahead
	came       *talk.Reply // to it, if that has been read
	probed     bool        // the probe has been sent
	heard      bool        // the server has said something in this access
	outrun     bool        // it does not cope
}

// early is a command that was sent ahead.
type early struct {
	line  string
	reply *talk.Reply // nil until it has been read
}

// isNext reports whether line is the next of the commands that were sent ahead.
func (q *queue) isNext(line string) bool { return len(q.ahead) > 0 && q.ahead[0].line == line }

// takeTurn makes the next of the commands that were sent ahead the one at hand.
func (c *control) takeTurn() {
	c.sentAhead, c.came, c.verb = true, c.ahead[0].reply, verbOf(c.ahead[0].line)
	c.ahead = c.ahead[1:]
}

// sendAll sends lines in one piece, the last ones of which are ahead of their turn.
func (c *control) sendAll(lines, ahead []string) error {
	for _, line := range ahead {
		c.ahead = append(c.ahead, early{line: line})
	}
	if !c.bareIAC {
		for i, line := range lines {
			lines[i] = strings.ReplaceAll(line, iac, iac+iac)
		}
	}
	return c.Send(lines...)
}

// sendAhead sends commands ahead of their turn.
func (c *control) sendAhead(lines []string) error {
	if len(lines) == 0 || c.Err != nil {
		return c.Err
	}
	return c.sendAll(lines, lines)
}

// pending reports whether there are commands sent ahead whose replies have not been read.
func (q *queue) pending() bool { return len(q.ahead) > 0 && q.ahead[len(q.ahead)-1].reply == nil }

// catchUp reads the replies to all that was sent ahead, as another command is to
// come first. Those that agree are kept: their commands may yet have their turn.
func (c *control) catchUp() error {
	verb, kept := c.verb, c.ahead[:0]
	for agreed := true; len(c.ahead) > 0; {
		next := c.ahead[0]
		c.takeTurn()
		r, err := c.receiveAny()
		if err != nil {
			return err
		}
		if r.Code == systemType && !c.isProbe() {
			return c.giveUp(r)
		}
		if agreed = agreed && r.Class() == 2 && !c.isProbe(); agreed {
			kept = append(kept, early{next.line, &r})
		}
	}
	c.ahead, c.verb, c.sentAhead, c.probed = kept, verb, false, false
	return nil
}

// reply gives the reply to the command at hand.
func (c *control) reply() (r talk.Reply, err error) {
	if c.came != nil {
		r, c.came = *c.came, nil
		return r, nil
	}
	if c.sentAhead {
		c.askAround()
	}
	r, err = c.Reply()
	if err == nil {
		c.heard = true
		return r, nil
	}
	switch kind := fetch.KindOf(err); {
	case !c.heard: // a connection that was dead already says nothing about its server
	case kind == fetch.ErrTimeout:
		c.outrun = c.sentAhead
	case kind != fetch.ErrCanceled && kind != fetch.ErrProtocol:
		c.outrun = c.sentAhead || c.pending()
	}
	return r, err
}

// patience is how long a reply may take at most before it is asked whether it will come.
const patience = 2 * time.Second

// SYST is the probe: it has a reply that no other command has.
const (
	probe      = "SYST"
	systemType = 215
)

// isProbe reports whether the probe is the command at hand.
func (c *control) isProbe() bool { return string(c.verb) == probe }

// askAround waits for the reply to a command that was sent ahead. When that takes long it
// sends SYST: a server that has lost the command answers that, and one that is slow
// answers in turn.
func (c *control) askAround() {
	limit := patience
	if reply := c.Limits.Reply; reply > 0 {
		limit = min(limit, reply/2)
	}
	if c.probed || c.Await(limit) {
		return
	}
	c.probed = true
	_ = c.sendAhead([]string{probe}) // if that fails, so does what comes next
}

// inTurn gives the reply to the command at hand, where r came while others had been
// sent ahead. An error of it is the end of the connection: which reply is to which
// command is not known then.
func (c *control) inTurn(r talk.Reply) (talk.Reply, error) {
	switch {
	case c.sentAhead:
		if !c.fits(r) {
			return r, c.giveUp(r)
		}
	case isTransfer(c.verb) && c.pending() && (r.Class() >= 4 || isPort(r)):
		return c.whose(r)
	}
	return r, nil
}

// whose gives the reply to a transfer behind which the next port was asked for. r, a
// refusal or a port, came first.
func (c *control) whose(r talk.Reply) (talk.Reply, error) {
	c.askAround()
	next, err := c.Reply()
	switch {
	case err != nil:
		c.outrun = true
		if isPort(r) {
			return r, err
		}
		return r, nil
	case c.phase == transferring && next.Class() == 2 && !isPort(next):
		c.outrun, c.ahead = true, nil
		c.last = next
		return next, nil
	case isPort(r), next.Class() == 1, next.Code == systemType:
		return r, c.giveUp(next)
	}
	c.ahead[0].reply = &next
	return r, nil
}

// isPort reports whether r is the reply to EPSV or PASV.
func isPort(r talk.Reply) bool { return r.Code == 227 || r.Code == 229 }

// codes are those of the replies that tell something, each of one command.
var codes = map[fetch.Op]int{
	fetch.OpPWD: 257, fetch.OpEPSV: 229, fetch.OpPASV: 227, fetch.OpSIZE: 213, fetch.OpMDTM: 213, fetch.OpFEAT: 211,
}

// fits reports whether r can be the reply to the command at hand.
func (c *control) fits(r talk.Reply) bool {
	told := codes[c.verb]
	switch class := r.Class(); {
	case c.isProbe() || r.Code == systemType:
		return c.isProbe()
	case class == 2 && told != 0:
		return r.Code == told
	case class == 2:
		for _, code := range codes {
			if r.Code == code {
				return false
			}
		}
		return true
	case class >= 4 && c.probed:
		return r.Code < 500 || r.Code > 502 // a server without SYST
	}
	return r.Class() >= 4 && !(c.verb == fetch.OpTYPE && r.Code%100 == 50) // which is about a file
}

// giveUp ends the connection to a server that does not cope with commands sent ahead.
func (c *control) giveUp(r talk.Reply) error {
	c.outrun = true
	return c.Fail(&fetch.Error{Kind: fetch.ErrProtocol, Code: r.Code, Reply: r.Text, Err: errOutrun})
}

var errOutrun = errors.New("the server does not answer commands in turn that are sent ahead")
