package ftp

import (
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/talk"
)

// fail makes err the error of an access, in which something is always known to
// be wrong with somebody.
func (a *access) fail(op fetch.Op, err error) *fetch.Error {
	e := fetch.Fail(op, a.loc, fetch.Other, err)
	if e.Kind == fetch.Other {
		e.Kind = fetch.ConnectionFailed
	}
	return e
}

// kindOf classifies a negative reply to a command (RFC 959 §4.2).
func kindOf(verb fetch.Op, r talk.Reply) fetch.ErrorKind {
	storing := verb == fetch.OpSTOR || verb == fetch.OpAPPE || verb == fetch.OpMKD
	listing := verb == fetch.OpLIST || verb == fetch.OpNLST || verb == fetch.OpMLSD
	switch r.Code {
	case 421:
		return fetch.Busy
	case 425:
		return fetch.Unreachable
	case 426:
		return fetch.ConnectionFailed
	case 450:
		if listing { // RFC 959 §5.4 has no 550 for these
			return fetch.NotFound
		}
		return fetch.Busy
	case 452, 552:
		return fetch.TooLarge
	case 500, 501, 502, 504:
		if !logsInBy(verb) {
			return fetch.Unsupported
		}
	case 503:
		if !logsInBy(verb) {
			return fetch.Protocol
		}
	case 530, 532:
		if !logsInBy(verb) {
			return fetch.Permission
		}
	case 550:
		// One code for many things; servers that tell more do it in words.
		if storing || denied(r.Text) {
			return fetch.Permission
		}
		return fetch.NotFound
	case 551:
		if verb == fetch.OpRETR { // of ftp-srv: RFC 959 has it for a type of page that nobody knows
			return fetch.NotFound
		}
	case 553:
		return fetch.Permission
	case 554, 555:
		return fetch.BadRange
	}
	switch {
	case verb == fetch.OpREST:
		return fetch.BadRange
	case r.Class() == 4:
		return fetch.Busy // "Transient Negative": again later
	case logsInBy(verb):
		return fetch.Unauthenticated
	}
	return fetch.Permission
}

func logsInBy(verb fetch.Op) bool {
	return verb == fetch.OpUSER || verb == fetch.OpPASS || verb == fetch.OpACCT
}

func denied(text string) bool {
	text = strings.ToLower(text)
	for _, words := range []string{"permission denied", "access denied", "access is denied", "not permitted"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
