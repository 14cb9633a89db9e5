package interop

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/fetch"
	"github.com/fetch1738/fetch1738/fetch/ftp"
	"github.com/fetch1738/fetch1738/locator"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// secureSettings returns settings with which vsftpd requires TLS everywhere and the reuse of its
// sessions, and a Config that trusts its certificate.
func secureSettings(t *testing.T, more ...string) ([]string, *tls.Config) {
	t.Helper()
	cert, key := selfSigned(t)
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "cert.pem"), string(cert))
	writeFile(t, filepath.Join(dir, "key.pem"), string(key))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	settings := []string{
		"ssl_enable=YES", "rsa_cert_file=" + filepath.Join(dir, "cert.pem"), "rsa_private_key_file=" + filepath.Join(dir, "key.pem"),
		"allow_anon_ssl=YES", "force_anon_logins_ssl=YES", "force_anon_data_ssl=YES", "force_local_logins_ssl=YES", "force_local_data_ssl=YES",
		"require_ssl_reuse=YES", "ssl_ciphers=HIGH", "strict_ssl_read_eof=YES", "strict_ssl_write_shutdown=YES",
	}
	return append(settings, more...), &tls.Config{RootCAs: pool}
}

// everyTransfer tests every kind of transfer, with a login that may write.
func everyTransfer(t *testing.T, srv *vsftpd, f *ftp.Fetcher, scheme string) {
	t.Helper()
	url := func(path string) locator.Locator {
		ref, err := locator.Parser{}.Parse(scheme + "://" + labUser + ":" + labPassword + "@" + srv.addr + path)
		if err != nil {
			t.Fatal(err)
		}
		return ref.Locator
	}
	var c observed
	for _, tc := range []struct {
		req  *fetch.Request
		want string
	}{
		{&fetch.Request{Locator: url("/pub/rand.bin")}, string(binary)},
		{&fetch.Request{Locator: url("/pub/rand.bin"), Offset: 1000}, string(binary[1000:])},
		{&fetch.Request{Locator: url("/pub/rand.bin"), Offset: 5, Length: 10}, string(binary[5:15])},
		{&fetch.Request{Locator: url("/pub/zero")}, ""},
		{&fetch.Request{Locator: url("/a/b/c.txt;type=a")}, text},
		{&fetch.Request{Locator: url("/a/b/"), Options: &ftp.Options{ListOnly: true}}, "c.txt\n"},
	} {
		if got := get(t, f, &c, tc.req); string(got) != tc.want {
			t.Errorf("%v: %d bytes, which differ from the %d expected", tc.req.Locator, len(got), len(tc.want))
		}
	}
	path := filepath.Join(srv.root, "incoming/new")
	os.Remove(path)
	req := &fetch.Request{Locator: url("/incoming/new")}
	if _, err := f.Replace(t.Context(), req, bytes.NewReader(binary)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Update(t.Context(), req, strings.NewReader("more")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Replace(t.Context(), &fetch.Request{Locator: req.Locator, Offset: 4}, strings.NewReader("four")); err != nil {
		t.Fatal(err)
	}
	want := append(slices.Clone(binary), "more"...)
	copy(want[4:], "four")
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("stored %d bytes, %v; want %d", len(got), err, len(want))
	}
	if _, err := f.Replace(t.Context(), &fetch.Request{Locator: url("/incoming/empty")}, strings.NewReader("")); err != nil {
		t.Error(err)
	}
}

// trusting returns an Env whose TLS is config.
func trusting(config *tls.Config) *fetch.Env {
	return &fetch.Env{TLS: func() (*tls.Config, error) { return config, nil }}
}

// TestVsftpdTLS tests both versions of TLS, in passive and active mode.
func TestVsftpdTLS(t *testing.T) {
	t.Parallel()
	settings, config := secureSettings(t)
	srv := startVsftpd(t, settings...)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, active := range []*ftp.Active{nil, {}} {
			t.Run(tls.VersionName(version), func(t *testing.T) {
				config := config.Clone()
				config.MinVersion, config.MaxVersion = version, version
				f := &ftp.Fetcher{Security: ftp.RequireTLS, Env: trusting(config), Active: active}
				defer f.Close()
				everyTransfer(t, srv, f, "ftp")
			})
		}
	}
}

func TestVsftpdImplicitTLS(t *testing.T) {
	t.Parallel()
	settings, config := secureSettings(t, "implicit_ssl=YES")
	srv := startVsftpd(t, settings...)
	f := &ftp.Fetcher{Env: trusting(config)}
	defer f.Close()
	everyTransfer(t, srv, f, "ftps")
}

