package telnet

import (
	"slices"
	"time"

	"github.com/fetch1738/fetch1738/fetch"
)

// negotiator is a Session as its filter sees it.
type negotiator Session

var _ handler = (*negotiator)(nil)

// command takes those that ask for nothing (NOP, GA, DM, …), and AYT, whose
// answer no program can mistake for something typed.
func (n *negotiator) command(c byte) error {
	s := (*Session)(n)
	s.heard(cmdIAC, c)
	if c != cmdAYT {
		return nil
	}
	return s.answer(func() []byte { return []byte{cmdIAC, cmdNOP} })
}

// negotiate answers WILL, WONT, DO and DONT.
func (n *negotiator) negotiate(verb, option byte) error {
	s := (*Session)(n)
	s.heard(cmdIAC, verb, option)
	return s.answer(func() []byte {
		positive := verb == cmdWILL || verb == cmdDO
		first := !s.spoken
		s.spoken = true
		var reply []byte
		if verb == cmdDO || verb == cmdDONT {
			was := s.us[option]
			reply = say(cmdWILL, option, s.us[option].heard(positive, s.offers(option)))
			if option == optNAWS && was != on && s.us[option] == on {
				reply = append(reply, s.window()...)
			}
		} else {
			reply = say(cmdDO, option, s.them[option].heard(positive, s.accepts(option)))
		}
		if first && s.opt.Binary == BinaryAsk {
			reply = append(reply, s.binaryWishes()...)
		}
		return reply
	})
}

// subnegotiate answers those who ask for what was offered.
func (n *negotiator) subnegotiate(option byte, data []byte) error {
	s := (*Session)(n)
	s.heard(subnegotiation(option, data...)...)
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

// binary tells whether the server sends without the terminal's meaning of CR.
func (n *negotiator) binary() bool {
	s := (*Session)(n)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.them[optBinary] == on
}

// offers are the options that the server may ask for.
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

// accepts are the options that the server may offer.
func (s *Session) accepts(option byte) bool {
	return option == optEcho || option == optSGA || option == optBinary && s.opt.Binary != BinaryRefuse
}

// binaryWishes are the commands for what opt.Binary says; s.mu is held.
func (s *Session) binaryWishes() []byte {
	wish := s.opt.Binary == BinaryAsk
	return append(say(cmdWILL, optBinary, s.us[optBinary].ask(wish)), say(cmdDO, optBinary, s.them[optBinary].ask(wish))...)
}

// window is the size as NAWS tells it; s.mu is held.
func (s *Session) window() []byte {
	return subnegotiation(optNAWS, byte(s.columns>>8), byte(s.columns), byte(s.rows>>8), byte(s.rows))
}

// say is an answer: positive is WILL or DO, whose opposite is the next octet.
func say(positive, option byte, a answer) []byte {
	switch a {
	case yes:
		return []byte{cmdIAC, positive, option}
	case no:
		return []byte{cmdIAC, positive + 1, option}
	}
	return nil
}

// heard tells the trace.
func (s *Session) heard(octets ...byte) {
	s.tell(func(t *fetch.Trace) { t.Received(octets) })
}

// answer sends what reply makes under the lock, as far as the server may make us
// answer.
func (s *Session) answer(reply func() []byte) error {
	s.mu.Lock()
	commands := reply()
	allowed := len(commands) == 0 || s.answers.take(time.Now())
	s.pending = append(s.pending, commands...)
	s.mu.Unlock()
	if !allowed {
		return errLoop
	}
	// A server that has closed already may have said something worth reading
	// before; what is wrong with the connection reading will tell.
	_ = s.push()
	return nil
}

// environ is the answer to NEW-ENVIRON SEND: of the variables that the server
// names, or of all if it names none or only a type, those that the user has
// named. Their octets need no escape: see Options.check.
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

// wantedNames are the names in a SEND. Those with an escaped octet are nobody's.
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

// allowance bounds answers: so many in all, and so many a second with a burst.
type allowance struct {
	left  int
	burst float64
	last  time.Time
}

func (a *allowance) take(now time.Time) bool {
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
