package client

import (
	"bytes"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
)

// FuzzEncryptedKey decrypts arbitrary input.
func FuzzEncryptedKey(f *testing.F) {
	for _, name := range []string{"client.aes256", "client.sha1", "client.des3", "client.scrypt"} {
		text, err := os.ReadFile(filepath.Join("../../testdata/tls", name))
		block, _ := pem.Decode(text)
		if block == nil {
			f.Fatal(name, err)
		}
		f.Add(block.Bytes, "secret")
	}
	f.Fuzz(func(t *testing.T, der []byte, password string) {
		if bytes.Contains(der, []byte{0x02, 0x03}) || bytes.Contains(der, []byte{0x02, 0x04}) {
			return // may need too many iterations for a fuzz test
		}
		plain, err := decryptPKCS8(der, password)
		if err == nil && len(plain) >= len(der) {
			t.Errorf("%d bytes from %d", len(plain), len(der))
		}
	})
}
