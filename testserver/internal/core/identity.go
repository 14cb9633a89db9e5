package core

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"sync"
	"time"
)

// newIdentity creates a certificate for loopback addresses that outlasts any test, and the pool
// that trusts it.
func newIdentity() (tls.Certificate, *x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
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
		return tls.Certificate{}, nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, roots, nil
}

// onceIdentity returns a function that creates an identity when it is first called.
func onceIdentity() func() (tls.Certificate, *x509.CertPool, error) {
	var cert tls.Certificate
	var roots *x509.CertPool
	var err error
	var once sync.Once
	return func() (tls.Certificate, *x509.CertPool, error) {
		once.Do(func() { cert, roots, err = newIdentity() })
		return cert, roots, err
	}
}

// prepareTLS completes TLS: a configuration without a certificate gets the server's own.
func (m *Machine) prepareTLS(how Service) error {
	if m.ImplicitTLS && m.TLS == nil {
		m.TLS = new(tls.Config)
	}
	switch {
	case m.TLS == nil:
		return nil
	case how.Serve == nil:
		return errors.New("datagrams have no TLS")
	case len(m.TLS.Certificates) > 0 || m.TLS.GetCertificate != nil || m.TLS.GetConfigForClient != nil:
		return nil
	}
	cert, _, err := m.identity()
	m.TLS = m.TLS.Clone()
	m.TLS.Certificates = []tls.Certificate{cert}
	return err
}

// Roots returns the certificates that verify the server's own, as 127.0.0.1 and localhost.
func (m *Machine) Roots() *x509.CertPool {
	_, roots, _ := m.identity()
	return roots
}
