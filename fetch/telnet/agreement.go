package telnet

// An agreement is the state of one option on one side of the connection. It follows the Q method of
// RFC 1143 §7, with which negotiation cannot loop. Options are initially off.
type agreement uint8

const (
	off           agreement = iota
	on                      //
	wantOn                  // requested, no reply yet
	wantOnThenOff           // requested, to be turned off after the reply
	wantOff                 // its end is requested, no reply yet
	wantOffThenOn           // its end is requested, to be turned on after the reply
)

// answer is the command to send for an option.
type answer int8

const (
	nothing answer = 0
	yes     answer = 1  // WILL or DO
	no      answer = -1 // WONT or DONT
)

// received updates the state for a received WILL or DO (positive), or WONT or DONT, and returns the
// answer.
func (a *agreement) received(positive, acceptable bool) answer {
	was := *a
	if positive {
		switch {
		case was == off && !acceptable:
			return no
		case was == off:
			*a = on
			return yes
		case was == wantOnThenOff:
			*a = wantOff
			return no
		case was == wantOff: // the peer violates the protocol
			*a = off
		case was == wantOn, was == wantOffThenOn:
			*a = on
		}
		return nothing
	}
	*a = off
	switch was {
	case on:
		return no
	case wantOffThenOn:
		*a = wantOn
		return yes
	}
	return nothing
}

// request updates the state to request an option, or its end, and returns the command to send.
func (a *agreement) request(positive bool) answer {
	switch was := *a; {
	case was == off && positive:
		*a = wantOn
		return yes
	case was == on && !positive:
		*a = wantOff
		return no
	case was == wantOn && !positive:
		*a = wantOnThenOff
	case was == wantOnThenOff && positive:
		*a = wantOn
	case was == wantOff && positive:
		*a = wantOffThenOn
	case was == wantOffThenOn && !positive:
		*a = wantOff
	}
	return nothing
}
