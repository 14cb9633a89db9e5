package client

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// loadIdentity reads the certificate and its key. It returns nil without --cert.
func loadIdentity(i *plan.Identity) (*tls.Certificate, error) {
	if i.File == "" {
		return nil, nil
	}
	keyFile := cmp.Or(i.KeyFile, i.File)
	chain, err := readPEM(i, i.File, i.DER, "CERTIFICATE")
	if err != nil {
		return nil, err
	}
	key, err := readPEM(i, keyFile, i.KeyDER, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	if key, err = decrypted(key, i.Password); err != nil {
		return nil, fmt.Errorf("%s: %w", keyFile, err)
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", i.File, keyFile, err)
	}
	return &pair, nil
}

// decrypted returns the blocks of a PEM file, with an encrypted key decrypted. The key may be in PKCS
// #8 or in the older form with the cipher in the header of its PEM block.
func decrypted(text []byte, password string) ([]byte, error) {
	var out bytes.Buffer
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		var err error
		switch {
		case block.Type == "ENCRYPTED PRIVATE KEY":
			block.Type = "PRIVATE KEY"
			block.Bytes, err = decryptPKCS8(block.Bytes, password)
		case block.Headers["DEK-Info"] != "":
			//lint:ignore SA1019 weak, but the format of older keys
			block.Bytes, err = x509.DecryptPEMBlock(block, []byte(password))
			block.Headers = nil
		}
		switch {
		case err != nil && password == "":
			return nil, errors.New("the key is encrypted; --pass gives its password")
		case err != nil:
			return nil, fmt.Errorf("cannot decrypt the key: %w", err)
		}
		if err := pem.Encode(&out, block); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// readPEM reads a file and converts DER to PEM.
func readPEM(i *plan.Identity, file string, der bool, label string) ([]byte, error) {
	b, err := stdio.ReadFile(file)
	if err != nil || !der {
		return b, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: label, Bytes: b}), nil
}
