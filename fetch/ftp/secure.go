package ftp

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/fetch/internal/talk"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// Security selects the connections of ftp URLs that are encrypted, by AUTH TLS (RFC 4217).
type Security uint8

// The values of Security. With RequireControl and RequireTLS, an access to a server that refuses
// TLS on the control connection fails with kind ErrUnsupported before the user name is sent.
const (
	NoTLS          Security = iota // no encryption; ftps URLs are encrypted as with RequireTLS anyway
	TryTLS                         // encrypt what the server agrees to; no protection from an active attacker
	RequireControl                 // require TLS for commands and replies; data is not encrypted
	RequireTLS                     // require TLS for commands, replies and data
)

// ClearCommands selects how TLS is ended on the control connection (RFC 4217 §12.3).
type ClearCommands uint8

// The values of ClearCommands.
const (
	KeepTLS    ClearCommands = iota // TLS is not ended
	CCCPassive                      // the server sends close_notify; the client sends none
	CCCActive                       // the client sends close_notify first, then the server
)

// implicit reports whether the control connection starts with TLS.
func (a *access) implicit() bool { return a.loc.Secure }

// tlsSettings holds the TLS settings of a Fetcher.
type tlsSettings struct {
	Security
	clear ClearCommands
}

func (f *Fetcher) tlsSettings() tlsSettings { return tlsSettings{f.Security, f.ClearCommands} }

// protection is what TLS protects in a session.
type protection struct {
	config  *tls.Config // nil as long as the session is not under TLS
	private bool        // data connections are under TLS too
}

// settings returns the TLS configuration for all connections of a session. Each session
// has its own ClientSessionCache, because servers require data connections to resume the
// TLS session of the control connection.
func (s *session) settings() (*tls.Config, error) {
	if s.config == nil {
		config, err := s.access.env.TLSConfig()
		if err != nil {
			return nil, err
		}
		config.ClientSessionCache = tickets{tls.NewLRUClientSessionCache(0)}
		s.config = config
	}
	return s.config.Clone(), nil
}

// tickets caches the TLS sessions of a control connection. Package tls removes a session
// with which a handshake failed, even if the cause was that the server refused the
// transfer. The next data connection still needs it, so it is kept.
type tickets struct{ tls.ClientSessionCache }

func (t tickets) Put(server string, session *tls.ClientSessionState) {
	if session != nil {
		t.ClientSessionCache.Put(server, session)
	}
}

// wantsTLS reports whether AUTH TLS is to be sent.
func (a *access) wantsTLS() bool { return !a.implicit() && a.tlsSettings.Security != NoTLS }

var errNoTLS = errors.New("TLS is required")

// ErrNotResumed is wrapped by the error of a transfer that the server closed before the
// first byte, if the data connection had a new TLS session. Some servers require data
// connections to resume the TLS session of the control connection. Package crypto/tls can
// resume a TLS 1.2 session only by a ticket, which proftpd does not issue by default.
var ErrNotResumed = errors.New("the server may require data connections to resume the TLS session of the control connection " +
	"(use TLS 1.3; with TLS 1.2 the server must issue session tickets, or not require resumption: NoSessionReuseRequired in proftpd)")

// secure starts TLS on the control connection.
func (s *session) secure() error {
	if err := s.ctl.StartTLS(s.ctx, s.settings, s.access.loc.Host); err != nil {
		return s.access.fail(fetch.OpTLS, err)
	}
	s.ctl.Trace.Note("control connection encrypted with " + tls.VersionName(s.ctl.TLS.ConnectionState().Version))
	return nil
}

// handshake starts TLS on a data connection. It closes the connection on failure.
func (s *session) handshake(ctx context.Context, raw net.Conn) (net.Conn, error) {
	conn, err := wire.StartTLS(ctx, wire.BelowTLS(raw), s.settings, s.access.loc.Host)
	if err != nil {
		return nil, driver.Fail(fetch.OpTLS, nil, fetch.ErrOther, err)
	}
	return conn, nil
}

// protection returns the argument of PROT: P (private) or C (clear).
func (a *access) protection() string {
	if a.tlsSettings.Security == RequireControl {
		return "C"
	}
	return "P"
}

// startTLS sends AUTH TLS. Replies received before the handshake must not count after it
// (CVE-2021-22947).
func (l *login) startTLS() error {
	r, err := l.ctl.exchange("AUTH TLS")
	agreed := r.Class() == 2 || r.Code == 334 // 334 is sent by servers older than the RFC
	switch {
	case err != nil:
		return l.failure(err)
	case !agreed && l.access.tlsSettings.Security == TryTLS:
		l.ctl.Trace.Note("the server refused AUTH TLS; continuing without encryption")
		return nil
	case !agreed:
		return l.failure(&fetch.Error{Kind: fetch.ErrUnsupported, Code: r.Code, Reply: r.Text, Err: errNoTLS})
	case l.ctl.Waiting():
		return l.failure(l.ctl.Fail(talk.Violation("", "data in the clear between AUTH and TLS")))
	}
	return l.secure()
}

// protect sets the protection of data connections (RFC 4217 §9), and ends TLS on the
// control connection if ClearCommands says so.
func (l *login) protect() error {
	for _, command := range []string{"PBSZ 0", "PROT " + l.access.protection()} {
		r, err := l.ctl.exchange(command)
		switch {
		case err != nil:
			return l.failure(err)
		case r.Class() == 2:
			l.private = command == "PROT P"
		case command == "PROT P" && l.access.tlsSettings.Security == TryTLS && !l.access.implicit():
			l.ctl.Trace.Note("the server refused PROT P; data connections are not encrypted")
		case command == "PROT P":
			return l.failure(&fetch.Error{Kind: fetch.ErrUnsupported, Code: r.Code, Reply: r.Text, Err: errNoTLS})
		}
	}
	return l.clearCommands()
}

// clearCommands sends CCC and ends TLS on the control connection.
func (l *login) clearCommands() error {
	how := l.access.tlsSettings.clear
	if how == KeepTLS {
		return nil
	}
	r, err := l.ctl.exchange("CCC")
	if err != nil {
		return l.failure(err)
	}
	if r.Class() != 2 {
		l.ctl.Trace.Note("the server refused CCC; the control connection stays encrypted")
		return nil
	}
	return l.failure(l.ctl.StopTLS(l.ctx, how == CCCActive, defaultQuitTime))
}
