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
	return s.answer(func() []byte {
		positive := verb == cmdWILL || verb == cmdDO
		first := !s.negotiates
		s.negotiates = true
		var reply []byte
		if verb == cmdDO || verb == cmdDONT {
			was := s.us[option]
			reply = encode(cmdWILL, option, s.us[option].received(positive, s.offers(option)))
			if option == optNAWS && was != on && s.us[option] == on {
				reply = append(reply, s.window()...)
			}
		} else {
			reply = encode(cmdDO, option, s.them[option].received(positive, s.accepts(option)))
		}
		if first && s.opt.Binary == BinaryAsk {
			reply = append(reply, s.binaryRequests()...)
		}
		return reply
	})
}

// subnegotiate answers SEND for the options that are on.
func (n *negotiator) subnegotiate(option byte, data []byte) error {
	s := (*Session)(n)
	s.traceReceived(subnegotiation(option, data...)...)
	return s.answer(func() []byte {
		if len(data) == 0 || data[0] != subSEND || s.us[option] != on {
			return nil
		}
		switch option {
		case optTType:
			return subnegotiation(option, append([]byte{subIS}, s.opt.TerminalType...)...)
		case optXDisplay:
			return subnegotiation(option, append([]byte{subIS}, s.opt.Display...)...)
		case optNewEnviron:
			return subnegotiation(option, environ(s.opt.Environ, data[1:])...)
		}
		return nil
	})
}

// binary reports whether the server transmits in binary mode, in which CR has no special meaning.
func (n *negotiator) binary() bool {
	s := (*Session)(n)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.them[optBinary] == on
}

// offers reports whether the server may request an option of this side.
func (s *Session) offers(option byte) bool {
	switch option {
	case optSGA, optTType:
		return true
	case optBinary:
		return s.opt.Binary != BinaryRefuse
	case optNAWS:
		return s.columns > 0 && s.rows > 0
	case optXDisplay:
		return s.opt.Display != ""
	case optNewEnviron:
		return len(s.opt.Environ) > 0
	}
	return false
}

// accepts reports whether the server may turn an option on.
func (s *Session) accepts(option byte) bool {
	return option == optEcho || option == optSGA || option == optBinary && s.opt.Binary != BinaryRefuse
}

// binaryRequests returns the commands that request opt.Binary. s.mu must be held.
func (s *Session) binaryRequests() []byte {
	want := s.opt.Binary == BinaryAsk
	return append(encode(cmdWILL, optBinary, s.us[optBinary].request(want)), encode(cmdDO, optBinary, s.them[optBinary].request(want))...)
}

// window returns the window size as a NAWS subnegotiation. s.mu must be held.
func (s *Session) window() []byte {
	return subnegotiation(optNAWS, byte(s.columns>>8), byte(s.columns), byte(s.rows>>8), byte(s.rows))
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
