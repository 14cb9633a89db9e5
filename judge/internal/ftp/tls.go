package ftp

import (
	"crypto/tls"
	"slices"
	"sync"

	"github.com/fetch1738/fetch1738/judge/internal/testcase"
	"github.com/fetch1738/fetch1738/testserver"
	"github.com/fetch1738/fetch1738/testserver/ftptest"
)

// tlsCases are those of FTP with TLS: where the client insists on AUTH TLS, and where TLS comes
// first.
func tlsCases() (all []testcase.Case) {
	for _, scheme := range []string{"ftp+tls", "ftps"} {
		for _, task := range []testcase.Task{testcase.Download, testcase.Upload} {
			start := func(r *testcase.Run) testcase.Server { return secure(r, scheme, testcase.Certificate()) }
			all = append(all, testcase.PlainCase(scheme, task, func(r *testcase.Run) { start(r) }))
			if task == testcase.Download {
				all = append(all, testcase.Cross(scheme, task, dataOf("RETR"), dataBehaviors(), []int64{1000, 70_000}, start)...)
			} else {
				all = append(all, testcase.Cross(scheme, task, dataOf("STOR"), uploadBehaviors(), []int64{1000, 70_000}, start)...)
			}
			all = append(all, tlsConstructed(scheme, task, start)...)
			all = append(all, testcase.Cases(scheme, task, certificateCases(scheme))...)
			all = append(all, testcase.Cases(scheme, task, tlsNamed(scheme, task))...)
		}
	}
	return all
}

// secure starts an FTP server with TLS and a login. The client is to trust its certificate.
func secure(r *testcase.Run, scheme string, config *tls.Config, configure ...func(*ftptest.Server)) *ftptest.Server {
	url := "ftp"
	if scheme == "ftps" {
		url = "ftps"
	}
	srv := serveAs(r, url, append([]func(*ftptest.Server){func(f *ftptest.Server) {
		f.TLS, f.ImplicitTLS = config, scheme == "ftps"
	}}, configure...)...)
	r.Client.Login()
	r.Client.Trust(srv.CA())
	return srv
}

// tlsConstructed are the behaviors of the replies to the commands of TLS.
func tlsConstructed(scheme string, task testcase.Task, start func(*testcase.Run) testcase.Server) (all []testcase.Case) {
	for _, p := range testcase.ReplyTo(false, "AUTH", "PBSZ", "PROT") {
		if p.At == "AUTH" && scheme == "ftps" {
			continue
		}
		behaviors := testcase.ReplyBehaviors("234 ", "421 The server goes down.", "500 No.", "431 Not now.")
		all = append(all, testcase.Cross(scheme, task, []testcase.Place{p}, behaviors, []int64{1000}, func(r *testcase.Run) testcase.Server {
			srv := start(r)
			if p.At == "AUTH" {
				watchAUTH(r, srv)
			}
			return srv
		})...)
	}
	return all
}

// watchAUTH watches for a password that is sent although AUTH was not accepted.
func watchAUTH(r *testcase.Run, srv testcase.Server) {
	r.Never.Harm = func() testcase.Wrong {
		accepted := false
		for _, line := range srv.Transcript() {
			if line.From == testserver.FromServer && len(line.Octets) > 3 && line.Octets[:3] == "234" {
				accepted = true
			}
			if line.From == testserver.FromClient && !accepted && r.Client.HasPassword(line.Octets) {
				return testcase.Wrong{Cause: testcase.Secret, Fact: "it has sent the password in the clear"}
			}
		}
		return testcase.Wrong{}
	}
}

// certificateCases are servers that cannot prove who they are.
func certificateCases(scheme string) []testcase.Named {
	const should = "It ends with an error, and has not sent the password."
	row := func(name, does, source string, config func() *tls.Config, trusted func() *tls.Config) testcase.Named {
		return testcase.Named{Name: "certificate/" + name, Does: does, Source: source, Should: should, Set: func(r *testcase.Run) {
			secure(r, scheme, config())
			r.Never.Password = true // also what is encrypted for a stranger
			if trusted != nil {
				r.Client.Trust(testcase.Authority(trusted()))
			}
		}}
	}
	return []testcase.Named{
		row("other-name", "The certificate is for another host.", "RFC 2818 §3.1.", testcase.OtherHost, nil),
		row("expired", "The certificate has expired.", "RFC 5280 §4.1.2.5.", testcase.Expired, nil),
		row("not-yet", "The certificate is not yet valid.", "RFC 5280 §4.1.2.5.", testcase.Early, nil),
		row("untrusted", "The certificate is one that the client was not told to trust.", "RFC 5280 §6.", testcase.Stranger, func() *tls.Config { return testcase.Certificate() }),
	}
}

