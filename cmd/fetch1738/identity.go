package main

import (
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/keyfile"
)

// An identity is the certificate that a server may ask us for, and its key.
type identity struct {
	file, keyFile string // of --cert and --key; the key may be in the former
	password      string // of the key
	der, keyDER   bool   // in DER, not PEM
}

// setCertificate reads "FILE[:PASSWORD]"; "\:" is a colon in the file's name.
func setCertificate(c *commandLine, value string) error {
	if strings.HasPrefix(value, "pkcs11:") {
		return errors.New("a certificate comes from a file here, not from a token")
	}
	var name strings.Builder
	for i := 0; i < len(value); i++ {
		switch ch := value[i]; {
		case ch == '\\' && i+1 < len(value) && (value[i+1] == ':' || value[i+1] == '\\'):
			i++
			name.WriteByte(value[i])
		case ch == ':':
			c.op.tls.identity.file, c.op.tls.identity.password = name.String(), value[i+1:]
			return nil
		default:
			name.WriteByte(ch)
		}
	}
	c.op.tls.identity.file = name.String()
	return nil
}

// setFormat reads PEM or DER.
func setFormat(field func(*identity) *bool) setter {
	return func(c *commandLine, value string) error {
		switch strings.ToUpper(value) {
		case "PEM", "DER":
			*field(&c.op.tls.identity) = strings.EqualFold(value, "DER")
			return nil
		case "P12":
			return errors.New("PKCS #12 is not read here; openssl pkcs12 -in FILE -out FILE.pem makes PEM of it")
		}
		return errors.New("expected PEM or DER")
	}
}

// load reads the certificate and its key; nil is none.
func (i *identity) load() (*tls.Certificate, error) {
	if i.file == "" {
		return nil, nil
	}
	keyFile := i.keyFile
	if keyFile == "" {
		keyFile = i.file
	}
	chain, err := i.readPEM(i.file, i.der, "CERTIFICATE")
	if err != nil {
		return nil, err
	}
	key, err := i.readPEM(keyFile, i.keyDER, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	switch key, err = keyfile.Decrypt(key, i.password); {
	case errors.Is(err, keyfile.ErrNoPassword):
		return nil, fmt.Errorf("%s: %w; --pass gives its password", keyFile, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", keyFile, err)
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", i.file, keyFile, err)
	}
	return &pair, nil
}

// readPEM reads a file, and makes PEM of DER.
func (i *identity) readPEM(file string, der bool, label string) ([]byte, error) {
	b, err := readBounded(file)
	if err != nil || !der {
		return b, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: label, Bytes: b}), nil
}
