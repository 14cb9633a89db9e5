package ftp

import (
	"crypto/tls"
	"slices"
	"sync"

	"github.com/fetch1738/fetch1738/judge/internal/scene"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// tlsCases are those of FTP with TLS: where the client insists on AUTH TLS, and where TLS comes
// first.
func tlsCases() (all []scene.Case) {
	for _, scheme := range []string{"ftp+tls", "ftps"} {
		for _, task := range []scene.Task{scene.Download, scene.Upload} {
			start := func(s *scene.Stage) scene.Server { return secure(s, scheme, scene.Certificate()) }
			all = append(all, scene.PlainCase(scheme, task, func(s *scene.Stage) { start(s) }))
			if task == scene.Download {
				all = append(all, scene.Cross(scheme, task, dataOf("RETR"), dataFaults(), []int64{1000, 70_000}, start)...)
			} else {
				all = append(all, scene.Cross(scheme, task, dataOf("STOR"), uploadFaults(), []int64{1000, 70_000}, start)...)
			}
			all = append(all, tlsConstructed(scheme, task, start)...)
			all = append(all, scene.Cases(scheme, task, certificateCases(scheme))...)
			all = append(all, scene.Cases(scheme, task, tlsNamed(scheme, task))...)
		}
	}
	return all
}

// secure starts an FTP server with TLS and a login. The client is to trust its certificate.
func secure(s *scene.Stage, scheme string, config *tls.Config, configure ...func(*ftptest.Server)) *ftptest.Server {
	url := "ftp"
	if scheme == "ftps" {
		url = "ftps"
	}
	srv := serveAs(s, url, append([]func(*ftptest.Server){func(f *ftptest.Server) {
		f.TLS, f.ImplicitTLS = config, scheme == "ftps"
	}}, configure...)...)
	s.Login()
	s.Trust(srv.CA())
	return srv
}

// tlsConstructed are the faults of the replies to the commands of TLS.
func tlsConstructed(scheme string, task scene.Task, start func(*scene.Stage) scene.Server) (all []scene.Case) {
	for _, p := range scene.ReplyTo(false, "AUTH", "PBSZ", "PROT") {
		if p.At == "AUTH" && scheme == "ftps" {
			continue
		}
		faults := scene.ReplyFaults("234 ", "421 The server goes down.", "500 No.", "431 Not now.")
		all = append(all, scene.Cross(scheme, task, []scene.Place{p}, faults, []int64{1000}, func(s *scene.Stage) scene.Server {
			srv := start(s)
			if p.At == "AUTH" {
				watchAUTH(s, srv)
			}
			return srv
		})...)
	}
	return all
}

// watchAUTH watches for a password that is sent although AUTH was not accepted.
func watchAUTH(s *scene.Stage, srv scene.Server) {
	s.Alarm = func() string {
		accepted := false
		for _, line := range srv.Transcript() {
			if line.From == testserver.FromServer && len(line.Octets) > 3 && line.Octets[:3] == "234" {
				accepted = true
			}
			if line.From == testserver.FromClient && !accepted && s.HasPassword(line.Octets) {
				return "it has sent the password in the clear"
			}
		}
		return ""
	}
}

// certificateCases are servers that cannot prove who they are.
func certificateCases(scheme string) []scene.Named {
	const should = "It ends with an error, and has not sent the password."
	row := func(name, does, source string, config func() *tls.Config, trusted func() *tls.Config) scene.Named {
		return scene.Named{Name: "certificate/" + name, Does: does, Source: source, Should: should, Set: func(s *scene.Stage) {
			secure(s, scheme, config())
			s.Clear = true // also what is encrypted for a stranger
			if trusted != nil {
				s.Trust(scene.Authority(trusted()))
			}
		}}
	}
	return []scene.Named{
		row("other-name", "The certificate is for another host.", "RFC 2818 §3.1.", scene.OtherHost, nil),
		row("expired", "The certificate has expired.", "RFC 5280 §4.1.2.5.", scene.Expired, nil),
		row("not-yet", "The certificate is not yet valid.", "RFC 5280 §4.1.2.5.", scene.Early, nil),
		row("untrusted", "The certificate is one that the client was not told to trust.", "RFC 5280 §6.", scene.Stranger, func() *tls.Config { return scene.Certificate() }),
	}
}

// tlsNamed are the cases of TLS that are not constructed.
func tlsNamed(scheme string, task scene.Task) []scene.Named {
	server := func(configure func(*ftptest.Server)) func(*scene.Stage) {
		return func(s *scene.Stage) { secure(s, scheme, scene.Certificate(), configure) }
	}
	version := func(lowest, highest uint16) func(*scene.Stage) {
		return func(s *scene.Stage) {
			config := scene.Certificate().Clone()
			config.MinVersion, config.MaxVersion = lowest, highest
			secure(s, scheme, config)
		}
	}
	all := []scene.Named{
		{Name: "session/reuse", Gets: true, Does: "A data connection must resume the TLS session of the control connection.", Source: "vsftpd with require_ssl_reuse, ProFTPD without NoSessionReuseRequired.", Set: server(func(f *ftptest.Server) { f.ReuseTLS = true })},
		{Name: "session/handshake-first", Gets: true, Does: "The handshake of the data connection comes before 150.", Source: "RFC 4217 §7 leaves the order open.", Set: server(func(f *ftptest.Server) { f.HandshakeFirst = true })},
		{Name: "version/1.2", Gets: true, Does: "The server speaks TLS 1.2 only.", Source: "RFC 5246.", Set: version(tls.VersionTLS12, tls.VersionTLS12)},
		{Name: "version/1.3", Gets: true, Does: "The server speaks TLS 1.3 only.", Source: "RFC 8446.", Set: version(tls.VersionTLS13, tls.VersionTLS13)},
		{Name: "version/1.0", Does: "The server speaks TLS 1.0 only.", Source: "RFC 8996: TLS 1.0 must not be used.", Set: func(s *scene.Stage) {
			version(tls.VersionTLS10, tls.VersionTLS10)(s)
			s.Same = func(got, want []byte) bool { return true }
		}},
		{Name: "data/other-certificate", Does: "The data connection has a certificate that the client was not told to trust.", Source: "RFC 4217 §7: the data connection must have the certificate of the control connection.", Set: func(s *scene.Stage) { secure(s, scheme, changing()) }},
	}
	if scheme == "ftps" {
		return append(all, scene.Named{Name: "clear", Waits: true, Does: "The server does not speak TLS.", Source: "A server of FTP at the port of FTPS.", Should: "It ends with an error, and has not sent the password.", Set: func(s *scene.Stage) {
			serveAs(s, "ftps")
			s.Login()
			s.Trust(scene.Authority(scene.Certificate()))
			s.Clear = true
		}})
	}
	return slices.Concat(all, strippedCases(scheme), privateCases(scheme, task))
}

// strippedCases are servers that do not begin TLS, or send more before it.
func strippedCases(scheme string) []scene.Named {
	stripped := func(name, does, source, reply string) scene.Named {
		return scene.Named{Name: "stripped/" + name, Does: does, Source: source, Should: "It ends with an error, and has not sent the password.", Set: func(s *scene.Stage) {
			srv := serve(s)
			s.Login()
			s.Trust(scene.Authority(scene.Certificate()))
			s.Clear = true
			s.Arm(srv, "AUTH", 0, testserver.Reply(reply))
		}}
	}
	return []scene.Named{
		stripped("500", "AUTH is refused with 500.", "CVE-2021-22946 (curl).", "500 AUTH not understood."),
		stripped("502", "AUTH is refused with 502.", "CVE-2021-22946 (curl); servers without TLS.", "502 Not implemented."),
		stripped("534", "AUTH is refused with 534.", "RFC 4217 §4.1.", "534 Policy."),
		stripped("431", "AUTH is refused with 431.", "RFC 2228 §3.", "431 Not now."),
		stripped("230", "AUTH is answered 230: logged in.", "CVE-2021-22947 (curl): replies before TLS.", "230 Already logged in."),
		scene.Named{Name: "injected/331", Does: "334 and 331 follow the reply to AUTH, before TLS.", Source: "CVE-2021-22947 (curl): what comes before TLS must not be used after it.", Should: "It ends with an error, or ignores what came before TLS.", Set: func(s *scene.Stage) {
			s.Arm(secure(s, scheme, scene.Certificate()), "AUTH", 0, testserver.Reply("234 Proceed.\n331 Password required."))
		}},
		scene.Named{Name: "injected/230", Does: "230 follows the reply to AUTH, before TLS.", Source: "CVE-2021-22947 (curl).", Should: "It ends with an error, or ignores what came before TLS.", Set: func(s *scene.Stage) {
			s.Arm(secure(s, scheme, scene.Certificate()), "AUTH", 0, testserver.Reply("234 Proceed.\n230 Logged in."))
		}},
	}
}

// privateCases are servers that do not encrypt the data.
func privateCases(scheme string, task scene.Task) (all []scene.Named) {
	for _, code := range []string{"500", "534", "536"} {
		all = append(all, scene.Named{Name: "private/" + code, Does: "PROT P is refused with " + code + ", and data connections are not encrypted.", Source: "RFC 4217 §9: the client was told to insist on TLS.", Should: "It ends with an error, and sends no document in the clear.", Set: func(s *scene.Stage) {
			srv := secure(s, scheme, scene.Certificate())
			s.Arm(srv, "PROT", 0, testserver.Reply(code+" No."))
			if task == scene.Upload {
				s.Alarm = func() string {
					if data, err := s.Stored(); err == nil && len(data) > 0 {
						return "it has sent the document in the clear"
					}
					return ""
				}
			}
		}})
	}
	return all
}

// changing returns a configuration whose second connection has a certificate of a stranger.
func changing() *tls.Config {
	config := scene.Certificate().Clone()
	var mu sync.Mutex
	connections := 0
	config.SessionTicketsDisabled = true
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		mu.Lock()
		defer mu.Unlock()
		if connections++; connections > 1 {
			return &scene.Stranger().Certificates[0], nil
		}
		return &scene.Certificate().Certificates[0], nil
	}
	return config
}
