package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/fetch1738/fetch1738/internal/wire"
	"github.com/fetch1738/fetch1738/locator"
)

// Error is the error of every operation on a resource in this module.
//
// errors.Is matches an Error with:
//
//   - its Kind, as in errors.Is(err, fetch.ErrTruncated)
//   - the errors of io/fs: [fs.ErrNotExist], [fs.ErrPermission] and [fs.ErrExist]
//   - [context.DeadlineExceeded] and [os.ErrDeadlineExceeded], if its Kind is ErrTimeout
//   - [context.Canceled], if its Kind is ErrCanceled
//   - [io.ErrUnexpectedEOF], if its Kind is ErrTruncated
//   - every error that Err wraps
type Error struct {
	// Op is the step or command that failed.
	Op Op
	// URL is the URL of the resource, without a password.
	URL string
	// Kind classifies the failure.
	Kind ErrorKind
	// Code is the server's reply code, or 0.
	Code int
	// Reply is the text of the server's reply, without the code.
	Reply string
	// Section is the section of RFC 1738 that the request violates, or "".
	Section string
	// Err is the cause, or nil.
	Err error
}

// ErrorKind classifies an [Error]. It is an error itself, so that errors.Is can look
// for it.
type ErrorKind uint8

// The kinds of Error.
const (
	ErrOther            ErrorKind = iota // none of the following
	ErrBadURL                            // the URL cannot be used: its syntax, or an encoded control character
	ErrUnsupported                       // the scheme has no Fetcher, or its Fetcher lacks the operation
	ErrRefused                           // forbidden by the policy; with package policy, Err is a *policy.Denied
	ErrNotFound                          // the resource does not exist on the server
	ErrPermission                        // the server denies access to the resource
	ErrUnauthenticated                   // the login failed, or is required and not available
	ErrUnresolved                        // the host name has no address
	ErrUnreachable                       // no connection could be established
	ErrTimeout                           // a time limit was exceeded
	ErrCanceled                          // the caller's context was canceled
	ErrTruncated                         // the body ended early
	ErrProtocol                          // the server violated the protocol
	ErrTooLarge                          // a size limit was exceeded
	ErrBadRange                          // Offset and Length cannot be satisfied, or were not
	ErrExists                            // the target exists and must not be replaced
	ErrBusy                              // the server cannot serve the request now; a retry may succeed
	ErrMoved                             // the resource is elsewhere; Err is a *Referral
	ErrTooManyHops                       // too many redirects or referrals
	ErrLocalIO                           // reading or writing on this host failed
	ErrConnectionFailed                  // an established connection broke
	ErrNoOctets                          // there is nothing to read: a search, a session or a mail address
)

var kindText = [...]string{
	ErrOther: "failed", ErrBadURL: "bad URL", ErrUnsupported: "not supported", ErrRefused: "refused by policy",
	ErrNotFound: "not found", ErrPermission: "permission denied", ErrUnauthenticated: "login denied",
	ErrUnresolved: "host not found", ErrUnreachable: "cannot connect", ErrTimeout: "timed out",
	ErrCanceled: "cancelled", ErrTruncated: "truncated", ErrProtocol: "protocol error",
	ErrTooLarge: "too large", ErrBadRange: "range not satisfiable", ErrExists: "already exists",
	ErrBusy: "server busy", ErrMoved: "moved", ErrTooManyHops: "too many redirects", ErrLocalIO: "local I/O error",
	ErrConnectionFailed: "connection broken", ErrNoOctets: "nothing to read",
}

// Error returns the kind in words, such as "not found".
func (k ErrorKind) Error() string {
	if int(k) < len(kindText) {
		return kindText[k]
	}
	return "error kind " + strconv.Itoa(int(k))
}

// A Referral names another Locator that has the resource (RFC 1738 §3.11, or an
// HTTP redirect to another scheme). It is the Err of an *[Error] of kind [ErrMoved].
type Referral struct {
	To locator.Locator
	// From is the provenance that a request for To must carry.
	From Provenance
	// Op is the operation that the server requests on To, such as "PUT" or "HEAD",
	// or the sending of a form. It has not been performed. If empty, To is to be
	// fetched. A Resolver follows a Referral that requests the Resolver's own
	// operation.
	Op string
}

func (r *Referral) Error() string {
	if r.Op != "" {
		return fmt.Sprintf("%s not performed; the server requests it at %s", r.Op, r.To.Redacted())
	}
	return "see " + r.To.Redacted()
}

