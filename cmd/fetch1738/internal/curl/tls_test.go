package curl

import (
	"crypto/tls"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// setCiphers accepts OpenSSL and IANA names and ignores unknown ones.
func TestCipherNames(t *testing.T) {
	c := New(stdio.Streams{}, Options())
	err := setCiphers(c, "ecdhe-rsa-aes128-gcm-sha256:AES256-SHA:ECDHE-ECDSA-CHACHA20-POLY1305,DES-CBC3-SHA NOSUCH TLS_RSA_WITH_AES_128_CBC_SHA256:ECDHE-RSA-AES256-SHA")
	want := []uint16{
		tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_256_CBC_SHA, tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
		tls.TLS_RSA_WITH_3DES_EDE_CBC_SHA, tls.TLS_RSA_WITH_AES_128_CBC_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA,
	}
	if err != nil || !slices.Equal(c.op.TLS.Ciphers, want) {
		t.Errorf("%v, %v", c.op.TLS.Ciphers, err)
	}
	if openSSLName("TLS_RSA_WITH_AES_128_CBC_SHA256") != "AES128-SHA256" || openSSLName("TLS_RSA_WITH_RC4_128_SHA") != "RC4-SHA" {
		t.Error(openSSLName("TLS_RSA_WITH_AES_128_CBC_SHA256"), openSSLName("TLS_RSA_WITH_RC4_128_SHA"))
	}
}

// The password after the certificate's file name is not part of the name.
func FuzzCertificateName(f *testing.F) {
	f.Add("a.pem:secret")
	f.Add(`a\:b\\c`)
	f.Fuzz(func(t *testing.T, text string) {
		c := New(stdio.Streams{}, Options())
		if err := setCertificate(c, text); err != nil {
			return
		}
		i := c.op.TLS.Identity
		if len(i.File)+len(i.Password) > len(text) || !strings.HasSuffix(text, i.Password) {
			t.Errorf("%q is %q, %q", text, i.File, i.Password)
		}
	})
}
