package ftpservers

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
)

// write creates a file of the server's configuration.
func (s *Server) write(tb testing.TB, name, text string) string {
	tb.Helper()
	path := filepath.Join(s.dir, name)
	check(tb, os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644), os.Chmod(path, 0o644))
	return path
}

// configure replaces DIR, ROOT, HOST, PORT and PEM in the text of a configuration.
func (s *Server) configure(text string) string {
	host, port, _ := net.SplitHostPort(s.Addr)
	return strings.NewReplacer("DIR", s.dir, "ROOT", s.Root, "HOST", host, "PORT", port, "PEM", s.PEM).Replace(text)
}

// run starts a program that finds its users in files of its own instead of those in /etc.
func (s *Server) run(tb testing.TB, program string, args ...string) {
	tb.Helper()
	s.users(tb)
	script := []string{"-m", "--propagation", "private", "sh", "-ec", `
		mount --bind "$1/passwd" /etc/passwd
		mount --bind "$1/shadow" /etc/shadow
		mount --bind "$1/pam.d" /etc/pam.d
		[ ! -e /etc/motd ] || mount --bind "$1/motd" /etc/motd
		shift
		exec "$@" 0>&1`, "sh", s.dir, program} // vsftpd writes errors to its descriptor 0
	daemon.Start(tb, exec.Command("unshare", append(script, args...)...)).Await(tb, s.Addr)
}

// users writes the account files.
func (s *Server) users(tb testing.TB) {
	tb.Helper()
	passwd, err := os.ReadFile("/etc/passwd")
	check(tb, err)
	others := slices.DeleteFunc(strings.SplitAfter(string(passwd), "\n"), func(line string) bool {
		return strings.HasPrefix(line, "ftp:") || strings.HasPrefix(line, User+":")
	})
	s.write(tb, "passwd", strings.Join(others, "")+fmt.Sprintf("ftp:x:65001:65534::%s:/bin/sh\n%s:x:%d:65534::%[1]s:/bin/sh\n", s.Root, User, userID))
	s.write(tb, "motd", "")
	s.write(tb, "shadow", "ftp:*:19000:0:99999:7:::\n"+User+":"+hash+":19000:0:99999:7:::\n")
	for _, service := range []string{"vsftpd", "ftp", "other"} {
		s.write(tb, "pam.d/"+service, "auth required pam_unix.so nodelay\naccount required pam_unix.so\nsession required pam_permit.so\n")
	}
}

func startVsftpd(tb testing.TB, s *Server) {
	tb.Helper()
	asRoot(tb, "vsftpd")
	check(tb, os.Mkdir(filepath.Join(s.dir, "empty"), 0o755))
	conf := `background=NO
anonymous_enable=YES
ftp_username=ftp
nopriv_user=nobody
anon_root=ROOT
local_enable=YES
local_root=ROOT
pam_service_name=vsftpd
write_enable=YES
anon_upload_enable=YES
anon_mkdir_write_enable=YES
anon_other_write_enable=YES
ascii_download_enable=YES
ascii_upload_enable=YES
secure_chroot_dir=DIR/empty
connect_from_port_20=NO
seccomp_sandbox=NO
isolate=NO
isolate_network=NO
delay_failed_login=0
listen_port=PORT
pasv_min_port=61000
pasv_max_port=65535
` // otherwise any port: also that of a server that has yet to start (see package daemon)
	if strings.HasPrefix(s.Addr, "[") {
		conf += "listen=NO\nlisten_ipv6=YES\nlisten_address6=HOST\n"
	} else {
		conf += "listen=YES\nlisten_ipv6=NO\nlisten_address=HOST\npasv_address=HOST\n"
	}
	if s.TLS != "" {
		conf += `ssl_enable=YES
rsa_cert_file=PEM
rsa_private_key_file=PEM
allow_anon_ssl=YES
force_local_logins_ssl=NO
force_local_data_ssl=NO
require_ssl_reuse=YES
ssl_ciphers=HIGH
strict_ssl_read_eof=YES
strict_ssl_write_shutdown=YES
`
	}
	if s.TLS == Implicit {
		conf += "implicit_ssl=YES\n"
	}
	conf += strings.Join(s.Settings, "\n") + "\n"
	s.run(tb, program(tb, "vsftpd"), s.write(tb, "vsftpd.conf", s.configure(conf)))
}

// unpacked is where .ci/packages unpacks the servers that cannot be installed beside vsftpd.
const unpacked = "/usr/local/lib/"

func startProftpd(tb testing.TB, s *Server) {
	tb.Helper()
	asRoot(tb, "proftpd")
	conf := `ServerType standalone
ServerName test
DefaultServer on
DefaultAddress HOST
SocketBindTight on
Port PORT
PassivePorts 61000 65535
User nobody
Group nogroup
PidFile DIR/pid
ScoreboardFile DIR/scoreboard
SystemLog DIR/log
TransferLog none
WtmpLog off
DelayEngine off
AuthPAM off
AuthOrder mod_auth_file.c mod_auth_unix.c
AuthUserFile DIR/users
RequireValidShell off
UseFtpUsers off
AllowOverwrite on
AllowStoreRestart on
AllowRetrieveRestart on
<Anonymous ROOT>
  User nobody
  Group nogroup
  UserAlias anonymous nobody
  RequireValidShell off
  UseFtpUsers off
  AllowOverwrite on
</Anonymous>
`
	if strings.HasPrefix(s.Addr, "[") {
		conf += "UseIPv6 on\n"
	} else {
		conf += "UseIPv6 off\n"
	}
	if s.TLS != "" {
		conf = "ModulePath " + unpacked + "proftpd/usr/lib/proftpd\nLoadModule mod_tls.c\n" + conf +
			"TLSEngine on\nTLSProtocol TLSv1.2 TLSv1.3\nTLSECCertificateFile PEM\nTLSECCertificateKeyFile PEM\nTLSRenegotiate none\nTLSLog DIR/tls\n"
	}
	if s.TLS == Implicit {
		conf += "TLSOptions UseImplicitSSL\n"
	}
	conf += strings.Join(s.Settings, "\n") + "\n"
	users := s.write(tb, "users", s.configure(fmt.Sprintf("%s:%s:%d:65534::ROOT:/bin/sh\n", User, hash, userID)))
	check(tb, os.Chmod(users, 0o600))
	cmd := exec.Command(program(tb, "proftpd"), "-n", "-q", "-c", s.write(tb, "proftpd.conf", s.configure(conf)))
	daemon.Start(tb, cmd).Await(tb, s.Addr)
}

func startPureFTPd(tb testing.TB, s *Server) {
	tb.Helper()
	asRoot(tb, "pure-ftpd")
	host, port, _ := net.SplitHostPort(s.Addr)
	args := []string{"-S", host + "," + port, "-l", "unix", "-c", "500", "-A", "-H", "-u", "1", "-p", "61000:65535", "-g", filepath.Join(s.dir, "pid")}
	if s.TLS != "" {
		args = append(args, "-Y", "1", "-2", s.PEM)
	}
	s.run(tb, program(tb, "pure-ftpd"), args...)
}

// startInetutils runs the ftpd of GNU inetutils by tcpsvd, because it has no option for the port.
func startInetutils(tb testing.TB, s *Server) {
	tb.Helper()
	asRoot(tb, "inetutils-ftpd")
	host, port, _ := net.SplitHostPort(s.Addr)
	args := append([]string{"-c", "100", "-h"}, s.Settings...)
	s.run(tb, program(tb, "tcpsvd"), append(args, host, port, program(tb, "inetutils-ftpd"))...)
}
