package ftp

import (
	"context"
	"crypto/tls"
	"net"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/driver"
	"github.com/fetch1738/fetch1738/internal/wire"
)

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
