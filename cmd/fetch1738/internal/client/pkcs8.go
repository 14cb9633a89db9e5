package client

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"hash"
)

// Go reads PKCS #8 keys, but not encrypted ones. Libraries for that panic on a malformed key, or do not
// know all that OpenSSL writes.

// encryptedKey is EncryptedPrivateKeyInfo (RFC 5958 §3) with PBES2 and PBKDF2 (RFC 8018, appendix A).
type encryptedKey struct {
	Algorithm struct {
		ID         asn1.ObjectIdentifier
		Parameters struct {
			Derivation struct {
				ID         asn1.ObjectIdentifier
				Parameters struct {
					Salt       []byte
					Iterations int
					KeyLength  int                      `asn1:"optional"`
					PRF        pkix.AlgorithmIdentifier `asn1:"optional"`
				}
			}
			Cipher struct {
				ID asn1.ObjectIdentifier
				IV []byte
			}
		}
	}
	Data []byte
}

// maxIterations limits the work that a key file can cause. OpenSSL uses 2048 iterations; cautious
// users choose a million.
const maxIterations = 10_000_000

// decryptPKCS8 decrypts a PKCS #8 key that is encrypted by PBES2 with PBKDF2 and AES in CBC mode,
// as OpenSSL does.
func decryptPKCS8(der []byte, password string) ([]byte, error) {
	var key encryptedKey
	if rest, err := asn1.Unmarshal(der, &key); err != nil || len(rest) > 0 || key.Algorithm.ID.String() != "1.2.840.113549.1.5.13" {
		return nil, errors.New("not a PKCS #8 key that is encrypted by PBES2")
	}
	by, encryption := &key.Algorithm.Parameters.Derivation, &key.Algorithm.Parameters.Cipher
	size := map[string]int{"2.16.840.1.101.3.4.1.2": 16, "2.16.840.1.101.3.4.1.22": 24, "2.16.840.1.101.3.4.1.42": 32}[encryption.ID.String()]
	newHash := map[string]func() hash.Hash{
		"": sha1.New, "1.2.840.113549.2.7": sha1.New, "1.2.840.113549.2.9": sha256.New, "1.2.840.113549.2.10": sha512.New384, "1.2.840.113549.2.11": sha512.New,
	}[by.Parameters.PRF.Algorithm.String()]
	switch n := by.Parameters.Iterations; {
	case by.ID.String() != "1.2.840.113549.1.5.12":
		return nil, fmt.Errorf("key derivation %s is not supported, only PBKDF2", by.ID)
	case size == 0:
		return nil, fmt.Errorf("cipher %s is not supported, only AES-CBC", encryption.ID)
	case newHash == nil:
		return nil, fmt.Errorf("PBKDF2 with %s is not supported", by.Parameters.PRF.Algorithm)
	case len(encryption.IV) != aes.BlockSize, len(key.Data) == 0, len(key.Data)%aes.BlockSize != 0, n < 1, n > maxIterations:
		return nil, errors.New("invalid encryption parameters")
	}
	secret, err := pbkdf2.Key(newHash, password, by.Parameters.Salt, by.Parameters.Iterations, size)
	if err != nil {
		return nil, err
	}
	return decryptCBC(secret, encryption.IV, key.Data)
}

// decryptCBC decrypts data, whose length is a multiple of the block size, and removes the padding
// (RFC 8018 §6.1.1).
func decryptCBC(key, iv, data []byte) ([]byte, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	plain := make([]byte, len(data))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(plain, data)
	n := int(plain[len(plain)-1])
	if n < 1 || n > aes.BlockSize || !bytes.HasSuffix(plain, bytes.Repeat([]byte{byte(n)}, n)) {
		return nil, errors.New("wrong password")
	}
	return plain[:len(plain)-n], nil
}
