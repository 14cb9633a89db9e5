package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
)

// causeText returns the text of a cause of an error of this kind, without the words of package net.
// It is "" if the kind says the same.
func causeText(err error, kind ErrorKind) string {
	switch err := err.(type) {
	case *net.OpError:
		return operationText(err, kind)
	case *net.DNSError:
		return lookupText(err, kind)
	case *os.SyscallError:
		return err.Err.Error()
	case tls.RecordHeaderError:
		return "the server does not speak TLS"
	case *tls.CertificateVerificationError:
		return "bad certificate: " + strings.TrimPrefix(err.Err.Error(), "x509: ")
	}
	switch {
	case kind == ErrTimeout && (err == context.DeadlineExceeded || errors.Is(err, os.ErrDeadlineExceeded) && !isWrapped(err)):
		return ""
	case kind == ErrCanceled && err == context.Canceled:
		return ""
	case kind == ErrConnectionFailed && err == io.EOF:
		return "closed by the server"
	}
	return err.Error()
}

// isWrapped reports whether err wraps another error.
func isWrapped(err error) bool { return errors.Unwrap(err) != nil }

// operationText returns the address that could not be reached, and the cause. It leaves out the
// address of an established TCP connection, which the user knows already.
func operationText(err *net.OpError, kind ErrorKind) string {
	switch err.Op {
	case "dial", "read", "write", "readfrom", "writeto", "sendto":
	default: // such as a TLS alert
		return err.Error()
	}
	if unknown, ok := err.Err.(*net.DNSError); ok {
		return lookupText(unknown, kind)
	}
	cause := causeText(err.Err, kind)
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
	server := strings.TrimSpace("name server " + err.Server)
	switch {
	case err.IsNotFound && kind == ErrUnresolved:
		return err.Name
	case err.IsNotFound:
		return err.Name + ": " + ErrUnresolved.Error()
	case err.IsTimeout:
		return err.Name + ": " + server + " does not answer"
	}
	cause := err.Err[strings.LastIndex(err.Err, ": ")+1:] // the last part of the text of a *net.OpError
	return err.Name + ": " + server + ": " + strings.TrimSpace(cause)
}
