package telnet

import "io"

// A filter takes the commands out of what a server sends and hands them to a
// handler, in order. What is left is data in which IAC is still doubled: that is
// for whoever reads next. CR NUL, the network virtual terminal's lone CR, becomes
// CR. Commands may be split over reads anywhere.
type filter struct {
	r  io.Reader
	on handler

	state   state
	verb    byte   // of the negotiation under way
	sub     []byte // option and data of the subnegotiation under way
	afterCR bool

	buf  [4 << 10]byte
	data []byte // ready to be read
	err  error  // what comes after data
}

// A handler gets what is not data. An error ends the stream.
type handler interface {
	// command is one of two octets, such as IAC NOP.
	command(c byte) error
	// negotiate is one of three, such as IAC DO ECHO.
	negotiate(verb, option byte) error
	// subnegotiate is what stands between IAC SB and IAC SE, IAC undoubled.
	subnegotiate(option byte, data []byte) error
	// binary tells whether the server sends octets without a meaning.
	binary() bool
}

type state uint8

const (
	inData state = iota
	inCommand
	inOption
	inSub
	inSubCommand
)

// Read implements io.Reader. A stream that ends inside of a command ends in
// io.ErrUnexpectedEOF.
func (f *filter) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(f.data) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		f.fill()
	}
	n := copy(p, f.data)
	f.data = f.data[n:]
	return n, nil
}

func (f *filter) fill() {
	n, err := f.r.Read(f.buf[:])
	f.data = f.data[:0]
	for _, c := range f.buf[:n] {
		if f.err = f.octet(c); f.err != nil {
			return
		}
	}
	if err == io.EOF && f.state != inData {
		err = io.ErrUnexpectedEOF
	}
	f.err = err
}

func (f *filter) octet(c byte) error {
	switch f.state {
	case inData:
		f.octetOfData(c)
	case inCommand:
		return f.octetOfCommand(c)
	case inOption:
		f.state = inData
		return f.on.negotiate(f.verb, c)
	case inSub:
		if c == cmdIAC {
			f.state = inSubCommand
			return nil
		}
		return f.keep(c)
	case inSubCommand:
		f.state = inSub
		switch c {
		case cmdIAC:
			return f.keep(c)
		case cmdSE:
			f.state = inData
			return f.endSub()
		}
		// No subnegotiation has a command inside: this one was broken off.
		f.sub = f.sub[:0]
		return f.octetOfCommand(c)
	}
	return nil
}

func (f *filter) octetOfData(c byte) {
	switch {
	case c == cmdIAC:
		f.state = inCommand
		return // whatever the command, it does not come between CR and NUL
	case c == 0 && f.afterCR && !f.on.binary():
	default:
		f.data = append(f.data, c)
	}
	f.afterCR = c == '\r'
}

// octetOfCommand is what follows an IAC.
func (f *filter) octetOfCommand(c byte) error {
	f.state = inData
	switch c {
	case cmdIAC:
		f.data = append(f.data, cmdIAC, cmdIAC)
		f.afterCR = false
	case cmdSB:
		f.state, f.sub = inSub, f.sub[:0]
	case cmdWILL, cmdWONT, cmdDO, cmdDONT:
		f.state, f.verb = inOption, c
	default:
		return f.on.command(c)
	}
	return nil
}

func (f *filter) keep(c byte) error {
	if len(f.sub) == maxSubnegotiation {
		return errSubnegotiation
	}
	f.sub = append(f.sub, c)
	return nil
}

func (f *filter) endSub() error {
	if len(f.sub) == 0 {
		return nil
	}
	return f.on.subnegotiate(f.sub[0], f.sub[1:])
}
