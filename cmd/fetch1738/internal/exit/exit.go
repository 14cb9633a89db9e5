// Package exit determines the exit code of the program, which is curl's where curl
// has one, and has the meanings of the codes.
package exit

import (
	"context"
	"strings"
	"syscall"
)

// The exit codes. They are curl's, except as noted.
const (
	OK             = 0
	Unsupported    = 1
	NoResults      = 1 // of a search; grep's code
	Usage          = 2
	BadURL         = 3
	NoSuchProxy    = 5
	NoSuchHost     = 6
	Unreachable    = 7
	WeirdReply     = 8
	Denied         = 9
	Accept         = 10
	ACCT           = 11
	AcceptTime     = 12
	WeirdPASV      = 13
	Weird227       = 14
	TYPE           = 17
	Partial        = 18
	RETR           = 19
	Quote          = 21
	Status         = 22
	Write          = 23
	Upload         = 25
	Read           = 26
	Timeout        = 28
	PORT           = 30
	REST           = 31
	Range          = 33
	TLS            = 35
	Resume         = 36
	File           = 37
	Interface      = 45
	Aborted        = 42
	Hops           = 47
	NoOption       = 48
	OptionSyntax   = 49
	EmptyReply     = 52
	Send           = 55
	Receive        = 56
	OwnCertificate = 58
	Ciphers        = 59
	Certificate    = 60
	Coding         = 61
	TooLarge       = 63
	NoTLS          = 64
	Rewind         = 65
	Login          = 67
	RemoteFull     = 70
	Authorities    = 77
	NotFound       = 78
	PRET           = 84
	Listing        = 87
	Pin            = 90
	Proxy          = 97
	Refused        = 120 // by the policy; curl has no such code
	Interrupted    = 130 // as a shell reports SIGINT
	Terminated     = 143 // as a shell reports SIGTERM
)

// OfSignal returns the code for the signal that canceled ctx.
func OfSignal(ctx context.Context) int {
	if strings.HasPrefix(context.Cause(ctx).Error(), syscall.SIGTERM.String()) {
		return Terminated
	}
	return Interrupted
}
