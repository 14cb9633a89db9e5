package bench

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fetch1738/fetch1738/dev/bench/relay"
	"github.com/fetch1738/fetch1738/dev/interop/ftpservers"
)

// A sender is a program that uploads a folder.
type sender struct {
	name string
	// send returns the command that uploads a folder into a directory of a server, which does not
	// exist. A folder may be used once only.
	send func(server *url.URL, dir, folder string) []string
}

// A target is a server to upload to.
type target struct {
	name string
	near *url.URL
	far  *url.URL // at the other end of a line
	root string
}

// targets starts vsftpd and proftpd, with a line before each.
func targets(b *testing.B) []target {
	b.Helper()
	var all []target
	for _, s := range []struct {
		name, program string
		linger        bool
	}{{"vsftpd", "vsftpd", true}, {"proftpd", "proftpd", false}} {
		root := b.TempDir()
		readable(b, root)
		ftpservers.Own(b, root)
		srv := ftpservers.Named(b, s.program).Start(b, &ftpservers.Server{Root: root})
		near := "ftp://" + ftpservers.User + ":" + ftpservers.Password + "@"
		line := distance(b, s.name, "ftp://"+srv.Addr, relay.Line{FTP: true, Linger: s.linger})
		t := target{name: s.name, root: root}
		var err, other error
		t.near, err = url.Parse(near + srv.Addr + "/")
		t.far, other = url.Parse(strings.Replace(line.url, "ftp://", near, 1) + "/")
		check(b, errors.Join(err, other))
		all = append(all, t)
	}
	return all
}

// ourUpload is the command with a number of connections.
func ourUpload(b *testing.B, connections int) sender {
	b.Helper()
	ours := command(b)
	return sender{"ours", func(server *url.URL, dir, folder string) []string {
		return []string{ours, "mirror", "-s", "--connections", strconv.Itoa(connections), folder, server.JoinPath(dir).String() + "/"}
	}}
}

// lftpUpload is lftp with a number of connections. mode is that of ftp:sync-mode; "off" pipelines
// commands.
func lftpUpload(b *testing.B, mode string, connections int) sender {
	b.Helper()
	lftp := tool(b, "lftp")
	return sender{"lftp-" + mode, func(server *url.URL, dir, folder string) []string {
		return []string{lftp, "-c", fmt.Sprintf("set ftp:sync-mode %s; open %s; mirror -R -P %d %s %s", mode, server, connections, folder, dir)}
	}}
}

// rclone is rclone's backend with a number of connections.
func rclone(b *testing.B, connections int) sender {
	b.Helper()
	program := tool(b, "rclone")
	hidden, err := exec.Command(program, "--config=", "obscure", ftpservers.Password).Output()
	check(b, err)
	return sender{"rclone", func(server *url.URL, dir, folder string) []string {
		remote := fmt.Sprintf(":ftp,host='%s',port='%s',user='%s',pass='%s':%s", server.Hostname(), server.Port(), ftpservers.User, strings.TrimSpace(string(hidden)), dir)
		return []string{program, "--config=", "copy", "--transfers", strconv.Itoa(connections), "--checkers", strconv.Itoa(connections), folder, remote}
	}}
}

