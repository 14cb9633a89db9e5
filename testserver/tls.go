package testserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// NewTLS returns a configuration with a new certificate for 127.0.0.1, ::1, localhost and the given
// names and addresses that outlasts any test. [Server.Roots] verifies it; a client can also take
// [Server.CA].
func NewTLS(hosts ...string) *tls.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // there are no random numbers
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1738),
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().AddDate(1, 0, 0),
		Subject:               pkix.Name{CommonName: "fetch1738 test server"},
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		IsCA:                  true, // as clients require of what they are to trust (Python 3.13)
		BasicConstraintsValid: true,
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

// CA returns the certificates of TLS in PEM, for clients that trust a file.
func (s *Server) CA() []byte {
	var text []byte
	if s.TLS == nil {
		return nil
	}
	for _, c := range s.TLS.Certificates {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]})...)
	}
	return text
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
