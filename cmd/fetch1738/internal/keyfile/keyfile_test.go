package keyfile

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// keys is a directory with one key in many forms; see its README.
const keys = "../../testdata/tls"

// read returns the text and the first PEM block of a file in keys.
func read(t testing.TB, name string) (text []byte, block *pem.Block) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(keys, name))
	if err != nil {
		t.Fatal(err)
	}
	if block, _ = pem.Decode(text); block == nil {
		t.Fatalf("%s is not in PEM", name)
	}
	return text, block
}

func TestDecrypt(t *testing.T) {
	plain, block := read(t, "client.key")
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8 := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	if got, err := Decrypt(plain, ""); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("a key without a password: %v", err)
	}
	for name, want := range map[string][]byte{"client.aes256": pkcs8, "client.sha1": pkcs8, "client.old": plain} {
		text, _ := read(t, name)
		if got, err := Decrypt(text, "secret"); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: another key, or %v", name, err)
		}
		if _, err := Decrypt(text, ""); !errors.Is(err, ErrNoPassword) {
			t.Errorf("%s without a password: %v", name, err)
		}
		if _, err := Decrypt(text, "canary"); err == nil || errors.Is(err, ErrNoPassword) {
			t.Errorf("%s with another password: %v", name, err)
		}
	}
}

// FuzzEncryptedKey decrypts arbitrary input.
func FuzzEncryptedKey(f *testing.F) {
	for _, name := range []string{"client.aes256", "client.sha1", "client.des3", "client.scrypt"} {
		_, block := read(f, name)
		f.Add(block.Bytes, []byte("secret"))
	}
	f.Fuzz(func(t *testing.T, der, password []byte) {
		if bytes.Contains(der, []byte{0x02, 0x03}) || bytes.Contains(der, []byte{0x02, 0x04}) {
			return // may need too many iterations for a fuzz test
		}
		plain, err := decryptPKCS8(der, password)
		if err == nil && len(plain) >= len(der) {
			t.Errorf("%d bytes from %d", len(plain), len(der))
		}
	})
}