// uploaders are the programs with one connection, and with eight those that have a number of
// connections.
func uploaders(b *testing.B, connections int) []sender {
	b.Helper()
	all := []sender{ourUpload(b, connections), lftpUpload(b, "off", connections), lftpUpload(b, "on", connections), rclone(b, connections)}
	if connections > 1 {
		return all
	}
	ncftpput, node := tool(b, "ncftpput"), tool(b, "node")
	const client = "../interop/others/node_modules/basic-ftp/dist/index.js"
	all = append(all, sender{"ncftpput", func(server *url.URL, dir, folder string) []string {
		return []string{ncftpput, "-V", "-R", "-m", "-u", ftpservers.User, "-p", ftpservers.Password, "-P", server.Port(), server.Hostname(), dir, folder}
	}})
	path, err := filepath.Abs(client)
	check(b, err)
	if _, err := os.Stat(path); err != nil { // npm ci --ignore-scripts --prefix dev/interop/others
		if os.Getenv("CI") != "" {
			b.Fatal(err)
		}
		return all
	}
	return append(all, sender{"basic-ftp", func(server *url.URL, dir, folder string) []string {
		return []string{node, "--input-type=module", "-e", fmt.Sprintf(`import { Client } from %q
const client = new Client()
await client.access({ host: %q, port: %s, user: %q, password: %q })
await client.uploadFromDir(%q, %q)
client.close()`, path, server.Hostname(), server.Port(), ftpservers.User, ftpservers.Password, folder, dir)}
	}})
}

// copyOf returns a copy of a folder.
func copyOf(b *testing.B, folder string) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "tree")
	check(b, os.CopyFS(dir, os.DirFS(folder)))
	return dir
}

// spent runs the command of a sender and compares the result.
func (s sender) spent(server *url.URL, root, dir, folder string) (time.Duration, error) {
	want, err := sums(folder)
	if err != nil {
		return 0, err
	}
	argv := s.send(server, dir, folder)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = []string{"HOME=" + filepath.Dir(folder)}
	start := time.Now()
	said, err := cmd.CombinedOutput()
	took := time.Since(start)
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %.300s", s.name, err, said)
	}
	below := filepath.Join(root, dir)
	if s.name == "ncftpput" { // which keeps the name of the folder
		below = filepath.Join(below, filepath.Base(folder))
	}
	got, err := sums(below)
	if err == nil && !maps.Equal(got, want) {
		err = fmt.Errorf("%s: the server has %d files, want %d, or their contents differ", s.name, len(got), len(want))
	}
	return took, err
}

// raceUploads has senders upload a folder to the far servers, all at the same time, and reports
// round trips a file, and the ratios of ours to the others.
func raceUploads(b *testing.B, folder string, files int, senders ...sender) {
	b.Helper()
	servers := targets(b)
	trips := make(map[string][]float64)
	for n := 0; b.Loop(); n++ {
		for _, server := range servers {
			var mu sync.Mutex
			var running sync.WaitGroup
			failed := make(chan error, len(senders))
			for _, s := range senders {
				tree := copyOf(b, folder)
				running.Go(func() {
					took, err := s.spent(server.far, server.root, fmt.Sprint(s.name, "-", n), tree)
					mu.Lock()
					defer mu.Unlock()
					name := s.name + "@" + server.name
					trips[name] = append(trips[name], float64(took)/float64(roundTrip)/float64(files))
					failed <- err
				})
			}
			running.Wait()
			close(failed)
			for err := range failed {
				check(b, err)
			}
		}
	}
	for _, server := range servers {
		ours := median(trips["ours@"+server.name])
		b.ReportMetric(ours, "ours@"+server.name)
		for _, s := range senders[1:] {
			theirs := median(trips[s.name+"@"+server.name])
			b.ReportMetric(theirs, s.name+"@"+server.name)
			b.ReportMetric(ours/theirs, "ours/"+s.name+"@"+server.name)
		}
	}
	b.ReportMetric(0, "ns/op")
}

// oneFolder creates a folder with files of 4 KiB.
func oneFolder(b *testing.B, n int) string {
	b.Helper()
	return filepath.Join(files(b, 1, n), "d0")
}

// BenchmarkDeployParallel uploads 2,000 files of 4 KiB on eight connections. The bar is 0.7 of
// lftp.
func BenchmarkDeployParallel(b *testing.B) {
	n := few(2000)
	raceUploads(b, oneFolder(b, n), n, ourUpload(b, 8), lftpUpload(b, "off", 8), lftpUpload(b, "on", 8))
}

