package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/fetch1738/fetch1738/interop/daemon"
)

// BenchmarkHTTPFiles fetches 1,000 files of 4 KiB from nginx, next to a program that uses net/http
// and does nothing else (bare), and to curl. The bars are 1.05 for cpu/bare and wall/bare.
func BenchmarkHTTPFiles(b *testing.B) {
	n := few(1000)
	root := files(b, 1, n)
	plain, secure, cert := serveNginx(b, root)
	ours, bare, curl := command(b), build(b, "./bench/bare"), tool(b, "curl")
	for _, bench := range []struct {
		name, url   string
		connections int
	}{
		{"http", plain, 1}, {"http with eight connections", plain, 8},
		{"https", secure, 1}, {"https with eight connections", secure, 8},
	} {
		b.Run(bench.name, func(b *testing.B) {
			globbed := func(program string) func() cost {
				return fetchSmall(b, root, program, func(dir string) []string {
					args := []string{"-s", "--cacert", cert, "-o", dir + "/f#1.bin", fmt.Sprintf("%s/d0/f[0-%d].bin", bench.url, n-1)}
					if bench.connections > 1 {
						args = append(args, "-Z", "--parallel-max", strconv.Itoa(bench.connections))
					}
					return args
				})
			}
			numbered := fetchSmall(b, root, bare, func(dir string) []string {
				return []string{"-n", strconv.Itoa(n), "-workers", strconv.Itoa(bench.connections), "-cacert", cert, "-o", dir + "/f%d.bin", bench.url + "/d0/f%d.bin"}
			})
			compare(b, globbed(ours), peer{"bare", numbered}, peer{"curl", globbed(curl)})
		})
	}
}

// serveNginx serves what is below root until the benchmark ends. It returns the URLs for http and
// https, and the file of the certificate.
func serveNginx(b *testing.B, root string) (plain, secure, certificate string) {
	b.Helper()
	program := tool(b, "nginx")
	readable(b, root)
	dir := b.TempDir()
	cert, key, _ := identity(b)
	user := ""
	if os.Geteuid() == 0 {
		user = "user nobody nogroup;"
	}
	addr, secureAddr := daemon.FreeAddr(b), daemon.FreeAddr(b)
	for name, text := range map[string][]byte{"cert.pem": cert, "key.pem": key, "nginx.conf": fmt.Appendf(nil, `daemon off; worker_processes 1; %[1]s pid %[2]s/pid; error_log stderr;
events { worker_connections 64; }
http {
	access_log off; sendfile on; default_type application/octet-stream;
	client_body_temp_path %[2]s/t1; proxy_temp_path %[2]s/t2; fastcgi_temp_path %[2]s/t3; uwsgi_temp_path %[2]s/t4; scgi_temp_path %[2]s/t5;
	server { listen %[3]s; listen %[4]s ssl; ssl_certificate %[2]s/cert.pem; ssl_certificate_key %[2]s/key.pem; root %[5]s; }
}
`, user, dir, addr, secureAddr, root)} {
		check(b, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	cmd := exec.Command(program, "-p", dir, "-e", "stderr", "-c", filepath.Join(dir, "nginx.conf"))
	daemon.Start(b, cmd).Await(b, addr, secureAddr)
	return "http://" + addr, "https://" + secureAddr, filepath.Join(dir, "cert.pem")
}

// build builds a program of this module until the benchmark ends, as the command is built.
func build(b *testing.B, path string) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), filepath.Base(path))
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, path)
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return program
}