// Error returns one printable line: "op url: reason". The reason is the server's
// reply if there is one, else the kind and the cause. Errors of the standard library
// that Err wraps, such as a [net.OpError], are reworded.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(string(e.Op))
	}
	if e.URL != "" {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(Printable(e.URL))
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	reason := false
	switch {
	case e.Code != 0 && e.Reply != "":
		fmt.Fprintf(&b, "%d %s", e.Code, Printable(e.Reply))
		reason = true
	case e.Code != 0:
		b.WriteString(strconv.Itoa(e.Code))
		reason = true
	case e.Reply != "":
		b.WriteString(Printable(e.Reply))
		reason = true
	}
	switch {
	case e.Err != nil && reason:
		fmt.Fprintf(&b, " (%s)", Printable(cmp.Or(causeText(e.Err, e.Kind), e.Kind.Error())))
	case e.Err != nil:
		text := Printable(causeText(e.Err, e.Kind))
		_, ours := e.Err.(*Error)
		switch {
		case text == "":
			b.WriteString(e.Kind.Error())
		case ours || e.Kind == ErrOther || e.Kind == ErrBadURL || e.Kind == ErrRefused, strings.HasPrefix(text, e.Kind.Error()), saysKind(e.Err, e.Kind):
			b.WriteString(text)
		default:
			b.WriteString(e.Kind.Error() + ": " + text)
		}
	case !reason:
		b.WriteString(e.Kind.Error())
	case e.Kind == ErrTruncated || e.Kind == ErrTimeout:
		fmt.Fprintf(&b, " (%s)", e.Kind.Error())
	}
	if e.Section != "" {
		fmt.Fprintf(&b, " (RFC 1738 section %s)", e.Section)
	}
	return b.String()
}

// saysKind reports whether the text of err, an error of the operating system, says the
// same as the kind.
func saysKind(err error, kind ErrorKind) bool {
	errno, ok := err.(syscall.Errno)
	switch {
	case !ok:
		return false
	case kind == ErrNotFound:
		return errno.Is(fs.ErrNotExist)
	case kind == ErrPermission:
		return errno.Is(fs.ErrPermission)
	}
	return kind == ErrExists && errno.Is(fs.ErrExist)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether Kind is ErrTimeout. It is the method of net.Error.
func (e *Error) Timeout() bool { return e.Kind == ErrTimeout }

// Is reports whether e matches target, as described at [Error].
func (e *Error) Is(target error) bool {
	switch target {
	case error(e.Kind):
		return true
	case fs.ErrNotExist:
		return e.Kind == ErrNotFound
	case fs.ErrPermission:
		return e.Kind == ErrPermission || e.Kind == ErrUnauthenticated
	case fs.ErrExist:
		return e.Kind == ErrExists
	case context.DeadlineExceeded, os.ErrDeadlineExceeded:
		return e.Kind == ErrTimeout
	case context.Canceled:
		return e.Kind == ErrCanceled
	case io.ErrUnexpectedEOF:
		return e.Kind == ErrTruncated
	}
	return false
}

// KindOf returns the kind of err: the Kind of the *[Error] that it is or wraps, the
// ErrorKind that it is or wraps, or the kind that corresponds to an error of the
// standard library, such as one of package net. For other errors it returns ErrOther.
func KindOf(err error) ErrorKind {
	var e *Error
	var kind ErrorKind
	var dns *net.DNSError
	var addr *net.AddrError
	var timeout interface{ Timeout() bool }
	var op *net.OpError
	switch {
	case err == nil:
		return ErrOther
	case errors.As(err, &e):
		return e.Kind
	case errors.As(err, &kind):
		return kind
	case errors.Is(err, context.Canceled):
		return ErrCanceled
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return ErrTimeout
	case errors.As(err, &timeout) && timeout.Timeout():
		return ErrTimeout
	case errors.As(err, &dns), errors.As(err, &addr) && wire.KnownAddrs(addr.Addr) == nil: // package net never looks up .onion
		return ErrUnresolved
	case errors.As(err, &op) && op.Op == "dial":
		return ErrUnreachable
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return ErrUnreachable
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ErrTruncated
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed),
		errors.Is(err, io.ErrClosedPipe), errors.Is(err, io.EOF), op != nil:
		return ErrConnectionFailed
	case errors.Is(err, fs.ErrNotExist):
		return ErrNotFound
	case errors.Is(err, fs.ErrPermission):
		return ErrPermission
	case errors.Is(err, fs.ErrExist):
		return ErrExists
	}
	return ErrOther
}

// maxPrintable is how many bytes of a server's text a message shows.
const maxPrintable = 256

// Printable returns s in a form for one line of a message. If s has bytes other than
// printable ASCII, it is quoted like a Go string. It is cut after 256 bytes.
func Printable(s string) string {
	cut := len(s) > maxPrintable
	if cut {
		s = s[:maxPrintable]
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			s = strconv.QuoteToASCII(s)
			break
		}
	}
	if cut {
		s += "..."
	}
	return s
}
