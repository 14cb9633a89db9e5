package interop

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDeployOthersKilled counts, in DEPLOY_OTHERS rounds for each program, what is wrong after
// another program or its server (vsftpd) was killed while it brought a folder there, and after its
// next run. In a round all changes are of size, so that no program has to look at times or contents
// to find them. It fails for our command only.
func TestDeployOthersKilled(t *testing.T) {
	rounds := number(t, "DEPLOY_OTHERS")
	if rounds == 0 {
		t.Skip("DEPLOY_OTHERS is not set; the result is a table of dev/bench/README.md")
	}
	for i, name := range slices.Sorted(maps.Keys(otherUploads)) {
		t.Run(name, func(t *testing.T) {
			k := newKiller(t, "vsftpd", rand.New(rand.NewPCG(1, uint64(i))))
			server, err := url.Parse(k.url)
			if err != nil {
				t.Fatal(err)
			}
			if program := otherUploads[name]; program != nil {
				k.program = func(t *testing.T) *exec.Cmd {
					argv := program(t, server, k.dir)
					cmd := exec.CommandContext(patience(t), argv[0], argv[1:]...)
					cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + t.TempDir()}
					return cmd
				}
			}
			k.tap.passed()
			if out, err := k.command(t).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			k.most = k.tap.passed()
			var half, wrong, failed int
			for range rounds {
				before := k.server.files(t)
				k.resize(t)
				k.killAt(t, 1+k.IntN(k.most), k.IntN(2) == 0)
				here := filesBelow(t, k.dir)
				if slices.ContainsFunc(slices.Collect(maps.Keys(here)), func(file string) bool {
					data, there := k.server.files(t)[file]
					return there && data != here[file] && data != before[file]
				}) {
					half++
				}
				err := k.command(t).Run()
				now := k.server.files(t)
				differs := slices.ContainsFunc(slices.Collect(maps.Keys(here)), func(file string) bool { return now[file] != here[file] })
				switch {
				case err != nil:
					failed++
				case differs:
					wrong++
				}
				if differs { // the next round begins with a tree that is right
					for file, data := range here {
						k.server.put(t, file, data)
					}
				}
			}
			t.Logf("%d rounds: half a file visible after %d, exit 0 and another tree after the next run %d, the next run failed %d", rounds, half, wrong, failed)
			if k.program == nil && half+wrong+failed > 0 {
				t.Error("our command")
			}
		})
	}
}

// resize gives some files another size, and adds some.
func (k *killer) resize(t *testing.T) {
	t.Helper()
	names := slices.Sorted(maps.Keys(filesBelow(t, k.dir)))
	for i := range 6 {
		name := names[k.IntN(len(names))]
		if i < 2 {
			name = fmt.Sprintf("%sadded %d", folders[k.IntN(len(folders))], k.IntN(1_000_000))
		}
		size := 1 + k.IntN(3000)
		if k.IntN(4) == 0 {
			size += 200_000
		}
		k.write(t, name, strings.Repeat(fmt.Sprintf("%08x", k.Uint32()), size/8+1), 0)
	}
}

// otherUploads are programs that bring a folder to a server, with one connection each.
var otherUploads = map[string]func(t *testing.T, server *url.URL, dir string) []string{
	"fetch1738": nil,
	"lftp": func(_ *testing.T, server *url.URL, dir string) []string {
		const limits = "set net:timeout 5; set net:max-retries 2; set net:reconnect-interval-base 1"
		return []string{"lftp", "-c", fmt.Sprintf("%s; open %s; mirror -R %s .", limits, server, dir)}
	},
	"rclone": func(t *testing.T, server *url.URL, dir string) []string {
		hidden, err := exec.CommandContext(t.Context(), "rclone", "--config=", "obscure", labPassword).Output()
		if err != nil {
			t.Fatal(err)
		}
		remote := fmt.Sprintf(":ftp,host='%s',port='%s',user='%s',pass='%s':htdocs", server.Hostname(), server.Port(), labUser, strings.TrimSpace(string(hidden)))
		return []string{"rclone", "--config=", "copy", "--transfers", "1", "--checkers", "1", "--retries", "1", "--timeout", "5s", dir, remote}
	},
	"ncftpput": func(t *testing.T, server *url.URL, dir string) []string {
		entries, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		return append([]string{"ncftpput", "-V", "-R", "-m", "-r", "1", "-t", "5", "-u", labUser, "-p", labPassword, "-P", server.Port(), server.Hostname(), "htdocs"}, entries...)
	},
	"basic-ftp": func(t *testing.T, server *url.URL, dir string) []string {
		client, err := filepath.Abs("others/node_modules/basic-ftp/dist/index.js")
		if err != nil {
			t.Fatal(err)
		}
		return []string{"node", "--input-type=module", "-e", fmt.Sprintf(`import { Client } from %q
const client = new Client(5000)
await client.access({ host: %q, port: %s, user: %q, password: %q })
await client.uploadFromDir(%q, "htdocs")
client.close()`, client, server.Hostname(), server.Port(), labUser, labPassword, dir)}
	},
}
