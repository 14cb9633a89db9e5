package nntp

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
)

// fail wraps err for this access. An error of unknown kind becomes ErrConnectionFailed.
func (a *access) fail(op fetch.Op, err error) *fetch.Error {
	e := driver.Fail(op, a.req.Locator, fetch.ErrOther, err)
	e.URL = a.req.Locator.Redacted() // the requested URL, not that of the configured server
	if e.Kind == fetch.ErrOther {
		e.Kind = fetch.ErrConnectionFailed
	}
	return e
}

// wrapError wraps the error of an operation and masks secrets in its reply. If the connection has failed
// after a 400, that is the reason.
func (s *session) wrapError(op fetch.Op, err error) error {
	if s.leaving != nil && s.Err != nil && fetch.KindOf(err) != fetch.ErrTimeout && s.ctx.Err() == nil {
		err = s.leaving
	}
	e := s.access.fail(op, err)
	e.Reply = s.Mask(e.Reply)
	return e
}

// replyError returns the error for a reply with an unwanted code.
func (s *session) replyError(verb fetch.Op, r talk.Reply) error {
	if r.Class() <= 3 {
		return s.unexpected(verb, r)
	}
	return s.wrapError(verb, &fetch.Error{Kind: kindOf(verb, r), Code: r.Code, Reply: r.Text})
}

// unexpected returns the error for a reply that does not fit the command. The session is unusable
// afterwards, because later replies may be out of step too.
func (s *session) unexpected(verb fetch.Op, r talk.Reply) error {
	return s.violation(verb, fmt.Sprint(r.Code, " ", r.Text), talk.Unexpected(verb))
}

// violation returns the error for a breach of the protocol. The session is unusable afterwards.
func (s *session) violation(op fetch.Op, text, what string) error {
	return s.wrapError(op, s.Fail(talk.Violation(text, what)))
}

// canceled returns the error of an access whose context is done, else nil.
func (s *session) canceled(op fetch.Op) error {
	if err := s.ctx.Err(); err != nil {
		return s.wrapError(op, s.Fail(err))
	}
	return nil
}

// kindOf classifies a negative reply to a command (RFC 3977 §3.2, RFC 4643).
func kindOf(verb fetch.Op, r talk.Reply) fetch.ErrorKind {
	switch r.Code {
	case 400, 403, 436:
		return fetch.ErrBusy
	case 411, 420, 421, 422, 423, 430:
		return fetch.ErrNotFound
	case 412: // no group selected, although the client has selected one
		return fetch.ErrProtocol
	case 435:
		return fetch.ErrExists
	case 437, 440, 483, 502: // 483 requires TLS
		return fetch.ErrPermission
	case 441:
		if strings.Contains(r.Text, "435") || strings.Contains(strings.ToLower(r.Text), "duplicate") {
			return fetch.ErrExists
		}
		return fetch.ErrPermission
	case 480, 481, 482:
		return fetch.ErrUnauthenticated
	case 401, 500, 501, 503, 580:
		return fetch.ErrUnsupported
	}
	switch {
	case verb == "AUTHINFO":
		return fetch.ErrUnauthenticated
	case r.Class() == 4:
		return fetch.ErrBusy
	}
	return fetch.ErrPermission
}

// isUnsupported reports whether err is a reply that the command is not supported or not permitted.
func isUnsupported(err error) bool { c := code(err); return 500 <= c && c <= 503 }

// isMissing reports whether the code of a reply says that there is no such article.
func isMissing(code int) bool { return code == 420 || code == 423 || code == 430 }

// code returns the code of the negative reply in err, or 0.
func code(err error) int {
	if e, ok := errors.AsType[*fetch.Error](err); ok {
		return e.Code
	}
	return 0
}
