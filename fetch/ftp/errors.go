package ftp

import (
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
)

// fail wraps err for this access. Kind Other becomes ConnectionFailed.
func (a *access) fail(op fetch.Op, err error) *fetch.Error {
	e := driver.Fail(op, a.loc, fetch.ErrOther, err)
	if e.Kind == fetch.ErrOther {
		e.Kind = fetch.ErrConnectionFailed
	}
	return e
}

// isClosed reports whether err, of the control connection, means that the server has closed it, without
// a reply or after 421.
func isClosed(err error) bool {
	kind := fetch.KindOf(err)
	return err != nil && (kind == fetch.ErrConnectionFailed || kind == fetch.ErrBusy || kind == fetch.ErrOther)
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
