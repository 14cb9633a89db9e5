package telnettest

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/fetch1738/fetch1738/testserver/internal/core"
)

// logger splits what one side of a telnet connection sends into commands and lines of data,
// and logs them.
type logger struct {
	client  *core.Client
	from    core.Side
	session *session // of the client's side: receives all of it

	line    []byte // of data, as sent
	command []byte // incomplete
}

// Write logs p, which may be any part of the stream; it never fails.
func (s *logger) Write(p []byte) (int, error) {
	for _, c := range p {
		if len(s.command) == 0 && c != iac {
			s.data(c)
			continue
		}
		s.command = append(s.command, c)
		if !commandEnds(s.command) {
			if len(s.command) > core.MaxLineOctets {
				s.endCommand() // a command without an end
			}
			continue
		}
		if len(s.command) == 2 && c == iac {
			s.command = nil
			s.line = append(s.line, iac)
			s.data(iac)
		} else {
			s.endCommand()
		}
	}
	return len(p), nil
}

// data logs a byte of data. A line ends in LF, or in the NUL after a CR.
func (s *logger) data(c byte) {
	s.line = append(s.line, c)
	if s.session != nil {
		s.session.heard = append(s.session.heard, c)
	}
	if c == '\n' || len(s.line) >= core.MaxLineOctets || c == 0 && bytes.HasSuffix(s.line, []byte("\r\x00")) {
		s.endLine()
	}
}

// endLine logs the current line, unless it is empty.
func (s *logger) endLine() {
	if len(s.line) > 0 {
		octets := string(s.line)
		s.line = s.line[:0]
		s.client.Log(s.from, octets, core.LineText)
	}
}

// endCommand logs the current command.
func (s *logger) endCommand() {
	s.endLine()
	octets := string(s.command)
	s.command = nil
	if s.session != nil && len(s.session.commands) < maxCommands {
		s.session.commands = append(s.session.commands, octets)
	}
	s.client.Log(s.from, octets, commandText)
}

// end logs an unfinished line, if there is one.
func (s *logger) end() {
	s.endLine()
	if len(s.command) > 0 {
		s.endCommand()
	}
}

// maxCommands is the maximum number of commands kept until a step consumes them.
const maxCommands = 1 << 16

const (
	iac = 255
	sb  = 250
	se  = 240
)

// commandEnds reports whether c, which begins with IAC, is a whole command.
func commandEnds(c []byte) bool {
	switch {
	case len(c) < 2:
		return false
	case c[1] == sb:
		if len(c) < 4 || c[len(c)-1] != se || c[len(c)-2] != iac {
			return false
		}
		doubled := 0 // an even number of IACs is data
		for i := len(c) - 2; i > 1 && c[i] == iac; i-- {
			doubled++
		}
		return doubled%2 == 1
	case c[1] > sb && c[1] < iac:
		return len(c) == 3
	}
	return true
}

var (
	telnetCommands = map[byte]string{
		240: "SE", 241: "NOP", 242: "DM", 243: "BRK", 244: "IP", 245: "AO", 246: "AYT", 247: "EC", 248: "EL", 249: "GA",
		250: "SB", 251: "WILL", 252: "WONT", 253: "DO", 254: "DONT", 255: "IAC",
	}
	telnetOptions = map[byte]string{
		0: "BINARY", 1: "ECHO", 3: "SGA", 5: "STATUS", 6: "TIMING-MARK", 24: "TERMINAL-TYPE", 31: "NAWS", 32: "TERMINAL-SPEED",
		33: "FLOW-CONTROL", 34: "LINEMODE", 35: "X-DISPLAY", 36: "OLD-ENVIRON", 37: "AUTHENTICATION", 38: "ENCRYPT", 39: "NEW-ENVIRON",
	}
)

// nameOf returns the name of a command or option, or else its number.
func nameOf(names map[byte]string, c byte) string {
	if name, ok := names[c]; ok {
		return name
	}
	return strconv.Itoa(int(c))
}

// commandText returns a command in words: "IAC SB NAWS 00 50 00 18 IAC SE".
func commandText(octets string) string {
	words := []string{"IAC"}
	if len(octets) > 1 {
		words = append(words, nameOf(telnetCommands, octets[1]))
	}
	if len(octets) > 2 {
		words = append(words, nameOf(telnetOptions, octets[2]))
	}
	if len(octets) > 3 {
		inside, whole := strings.CutSuffix(octets[3:], "\xff\xf0")
		for len(inside) > 0 {
			n := 0
			for n < len(inside) && inside[n] > ' ' && inside[n] <= '~' {
				n++
			}
			if n > 1 {
				words = append(words, strconv.Quote(inside[:n]))
			} else {
				n = 1
				words = append(words, fmt.Sprintf("%02X", inside[0]))
			}
			inside = inside[n:]
		}
		if whole {
			words = append(words, "IAC", "SE")
		}
	}
	return strings.Join(words, " ")
}
