package main

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
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
