package client

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

func TestIdentities(t *testing.T) {
	file := func(name string) string { return filepath.Join("../../testdata/tls", name) }
	cert := file("client.crt")
	want, err := tls.LoadX509KeyPair(cert, file("client.key"))
	if err != nil {
		t.Fatal(err)
	}
	for name, i := range map[string]plan.Identity{
		"plain":        {File: cert, KeyFile: file("client.key")},
		"DER":          {File: file("client.crt.der"), KeyFile: file("client.key.der"), DER: true, KeyDER: true},
		"AES-256":      {File: cert, KeyFile: file("client.aes256"), Password: "secret"},
		"AES-128 SHA1": {File: cert, KeyFile: file("client.sha1"), Password: "secret"},
		"old":          {File: cert, KeyFile: file("client.old"), Password: "secret"},
	} {
		got, err := loadIdentity(&i)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(got.Certificate[0], want.Certificate[0]) || !equalKeys(t, got, &want) {
			t.Errorf("%s: another identity", name)
		}
	}
	for text, i := range map[string]plan.Identity{
		"no such file":      {File: file("none")},
		"rather than a key": {File: cert},
		"--pass gives":      {File: cert, KeyFile: file("client.aes256")},
		"wrong":             {File: cert, KeyFile: file("client.aes256"), Password: "canary"},
		"only AES-CBC":      {File: cert, KeyFile: file("client.des3"), Password: "secret"},
		"only PBKDF2":       {File: cert, KeyFile: file("client.scrypt"), Password: "secret"},
		"cannot decrypt":    {File: cert, KeyFile: file("client.old"), Password: "canary"},
		"find any PEM data": {File: file("client.crt.der"), KeyFile: file("client.key")},
	} {
		if got, err := loadIdentity(&i); err == nil || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func equalKeys(t *testing.T, a, b *tls.Certificate) bool {
	t.Helper()
	one, err1 := x509.MarshalPKCS8PrivateKey(a.PrivateKey)
	other, err2 := x509.MarshalPKCS8PrivateKey(b.PrivateKey)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return bytes.Equal(one, other)
}
