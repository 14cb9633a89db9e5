package telnet

import "fmt"

// The commands (RFC 854).
const (
	cmdSE   = 240
	cmdNOP  = 241
	cmdAYT  = 246
	cmdSB   = 250
	cmdWILL = 251
	cmdWONT = 252
	cmdDO   = 253
	cmdDONT = 254
	cmdIAC  = 255
)

// The options that are not refused out of hand.
const (
	optBinary     = 0  // TRANSMIT-BINARY, RFC 856
	optEcho       = 1  // RFC 857
	optSGA        = 3  // SUPPRESS-GO-AHEAD, RFC 858
	optTType      = 24 // TERMINAL-TYPE, RFC 1091
	optNAWS       = 31 // RFC 1073
	optXDisplay   = 35 // X-DISPLAY-LOCATION, RFC 1096
	optNewEnviron = 39 // RFC 1572
)

// What stands inside of subnegotiations.
const (
	subIS   = 0
	subSEND = 1

	envVAR     = 0
	envVALUE   = 1
	envUSERVAR = 3
)

// Errors of a peer that goes too far. They are inside of a *fetch.Error of kind
// ErrTooLarge, and ErrProtocol.
var (
	errSubnegotiation = fmt.Errorf("a subnegotiation of more than %d octets", maxSubnegotiation)
	errLoop           = fmt.Errorf("the server negotiates without end: more than %d answers, or %d a second", maxAnswers, answerRate)
)

// Limits of a session.
const (
	maxSubnegotiation = 4 << 10
	maxAnswers        = 256
	answerRate        = 20 // a second, in the long run
	answerBurst       = 64 // and at first: a server may ask for all that it knows at once
)

// escape appends data as it goes over the wire: IAC is doubled, and on a network
// virtual terminal a CR that no LF follows gets a NUL (RFC 854 p. 11).
func escape(b, data []byte, binary bool) []byte {
	for i, c := range data {
		b = append(b, c)
		switch {
		case c == cmdIAC:
			b = append(b, cmdIAC)
		case c == '\r' && !binary && (i+1 == len(data) || data[i+1] != '\n'):
			b = append(b, 0)
		}
	}
	return b
}

// subnegotiation is "IAC SB option … IAC SE".
func subnegotiation(option byte, data ...byte) []byte {
	b := escape([]byte{cmdIAC, cmdSB, option}, data, true)
	return append(b, cmdIAC, cmdSE)
}
