package telnet

import "io"

// A filter removes the commands from a server's output and passes them to a handler, in order. The
// rest is data in which IAC is still doubled; the next reader undoubles it. CR NUL, which is a lone
// CR on a network virtual terminal, becomes CR. Commands may be split over several reads.
type filter struct {
	r  io.Reader
	on handler

	state   state
	verb    byte   // of the negotiation under way
	sub     []byte // option and data of the subnegotiation under way
	afterCR bool

	buf  [4 << 10]byte
	data []byte // ready to be read
	err  error  // returned after data
}

// A handler receives everything that is not data. An error ends the stream.
type handler interface {
	// command handles a command of two octets, such as IAC NOP.
	command(c byte) error
	// negotiate handles a command of three octets, such as IAC DO ECHO.
	negotiate(verb, option byte) error
	// subnegotiate handles the data between IAC SB and IAC SE, with IAC undoubled.
	subnegotiate(option byte, data []byte) error
	// binary reports whether the server transmits in binary mode.
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

// Read implements io.Reader. It returns io.ErrUnexpectedEOF for a stream that ends inside a command.
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

// fill reads once from the server and separates the data from the commands.
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

// octet advances the state by one byte.
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
		// A subnegotiation cannot contain a command, so this one was aborted.
		f.sub = f.sub[:0]
		return f.octetOfCommand(c)
	}
	return nil
}

// octetOfData handles a byte outside of commands. A NUL after CR is dropped, except in binary mode.
func (f *filter) octetOfData(c byte) {
	switch {
	case c == cmdIAC:
		f.state = inCommand
		return // a command between CR and NUL does not separate them
	case c == 0 && f.afterCR && !f.on.binary():
	default:
		f.data = append(f.data, c)
	}
	f.afterCR = c == '\r'
}

// octetOfCommand handles the octet after IAC.
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

// keep adds a byte to the current subnegotiation.
func (f *filter) keep(c byte) error {
	if len(f.sub) == maxSubnegotiation {
		return errSubnegotiation
	}
	f.sub = append(f.sub, c)
	return nil
}

// endSub passes the current subnegotiation to the handler, unless it is empty.
func (f *filter) endSub() error {
	if len(f.sub) == 0 {
		return nil
	}
	return f.on.subnegotiate(f.sub[0], f.sub[1:])
}
