package client

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// tlsConfig returns the TLS settings of an Operation. It is called only when TLS is
// needed, as it reads files: the certificate authorities of a system take longer than
// the rest of a short fetch.
func tlsConfig(o *plan.TLS) (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: o.Insecure, MinVersion: o.Min, MaxVersion: o.Max, CipherSuites: o.Ciphers}
	if o.Min > o.Max && o.Max != 0 {
		return nil, localerr.Errorf(localerr.TLS, "--tls-max is lower than the minimum, %s", tls.VersionName(o.Min))
	}
	if o.Min == 0 && o.Max != 0 && o.Max < tls.VersionTLS12 {
		c.MinVersion = tls.VersionTLS10 // the requested maximum is below the default minimum
	}
	var err error
	if !o.Insecure {
		if c.RootCAs, err = trustedRoots(o); err != nil {
			return nil, err
		}
	}
	own, err := loadIdentity(&o.Identity)
	if err != nil {
		return nil, localerr.New(localerr.OwnCertificate, err)
	}
	if own != nil {
		c.Certificates = []tls.Certificate{*own}
	}
	if o.Pins != "" {
		pins := readPins(o.Pins)
		c.VerifyConnection = func(s tls.ConnectionState) error { return checkPin(pins, s.PeerCertificates[0]) }
	}
	return c, nil
}

// trustedRoots returns the trusted certificate authorities: those of the options or
// else of the environment variables of curl and OpenSSL. nil means the system's.
func trustedRoots(o *plan.TLS) (*x509.CertPool, error) {
	file, dir := o.CAFile, o.CAPath
	if file == "" && dir == "" {
		if file = os.Getenv("CURL_CA_BUNDLE"); file == "" {
			file, dir = os.Getenv("SSL_CERT_FILE"), os.Getenv("SSL_CERT_DIR")
		}
	}
	if file == "" && dir == "" {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if file == "" { // a directory adds to the system's
		if system, err := x509.SystemCertPool(); err == nil {
			pool = system
		}
	} else {
		pem, err := stdio.ReadFile(file)
		if err != nil {
			return nil, localerr.New(localerr.Authorities, err)
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, localerr.Errorf(localerr.Authorities, "%s: no PEM certificate found", file)
		}
	}
	addDirectory(pool, dir)
	return pool, nil
}

// addDirectory adds the certificates in the files of a directory. A directory that
// cannot be read adds none.
func addDirectory(pool *x509.CertPool, dir string) {
	if dir == "" {
		return
	}
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		name := filepath.Join(dir, entry.Name())
		if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if pem, err := stdio.ReadFile(name); err == nil {
			pool.AppendCertsFromPEM(pem)
		}
	}
}

// A pin is the SHA-256 of a SubjectPublicKeyInfo.
type pin [sha256.Size]byte

const pinPrefix = "sha256//"

// readPins reads "sha256//BASE64;sha256//BASE64...", or a file with the public key
// itself. An invalid value matches no key.
func readPins(text string) (pins []pin) {
	if !strings.HasPrefix(text, pinPrefix) {
		b, err := stdio.ReadFile(text)
		if err != nil {
			return nil
		}
		if block, _ := pem.Decode(b); block != nil {
			b = block.Bytes
		}
		return []pin{sha256.Sum256(b)}
	}
	for word := range strings.SplitSeq(text, ";") {
		b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(word, pinPrefix))
		if err == nil && len(b) == sha256.Size {
			pins = append(pins, pin(b))
		}
	}
	return pins
}

// checkPin returns an error unless the public key of the server is one of pins.
func checkPin(pins []pin, server *x509.Certificate) error {
	key := sha256.Sum256(server.RawSubjectPublicKeyInfo)
	for _, p := range pins {
		if bytes.Equal(p[:], key[:]) {
			return nil
		}
	}
	return localerr.Errorf(localerr.Pin, "the server's public key does not match --pinnedpubkey; it is %s%s", pinPrefix, base64.StdEncoding.EncodeToString(key[:]))
}
