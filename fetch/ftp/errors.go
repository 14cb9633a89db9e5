package ftp

import (
	"errors"
	"slices"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
)

// isClosed reports whether err, of the control connection, means that the server has closed it, without
// a reply or after 421.
func isClosed(err error) bool {
	kind := fetch.KindOf(err)
	return err != nil && (kind == fetch.ErrConnectionFailed || kind == fetch.ErrBusy || kind == fetch.ErrOther)
}

// refusal reports whether err is a negative reply after which the session continues.
func refusal(err error) bool {
	var e *fetch.Error
	return errors.As(err, &e) && e.Code >= 400 && e.Code != 421
}

// kindOf classifies a negative reply to a command (RFC 959 §4.2).
func kindOf(verb fetch.Op, r talk.Reply) fetch.ErrorKind {
	storing := verb == "STOR" || verb == "APPE" || verb == "MKD"
	listing := verb == "LIST" || verb == "NLST" || verb == "MLSD"
	switch r.Code {
	case 421:
		return fetch.ErrBusy
	case 425:
		return fetch.ErrUnreachable
	case 426:
		return fetch.ErrConnectionFailed
	case 450:
		if listing { // RFC 959 §5.4 has no 550 for these
			return fetch.ErrNotFound
		}
		return fetch.ErrBusy
	case 452, 552:
		return fetch.ErrTooLarge
	case 500, 501, 502, 504:
		if !isLoginCommand(verb) {
			return fetch.ErrUnsupported
		}
	case 503:
		if !isLoginCommand(verb) {
			return fetch.ErrProtocol
		}
	case 530, 532:
		if !isLoginCommand(verb) {
			return fetch.ErrPermission
		}
	case 550:
		// The code has several meanings; only the text tells them apart.
		if storing || saysDenied(r.Text) {
			return fetch.ErrPermission
		}
		return fetch.ErrNotFound
	case 551:
		if verb == "RETR" { // sent by ftp-srv; RFC 959: page type unknown
			return fetch.ErrNotFound
		}
	case 553:
		return fetch.ErrPermission
	case 554, 555:
		return fetch.ErrBadRange
	}
	switch {
	case verb == "REST":
		return fetch.ErrBadRange
	case r.Class() == 4:
		return fetch.ErrBusy // "Transient Negative": may be retried
	case isLoginCommand(verb):
		return fetch.ErrUnauthenticated
	}
	return fetch.ErrPermission
}

func isLoginCommand(verb fetch.Op) bool {
	return verb == "USER" || verb == "PASS" || verb == "ACCT"
}

func saysDenied(text string) bool {
	text = strings.ToLower(text)
	for _, words := range []string{"permission denied", "access denied", "access is denied", "not permitted"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// noFiles reports whether err is the reply of some servers to the listing of an empty directory, such
// as "550 No files found." of the BSD family and "550 No data sets found." of z/OS. CWD has shown that
// the directory exists.
func noFiles(err error) bool {
	e, ok := errors.AsType[*fetch.Error](err)
	return ok && (e.Code == 450 || e.Code == 550) && slices.ContainsFunc([]string{"no files", "no data sets", "no members", "no jobs"},
		func(none string) bool { return strings.HasPrefix(strings.ToLower(e.Reply), none) })
}

var errNoTLS = errors.New("TLS is required")

// ErrNotResumed is wrapped by the error of a transfer that the server closed before the
// first byte, if the data connection had a new TLS session. Some servers require data
// connections to resume the TLS session of the control connection. Package crypto/tls can
// resume a TLS 1.2 session only by a ticket, which proftpd does not issue by default.
var ErrNotResumed = errors.New("the server may require data connections to resume the TLS session of the control connection " +
	"(use TLS 1.3; with TLS 1.2 the server must issue session tickets, or not require resumption: NoSessionReuseRequired in proftpd)")

// refusesOption reports whether err is a refusal of "LIST -a" after which LIST may succeed.
func refusesOption(err error) bool {
	e, ok := errors.AsType[*fetch.Error](err)
	return ok && refusal(err) && e.Code != 425 && e.Code != 426
}

// refusesFacts reports whether err is a refusal of MLSD after which LIST may succeed: some servers do
// not implement it although FEAT lists it.
func refusesFacts(err error) bool {
	e, ok := errors.AsType[*fetch.Error](err)
	return ok && e.Code == 550 && !noFiles(err)
}
