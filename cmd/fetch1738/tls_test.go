package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/stdio"
)

// startSecure starts servers with a certificate nobody trusts: $HTTPS, $HTTPS12
// which speaks no later TLS than 1.2 and names the cipher, and $HTTPSAUTH which
// wants to know who asks and names them. ca.pem and pub.pem have the certificate
// and its key, $PIN is the latter's hash; $TLSDATA is testdata/tls. config has the
// same certificate.
func startSecure(env *testscript.Env) (config *tls.Config, end func(), err error) {
	data, err := filepath.Abs("testdata/tls")
	if err != nil {
		return nil, nil, err
	}
	env.Setenv("TLSDATA", data)
	answers := map[string]func(*http.Request) string{
		"HTTPS":     func(*http.Request) string { return "secure" },
		"HTTPS12":   func(r *http.Request) string { return tls.CipherSuiteName(r.TLS.CipherSuite) },
		"HTTPSAUTH": func(r *http.Request) string { return "hello, " + r.TLS.PeerCertificates[0].Subject.CommonName },
	}
	configs := map[string]*tls.Config{"HTTPS12": {MaxVersion: tls.VersionTLS12}, "HTTPSAUTH": {ClientAuth: tls.RequireAnyClientCert}}
	var servers []*httptest.Server
	for name, answer := range answers {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, answer(r)) }))
		s.TLS, s.Config.ErrorLog = configs[name], log.New(io.Discard, "", 0)
		s.StartTLS()
		servers = append(servers, s)
		env.Setenv(name, s.URL)
		env.Setenv(name+"PORT", s.URL[strings.LastIndexByte(s.URL, ':')+1:])
	}
	end = func() {
		for _, s := range servers {
			s.Close()
		}
	}
	certificate := servers[0].Certificate()
	key := certificate.RawSubjectPublicKeyInfo
	hash := sha256.Sum256(key)
	env.Setenv("PIN", "sha256//"+base64.StdEncoding.EncodeToString(hash[:]))
	for name, block := range map[string]pem.Block{"ca.pem": {Type: "CERTIFICATE", Bytes: certificate.Raw}, "pub.pem": {Type: "PUBLIC KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(env.WorkDir, name), pem.EncodeToMemory(&block), 0o666); err != nil {
			end()
			return nil, nil, err
		}
	}
	for _, name := range []string{"CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		env.Setenv(name, "")
	}
	return &tls.Config{Certificates: servers[0].TLS.Certificates}, end, nil
}

func TestIdentities(t *testing.T) {
	file := func(name string) string { return filepath.Join("testdata/tls", name) }
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
		"not by AES-CBC":    {File: cert, KeyFile: file("client.des3"), Password: "secret"},
		"not by PBKDF2":     {File: cert, KeyFile: file("client.scrypt"), Password: "secret"},
		"cannot be decrypt": {File: cert, KeyFile: file("client.old"), Password: "canary"},
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

// The name of every suite is one that OpenSSL knows it by.
func TestCipherNames(t *testing.T) {
	c := newCommandLine(stdio.Streams{})
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

// The password behind a certificate's name is no part of it.
func FuzzCertificateName(f *testing.F) {
	f.Add("a.pem:secret")
	f.Add(`a\:b\\c`)
	f.Fuzz(func(t *testing.T, text string) {
		c := newCommandLine(stdio.Streams{})
		if err := setCertificate(c, text); err != nil {
			return
		}
		i := c.op.TLS.Identity
		if len(i.File)+len(i.Password) > len(text) || !strings.HasSuffix(text, i.Password) {
			t.Errorf("%q is %q, %q", text, i.File, i.Password)
		}
	})
}
