package curl

import (
	"crypto/tls"
	"errors"
	"strings"

	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/localerr"
	"github.com/fetch1738/fetch1738/cmd/fetch1738/internal/plan"
)

// setCertificate parses "FILE[:PASSWORD]"; "\:" is a colon in the file name.
func setCertificate(c *CommandLine, value string) error {
	if strings.HasPrefix(value, "pkcs11:") {
		return errors.New("PKCS #11 tokens are not supported; name a file")
	}
	var name strings.Builder
	for i := 0; i < len(value); i++ {
		switch ch := value[i]; {
		case ch == '\\' && i+1 < len(value) && (value[i+1] == ':' || value[i+1] == '\\'):
			i++
			name.WriteByte(value[i])
		case ch == ':':
			c.op.TLS.Identity.File, c.op.TLS.Identity.Password = name.String(), value[i+1:]
			return nil
		default:
			name.WriteByte(ch)
		}
	}
	c.op.TLS.Identity.File = name.String()
	return nil
}

// setFormat parses PEM or DER.
func setFormat(field func(*plan.Identity) *bool) Setter {
	return func(c *CommandLine, value string) error {
		switch strings.ToUpper(value) {
		case "PEM", "DER":
			*field(&c.op.TLS.Identity) = strings.EqualFold(value, "DER")
			return nil
		case "P12":
			return errors.New("PKCS #12 is not supported; convert the file: openssl pkcs12 -in FILE -out FILE.pem")
		}
		return errors.New("expected PEM or DER")
	}
}

// minTLS is one of --tlsv1.0 to --tlsv1.3.
func minTLS(version uint16) Setter {
	return func(c *CommandLine, value string) error {
		c.op.TLS.Min = version
		return always(c, value)
	}
}

func setMaxTLS(c *CommandLine, value string) error {
	versions := map[string]uint16{"default": 0, "1.0": tls.VersionTLS10, "1.1": tls.VersionTLS11, "1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}
	max, known := versions[value]
	if !known {
		return errors.New("expected 1.0, 1.1, 1.2, 1.3 or default")
	}
	c.op.TLS.Max = max
	return nil
}

// setCiphers parses OpenSSL or IANA names, separated by ":". As in OpenSSL, unknown names are
// ignored unless all are unknown.
func setCiphers(c *CommandLine, value string) error {
	known := make(map[string]uint16)
	for _, s := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		known[s.Name], known[openSSLName(s.Name)] = s.ID, s.ID
	}
	c.op.TLS.Ciphers = nil
	for name := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(":, ", r) }) {
		if id, ok := known[strings.ToUpper(name)]; ok {
			c.op.TLS.Ciphers = append(c.op.TLS.Ciphers, id)
		}
	}
	if c.op.TLS.Ciphers == nil {
		return localerr.Errorf(localerr.Ciphers, "--ciphers %s: no known cipher; use names such as ECDHE-RSA-AES128-GCM-SHA256, not groups", value)
	}
	return nil
}

// openSSLName returns OpenSSL's name of a cipher suite, given its IANA name.
func openSSLName(name string) string {
	name = strings.TrimPrefix(name, "TLS_")
	return strings.NewReplacer(
		"3DES_EDE_CBC_", "DES-CBC3-", "CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305",
		"AES_128_CBC_", "AES128-", "AES_256_CBC_", "AES256-", "AES_128_", "AES128-", "AES_256_", "AES256-", "RC4_128_", "RC4-",
		"_WITH_", "-", "_", "-",
	).Replace(strings.TrimPrefix(name, "RSA_WITH_"))
}
