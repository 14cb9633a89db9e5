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

// The options that are not always refused.
const (
	optBinary     = 0  // TRANSMIT-BINARY, RFC 856
	optEcho       = 1  // RFC 857
	optSGA        = 3  // SUPPRESS-GO-AHEAD, RFC 858
	optTType      = 24 // TERMINAL-TYPE, RFC 1091
	optNAWS       = 31 // RFC 1073
	optXDisplay   = 35 // X-DISPLAY-LOCATION, RFC 1096
	optNewEnviron = 39 // RFC 1572
)

// The codes inside subnegotiations.
const (
	subIS   = 0
	subSEND = 1

	envVAR     = 0
	envVALUE   = 1
	envUSERVAR = 3
)

// Errors of a server that exceeds a limit. Session.fail wraps them as ErrTooLarge and ErrProtocol.
var (
	errSubnegotiation = fmt.Errorf("the server sent a subnegotiation of more than %d bytes", maxSubnegotiation)
	errLoop           = fmt.Errorf("the server negotiates too often: the limit is %d answers, and %d per second", maxAnswers, answerRate)
)

// Limits of a session.
const (
	maxSubnegotiation = 4 << 10
	maxAnswers        = 256
	answerRate        = 20 // per second, after the burst
	answerBurst       = 64 // at first: a server may request all options that it supports at once
)

// escape appends data in its wire form. IAC is doubled. Unless binary is set, a CR without a
// following LF gets a NUL, as on a network virtual terminal (RFC 854 p. 11).
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

// subnegotiation returns "IAC SB option … IAC SE".
func subnegotiation(option byte, data ...byte) []byte {
	b := escape([]byte{cmdIAC, cmdSB, option}, data, true)
	return append(b, cmdIAC, cmdSE)
}
