package telnet

import (
	"fmt"
	"strconv"
	"strings"
)

// Describe returns telnet commands as text, such as "IAC DO TERMINAL-TYPE". Its argument is a slice
// that a [fetch.Trace] passes to its hooks Sent and Received. Several commands are separated by
// newlines.
func Describe(commands []byte) string {
	d := new(describer)
	f := &filter{on: d}
	for _, c := range commands {
		if err := f.octet(c); err != nil {
			d.add("…")
			break
		}
	}
	return strings.Join(d.lines, "\n")
}

type describer struct{ lines []string }

func (d *describer) add(words ...string) { d.lines = append(d.lines, strings.Join(words, " ")) }

func (d *describer) command(c byte) error {
	d.add("IAC", nameOf(commandNames, c))
	return nil
}

func (d *describer) negotiate(verb, option byte) error {
	d.add("IAC", nameOf(commandNames, verb), nameOf(optionNames, option))
	return nil
}

func (d *describer) subnegotiate(option byte, data []byte) error {
	words := []string{"IAC SB", nameOf(optionNames, option)}
	for len(data) > 0 {
		n := 0
		for n < len(data) && data[n] > ' ' && data[n] <= '~' {
			n++
		}
		if n > 1 {
			words = append(words, strconv.Quote(string(data[:n])))
		} else {
			n = 1
			words = append(words, fmt.Sprintf("%02X", data[0]))
		}
		data = data[n:]
	}
	d.add(append(words, "IAC SE")...)
	return nil
}

func (d *describer) binary() bool { return false }

// nameOf returns the name of a command or option, or else its number.
func nameOf(names map[byte]string, c byte) string {
	if n, ok := names[c]; ok {
		return n
	}
	return strconv.Itoa(int(c))
}

var (
	commandNames = map[byte]string{
		236: "EOF", 237: "SUSP", 238: "ABORT", 239: "EOR", cmdSE: "SE", cmdNOP: "NOP", 242: "DM", 243: "BRK", 244: "IP", 245: "AO",
		cmdAYT: "AYT", 247: "EC", 248: "EL", 249: "GA", cmdWILL: "WILL", cmdWONT: "WONT", cmdDO: "DO", cmdDONT: "DONT",
	}
	optionNames = map[byte]string{
		optBinary: "BINARY", optEcho: "ECHO", optSGA: "SUPPRESS-GO-AHEAD", 5: "STATUS", 6: "TIMING-MARK", optTType: "TERMINAL-TYPE",
		25: "END-OF-RECORD", optNAWS: "NAWS", 32: "TERMINAL-SPEED", 33: "REMOTE-FLOW-CONTROL", 34: "LINEMODE", optXDisplay: "X-DISPLAY-LOCATION",
		36: "ENVIRON", 37: "AUTHENTICATION", 38: "ENCRYPT", optNewEnviron: "NEW-ENVIRON", 46: "START-TLS", 201: "GMCP",
	}
)
