package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"net"
	"os"
	"strings"

	"github.com/fetch1738/fetch1738/internal/wire"
)

// causeText returns the text of a cause behind a kind, without the wording of
// package net and the standard library. It is "" if the kind says everything.
func causeText(err error, kind ErrorKind) string {
	switch err {
	case io.EOF:
		if kind == ErrConnectionFailed || kind == ErrTruncated {
			return "closed by the server"
		}
	case io.ErrUnexpectedEOF:
		if kind == ErrConnectionFailed {
			return "closed by the server"
		}
		if kind == ErrTruncated {
			return ""
		}
	}
	if text, ok := plainText(err, kind); ok {
		if text == kind.Error() {
			text = ""
		}
		return text
	}
	return withoutHTTP.Replace(withPlainCauses(err.Error(), err, kind))
}

// withoutHTTP removes the name of a package from the texts of its errors.
var withoutHTTP = strings.NewReplacer("net/http: HTTP/1.x transport connection broken: ", "", "net/http: ", "")

// withPlainCauses returns text, which is that of err, with the text of the standard
// library's errors that err wraps replaced by what they mean. An [Error] has no such
// text.
func withPlainCauses(text string, err error, kind ErrorKind) string {
	var inner []error
	switch err := err.(type) {
	case *Error:
		return text
	case interface{ Unwrap() error }:
		inner = []error{err.Unwrap()}
	case interface{ Unwrap() []error }:
		inner = err.Unwrap()
	}
	for _, cause := range inner {
		if cause == nil {
			continue
		}
		if plain, ok := plainText(cause, kind); ok {
			text = strings.ReplaceAll(text, cause.Error(), cmp.Or(plain, kind.Error()))
		} else {
			text = withPlainCauses(text, cause, kind)
		}
	}
	return text
}

// plainText returns what an error of the standard library means. It reports false
// for other errors.
func plainText(err error, kind ErrorKind) (string, bool) {
	switch err {
	case context.DeadlineExceeded, os.ErrDeadlineExceeded:
		return ErrTimeout.Error(), true
	case context.Canceled:
		return ErrCanceled.Error(), true
	case io.EOF:
		return "closed by the server", true
	case io.ErrUnexpectedEOF:
		return "the connection ended early", true
	case net.ErrClosed, io.ErrClosedPipe:
		return "the connection is closed", true
	}
	switch err := err.(type) {
	case *net.OpError:
		return operationText(err, kind), true
	case *net.DNSError:
		return lookupText(err, kind), true
	case *os.SyscallError:
		return err.Err.Error(), true
	case tls.RecordHeaderError:
		return "the server does not speak TLS", true
	case *tls.CertificateVerificationError:
		return "bad certificate: " + strings.TrimPrefix(err.Err.Error(), "x509: "), true
	}
	if err.Error() == "i/o timeout" { // of package net, which does not export it
		return ErrTimeout.Error(), true
	}
	return "", false
}

// operationText says which address could not be reached. The address of an
// established connection is known.
func operationText(err *net.OpError, kind ErrorKind) string {
	switch err.Op {
	case "dial", "read", "write", "readfrom", "writeto", "sendto", "route":
	case "socks connect":
		if err.Err == io.EOF {
			return "closed by the proxy"
		}
		return causeText(err.Err, kind)
	case "remote error":
		return "TLS alert from the server: " + strings.TrimPrefix(err.Err.Error(), "tls: ")
	default:
		return err.Error()
	}
	if unknown, ok := err.Err.(*net.DNSError); ok {
		return lookupText(unknown, kind)
	}
	cause := causeText(err.Err, kind)
	if kind == ErrTimeout && err.Timeout() {
		cause = "" // the kind says it
	}
	switch {
	case err.Addr == nil || err.Op != "dial" && !strings.HasPrefix(err.Net, "udp"):
		return cause
	case cause == "":
		return err.Addr.String()
	}
	return err.Addr.String() + ": " + cause
}

// lookupText returns the text of a failed lookup, with the name.
func lookupText(err *net.DNSError, kind ErrorKind) string {
	if err.IsNotFound && kind == ErrUnresolved {
		return err.Name
	}
	return wire.LookupText(err)
}
