package testcase

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
	"sync"
	"time"

	"github.com/fetch1738/fetch1738/testserver"
)

// Certificate is the one of all servers with TLS that a client is to trust. Making one takes longer
// than most cases.
var Certificate = sync.OnceValue(func() *tls.Config { return testserver.NewTLS() })

// Authority returns the certificates of a configuration in PEM.
func Authority(c *tls.Config) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificates[0].Certificate[0]})
}

// The certificates that a client must refuse. Each is made once.
var (
	OtherHost = sync.OnceValue(func() *tls.Config {
		return newCertificate("other.example", net.IPv4(127, 0, 0, 9), -time.Hour, 24*time.Hour)
	})
	Expired = sync.OnceValue(func() *tls.Config {
		return newCertificate("localhost", net.IPv4(127, 0, 0, 1), -48*time.Hour, -24*time.Hour)
	})
	Early = sync.OnceValue(func() *tls.Config {
		return newCertificate("localhost", net.IPv4(127, 0, 0, 1), 24*time.Hour, 48*time.Hour)
	})
	Stranger = sync.OnceValue(func() *tls.Config { return testserver.NewTLS() })
)

// newCertificate returns a configuration with a certificate for a name and an address, valid from
// and until times that are relative to now.
func newCertificate(name string, ip net.IP, from, until time.Duration) *tls.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // there are no random numbers
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1738), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, IPAddresses: []net.IP{ip},
		NotBefore: time.Now().Add(from), NotAfter: time.Now().Add(until),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}
