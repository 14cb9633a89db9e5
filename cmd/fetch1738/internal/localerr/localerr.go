// Package localerr has the errors of this side of a connection: of the command line,
// files and other local resources, and of decisions made here. The error of a URL or
// a server is a *fetch.Error.
package localerr

import (
	"errors"
	"fmt"
)

// A Kind says what failed. Package exit has the exit codes.
type Kind uint8

// The Kinds. The zero Kind is not one of them.
const (
	Usage          Kind = iota + 1 // the command line
	Unsupported                    // a scheme or feature that is not available or disabled
	BadURL                         // a URL that cannot be used as it is
	NoSuchProxy                    // the URL of a proxy
	Unreachable                    // a proxy of a kind that cannot be used
	Partial                        // the transfer: it cannot be completed
	Status                         // an HTTP request, because of its status
	Write                          // writing the output
	Output                         // writing an output of the whole run, such as standard output, which ends the run
	Read                           // reading a local file
	Timeout                        // the whole task, by its time limit
	Range                          // the requested range
	TLS                            // the TLS settings
	Resume                         // resuming a transfer
	Aborted                        // another transfer, because of which this one was canceled
	NoOption                       // the name of a telnet option
	OptionSyntax                   // the syntax of an option's value
	OwnCertificate                 // the client certificate or its key
	Ciphers                        // the list of ciphers
	Login                          // obtaining a password
	Authorities                    // the file of certificate authorities
	Listing                        // reading the listing of a directory
	Pin                            // the server's public key, which is not the pinned one
)

// An Error is a failure with its Kind.
type Error struct {
	Kind Kind
	Err  error // never nil
}

// New returns err as an Error of a Kind.
func New(kind Kind, err error) *Error { return &Error{kind, err} }

// Errorf returns an Error of a Kind whose Err is made by fmt.Errorf.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{kind, fmt.Errorf(format, args...)}
}

// Usagef returns an Error of Kind Usage.
func Usagef(format string, args ...any) *Error { return Errorf(Usage, format, args...) }

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the Kind of the first Error in err's chain, or 0.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return 0
}
