// Package keyfile decrypts private keys that OpenSSL encrypted with a password.
package keyfile

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
)

// ErrNoPassword is the error of [Decrypt] if the key is encrypted and the password is empty.
var ErrNoPassword = errors.New("the key is encrypted")

// Decrypt returns the blocks of a PEM file, with an encrypted key decrypted. The key may be in PKCS
// #8 or in the older form with the cipher in the header of its PEM block.
func Decrypt(text []byte, password string) ([]byte, error) {
	var out bytes.Buffer
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		var err error
		switch {
		case block.Type == "ENCRYPTED PRIVATE KEY":
			block.Type = "PRIVATE KEY"
			block.Bytes, err = decryptPKCS8(block.Bytes, []byte(password))
		case block.Headers["DEK-Info"] != "":
			//lint:ignore SA1019 weak, but the format of older keys
			block.Bytes, err = x509.DecryptPEMBlock(block, []byte(password))
			block.Headers = nil
		}
		if err != nil {
			if password == "" {
				return nil, ErrNoPassword
			}
			return nil, fmt.Errorf("cannot decrypt the key: %w", err)
		}
		if err := pem.Encode(&out, block); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}
