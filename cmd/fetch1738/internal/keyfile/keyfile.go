// Package keyfile reads private keys that are kept under a password, as OpenSSL
// writes them.
package keyfile

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// ErrNoPassword is the error of [Decrypt] where a key is encrypted and the password
// empty.
var ErrNoPassword = errors.New("the key is encrypted")

// Decrypt gives the blocks of a PEM file with its key decrypted, if it is not: one
// in PKCS #8 or, as older ones are, with the cipher in the header of its block.
func Decrypt(text []byte, password string) ([]byte, error) {
	var out bytes.Buffer
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		var err error
		switch {
		case block.Type == "ENCRYPTED PRIVATE KEY":
			block.Type = "PRIVATE KEY"
			block.Bytes, err = decryptPKCS8(block.Bytes, []byte(password))
		case block.Headers["DEK-Info"] != "":
			//lint:ignore SA1019 weak as it is, it is how older keys are kept
			block.Bytes, err = x509.DecryptPEMBlock(block, []byte(password))
			block.Headers = nil
		}
		if err != nil {
			if password == "" {
				return nil, ErrNoPassword
			}
			return nil, fmt.Errorf("the key cannot be decrypted: %w", err)
		}
		if err := pem.Encode(&out, block); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}
