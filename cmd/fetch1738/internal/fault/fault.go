// Package fault names what fails on this side of a connection: the command
// line, files and other local resources, and decisions made here. What fails
// with a URL or a server is a *fetch.Error.
package fault

import (
	"errors"
	"fmt"
)

// A Kind says what failed. Package exit has its exit code.
type Kind uint8

// The Kinds. There is no zero Kind.
const (
	Usage          Kind = iota + 1 // the command line
	Unsupported                    // a scheme or feature that is not available or switched off
	BadURL                         // a URL that cannot be used as it is
	NoSuchProxy                    // the text that names a proxy
	Unreachable                    // a proxy of a kind that cannot be used
	Partial                        // the transfer: it cannot be completed
	Status                         // an HTTP request, by its status
	Write                          // writing the output
	Read                           // reading a local file
	Timeout                        // the whole task, by its time limit
	Range                          // the range that was asked for
	TLS                            // the TLS settings
	Resume                         // resuming a transfer
	Aborted                        // another transfer, so that this one was given up
	NoOption                       // the name of a telnet option
	OptionSyntax                   // the syntax of an option's value
	OwnCertificate                 // our own certificate or its key
	Ciphers                        // the list of ciphers
	Login                          // obtaining a password
	Authorities                    // the file of certificate authorities
	Listing                        // reading the listing of a directory
	Pin                            // the server's public key: it is not the pinned one
)

// An Error is a failure with its Kind.
type Error struct {
	Kind Kind
	Err  error // never nil
}

// New is err as a failure of a Kind.
func New(kind Kind, err error) *Error { return &Error{kind, err} }

// Errorf is New with an error that fmt.Errorf makes.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{kind, fmt.Errorf(format, args...)}
}

// Usagef is a complaint about the command line.
func Usagef(format string, args ...any) *Error { return Errorf(Usage, format, args...) }

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives Err.
func (e *Error) Unwrap() error { return e.Err }

// KindOf is the Kind of the first Error in err's chain, 0 if there is none.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return 0
}
