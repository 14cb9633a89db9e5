package keyfile

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

// encryptedKey is EncryptedPrivateKeyInfo (RFC 5958 §3).
type encryptedKey struct {
	Algorithm pkix.AlgorithmIdentifier
	Data      []byte
}

// pbes2 and pbkdf2Params are defined in RFC 8018 (appendix A).
type pbes2 struct {
	KeyDerivation pkix.AlgorithmIdentifier
	Encryption    pkix.AlgorithmIdentifier
}

type pbkdf2Params struct {
	Salt       []byte
	Iterations int
	KeyLength  int                      `asn1:"optional"`
	PRF        pkix.AlgorithmIdentifier `asn1:"optional"`
}

// maxIterations limits the work that a key file can cause. OpenSSL uses 2048 iterations; cautious
// users choose a million.
const maxIterations = 10_000_000

// decryptPKCS8 decrypts a PKCS #8 key that is encrypted by PBES2 with PBKDF2 and AES in CBC mode,
// as OpenSSL does.
func decryptPKCS8(der, password []byte) ([]byte, error) {
	var key encryptedKey
	var scheme pbes2
	var derivation pbkdf2Params
	var iv []byte
	if rest, err := asn1.Unmarshal(der, &key); err != nil || len(rest) > 0 {
		return nil, errors.New("not an encrypted PKCS #8 key")
	}
	if !key.Algorithm.Algorithm.Equal(asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}) {
		return nil, fmt.Errorf("encryption %s is not supported, only PBES2", key.Algorithm.Algorithm)
	}
	if _, err := asn1.Unmarshal(key.Algorithm.Parameters.FullBytes, &scheme); err != nil {
		return nil, err
	}
	if !scheme.KeyDerivation.Algorithm.Equal(asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}) {
		return nil, fmt.Errorf("key derivation %s is not supported, only PBKDF2", scheme.KeyDerivation.Algorithm)
	}
	if _, err := asn1.Unmarshal(scheme.KeyDerivation.Parameters.FullBytes, &derivation); err != nil {
		return nil, err
	}
	size, ok := map[string]int{"2.16.840.1.101.3.4.1.2": 16, "2.16.840.1.101.3.4.1.22": 24, "2.16.840.1.101.3.4.1.42": 32}[scheme.Encryption.Algorithm.String()]
	if !ok {
		return nil, fmt.Errorf("cipher %s is not supported, only AES-CBC", scheme.Encryption.Algorithm)
	}
	if _, err := asn1.Unmarshal(scheme.Encryption.Parameters.FullBytes, &iv); err != nil {
		return nil, err
	}
	newHash, err := derivation.hash()
	if err != nil {
		return nil, err
	}
	if len(iv) != aes.BlockSize || len(key.Data) == 0 || len(key.Data)%aes.BlockSize != 0 || derivation.Iterations < 1 || derivation.Iterations > maxIterations {
		return nil, errors.New("invalid encryption parameters")
	}
	secret, err := pbkdf2.Key(newHash, string(password), derivation.Salt, derivation.Iterations, size)
	if err != nil {
		return nil, err
	}
	return decryptCBC(secret, iv, key.Data)
}

// hash returns the hash function of the HMAC that derives the key.
func (p pbkdf2Params) hash() (func() hash.Hash, error) {
	switch p.PRF.Algorithm.String() {
	case "", "1.2.840.113549.2.7": // the default
		return sha1.New, nil
	case "1.2.840.113549.2.9":
		return sha256.New, nil
	case "1.2.840.113549.2.10":
		return sha512.New384, nil
	case "1.2.840.113549.2.11":
		return sha512.New, nil
	}
	return nil, fmt.Errorf("PBKDF2 with %s is not supported", p.PRF.Algorithm)
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
