package ftp

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/internal/talk"
	"github.com/fetch1738/fetch1738/internal/wire"
)

// Security says what of an ftp URL is put under TLS by AUTH TLS (RFC 4217).
type Security uint8

// The degrees of Security. Those that demand TLS fail with the kind ErrUnsupported,
// before a name or password is sent, where the server refuses.
const (
	NoTLS          Security = iota // nothing; an ftps URL is RequireTLS all the same
	TryTLS                         // what the server agrees to
	RequireControl                 // commands and replies; the data go in the clear
	RequireTLS                     // all
)

// ClearCommands is how TLS is ended on a control connection (RFC 4217 §12.3).
type ClearCommands uint8

// The ways that curl knows.
const (
	KeepTLS    ClearCommands = iota // it is not
	CCCPassive                      // the server ends it
	CCCActive                       // we do, and the server after us
)

// implicit tells whether TLS begins with the connection.
func (a *access) implicit() bool { return a.loc.Secure }

// safety is what a Fetcher says of TLS.
type safety struct {
	Security
	clear ClearCommands
}

func (f *Fetcher) safety() safety { return safety{f.Security, f.ClearCommands} }

// settings are those of all TLS of a session. It has a ClientSessionCache of its
// own, because servers want the data connections to go on with the TLS session of
// the control connection.
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

// tickets are the TLS sessions of a control connection. Package tls forgets the
// one with which a handshake failed, which it also does where the server refuses
// the transfer meanwhile; but the next data connection needs it.
type tickets struct{ tls.ClientSessionCache }

func (t tickets) Put(server string, session *tls.ClientSessionState) {
	if session != nil {
		t.ClientSessionCache.Put(server, session)
	}
}

// wantsTLS tells whether an ftp URL asks for TLS.
func (a *access) wantsTLS() bool { return !a.implicit() && a.safety.Security != NoTLS }

// startTLS is AUTH TLS. What was said before does not count after (CVE-2021-22947).
func (s *session) startTLS() error {
	r, err := s.ctl.exchange("AUTH TLS")
	agreed := r.Class() == 2 || r.Code == 334 // of servers older than the RFC
	switch {
	case err != nil:
		return s.failure(err)
	case !agreed && s.access.safety.Security == TryTLS:
		s.ctl.Trace.Note("the server has no TLS; going on in the clear")
		return nil
	case !agreed:
		return s.failure(&fetch.Error{Kind: fetch.ErrUnsupported, Code: r.Code, Reply: r.Text, Err: errNoTLS})
	case s.ctl.Waiting():
		return s.failure(s.ctl.Fail(talk.Violation("", "octets between AUTH and TLS")))
	}
	return s.secure()
}

var errNoTLS = errors.New("TLS is required")

// ErrNotResumed is in the errors of transfers that a server broke off before the
// first octet, over a data connection that has a TLS session of its own. Some
// require that of the control connection. Package crypto/tls resumes sessions of
// TLS 1.2 by tickets only, which proftpd does not issue by default.
var ErrNotResumed = errors.New("the data connection has a new TLS session, and the server may require that of the control connection " +
	"(with TLS 1.2 only servers that issue session tickets can be satisfied; TLS 1.3 works, and so does NoSessionReuseRequired in proftpd)")

// secure puts the control connection under TLS.
func (s *session) secure() error {
	if err := s.ctl.StartTLS(s.ctx, s.settings, s.access.loc.Host); err != nil {
		return s.access.fail(fetch.OpTLS, err)
	}
	s.ctl.Trace.Note("the control connection is under " + tls.VersionName(s.ctl.TLS.ConnectionState().Version))
	return nil
}

// handshake puts TLS over a data connection, which is closed if that fails.
func (s *session) handshake(ctx context.Context, raw net.Conn) (net.Conn, error) {
	conn, err := wire.StartTLS(ctx, wire.BelowTLS(raw), s.settings, s.access.loc.Host)
	if err != nil {
		return nil, fetch.Fail(fetch.OpTLS, nil, fetch.ErrOther, err)
	}
	return conn, nil
}

// protection is the argument of PROT: private or clear.
func (a *access) protection() string {
	if a.safety.Security == RequireControl {
		return "C"
	}
	return "P"
}

// protect settles what becomes of the data connections (RFC 4217 §9), and of the
// control connection.
func (s *session) protect() error {
	for _, command := range []string{"PBSZ 0", "PROT " + s.access.protection()} {
		r, err := s.ctl.exchange(command)
		switch {
		case err != nil:
			return s.failure(err)
		case r.Class() == 2:
			s.private = command == "PROT P"
		case command == "PROT P" && s.access.safety.Security == TryTLS && !s.access.implicit():
			s.ctl.Trace.Note("the server has no TLS for data; they go in the clear")
		case command == "PROT P":
			return s.failure(&fetch.Error{Kind: fetch.ErrUnsupported, Code: r.Code, Reply: r.Text, Err: errNoTLS})
		}
	}
	return s.clearCommands()
}

// clearCommands is CCC.
func (s *session) clearCommands() error {
	how := s.access.safety.clear
	if how == KeepTLS {
		return nil
	}
	r, err := s.ctl.exchange("CCC")
	if err != nil {
		return s.failure(err)
	}
	if r.Class() != 2 {
		s.ctl.Trace.Note("the server keeps the control connection under TLS")
		return nil
	}
	return s.failure(s.ctl.StopTLS(s.ctx, how == CCCActive, quitTime))
}