func TestVsftpdTLSRefusals(t *testing.T) {
	t.Parallel()
	settings, config := secureSettings(t)
	secure, plain := startVsftpd(t, settings...), startVsftpd(t)
	for _, tc := range []struct {
		name string
		f    *ftp.Fetcher
		srv  *vsftpd
		op   fetch.Op
		code int
	}{
		{"no TLS where it is required", &ftp.Fetcher{}, secure, "USER", 530},
		{"data in the clear where TLS is required", &ftp.Fetcher{Security: ftp.RequireControl, Env: trusting(config)}, secure, "RETR", 522},
		{"TLS required, server without TLS", &ftp.Fetcher{Security: ftp.RequireTLS, Env: trusting(config)}, plain, "AUTH", 530},
		{"a certificate that is not trusted", &ftp.Fetcher{Security: ftp.TryTLS}, secure, "TLS handshake", 0},
	} {
		_, err := tc.f.Fetch(t.Context(), &fetch.Request{Locator: tc.srv.url(t, "/x.txt")})
		var e *fetch.Error
		if !errors.As(err, &e) || e.Op != tc.op || e.Code != tc.code {
			t.Errorf("%s: %v (%+v)", tc.name, err, e)
		}
		tc.f.Close()
	}
	f := &ftp.Fetcher{Security: ftp.TryTLS, Env: trusting(config)}
	defer f.Close()
	if got := get(t, f, new(observed), &fetch.Request{Locator: plain.url(t, "/x.txt")}); string(got) != "top\n" {
		t.Errorf("got %q", got)
	}
}

// TestVsftpdActive tests that vsftpd connects to us.
func TestVsftpdActive(t *testing.T) {
	t.Parallel()
	srv := startVsftpd(t, "port_enable=YES", "connect_from_port_20=NO", "pasv_enable=NO")
	for _, tc := range []struct {
		active ftp.Active
		verb   string
	}{{ftp.Active{}, "EPRT"}, {ftp.Active{DisableEPRT: true}, "PORT"}, {ftp.Active{Host: "lo"}, "EPRT"}, {ftp.Active{Host: "localhost", Ports: [2]uint16{20000, 40000}}, "EPRT"}} {
		f := &ftp.Fetcher{Active: &tc.active}
		everyTransfer(t, srv, f, "ftp")
		var c observed
		get(t, f, &c, &fetch.Request{Locator: srv.url(t, "/x.txt")})
		if !slices.ContainsFunc(c.sent, func(line string) bool { return strings.HasPrefix(line, tc.verb+" ") }) {
			t.Errorf("%+v: sent %q", tc.active, c.sent)
		}
		f.Close()
	}
}

// TestCurlFTPSecure has curl use the test server in active mode and under TLS. Debian 12's curl
// 7.88 cannot do both at once: it never begins the handshake.
func TestCurlFTPSecure(t *testing.T) {
	t.Parallel()
	curl := requireTool(t, "curl")
	cert, key := selfSigned(t)
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	start := func(implicit, reuse bool) *ftptest.Server {
		return ftptest.New(t, func(s *ftptest.Server) {
			s.Content, s.TLS, s.ImplicitTLS = shelf(), &tls.Config{Certificates: []tls.Certificate{pair}}, implicit
			s.RequirePRET, s.ReuseTLS = true, reuse
		})
	}
	explicit, implicit := start(false, true), start(true, true)
	old := start(false, false) // before TLS 1.3 curl has no tickets, and crypto/tls has nothing else
	ca := filepath.Join(t.TempDir(), "ca.pem")
	writeFile(t, ca, string(cert))
	local := filepath.Join(t.TempDir(), "local")
	writeFile(t, local, "from here\n")
	want := string(shelf()["every.bin"].Data)
	for i, tc := range []struct {
		srv     *ftptest.Server
		options string
		sent    string
	}{
		{explicit, "-P -", "EPRT"},
		{explicit, "-P - --disable-eprt", "PORT"},
		{explicit, "--ftp-pret", "PRET"},
		{explicit, "--ssl-reqd --ftp-pret", "PROT"},
		{old, "--ssl-reqd --ftp-pret --tls-max 1.2", "PROT"},
		{explicit, "--ftp-ssl-control -P -", "PROT"},
		{explicit, "--ftp-ssl-control -P - --ftp-ssl-ccc", "CCC"},
		{explicit, "--ssl-reqd --ftp-pret --ftp-ssl-ccc --ftp-ssl-ccc-mode active", "CCC"},
		{implicit, "--ftp-pret", "PROT"},
	} {
		tc.srv.ResetTranscript()
		options := append(strings.Fields(tc.options), "-s", "-S", "--cacert", ca)
		out, code := runTool(t, curl, append(options, tc.srv.URL+"/every.bin")...)
		if code != 0 || out != want {
			t.Errorf("%s %s: code %d, %d bytes", tc.options, tc.srv.URL, code, len(out))
		}
		name := fmt.Sprint("new", i)
		if _, code := runTool(t, curl, append(options, "-T", local, tc.srv.URL+"/"+name)...); code != 0 || string(tc.srv.Uploads()[name]) != "from here\n" {
			t.Errorf("%s -T %s: code %d, stored %q", tc.options, tc.srv.URL, code, tc.srv.Uploads()[name])
		}
		if !slices.ContainsFunc(tc.srv.Transcript(), func(l testserver.Line) bool { return strings.HasPrefix(l.Text, tc.sent+" ") || l.Text == tc.sent }) {
			t.Errorf("%s: no %s was sent", tc.options, tc.sent)
		}
	}
}
