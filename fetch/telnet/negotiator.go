package telnet

import (
	"slices"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// negotiator is a Session as the handler of its filter.
type negotiator Session

var _ handler = (*negotiator)(nil)

// command ignores commands that require no answer (NOP, GA, DM, …). It answers AYT with NOP, which
// no program can mistake for typed input.
func (n *negotiator) command(c byte) error {
	s := (*Session)(n)
	s.traceReceived(cmdIAC, c)
	if c != cmdAYT {
		return nil
	}
	return s.answer(func() []byte { return []byte{cmdIAC, cmdNOP} })
}

// negotiate answers WILL, WONT, DO and DONT.
func (n *negotiator) negotiate(verb, option byte) error {
	s := (*Session)(n)
	s.traceReceived(cmdIAC, verb, option)
	return s.answer(func() []byte { return s.terms.negotiate(verb, option) })
}

// subnegotiate answers SEND for the options that are on.
func (n *negotiator) subnegotiate(option byte, data []byte) error {
	s := (*Session)(n)
	s.traceReceived(subnegotiation(option, data...)...)
	return s.answer(func() []byte { return s.terms.subnegotiate(option, data) })
}

// binary reports whether the server transmits in binary mode, in which CR has no special meaning.
func (n *negotiator) binary() bool {
	s := (*Session)(n)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.terms.them[optBinary] == on
}

// terms are the options that are on, on both sides, and what decides that. Its methods return what is
// to be sent.
type terms struct {
	opt           Options
	columns, rows uint16
	us, them      [256]agreement
	begun         bool // the server has negotiated an option
}

// negotiate returns the answer to WILL, WONT, DO or DONT.
func (t *terms) negotiate(verb, option byte) (reply []byte) {
	positive := verb == cmdWILL || verb == cmdDO
	first := !t.begun
	t.begun = true
	if verb == cmdDO || verb == cmdDONT {
		was := t.us[option]
		reply = encode(cmdWILL, option, t.us[option].received(positive, t.offers(option)))
		if option == optNAWS && was != on && t.us[option] == on {
			reply = append(reply, t.window()...)
		}
	} else {
		reply = encode(cmdDO, option, t.them[option].received(positive, t.accepts(option)))
	}
	if first && t.opt.Binary == BinaryAsk {
		reply = append(reply, t.binaryRequests()...)
	}
	return reply
}

// subnegotiate returns the answer to SEND.
func (t *terms) subnegotiate(option byte, data []byte) []byte {
	if len(data) == 0 || data[0] != subSEND || t.us[option] != on {
		return nil
	}
	switch option {
	case optTType:
		return subnegotiation(option, append([]byte{subIS}, t.opt.TerminalType...)...)
	case optXDisplay:
		return subnegotiation(option, append([]byte{subIS}, t.opt.Display...)...)
	case optNewEnviron:
		return subnegotiation(option, environ(t.opt.Environ, data[1:])...)
	}
	return nil
}

// resize returns what says that the window has another size.
func (t *terms) resize(columns, rows uint16) []byte {
	same := t.columns == columns && t.rows == rows
	t.columns, t.rows = columns, rows
	if same || t.us[optNAWS] != on {
		return nil
	}
	return t.window()
}

// offers reports whether the server may request an option of this side.
func (t *terms) offers(option byte) bool {
	switch option {
	case optSGA, optTType:
		return true
	case optBinary:
		return t.opt.Binary != BinaryRefuse
	case optNAWS:
		return t.columns > 0 && t.rows > 0
	case optXDisplay:
		return t.opt.Display != ""
	case optNewEnviron:
		return len(t.opt.Environ) > 0
	}
	return false
}

// accepts reports whether the server may turn an option on.
func (t *terms) accepts(option byte) bool {
	return option == optEcho || option == optSGA || option == optBinary && t.opt.Binary != BinaryRefuse
}

// binaryRequests returns the commands that request opt.Binary.
func (t *terms) binaryRequests() []byte {
	want := t.opt.Binary == BinaryAsk
	return append(encode(cmdWILL, optBinary, t.us[optBinary].request(want)), encode(cmdDO, optBinary, t.them[optBinary].request(want))...)
}

// window returns the window size as a NAWS subnegotiation.
func (t *terms) window() []byte {
	return subnegotiation(optNAWS, byte(t.columns>>8), byte(t.columns), byte(t.rows>>8), byte(t.rows))
}

// encode returns the command for an answer. positive is WILL or DO; the next octet is its opposite.
func encode(positive, option byte, a answer) []byte {
	switch a {
	case yes:
		return []byte{cmdIAC, positive, option}
	case no:
		return []byte{cmdIAC, positive + 1, option}
	}
	return nil
}

// traceReceived passes received commands to the trace.
func (s *Session) traceReceived(octets ...byte) {
	s.callHook(func(t *fetch.Trace) { t.Received(octets) })
}

// answer calls reply with the lock held and sends the result. It returns errLoop if the server
// causes too many answers.
func (s *Session) answer(reply func() []byte) error {
	s.mu.Lock()
	commands := reply()
	allowed := len(commands) == 0 || s.answers.allow(time.Now())
	s.pending = append(s.pending, commands...)
	s.mu.Unlock()
	if !allowed {
		return errLoop
	}
	// Ignore write errors: a server that has closed the connection may have sent data before,
	// and Read returns the error after that data.
	_ = s.push()
	return nil
}

// environ returns the answer to NEW-ENVIRON SEND. It has the variables that the server requests and
// the user has set. A request without names, or with a type only, means all variables. The values
// need no escaping, see Options.check.
func environ(known []Variable, wanted []byte) []byte {
	names := wantedNames(wanted)
	reply := []byte{subIS}
	for _, v := range known {
		if len(names) > 0 && !slices.Contains(names, v.Name) {
			continue
		}
		reply = append(append(reply, envVAR), v.Name...)
		reply = append(append(reply, envVALUE), v.Value...)
	}
	return reply
}

// wantedNames returns the names in a SEND. Names with an escaped octet match no variable.
func wantedNames(wanted []byte) (names []string) {
	for len(wanted) > 0 {
		rest := wanted[1:]
		n := slices.IndexFunc(rest, func(c byte) bool { return c == envVAR || c == envUSERVAR })
		if n < 0 {
			n = len(rest)
		}
		if n > 0 {
			names = append(names, string(rest[:n]))
		}
		wanted = rest[n:]
	}
	return names
}

// answerLimit limits the number of answers, in total and per second with a burst.
type answerLimit struct {
	left  int
	burst float64
	last  time.Time
}

// allow reports whether another answer is within the limit, and counts it.
func (a *answerLimit) allow(now time.Time) bool {
	if !a.last.IsZero() {
		a.burst = min(answerBurst, a.burst+now.Sub(a.last).Seconds()*answerRate)
	}
	a.last = now
	if a.left == 0 || a.burst < 1 {
		return false
	}
	a.left--
	a.burst--
	return true
}
