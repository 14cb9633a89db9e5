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

// causeText is the text of a cause behind a kind, in the words of the network and
// not of package net; "" if the kind says it all.
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

// isWrapped reports whether err adds words to another error.
func isWrapped(err error) bool { return errors.Unwrap(err) != nil }

// operationText says which address could not be reached. Of connections that stand
// the address is known.
func operationText(err *net.OpError, kind ErrorKind) string {
	switch err.Op {
	case "dial", "read", "write", "readfrom", "writeto", "sendto":
	default: // such as an alert of TLS
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

// lookupText says which name has no address.
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
	cause := err.Err[strings.LastIndex(err.Err, ": ")+1:] // of the text of a *net.OpError
	return err.Name + ": " + server + ": " + strings.TrimSpace(cause)
}