// BenchmarkDeployPrograms uploads 200 files of 4 KiB on one connection, and on eight.
func BenchmarkDeployPrograms(b *testing.B) {
	n := few(200)
	folder := oneFolder(b, n)
	for _, connections := range []int{1, 8} {
		b.Run(fmt.Sprint("connections-", connections), func(b *testing.B) {
			raceUploads(b, folder, n, uploaders(b, connections)...)
		})
	}
}

// BenchmarkDeployUnchanged uploads a tree of 2,000 files in 100 folders that has not changed, and
// lists it by a mirror of the other direction with --dry-run, in turn. The bar is 1.2 of the
// latter.
func BenchmarkDeployUnchanged(b *testing.B) {
	folders := few(100)
	ours := command(b)
	for _, server := range targets(b) {
		tree := files(b, folders, 20)
		past := time.Now().Add(-time.Hour) // a file that was modified just now is read again
		check(b, eachFile(tree, func(name string) error { return os.Chtimes(name, past, past) }))
		_, err := ourUpload(b, 8).spent(server.near, server.root, "tree", tree)
		check(b, err)
		for _, way := range []struct {
			name string
			url  *url.URL
		}{{"", server.near}, {"-distant", server.far}} {
			state := filepath.Join(b.TempDir(), "state")
			b.Run(server.name+way.name, func(b *testing.B) {
				empty := b.TempDir()
				at := way.url.JoinPath("tree").String() + "/"
				measureIn(b, []string{"HOME=" + empty}, ours, "mirror", "-s", "--connections", "8", "--state", state, tree, at)
				compare(b,
					func() cost {
						spent, code := measure(b, empty, ours, "mirror", "-s", "--connections", "8", "--state", state, tree, at)
						if code != 0 {
							b.Fatal(code)
						}
						return spent
					},
					peer{"listing", func() cost {
						spent, code := measure(b, empty, ours, "mirror", "-s", "--dry-run", "--connections", "8", at, filepath.Join(empty, "none"))
						if code != 0 {
							b.Fatal(code)
						}
						return spent
					}})
			})
		}
	}
}

// eachFile calls do for the files below a folder.
func eachFile(dir string, do func(name string) error) error {
	all, err := sums(dir)
	for name := range all {
		err = errors.Join(err, do(filepath.Join(dir, name)))
	}
	return err
}

// BenchmarkDeployLarge uploads 1 GiB from and to a disk, by mirror and by -T. The bar for cpu/curl
// is 0.6.
func BenchmarkDeployLarge(b *testing.B) {
	server := targets(b)[0]
	ours, curl := command(b), tool(b, "curl")
	tree := b.TempDir()
	file := filepath.Join(tree, "large")
	makeFile(b, file, large())
	want, err := sumOf(file)
	check(b, err)
	for _, way := range []struct {
		name string
		args func(dir string) []string
	}{
		{"mirror", func(dir string) []string { // without its state, so that it uploads each time
			return []string{"mirror", "-s", "--state", filepath.Join(b.TempDir(), "state"), tree, server.near.JoinPath(dir).String() + "/"}
		}},
		{"T", func(dir string) []string {
			return []string{"-s", "-T", file, server.near.JoinPath(dir, "large").String()}
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			send := func(program string, args func(string) []string) func() cost {
				return func() cost {
					dir := filepath.Join(server.root, "up")
					check(b, errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755)))
					ftpservers.Own(b, dir)
					touchMemory(b, filepath.Join(dir, "touch"))
					spent, code := measure(b, b.TempDir(), program, args("up")...)
					var sum [sha256.Size]byte
					if code == 0 {
						sum, err = sumOf(filepath.Join(dir, "large"))
						check(b, err)
					}
					if code != 0 || sum != want {
						b.Fatalf("%s ended with code %d, or the file has the wrong content", program, code)
					}
					return spent
				}
			}
			compare(b, send(ours, way.args), peer{"curl", send(curl, func(dir string) []string {
				return []string{"-s", "-T", file, server.near.JoinPath(dir, "large").String()}
			})})
		})
	}
}
