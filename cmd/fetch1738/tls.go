package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// tlsOptions are what the options say of TLS, for every scheme that has it.
type tlsOptions struct {
	insecure bool
	caFile   string // of --cacert
	caPath   string // of --capath
	identity identity
	min, max uint16   // versions; 0 is any
	ciphers  []uint16 // up to TLS 1.2; nil is the usual ones
	pins     string   // of --pinnedpubkey
}

// config is the TLS of an operation. It reads files, which is long for who needs no
// TLS: the authorities of a system take longer than all the rest of a short fetch.
func (o *tlsOptions) config() (*tls.Config, error) {
	c := &tls.Config{InsecureSkipVerify: o.insecure, MinVersion: o.min, MaxVersion: o.max, CipherSuites: o.ciphers}
	if o.min > o.max && o.max != 0 {
		return nil, &codedError{exitTLS, fmt.Errorf("--tls-max is less than %s", tls.VersionName(o.min))}
	}
	if o.min == 0 && o.max != 0 && o.max < tls.VersionTLS12 {
		c.MinVersion = tls.VersionTLS10 // what is asked for is below the least that is usual
	}
	var err error
	if !o.insecure {
		if c.RootCAs, err = o.roots(); err != nil {
			return nil, err
		}
	}
	own, err := o.identity.load()
	if err != nil {
		return nil, &codedError{exitOwnCertificate, err}
	}
	if own != nil {
		c.Certificates = []tls.Certificate{*own}
	}
	if o.pins != "" {
		pins := readPins(o.pins)
		c.VerifyConnection = func(s tls.ConnectionState) error { return checkPin(pins, s.PeerCertificates[0]) }
	}
	return c, nil
}

// roots are the authorities that are trusted: those of the options or else of
// curl's and OpenSSL's variables; nil is the system's.
func (o *tlsOptions) roots() (*x509.CertPool, error) {
	file, dir := o.caFile, o.caPath
	if file == "" && dir == "" {
		if file = os.Getenv("CURL_CA_BUNDLE"); file == "" {
			file, dir = os.Getenv("SSL_CERT_FILE"), os.Getenv("SSL_CERT_DIR")
		}
	}
	if file == "" && dir == "" {
		return nil, nil
	}
	pool := x509.NewCertPool()
	if file == "" { // a directory adds to what is trusted anyway
		if system, err := x509.SystemCertPool(); err == nil {
			pool = system
		}
	} else {
		pem, err := readBounded(file)
		if err != nil {
			return nil, &codedError{exitAuthorities, err}
		}
		if !pool.AppendCertsFromPEM(pem) {
			return nil, &codedError{exitAuthorities, fmt.Errorf("%s: no certificate in PEM", file)}
		}
	}
	addDirectory(pool, dir)
	return pool, nil
}

// addDirectory adds the certificates in the files of a directory. Where there is
// nothing there is nobody to trust.
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
		if pem, err := readBounded(name); err == nil {
			pool.AppendCertsFromPEM(pem)
		}
	}
}

// A pin is the SHA-256 of a public key, as SubjectPublicKeyInfo has it.
type pin [sha256.Size]byte

const pinPrefix = "sha256//"

// readPins reads "sha256//BASE64;sha256//BASE64...", or a file with the public
// key itself. What makes no sense matches no key.
func readPins(text string) (pins []pin) {
	if !strings.HasPrefix(text, pinPrefix) {
		b, err := readBounded(text)
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

func checkPin(pins []pin, server *x509.Certificate) error {
	key := sha256.Sum256(server.RawSubjectPublicKeyInfo)
	for _, p := range pins {
		if bytes.Equal(p[:], key[:]) {
			return nil
		}
	}
	return &codedError{exitPin, fmt.Errorf("the server's public key is not that of --pinnedpubkey, but %s%s", pinPrefix, base64.StdEncoding.EncodeToString(key[:]))}
}

// minTLS is one of --tlsv1.0 to --tlsv1.3.
func minTLS(version uint16) setter {
	return func(c *commandLine, value string) error {
		c.op.tls.min = version
		return always(c, value)
	}
}

func setMaxTLS(c *commandLine, value string) error {
	versions := map[string]uint16{"default": 0, "1.0": tls.VersionTLS10, "1.1": tls.VersionTLS11, "1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}
	max, known := versions[value]
	if !known {
		return errors.New("expected 1.0, 1.1, 1.2, 1.3 or default")
	}
	c.op.tls.max = max
	return nil
}

// setCiphers reads names of OpenSSL or of the standards, with ":" between them.
// As in OpenSSL, some that are unknown do no harm.
func setCiphers(c *commandLine, value string) error {
	known := make(map[string]uint16)
	for _, s := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		known[s.Name], known[openSSLName(s.Name)] = s.ID, s.ID
	}
	c.op.tls.ciphers = nil
	for name := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(":, ", r) }) {
		if id, ok := known[strings.ToUpper(name)]; ok {
			c.op.tls.ciphers = append(c.op.tls.ciphers, id)
		}
	}
	if c.op.tls.ciphers == nil {
		return &codedError{exitCiphers, fmt.Errorf("--ciphers %s: none of them is known; name ciphers such as ECDHE-RSA-AES128-GCM-SHA256, not groups of them", value)}
	}
	return nil
}

// openSSLName is OpenSSL's name of a cipher suite.
func openSSLName(name string) string {
	name = strings.TrimPrefix(name, "TLS_")
	return strings.NewReplacer(
		"3DES_EDE_CBC_", "DES-CBC3-", "CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305",
		"AES_128_CBC_", "AES128-", "AES_256_CBC_", "AES256-", "AES_128_", "AES128-", "AES_256_", "AES256-", "RC4_128_", "RC4-",
		"_WITH_", "-", "_", "-",
	).Replace(strings.TrimPrefix(name, "RSA_WITH_"))
}
