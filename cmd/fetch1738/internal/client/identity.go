package client

import (
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/keyfile"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// loadIdentity reads the certificate and its key. It returns nil without --cert.
func loadIdentity(i *plan.Identity) (*tls.Certificate, error) {
	if i.File == "" {
		return nil, nil
	}
	keyFile := i.KeyFile
	if keyFile == "" {
		keyFile = i.File
	}
	chain, err := readPEM(i, i.File, i.DER, "CERTIFICATE")
	if err != nil {
		return nil, err
	}
	key, err := readPEM(i, keyFile, i.KeyDER, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	switch key, err = keyfile.Decrypt(key, i.Password); {
	case errors.Is(err, keyfile.ErrNoPassword):
		return nil, fmt.Errorf("%s: %w; --pass gives its password", keyFile, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", keyFile, err)
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", i.File, keyFile, err)
	}
	return &pair, nil
}

// readPEM reads a file and converts DER to PEM.
func readPEM(i *plan.Identity, file string, der bool, label string) ([]byte, error) {
	b, err := stdio.ReadFile(file)
	if err != nil || !der {
		return b, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: label, Bytes: b}), nil
}
