package fetch

import (
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

	"github.com/fetch1738/fetch1738/locator"
)

// Error is how everything in this module fails that has to do with a resource.
//
// errors.Is matches an Error with its Kind (errors.Is(err, fetch.ErrTruncated)),
// with the sentinels of io/fs ([fs.ErrNotExist], [fs.ErrPermission],
// [fs.ErrExist]), with [context.DeadlineExceeded] and [os.ErrDeadlineExceeded]
// for ErrTimeout, with [io.ErrUnexpectedEOF] for ErrTruncated, and with whatever Err
// wraps.
type Error struct {
	// Op is what was being done.
	Op Op
	// URL is the locator, redacted.
	URL string
	// Kind classifies the failure.
	Kind ErrorKind
	// Code is the server's reply code (FTP, HTTP), or 0.
	Code int
	// Reply is the server's own text, without the code.
	Reply string
	// Section of RFC 1738 that the request breaks, or "".
	Section string
	// Err is the cause, if another error is.
	Err error
}

// ErrorKind classifies an [Error]; it is itself an error, so that errors.Is can
// look for it.
type ErrorKind uint8

// The kinds of Error.
const (
	ErrOther            ErrorKind = iota // none of the below
	ErrBadURL                            // the locator cannot be used: syntax, encoded control octets
	ErrUnsupported                       // no Fetcher for the scheme, or one that lacks the operation
	ErrRefused                           // the policy forbids it; Err is a *policy.Denied where that is in use
	ErrNotFound                          // the server knows no such resource
	ErrPermission                        // the server denies access to the resource
	ErrUnauthenticated                   // login failed, or is needed and cannot be given
	ErrUnresolved                        // the host's name has no address
	ErrUnreachable                       // no connection could be made
	ErrTimeout                           // a limit of time ran out
	ErrCanceled                          // the caller's context was cancelled
	ErrTruncated                         // the body ended before its end
	ErrProtocol                          // the server broke its protocol
	ErrTooLarge                          // a limit of size was passed
	ErrBadRange                          // Offset and Length cannot be satisfied
	ErrExists                            // the target exists and must not be replaced
	ErrBusy                              // the server cannot serve now; trying later may help
	ErrMoved                             // the resource is elsewhere; Err is a *Referral
	ErrTooManyHops                       // too many redirects or referrals
	ErrLocalIO                           // reading or writing on this side failed
	ErrConnectionFailed                  // an established connection broke
	ErrNoOctets                          // there is nothing to read: a search, a service, somebody's address
)

var kindText = [...]string{
	ErrOther: "failed", ErrBadURL: "bad URL", ErrUnsupported: "not supported", ErrRefused: "refused by policy",
	ErrNotFound: "not found", ErrPermission: "permission denied", ErrUnauthenticated: "login denied",
	ErrUnresolved: "host not found", ErrUnreachable: "cannot connect", ErrTimeout: "timed out",
	ErrCanceled: "cancelled", ErrTruncated: "cut short", ErrProtocol: "protocol violated",
	ErrTooLarge: "too large", ErrBadRange: "range not satisfiable", ErrExists: "already exists",
	ErrBusy: "server busy", ErrMoved: "moved", ErrTooManyHops: "too many hops", ErrLocalIO: "local I/O failed",
	ErrConnectionFailed: "connection broken", ErrNoOctets: "nothing to read",
}

// Error gives the kind in words, such as "not found".
func (k ErrorKind) Error() string {
	if int(k) < len(kindText) {
		return kindText[k]
	}
	return "error kind " + strconv.Itoa(int(k))
}

// Referral says that a resource is to be had by another Locator (RFC 1738
// §3.11; an HTTP redirect to another scheme). It comes inside an *[Error] of
// kind [ErrMoved].
type Referral struct {
	To locator.Locator
	// From is the provenance that a request for To must carry.
	From Provenance
	// Op is what the server wants to be done to To, such as "PUT" or "HEAD", or a
	// form to be sent there: nothing has been. It is empty where To is to be fetched.
	// A Resolver follows what asks for the operation that it is about.
	Op string
}

func (r *Referral) Error() string {
	if r.Op != "" {
		return fmt.Sprintf("not done; the server wants the %s at %s", r.Op, r.To.Redacted())
	}
	return "see " + r.To.Redacted()
}

// Error is one printable line: "op url: reason". The reason is the server's
// reply if there is one, else the cause, else the kind.
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
		fmt.Fprintf(&b, " (%s)", Printable(e.Err.Error()))
	case e.Err != nil:
		text := Printable(causeText(e.Err, e.Kind))
		_, ours := e.Err.(*Error)
		switch {
		case text == "":
			b.WriteString(e.Kind.Error())
		case ours || e.Kind == ErrOther || e.Kind == ErrBadURL || e.Kind == ErrRefused:
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

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether a limit of time ran out, as net.Error does.
func (e *Error) Timeout() bool { return e.Kind == ErrTimeout }

// Is implements the correspondence described at [Error].
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

// Fail makes the *[Error] of a failed operation on l. An err that is or wraps
// an *Error already is returned as that, with Op and URL filled in where they
// are missing; for others the kind is derived from err when kind is Other.
func Fail(op Op, l locator.Locator, kind ErrorKind, err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		c := *e
		if c.Op == "" {
			c.Op = op
		}
		if c.URL == "" && l != nil {
			c.URL = l.Redacted()
		}
		return &c
	}
	e = &Error{Op: op, Kind: kind, Err: err}
	if l != nil {
		e.URL = l.Redacted()
	}
	if kind == ErrOther {
		e.Kind = KindOf(err)
	}
	return e
}

// KindOf classifies an error of the standard library, mostly one of package
// net; for an *[Error] it is its Kind, for an ErrorKind itself.
func KindOf(err error) ErrorKind {
	var e *Error
	var kind ErrorKind
	var dns *net.DNSError
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
	case errors.As(err, &dns):
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

// maxPrintable bounds what a message shows of a peer's text.
const maxPrintable = 256

// Printable is s fit for one line of a message: when it holds anything but
// printable ASCII it is quoted as Go does, and it is cut after 256 octets.
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
