package telnet

// An agreement is the state of one option on one side of the connection, by the
// Q method of RFC 1143 §7, which no pair of peers can make loop. An option starts
// off.
type agreement uint8

const (
	off           agreement = iota
	on                      //
	wantOn                  // we have asked for it
	wantOnThenOff           // and have changed our mind since
	wantOff                 // we have asked for its end
	wantOffThenOn           // and have changed our mind since
)

// answer is what is to be said about an option.
type answer int8

const (
	nothing answer = 0
	yes     answer = 1  // WILL or DO
	no      answer = -1 // WONT or DONT
)

// heard takes a WILL or DO (positive), or a WONT or DONT.
func (a *agreement) heard(positive, acceptable bool) answer {
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
		case was == wantOff: // the peer breaks the rules
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

// ask asks for an option, or for its end.
func (a *agreement) ask(positive bool) answer {
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