// tlsNamed are the cases of TLS that are not constructed.
func tlsNamed(scheme string, task testcase.Task) []testcase.Named {
	server := func(configure func(*ftptest.Server)) func(*testcase.Run) {
		return func(r *testcase.Run) { secure(r, scheme, testcase.Certificate(), configure) }
	}
	version := func(lowest, highest uint16) func(*testcase.Run) {
		return func(r *testcase.Run) {
			config := testcase.Certificate().Clone()
			config.MinVersion, config.MaxVersion = lowest, highest
			secure(r, scheme, config)
		}
	}
	all := []testcase.Named{
		{Name: "session/reuse", Gets: true, Does: "A data connection must resume the TLS session of the control connection.", Source: "vsftpd with require_ssl_reuse, ProFTPD without NoSessionReuseRequired.", Set: server(func(f *ftptest.Server) { f.ReuseTLS = true })},
		{Name: "session/handshake-first", Gets: true, Does: "The handshake of the data connection comes before 150.", Source: "RFC 4217 §7 leaves the order open.", Set: server(func(f *ftptest.Server) { f.HandshakeFirst = true })},
		{Name: "version/1.2", Gets: true, Does: "The server speaks TLS 1.2 only.", Source: "RFC 5246.", Set: version(tls.VersionTLS12, tls.VersionTLS12)},
		{Name: "version/1.3", Gets: true, Does: "The server speaks TLS 1.3 only.", Source: "RFC 8446.", Set: version(tls.VersionTLS13, tls.VersionTLS13)},
		{Name: "version/1.0", Does: "The server speaks TLS 1.0 only.", Source: "RFC 8996: TLS 1.0 must not be used.", Set: func(r *testcase.Run) {
			version(tls.VersionTLS10, tls.VersionTLS10)(r)
			r.Goal.Same = func(got, want []byte) bool { return true }
		}},
		{Name: "data/other-certificate", Does: "The data connection has a certificate that the client was not told to trust.", Source: "RFC 4217 §7: the data connection must have the certificate of the control connection.", Set: func(r *testcase.Run) { secure(r, scheme, changing()) }},
	}
	if scheme == "ftps" {
		return append(all, testcase.Named{Name: "clear", Waits: true, Does: "The server does not speak TLS.", Source: "A server of FTP at the port of FTPS.", Should: "It ends with an error, and has not sent the password.", Set: func(r *testcase.Run) {
			serveAs(r, "ftps")
			r.Client.Login()
			r.Client.Trust(testcase.Authority(testcase.Certificate()))
			r.Never.Password = true
		}})
	}
	return slices.Concat(all, strippedCases(scheme), privateCases(scheme, task))
}

// strippedCases are servers that do not begin TLS, or send more before it.
func strippedCases(scheme string) []testcase.Named {
	stripped := func(name, does, source, reply string) testcase.Named {
		return testcase.Named{Name: "stripped/" + name, Does: does, Source: source, Should: "It ends with an error, and has not sent the password.", Set: func(r *testcase.Run) {
			srv := serve(r)
			r.Client.Login()
			r.Client.Trust(testcase.Authority(testcase.Certificate()))
			r.Never.Password = true
			r.Arm(srv, "AUTH", 0, testserver.Reply(reply))
		}}
	}
	return []testcase.Named{
		stripped("500", "AUTH is refused with 500.", "CVE-2021-22946 (curl).", "500 AUTH not understood."),
		stripped("502", "AUTH is refused with 502.", "CVE-2021-22946 (curl); servers without TLS.", "502 Not implemented."),
		stripped("534", "AUTH is refused with 534.", "RFC 4217 §4.1.", "534 Policy."),
		stripped("431", "AUTH is refused with 431.", "RFC 2228 §3.", "431 Not now."),
		stripped("230", "AUTH is answered 230: logged in.", "CVE-2021-22947 (curl): replies before TLS.", "230 Already logged in."),
		testcase.Named{Name: "injected/331", Does: "334 and 331 follow the reply to AUTH, before TLS.", Source: "CVE-2021-22947 (curl): what comes before TLS must not be used after it.", Should: "It ends with an error, or ignores what came before TLS.", Set: func(r *testcase.Run) {
			r.Arm(secure(r, scheme, testcase.Certificate()), "AUTH", 0, testserver.Reply("234 Proceed.\n331 Password required."))
		}},
		testcase.Named{Name: "injected/230", Does: "230 follows the reply to AUTH, before TLS.", Source: "CVE-2021-22947 (curl).", Should: "It ends with an error, or ignores what came before TLS.", Set: func(r *testcase.Run) {
			r.Arm(secure(r, scheme, testcase.Certificate()), "AUTH", 0, testserver.Reply("234 Proceed.\n230 Logged in."))
		}},
	}
}

// privateCases are servers that do not encrypt the data.
func privateCases(scheme string, task testcase.Task) (all []testcase.Named) {
	for _, code := range []string{"500", "534", "536"} {
		all = append(all, testcase.Named{Name: "private/" + code, Does: "PROT P is refused with " + code + ", and data connections are not encrypted.", Source: "RFC 4217 §9: the client was told to insist on TLS.", Should: "It ends with an error, and sends no document in the clear.", Set: func(r *testcase.Run) {
			srv := secure(r, scheme, testcase.Certificate())
			r.Arm(srv, "PROT", 0, testserver.Reply(code+" No."))
			if task == testcase.Upload {
				r.Never.Harm = func() testcase.Wrong {
					if data, err := r.Goal.Stored(); err == nil && len(data) > 0 {
						return testcase.Wrong{Cause: testcase.Secret, Fact: "it has sent the document in the clear"}
					}
					return testcase.Wrong{}
				}
			}
		}})
	}
	return all
}

// changing returns a configuration whose second connection has a certificate of a stranger.
func changing() *tls.Config {
	config := testcase.Certificate().Clone()
	var mu sync.Mutex
	connections := 0
	config.SessionTicketsDisabled = true
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		mu.Lock()
		defer mu.Unlock()
		if connections++; connections > 1 {
			return &testcase.Stranger().Certificates[0], nil
		}
		return &testcase.Certificate().Certificates[0], nil
	}
	return config
}
