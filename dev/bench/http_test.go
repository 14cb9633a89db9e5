package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/fetch1738/fetch1738/dev/interop/daemon"
)

// BenchmarkHTTPFiles fetches 1,000 files of 4 KiB from nginx, next to a program that uses net/http
// and does nothing else (bare), and to curl. The bars for cpu/bare are 1.05 with one connection, 1.3
// with eight, and 1.2 by HTTP/2, where eight files at a time share one connection. HTTP is the
// version that ours has chosen. bare1 is bare on one processor, as ours: with two, the cost of bare
// depends on whether the second one is free.
func BenchmarkHTTPFiles(b *testing.B) {
	n := few(1000)
	root := files(b, 1, n)
	server := serveNginx(b, root)
	ours, bare, curl := command(b), build(b, "./dev/bench/bare"), tool(b, "curl")
	for _, bench := range []struct {
		name, url string
		atOnce    int
	}{
		{"http", server.plain, 1}, {"http with eight connections", server.plain, 8},
		{"https", server.secure, 1}, {"https with eight connections", server.secure, 8},
		{"h2", server.h2, 1}, {"h2 with eight at once", server.h2, 8},
	} {
		b.Run(bench.name, func(b *testing.B) {
			globbed := func(program string) func() cost {
				return fetchSmall(b, root, program, func(dir string) []string {
					args := []string{"-s", "--cacert", server.certificate, "-o", dir + "/f#1.bin", fmt.Sprintf("%s/d0/f[0-%d].bin", bench.url, n-1)}
					if bench.atOnce > 1 {
						args = append(args, "-Z", "--parallel-max", strconv.Itoa(bench.atOnce))
					}
					return args
				})
			}
			numbered := func(processors int) func() cost {
				return fetchSmall(b, root, bare, func(dir string) []string {
					return []string{
						"-n", strconv.Itoa(n), "-workers", strconv.Itoa(bench.atOnce), "-processors", strconv.Itoa(processors),
						fmt.Sprintf("-http2=%t", bench.url == server.h2), "-cacert", server.certificate, "-o", dir + "/f%d.bin", bench.url + "/d0/f%d.bin",
					}
				})
			}
			compare(b, globbed(ours), peer{"bare", numbered(0)}, peer{"bare1", numbered(1)}, peer{"curl", globbed(curl)})
			b.ReportMetric(version(b, ours, bench.url+"/d0/f0.bin", server.certificate), "HTTP")
		})
	}
}

// version returns the version of HTTP by which a program fetches a URL, such as 1.1.
func version(b *testing.B, program, url, certificate string, options ...string) float64 {
	b.Helper()
	args := append([]string{"-s", "-o", os.DevNull, "-w", "%{http_version}", "--cacert", certificate, url}, options...)
	cmd := exec.Command(program, args...)
	cmd.Env = []string{"HOME=" + b.TempDir()}
	said, err := cmd.Output()
	check(b, err)
	v, err := strconv.ParseFloat(string(said), 64)
	check(b, err)
	return v
}

// web has the URLs of an nginx.
type web struct {
	plain       string // http
	secure      string // https, HTTP/1.1 only
	h2          string // https, with HTTP/2
	certificate string // the file with the certificate
}

// serveNginx serves what is below root until the benchmark ends.
func serveNginx(b *testing.B, root string) web {
	b.Helper()
	program := tool(b, "nginx")
	readable(b, root)
	dir := b.TempDir()
	cert, key, _ := identity(b)
	user := ""
	if os.Geteuid() == 0 {
		user = "user nobody nogroup;"
	}
	plain, secure, h2 := daemon.FreeAddr(b), daemon.FreeAddr(b), daemon.FreeAddr(b)
	for name, text := range map[string][]byte{"cert.pem": cert, "key.pem": key, "nginx.conf": fmt.Appendf(nil, `daemon off; worker_processes 1; %[1]s pid %[2]s/pid; error_log stderr;
events { worker_connections 512; }
http {
	access_log off; sendfile on; default_type application/octet-stream;
	client_body_temp_path %[2]s/t1; proxy_temp_path %[2]s/t2; fastcgi_temp_path %[2]s/t3; uwsgi_temp_path %[2]s/t4; scgi_temp_path %[2]s/t5;
	ssl_certificate %[2]s/cert.pem; ssl_certificate_key %[2]s/key.pem; root %[6]s;
	server { listen %[3]s; listen %[4]s ssl; listen %[5]s ssl http2; }
}
`, user, dir, plain, secure, h2, root)} {
		check(b, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	cmd := exec.Command(program, "-p", dir, "-e", "stderr", "-c", filepath.Join(dir, "nginx.conf"))
	daemon.Start(b, cmd).Await(b, plain, secure, h2)
	return web{"http://" + plain, "https://" + secure, "https://" + h2, filepath.Join(dir, "cert.pem")}
}

// build builds a program of this module until the benchmark ends, as the command is built.
func build(b *testing.B, path string) string {
	b.Helper()
	program := filepath.Join(b.TempDir(), filepath.Base(path))
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, path)
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return program
}
