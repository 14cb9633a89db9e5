package ftpservers

import (
	"crypto/tls"
	"os"
	"testing"

	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// startOwn runs the server of package testserver, as fetch1738 serve does.
func startOwn(tb testing.TB, s *Server) {
	tb.Helper()
	var config *tls.Config
	if s.TLS != "" {
		pair, err := tls.LoadX509KeyPair(s.PEM, s.PEM)
		check(tb, err)
		config = &tls.Config{Certificates: []tls.Certificate{pair}}
	}
	root, err := os.OpenRoot(s.Root)
	check(tb, err)
	tb.Cleanup(func() { root.Close() })
	server, err := ftptest.Start(tb.Context(), s.Addr, func(f *ftptest.Server) {
		f.Content, f.Users = root.FS(), map[string]testserver.User{User: {Password: Password}}
		f.TLS, f.ImplicitTLS, f.ReuseTLS = config, s.TLS == Implicit, s.TLS == Explicit
	})
	check(tb, err)
	tb.Cleanup(func() { check(tb, server.Close()) })
	s.uploads = server.Uploads
}
