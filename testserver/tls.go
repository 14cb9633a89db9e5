package testserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"time"
)

// NewTLS returns a configuration with a new certificate for 127.0.0.1, ::1 and localhost that outlasts
// any test. [Server.Roots] verifies it.
func NewTLS() *tls.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // there are no random numbers
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1738),
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().AddDate(1, 0, 0),
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

// Roots returns the certificates of TLS, so that a client trusts them.
func (s *Server) Roots() *x509.CertPool {
	roots := x509.NewCertPool()
	if s.TLS == nil {
		return roots
	}
	for _, c := range s.TLS.Certificates {
		if leaf, err := x509.ParseCertificate(c.Certificate[0]); err == nil {
			roots.AddCert(leaf)
		}
	}
	return roots
}
